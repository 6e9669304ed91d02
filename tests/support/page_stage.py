"""What a page of documentation asks its reader to do, taken from its text, and a reader who does it.

Conventions that the pages keep:

- A command stands in a ```console block behind "$ ". A comment behind it may say "exit code N"; else it is 0.
- Lines below a command are what it prints, in their order; "..." leaves lines out, and spaces may differ.
- A block whose paragraph ends in "as `NAME`:" is a file that the reader makes.
- Any other ```python block runs as it stands.
"""

import importlib.util
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.cli_stage import Ran
from support.session_stage import proof_of, record

ORESIGHT = Path(sys.executable).parent / "oresight"
MISSING_TOOLS = [tool for tool in ("Xvfb", "xdotool") if shutil.which(tool) is None]
# Who has no display goes on with a session that was played without one.
NO_DISPLAY = "all but the window was run; it needs Xvfb, xdotool and pynput: scripts/setup.sh dev"
# What a test must not do, or what another test does; how such a line begins.
NOT_RUN = {
    "make": "sets this checkout up, or runs the suite that this test is part of",
    ". ": "changes the shell that it is typed into",
    "pip install": "needs the network, and changes this environment",
    "python -m pip": "needs the network, and changes this environment",
    "python docs/make_": "changes this checkout; what it makes is compared or looked at here",
    "python -m oresight.craftenv.scenarios.maker": "changes this checkout; tests/craftenv/test_scenarios.py calls it",
    "python -m experiments.calibration --out docs": "takes minutes; tests/experiments/test_calibration.py runs it",
    "python -m experiments.study": "measures for minutes; tests/experiments/test_study.py runs it in small",
    "ray start": "needs several machines; tests/harness/test_ray.py starts a cluster of its own",
}
# The same, wherever it stands in a line.
NOT_RUN_WITH = {"--executor ray": "plays on a cluster; tests/harness/test_ray.py does"}
_BLOCK = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"\bas\s+`(?P<name>[\w./-]+)`:\s*\Z")
_CODE = re.compile(r"exit code (\d+)")
_PATIENCE_S = 120.0


@dataclass(frozen=True)
class Command:
    """A line to be typed: its words, the exit code that the page tells, and the lines that it says are printed."""

    line: str
    words: tuple[str, ...]
    code: int
    printed: tuple[str, ...]

    @property
    def not_run(self) -> bool:
        return any(self.line.startswith(start) for start in NOT_RUN) or any(part in self.line for part in NOT_RUN_WITH)


@dataclass(frozen=True)
class File:
    """A file that the reader makes."""

    name: str
    content: str


@dataclass(frozen=True)
class Python:
    """Code that runs as it stands."""

    code: str


Deed = Command | File | Python


