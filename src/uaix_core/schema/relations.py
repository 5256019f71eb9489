"""Relations: what a row is keyed by, ordered by, and how long it is kept."""

from __future__ import annotations

import enum
import re
from bisect import insort
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import attrs

from uaix_core.schema.kinds import ORDERED, Kind
from uaix_core.schema.rows import BodyRow, Field, Row, fields_of
from uaix_core.schema.trees import Tree, fault_of
from uaix_core.values.canonical import salted_digest, sha256_hex
from uaix_core.values.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

#: The values of a key or a path prefix, in field order.
Key = tuple[Any, ...]

#: Names of members and how each value becomes JSON (None: as it is).
Plan = tuple[tuple[str, "Callable[[Any], Any] | None"], ...]
#: The same as text, in canonical order: ``"name":`` and the text of a value.
TextPlan = tuple[tuple[str, "Callable[[Any], str]"], ...]

#: The name of the order that every relation has: its key.
BY_KEY = "key"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}").fullmatch


class Keep(enum.Enum):
    """How long rows live and who writes them (the storage contract, group 1)."""

    HISTORY = "history"
    VIEW = "view"
    WORK = "work"
    CACHE = "cache"


class Ref(NamedTuple):
    """The name of one row: its relation and key."""

    relation: str
    key: Key


def values_of(names: Sequence[str]) -> Callable[[Row], Key]:
    """A function from a row to the tuple of these fields."""
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda row: (get(row),)


#: A row is frozen to all but the relation that makes it.
_remember = object.__setattr__


def as_tuple(items: Iterable[Any]) -> tuple[Any, ...]:
    """An attrs converter with a type that checkers understand."""
    return tuple(items)


def _paths(paths: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(fields) for name, fields in paths.items()}


