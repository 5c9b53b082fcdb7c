"""Runs the conversations in transcripts/*.txt: each a file of commands as typed, with what they print and end with.

  # server: beanstalkd     the first line, where it is not xylemd; other lines that begin with # are comments
  $ xylem kick a all       a command of bash; standard output and standard error follow, as they come
  {{\\d+}} jobs            {{...}} stands for whatever the regular expression matches
  [exit 1]                 the exit code, if it is not 0

Each file has a server and a folder of its own. `transcript_test.py --update FILE...` writes what is printed now into the
lines that do not match.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

import world

HERE = os.path.dirname(os.path.abspath(__file__))


def sections(lines):
    """(command or comment line, expected lines) for each command; comments have none."""
    found = []
    for line in lines:
        if line.startswith(("$ ", "#")) or not found:
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return found


def pattern_of(line):
    parts = re.split(r"\{\{(.*?)\}\}", line)
    return "".join(f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts))


def run(command, environment, folder):
    done = subprocess.run(["bash", "-c", command], env=environment, cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=world.PATIENCE, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()
    return lines + ([f"[exit {done.returncode}]"] if done.returncode else [])


def merged(expected, printed):
    """What is printed, but for the lines that match what was expected in their place."""
    padded = expected + [""] * len(printed)
    return [old if re.fullmatch(pattern_of(old), new) else new for old, new in zip(padded, printed)]


class TranscriptTest(world.ToolTest):
    def play(self, path, update=False):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        server = self.start_beanstalkd() if lines[0] == "# server: beanstalkd" else self.start()
        environment = self.environment(server)
        environment["PATH"] = os.path.dirname(world.XYLEM) + ":" + environment["PATH"]
        environment["SERVER_PID"] = str(server.process.pid)
        with tempfile.TemporaryDirectory(prefix="xylem-tool-") as folder:
            written = []
            for command, expected in sections(lines):
                printed = run(command[2:], environment, folder) if command.startswith("$ ") else expected
                pattern = "\n".join(map(pattern_of, expected))
                if not update and not re.fullmatch(pattern, "\n".join(printed)):
                    self.fail(f"{path}\n{command}\nexpected:\n" + "\n".join(expected) + "\nprinted:\n" +
                              "\n".join(printed))
                written += [command, *merged(expected, printed)]
        if update:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(written) + "\n")


def add_test(path):
    name = os.path.splitext(os.path.basename(path))[0]
    setattr(TranscriptTest, f"test_{name}", lambda self: self.play(path))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        for each in sys.argv[2:]:
            setattr(TranscriptTest, "test_" + os.path.basename(each), lambda self, p=each: self.play(p, True))
        del sys.argv[1:]
    else:
        for each in sorted(glob.glob(os.path.join(HERE, "transcripts", "*.txt"))):
            add_test(each)
    unittest.main()
