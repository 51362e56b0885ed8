"""The changes that `./scripts/bench mutants` tries: where they are, that they are programs, and which tests they get."""

import ast
from pathlib import Path

import pytest

import mutants
from mutant_edits import find_edits, makes_other_program
from mutant_tests import ImportGraph
from mutant_tree import copy_tree
from mutants import choose_mutants, list_mutants, read_equivalents, report

SOURCE = '''"""Left out: 1 < 2."""

LIMIT: Annotated[int, Doc("x", minimum=7)] = 5


@dataclass(frozen=True)
class Store:
    async def keep(self, key: str, at: int) -> bool:
        """Say ä before what comes: a and b."""
        if "ä" < key and not self.full:
            raise ValueError("no")
        if at == LIMIT:
            return True
        await self.first.put(key)
        await self.second.delete(key)
        self.log.event("kept", at=9)
        rows = self.sql("SELECT a FROM t WHERE b = ? AND c < ? ORDER BY a DESC", key)
        return self.check(rows)

    def find(self) -> str | None:
        if self.empty:
            return
        return self.name or "x"
'''
PATH = Path("core/store.py")


def changes(source: str = SOURCE) -> list[tuple[str, str]]:
    return [(edit.kind, edit.describe(source).partition(" → ")[2]) for edit in find_edits(source)]


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("comparison", 'if "ä" <= key and not self.full:'),
        ("and/or", 'if "ä" < key or not self.full:'),
        ("not", 'if "ä" < key and (self.full):'),
        ("raise", "pass"),
        ("comparison", "if at != LIMIT:"),
        ("constant", "return False"),
        ("constant", 'LIMIT: Annotated[int, Doc("x", minimum=7)] = 6'),
        ("constant", 'LIMIT: Annotated[int, Doc("x", minimum=7)] = 4'),
        ("swapped awaits", "await self.second.delete(key) await self.first.put(key)"),
        ("return", "return (not self.check(rows))"),
        ("return", "pass"),
        ("not", "if (not self.empty):"),
        ("and/or", 'return self.name and "x"'),
        ("sql comparison", 'rows = self.sql("SELECT a FROM t WHERE b != ? AND c < ? ORDER BY a DESC", key)'),
        ("sql comparison", 'rows = self.sql("SELECT a FROM t WHERE b = ? AND c <= ? ORDER BY a DESC", key)'),
        ("sql and/or", 'rows = self.sql("SELECT a FROM t WHERE b = ? or c < ? ORDER BY a DESC", key)'),
        ("sql condition", 'rows = self.sql("SELECT a FROM t WHERE b = ? AND (c < ? or 1) ORDER BY a DESC", key)'),
        ("sql order", 'rows = self.sql("SELECT a FROM t WHERE b = ? AND c < ? ORDER BY a asc", key)'),
    ],
)
def test_each_kind_is_found(kind: str, changed: str):
    """Operators, constants, calls that write, awaits in order, what is returned or raised, and SQL in texts."""
    assert (kind, changed) in changes()


def test_a_dropped_call_is_named_by_its_line():
    """Each write is dropped alone."""
    dropped = [edit.describe(SOURCE) for edit in find_edits(SOURCE) if edit.kind == "dropped call"]
    assert dropped == ["await self.first.put(key) → pass", "await self.second.delete(key) → pass"]


def test_what_no_test_should_notice_is_left_out():
    """Docstrings, annotations, decorators and log lines stay."""
    for _, changed in changes():
        assert "minimum=7" in changed or not changed.startswith("LIMIT")
        assert not changed.startswith(('"""', "@", "self.log"))


def test_awaits_that_need_one_another_stay_in_order():
    """What the first one names is there for the second one."""
    source = "async def f():\n    a = await g()\n    await h(a)\n"
    assert not [kind for kind, _ in changes(source) if kind == "swapped awaits"]


def test_between_is_no_condition_of_its_own():
    source = 'X = "select a from t where b between ? and ? and c = 1"\n'
    assert [changed for kind, changed in changes(source) if kind == "sql and/or"] == [
        'X = "select a from t where b between ? and ? or c = 1"'
    ]


def test_edits_are_programs():
    """Each chosen change is valid Python and another program."""
    chosen = choose_mutants(list_mutants(PATH, SOURCE), set(), 1000, 1)
    assert len(chosen) > 20
    for mutant in chosen:
        changed = mutant.edit.apply(SOURCE)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))
        assert changed.splitlines()[: mutant.line - 1] == SOURCE.splitlines()[: mutant.line - 1]