@attrs.frozen(eq=False, repr=False)
class Relation:
    """A declared relation. Every backend stores it as a table of its own kind.

    Args:
        name: lower-case words joined by ``_``; also the name of its table.
        row: the row class, one per relation.
        key: the fields that name a row within a scope.
        keep: HISTORY is truth, VIEW is derived from it, WORK and CACHE are local.
        paths: named orders to scan by, each a tuple of fields; the key follows.
        unique: names of paths whose fields no two rows of a VIEW may share.
        body: the erasable fields; they go all at once or not at all.
        versioned: whether an `Expect` may name rows of this VIEW.
        about: a relation whose erasure drops the rows of this WORK or CACHE; its key
            fields lead this relation's key or one of its paths.
        due: the Instant field by which `Store.due` reads this WORK across scopes.
        tree: how a folder shows the rows of this VIEW as files.
        wraps: whether its rows hold other rows, sealed. Those were counted and
            checked before, so no limit counts these.

    Raises:
        SchemaError: when the declaration breaks a rule of the contract.

    """

    name: str
    row: type[Row]
    key: tuple[str, ...] = attrs.field(converter=as_tuple)
    keep: Keep = attrs.field(kw_only=True)
    paths: Mapping[str, tuple[str, ...]] = attrs.field(
        factory=dict, converter=_paths, kw_only=True
    )
    unique: tuple[str, ...] = attrs.field(default=(), converter=as_tuple, kw_only=True)
    body: tuple[str, ...] = attrs.field(default=(), converter=as_tuple, kw_only=True)
    versioned: bool = attrs.field(default=False, kw_only=True)
    about: str | None = attrs.field(default=None, kw_only=True)
    due: str | None = attrs.field(default=None, kw_only=True)
    tree: Tree | None = attrs.field(default=None, kw_only=True)
    wraps: bool = attrs.field(default=False, kw_only=True)

    fields: Mapping[str, Field] = attrs.field(init=False)
    #: The fields that are not in the body and not its salt: what the chain covers.
    header: tuple[str, ...] = attrs.field(init=False)
    #: The full order of each path, ``key`` among them: its fields, then the key.
    orders: Mapping[str, tuple[str, ...]] = attrs.field(init=False)
    #: The order of values in `values` and `make`.
    columns: tuple[str, ...] = attrs.field(init=False)
    #: The fields in the order of `columns`.
    ordered: tuple[Field, ...] = attrs.field(init=False)
    #: For each of `columns`, whether a value is one that the field holds.
    holds: tuple[Callable[[Any], bool], ...] = attrs.field(init=False)
    #: The same for the key alone.
    key_holds: tuple[Callable[[Any], bool], ...] = attrs.field(init=False)
    #: A row's key, all its values, its header values, its body values.
    key_of: Callable[[Row], Key] = attrs.field(init=False)
    values: Callable[[Row], Key] = attrs.field(init=False)
    header_values: Callable[[Row], Key] = attrs.field(init=False)
    body_values: Callable[[Row], Key] = attrs.field(init=False)
    header_plan: Plan = attrs.field(init=False)
    #: The header's values and texts in canonical order, by name.
    sorted_header_values: Callable[[Row], Key] = attrs.field(init=False)
    text_plan: TextPlan = attrs.field(init=False)
    body_plan: Plan = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        put = object.__setattr__
        fields = fields_of(self.row)
        put(self, "fields", fields)
        erasable = {*self.body, "salt"} if self.body else set()
        put(self, "header", tuple(n for n in fields if n not in erasable))
        orders = {BY_KEY: self.key}
        for name, path in self.paths.items():
            orders[name] = path + tuple(n for n in self.key if n not in path)
        put(self, "orders", orders)
        self._check()
        # attrs puts the keyword-only fields of the base first; values have them last.
        last = ("body_digest", "salt") if self.body else ()
        columns = (*(n for n in fields if n not in last), *last)
        put(self, "columns", columns)
        put(self, "ordered", tuple(fields[n] for n in columns))
        put(self, "holds", tuple(field.rules.holds for field in self.ordered))
        put(self, "key_holds", tuple(fields[n].rules.holds for n in self.key))
        put(self, "key_of", values_of(self.key))
        put(self, "values", values_of(columns))
        put(self, "header_values", values_of(self.header))
        put(self, "body_values", values_of(self.body) if self.body else lambda _: ())
        put(self, "header_plan", self._plan(self.header))
        names = sorted(self.header)
        put(self, "sorted_header_values", values_of(names))
        texts = tuple((f'"{n}":', fields[n].rules.text) for n in names)
        put(self, "text_plan", texts)
        put(self, "body_plan", self._plan((*self.body, "salt") if self.body else ()))

    def _plan(self, names: Sequence[str]) -> Plan:
        return tuple((name, self.fields[name].rules.to_json) for name in names)

    def make(self, values: Sequence[Any], version: int = 0) -> Row:
        """The row of these values, as `values` gave them."""
        if not self.body:
            return self.row(*values, version=version)
        *own, digest, salt = values
        row = cast("Callable[..., Row]", self.row)
        return row(*own, body_digest=digest, salt=salt, version=version)

    def stamped(self, row: Row, version: int) -> Row:
        """The same row with this version."""
        return row if row.version == version else self.make(self.values(row), version)

    def claim(self, row: Row, version: int) -> None:
        """Give a row that nobody else holds yet its version, without a copy."""
        _remember(row, "version", version)

    def ref(self, row: Row) -> Ref:
        """The name of the row."""
        return Ref(self.name, self.key_of(row))

    def has_body(self, row: Row) -> bool:
        """Whether the row still has its body (always false without ``body``)."""
        return bool(self.body) and getattr(row, "salt", None) is not None

    def erased(self, row: Row) -> Row:
        """The row without its body and salt; its digest stays."""
        gone = {*self.body, "salt"}
        values = (
            None if name in gone else value
            for name, value in zip(self.columns, self.values(row), strict=True)
        )
        return self.make(tuple(values), row.version)

    def digest_body(self, row: Row) -> str:
        """The salted digest of the row's body, computed anew (hex)."""
        parts = [
            value if type(value) is bytes else value.encode("utf-8")
            for value in self.body_values(row)
        ]
        return salted_digest(row.salt, parts)  # type: ignore[attr-defined]

    def with_body(self, salt: bytes, **fields: Any) -> Row:
        """A new row whose ``body_digest`` is computed from its body and this salt."""
        parts = [
            value if type(value := fields[name]) is bytes else value.encode("utf-8")
            for name in self.body
        ]
        make = cast("Callable[..., Row]", self.row)
        row = make(**fields, salt=salt, body_digest=salted_digest(salt, parts))
        _remember(row, "_body_size", sum(map(len, parts)))
        return row

    def named_by_header(self, id_field: str, salt: bytes, **fields: Any) -> Row:
        """As `with_body`, with an id that is the digest of the other header fields.

        The body stands in the header as its salted digest, so the id covers it too.
        """
        fields[id_field] = None
        row = self.with_body(salt, **fields)
        texts = self._texts(row)
        name = sha256_hex(f"{{{','.join(texts)}}}".encode())
        _remember(row, id_field, name)
        # Members begin with their names, so their texts are in the order of names.
        insort(texts, f'"{id_field}":"{name}"')
        _remember(row, "_header_text", f"{{{','.join(texts)}}}")
        return row

    def header_name(self, row: Row, id_field: str) -> str:
        """The id that `named_by_header` gives a row with this header."""
        texts = [t for t in self._texts(row) if not t.startswith(f'"{id_field}":')]
        return sha256_hex(f"{{{','.join(texts)}}}".encode())

    def header_text(self, row: Row) -> str:
        """The RFC 8785 text of the row's header; fields that are None are absent."""
        text: str | None = row._header_text  # noqa: SLF001 - its relation's memory
        if text is None:
            text = f"{{{','.join(self._texts(row))}}}"
            _remember(row, "_header_text", text)
        return text

    def _texts(self, row: Row) -> list[str]:
        return [
            name + text(value)
            for (name, text), value in zip(
                self.text_plan, self.sorted_header_values(row), strict=True
            )
            if value is not None
        ]

    def path_fields(self, path: str) -> tuple[str, ...]:
        """The full order of a path; SchemaError when the relation has no such path."""
        order = self.orders.get(path)
        if order is None:
            raise SchemaError(
                f"{self.name} has no such path",
                code="schema.path",
                hint="one of " + ", ".join(self.orders),
            )
        return order

    def about_path(self, about: Relation) -> str:
        """The path of this relation that the key of ``about`` leads."""
        for name, order in self.orders.items():
            if order[: len(about.key)] == about.key:
                return name
        raise self._broken(f"no path begins with the key of {about.name}")

    def __repr__(self) -> str:
        return f"Relation({self.name!r}, {self.keep.name})"

    def _broken(self, rule: str) -> SchemaError:
        return SchemaError(rule, code="schema.relation", path=self.name)

    def _check(self) -> None:
        self._check_names()
        self._check_body()
        self._check_keep()

    def _check_names(self) -> None:
        if not _NAME(self.name):
            raise self._broken("a relation's name is lower-case words joined by _")
        if not self.key:
            raise self._broken("a relation has a key")
        if BY_KEY in self.paths:
            raise self._broken("the path named key is the key's own")
        for name in {n for order in self.orders.values() for n in order}:
            field = self.fields.get(name)
            if field is None or field.optional or field.kind not in ORDERED:
                raise self._broken(f"{name} can't stand in a key or path")

    def _check_body(self) -> None:
        if bool(self.body) != issubclass(self.row, BodyRow):
            raise self._broken("a relation with a body has a BodyRow, others a Row")
        for name in self.body:
            if name not in self.fields or not self.fields[name].optional:
                raise self._broken("a body names optional fields: it can be erased")
        if self.body and self.keep is not Keep.HISTORY:
            raise self._broken("only HISTORY has bodies")
        # What is derived may repeat a body, and what is sealed shows nothing.
        derived = self.wraps or self.keep in (Keep.VIEW, Keep.CACHE)
        for name in self.header:
            if self.fields[name].kind in (Kind.TEXT, Kind.BYTES) and not derived:
                raise self._broken(f"{name} is content and belongs into the body")

    def _check_keep(self) -> None:
        if (self.unique or self.versioned or self.tree) and self.keep is not Keep.VIEW:
            raise self._broken("unique, versioned and tree are for a VIEW")
        if not set(self.unique) <= set(self.paths):
            raise self._broken("unique names paths of the relation")
        fault = fault_of(self)
        if fault is not None:
            raise self._broken(fault)
        if self.about and self.keep not in (Keep.WORK, Keep.CACHE):
            raise self._broken("about is for WORK and CACHE")
        due = self.fields.get(self.due or "")
        if self.due and (
            self.keep is not Keep.WORK
            or due is None
            or due.kind is not Kind.INSTANT
            or due.optional
        ):
            raise self._broken("due names an Instant of a WORK relation")
