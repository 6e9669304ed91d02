"""What the drawing of an episode of the 3D world is made of: the surface, the path, the ores and the changed blocks."""

from collections.abc import Sequence

from oresight.harness.records.scored import Story
from oresight.harness.worlds.craft.from_above import ground
from oresight.harness.worlds.view import NEVER, Line, Numbers, View
from oresight.scoring.craft.adapter import node_of
from oresight.scoring.records import BlockPos, Point, StartFacts

# Ticks between two points of a path, and how many blocks around what happened are shown.
TICKS_PER_POINT = 4
MARGIN_BLOCKS = 8
# A wide view is drawn around the path alone.
AREA_BLOCKS_MAX = 320


def craft_view(story: Story) -> View:
    """Return the surface, the path, the ores and the changed blocks."""
    start = StartFacts.model_validate(story.header.start.facts)
    numbers = Numbers(node_of(start.pose, story.parameters))
    ends = [numbers.of(step.judged.node) for step in story.steps]
    ores = _ores(story, start)
    poses = [_pose(start.pose.feet, start.pose.yaw_deg, start.pose.pitch_deg)]
    walks: list[list[int]] = []
    changes: list[list[object]] = []
    for step in story.steps:
        facts = step.facts
        assert facts is not None
        after = facts.pose_after
        poses.append(_pose(after.feet, after.yaw_deg, after.pitch_deg))
        walks.append(_walk(facts.pose_before.feet, facts.feet_ticks))
        changes += [[step.line.step, *each.pos, each.before, each.after] for each in facts.blocks_changed]
    xs, zs = _around(poses, ores)
    area = (min(xs) - MARGIN_BLOCKS, min(zs) - MARGIN_BLOCKS, max(xs) + MARGIN_BLOCKS, max(zs) + MARGIN_BLOCKS)
    surface = ground(story.header, *area)
    left, top, right, bottom = area
    shown = [left, top, right - left, bottom - top]
    if surface is not None:
        shown = [surface.left, surface.top, surface.width, surface.depth]
    drawing = {
        "area": shown,
        "ground": None if surface is None else surface.source,
        "poses": poses,
        "walks": walks,
        "ores": ores,
        "changes": changes,
        "target": str(story.header.scenario.get("target", "")),
    }
    summary = story.summary
    acquired: tuple[tuple[str, str, str], ...] = ()
    wanted = summary.details.get("target_count")
    if wanted is not None:
        acquired = (("Acquired", f"{summary.details.get('acquired')} of {wanted}", str(drawing["target"])),)
    return View(
        nodes=numbers.nodes,
        ends=ends,
        events=_craft_events(story),
        drawing=drawing,
        script="replay_craft.js",
        event_names=("", "ore discovered", "ore acquired"),
        map_title="From above",
        zoom=True,
        line=Line("height of the feet", [pose[1] for pose in poses]),
        leaves_out_staying=True,
        figures=acquired,
    )


def _craft_events(story: Story) -> list[int]:
    discovered = {each.step for each in story.discoveries}
    return [
        2 if step.facts is not None and step.facts.acquired else 1 if step.line.step in discovered else 0
        for step in story.steps
    ]


def _ores(story: Story, start: StartFacts) -> list[list[int]]:
    """Per ore of the target kind: place, when it was first in view, discovered and gone, and if it was acquired."""
    seen: dict[BlockPos, int] = {ore.pos: 0 for ore in start.known}
    gone: dict[BlockPos, int] = {}
    acquired: set[BlockPos] = set()
    for step in story.steps:
        assert step.facts is not None
        for ore in step.facts.known:
            seen.setdefault(ore.pos, step.line.step)
            if not ore.standing:
                gone.setdefault(ore.pos, step.line.step)
        for pos in step.facts.acquired:
            seen.setdefault(pos, step.line.step)
            gone.setdefault(pos, step.line.step)
            acquired.add(pos)
    discovered = {each.pos: each.step for each in story.discoveries}
    return [
        [*pos, first, discovered.get(pos, NEVER), gone.get(pos, NEVER), int(pos in acquired)]
        for pos, first in seen.items()
    ]


def _pose(feet: Point, yaw_deg: float, pitch_deg: float) -> list[float]:
    return [*(round(value, 2) for value in feet), round(yaw_deg, 1), round(pitch_deg, 1)]


def _walk(before: Point, ticks: Sequence[Point]) -> list[int]:
    """Points of a path as x and z in tenths of a block; empty where the feet stayed."""
    points = [before, *ticks[TICKS_PER_POINT - 1 :: TICKS_PER_POINT]]
    if ticks and (len(ticks) % TICKS_PER_POINT):
        points.append(ticks[-1])
    flat = [(round(10 * x), round(10 * z)) for x, _, z in points]
    kept = [point for place, point in enumerate(flat) if place == 0 or point != flat[place - 1]]
    return [value for point in kept for value in point] if len(kept) > 1 else []


def _around(poses: Sequence[Sequence[float]], ores: Sequence[Sequence[int]]) -> tuple[list[float], list[float]]:
    """Return what has to be in view: the path, and the ores if they do not make it too wide."""
    xs, zs = [pose[0] for pose in poses], [pose[2] for pose in poses]
    with_ores = [*xs, *(ore[0] for ore in ores)], [*zs, *(ore[2] for ore in ores)]
    wide = max(max(values) - min(values) for values in with_ores)
    return (xs, zs) if wide > AREA_BLOCKS_MAX else with_ores