def test_an_edit_of_a_comment_is_none():
    """An operator that is looked for between two operands may stand in a comment."""
    source = "x = (a  # this and that\n  and b)\n"
    assert [makes_other_program(edit, source) for edit in find_edits(source)] == [False]


def test_same_seed_same_choice():
    """The seed decides which are chosen and in what order; fewer are the first of more."""
    places = list_mutants(PATH, SOURCE)
    chosen = choose_mutants(places, set(), 12, 3)
    assert chosen == choose_mutants(places, set(), 12, 3)
    assert chosen[:5] == choose_mutants(places, set(), 5, 3)
    assert chosen != choose_mutants(places, set(), 12, 4)
    assert len({mutant.edit.kind for mutant in choose_mutants(places, set(), 8, 3)}) == 8


def test_equivalents_are_left_out():
    """A change that is named in the file is never chosen; the same change of another file is."""
    [mutant] = [each for each in list_mutants(PATH, SOURCE) if each.text == "if at == LIMIT: → if at != LIMIT:"]
    named = read_equivalents(f"# why\n\n{PATH}\t{mutant.text}\tit is the same\n")
    assert mutant not in choose_mutants(list_mutants(PATH, SOURCE), named, 1000, 1)
    other = list_mutants(Path("core/other.py"), SOURCE)
    assert len(choose_mutants(other, named, 1000, 1)) == len(choose_mutants(other, set(), 1000, 1))


@pytest.mark.parametrize("line", ["a.py\tx → y", "a.py\tx → y\t ", "a.py x → y it is the same"])
def test_an_equivalent_needs_a_reason(line: str):
    with pytest.raises(ValueError, match="a reason"):
        read_equivalents(line)


def test_named_equivalents_exist():
    """No line of the committed file names a change that the code no longer offers."""
    sources = mutants.ROOT / mutants.SOURCES
    for path, text in read_equivalents(mutants.EQUIVALENTS.read_text(encoding="utf-8")):
        found = list_mutants(Path(path), (sources / path).read_text(encoding="utf-8"))
        assert text in {mutant.text for mutant in found}, (path, text)


def test_tests_of_a_module(tmp_path: Path):
    """Unit tests that import it come by their distance, through other modules and helpers of the tests, wherever they import."""
    files = {
        "src/sluice/core/deep.py": "",
        "src/sluice/core/upper.py": "def f():\n    from sluice.core import deep\n",
        "tests/unit/core/test_deep.py": "from sluice.core.deep import x\n",
        "tests/unit/core/world.py": "import sluice.core.upper\n",
        "tests/unit/core/test_world.py": "from unit.core.world import World\n",
        "tests/unit/core/test_other.py": "import json\n",
        "tests/workerd/test_all.py": "import sluice.core.deep\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = ImportGraph.read(tmp_path)
    near, far = (1, Path("tests/unit/core/test_deep.py")), (3, Path("tests/unit/core/test_world.py"))
    assert graph.find_tests(Path("src/sluice/core/deep.py"), 5) == [near, far]
    assert graph.find_tests(Path("src/sluice/core/deep.py"), 2) == [near]


def test_one_file_differs(tmp_path: Path):
    """The copy has the other text of one file and links to all else; the project stays as it is."""
    root, tree = tmp_path / "root", tmp_path / "tree"
    (root / "src/core/__pycache__").mkdir(parents=True)
    (root / "tests").mkdir()
    for name in ("src/core/a.py", "src/core/b.py", "src/top.py", "tests/test_a.py"):
        (root / name).write_text(name)
    for name in ("a.cpython-311.pyc", "b.cpython-311.pyc"):
        (root / "src/core/__pycache__" / name).write_text("")
    copy_tree(root, tree, Path("src/core/a.py"), "changed")
    assert (tree / "src/core/a.py").read_text() == "changed"
    assert (root / "src/core/a.py").read_text() == "src/core/a.py"
    for name in ("src/core/b.py", "src/top.py", "tests/test_a.py"):
        assert (tree / name).read_text() == name
        assert (tree / name).resolve() == root / name
    assert [path.name for path in (tree / "src/core/__pycache__").iterdir()] == ["b.cpython-311.pyc"]


def test_report():
    """Who survived stands first, by place; each package has its share."""
    first, second, third = list_mutants(PATH, SOURCE)[:3]
    lines = report([first, third], [second], 90).splitlines()
    assert lines[0] == f"survived: {second}"
    assert "core                                  3      2    67%" in lines
    assert lines[-1] == "1.5 minutes"
