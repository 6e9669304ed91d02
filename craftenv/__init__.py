"""The 3D world: a voxel game, frozen between 21 discrete timed actions."""
