"""The scout: what it sees in pictures, and what it decides; always the same for the same messages."""

import ast
import asyncio
import math
from pathlib import Path

import numpy as np
import pytest

import oresight.harness.agents.scout.scout as scout_module
from oresight.assets.make_textures import draw_all
from oresight.harness.agents.scout import vision
from oresight.harness.agents.scout.explore import choose_heading
from oresight.harness.agents.scout.scout import Scout, decide
from oresight.harness.agents.scout.track import Pose, read_track
from oresight.harness.protocols import ImagePart, Message, Pixels, TextPart

HEIGHT, WIDTH = 480, 640
FOCAL_PX = 240.0 / 0.7002075382097097
TEXTURES = {name: pixels[..., :3] for name, pixels in draw_all().items()}
ORES = ("coal_ore", "iron_ore", "gold_ore", "diamond_ore")


def wall(block: str, blocks: float, shade: float = 0.8, right: float = 0.0, down: float = 0.0) -> Pixels:
    """A face of a block, `blocks` away and facing the eye, in a wall of dirt; offsets in blocks from the crosshair."""
    columns, rows = np.meshgrid(np.arange(WIDTH) - WIDTH / 2 + 0.5, np.arange(HEIGHT) - HEIGHT / 2 + 0.5)
    u = columns * blocks / FOCAL_PX - right + 0.5
    v = rows * blocks / FOCAL_PX - down + 0.5
    texel_u, texel_v = np.floor(u * 16).astype(int) % 16, np.floor(v * 16).astype(int) % 16
    inside = (u >= 0) & (u < 1) & (v >= 0) & (v < 1)
    picture = np.where(inside[..., None], TEXTURES[block][texel_v, texel_u], TEXTURES["dirt"][texel_v, texel_u])
    shaded: Pixels = (picture * shade).astype(np.uint8)
    return shaded


def landscape() -> Pixels:
    """Sky over grass, with leaves, water, sand and wood; no ore."""
    picture = np.empty((HEIGHT, WIDTH, 3), dtype=np.uint8)
    picture[:240] = (150, 190, 240)
    tiled = {name: np.tile(texture, (30, 40, 1)) for name, texture in TEXTURES.items()}
    picture[240:] = tiled["grass_top"][240:]
    for number, name in enumerate(("leaves", "water", "sand", "log_side", "planks", "grass_side", "gravel", "log_top")):
        left = 80 * number
        picture[200:300, left : left + 80] = tiled[name][200:300, left : left + 80]
    return picture


def observed(
    picture: Pixels, step: int = 1, last: str = "none", target: str = "iron_ore", earlier: tuple[ImagePart, ...] = ()
) -> list[Message]:
    text = (
        f"Task: acquire 1 {target} (0 so far).\nStep: {step}\nLast action: {last}\nSelected slot: 1\nInventory: empty"
    )
    action, _, outcome = last.partition(" -> ")
    now = ImagePart(picture, step, None if last == "none" else action, outcome or None)
    return [Message("system", (TextPart("Find ore."),)), Message("user", (*earlier, TextPart(text), now))]


@pytest.mark.parametrize("ore", ORES)
@pytest.mark.parametrize("shade", [1.0, 0.8, 0.6, 0.5])
def test_it_finds_each_ore_under_each_shade(ore: str, shade: float) -> None:
    (patch,) = vision.find_ore(wall(ore, 4.0, shade, right=1.0), ore)
    assert patch.column == pytest.approx(FOCAL_PX / 4.0, abs=30)
    assert patch.row == pytest.approx(0.0, abs=30)


@pytest.mark.parametrize("ore", ORES)
def test_it_takes_no_other_block_for_an_ore(ore: str) -> None:
    assert vision.find_ore(landscape(), ore) == ()
    for other in set(ORES) - {ore}:
        assert vision.find_ore(wall(other, 3.0), ore) == ()


@pytest.mark.parametrize("blocks", [2.0, 3.0, 5.0, 8.0])
def test_it_estimates_the_distance_of_an_ore(blocks: float) -> None:
    (patch,) = vision.find_ore(wall("iron_ore", blocks), "iron_ore")
    assert blocks / 1.6 < patch.blocks < blocks * 1.6


def test_iron_is_still_found_where_a_face_is_a_few_pixels_wide() -> None:
    small = np.tile(TEXTURES["dirt"].mean(axis=(0, 1)), (HEIGHT, WIDTH, 1)).astype(np.uint8)
    small[100:104, 200:204] = (TEXTURES["iron_ore"].mean(axis=(0, 1)) * 0.6).astype(np.uint8)
    (patch,) = vision.find_ore(small, "iron_ore")
    assert patch.column == pytest.approx(-118.5, abs=2)
    assert patch.row == pytest.approx(-138.5, abs=2)


def test_the_pictures_in_the_hotbar_are_no_ore() -> None:
    picture = landscape()
    picture[440:472, 300:332] = np.repeat(np.repeat(TEXTURES["iron_ore"], 2, axis=0), 2, axis=1)
    assert vision.find_ore(picture, "iron_ore") == ()


def test_an_unknown_ore_is_an_error() -> None:
    with pytest.raises(ValueError, match="it knows coal_ore"):
        vision.ore_mask(landscape(), "tin_ore")


@pytest.mark.parametrize("pitch", [-30.0, 0.0, 45.0])
def test_a_bearing_is_the_reverse_of_a_place_in_the_picture(pitch: float) -> None:
    column, row = vision._in_picture(20.0, pitch + 10.0, pitch) or (0, 0)
    where = vision.bearing(column, row, pitch)
    assert where.right_deg == pytest.approx(20.0, abs=0.3)
    assert where.down_deg == pytest.approx(pitch + 10.0, abs=0.3)


