"""Makes HTML pages out of templates: everything is escaped, and nothing on a page may come from anywhere else.

A page has a content security policy: no request, no form, no code and no style but the ones that stand in it, which
are told by their hashes. What a page shows stands in the template's values; what its script reads, in a data block.
Templates, styles and scripts lie in `assets/report`. What is on a page is the business of whoever renders it.

A template opens with ``{{ page_head(title, ["base.css", ...], ["page.js", ...]) }}``, which writes what stands in
``<head>``, and ends its body with ``{{ script("page.js") }}`` for each script it named there. So a style attribute or
an ``onclick`` would not work; classes do.
"""

import base64
import functools
import hashlib
import json
from collections.abc import Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from oresight import assets
from oresight.harness.text import visible

FOLDER = "report"

# JSON inside <script> must not end it; U+2028 and U+2029 are escaped with all else that is not ASCII.
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def render(template: str, **values: object) -> str:
    """Returns a page.

    Args:
        template: Name of the template.
        values: What stands in it; all text is escaped, but for `Markup`. A missing one is an error.
    """
    return _environment().get_template(template).render(**values)


def script_json(value: object) -> Markup:
    """Returns a value as JSON that may stand in a data block, ``<script type="application/json">``.

    Raises:
        ValueError: It holds NaN or Infinity.
    """
    # ASCII alone: whatever the text holds, nothing in the file is invisible or turns the reading direction.
    text = json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.translate(_IN_SCRIPT))


def inline_source(name: str) -> Markup:
    """Returns a bundled file as it stands, for trusted drawings and the like."""
    return Markup(_source(name))


def page_head(title: str, styles: Sequence[str], scripts: Sequence[str] = ()) -> Markup:
    """Returns the inside of ``<head>``: character set, policy, title and styles.

    Args:
        title: The page's title; escaped.
        styles: Names of the style sheets, in order.
        scripts: Names of all scripts that the page will run; see `script`.
    """
    policy = "; ".join(
        (
            "default-src 'none'",
            "img-src 'self' file: data:",
            f"style-src {_hashes(styles)}",
            f"script-src {_hashes(scripts)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    lines = [
        Markup('<meta charset="utf-8">'),
        Markup('<meta http-equiv="Content-Security-Policy" content="{}">').format(policy),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        Markup('<meta name="referrer" content="no-referrer">'),
        Markup("<title>{}</title>").format(visible(title, 200)),
        # No tab icon is asked for where one is given.
        Markup('<link rel="icon" href="data:,">'),
        *(Markup("<style>{}</style>").format(inline_source(name)) for name in styles),
    ]
    return Markup("\n").join(lines)


def script(name: str) -> Markup:
    """Returns a script element with a bundled script; the page's head must have named it."""
    return Markup("<script>{}</script>").format(inline_source(name))


def data_block(value: object, name: str = "data") -> Markup:
    """Returns a data block that the page's script reads by its id."""
    return Markup('<script type="application/json" id="{}">{}</script>').format(name, script_json(value))


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(assets.path(FOLDER)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(page_head=page_head, script=script, data_block=data_block)
    environment.filters.update(visible=visible, e=escape)
    return environment


@functools.cache
def _source(name: str) -> str:
    return assets.path(FOLDER, name).read_text(encoding="utf-8")


def _hashes(names: Sequence[str]) -> str:
    """Returns the sources of a policy's directive: the hash of each file, or none at all."""
    return " ".join(_hash(name) for name in names) or "'none'"


@functools.cache
def _hash(name: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(_source(name).encode()).digest()).decode()}'"
