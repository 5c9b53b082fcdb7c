#!/usr/bin/env python3
"""tools/check finds each kind of violation, at its line, and nothing in a clean tree.

Each test plants one violation in a small git tree of its own and runs the real tools/check on it.
"""
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
COMMENT = "// A file of the test.\n// It keeps nothing.\n"
CLEAN = {
    "include/xylem/core/engine.h": COMMENT + '#pragma once\n\n#include "xylem/core/ids.h"\n',
    "include/xylem/core/ids.h": COMMENT + "#pragma once\n\n#include <cstdint>\n",
    "src/core/a.cc": COMMENT + '#include <vector>\n\n#include "xylem/core/engine.h"\n\n'
                     "// throw, now() and std::function in a comment are fine.\n"
                     'const char* word = "try printf(now())";\nint known(int now) { return now; }\n',
    "src/protocol/a.cc": COMMENT + '#include "xylem/core/ids.h"\n',
    "src/config/a.cc": COMMENT + "#include <yaml-cpp/yaml.h>\n",
    "src/server/a.cc": COMMENT + "#include <uv.h>\n",
    "README.md": "# Xylem\n\nSee [the steps](docs/steps.md#the-first-step) and [below](#xylem).\n",
    "docs/steps.md": "# Steps\n\n## The `first` step\n\n```\n[no](link)\n```\n",
    "tools/go": "#!/bin/sh\ntrue\n",
}


class Tree:
    """A git tree in a temporary folder: CLEAN plus what the test plants."""

    def __init__(self, planted, run_bits=("tools/go",)):
        self.dir = tempfile.TemporaryDirectory()
        shutil.copy(os.path.join(ROOT, ".clang-format"), self.dir.name)
        for path, text in {**CLEAN, **planted}.items():
            full = os.path.join(self.dir.name, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(full, 0o755 if path in run_bits else 0o644)
        self.git("init", "-q")
        self.git("add", ".")

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.dir.name, check=True)

    def check(self):
        run = subprocess.run([os.path.join(ROOT, "tools", "check"), self.dir.name], capture_output=True, text=True)
        self.dir.cleanup()
        return run.returncode, run.stdout + run.stderr


class CheckTest(unittest.TestCase):
    def finds(self, planted, *expected, **options):
        code, output = Tree(planted, **options).check()
        self.assertEqual(code, 1, output)
        for text in expected:
            self.assertIn(text, output)
        self.assertIn(", 1 findings", output)

    def finds_each(self, rows):
        """Rows of (folder, line, expected): each line in a file of its own, all in one tree."""
        paths = [f"{folder}/planted{number}.h" for number, (folder, _, _) in enumerate(rows)]
        code, output = Tree({path: f"{COMMENT}{row[1]}\n" for path, row in zip(paths, rows)}).check()
        self.assertEqual(code, 1, output)
        found = output.splitlines()
        for path, (_, line, expected) in zip(paths, rows):
            mine = [text for text in found if text.startswith(f"{path}:3:")]
            with self.subTest(line=line):
                self.assertEqual(len(mine), 1, output)
                self.assertIn(expected, mine[0])
        self.assertIn(f", {len(rows)} findings", output)

    def test_a_clean_tree_passes(self):
        code, output = Tree({}).check()
        self.assertEqual(code, 0, output)
        self.assertIn("0 findings", output)

    def test_format(self):
        self.finds({"src/server/b.cc": COMMENT + "int  two( ) {return 2;}\n"}, "src/server/b.cc:3:", "clang-format -i")

    def test_opening_comment(self):
        self.finds({"src/server/b.cc": "// One line is a label.\nint one;\n"}, "src/server/b.cc:1:", "comment")

    def test_arrows(self):
        self.finds_each([
            ("src/core", '#include "xylem/protocol/parser.h"', "core must not include protocol"),
            ("src/core", '#include "xylem/config.h"', "core must not include config"),
            ("src/core", "#include <unistd.h>", "core must not include system"),
            ("src/core", "#include <fmt/core.h>", "core must not include fmt"),
            ("include/xylem/core", '#include "xylem/server/loop.h"', "core must not include server"),
            ("include/xylem", '#include "xylem/core/ids.h"', "base must not include data"),
            ("src/protocol", '#include "xylem/core/engine.h"', "protocol must not include core"),
            ("src/protocol", '#include "core/transitions.h"', "protocol must not include core"),
            ("src/protocol", "#include <fmt/core.h>", "protocol must not include fmt"),
            ("src/config", '#include "xylem/protocol/parser.h"', "config must not include protocol"),
            ("src/config", "#include <uv.h>", "libuv is used only in src/server/"),
            ("src/server", "#include <yaml-cpp/yaml.h>", "yaml-cpp is used only in src/config/"),
            ("src/server", "#include <CLI/CLI.hpp>", "CLI11 is used only in src/config/"),
            ("src/server", "#include <xxhash.h>", "xxhash is used only in src/storage/"),
        ])
        self.finds({"src/main.cc": COMMENT + "#include <uv.h>\n"}, "src/main.cc:3:", "libuv is used only in")

    def test_banned_calls_in_core(self):
        rows = [
            ("long a = clock::now();", "time is an argument"),
            ("std::chrono::steady_clock::time_point b;", "time is an argument"),
            ("auto c = time(nullptr);", "time is an argument"),
            ("int d = rand();", "break ties by id"),
            ("std::random_device e;", "break ties by id"),
            ("std::mt19937_64 f;", "break ties by id"),
            ("std::thread g;", "one thread owns the state"),
            ("std::mutex h;", "one thread owns the state"),
            ("std::atomic<int> i;", "one thread owns the state"),
            ("std::ostringstream j;", "return a value"),
            ('void k() { std::printf("k"); }', "return a value"),
            ('auto* l = fopen("l", "r");', "opens no file"),
            ("std::function<void()> m;", "template parameter"),
            ("std::shared_ptr<int> n;", "unique_ptr for the owner"),
            ("void o() { throw 1; }", "Result<T>"),
            ("#include <mutex>", "one thread owns the state"),
            ("#include <iostream>", "return a value"),
            ("#include <random>", "break ties by id"),
        ]
        for folder in ("src/core", "include/xylem/core"):
            self.finds_each([(folder, line, instead) for line, instead in rows])

    def test_links(self):
        self.finds({"docs/a.md": "# A\n\n[gone](gone.md)\n"}, "docs/a.md:3:", "leads to no file")
        self.finds({"docs/a.md": "# A\n\n[gone](../README.md#gone)\n"}, "docs/a.md:3:", "leads to no heading")
        self.finds({"docs/a.md": "# A\n\n[gone](#b)\n"}, "docs/a.md:3:", "leads to no heading")

    def test_words(self):
        # Put together here, so that this file has none of them.
        for line, expected in [
            ("x = 1  # TO" + "DO: two", "leaves work undone"),
            ("x = 1  # FIX" + "ME", "leaves work undone"),
            ("x = '/wo" + "rk/main'", "path of one machine"),
            ("x = '/ro" + "ot/x'", "path of one machine"),
            ("x = 'https://regis" + "try.example.org/'", "package registry"),
        ]:
            with self.subTest(line=line):
                self.finds({"tools/a.py": "pass\n" + line + "\n"}, "tools/a.py:2:", expected)

    def test_run_bit(self):
        self.finds({}, "tools/go:1:", "run bit", run_bits=())


if __name__ == "__main__":
    unittest.main()