def test_a_near_wall_is_told_from_a_far_one() -> None:
    assert vision.free_blocks(wall("stone", 1.0))[1] == pytest.approx(1.0, abs=0.5)
    assert vision.free_blocks(wall("stone", 6.0))[1] == pytest.approx(6.0, rel=0.4)
    assert vision.free_blocks(landscape()[::-1])[1] > 0.0


def test_the_size_of_the_picture_does_not_matter() -> None:
    large = np.repeat(np.repeat(wall("iron_ore", 4.0, right=1.0), 2, axis=0), 2, axis=1)
    (patch,) = vision.find_ore(large, "iron_ore")
    assert patch.column == pytest.approx(FOCAL_PX / 4.0, abs=30)


def test_it_mines_an_ore_under_the_crosshair() -> None:
    assert decide(observed(wall("iron_ore", 3.0)), 1)[0] == "mine"


def test_it_wants_no_other_ore_than_the_target() -> None:
    assert decide(observed(wall("gold_ore", 3.0)), 1)[0] != "mine"
    assert decide(observed(wall("gold_ore", 3.0), target="gold_ore"), 1)[0] == "mine"


def test_it_turns_towards_an_ore_at_the_side() -> None:
    right = 10.0 * math.tan(math.radians(30.0))
    assert decide(observed(wall("iron_ore", 10.0, right=right)), 1)[0] == "look_right"
    assert decide(observed(wall("iron_ore", 10.0, right=-right)), 1)[0] == "look_left"


def test_it_tilts_towards_an_ore_within_reach() -> None:
    assert decide(observed(wall("iron_ore", 3.0, down=3.0 * math.tan(math.radians(15.0)))), 1)[0] == "look_down"
    assert decide(observed(wall("iron_ore", 3.0, down=-3.0 * math.tan(math.radians(15.0)))), 1)[0] == "look_up"


def test_it_walks_to_an_ore_that_is_ahead_but_out_of_reach() -> None:
    assert decide(observed(wall("iron_ore", 12.0)), 1)[0] == "move_forward"


def test_it_climbs_what_stops_it_on_the_way_to_an_ore() -> None:
    far = wall("iron_ore", 12.0)
    assert decide(observed(far, 5, "move_forward -> moved a little, then blocked"), 5)[0] == "jump"
    assert decide(observed(far, 6, "jump -> jumped"), 6)[0] == "move_forward"


def test_it_digs_where_it_could_not_climb() -> None:
    far = wall("iron_ore", 12.0)
    earlier = (ImagePart(far, 4, "move_forward", "blocked"), ImagePart(far, 5, "jump", "jumped"))
    assert decide(observed(far, 6, "move_forward -> blocked", earlier=earlier), 6)[0] == "mine"


def test_it_does_not_mine_the_air_twice() -> None:
    assert decide(observed(wall("iron_ore", 4.0), 3, "mine -> nothing within reach"), 3)[0] == "move_forward"


def test_an_earlier_picture_brings_it_back_to_an_ore_out_of_sight() -> None:
    seen = ImagePart(wall("iron_ore", 10.0, right=-4.0), 1)
    turned = [ImagePart(landscape(), step, "look_right", "turned") for step in (2, 3)]
    action, said = decide(observed(landscape(), 4, "look_right -> turned", earlier=(seen, *turned)), 4)
    assert action == "look_left" or "I saw iron ore 3 decisions ago" in said
    forgetful, said = decide(observed(landscape(), 4, "look_right -> turned"), 4)
    assert "No iron ore in sight" in said
    assert forgetful in ("look_right", "move_forward")


def test_without_an_ore_it_does_not_turn_back_at_once() -> None:
    for step in range(1, 30):
        assert decide(observed(landscape(), step, "look_left -> turned"), step)[0] != "look_right"


def test_it_does_not_walk_into_a_wall_before_its_eyes() -> None:
    track = read_track(observed(wall("stone", 0.6)))
    assert choose_heading(track, np.random.default_rng(0)) != 0


def test_the_same_messages_give_the_same_decision() -> None:
    messages = observed(landscape(), 7, "move_forward -> moved")
    assert [decide(messages, 7, seed=3) for _ in range(5)] == [decide(messages, 7, seed=3)] * 5
    decision = asyncio.run(Scout(3).act(messages, 7))
    assert (decision.action, decision.said, decision.usage) == (*decide(messages, 7, seed=3), None)


def test_the_chat_before_the_last_message_changes_nothing_but_may_name_the_task() -> None:
    messages = observed(landscape(), 7, "move_forward -> moved")
    chat = [messages[0], *observed(wall("iron_ore", 3.0), 1)[1:], Message("assistant", (TextPart("gold ore!"),))]
    assert decide([*chat, messages[-1]], 7) == decide(messages, 7)


def test_messages_without_a_task_are_an_error() -> None:
    with pytest.raises(ValueError, match="names an ore"):
        decide([Message("user", (TextPart("Step: 1"),))], 1)


def test_a_pose_follows_the_actions() -> None:
    pose = Pose().after("look_right", "turned").after("move_forward", "moved").after("look_down", "turned")
    assert (pose.heading_deg, pose.pitch_deg) == (30.0, 15.0)
    assert pose.right == pytest.approx(4.3 * 0.5)
    assert pose.ahead == pytest.approx(4.3 * math.sqrt(0.75))
    assert pose.after("move_forward", "blocked") == pose


def test_opencv_is_imported_only_inside_functions() -> None:
    folder = Path(scout_module.__file__).parent
    for name in ("scout.py", "explore.py", "track.py"):
        for node in ast.parse((folder / name).read_text(encoding="utf-8")).body:
            text = ast.unparse(node) if isinstance(node, ast.Import | ast.ImportFrom) else ""
            assert "cv2" not in text and "vision" not in text
