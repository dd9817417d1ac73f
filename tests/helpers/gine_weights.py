"""Random weights of graph networks, by the names that PyTorch gives them."""

import numpy as np
from numpy.typing import NDArray

from epigym.encoding.relational import KIND_OF, KINDS, RELATIONS

STATES = len(KIND_OF)
TYPES = 40  # that a network knows, 0 among them


def random_weights(
    width: int, layers: int, kinds: int = KINDS, relations: int = RELATIONS, seed: int = 0
) -> dict[str, NDArray[np.float32]]:
    """Weights with which values are of the order of 1."""
    rng = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "states.weight": (STATES, width),
        "types.weight": (TYPES, width),
        "head.0.weight": (width, 2 * kinds * width),
        "head.0.bias": (width,),
        "last.weight": (1, width),
        "last.bias": (1,),
        "each.weight": (kinds, width),
        "each.bias": (kinds,),
    }
    for layer in (f"layers.{number}" for number in range(layers)):
        shapes[f"{layer}.relations.weight"] = relations, width
        for number in (0, 2):
            shapes[f"{layer}.convolution.nn.{number}.weight"] = width, width
            shapes[f"{layer}.convolution.nn.{number}.bias"] = (width,)
        shapes[f"{layer}.norm.weight"] = shapes[f"{layer}.norm.bias"] = (width,)
    weights = {}
    for name, shape in shapes.items():
        is_matrix = not (
            name.endswith("bias") or "norm" in name or name.split(".")[-2] in ("states", "types", "relations")
        )
        weights[name] = (rng.normal(size=shape) / (shape[-1] ** 0.5 if is_matrix else 1)).astype(np.float32)
    weights["types.weight"][0] = 0
    for name in ("each.weight", "each.bias"):
        weights[name] /= 500  # hundreds of nodes add up
    return weights
