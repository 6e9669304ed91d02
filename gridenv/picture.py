"""The picture of a map: the grid on the left, the task DAG on the right, the meaning of the colours below.

Everything is drawn twice as large and scaled down, which smooths lines and letters.
"""

from PIL import Image, ImageDraw, ImageFont

from oresight.gridenv.draw import bounds, labels, node_state
from oresight.gridenv.model import Cell, GridMap, Node, State

_SCALE = 2
_GRID_PX = 560
_MARGIN_PX = 28
_LEGEND_PX = 64
_BOX_HEIGHT_PX = 34
_LAYER_PX = 96
_GAP_PX = 22
_OPTION_PX = 30
_MIN_WIDTH_PX = 860
_SHORT_NAME = 5
_LONGEST_NAME = 28
_MAX_DAG_PX = 4000

_PAPER = "#fbfaf7"
_INK = "#20262f"
_FAINT = "#8a93a0"
_OBSTACLE = "#39414e"
_OBSERVED = "#ffffff"
_UNOBSERVED = "#bcd7f0"
_HIDDEN = "#6b7584"
_BOARD = "#2b323d"
_AGENT = "#1769e0"
_START = "#8e44ad"
_PATH = "#7fb0f2"
_STATES = {"undiscovered": "#c9ced6", "discovered": "#f6b73c", "achieved": "#3fae6a"}
_OPTIONS = ("#5b6675", "#c0392b", "#16808c", "#8e44ad", "#a1660b")

_Point = tuple[float, float]


def draw_picture(map_: GridMap, state: State | None = None, path: tuple[Cell, ...] = ()) -> Image.Image:
    """Return a picture, RGB, of the map with the task DAG beside it.

    Args:
        map_: The map.
        state: What the agent knows; None draws everything as known.
        path: The cells that the agent stood on, in order, to be drawn as a line.

    Raises:
        gridenv.draw.DrawingError: The map is too large to draw.
    """
    return Picture(map_, state, path).draw()


