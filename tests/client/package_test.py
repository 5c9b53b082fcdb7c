"""The installed client library: a small program builds against it by find_package and by pkg-config, and works."""
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "process"))
from xylemd import ServerTest  # noqa: E402

BUILD = os.environ["XYLEM_BUILD"]
COMPILER = os.environ["XYLEM_CXX"]
FLAGS = os.environ["XYLEM_CXX_FLAGS"]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


class PackageTest(ServerTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="xylem-package-")
        self.addCleanup(folder.cleanup)
        self.prefix = os.path.join(folder.name, "prefix")
        self.build = os.path.join(folder.name, "build")
        run("cmake", "--install", BUILD, "--component", "client", "--prefix", self.prefix)
        self.server = self.start()

    def assert_works(self, program):
        self.assertEqual(run(program, f"127.0.0.1:{self.server.port()}"), "INSERTED 1")
        self.assertEqual(subprocess.run([program, "unix:/nonexistent"], check=False).returncode, 3)

    def test_find_package(self):
        run("cmake", "-S", os.path.join(HERE, "package"), "-B", self.build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_CXX_FLAGS={FLAGS}")
        run("cmake", "--build", self.build)
        self.assert_works(os.path.join(self.build, "consumer"))

    def test_pkg_config(self):
        found = [os.path.join(folder, "xylem-client.pc") for folder, _, files in os.walk(self.prefix)
                 if "xylem-client.pc" in files]
        self.assertEqual(len(found), 1)
        words = run("pkg-config", f"--define-variable=prefix={self.prefix}", "--cflags", "--libs", found[0])
        os.mkdir(self.build)
        program = os.path.join(self.build, "consumer")
        run(COMPILER, *shlex.split(FLAGS), os.path.join(HERE, "package", "consumer.cc"), "-o", program,
            *shlex.split(words))
        self.assert_works(program)


if __name__ == "__main__":
    unittest.main()
