"""Mutants of a module: one comparison, constant, guard or statement changed in each.

A mutant is named by its file, its function, what is changed, and which of that kind in
the function it is; so its name survives edits elsewhere. One walk over the tree both
lists the mutants and makes them, and always in the same order.

No mutant is made where a change could not be seen: in hints, declarations of slots and
caches, the words of an error, and what a `repr` shows.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@attrs.frozen
class Mutant:
    """One change of one module: its name, and the line where it stands now."""

    file: str
    function: str
    kind: str
    number: int
    line: int = attrs.field(eq=False)

    @property
    def id(self) -> str:
        """The name: ``file:function:kind:number``, counting from 1."""
        return f"{self.file}:{self.function}:{self.kind}:{self.number}"


class Change(NamedTuple):
    """A change that can be made to the tree in place."""

    kind: str
    make: Callable[[], None]


#: Each comparison is turned round, and those with an edge are shifted by it as well.
_COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_NAMES = {
    "max": "min",
    "min": "max",
    "any": "all",
    "all": "any",
    "bisect_left": "bisect_right",
    "bisect_right": "bisect_left",
}
_LEAVING = (ast.Raise, ast.Return, ast.Continue, ast.Break)

#: What says nothing about behaviour: hints, decorators, bases.
_UNSEEN_FIELDS = frozenset(
    {"annotation", "returns", "decorator_list", "bases", "type_comment", "ctx"}
)
#: Words of an error, and checks of what is so by construction.
_UNSEEN_KEYWORDS = frozenset({"code", "hint", "maxsize", "path", "strict"})
_UNSEEN_FUNCTIONS = frozenset({"__repr__"})


def changes(tree: ast.Module) -> Iterator[tuple[str, ast.AST, Change]]:
    """Every change of a tree, with its function and place, in the order of the text."""
    yield from _walk(tree, "", in_raise=False)


def mutants(source: str, file: str) -> list[Mutant]:
    """The mutants of a module."""
    counts: Counter[tuple[str, str]] = Counter()
    found = []
    for function, node, change in changes(ast.parse(source)):
        counts[function, change.kind] += 1
        number = counts[function, change.kind]
        line = getattr(node, "lineno", 0)
        found.append(Mutant(file, function, change.kind, number, line))
    return found


def mutated(source: str, mutant: Mutant) -> ast.Module:
    """The tree of a module with this one change made.

    Raises:
        LookupError: the module has no such mutant.

    """
    tree = ast.parse(source)
    left = mutant.number
    for function, _, change in changes(tree):
        if (function, change.kind) == (mutant.function, mutant.kind):
            left -= 1
            if not left:
                change.make()
                return ast.fix_missing_locations(tree)
    raise LookupError(mutant.id)


def _walk(
    node: ast.AST, function: str, *, in_raise: bool
) -> Iterator[tuple[str, ast.AST, Change]]:
    for child, put in _children(node):
        if _is_unseen(child, in_raise=in_raise):
            continue
        for change in _changes(child, put):
            yield function or "<module>", child, change
        inner = function
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            inner = f"{function}.{child.name}" if function else child.name
        raising = in_raise or isinstance(child, ast.Raise)
        yield from _walk(child, inner, in_raise=raising)


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, Callable[[Any], None]]]:
    """The nodes below, each with a function that puts another in its place."""
    for field, value in ast.iter_fields(node):
        if field in _UNSEEN_FIELDS:
            continue
        if isinstance(value, ast.AST):
            yield value, _put_field(node, field)
        elif isinstance(value, list):
            for i, child in enumerate(value):
                if isinstance(child, ast.AST):
                    yield child, _put_item(value, i)


def _put_field(node: ast.AST, field: str) -> Callable[[Any], None]:
    return lambda new: setattr(node, field, new)


def _put_item(items: list[Any], at: int) -> Callable[[Any], None]:
    return lambda new: items.__setitem__(at, new)


def _is_unseen(node: ast.AST, *, in_raise: bool) -> bool:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.FunctionDef(name=name):
            return name in _UNSEEN_FUNCTIONS
        case ast.keyword(arg=name):
            return name in _UNSEEN_KEYWORDS
        case ast.Call(func=ast.Attribute(value=ast.Name(id="attrs"), attr=name)):
            return name in ("field", "frozen", "define")
        case ast.JoinedStr():
            return in_raise
    return False


def _changes(node: ast.AST, put: Callable[[Any], None]) -> Iterator[Change]:
    """What can be changed about this node itself."""
    match node:
        case ast.Constant():
            yield from _shifted(node, put)
        case ast.BoolOp() | ast.UnaryOp() | ast.BinOp():
            yield from _operations(node, put)
        case ast.Compare():
            yield from _comparisons(node)
        case ast.If() | ast.IfExp():
            yield from _decided(node)
        case ast.Call():
            yield from _reversed(node)
        case ast.stmt():
            yield from _dropped(node, put)
        case _:
            yield from _parts(node)


def _shifted(node: ast.Constant, put: Callable[[Any], None]) -> Iterator[Change]:
    match node.value:
        case bool(value):
            yield Change("constant-flipped", lambda: put(ast.Constant(not value)))
        case int(value):
            yield Change("constant-plus-one", lambda: put(ast.Constant(value + 1)))
            yield Change("constant-minus-one", lambda: put(ast.Constant(value - 1)))


def _operations(node: ast.AST, put: Callable[[Any], None]) -> Iterator[Change]:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield Change("not-dropped", lambda: put(operand))
        case ast.BoolOp(op=ast.And()):
            yield Change("and-to-or", lambda: setattr(node, "op", ast.Or()))
        case ast.BoolOp(op=ast.Or()):
            yield Change("or-to-and", lambda: setattr(node, "op", ast.And()))
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _OPERATORS:
            new = _OPERATORS[type(op)]
            kind = f"{_name(op)}-to-{_name(new)}"
            yield Change(kind, lambda: setattr(node, "op", new()))


def _parts(node: ast.AST) -> Iterator[Change]:
    """A name for its opposite; a bound, a filter or a part of a whole left out."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            new = _NAMES[name]
            yield Change(f"{name}-to-{new}", lambda: setattr(node, "id", new))
        case ast.Slice():
            yield from _opened(node)
        case ast.comprehension(ifs=ifs) if ifs:
            yield Change("filter-dropped", ifs.clear)
        case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
            yield from _stars(elts)


