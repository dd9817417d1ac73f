"""Relations of e-states of several problems in one batch."""

from itertools import accumulate

import numpy as np

from epigym import StateSpace, load_problem
from epigym.encoding.encoder import Encoder
from epigym.space.rows import join_rows


def test_joined_rows_are_those_of_their_parts() -> None:
    problems = ("grapevine/3_pl_4", "collaboration_communication/2_2_3_pl_6")  # of three and of two agents
    spaces = [StateSpace(load_problem(name)) for name in problems]
    for space in spaces:
        space.expand([0])
    parts = [Encoder(space).rows(np.arange(len(space))) for space in spaces]
    both = join_rows(parts)
    assert [part.row_of.shape[1] for part in (*parts, both)] == [3, 2, 3]
    for name, whole in both._asdict().items():
        columns = [getattr(part, name) for part in parts]
        if name.endswith("_ptr"):
            ends = [*accumulate((column[-1] for column in columns), initial=0)]
            assert whole.tolist() == [
                0,
                *(end + start for column, start in zip(columns, ends, strict=False) for end in column[1:]),
            ]
        elif name == "row_of":
            padded = np.pad(columns[1], ((0, 0), (0, 1)), constant_values=-1)
            assert np.array_equal(whole, np.concatenate([columns[0], padded]))
        else:
            assert np.array_equal(whole, np.concatenate(columns)), name
    assert join_rows(parts[:1]) is parts[0]
