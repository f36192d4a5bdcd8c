"""Metadata filters: what they accept, what they refuse, what they mean."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import InvalidInput
from commonplace.domain.values import Json
from commonplace.domain.where import matches, parse_where


def holds(where: object, metadata: dict[str, Json]) -> bool:
    parsed = parse_where(where)
    assert parsed is not None
    return matches(parsed, metadata)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"topic": "work"}, True),
        ({"topic": "play"}, False),
        ({"stars": {"$gte": 3}}, True),
        ({"stars": {"$gt": 3, "$lt": 9}}, False),
        ({"stars": {"$gte": "3"}}, False),
        ({"stars": {"$in": [1, 2, 3]}}, True),
        ({"stars": {"$nin": [1, 2, 3]}}, False),
        ({"tags": {"$contains": "a"}}, True),
        ({"topic": {"$contains": "or"}}, True),
        ({"place": {"city": "Oslo"}}, True),
        ({"place.city": "Oslo"}, True),
        ({"place": {"city": {"$ne": "Oslo"}}}, False),
        ({"missing": None}, True),
        ({"missing": {"$ne": 1}}, True),
        ({"missing": {"$gt": 1}}, False),
        ({"open": True}, True),
        ({"open": 1}, False),
        ({"$or": [{"topic": "play"}, {"stars": 3}]}, True),
        ({"$and": [{"topic": "work"}, {"stars": 4}]}, False),
        ({"$not": {"topic": "work"}}, False),
        ({"stars": {"$not": {"$gt": 5}}}, True),
        ({"stars": {"$or": [{"$gt": 5}, {"$lt": 4}]}}, True),
        ({}, True),
    ],
)
def test_a_filter_means_what_it_says(where: Any, expected: bool) -> None:
    metadata: dict[str, Json] = {"topic": "work", "stars": 3, "tags": ["a"], "place": {"city": "Oslo"}, "open": True}
    assert holds(where, metadata) is expected


@pytest.mark.parametrize(
    "where",
    ["topic", 3, ["a"], {"$nor": []}, {"$or": []}, {"$or": {}}, {"$gt": 3}, {"a": {"$gt": None}}, {"a": {"$in": 3}},
     {"a": float("nan")}, {"a": object()}, {1: 2}, {"": 1}, {"a": {"$like": "x"}}],
)  # fmt: skip
def test_a_filter_that_is_not_understood_is_refused(where: object) -> None:
    with pytest.raises(InvalidInput, match="where"):
        parse_where(where)


def test_nesting_without_end_is_refused() -> None:
    where: dict[str, Any] = {"a": 1}
    for _ in range(10_000):
        where = {"$not": where}
    with pytest.raises(InvalidInput, match="nested deeper"):
        parse_where(where)


scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "ab"])


@given(scalars, scalars)
def test_each_operator_and_its_opposite_disagree(field: Json, value: Json) -> None:
    metadata = {"f": field}
    assert holds({"f": {"$eq": value}}, metadata) is not holds({"f": {"$ne": value}}, metadata)
    assert holds({"f": {"$in": [value]}}, metadata) is not holds({"f": {"$nin": [value]}}, metadata)
    assert holds({"f": value}, metadata) is not holds({"$not": {"f": value}}, metadata)