def deeds(text: str) -> list[Deed]:
    """What a page asks for, in its order."""
    found: list[Deed] = []
    for before, language, body in blocks(text):
        named = _NAMED.search(before)
        if named is not None:
            found.append(File(named["name"], body))
        elif language == "console":
            found += _commands(body)
        elif language == "python":
            found.append(Python(body))
    return found


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Every fenced block: the text before it, its language, and what stands in it."""
    return [(text[: found.start()], found["language"], found["body"]) for found in _BLOCK.finditer(text)]


def _commands(body: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", body.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        words = shlex.split(line, comments=True)
        code = _CODE.search(line)
        lines = [each for each in printed.splitlines() if each.strip() and each.strip() != "..."]
        yield Command(line.strip(), tuple(words), int(code[1]) if code else 0, tuple(lines))


class Reader:
    """Somebody who follows a page to the letter, in an empty folder that is the current one."""

    def __init__(self, folder: Path, oresight: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._oresight = oresight
        self._monkeypatch = monkeypatch
        self.without_window = False

    def follow(self, deed: Deed) -> None:
        """Does one thing, and looks whether what happens is what the page tells."""
        if isinstance(deed, File):
            path = self._folder / deed.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(deed.content, encoding="utf-8")
        elif isinstance(deed, Python):
            ran = self._python("-c", deed.code)
            assert ran.code == 0, ran.err
        elif not deed.not_run:
            ran = self._typed(list(deed.words))
            told = f"$ {deed.line}\n{ran.out}{ran.err}"
            assert ran.code == deed.code, f"exit code {ran.code}, and the page says {deed.code}: {told}"
            _check_printed(deed, ran.out + ran.err)

    def _typed(self, words: list[str]) -> Ran:
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self._monkeypatch.setenv(name, value)
            return Ran(0, "", "")
        if words[:2] == ["xvfb-run", "-a"]:
            words = words[2:]
        words = [found for word in words for found in (self._found(word) if "*" in word else [word])]
        if words[0] == "python":
            return self._python(*words[1:])
        if words[0] in ("cat", "ls", "cp", "mkdir"):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            return Ran(done.returncode, done.stdout, done.stderr)
        assert words[0] == "oresight", f"a command that this test does not know: {' '.join(words)}"
        if words[1] == "play":
            return self._play(words[1:])
        if "--desktop" in words:
            return self._desktop(words[1:])
        return self._oresight(*_offline(words[1:]))

    def _found(self, pattern: str) -> list[str]:
        return sorted(path.relative_to(self._folder).as_posix() for path in self._folder.glob(pattern))

    def _python(self, *arguments: str) -> Ran:
        done = subprocess.run(
            [sys.executable, *_offline(list(arguments))], capture_output=True, text=True, check=False, cwd=self._folder
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def _play(self, arguments: list[str]) -> Ran:
        folder = arguments[arguments.index("--record") + 1] if "--record" in arguments else None
        if MISSING_TOOLS:
            self.without_window = True
            if folder is not None:
                scenario = arguments[arguments.index("--scenario") + 1]
                record(self._folder / folder, scenario, proof_of(scenario)[:3])
            return Ran(0, "", "")
        # The smallest window does: drawing by the processor is slow.
        command = [str(ORESIGHT), *arguments, *([] if "--size" in arguments else ["--size", "320x240"])]
        with (
            display() as environment,
            subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as process,
        ):
            try:
                _hands(process, environment)
                out, err = process.communicate(timeout=_PATIENCE_S)
            finally:
                process.kill()
        return Ran(process.returncode, out, err)

    def _desktop(self, arguments: list[str]) -> Ran:
        # Keys are pressed by a package that is an extra.
        if MISSING_TOOLS or importlib.util.find_spec("pynput") is None:
            self.without_window = True
            return self._oresight(*arguments, "--dry-run")
        with display() as environment:
            done = subprocess.run(
                [str(ORESIGHT), *_offline(arguments)], env=environment, capture_output=True, text=True, check=False
            )
        return Ran(done.returncode, done.stdout, done.stderr)


@contextmanager
def display() -> Iterator[dict[str, str]]:
    """A display without a screen; gives the environment of a program on it."""
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1024x768x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as server:
        os.close(writer)
        with os.fdopen(reader) as told:
            name = f":{told.readline().strip()}"
        environment = {**os.environ, "DISPLAY": name}
        environment.pop("WAYLAND_DISPLAY", None)
        try:
            yield environment
        finally:
            server.send_signal(signal.SIGTERM)


def _hands(process: subprocess.Popen[str], environment: dict[str, str]) -> None:
    """Walk for a moment, then leave: Esc, q."""

    def x(*arguments: str) -> bool:
        return (
            subprocess.run(["xdotool", *arguments], env=environment, capture_output=True, check=False).returncode == 0
        )

    until = time.monotonic() + _PATIENCE_S
    while process.poll() is None and not x("search", "--name", "^oresight"):
        assert time.monotonic() < until, "no window came up"
        time.sleep(0.1)
    time.sleep(2.0)
    x("keydown", "w")
    time.sleep(2.5)
    x("keyup", "w")
    # A slow machine may be late to read its keys.
    while process.poll() is None:
        x("key", "Escape")
        time.sleep(0.5)
        x("key", "q")
        time.sleep(0.5)
        assert time.monotonic() < until, "the game does not end"


def _offline(arguments: list[str]) -> list[str]:
    """The same without a request: a provider's model is planned and not asked."""
    asked = any(
        word == "--model" and not after.startswith("scripted:") for word, after in itertools.pairwise(arguments)
    )
    return [*arguments, "--dry-run"] if asked and "--dry-run" not in arguments else arguments


def _check_printed(command: Command, output: str) -> None:
    lines = iter([" ".join(line.split()) for line in output.splitlines()])
    for expected in command.printed:
        wanted = " ".join(expected.split())
        assert any(line == wanted for line in lines), f"$ {command.line}\nprints no {wanted!r} there:\n{output}"
