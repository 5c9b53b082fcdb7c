"""The tool says one thing in --help, in its man pages and in its completions."""
import glob
import os
import re
import subprocess
import unittest

import world

PACKAGING = os.path.join(world.HERE, "..", "..", "packaging")


def text_of(*path):
    with open(os.path.join(PACKAGING, *path), encoding="utf-8") as file:
        return file.read()


def help_of(*words):
    return subprocess.run([world.XYLEM, *words, "--help"], capture_output=True, text=True, check=True).stdout


def subcommands():
    groups = help_of().split("explains it, with examples\n")[1].split("-H, --server")[0]
    return [word for line in groups.splitlines() for word in line[17:].split()]


class DocsTest(unittest.TestCase):
    def test_help_fits_a_screen(self):
        lines = help_of().splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_every_subcommand_has_examples_a_man_page_and_completions(self):
        self.assertEqual(len(subcommands()), 26)
        pages = "".join(text_of(page) for page in glob.glob(os.path.join(PACKAGING, "man", "xylem-*.1")))
        for name in subcommands():
            with self.subTest(name):
                self.assertIn("Examples:\n  ", help_of(name))
                self.assertIn(name, text_of("man", "xylem.1"))
                self.assertRegex(pages, rf"\\fBxylem {name}\b|\\fB{name}\\fR")
                for file in ("xylem.bash", "_xylem", "xylem.fish"):
                    self.assertRegex(text_of("completions", file), rf"\b{name}\b")

    def test_every_option_is_in_a_man_page(self):
        pages = "".join(text_of(page) for page in glob.glob(os.path.join(PACKAGING, "man", "*.1")))
        pages = pages.replace("\\-", "-")
        for name in subcommands():
            for option in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", help_of(name), re.M):
                if option not in ("--help", "--tube", "--pri", "--delay", "--jobs", "--count"):
                    self.assertIn(option, pages, name)

    def test_the_exit_codes_are_the_same(self):
        table = re.findall(r"^  (\d+) +(.*)$", help_of(), re.M)
        page = text_of("man", "xylem.1").split(".nf\n")[1].split(".fi")[0]
        self.assertEqual(re.findall(r"^(\d+) +(.*)$", page, re.M), table)

    def complete(self, *words):
        """What bash offers for the last of the words; it splits them at ':' and '='. Its xylem tells how it was called."""
        stub = """xylem() { local by=$*; printf '%s\\n' TUBE 'mail' '$(echo$IFS)' "by/${by// //}"; }"""
        script = f"source {PACKAGING}/completions/xylem.bash; {stub}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _xylem; " \
                 "printf '%s\\n' \"${COMPREPLY[@]}\""
        done = subprocess.run(["bash", "-c", script, "bash", "xylem", *words], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_the_completions_are_sound(self):
        self.assertEqual(self.complete("kick-"), ["kick-job"])
        self.assertEqual(self.complete("-H", "db", ":", "11300", "kick-"), ["kick-job"])
        self.assertEqual(self.complete("put", "-t", "m"), ["mail"])

    def test_a_name_that_is_completed_is_not_expanded(self):
        self.assertEqual(self.complete("ls", "\\$"), ["\\$\\(echo\\$IFS\\)"])

    def test_completions_come_from_the_server_that_was_named(self):
        for before in (["-H", "db", ":", "1"], ["--server", "=", "db", ":", "1"]):
            self.assertEqual(self.complete(*before, "ls", "by"), ["by/-H/db:1/tubes"])


if __name__ == "__main__":
    unittest.main()
