"""Paper for figures: empty sheets with axes, and their files as SVG and PNG. The one file that imports matplotlib.

No text is read as a formula, whatever it holds, and the same figures come out as the same files. What is drawn is the
business of whoever draws.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from oresight.harness.errors import MissingPartError

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Figure
    from matplotlib.lines import Line2D

INK = "#20262f"
FAINT = "#8a93a0"
GRID = "#e4e6ea"
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "oresight",
    "svg.fonttype": "path",
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "font.size": 9.5,
    "legend.frameon": False,
}


@contextmanager
def drawing_style() -> Iterator[None]:
    """The look of every figure that is made and saved inside.

    Raises:
        MissingPartError: matplotlib cannot be imported.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise MissingPartError(f"figures need matplotlib ({error}); run: pip install 'matplotlib>=3.9'") from error
    with matplotlib.rc_context(_STYLE):
        yield


def sheet(columns: int, width: float, height: float, rows: int = 1) -> "tuple[Figure, list[Axes]]":
    """An empty figure with a grid of axes, row by row.

    Args:
        columns: Axes in a row.
        width: In inches.
        height: In inches.
        rows: Rows of axes.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = [figure.add_subplot(rows, columns, number + 1) for number in range(rows * columns)]
    for each in axes:
        each.grid(color=GRID, linewidth=0.8)
        each.set_axisbelow(True)
    return figure, axes


def saved(figure: "Figure", kind: Literal["svg", "png"], background: str = "white", dpi: int = 140) -> bytes:
    """A figure's file; nothing in it says when it was made.

    Args:
        figure: To save.
        kind: Of the file.
        background: A colour, or "none" for a transparent one.
        dpi: Pixels an inch.
    """
    metadata: dict[str, str | None]
    metadata = {"Date": None, "Creator": "oresight"} if kind == "svg" else {"Software": "oresight"}
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata, facecolor=background)
    return buffer.getvalue()


def legend_dot(colour: str, size: float, label: str, **style: Any) -> "Line2D":
    """A dot for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, markersize=size, label=label, **{"linestyle": "", "marker": "o", **style})
