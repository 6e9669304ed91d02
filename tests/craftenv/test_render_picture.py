"""Pictures: right at first, the same again, of the stated size, and nobody else's."""

import gc
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from oresight.craftenv.blocks import Block
from oresight.craftenv.render import context
from oresight.craftenv.render.renderer import OPEN_AIR, Renderer
from support.places import ROOT
from support.render_stage import StageWorld, ground_eye, hills

pytestmark = pytest.mark.gl

HOTBAR = [(Block.IRON_ORE, 1), (Block.COBBLESTONE, 64)] + [(0, 0)] * 7


@pytest.fixture(scope="module")
def world() -> StageWorld:
    return hills(1)


def colours(image: npt.NDArray[np.uint8]) -> int:
    return len(np.unique(image.reshape(-1, 3), axis=0))


@pytest.mark.parametrize(("width", "height"), [(64, 48), (641, 479), (640, 480), (1920, 1080)])
def test_the_first_picture_is_upright_and_of_the_stated_size(world: StageWorld, width: int, height: int) -> None:
    with Renderer(width, height) as renderer:
        image = renderer.draw(world, (120.5, 48.0, 120.5), 0, 100, hotbar=HOTBAR)
        again = renderer.draw(world, (120.5, 48.0, 120.5), 0, 100, hotbar=HOTBAR)
    assert image.shape == (height, width, 3)
    assert image.dtype == np.uint8
    assert image.flags.c_contiguous and image.flags.owndata
    assert colours(image) > 50
    blueness = image[..., 2].astype(int) - image[..., 0]
    assert blueness[: height // 10].mean() > 60  # sky above
    assert blueness[height // 2 : height * 3 // 4].mean() < 30
    assert np.array_equal(image, again)


@pytest.mark.parametrize(("width", "height"), [(63, 48), (64, 47), (1921, 1080), (1920, 1081), (0, 0)])
def test_sizes_out_of_range_are_refused(width: int, height: int) -> None:
    with pytest.raises(ValueError, match="from 64 x 48 to 1920 x 1080"):
        Renderer(width, height)


def test_pictures_do_not_depend_on_what_was_drawn_before(world: StageWorld) -> None:
    eye = ground_eye(world, 120, 120)
    with Renderer(160, 120) as fresh:
        expected = fresh.draw(world, eye, 500, 50, hotbar=HOTBAR)
    with Renderer(160, 120) as used:
        used.draw(world, ground_eye(world, 150, 90), 1200, -300, target=(150, 30, 90), crack=0.5, slot=3)
        used.draw(world, (120.5, 20.0, 120.5), 0, 600)
        used.draw_faces(world, eye, 0, 0)
        used.draw(hills(2), eye, 0, 0)
        assert np.array_equal(used.draw(world, eye, 500, 50, hotbar=HOTBAR), expected)


def test_a_changed_block_shows_in_the_next_picture_and_changed_back_it_is_gone() -> None:
    world = hills(3)
    eye = ground_eye(world, 127, 127)
    with Renderer(160, 120) as renderer:
        before = renderer.draw(world, eye, 0, 0)
        x, y, z = 127, int(eye[1]), 129  # over the border of the chunk the eye is in
        world.set(x, y, z, Block.DIAMOND_ORE)
        assert not np.array_equal(renderer.draw(world, eye, 0, 0), before)
        world.set(x, y, z, Block.AIR)
        assert np.array_equal(renderer.draw(world, eye, 0, 0), before)


def test_drawing_changes_nothing_in_the_world(world: StageWorld) -> None:
    before = world.blocks.copy(), world.slot_version.copy()
    with Renderer(64, 48) as renderer:
        renderer.draw(world, ground_eye(world, 100, 100), 0, 0)
    assert np.array_equal(world.blocks, before[0])
    assert np.array_equal(world.slot_version, before[1])


def test_a_million_blocks_out_the_picture_is_the_same(world: StageWorld) -> None:
    x, y, z = ground_eye(world, 120, 120)
    far = StageWorld(world.blocks, world.slot_cx + 16 * 4096, world.slot_cz - 16 * 4096)
    with Renderer(160, 120) as renderer:
        near_picture = renderer.draw(world, (x, y, z), 700, 40)
        far_picture = renderer.draw(far, (x + 256 * 4096, y, z - 256 * 4096), 700, 40)
    assert np.array_equal(near_picture, far_picture)


def test_a_neighbour_closed_and_collected_does_not_disturb_the_survivor(world: StageWorld) -> None:
    eyes = [ground_eye(world, 120, z) for z in range(110, 116)]
    with Renderer(96, 64) as alone:
        expected = [alone.draw(world, eye, 100, 0) for eye in eyes]
    survivor, other = Renderer(96, 64), Renderer(200, 150)
    third: Renderer | None = None
    for step, eye in enumerate(eyes):
        assert np.array_equal(survivor.draw(world, eye, 100, 0), expected[step])
        if step == 2:
            other.close()
            del other
            gc.collect()
            import pyglet

            pyglet.display.get_display().get_default_screen()
            third = Renderer(128, 96)
        elif step < 2:
            other.draw(hills(2), eye, 900, 0)
    assert third is not None
    third.close()
    survivor.close()


def test_a_renderer_left_open_is_freed_when_it_is_collected(world: StageWorld) -> None:
    lost = Renderer(64, 48)
    name = lost._picture.name
    del lost
    gc.collect()
    with context.acquire().current() as gl:
        assert not gl.glIsFramebuffer(name)


def test_a_closed_renderer_says_so(world: StageWorld) -> None:
    renderer = Renderer(64, 48)
    renderer.close()
    renderer.close()
    with pytest.raises(RuntimeError, match="closed"):
        renderer.draw(world, (0.0, 50.0, 0.0), 0, 0)


def test_any_thread_may_draw(world: StageWorld) -> None:
    eye = ground_eye(world, 120, 120)
    with Renderer(96, 64) as renderer:
        expected = renderer.draw(world, eye, 0, 0)
        found: list[npt.NDArray[np.uint8]] = []

        def work() -> None:
            found.append(renderer.draw(world, eye, 0, 0))
            with Renderer(96, 64) as own:
                found.append(own.draw(world, eye, 0, 0))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 6
        assert all(np.array_equal(image, expected) for image in found)


def test_fog_begins_beyond_48_blocks_and_hides_all_before_the_edge_of_what_is_loaded() -> None:
    def shade(distance: int) -> npt.NDArray[np.float64]:
        world = StageWorld()
        world.blocks[60:190, 128 + distance, 30:95] = Block.COAL_ORE
        with Renderer(64, 48) as renderer:
            image = renderer.draw(world, (128.5, 60.0, 128.0), 0, 0, hud=False)
        return image[20:28, 28:36].reshape(-1, 3).mean(axis=0)

    sky = np.array(OPEN_AIR.low_sky) * 255
    assert np.abs(shade(47) - shade(20)).max() < 6
    assert 0.2 < np.linalg.norm(shade(60) - sky) / np.linalg.norm(shade(20) - sky) < 0.8


def test_under_water_the_picture_turns_blue() -> None:
    world = StageWorld()
    world.blocks[:, :, :10] = Block.SAND
    with Renderer(64, 48) as renderer:
        dry = renderer.draw(world, (128.5, 12.0, 128.5), 0, 0, hud=False).reshape(-1, 3).mean(axis=0)
        world.blocks[:, :, 10:20] = Block.WATER
        world.slot_version += 1
        wet = renderer.draw(world, (128.5, 12.0, 128.5), 0, 0, hud=False).reshape(-1, 3).mean(axis=0)
    assert wet[2] / wet[0] > 1.25 * dry[2] / dry[0]


def test_the_target_is_outlined_and_cracks_grow(world: StageWorld) -> None:
    stage = StageWorld()
    stage.blocks[128, 131, 50] = Block.STONE
    eye = (128.5, 50.5, 128.0)
    with Renderer(320, 240) as renderer:
        pictures = [renderer.draw(stage, eye, 0, 0, hud=False)]
        target = (128, 50, 131)
        pictures += [renderer.draw(stage, eye, 0, 0, hud=False, target=target, crack=c) for c in (0.0, 0.2, 0.6, 1.0)]
    dark = [int((picture.max(axis=-1) < 30).sum()) for picture in pictures]
    assert dark == sorted(set(dark))


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "NUMBA_CACHE_DIR") if key in os.environ}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(ROOT / "tests"), **environment},
        check=False,
    )


