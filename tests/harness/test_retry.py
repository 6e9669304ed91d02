"""Waits before another attempt: what a server says, and what is waited without a word of it."""

import email.utils
import random
from typing import Any

import pytest

from oresight.harness.models.retry import Retries, told_wait
from support.model_stage import FastClock

NOW = 1_800_000_000.0


def date(seconds: float) -> str:
    return email.utils.formatdate(NOW + seconds, usegmt=True)


def info(delay: Any) -> dict[str, Any]:
    return {"error": {"details": [{"@type": "x"}, {"retryDelay": delay}]}}


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({}, None, None),
        ({}, "busy", None),
        ({"retry-after": "65"}, None, 65),
        ({"retry-after": " 1.5 "}, None, 1.5),
        ({"retry-after": "-1"}, None, 0),
        ({"retry-after": ""}, None, None),
        ({"retry-after": "never"}, None, None),
        ({"retry-after": "nan"}, None, None),
        ({"retry-after-ms": "1500"}, None, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "1"}, None, 1.5),
        ({"retry-after": date(5)}, None, 5),
        ({"retry-after": date(-5)}, None, 0),
        # A clock of ours that goes an hour fast must not make us early.
        ({"retry-after": date(-3595), "date": date(-3600)}, None, 5),
        ({"retry-after": date(5), "date": "yesterday"}, None, 5),
        ({}, info("7s"), 7),
        ({}, info("0.25s"), 0.25),
        ({}, [info("7s")], 7),
        ({}, info({"seconds": 7, "nanos": 500_000_000}), 7.5),
        ({}, info("soon"), None),
        ({}, info(None), None),
        ({"retry-after": "9"}, info("7s"), 9),
        ({}, {"error": {"message": "Please try again in 20s."}}, 20),
        ({}, {"error": {"message": "Please try again in 6m0s."}}, 360),
        ({}, {"error": {"message": "Please try again in 1h2m3.5s."}}, 3723.5),
        ({}, {"error": {"message": "Please try again in 120ms"}}, 0.12),
        ({}, {"error": {"message": "Please retry in 37.5s."}}, 37.5),
        ({}, {"message": "retry after 2 minutes"}, 120),
        ({}, {"error": "wait 30 seconds"}, 30),
        ({}, {"detail": "Try again after 10 seconds"}, 10),
        ({}, {"error": {"message": "You may try again later; see 5 tips"}}, None),
        ({}, {"error": {"details": "none"}}, None),
    ],
)
def test_what_a_server_says(headers: dict[str, str], body: Any, seconds: float | None) -> None:
    found = told_wait(headers, body, NOW)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_waits_grow_and_are_jittered_and_end_within_the_limit() -> None:
    import asyncio

    def waits(seed: int) -> list[float]:
        clock = FastClock()
        retries = Retries(clock, random.Random(seed))
        while (wait := retries.next_wait(None)) is not None:
            asyncio.run(retries.wait(wait))
        return clock.sleeps

    first = waits(1)
    assert 540 - 1 < sum(first) < 600
    assert all(min(2.0**n, 60) / 2 <= wait <= min(2.0**n, 60) for n, wait in enumerate(first))
    assert first == pytest.approx(waits(1)) and first != pytest.approx(waits(2))


def test_a_wait_beyond_what_is_left_is_none() -> None:
    retries = Retries(FastClock(), random.Random(1), limit_s=100)
    assert retries.next_wait(99.0) is not None
    assert retries.next_wait(100.0) is None
    assert retries.next_wait(float("inf")) is None
