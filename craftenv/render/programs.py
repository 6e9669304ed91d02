"""The shader programs, and the texture array they read; shared by all renderers of the process."""

from ctypes import POINTER, byref, c_char, c_char_p, c_int, c_uint, cast, create_string_buffer
from dataclasses import dataclass
from typing import Any

from oresight.craftenv.render import atlas
from oresight.craftenv.render.context import SharedContext

# Unpacks a vertex of `craftenv.render.mesher`; `camera` is its place relative to the eye.
_UNPACK = """#version 330 core
layout(location = 0) in uvec2 word;
uniform mat4 clip_from_camera;
uniform vec3 origin[256];
uniform float overlap;

vec3 chunk_place() { return vec3(word.x & 511u, word.x >> 18 & 2047u, word.x >> 9 & 511u) * 0.0625; }
uint slot() { return word.y >> 14 & 255u; }
uint face() { return word.x >> 29; }

// Quads are drawn a trace larger than they are, so that neighbours leave no pixel open between them.
vec4 clip_place(vec3 camera) {
    vec2 ends = vec2(word.y >> 22 & 1u, word.y >> 23 & 1u) * 2.0 - 1.0;
    uint f = face();
    vec3 outwards = f < 2u ? vec3(0.0, ends.y, ends.x) : (f < 4u ? vec3(ends.x, 0.0, ends.y) : vec3(ends, 0.0));
    float depth = (clip_from_camera * vec4(camera, 1.0)).w;
    return clip_from_camera * vec4(camera + outwards * (overlap * max(depth, 0.0)), 1.0);
}
"""

_BLOCK_VERTEX = (
    _UNPACK
    + """
uniform vec2 fog_curve;
out vec4 shade;
flat out float layer;

void main() {
    vec3 place = chunk_place();
    vec3 camera = place + origin[slot()];
    gl_Position = clip_place(camera);
    uint f = face();
    // Pictures hang upright on the sides, and their left edge is to the left for one who looks at the face.
    float u = f < 2u ? (f == 0u ? place.z : -place.z) : (f == 4u ? -place.x : place.x);
    float v = f == 2u || f == 3u ? place.z : -place.y;
    shade = vec4(u, v, float(word.y >> 6 & 255u) * (1.0 / 255.0), dot(camera, camera) * fog_curve.x + fog_curve.y);
    layer = float(word.y & 63u);
}
"""
)

_FRAGMENT_INPUTS = """#version 330 core
uniform sampler2DArray tiles;
uniform vec3 fog_colour;
in vec4 shade;
flat in float layer;
out vec4 colour;
"""

_OPAQUE_FRAGMENT = (
    _FRAGMENT_INPUTS
    + """
void main() {
    vec3 lit = texture(tiles, vec3(shade.xy, layer)).rgb * shade.z;
    colour = vec4(mix(lit, fog_colour, clamp(shade.w, 0.0, 1.0)), 1.0);
}
"""
)

# Torches and cracks: a texel is there or not.
_CUT_OUT_FRAGMENT = (
    _FRAGMENT_INPUTS
    + """
void main() {
    vec4 texel = texture(tiles, vec3(shade.xy, layer));
    if (texel.a < 0.5) discard;
    colour = vec4(mix(texel.rgb * shade.z, fog_colour, clamp(shade.w, 0.0, 1.0)), texel.a);
}
"""
)

_WATER_FRAGMENT = (
    _FRAGMENT_INPUTS
    + """
void main() {
    vec4 texel = texture(tiles, vec3(shade.xy, layer));
    colour = vec4(mix(texel.rgb * shade.z, fog_colour, clamp(shade.w, 0.0, 1.0)), texel.a);
}
"""
)

# Cells of a grid over the picture, six vertices each; the sky's colour is worked out at the grid's crossings only.
_SKY_VERTEX = """#version 330 core
uniform mat3 ray_from_clip;
uniform int columns;
uniform vec2 cell_size;
out float rise;
void main() {
    int cell = gl_VertexID / 6;
    int corner = gl_VertexID % 6;
    ivec2 far = ivec2(corner == 1 || corner == 2 || corner == 4, corner == 2 || corner == 4 || corner == 5);
    vec2 place = vec2(ivec2(cell % columns, cell / columns) + far) * cell_size - 1.0;
    gl_Position = vec4(place, 0.0, 1.0);
    vec3 ray = ray_from_clip * vec3(place, 1.0);
    rise = normalize(ray).y * 1.6 - 0.06;
}
"""

_SKY_FRAGMENT = """#version 330 core
uniform vec3 low_colour;
uniform vec3 high_colour;
in float rise;
out vec4 colour;
void main() { colour = vec4(mix(low_colour, high_colour, clamp(rise, 0.0, 1.0)), 1.0); }
"""

_LINE_VERTEX = """#version 330 core
layout(location = 0) in vec3 camera;
uniform mat4 clip_from_camera;
void main() { gl_Position = clip_from_camera * vec4(camera, 1.0); }
"""

_LINE_FRAGMENT = """#version 330 core
uniform vec4 line_colour;
out vec4 colour;
void main() { colour = line_colour; }
"""

# Writes which face a pixel shows and the cell before it: x (4 bits), z (4), y (7), face (3), slot (8).
_NAME_VERTEX = (
    _UNPACK
    + """
out vec3 inside;
flat out uint name;
void main() {
    vec3 place = chunk_place();
    gl_Position = clip_place(place + origin[slot()]);
    uint f = face();
    vec3 normal = vec3(f >> 1 == 0u, f >> 1 == 1u, f >> 1 == 2u) * ((f & 1u) == 1u ? 1.0 : -1.0);
    inside = place + normal * 0.5;
    name = f << 15 | slot() << 18;
}
"""
)

