"""The tables of a report as files: CSV always, Parquet where pyarrow is installed (the extra `parquet`).

The one file that imports pyarrow.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from oresight.harness import files
from oresight.harness.protocols import Json
from oresight.harness.records import folder as run_folder
from oresight.harness.report.conditions import Condition
from oresight.harness.report.panels import difference_columns, ratio_columns
from oresight.harness.report.study import ConditionFigures, WorldStudy
from oresight.scoring.pooling import PooledRates


def write_table(folder: Path, name: str, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Writes a table in every format there is, and returns the files' names.

    Raises:
        StoreError: The disk refuses.
    """
    rows = aligned(rows)
    files.write_atomically(folder / f"{name}.csv", run_folder.to_csv(rows).encode(), durable=False)
    content = to_parquet(rows)
    if content is None:
        return [f"{name}.csv"]
    files.write_atomically(folder / f"{name}.parquet", content, durable=False)
    return [f"{name}.csv", f"{name}.parquet"]


def to_parquet(rows: Sequence[Mapping[str, object]]) -> bytes | None:
    """Rows as Parquet; None where pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return None
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows]), stream)
    return stream.getvalue()


def aligned(rows: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    """The same rows, each with every column; what one does not have is empty."""
    found = [dict(row) for row in rows]
    columns = dict.fromkeys(name for row in found for name in row)
    return [{name: row.get(name) for name in columns} for row in found]


def condition_rows(studies: Sequence[WorldStudy]) -> list[Json]:
    """A row a condition: counts, success and errors with their intervals, budget used, cost."""
    return [_condition_row(study, row) for study in studies for row in study.rows]


def episode_rows(conditions: Sequence[Condition]) -> list[Json]:
    """A row for each planned episode."""
    rows: list[Json] = []
    for condition in conditions:
        by_name = {str(row["episode"]): row for row in condition.side.summary.rows()}
        for episode in condition.episodes:
            marks = None if episode.told is None else episode.told.marks
            rows.append(
                {
                    "world": condition.kind,
                    **_who(condition),
                    **by_name[episode.name],
                    # One letter a decision: x, p and b are errors of exploration, exploitation and both, P is progress,
                    # g a gain, a dot a decision that is not scored.
                    "decisions": marks,
                    "replay": episode.page,
                }
            )
    return rows


def sensitivity_rows(studies: Sequence[WorldStudy]) -> list[Json]:
    """A row for each condition under each pair of alpha and k."""
    return [
        {
            "world": study.kind,
            **_who(row.condition),
            "alpha": alpha,
            "k": k,
            **_pooled(study, pooled, of_means=False),
        }
        for study in studies
        for row in study.rows
        for (alpha, k), pooled in sorted(row.sensitivity.items())
    ]


def difference_rows(studies: Sequence[WorldStudy]) -> list[Json]:
    """A row for each measure in which each condition is compared with the first of its world that has a result."""
    rows: list[Json] = []
    for study in studies:
        if study.comparison is None:
            continue
        first, *others = study.compared
        for row, column in zip(others, study.comparison.columns[1:], strict=True):
            for measure, difference in column.differences.items():
                told = {"world": study.kind, **_who(row.condition), "minus": first.condition.label, "measure": measure}
                rows.append({**told, **difference_columns(difference)})
    return rows


def _who(condition: Condition) -> Json:
    config = condition.side.summary.run.config
    return {
        "key": condition.key,
        "condition": condition.label,
        "agent": config.agent,
        "memory": config.memory,
        "prompts": config.prompts,
    }


def _condition_row(study: WorldStudy, row: ConditionFigures) -> Json:
    usage = row.usage or {}
    return {
        "world": study.kind,
        **_who(row.condition),
        **row.condition.counts.to_json(),
        **_pooled(study, row.pooled),
        **{name: usage.get(name) for name in ("replies", "reasks", "input_tokens", "output_tokens", "cost")},
    }


def _pooled(study: WorldStudy, pooled: PooledRates, *, of_means: bool = True) -> Json:
    """Every measure with its interval; without those of means if they are not wanted, since they take a while."""
    row: Json = {}
    measures, _ = study.shown
    for measure in measures:
        columns = ratio_columns(pooled[measure.name])
        if measure.unit.counted:
            row |= {f"{measure.name}_{column}": value for column, value in columns.items()}
        else:
            row[measure.name] = columns["value"]
            if of_means:
                row |= {f"{measure.name}_{end}": columns[end] for end in ("low", "high")}
    return {**row, "scored_decisions": pooled.scored_decisions, "decisions": pooled.decisions}
