"""The committed benchmark page says what the committed measurements say."""

import json

from benchmarks.goals import rows_of, to_markdown
from support.places import ROOT

DOCS = ROOT / "docs"


def test_the_page_is_made_of_the_record() -> None:
    record = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))
    assert (DOCS / "benchmarks.md").read_text(encoding="utf-8") == to_markdown(record)


def test_a_missed_goal_is_called_missed() -> None:
    record = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))
    measured = json.loads(json.dumps(record["measured"]))
    measured["rendered"]["craft 80x60"] = 1.0
    first_met = {row.what: row.met for row in rows_of(measured)}
    assert not first_met["rendered decisions beside Miniworld's Maze, 80x60"]
    assert to_markdown({**record, "measured": measured}).count("**missed**") >= 1
