"""Writes the JSON schemas of the file formats: `python docs/make_schemas.py` writes them into docs/schemas.

They are made from the models that read the files, so that they cannot say anything else.
"""

import json
from pathlib import Path
from typing import Any

from oresight.craftenv.scenarios.scenario import Scenario
from oresight.harness.running.study_file import StudyFile
from oresight.scoring.records import json_schemas

SCHEMAS = Path(__file__).parent / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, str]:
    """Return the text of each schema's file, by the file's name."""
    found: dict[str, Any] = json_schemas()
    found |= {"study-file": StudyFile.model_json_schema(), "craft-scenario": Scenario.model_json_schema()}
    return {f"{name}.json": json.dumps({"$schema": DIALECT, **made}, indent=1) + "\n" for name, made in found.items()}


def main() -> None:
    """Write every schema, and remove what is none of them."""
    SCHEMAS.mkdir(exist_ok=True)
    made = schemas()
    for path in SCHEMAS.glob("*.json"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (SCHEMAS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
