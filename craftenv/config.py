"""Constants of the 3D world, each with where it comes from. Nothing here changes at run time."""

TICKS_PER_SECOND = 20

# One mouse count turns the view by 0.15 degrees, so every angle in use is a whole number of counts.
COUNT_DEG = 0.15
YAW_COUNTS = 2400  # a full turn
PITCH_LIMIT_COUNTS = 600  # straight up and straight down
LOOK_YAW_COUNTS = 200  # look_left, look_right: 30 degrees
LOOK_PITCH_COUNTS = 100  # look_up, look_down: 15 degrees

# The player's box and eye, in blocks.
HALF_WIDTH = 0.3
BODY_HEIGHT = 1.8
EYE_HEIGHT = 1.62
REACH_BLOCKS = 4.5

# Walking 4.317 blocks a second.
WALK_PER_TICK = 4.317 / TICKS_PER_SECOND
# A jump peaks 1.25 blocks up after 8 ticks with v = 0: y += v - g / 2, v -= g gives 8 * 5/16 - 5/256 * 64 = 1.25.
JUMP_SPEED = 5.0 / 16.0
GRAVITY = 5.0 / 128.0
TERMINAL_SPEED = 4.0  # blocks a tick, downwards

# In water everything is slower; all values are exact in binary.
SWIM_FACTOR = 0.5
WATER_GRAVITY = 1.0 / 128.0
WATER_SINK_SPEED = 1.0 / 16.0
SWIM_UP_SPEED = 3.0 / 16.0

HOTBAR_SLOTS = 9
STACK_LIMIT = 64

# The world: columns of 16 x 16, y up, y = 0 is bedrock; below it everything is bedrock, above HEIGHT everything is air.
CHUNK = 16
HEIGHT = 96
SEA_LEVEL = 24  # the topmost layer of water
# The loaded part of the world is one array that wraps around every WORLD_SPAN blocks in x and z.
WORLD_CHUNKS = 16
WORLD_SPAN = CHUNK * WORLD_CHUNKS
# Chunks loaded around the player's: 5 leave at least 80 blocks on every side.
LOAD_RADIUS_CHUNKS = 5
# Chunks drawn around the player's: 4 leave at least 64 blocks on every side.
DRAW_RADIUS_CHUNKS = 4

# The camera. The focal length of a picture of height h is h / 2 / tan(35 degrees), the tangent written out so that no
# machine computes it.
VERTICAL_FOV_DEG = 70.0
TAN_HALF_FOV = 0.7002075382097097
SIGHT_BLOCKS = 48.0

# Raised whenever the generated terrain or the tick changes; stands in every recording.
TERRAIN_VERSION = 1
