"""H.264 video, and the referee's panel beside the picture.

Knows nothing of worlds, episodes or files of a run: pictures and a `Panel` go in, an MP4 that browsers play comes out.
PyAV, which brings its encoder, and Pillow are imported when a video is begun.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from oresight.harness.errors import MissingPartError
from oresight.harness.files import disk_errors
from oresight.harness.protocols import Pixels
from oresight.harness.text import visible

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

PANEL_WIDTH_PX = 320
_MARGIN_PX = 16

Colour = tuple[int, int, int]
BACKGROUND: Colour = (24, 26, 30)
PLAIN: Colour = (225, 227, 230)
DIM: Colour = (140, 146, 154)
GOOD: Colour = (104, 200, 120)
BAD: Colour = (240, 110, 100)
NOTE: Colour = (236, 196, 92)


@dataclass(frozen=True)
class Panel:
    """What the referee says beside a picture.

    Attributes:
        title: Agent and scenario.
        step: Number of the decision, 0 at the start.
        budget: Decisions allowed.
        action: The decision; empty at the start.
        said: What the agent said with it.
        outcome: What came of it; empty while it is under way.
        case: The case in words; empty if not scored or not known yet.
        verdict: Gain or error in words; empty while it is under way.
        colour: Of the verdict.
        stale: The stale score.
        rates: Per kind of error its name and the figure in either reading, such as "3/20 = 0.15"; the second is empty
            in a world with one reading.
        closing: The episode's outcome; empty before its end.
    """

    title: str
    step: int
    budget: int
    action: str = ""
    said: str = ""
    outcome: str = ""
    case: str = ""
    verdict: str = ""
    colour: Colour = PLAIN
    stale: int = 0
    rates: tuple[tuple[str, str, str], ...] = ()
    closing: str = ""


def draw_panel(panel: Panel, height: int) -> Pixels:
    """Draws a panel: uint8[height, PANEL_WIDTH_PX, 3]."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (PANEL_WIDTH_PX, height), BACKGROUND)
    draw = ImageDraw.Draw(image)
    scale = max(min(height / 480.0, 1.5), 0.5)
    y = 14.0 * scale

    def line(text: str, size: int, colour: Colour, after: float = 4.0, most_lines: int = 1) -> None:
        nonlocal y
        # A field takes its whole room however long its text is, so that nothing below it jumps from frame to frame.
        end = y + (most_lines * (size + 4) + after) * scale
        font = ImageFont.load_default(max(round(size * scale), 6))
        for part in wrapped(draw, visible(text), font, PANEL_WIDTH_PX - 2 * _MARGIN_PX, most_lines):
            draw.text((_MARGIN_PX, y), part, fill=colour, font=font)
            y += (size + 4) * scale
        y = end

    line(panel.title, 15, DIM, 6)
    line(f"decision {panel.step} of {panel.budget}" if panel.step else "start", 15, DIM, 10)
    line(panel.action, 26, PLAIN, 4)
    line(panel.said, 13, DIM, 6, most_lines=2)
    line(panel.outcome, 15, PLAIN, 8, most_lines=2)
    line(panel.case, 16, NOTE, 4)
    line(panel.verdict, 18, panel.colour, 4, most_lines=2)
    line(f"stale score {panel.stale}", 15, PLAIN, 14)
    if panel.rates:
        line("errors so far", 13, DIM, 4)
        for name, lenient, strict in panel.rates:
            line(name, 15, PLAIN, 0)
            if strict:
                line(f"lenient   {lenient}", 14, PLAIN, 0)
                line(f"strict     {strict}", 14, PLAIN, 6)
            else:
                line(lenient, 14, PLAIN, 6)
    line(panel.closing, 16, NOTE, most_lines=2)
    return np.asarray(image, dtype=np.uint8)