_NAME_FRAGMENT = """#version 330 core
in vec3 inside;
flat in uint name;
out uint result;
void main() {
    uvec3 cell = uvec3(clamp(floor(inside), vec3(0.0), vec3(15.0, 96.0, 15.0)));
    result = name | cell.x | cell.z << 4 | cell.y << 8;
}
"""


class Program:
    """A linked shader program with its uniforms' places."""

    def __init__(self, gl: Any, vertex: str, fragment: str, uniforms: tuple[str, ...]) -> None:
        self.name = int(gl.glCreateProgram())
        shaders = [_compile(gl, gl.GL_VERTEX_SHADER, vertex), _compile(gl, gl.GL_FRAGMENT_SHADER, fragment)]
        for shader in shaders:
            gl.glAttachShader(self.name, shader)
        gl.glLinkProgram(self.name)
        for shader in shaders:
            gl.glDeleteShader(shader)
        done = c_int()
        gl.glGetProgramiv(self.name, gl.GL_LINK_STATUS, byref(done))
        if not done.value:
            raise RuntimeError(f"A shader program does not link: {_log(gl.glGetProgramInfoLog, self.name)}")
        self.at = {uniform: int(gl.glGetUniformLocation(self.name, uniform.encode())) for uniform in uniforms}


def _compile(gl: Any, kind: int, source: str) -> int:
    shader = int(gl.glCreateShader(kind))
    text = create_string_buffer(source.encode())
    pointers = (POINTER(c_char) * 1)(cast(text, POINTER(c_char)))
    gl.glShaderSource(shader, 1, pointers, None)
    gl.glCompileShader(shader)
    done = c_int()
    gl.glGetShaderiv(shader, gl.GL_COMPILE_STATUS, byref(done))
    if not done.value:
        raise RuntimeError(f"A shader does not compile: {_log(gl.glGetShaderInfoLog, shader)}")
    return shader


def _log(read: Any, name: int) -> str:
    text = create_string_buffer(2000)
    read(name, 2000, None, text)
    return (cast(text, c_char_p).value or b"").decode(errors="replace").strip()


@dataclass(frozen=True)
class Library:
    """All programs, the texture array and the two ways to read it, made once a process.

    Attributes:
        smooth: Sampler that reads a smaller version of a tile where it shows small.
        plain: Sampler that reads the tile itself.
    """

    opaque: Program
    cut_out: Program
    water: Program
    sky: Program
    line: Program
    names: Program
    tiles: int
    smooth: int
    plain: int


def library(context: SharedContext) -> Library:
    """Return the process's programs and textures, making them on first use (call inside `context.current`)."""
    return context.once("library", _make)


def _make() -> Library:
    import pyglet.gl as gl

    block = ("clip_from_camera", "origin", "overlap", "fog_curve", "fog_colour", "tiles")
    return Library(
        opaque=Program(gl, _BLOCK_VERTEX, _OPAQUE_FRAGMENT, block),
        cut_out=Program(gl, _BLOCK_VERTEX, _CUT_OUT_FRAGMENT, block),
        water=Program(gl, _BLOCK_VERTEX, _WATER_FRAGMENT, block),
        sky=Program(
            gl, _SKY_VERTEX, _SKY_FRAGMENT, ("ray_from_clip", "columns", "cell_size", "low_colour", "high_colour")
        ),
        line=Program(gl, _LINE_VERTEX, _LINE_FRAGMENT, ("clip_from_camera", "line_colour")),
        names=Program(gl, _NAME_VERTEX, _NAME_FRAGMENT, ("clip_from_camera", "origin", "overlap")),
        tiles=_upload_tiles(gl),
        smooth=_sampler(gl, gl.GL_NEAREST_MIPMAP_NEAREST),
        plain=_sampler(gl, gl.GL_NEAREST),
    )


def _upload_tiles(gl: Any) -> int:
    name = c_uint()
    gl.glGenTextures(1, byref(name))
    gl.glBindTexture(gl.GL_TEXTURE_2D_ARRAY, name.value)
    gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 1)
    for level, pixels in enumerate(atlas.mipmaps(atlas.layers())):
        size = pixels.shape[1]
        gl.glTexImage3D(
            gl.GL_TEXTURE_2D_ARRAY,
            level,
            gl.GL_RGBA8,
            size,
            size,
            atlas.LAYERS,
            0,
            gl.GL_RGBA,
            gl.GL_UNSIGNED_BYTE,
            pixels.ctypes.data,
        )
    gl.glTexParameteri(gl.GL_TEXTURE_2D_ARRAY, gl.GL_TEXTURE_MAX_LEVEL, atlas.MIP_LEVELS - 1)
    return int(name.value)


def _sampler(gl: Any, smaller: int) -> int:
    name = c_uint()
    gl.glGenSamplers(1, byref(name))
    for key, value in (
        (gl.GL_TEXTURE_MAG_FILTER, gl.GL_NEAREST),
        (gl.GL_TEXTURE_MIN_FILTER, smaller),
        (gl.GL_TEXTURE_WRAP_S, gl.GL_REPEAT),
        (gl.GL_TEXTURE_WRAP_T, gl.GL_REPEAT),
    ):
        gl.glSamplerParameteri(name.value, key, value)
    return int(name.value)