def _name(op: object) -> str:
    return (op if isinstance(op, type) else type(op)).__name__.lower()


def _comparisons(node: ast.Compare) -> Iterator[Change]:
    for i, op in enumerate(node.ops):
        for new in _COMPARISONS[type(op)]:

            def make(i: int = i, new: type = new) -> None:
                node.ops[i] = new()

            yield Change(f"{_name(op)}-to-{_name(new)}", make)


def _decided(node: ast.If | ast.IfExp) -> Iterator[Change]:
    """A guard that never fires; any other choice that always falls the same way."""

    def make(*, value: bool) -> Callable[[], None]:
        return lambda: setattr(node, "test", ast.Constant(value))

    is_guard = isinstance(node, ast.If) and isinstance(node.body[-1], _LEAVING)
    yield Change("guard-dropped" if is_guard else "never", make(value=False))
    if not is_guard or node.orelse:
        yield Change("always", make(value=True))


def _reversed(node: ast.Call) -> Iterator[Change]:
    match node.func:
        case ast.Name(id="sorted") | ast.Attribute(attr="sort"):
            if all(keyword.arg != "reverse" for keyword in node.keywords):
                new = ast.keyword("reverse", ast.Constant(value=True))
                yield Change("order-reversed", lambda: node.keywords.append(new))


def _opened(node: ast.Slice) -> Iterator[Change]:
    if node.lower is not None:
        yield Change("slice-from-start", lambda: setattr(node, "lower", None))
    if node.upper is not None:
        yield Change("slice-to-end", lambda: setattr(node, "upper", None))


def _stars(elts: list[ast.expr]) -> Iterator[Change]:
    for i, item in enumerate(elts):
        if isinstance(item, ast.Starred) and isinstance(item.ctx, ast.Load):
            yield Change("star-dropped", lambda i=i: elts.pop(i))


def _dropped(node: ast.AST, put: Callable[[Any], None]) -> Iterator[Change]:
    """A statement that is there for its effect, dropped."""
    if isinstance(node, ast.AugAssign):
        yield from _operations(node, put)
    match node:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Expr() | ast.AugAssign() | ast.Delete():
            yield Change("statement-dropped", lambda: put(ast.Pass()))
        case ast.Assign(targets=[target]):
            places = target.elts if isinstance(target, ast.Tuple) else [target]
            if all(isinstance(p, (ast.Attribute, ast.Subscript)) for p in places):
                yield Change("statement-dropped", lambda: put(ast.Pass()))
