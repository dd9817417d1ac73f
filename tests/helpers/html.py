"""HTML read strictly: every element is closed, in the right order."""

import json
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "img", "input", "br", "wbr"}


class Page(HTMLParser):
    """The elements of a page.

    Attributes:
        attributes: of the start tags, with the tag as `tag`.
        content: the JSON in the element `data`.
        open: the elements around what is read.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.attributes: list[dict[str, str | None]] = []
        self.content: Any = None
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert len(dict(attributes)) == len(attributes), f"an attribute of {tag} is there twice"
        self.attributes.append({**dict(attributes), "tag": tag})
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.attributes[-1].get("id") == "data" and self.open[-1] == "script":
            self.content = json.loads(data)
