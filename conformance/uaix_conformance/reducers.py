"""The reducers of the kit's schema.

Together they use what a reducer may use: one, two and three rounds, reading HISTORY,
reading what an earlier reducer put, dropping, undoing on erasure, and naming the seq
of a state that comes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_conformance.rows import Fact, Head, Latest, Link, Note, Rank, Tally, Title
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Ref

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps
    from uaix_core.schema.rows import Row

#: A note's place: topic and number.
_Place = tuple[str, int]


def words_of(note: Note) -> set[str]:
    """The words of a note's text, cut at single spaces; the empty word counts too."""
    return set((note.text or "").split(" "))


def _added(recorded: Recorded) -> list[Note]:
    adds = recorded.commit.adds
    return [row for row in adds if isinstance(row, Note) and row.salt is not None]


def _gone(erased: Mapping[Ref, Row]) -> list[Note]:
    return [row for row in erased.values() if isinstance(row, Note)]


def _changes_of_tallies(added: Iterable[Note], gone: Iterable[Note]) -> dict[str, int]:
    deltas: dict[str, int] = {}
    for notes, step in ((added, 1), (gone, -1)):
        for note in notes:
            for word in words_of(note):
                deltas[word] = deltas.get(word, 0) + step
    return {word: delta for word, delta in deltas.items() if delta}


def reduce_notes(recorded: Recorded, erased: Mapping[Ref, Row]) -> Steps:
    """Tallies, titles, the links between surviving notes, and each topic's latest."""
    added, gone = _added(recorded), _gone(erased)
    if not added and not gone:
        return Changes()
    deltas = _changes_of_tallies(added, gone)
    topics = {note.topic for note in (*added, *gone)}
    first = yield {
        *(Ref("tally", (word,)) for word in deltas),
        *(Ref("latest", (topic,)) for topic in topics),
        *(Ref("link", (note.topic, note.number)) for note in gone),
    }
    puts: list[Row] = []
    drops: list[Ref] = []
    for word, delta in deltas.items():
        tally = first.get(Ref("tally", (word,)))
        count = delta + (tally.count if isinstance(tally, Tally) else 0)
        if count:
            puts.append(Tally(word, count))
        else:
            drops.append(Ref("tally", (word,)))

    links = _Links(first)
    tails = {
        (note.topic, links.tail[note.topic])
        for note in added
        if note.topic in links.tail
    }
    near = links.neighbours((note.topic, note.number) for note in gone) | tails
    links.load((yield {Ref("link", place) for place in near}))
    for note in gone:
        links.take_out((note.topic, note.number))
        drops.append(Ref("title", (note.topic, note.number)))
    for note in added:
        links.append((note.topic, note.number))
        if note.title:
            puts.append(Title(note.topic, note.number, note.title))

    new = {(note.topic, note.number): note for note in added}
    back = {place for place in links.moved_tails() if place not in new}
    notes = (yield {Ref("note", place) for place in back}) if back else {}
    for place in links.moved_tails():
        last = new.get(place) or notes[Ref("note", place)]
        if isinstance(last, Note):
            # A state that comes back keeps the seq of the commit that made it.
            version = last.version if place in back else 0
            puts.append(Latest(*place, last.noted_at, version=version))
    drops += [Ref("latest", (topic,)) for topic in links.emptied()]
    return Changes((*puts, *links.puts()), (*drops, *links.drops()))


class _Links:
    """The part of the chains of notes that one commit touches."""

    def __init__(self, found: Mapping[Ref, Row]) -> None:
        latest = [row for row in found.values() if isinstance(row, Latest)]
        self._before = {row.topic: row.number for row in latest}
        self.tail = dict(self._before)
        self._links: dict[_Place, tuple[int | None, int | None]] = {}
        self._old: dict[_Place, tuple[int | None, int | None]] = {}
        self._gone: list[_Place] = []
        self.load(found)

    def load(self, found: Mapping[Ref, Row]) -> None:
        """Take in the links that were read."""
        for row in found.values():
            if isinstance(row, Link):
                self._links[row.topic, row.number] = (row.before, row.after)
                self._old[row.topic, row.number] = (row.before, row.after)

    def neighbours(self, places: Iterable[_Place]) -> set[_Place]:
        """The places beside these that are not read yet."""
        beside = {
            (topic, number)
            for topic, own in places
            for number in self._links[topic, own]
            if number is not None
        }
        return beside - self._links.keys()

    def take_out(self, place: _Place) -> None:
        """Join the neighbours of a place."""
        topic = place[0]
        before, after = self._links.pop(place)
        if before is not None:
            self._links[topic, before] = (self._links[topic, before][0], after)
        if after is not None:
            self._links[topic, after] = (before, self._links[topic, after][1])
        elif before is not None:
            self.tail[topic] = before
        else:
            del self.tail[topic]
        self._gone.append(place)

    def append(self, place: _Place) -> None:
        """Put a place at the end of its topic."""
        topic, number = place
        last = self.tail.get(topic)
        if last is not None:
            self._links[topic, last] = (self._links[topic, last][0], number)
        self._links[place] = (last, None)
        self.tail[topic] = number

    def moved_tails(self) -> list[_Place]:
        """The last places of the topics whose last place is another one now."""
        return [
            (topic, number)
            for topic, number in self.tail.items()
            if self._before.get(topic) != number
        ]

    def emptied(self) -> list[str]:
        """The topics that have no place left."""
        return [topic for topic in self._before if topic not in self.tail]

    def puts(self) -> list[Row]:
        """The links that are new or changed."""
        return [
            Link(*place, *link)
            for place, link in self._links.items()
            if self._old.get(place) != link
        ]

    def drops(self) -> list[Ref]:
        """The links that go."""
        return [Ref("link", place) for place in self._gone]


def reduce_facts(recorded: Recorded, _erased: Mapping[Ref, Row]) -> Steps:
    """The last fact of each subject, and how many there were."""
    facts = [row for row in recorded.commit.adds if isinstance(row, Fact)]
    if not facts:
        return Changes()
    found = yield {Ref("head", (fact.subject,)) for fact in facts}
    heads = {row.subject: row for row in found.values() if isinstance(row, Head)}
    for fact in facts:
        before = heads.get(fact.subject)
        count = before.count + 1 if before else 1
        heads[fact.subject] = Head(fact.subject, fact.at, fact.sure, fact.size, count)
    return Changes(heads.values())


def reduce_ranks(recorded: Recorded, erased: Mapping[Ref, Row]) -> Steps:
    """The tallies by count, from what the notes' reducer has just put."""
    deltas = _changes_of_tallies(_added(recorded), _gone(erased))
    if not deltas:
        return Changes()
    found = yield {Ref("tally", (word,)) for word in deltas}
    puts, drops = [], []
    for word, delta in deltas.items():
        tally = found.get(Ref("tally", (word,)))
        now = tally.count if isinstance(tally, Tally) else 0
        if now:
            puts.append(Rank(now, word))
        if now != delta:
            drops.append(Ref("rank", (now - delta, word)))
    return Changes(puts, drops)
