"""How meshes are laid out: sections, rooms, groups of quads."""

from oresight.craftenv.config import CHUNK, HEIGHT, WORLD_CHUNKS

SLOTS = WORLD_CHUNKS * WORLD_CHUNKS  # a chunk's slot is (cx & 15) * 16 + (cz & 15)

# A chunk's sections are 16 x 16 x 16; the open sky above the world is one layer more.
SECTIONS = HEIGHT // CHUNK
LAYERS = SECTIONS + 1
CELLS = CHUNK * CHUNK * CHUNK

# Rooms distinguished in one section; any others share the last.
ROOMS = 8
NO_ROOM = 255

# Groups of quads of one room, drawn or left out together: one a face direction, then what is seen through.
FACES = 6
GROUP_TORCH = 6
GROUP_WATER = 7
GROUPS = 8

# A chunk is meshed from a copy with a border of one block all round.
PAD = CHUNK + 2
PAD_Y = HEIGHT + 2

# Water stands two sixteenths below the top of its block.
WATER_DROP = 2
