"""The file of figures: each command writes its own block, and everything else stays as it is."""

import argparse
import sys
from pathlib import Path

import pytest

import bench
from bench import BENCHES
from figures import keep_printed, list_sections, place_figures

DOCUMENT = """# Figures

How to read them.

## cost

What a unit of work takes.

```
$ ./scripts/bench cost
old
```

Prose below the block.

## news

Articles.

```
$ ./scripts/bench news PATH
older
```

## news --sets

Headlines.
"""


def test_a_block_is_replaced_in_its_place():
    """The block is what the command printed below its command line; the prose above and below it stays."""
    placed = place_figures(DOCUMENT, ["cost", "--write"], "\nnew  \nfigures\n\n")
    assert placed == DOCUMENT.replace("old\n```\n\nProse", "new\nfigures\n```\n\nProse")


def test_an_option_has_its_own_section():
    """The longest heading decides, whatever stands between its words; an option without a section is the command's."""
    placed = place_figures(DOCUMENT, ["news", "--worst", "3", "--sets", "labelled"], "scores\n")
    assert placed == DOCUMENT + "\n```\n$ ./scripts/bench news --worst 3 --sets labelled\nscores\n```\n"
    assert place_figures(DOCUMENT, ["news", "--worst", "3"], "F 0.9") == DOCUMENT.replace(
        "news PATH\nolder", "news --worst 3\nF 0.9"
    )


def test_a_section_without_a_block_gets_one():
    """It comes after the prose, before the next section."""
    document = "# Figures\n\n## cost\n\nProse.\n\n## scale\n\nMore.\n"
    assert place_figures(document, ["cost"], "1") == (
        "# Figures\n\n## cost\n\nProse.\n\n```\n$ ./scripts/bench cost\n1\n```\n\n## scale\n\nMore.\n"
    )


def test_a_new_command_comes_last():
    """A command that has no section yet gets one at the end."""
    placed = place_figures(DOCUMENT, ["scale", "--lines", "10"], "10 lines")
    assert placed == DOCUMENT + "\n## scale\n\n```\n$ ./scripts/bench scale --lines 10\n10 lines\n```\n"


def test_a_second_run_changes_only_the_figures():
    """The order of the sections stays, and nothing is added twice."""
    once = place_figures(DOCUMENT, ["startup"], "a\\1")
    twice = place_figures(once, ["startup"], "b")
    assert list_sections(twice) == ["cost", "news", "news --sets", "startup"]
    assert twice == once.replace("a\\1", "b")


def test_no_folder_of_this_machine():
    """A file is named without its folders, and a name with a space stays one word."""
    placed = place_figures(DOCUMENT, ["compile", "/home/somebody/lists/easy list.txt", "lists/a.txt"], "")
    assert "$ ./scripts/bench compile 'easy list.txt' lists/a.txt\n" in placed


def test_what_is_printed_is_kept_and_shown(capsys: pytest.CaptureFixture[str]):
    """A bench shows its figures as they come; the copy has the same text."""
    with keep_printed() as printed:
        print("figures", flush=True)  # noqa: T201 - as a bench does
        assert capsys.readouterr().out == "figures\n"
    assert printed.getvalue() == "figures\n"


@pytest.mark.parametrize(("asked", "is_written"), [([], False), (["--write"], True)])
def test_write_is_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str], is_written: bool):
    """Without --write the file stays as it is; what fails writes nothing."""
    file = tmp_path / "figures.md"
    file.write_text(DOCUMENT)
    monkeypatch.setattr(bench, "FIGURES", file)
    monkeypatch.setattr(bench, "BENCHES", {"cost": "figures"})
    monkeypatch.setitem(sys.modules, "figures", _Bench())
    monkeypatch.setattr(sys, "argv", ["bench", "cost", *asked])
    assert bench.main() == 0
    assert (file.read_text() != DOCUMENT) == is_written
    assert ("measured\n" in file.read_text()) == is_written
    monkeypatch.setattr(sys, "argv", ["bench", "cost", "--fail", *asked])
    before = file.read_text()
    with pytest.raises(ZeroDivisionError):
        bench.main()
    assert file.read_text() == before


def test_every_section_is_a_command():
    """docs/figures.md has only sections of commands that exist, each with one block that begins with its command line."""
    text = (Path(__file__).parents[3] / "docs/figures.md").read_text()
    sections = list_sections(text)
    assert len(sections) == len(set(sections)) > 0
    assert {section.split()[0] for section in sections} <= set(BENCHES)
    for section in sections:
        body = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        assert body.count("```") == 2, section
        [command] = [line for line in body.splitlines() if line.startswith("$ ./scripts/bench ")]
        assert set(section.split()) <= set(command.split()), section
        assert place_figures(text, command.split()[2:], "new").count("\n$ ") == len(sections)


class _Bench:
    """A bench that prints one line, or fails after it."""

    @staticmethod
    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--fail", action="store_true")

    @staticmethod
    def measure(options: argparse.Namespace) -> None:
        print("measured")  # noqa: T201 - as a bench does
        if options.fail:
            _ = 1 / 0