class Picture:
    """One picture in the making. `draw` returns it, scaled down."""

    def __init__(self, map_: GridMap, state: State | None, path: tuple[Cell, ...]) -> None:
        """Measure everything.

        Raises:
            gridenv.draw.DrawingError: The map is too large to draw.
        """
        self._map = map_
        self._state = state
        self._path = path
        self._area = bounds(map_)
        self._cell = max(2, min(72, _GRID_PX // max(self._area.width, self._area.height)))
        short = all(len(node.id) <= _SHORT_NAME for node in map_.nodes)
        self._tags = {node.id: node.id for node in map_.nodes} if short else labels(map_)
        self._short = short
        self._font = _font(15)
        self._boxes = self._place_boxes()
        dag_width = max(box[2] for box in self._boxes.values())
        dag_height = max(box[3] for box in self._boxes.values())
        self._dag_shown = max(dag_width, dag_height) <= _MAX_DAG_PX
        if not self._dag_shown:
            dag_width = dag_height = 0
        self._grid_size = (self._cell * self._area.width, self._cell * self._area.height)
        body = max(self._grid_size[1], dag_height)
        self._grid_left, self._top = _MARGIN_PX, _MARGIN_PX + (body - self._grid_size[1]) / 2
        self._dag_left = 2 * _MARGIN_PX + self._grid_size[0] + _GAP_PX
        self._dag_top = _MARGIN_PX + (body - dag_height) / 2
        self._size = (max(self._dag_left + dag_width + _MARGIN_PX, _MIN_WIDTH_PX), 2 * _MARGIN_PX + body + _LEGEND_PX)
        self._image = Image.new("RGB", (int(self._size[0] * _SCALE), int(self._size[1] * _SCALE)), _PAPER)
        self._ink = ImageDraw.Draw(self._image)

    def draw(self) -> Image.Image:
        """Draw it."""
        self._draw_grid()
        self._draw_path()
        for node in self._map.nodes:
            self._draw_node(node)
        self._draw_start_and_agent()
        for node in self._map.nodes if self._dag_shown else ():
            self._draw_edges(node)
        for node in self._map.nodes if self._dag_shown else ():
            self._draw_box(node)
        self._draw_legend()
        return self._image.resize((int(self._size[0]), int(self._size[1])), Image.Resampling.LANCZOS)

    # The grid.

    def _corner(self, cell: Cell) -> _Point:
        x = self._grid_left + (cell[0] - self._area.left) * self._cell
        return x, self._top + (self._area.top - cell[1]) * self._cell

    def _centre(self, cell: Cell) -> _Point:
        x, y = self._corner(cell)
        return x + self._cell / 2, y + self._cell / 2

    def _draw_grid(self) -> None:
        width, height = self._grid_size
        self._rectangle(
            (self._grid_left - 6, self._top - 6, self._grid_left + width + 6, self._top + height + 6), _BOARD, 8
        )
        gap = 1 if self._cell >= 8 else 0
        for y in range(self._area.bottom, self._area.top + 1):
            for x in range(self._area.left, self._area.right + 1):
                left, top = self._corner((x, y))
                box = (left + gap, top + gap, left + self._cell - gap, top + self._cell - gap)
                self._rectangle(box, self._colour((x, y)), min(4, self._cell // 6))
                if self._state is not None and (x, y) in self._state.unobserved and self._cell >= 14:
                    self._text(self._centre((x, y)), "?", "#5f8fbd", _font(max(9, self._cell // 3)))

    def _colour(self, cell: Cell) -> str:
        if cell not in self._map.cells:
            return _OBSTACLE
        if self._state is None or cell in self._state.observed:
            return _OBSERVED
        return _UNOBSERVED if cell in self._state.unobserved else _HIDDEN

    def _draw_path(self) -> None:
        points = [self._centre(cell) for cell in self._path]
        if len(points) > 1:
            self._line(points, _PATH, max(2, self._cell / 12))

    def _draw_node(self, node: Node) -> None:
        x, y = self._centre(node.cell)
        radius = self._cell * 0.39
        if node.id == self._map.goal:
            self._circle((x, y), radius + self._cell * 0.06, _INK)
            self._circle((x, y), radius + self._cell * 0.025, _PAPER)
        self._circle((x, y), radius * (0.94 if node.id == self._map.goal else 1), self._node_colour(node), _INK, 1.2)
        tag = self._tags[node.id]
        if self._cell >= 14:
            size = min(22.0, 1.5 * radius / max(1.4, 0.62 * len(tag)))
            self._text((x, y), tag, _INK, _font(max(6, size)))

    def _node_colour(self, node: Node) -> str:
        return "#f7e3b5" if self._state is None else _STATES[node_state(node, self._state)]

    def _draw_start_and_agent(self) -> None:
        x, y = self._centre(self._map.start)
        half = self._cell * 0.3
        self._ink.rectangle(_scaled((x - half, y - half, x + half, y + half)), outline=_START, width=_SCALE * 2)
        if self._cell >= 14:
            self._text((x, y), "S", _START, _font(max(8, self._cell * 0.34)))
        if self._state is not None:
            left, top = self._corner(self._state.position)
            inset = self._cell * 0.03
            box = (left + inset, top + inset, left + self._cell - inset, top + self._cell - inset)
            self._ink.rounded_rectangle(
                _scaled(box), self._cell * 0.2 * _SCALE, outline=_AGENT, width=max(2, int(_SCALE * self._cell * 0.08))
            )

    # The task DAG: primitive nodes at the bottom, the goal at the top.

    def _box_text(self, node: Node) -> str:
        name = node.id if len(node.id) <= _LONGEST_NAME else f"{node.id[: _LONGEST_NAME - 3]}..."
        return name if self._short else f"{self._tags[node.id]}  {name}"

    def _place_boxes(self) -> dict[str, tuple[float, float, float, float]]:
        depths = _depths(self._map)
        highest = max(depths.values())
        layers = [[node for node in self._map.nodes if depths[node.id] == depth] for depth in range(highest + 1)]
        sizes = {node.id: max(60.0, self._font.getlength(self._box_text(node)) + 24) for node in self._map.nodes}
        widths = [sum(sizes[node.id] + _GAP_PX for node in layer) - _GAP_PX for layer in layers]
        boxes: dict[str, tuple[float, float, float, float]] = {}
        for depth, layer in enumerate(layers):
            left = (max(widths) - widths[depth]) / 2
            top = (highest - depth) * _LAYER_PX
            for node in layer:
                boxes[node.id] = (left, top, left + sizes[node.id], top + _BOX_HEIGHT_PX)
                left += sizes[node.id] + _GAP_PX
        return boxes

    def _box(self, name: str) -> tuple[float, float, float, float]:
        left, top, right, bottom = self._boxes[name]
        return left + self._dag_left, top + self._dag_top, right + self._dag_left, bottom + self._dag_top

    def _draw_edges(self, node: Node) -> None:
        """Draw each option as one dot under the node, to which all of its parents lead."""
        left, _, right, bottom = self._box(node.id)
        for number, option in enumerate(node.options):
            colour = _OPTIONS[number % len(_OPTIONS)]
            x = (left + right + _OPTION_PX * (2 * number + 1 - len(node.options))) / 2
            joint = (x, bottom + 13)
            for parent in option:
                parent_left, parent_top, parent_right, _ = self._box(parent)
                self._line([((parent_left + parent_right) / 2, parent_top), joint], colour, 1.6)
            self._line([joint, (x, bottom)], colour, 2.4)
            self._circle(joint, 4.5, colour)
            if number:
                self._text((x - _OPTION_PX / 2, bottom + 12), "or", _INK, _font(11))

    def _draw_box(self, node: Node) -> None:
        box = self._box(node.id)
        goal = node.id == self._map.goal
        self._ink.rounded_rectangle(
            _scaled(box), 8 * _SCALE, fill=self._node_colour(node), outline=_INK, width=_SCALE * (3 if goal else 1)
        )
        self._text(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2), self._box_text(node), _INK, self._font)

    def _draw_legend(self) -> None:
        items = [("obstacle", _OBSTACLE), ("cell" if self._state is None else "observed", _OBSERVED)]
        if self._state is not None:
            items += [("unobserved", _UNOBSERVED), ("unknown", _HIDDEN), *_STATES.items()]
        x, y = float(_MARGIN_PX), self._size[1] - _LEGEND_PX + 4
        font = _font(13)
        for word, colour in items:
            self._ink.rounded_rectangle(
                _scaled((x, y, x + 14, y + 14)), 7 * _SCALE if word in _STATES else 3 * _SCALE, colour, _FAINT, _SCALE
            )
            self._text((x + 20, y + 7), word, _INK, font, anchor="lm")
            x += 20 + font.getlength(word) + 20
        words = "S start, double ring goal" if self._state is None else "S start, blue frame agent, double ring goal"
        words += f"   |   {len(self._map.cells)} cells, budget {self._map.budget()}"
        dag = "lines that meet in one dot are all needed; one dot is enough"
        words += f"   |   DAG: {dag if self._dag_shown else 'too large to be drawn'}"
        self._text((_MARGIN_PX, y + 34), words, _FAINT, font, anchor="lm")

    # Shapes, in the picture's own pixels.

    def _rectangle(self, box: tuple[float, float, float, float], colour: str, radius: float) -> None:
        self._ink.rounded_rectangle(_scaled(box), radius * _SCALE, fill=colour)

    def _circle(self, centre: _Point, radius: float, fill: str, outline: str | None = None, width: float = 1) -> None:
        box = _scaled((centre[0] - radius, centre[1] - radius, centre[0] + radius, centre[1] + radius))
        self._ink.ellipse(box, fill=fill, outline=outline, width=max(1, int(width * _SCALE)))

    def _line(self, points: list[_Point], colour: str, width: float) -> None:
        scaled = [(x * _SCALE, y * _SCALE) for x, y in points]
        self._ink.line(scaled, fill=colour, width=max(1, int(width * _SCALE)), joint="curve")

    def _text(
        self, point: _Point, words: str, colour: str, font: ImageFont.FreeTypeFont, *, anchor: str = "mm"
    ) -> None:
        larger = font.font_variant(size=font.size * _SCALE)
        self._ink.text((point[0] * _SCALE, point[1] * _SCALE), words, fill=colour, font=larger, anchor=anchor)


def _font(size: float) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "with a size given, Pillow's own font is a FreeType one"
    return font


def _scaled(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    return box[0] * _SCALE, box[1] * _SCALE, box[2] * _SCALE, box[3] * _SCALE


def _depths(map_: GridMap) -> dict[str, int]:
    """Return the longest way from a primitive node to each node, by Kahn's algorithm."""
    waiting = {node.id: len(node.parents) for node in map_.nodes}
    depths = dict.fromkeys(waiting, 0)
    ready = [name for name, count in waiting.items() if not count]
    for name in ready:
        for child in map_.dependents[name]:
            depths[child] = max(depths[child], depths[name] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return depths
