"""The counter of steps tells linear from quadratic work, in Python and in C."""

from collections.abc import Callable, Iterator

import pytest

from steps import check_linear, count_steps

Work = Callable[[str], object]


def _cut(text: str) -> None:
    while text:
        text = text[1:]  # copies the rest


def _join(text: str) -> None:
    made = ""
    for character in text:
        made = character + made


def _suffixes(text: str) -> Iterator[str]:
    while text:
        _, _, text = text.partition("a")
        yield text


QUADRATIC: dict[str, Work] = {
    "loops": lambda text: [None for _ in text for _ in text],
    "loop over a generator": lambda text: sum(len(text) for _ in text for _ in text),
    "slices": _cut,
    "texts that grow": _join,
    "a search for each": lambda text: [text.count(character) for character in text],
    "a list for each": lambda text: [each for each in list(text) if list(text).count(each) == 1],
    "a tail for each": lambda text: list(_suffixes(text)),
}
LINEAR: dict[str, Work] = {
    "a loop": lambda text: [character.upper() for character in text],
    "two loops": lambda text: [*(1 for _ in text), *(2 for _ in text)],
    "a split": lambda text: {part.strip(): len(part) for part in text.split("a")},
    "an argument": lambda text: [_take(text, at) for at in range(len(text))],
    "sorted": sorted,
}


def _take(text: str, at: int) -> str:
    return text[at]


@pytest.mark.parametrize("name", QUADRATIC)
def test_quadratic_work_is_found(name: str):
    """Work that grows sixteenfold on a fourfold text fails the check."""
    with pytest.raises(AssertionError, match=r"steps for 100, [\d,]+ for 400$"):
        check_linear(lambda size: "a" * size, QUADRATIC[name], size=100)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_work_passes(name: str):
    """Work that grows with its text does not."""
    check_linear(lambda size: "a" * size, LINEAR[name])


def test_the_count_is_the_same_every_time():
    """Nothing depends on the machine."""
    assert len({count_steps(lambda: LINEAR["a split"]("a" * 100)) for _ in range(3)}) == 1
