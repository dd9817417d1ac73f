"""Pictures as SVG, without what depends on the fonts of a machine."""

import xml.etree.ElementTree as ElementTree


def list_shapes(picture: str) -> list[tuple[str, ...]]:
    """The shapes of an SVG with their colours and words; places and sizes depend on the fonts of the machine."""
    shapes = ElementTree.fromstring(picture).iter()
    return [
        (shape.tag, shape.get("fill", ""), shape.get("stroke", ""), (shape.text or "").strip())
        for shape in shapes
        if shape.tag.endswith(("title", "text", "path", "polygon"))
    ]
