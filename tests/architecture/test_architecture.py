"""Imports point one way, and nothing heavy is loaded before it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from support.places import ROOT

PACKAGES = ("craftenv", "gridenv", "harness", "scoring", "assets")
HEAVY = (
    "pyglet",
    "cv2",
    "av",
    "PIL",
    "mss",
    "pynput",
    "matplotlib",
    "jinja2",
    "pyarrow",
    "openai",
    "google.genai",
    "anthropic",
    "gymnasium",
    "numba",
    "ray",
)
SDKS = ("openai", "google.genai", "anthropic", "gymnasium")


def sources(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if "__pycache__" not in path.parts]


def imported(path: Path) -> set[str]:
    """Every module a file imports, wherever in it; for `from a import b` both a and a.b."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where they point"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def touches(names: set[str], *packages: str) -> set[str]:
    """Which of the names lie in one of the packages; those of ours are given without `oresight.`."""
    names = {name.removeprefix("oresight.") for name in names}
    return {name for name in names for package in packages if name == package or name.startswith(f"{package}.")}


def check(folder: str, *forbidden: str, allowed: tuple[str, ...] = ()) -> None:
    for path in sources(folder):
        wrong = touches(imported(path), *forbidden) - touches(imported(path), *allowed)
        assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


def modules_after(statement: str, *probes: str, **environment: str) -> set[str]:
    """Which of the probed modules are loaded once a statement has run in a fresh process without a display or a key."""
    code = f"{statement}\nimport sys\nprint([name for name in {list(probes)!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(ast.literal_eval(done.stdout.strip().splitlines()[-1]))


def test_environments_import_neither_each_other_nor_scoring_nor_the_harness() -> None:
    check("craftenv", "gridenv", "scoring", "harness")
    check("gridenv", "craftenv", "scoring", "harness")


def test_the_simulation_knows_nothing_of_pictures() -> None:
    check(
        "craftenv/sim",
        "oresight.craftenv.render",
        "oresight.craftenv.env",
        "oresight.craftenv.scenarios.suites",
        "pyglet",
        "PIL",
        "cv2",
    )


def test_the_core_of_scoring_imports_nothing_of_ours() -> None:
    wrong = touches(imported(ROOT / "scoring/core.py"), *PACKAGES)
    assert not wrong


def test_scoring_knows_nothing_of_the_harness_nor_of_pictures() -> None:
    allowed = ("craftenv.sim", "gridenv.model", "gridenv.mapfile")
    check("scoring", "harness", "craftenv", "gridenv", "pyglet", allowed=allowed)


def test_assets_import_nothing_of_ours() -> None:
    wrong = touches(imported(ROOT / "assets/__init__.py"), "craftenv", "gridenv", "harness", "scoring")
    assert not wrong


def test_nothing_imports_the_commands() -> None:
    for path in sources(*PACKAGES):
        if path.parent != ROOT / "harness/cli":
            assert not touches(imported(path), "harness.cli"), path


def test_nothing_but_the_commands_imports_the_reports() -> None:
    for path in sources(*PACKAGES):
        if not any(path.is_relative_to(ROOT / folder) for folder in ("harness/cli", "harness/report")):
            assert not touches(imported(path), "harness.report"), path


def test_records_are_read_without_what_plays_and_what_is_made_of_them() -> None:
    # A person's session is scored and filmed when it is imported.
    for path in sources("harness/records", "harness/worlds"):
        if path.name in ("importing.py", "people.py") or path.name.startswith("session"):
            continue
        assert not touches(imported(path), *(f"harness.{name}" for name in ("running", "analysis", "film"))), path


def test_agents_memories_and_models_know_nothing_of_runs_and_records() -> None:
    for folder in ("harness/agents", "harness/context", "harness/models"):
        check(folder, *(f"harness.{name}" for name in ("running", "records", "analysis", "film", "report")))


def test_the_harness_meets_worlds_in_one_package() -> None:
    for path in sources("harness"):
        if not path.is_relative_to(ROOT / "harness/worlds") and not path.is_relative_to(ROOT / "harness/agents"):
            assert not touches(imported(path), "craftenv", "gridenv"), path


def test_no_file_outside_a_worlds_folder_knows_its_name() -> None:
    names = {"craft", "grid"}
    # The tables of what comes along, and the formats of files that are of one world.
    tables = {
        "harness/worlds/__init__.py",
        "scoring/adapters.py",
        "scoring/records.py",
        "scoring/readers/episode_file.py",
    }
    folders = [ROOT / package / name for package in ("harness/worlds", "scoring") for name in names]
    for path in sources("harness", "scoring"):
        if str(path.relative_to(ROOT)) in tables or any(path.is_relative_to(folder) for folder in folders):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            literal = isinstance(node, ast.Constant) and node.value in names
            assert not literal, f"{path.relative_to(ROOT)}:{node.lineno} knows the name of a world"  # type: ignore[attr-defined]


def test_agents_know_of_worlds_but_how_to_read_their_words() -> None:
    # Directions and cells are in the words; the map, the walk over it and its solution are not.
    readers = {
        "gridenv.text",
        "gridenv.frontier",
        "gridenv.model.Cell",
        "gridenv.model.DIRECTIONS",
    }
    for path in sources("harness/agents"):
        names = touches(imported(path), "craftenv", "gridenv") - {"gridenv.model"}
        assert not names - touches(names, *readers), path


@pytest.mark.parametrize(
    "package", ["pyglet", "openai", "google.genai", "anthropic", "av", "matplotlib", "ray", "jinja2", "pyarrow"]
)
def test_each_library_with_side_effects_is_imported_in_one_place(package: str) -> None:
    places = {
        path.parent.relative_to(ROOT) if package == "pyglet" else path.relative_to(ROOT)
        for path in sources(*PACKAGES)
        if touches(imported(path), package)
    }
    assert len(places) <= 1, places


def test_one_file_reads_the_environment() -> None:
    for path in sources(*PACKAGES):
        text = path.read_text(encoding="utf-8")
        reads = "os.environ" in text or "os.getenv" in text or "getenv(" in text
        assert not reads or path == ROOT / "harness/settings.py", path


def test_scoring_loads_neither_pyglet_nor_an_sdk() -> None:
    loaded = modules_after(
        "import oresight.scoring.score, oresight.scoring.craft.adapter, oresight.scoring.statistics",
        *HEAVY,
    )
    assert not loaded - {"numba"}


def test_the_command_line_loads_nothing_that_needs_a_display_a_key_or_opengl() -> None:
    assert not modules_after("import oresight.harness.cli.main", *HEAVY)


def test_worlds_can_be_named_without_drawing() -> None:
    assert not modules_after(
        "import oresight.craftenv.env, oresight.craftenv.scenarios.suites, oresight.harness.worlds",
        "pyglet",
        "cv2",
        "av",
        *SDKS,
    )


@pytest.mark.parametrize(
    "command",
    [
        "",
        "demo",
        "run",
        "compare",
        "score",
        "watch",
        "play",
        "import",
        "replay",
        "report",
        "maps",
        "maps check",
        "doctor",
    ],
)
def test_help_needs_nothing(command: str) -> None:
    arguments = [*command.split(), "--help"]
    statement = (
        f"import sys; sys.argv = ['oresight', *{arguments!r}]\n"
        "import oresight.harness.cli.main\n"
        "try: oresight.harness.cli.main.main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
    )
    assert not modules_after(statement, *HEAVY, DISPLAY=":77")
