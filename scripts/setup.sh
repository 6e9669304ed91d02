#!/usr/bin/env bash
# Sets the project up: virtual environment, packages, system libraries for OpenGL. Quick when all is there already.
#   scripts/setup.sh         what is needed to run it
#   scripts/setup.sh dev     and what the tests and checks need, a display without a screen (Xvfb) included
# PYTHON=... chooses the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-run}
venv=.venv
system_packages="libegl1 libgl1 libgl1-mesa-dri libglib2.0-0"

fail() { echo "setup: $*" >&2; exit 1; }
is_root_with_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

apt_install() {
  echo "setup: installing with apt: $*"
  export DEBIAN_FRONTEND=noninteractive
  local words
  words=$(apt-get update -q 2>&1) || fail "apt-get update failed; check the network and try again: $words"
  # shellcheck disable=SC2086,SC2048
  words=$(apt-get install -y -q --no-install-recommends $* 2>&1) || fail "apt-get install $* failed: $words"
}
known_to_apt() { apt-get update -q >/dev/null 2>&1 && apt-cache show "$1" >/dev/null 2>&1; }

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

# ---- the virtual environment
python=$(find_python)
[ -n "$python" ] || fail "no Python 3.11 or later found; install python3 and python3-venv, or say PYTHON=/path/to/python3.11"
if ! "$venv/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    is_root_with_apt || fail "Python's venv module is missing; run: sudo apt-get install -y python3-venv"
    apt_install python3-venv
  fi
  echo "setup: making $venv with $("$python" --version)"
  rm -rf "$venv"
  "$python" -m venv "$venv"
fi

# ---- the system libraries: installed only if they cannot be loaded; before the packages, which take longer
loadable() {
  "$venv/bin/python" - <<'PYTHON' 2>/dev/null
import ctypes
for name in ("libEGL.so.1", "libGL.so.1", "libglib-2.0.so.0"):
    ctypes.CDLL(name)
for vendor in ("libEGL_mesa.so.0", "libEGL_nvidia.so.0"):
    try:
        ctypes.CDLL(vendor)
        break
    except OSError:
        continue
else:
    raise SystemExit(1)
PYTHON
}
if ! loadable; then
  is_root_with_apt || fail "system libraries for OpenGL are missing; run: sudo apt-get install -y $system_packages"
  apt_install "$system_packages"
  loadable || fail "OpenGL cannot be loaded although $system_packages are installed; another vendor's driver may be in the way"
fi

# ---- what the tests of the window need; without it they are skipped, and say so
if [ "$what" = dev ] && [ "$(uname)" = Linux ] && ! { command -v Xvfb && command -v xdotool; } >/dev/null; then
  if is_root_with_apt; then
    apt_install xvfb xdotool
  else
    echo "setup: without Xvfb and xdotool the tests of the window are skipped; for them: sudo apt-get install -y xvfb xdotool"
  fi
fi

# ---- what takes pictures off the display in the tests of the desktop way
screen_packages="libxcb1 libxcb-randr0 libxcb-render0 libxcb-shm0 libxcb-xfixes0"
if [ "$what" = dev ] && [ "$(uname)" = Linux ] && ! "$venv/bin/python" - <<'PYTHON' 2>/dev/null; then
import ctypes
for name in ("xcb.so.1", "xcb-randr.so.0", "xcb-render.so.0", "xcb-shm.so.0", "xcb-xfixes.so.0"):
    ctypes.CDLL(f"lib{name}")
PYTHON
  if is_root_with_apt; then
    apt_install "$screen_packages"
  else
    echo "setup: without some libraries the tests of the desktop way fail; for them: sudo apt-get install -y $screen_packages"
  fi
fi

# ---- a browser for the tests of the report's pages, and a library that what drives it needs; Ubuntu has none with apt
browser_packages="chromium libatomic1"
has_browser() {
  { command -v chromium || command -v google-chrome; } >/dev/null \
    && "$venv/bin/python" -c 'import ctypes; ctypes.CDLL("libatomic.so.1")' 2>/dev/null
}
if [ "$what" = dev ] && [ "$(uname)" = Linux ] && ! has_browser; then
  if is_root_with_apt && known_to_apt chromium; then
    apt_install "$browser_packages"
  else
    echo "setup: without Chromium the tests of the report's pages are skipped; for them: sudo apt-get install -y" \
      "$browser_packages, or, where apt has none, sudo .venv/bin/playwright install --with-deps chromium"
  fi
fi

# ---- the packages; the stamp says for which pyproject.toml they were installed
sum=$("$venv/bin/python" -c 'import hashlib, pathlib, sys
print(hashlib.sha256(pathlib.Path("pyproject.toml").read_bytes() + sys.version.encode()).hexdigest())')
stamp=$venv/.oresight-stamp
current() { [ -f "$stamp" ] && [ -x "$venv/bin/oresight" ] && grep -qx "$1 $sum" "$stamp"; }
if [ "$what" = dev ]; then extras="[dev]"; else extras=""; fi
if ! current dev && ! { [ "$what" = run ] && current run; }; then
  if [ "$what" = dev ]; then size="a gigabyte"; else size="some 300 MB"; fi
  echo "setup: installing the packages, once ($size, a few minutes)"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -e ".$extras" \
    || fail "pip could not install the packages; its words stand above"
  # Without what it names beside: evdev is compiled, and injecting into X does without it.
  if [ "$what" = dev ] && [ "$(uname)" = Linux ]; then
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps "pynput>=1.7" python-xlib six \
      || fail "pip could not install pynput; its words stand above"
  fi
  echo "$what $sum" >"$stamp"
  echo "setup: done; the very first start compiles the simulation, which takes about half a minute"
fi
