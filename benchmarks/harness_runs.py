"""Measures of whole runs: the harness's own time beside a model that answers at once, workers, and the standard suites.

Each is made of commands as a person types them; what they leave is thrown away.
"""

import asyncio
import base64
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.answer_server import answer_server

_ORESIGHT = (sys.executable, "-m", "oresight.harness.cli.main")
_BARE_REQUESTS = 100


def command(*arguments: str) -> float:
    """Run `oresight` and return how many seconds it took; an incomplete run is an error."""
    begin = time.perf_counter()
    done = subprocess.run([*_ORESIGHT, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"oresight {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")
    return time.perf_counter() - begin


def overhead() -> dict[str, float]:
    """Return the milliseconds a decision takes when the model takes none, with a 640 x 480 picture, all in.

    All in is drawing, encoding, the request over HTTP, recording with its picture on disk, and scoring. Beside it what
    the SDK alone takes for a request with a picture of the same size to the same server. Times are of the episode's own
    record: the first episode loads the SDK and the kernels as well, the others are what goes on.
    """
    with answer_server() as url, tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "run")
        model = f"compatible:instant@{url}"
        command("run", "craft", "--model", model, "--scenario", "outcrop", "--seeds", "0,1,2", "--concurrency", "1",
                "--out", str(out))  # fmt: skip
        results = [json.loads((out / "episodes" / f"outcrop-{n}" / "result.json").read_text()) for n in range(3)]
        first, *later = [result["timing"]["seconds"] * 1000 / result["steps"] for result in results]
        picture = (out / "episodes" / "outcrop-0" / "frames" / "000050.png").read_bytes()
        bare = asyncio.run(_bare_request_ms(url, picture))
        all_in = sum(later) / len(later)
        return {
            "all_in_ms": all_in,
            "sdk_and_server_alone_ms": bare,
            "own_ms": all_in - bare,
            "first_episode_ms": first,
        }


async def _bare_request_ms(url: str, picture: bytes) -> float:
    import openai

    address = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    content = [{"type": "text", "text": "x" * 2000}, {"type": "image_url", "image_url": {"url": address}}]
    messages: Any = [{"role": "user", "content": content}]
    async with openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:
        begin = 0.0
        for number in range(_BARE_REQUESTS + 5):
            if number == 5:
                begin = time.perf_counter()
            await client.chat.completions.create(model="instant", messages=messages)
        return (time.perf_counter() - begin) * 1000 / _BARE_REQUESTS


def episodes_by_workers(numbers: tuple[int, ...]) -> dict[str, float]:
    """Return episodes a second of a grid agent over 270 generated maps, by number of worker processes."""
    seeds = ",".join(map(str, range(30)))
    agent = ("--agent", "frontier(window=8,noise=0.1)")
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for workers in numbers:
            run = ("run", "grid", *agent, "--suite", "main", "--seeds", seeds, "--workers", str(workers))
            found[str(workers)] = 270 / command(*run, "--out", str(Path(folder, f"workers-{workers}")))
    return found


def suites() -> dict[str, float]:
    """Return the seconds of the standard 3D suite by the scout and of the main grid suite by a bundled agent."""
    with tempfile.TemporaryDirectory() as folder:
        craft = command(
            "run", "craft", "--agent", "scout", "--memory", "screenshots(8)", "--suite", "craft-mine", "--workers", "2",
            "--out", str(Path(folder, "craft")),
        )  # fmt: skip
        grid = command(
            "run",
            "grid",
            "--agent",
            "frontier",
            "--suite",
            "main",
            "--workers",
            "2",
            "--out",
            str(Path(folder, "grid")),
        )
        return {"craft_mine_by_scout_s": craft, "grid_main_by_frontier_s": grid}
