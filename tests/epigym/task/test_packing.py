"""What is packed for the core comes back as it was."""

from hypothesis import given
from hypothesis import strategies as st

from epigym.task.formula import Formula
from epigym.task.packing import FormulaPacker, unpack_formulas
from tests.helpers import strategies

AGENTS = ("b", "c", "a")  # the order of declaration is not that of the names in a group


@given(st.lists(strategies.formulas(3, agents=AGENTS), max_size=4))
def test_formulas(formulas: list[Formula]) -> None:
    pack = FormulaPacker(strategies.FLUENTS, AGENTS)
    numbers = [pack(formula) for formula in formulas]
    unpacked = unpack_formulas(strategies.FLUENTS, AGENTS, pack.lists())
    assert all(unpacked[number] is formula for number, formula in zip(numbers, formulas, strict=True))
