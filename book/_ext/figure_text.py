"""Turn the outlines of text in figures back into text.

matplotlib draws text as outlines, with the text itself in a comment. As text, a figure's words are
set in the site's sans, can be selected and searched, and take few bytes. A formula keeps its
outlines.
"""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
GROUP, USE, PATH, DEFS = (f"{{{SVG}}}{name}" for name in ("g", "use", "path", "defs"))
REFERENCE = f"{{{XLINK}}}href"
PLACE = re.compile(
    r"translate\((?P<x>[-\d.]+) (?P<y>[-\d.]+)\)(?: rotate\((?P<turn>[-\d.]+)\))?"
    r" scale\((?P<scale>[\d.]+) -[\d.]+\)"
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

UNITS = 64
"""Units of an outline in a unit of its glyph. A font's size is 100 units of a glyph."""

WIDER = 1.12
"""Width of DejaVu Sans, with which matplotlib measures, relative to the site's sans."""

AT_ITS_END = re.compile(r"matplotlib\.axis_\d*[02468]$")
"""The id of a vertical axis, at which the labels of its ticks end."""


def parse(svg: str) -> Element:
    """Parse a figure without dropping its comments, and return its root."""
    builder = ElementTree.TreeBuilder(insert_comments=True)
    return ElementTree.fromstring(svg, parser=ElementTree.XMLParser(target=builder))


def set_text(root: Element) -> None:
    """Replace the outlines of each text in a figure by a `text` element."""
    glyphs = {
        path.get("id", ""): path
        for defs in root.iter(DEFS)
        for path in defs.iter(PATH)
        if path.get("id")
    }
    set_below(root, glyphs, "middle")
    keep_used(root, glyphs)


def _is_comment(element: Element) -> bool:
    tag: object = element.tag  # a function in place of a text, which typeshed does not say
    return tag is ElementTree.Comment


def set_below(parent: Element, glyphs: dict[str, Element], anchor: str) -> None:
    """Do the work of `set_text` below an element. anchor: `text-anchor` of the texts in it."""
    children = list(parent)
    for at, child in enumerate(children):
        text = (child.text or "").strip() if _is_comment(child) else ""
        drawn = children[at + 1] if at + 1 < len(children) else None
        if text and drawn is not None and "$" not in text and (place := place_of(drawn)):
            index = list(parent).index(drawn)
            parent[index] = as_text(text, drawn, place, glyphs, anchor)
        elif child.tag == GROUP and not child.get("transform"):
            set_below(child, glyphs, anchor_of(child.get("id", ""), anchor))
    for child in children:
        if _is_comment(child):
            parent.remove(child)


def anchor_of(identity: str, anchor: str) -> str:
    """Return the `text-anchor` of the texts in a group: start, middle or end."""
    if AT_ITS_END.search(identity):
        return "end"
    return "start" if identity.startswith("legend") else anchor


def place_of(drawn: Element) -> re.Match[str] | None:
    """Return the match of a group's position, rotation and scale; None if it holds no glyphs."""
    return PLACE.fullmatch(drawn.get("transform", "")) if drawn.tag == GROUP else None


def as_text(
    text: str, drawn: Element, place: re.Match[str], glyphs: dict[str, Element], anchor: str
) -> Element:
    """Return the `text` element that replaces the group `drawn`."""
    scale = float(place["scale"])
    turned = place["turn"] is not None
    share = {"start": 0.0, "middle": 0.5, "end": 1.0}["middle" if turned else anchor]
    turn = f" rotate({place['turn']})" if turned else ""
    attributes = {
        "transform": f"translate({place['x']} {place['y']}){turn}",
        "x": f"{share * scale * width(drawn, glyphs):.2f}",
        "font-size": f"{100 * scale * WIDER:.1f}",
    }
    if share:
        attributes["text-anchor"] = "middle" if turned else anchor
    if drawn.get("style"):
        attributes["style"] = drawn.get("style", "")
    element = Element(f"{{{SVG}}}text", attributes)
    element.text, element.tail = text, drawn.tail
    return element


def width(drawn: Element, glyphs: dict[str, Element]) -> float:
    """Return the width of a group of glyphs, before it is scaled."""
    ends = [0.0]
    for use in drawn.iter(USE):
        glyph = glyphs.get(use.get(REFERENCE, "").removeprefix("#"))
        shift = NUMBER.search(use.get("transform", ""))
        numbers = NUMBER.findall(glyph.get("d", "")) if glyph is not None else []
        reach = max(map(float, numbers[::2]), default=0.0) / UNITS
        ends.append((float(shift[0]) if shift else 0.0) + reach)
    return max(ends)


def keep_used(root: Element, glyphs: dict[str, Element]) -> None:
    """Move outlines that are still used, but whose text was replaced, to the top of the figure."""
    present = {element.get("id") for element in root.iter()}
    used = {use.get(REFERENCE, "").removeprefix("#") for use in root.iter(USE)}
    lost = [glyphs[name] for name in sorted(used - present) if name in glyphs]
    if lost:
        top = Element(DEFS)
        top.extend(lost)
        root.insert(0, top)


def readable_width(root: Element, least: float = 8.0) -> float:
    """Return the width in pixels at which the smallest text of a figure is `least` pixels high."""
    sizes = [float(text.get("font-size", "0")) for text in root.iter(f"{{{SVG}}}text")]
    wide = float(root.get("viewBox", "0 0 0 0").split()[2])
    return wide * least / min(sizes) if sizes else 0.0
