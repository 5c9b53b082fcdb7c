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

    def test_the_completions_are_sound(self):
        path = os.path.join(PACKAGING, "completions", "xylem.bash")
        script = f"source {path}; COMP_WORDS=(xylem kick-); COMP_CWORD=1; _xylem; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "kick-job\n")


if __name__ == "__main__":
    unittest.main()
