"""The notebooks run from the first cell to the last, hold no output, and leave logic to the modules.

Here they do less work (``IDIOT_NOTEBOOK_QUICK=1``: the same code, fewer games); ``-m slow`` runs them as a reader does.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs the extra notebooks")
nbclient = pytest.importorskip("nbclient", reason="needs the extra notebooks")

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
NAMES = ("1_the_game", "2_train", "3_benchmark", "4_inside_the_model")
every_notebook = pytest.mark.parametrize("name", NAMES)


def read(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def leftovers(notebook: Any) -> list[str]:
    """Cells that hold what only a run leaves behind: outputs, counts, a browser's notes."""
    found = []
    for cell in notebook.cells:
        if (cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None)) or cell.metadata:
            found.append(cell.id)
    return found


def own_logic(notebook: Any) -> list[str]:
    """Functions and classes that a notebook makes: they belong in a module, with a test."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    return [node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]


def run(notebook: Any, folder: Path) -> Any:
    """Run all cells in ``folder``; a cell that fails raises its error."""
    client = nbclient.NotebookClient(
        notebook, timeout=1800, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    return client.execute()


def outputs(notebook: Any, kind: str) -> int:
    """How many outputs of a MIME type a run has left."""
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return sum(kind in output.get("data", {}) for output in shown)


def test_all_notebooks_are_tested() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == list(NAMES)


@every_notebook
def test_outputs_are_stripped(name: str) -> None:
    notebook = read(name)
    nbformat.validate(notebook)
    assert not leftovers(notebook), "clear all outputs before you commit"
    assert set(notebook.metadata) <= {"kernelspec", "language_info"}


@every_notebook
def test_logic_lives_in_modules(name: str) -> None:
    assert not own_logic(read(name))


def test_the_checks_can_fail() -> None:
    cell = nbformat.v4.new_code_cell("def f():\n    return 1")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert own_logic(notebook) == ["f"]
    assert not leftovers(notebook)
    cell.execution_count = 1
    assert leftovers(notebook) == [cell.id]
    broken = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="ZeroDivisionError"):
        run(broken, FOLDER)


@every_notebook
def test_it_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IDIOT_NOTEBOOK_QUICK", "1")
    done = run(read(name), tmp_path)
    assert outputs(done, "image/png") >= 3


@pytest.mark.slow
@every_notebook
def test_it_runs_as_a_reader_runs_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IDIOT_NOTEBOOK_QUICK", raising=False)
    run(read(name), tmp_path)
