"""Random small changes of texts and JSON from a corpus."""

import json
import random
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
_JUNK = [None, True, -1, 0, 99, 1.5, 10**20, "", "x", "w0", "true", "\n", "é", [], {}, [[]], {"x": {}}, {"x": ["x"]}]
_WORDS = [*"\0\n\té%;,()[]-|BC0", "", "?x", "(" * 300, "-" * 300]
_Place = tuple[Any, int | str]


def mutate_text(rng: random.Random, texts: Sequence[str]) -> str:
    """Choose a text and delete, repeat, move or replace some of its words; new words come from all texts."""
    words = _TOKEN.findall(rng.choice(texts))
    for _ in range(_changes(rng)):
        start = rng.randrange(len(words) + 1)
        end = min(len(words), start + rng.choice([0, 1, 1, 1, 2, 5, 20]))
        match rng.randrange(5):
            case 0:
                del words[start:end]
            case 1:
                words[end:end] = words[start:end]
            case 2:
                at = rng.randrange(len(words) + 1)
                words[at:at] = [words.pop(start) for _ in words[start:end]]
            case 3:
                words[start:end] = [rng.choice(_TOKEN.findall(rng.choice(texts)))]
            case 4:
                words[start:end] = [rng.choice(_WORDS)]
    return "".join(words)


def mutate_json(rng: random.Random, texts: Sequence[str]) -> str:
    """Choose a JSON text and delete, repeat, move or replace some of its parts; new parts come from all texts."""
    content = [json.loads(rng.choice(texts))]
    for _ in range(_changes(rng)):
        parent, key = rng.choice(_places(content))
        match rng.randrange(5):
            case 0:
                del parent[key]
            case 1 if isinstance(parent, list):
                parent.insert(rng.randrange(len(parent) + 1), parent[key])
            case 2 if isinstance(parent, list):
                rng.shuffle(parent)
            case 3:
                other, where = rng.choice(_places([json.loads(rng.choice(texts))]))
                parent[key] = other[where]
            case _:
                parent[key] = deepcopy(rng.choice(_JUNK))
        if not content:
            return ""
    return json.dumps(content[0])


def damage(rng: random.Random, text: str) -> bytes:
    """Encode a text in UTF-8; with probability 0.1, cut it off or replace a byte."""
    content = bytearray(text.encode())
    if content and rng.random() < 0.1:
        at = rng.randrange(len(content))
        if rng.random() < 0.3:
            del content[at:]
        else:
            content[at] = rng.randrange(256)
    return bytes(content)


def _changes(rng: random.Random) -> int:
    return rng.choice([0, 1, 1, 1, 2, 2, 3, 8])


def _places(content: Any) -> list[_Place]:
    """The places of all parts of some JSON, as containers and keys."""
    found: list[_Place] = []
    queue = [content]
    while queue:
        parent = queue.pop()
        keys = range(len(parent)) if isinstance(parent, list) else list(parent)
        found.extend((parent, key) for key in keys)
        queue.extend(parent[key] for key in keys if isinstance(parent[key], list | dict) and parent[key])
    return found