def wrapped(draw: "ImageDraw", text: str, font: object, width: int, most_lines: int) -> list[str]:
    """Breaks text between words into at most so many lines; what does not fit is cut with an ellipsis."""
    lines: list[str] = []
    rest = text.split(" ")
    while rest and len(lines) < most_lines:
        count = len(rest)
        while count > 1 and draw.textlength(" ".join(rest[:count]), font=font) > width:  # type: ignore[arg-type]
            count -= 1
        lines.append(" ".join(rest[:count]))
        rest = rest[count:]
    cut = bool(rest)
    while lines and draw.textlength(lines[-1], font=font) > width:  # type: ignore[arg-type]
        lines[-1], cut = lines[-1][:-1], True
    if cut:
        lines[-1] = lines[-1][:-1] + "…"
    return lines


def beside(picture: Pixels, panel: Pixels) -> Pixels:
    """Puts a panel of the same height to the right of a picture."""
    return np.concatenate((picture, panel), axis=1)


class VideoWriter:
    """Writes an MP4 (H.264, yuv420p, index at the front) that gets its name only when it is complete.

    Args:
        path: Where it goes; an existing file is replaced at the end.
        frames_per_second: Of the whole video.

    Raises:
        MissingPartError: There is no H.264 encoder.
        StoreError: The file cannot be written.
    """

    def __init__(self, path: Path, frames_per_second: int) -> None:
        try:
            import av
        except ImportError as error:
            raise MissingPartError(f"video needs the package av ({error}); run: pip install av") from error
        self._av = av
        self._path = path
        self._temporary = path.with_name(f".{path.name}.tmp")
        self._rate = frames_per_second
        with disk_errors(path):
            self._container = av.open(str(self._temporary), mode="w", format="mp4", options={"movflags": "+faststart"})
        self._stream: Any = None
        self._count = 0

    def __enter__(self) -> "VideoWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(keep=error is None)

    def add(self, picture: Pixels, times: int = 1) -> None:
        """Adds one picture, shown for `times` frames; all have the size of the first.

        Args:
            picture: uint8[height, width, 3]; odd sizes lose their last row or column.
            times: At least 1.
        """
        height, width = picture.shape[0] // 2 * 2, picture.shape[1] // 2 * 2
        with disk_errors(self._path):
            if self._stream is None:
                self._begin(width, height)
            frame = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(picture[:height, :width]), format="rgb24")
            frame = frame.reformat(format="yuv420p")
            for _ in range(times):
                frame.pts = self._count
                frame.time_base = Fraction(1, self._rate)
                self._container.mux(self._stream.encode(frame))
                self._count += 1

    def close(self, keep: bool = True) -> None:
        """Ends the video and gives it its name, or drops it; may be called twice."""
        if self._container is None:
            return
        with disk_errors(self._path):
            try:
                if self._stream is not None and keep:
                    self._container.mux(self._stream.encode())
            finally:
                self._container.close()
                self._container = None
            if keep and self._count:
                self._temporary.replace(self._path)
            else:
                self._temporary.unlink(missing_ok=True)

    def _begin(self, width: int, height: int) -> None:
        try:
            self._stream = self._container.add_stream("libx264", rate=self._rate)
        except (ValueError, self._av.FFmpegError) as error:
            raise MissingPartError(f"no H.264 encoder in av {self._av.__version__}; run: pip install -U av") from error
        self._stream.width = width
        self._stream.height = height
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "24", "preset": "veryfast", "tune": "animation"}


def video_encoder() -> str:
    """Name of the H.264 encoder that would be used, for `doctor`.

    Raises:
        MissingPartError: There is none.
    """
    try:
        import av
    except ImportError as error:
        raise MissingPartError(f"the package av cannot be imported ({error}); run: pip install av") from error
    try:
        codec = av.codec.Codec("libx264", "w")
    except (ValueError, av.FFmpegError) as error:
        raise MissingPartError(f"av {av.__version__} has no H.264 encoder; run: pip install -U av") from error
    return f"{codec.name} through PyAV {av.__version__}"


def frames_for(seconds: float, frames_per_second: int) -> int:
    """How many frames last about so long; at least one."""
    return max(round(seconds * frames_per_second), 1)


__all__: Sequence[str] = (
    "Panel",
    "VideoWriter",
    "beside",
    "draw_panel",
    "frames_for",
    "video_encoder",
    "wrapped",
)