def test_a_display_that_is_not_there_is_not_asked_for() -> None:
    done = run_python(
        "from oresight.craftenv.render import context; print(context.describe().mode)",
        DISPLAY=":77",
        WAYLAND_DISPLAY="none",
    )
    assert (done.stdout.strip(), done.stderr) == ("headless", "")


def test_without_egl_one_sentence_names_the_packages() -> None:
    done = run_python(
        """
import pyglet.lib
def hidden(*names, **options):
    raise ImportError('Library "EGL" not found.')
pyglet.lib.load_library = hidden
from oresight.craftenv.render import context
try:
    context.acquire()
except context.OpenGLUnavailable as error:
    print(error)
"""
    )
    assert "libegl1 libgl1 libgl1-mesa-dri" in done.stdout, done.stderr
    assert len(done.stdout.strip().splitlines()) == 1


def test_a_headless_process_cannot_become_windowed() -> None:
    context.acquire("headless")
    with pytest.raises(context.ContextModeError, match="already draws headless"):
        context.acquire("windowed")


def test_a_process_that_another_set_up_for_windows_says_so() -> None:
    done = run_python(
        """
import pyglet
pyglet.options["shadow_window"] = False
import pyglet.gl
from oresight.craftenv.render import context
try:
    context.acquire("headless")
except context.ContextModeError as error:
    print(error)
"""
    )
    assert "already set pyglet up to be windowed" in done.stdout, done.stderr


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="needs Xvfb")
def test_a_windowed_process_draws_the_same_picture_off_screen(world: StageWorld, tmp_path: Path) -> None:
    code = """
import sys
import numpy as np
from support.render_stage import hills
from oresight.craftenv.render.renderer import Renderer
with Renderer(160, 120, mode=sys.argv[1]) as renderer:
    np.save(sys.argv[2], renderer.draw(hills(1), (120.5, 60.0, 120.5), 100, 50))
"""
    read, write = os.pipe()
    with subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "800x600x24"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            os.close(write)
            with os.fdopen(read) as told:
                display = f":{told.readline().strip()}"
            for mode in ("headless", "windowed"):
                done = run_python(
                    f"import sys; sys.argv[1:] = [{mode!r}, {str(tmp_path / mode)!r}]\n{code}", DISPLAY=display
                )
                assert done.returncode == 0, done.stderr
        finally:
            server.terminate()
    apart = np.load(tmp_path / "headless.npy").astype(int) - np.load(tmp_path / "windowed.npy")
    assert np.abs(apart).max() <= 1


def test_a_forked_child_is_told_to_be_spawned() -> None:
    done = run_python(
        """
import os
from oresight.craftenv.render import context
context.describe()
child = os.fork()
if child == 0:
    try:
        context.describe()
    except context.ContextModeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    )
    assert "'spawn'" in done.stdout, done.stderr


def test_importing_the_renderer_loads_no_pyglet() -> None:
    done = run_python("import sys, oresight.craftenv.render.renderer; print('pyglet' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr


def reopen(world: StageWorld, times: int) -> None:
    for number in range(times):
        with Renderer(96 + number % 3, 64) as renderer:
            renderer.draw(world, ground_eye(world, 120, 120), 0, 0)


def resident_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory use from /proc")
def test_memory_stays_flat_over_reopenings(world: StageWorld) -> None:
    reopen(world, 15)
    before = resident_mb()
    reopen(world, 25)
    assert resident_mb() - before < 15


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory use from /proc")
def test_memory_stays_flat_over_a_thousand_reopenings(world: StageWorld) -> None:
    reopen(world, 100)
    before = resident_mb()
    reopen(world, 1000)
    assert resident_mb() - before < 20
