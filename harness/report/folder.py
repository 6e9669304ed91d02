"""The folder of a report: made aside and put in its place at once, and never over anything but an earlier report.

Knows what lies at the top of it; what is in there is told in `report`.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from oresight.harness import files
from oresight.harness.errors import ForeignFolderError, OresightError

REPORT_NAME = "report.json"
REPORT_FORMAT = "oresight.report"
INDEX_NAME = "index.html"
FOLDERS = ("tables", "figures", "episodes", "pictures")
_ADVICE = "choose another --out folder"


@contextmanager
def report_folder(out: Path) -> Iterator[Path]:
    """Gives a folder to make a report in; it becomes `out` if nothing goes wrong, and is gone otherwise.

    Raises:
        ForeignFolderError: `out` holds anything but an earlier report.
        RunLockedError: Another process is making a report there.
        StoreError: The disk refuses.
    """
    check_out(out)
    place = out.resolve()
    aside = place.with_name(f".{place.name}.making")
    before = place.with_name(f".{place.name}.before")
    files.make_folder(aside)
    lock = files.FolderLock(aside)
    try:
        with files.disk_errors(place):
            _clear(aside)
        yield aside
        # Somebody may have put something there meanwhile.
        check_out(out)
        with files.disk_errors(place):
            if before.exists():
                shutil.rmtree(before)
            if place.exists():
                place.rename(before)
            (aside / files.LOCK_NAME).unlink()
            aside.rename(place)
            shutil.rmtree(before, ignore_errors=True)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    finally:
        lock.close()


def check_out(out: Path) -> None:
    """Looks whether a report may be put there.

    Raises:
        ForeignFolderError: Something else is there.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise ForeignFolderError(f"{out}: is a link or a file, and a report is a folder; {_ADVICE}")
    if not out.exists():
        return
    here = Path.cwd()
    if out.resolve() in (here, *here.parents):
        raise ForeignFolderError(
            f"{out}: is, or holds, the folder that this command runs in, which would be replaced under it; {_ADVICE},"
            " or run the command from elsewhere"
        )
    with files.disk_errors(out):
        names = sorted(item.name for item in out.iterdir())
    if not names:
        return
    try:
        is_ours = files.read_json(out / REPORT_NAME).get("format") == REPORT_FORMAT
    except OresightError:
        is_ours = False
    others = [name for name in names if name not in (REPORT_NAME, INDEX_NAME, *FOLDERS)]
    if not is_ours or others:
        found = repr((others or names)[0])
        what = "beside an earlier report" if is_ours else "and no report"
        raise ForeignFolderError(f"{out}: holds other things ({found}) {what}, which would be lost; {_ADVICE}")


def _clear(folder: Path) -> None:
    """Removes what a report that was broken off has left."""
    for item in folder.iterdir():
        if item.name == files.LOCK_NAME:
            continue
        if item.is_dir() and not item.is_symlink():
            shutil.rmtree(item)
        else:
            item.unlink()
