"""Every parameter of the error metric with its default, in one place; written into every result.

Whoever scores passes one `Parameters` down; nothing else in the package holds a number of the metric. Rescoring a
saved trajectory under other parameters needs only another instance. What was fixed when the facts were recorded (the
ray grid, the field of view, the sight) stands in the header of a trajectory and cannot be changed by rescoring; the
standard values are repeated here as `RecordedInputs`, because a result must say under what it was made.
"""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class RecordedInputs(BaseModel):
    """What the facts were recorded under; a rescoring can read it but not change it.

    Attributes:
        ray_columns: Columns of the fixed grid of rays that finds the faces in view.
        ray_rows: Its rows.
        vertical_fov_deg: Vertical field of view in degrees.
        sight_blocks: How far a ray reaches.
        face_px_min: Smallest ore face that is recorded at all, in square pixels of `picture`.
        picture: Width and height in pixels of the picture in which the size of ore faces is measured.
    """

    # Headers may say more than the scorer asks for.
    model_config = ConfigDict(frozen=True, extra="ignore")

    ray_columns: int = Field(default=64, ge=1)
    ray_rows: int = Field(default=36, ge=1)
    vertical_fov_deg: float = Field(default=70.0, gt=0, lt=180)
    sight_blocks: float = Field(default=48.0, gt=0)
    face_px_min: float = Field(default=16.0, gt=0)
    picture: tuple[int, int] = (640, 480)


class Parameters(BaseModel):
    """The parameters of the metric; unknown names are errors, values out of range too.

    Attributes:
        k: Traversals of an edge and visits of a node that the stale score forgives.
        alpha: Budget multiplier. Grid: budget = floor(alpha x cells); 3D world: a third of the scenario's budget for
            each unit, so that 3 is the whole of it.
        discovery_px: An ore is discovered when one face covers this many square pixels of a 640 x 480 picture.
        position_cell_blocks: Edge of the cube that counts as one position.
        new_faces_min: Block faces never seen before that make a new view.
        patience: So many scored decisions may pass without progress; each one after them is an error.
        nearer_blocks: Fall of the straight distance from eye to ore that counts as nearer.
        nearer_steps: Fall of the walking distance that counts as nearer.
        aimed_deg: Fall of the angle to an ore or waypoint that counts as aimed.
        stayed_blocks: The player stayed if the feet moved no further than this.
        moved_blocks: The feet moved (repositioning) if they moved at least this far.
        progress_blocks: Fall of either distance below its smallest value so far that counts as progress.
        yaw_step_deg: Width of a yaw step of a node; divides 360.
        pitch_step_deg: Width of a pitch step of a node.
        eye_height_blocks: Height of the eye above the feet.
        area_blocks: Edge of the cube within which a view step is new once; in recordings that come without a world.
        recorded: What the facts were recorded under.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    k: int = Field(default=2, ge=1, strict=True)
    alpha: float = Field(default=3.0, gt=0, allow_inf_nan=False)
    discovery_px: float = Field(default=64.0, gt=0, allow_inf_nan=False)
    position_cell_blocks: int = Field(default=2, ge=1, strict=True)
    new_faces_min: int = Field(default=8, ge=1, strict=True)
    patience: int = Field(default=24, ge=0, strict=True)
    nearer_blocks: float = Field(default=0.25, gt=0, allow_inf_nan=False)
    nearer_steps: int = Field(default=1, ge=1, strict=True)
    aimed_deg: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    stayed_blocks: float = Field(default=0.3, ge=0, allow_inf_nan=False)
    moved_blocks: float = Field(default=0.5, gt=0, allow_inf_nan=False)
    progress_blocks: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    yaw_step_deg: float = Field(default=30.0, gt=0, le=360, allow_inf_nan=False)
    pitch_step_deg: float = Field(default=15.0, gt=0, le=180, allow_inf_nan=False)
    eye_height_blocks: float = Field(default=1.62, gt=0, allow_inf_nan=False)
    area_blocks: int = Field(default=8, ge=1, strict=True)
    recorded: RecordedInputs = RecordedInputs()

    @model_validator(mode="after")
    def _check(self) -> Self:
        turns = 360.0 / self.yaw_step_deg
        if abs(turns - round(turns)) > 1e-9:
            raise ValueError(
                f"yaw_step_deg is {self.yaw_step_deg}; it must divide 360, so that a full turn ends where it began"
            )
        if self.discovery_px < self.recorded.face_px_min:
            raise ValueError(
                f"discovery_px is {self.discovery_px}, but ore faces below {self.recorded.face_px_min} square pixels"
                " are not recorded; use a larger value"
            )
        return self
