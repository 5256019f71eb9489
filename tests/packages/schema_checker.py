"""A small JSON Schema validator: the keywords that our schema uses, and no others.

An unknown keyword is an error, so that nothing in the schema goes unread.
"""

from __future__ import annotations

import re

TYPES = {
    "string": str,
    "integer": int,
    "array": list,
    "object": dict,
    "null": type(None),
}

#: Keywords that constrain nothing by themselves.
NOTES = {"$schema", "$id", "$defs", "title", "then"}


class Checker:
    """Judges values by a schema whose definitions it knows."""

    def __init__(self, root: dict) -> None:
        self._root = root

    def fits(self, value, schema) -> bool:
        """Whether the value keeps the schema."""
        return all(
            KEYWORDS[name](self, value, rule, schema)
            for name, rule in schema.items()
            if name not in NOTES
        )

    def reference(self, value, rule, _schema):
        return self.fits(value, self._root["$defs"][rule.removeprefix("#/$defs/")])

    def items(self, value, rule, _schema):
        return all(self.fits(item, rule) for item in value)

    def contains(self, value, rule, _schema):
        return any(self.fits(item, rule) for item in value)

    def properties(self, value, rule, _schema):
        return all(self.fits(value[k], rule[k]) for k in rule if k in value)

    def additional(self, value, rule, _schema):
        return all(self.fits(part, rule) for part in value.values())

    def every(self, value, rule, _schema):
        return all(self.fits(value, inner) for inner in rule)

    def some(self, value, rule, _schema):
        return any(self.fits(value, inner) for inner in rule)

    def none(self, value, rule, _schema):
        return not self.fits(value, rule)

    def condition(self, value, rule, schema):
        return not self.fits(value, rule) or self.fits(value, schema["then"])


def _of(kind, judge):
    """A keyword that says something about values of one type only."""
    return lambda checker, value, rule, schema: (
        type(value) is not kind or judge(checker, value, rule, schema)
    )


KEYWORDS = {
    "$ref": Checker.reference,
    "type": lambda _, value, rule, __: type(value) is TYPES[rule],
    "const": lambda _, value, rule, __: value == rule,
    "enum": lambda _, value, rule, __: value in rule,
    "allOf": Checker.every,
    "anyOf": Checker.some,
    "not": Checker.none,
    "if": Checker.condition,
    "minLength": _of(str, lambda _, value, rule, __: len(value) >= rule),
    "pattern": _of(str, lambda _, value, rule, __: re.search(rule, value) is not None),
    "minimum": _of(int, lambda _, value, rule, __: value >= rule),
    "minItems": _of(list, lambda _, value, rule, __: len(value) >= rule),
    "items": _of(list, Checker.items),
    "contains": _of(list, Checker.contains),
    "required": _of(dict, lambda _, value, rule, __: value.keys() >= set(rule)),
    "properties": _of(dict, Checker.properties),
    "additionalProperties": _of(dict, Checker.additional),
}


def is_valid(value, schema) -> bool:
    """Whether the value keeps the schema."""
    return Checker(schema).fits(value, schema)
