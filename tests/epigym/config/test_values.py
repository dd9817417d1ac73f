"""Values against annotations: where several types are possible, the error is that of the one that fits best."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from epigym.config.values import Above, AtLeast, AtMost, Below, Count, convert, hints_of, make
from epigym.errors import UsageError


@dataclass(frozen=True)
class Ball:
    size: Count
    colour: str


@dataclass(frozen=True)
class Box:
    kind: Literal["box"]
    size: int
    width: float
    height: float = 1.0


@dataclass(frozen=True)
class Toys:
    toy: Ball | Box
    spare: Ball | Box | None = None


BALL = {"size": 2, "colour": "red"}
BOX = {"kind": "box", "size": 2, "width": 3}


@pytest.mark.parametrize("kind", [Ball | Box, Box | Ball])
def test_the_type_that_fits_is_made(kind: Any) -> None:
    assert convert(BALL, kind, "toy") == Ball(2, "red")
    assert convert(BOX, kind, "toy") == Box("box", 2, 3.0)


@pytest.mark.parametrize("kind", [Ball | Box, Box | Ball])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (BALL | {"size": 0}, "toy.size=0: expected at least 1"),
        ({"size": 0}, "toy.size=0: expected at least 1"),
        (BALL | {"size": "big"}, "toy.size=big: expected a whole number"),
        (BALL | {"weight": 3}, "unknown setting 'toy.weight': "),
        ({"colour": "red"}, "toy.size is not given: add toy.size="),
        (BOX | {"width": "wide"}, "toy.width=wide: expected a number"),
        (BOX | {"kind": "bax"}, "unknown toy.kind 'bax': did you mean 'box'?"),
        (BOX | {"heigth": 2}, "unknown setting 'toy.heigth': did you mean 'toy.height'"),
        ({"kind": "box", "size": 1, "height": 2}, "toy.width is not given: add toy.width="),
        (5, "toy=5: expected a mapping"),
    ],
)
def test_the_error_is_that_of_the_type_that_fits_best(kind: Any, value: object, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        convert(value, kind, "toy")
    assert str(caught.value).startswith(message)


def test_in_a_field_too() -> None:
    assert make(Toys, {"toy": BALL}) == Toys(Ball(2, "red"))
    assert make(Toys, {"toy": BOX, "spare": BALL}).spare == Ball(2, "red")
    assert make(Toys, {"toy": BOX, "spare": None}).spare is None
    with pytest.raises(UsageError, match=r"^spare\.size=0: expected at least 1$"):
        make(Toys, {"toy": BOX, "spare": BALL | {"size": 0}})
    with pytest.raises(UsageError, match=r"^toy\.width=wide: expected a number$"):
        make(Toys, {"toy": BOX | {"width": "wide"}})


@dataclass(frozen=True)
class Glass:
    share: Annotated[float, AtLeast(0), AtMost(1)] = 0.5
    part: Annotated[float, Above(0), Below(1)] = 0.5
    most: Annotated[float, Below(1)] | None = None
    weight: Annotated[float, AtLeast(0)] = 1.0


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("share", -0.5, "expected at least 0"),
        ("share", NAN, "expected at least 0"),
        ("share", 1.5, "expected at most 1"),
        ("part", 0, "expected more than 0"),
        ("part", 1, "expected less than 1"),
        ("part", NAN, "expected more than 0"),
        ("most", 1.0, "expected less than 1"),
        ("most", NAN, "expected less than 1"),
        ("weight", INF, "expected a finite number"),
    ],
)
def test_a_number_is_within_its_bounds(name: str, value: float, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{name}={value}: {message}$"):
        make(Glass, {name: value})


def test_bounds_of_a_number_belong_to_it_or_not() -> None:
    assert [make(Glass, {"share": bound}).share for bound in (0, 1)] == [0.0, 1.0]
    assert make(Glass, {"part": 0.999, "most": None, "weight": 1e300}) == Glass(part=0.999, weight=1e300)


@dataclass(frozen=True)
class Shelf:
    box: Box = field(metadata={"flat": Box})
    place: int


def test_fields_of_a_flat_dataclass_stand_beside_the_others() -> None:
    assert make(Shelf, BOX | {"place": 3}) == Shelf(Box("box", 2, 3.0), 3)
    assert list(hints_of(Shelf)) == ["kind", "size", "width", "height", "place"]
    for wrong, message in (
        ({"width": "wide"}, "shelf.width=wide: expected a number"),
        ({"box": BOX}, "unknown setting 'shelf.box': "),
        ({"plcae": 1}, "unknown setting 'shelf.plcae': did you mean 'shelf.place'"),
        ({"heigth": 1}, "unknown setting 'shelf.heigth': did you mean 'shelf.height'"),
    ):
        with pytest.raises(UsageError) as caught:
            make(Shelf, BOX | {"place": 3} | wrong, "shelf.")
        assert str(caught.value).startswith(message)


@pytest.mark.parametrize("kind", [int | str, str | int])
def test_what_is_of_a_type_stays_what_it_is(kind: Any) -> None:
    assert convert(5, kind, "x") == 5
    assert convert("5", kind, "x") == "5"
    with pytest.raises(UsageError, match=r"^x=null: expected (text|a whole number)$"):
        convert(None, kind, "x")


def test_a_whole_number_beyond_all_floats_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^x=10{400}: expected a number$"):
        convert(10**400, float, "x")
