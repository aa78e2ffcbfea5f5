"""One search for all services: any word counts, and what matches more words comes first.

A query becomes terms. Words that carry no meaning ("a good", "near me") are left out as long as
others remain, plurals meet singulars (the index stems), and a word also stands for what people
call the same thing (`words.yaml`): tv for television, kids for children. A term may be the
beginning of a word, which counts less. Quoted words must occur as they are.

In a catalogue, terms count by BM25, so rare words and names weigh more. Where calls add rows, the
rank of a row depends on that row and the query alone, so that mail elsewhere never moves it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from servers.kit import towns
from servers.kit.errors import one_slip
from servers.kit.store import World
from servers.kit.types import Row
from servers.kit.yaml import read

Scores = dict[Any, float]
"""Key of a row → how well it matches; rows that do not match are absent."""

ALSO = 0.85
"""What another name of a thing counts, compared with the word of the query."""
BEGINNING = 0.45
"""What the beginning of a word counts, compared with the word."""
A_WORD = 1.0
"""What a term adds in a catalogue beside its rarity, so that more words come first."""
A_PLAIN_WORD = 20.0
"""The same where rarity does not count."""
GRAIN = 0.03
"""Scores that differ by less than this share of the best one are equal."""
DENIED = 0.6
"""What is left of a score if the name has a word that the query does not want."""
TAIL = 0.45
"""Rows that match less than this share of what the best row matches are left out."""
TAIL_OF_TWO = 0.55
"""The same for one or two words: if some row has both, one is not enough."""
SHORTEST_SLIP = 5
"""Letters of the shortest word in which a slip is forgiven."""
LONG = 8
"""From this many letters on, a word may end otherwise: cardiologist, cardiology."""


@dataclass(frozen=True)
class Term:
    """One word or phrase of a query.

    `forms` are the ways to write it and `others` its other names, as expressions of the index;
    `beginning` is the start of a word. `exact` terms were quoted, so rows without them do not
    match.
    """

    text: str
    forms: tuple[str, ...]
    others: tuple[str, ...] = ()
    beginning: str | None = None
    exact: bool = False

    def scores(self, db: World, table: str, where: str = "", *params: Any) -> Scores:
        """Return how well the rows of a table match this term."""
        each = A_WORD if db.tables[table].catalogue else A_PLAIN_WORD
        found: Scores = {}
        for worth, forms in ((1.0, self.forms), (ALSO, self.others), (BEGINNING, self.beginning)):
            if not forms:
                continue
            expression = forms if isinstance(forms, str) else " OR ".join(forms)
            for key, score in hits(db, table, expression, where, *params).items():
                found[key] = max(found.get(key, 0.0), worth * (each + score))
        return found


# -- reading a query -------------------------------------------------------------------------------
@functools.cache
def _vocabulary() -> Mapping[str, Any]:
    return read(Path(__file__).parent / "words.yaml")


@functools.cache
def _fillers() -> frozenset[str]:
    return frozenset(_vocabulary()["fillers"].split())


@functools.cache
def _synonyms() -> Mapping[str, tuple[str, ...]]:
    """Return a word or phrase → what else it is called."""
    groups: dict[str, list[str]] = {}
    for line in _vocabulary()["same"]:
        names = [name.strip() for name in line.split(",")]
        for name in names:
            groups.setdefault(name, []).extend(other for other in names if other != name)
    for line in _vocabulary()["means"]:
        said, _, meant = line.partition(":")
        groups.setdefault(said.strip(), []).extend(name.strip() for name in meant.split(","))
    for short, name in [*towns.airports().items(), *towns.nicknames().items()]:
        full = " ".join(words(name.partition(",")[0]))
        groups.setdefault(short, []).append(full)
        if short in towns.airports():
            groups.setdefault(f"{short} airport", []).append(full)
            # "LaGuardia", whether it is called an airport or not
            bare = full.removesuffix(" airport").removesuffix(" international")
            groups[short].append(bare)
            groups[f"{short} airport"].append(bare)
    return {name: tuple(dict.fromkeys(others)) for name, others in groups.items()}


@functools.cache
def _longest() -> int:
    return max(len(name.split()) for name in _synonyms())


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without a possessive s."""
    return _as_indexed(re.sub(r"(?i)['’`]s\b", "", text))


def _as_indexed(text: str) -> list[str]:
    """Return the words of a text as the index takes them apart, with a possessive s by itself."""
    return re.findall(r"[^\W_]+", text.casefold())


def meaningful(text: str) -> list[str]:
    """Return the words that carry meaning, or all words if none does."""
    every = words(text)
    telling = [word for word in every if word not in _fillers()]
    return telling or every


def _wanted(every: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words that are wanted and those that are not: `no pulp`, `without nuts`."""
    wanted: list[str] = []
    denied: list[str] = []
    for word in every:
        if wanted and wanted[-1] in ("no", "without") and word not in _fillers():
            wanted.pop()
            denied.append(word)
        else:
            wanted.append(word)
    return (wanted, denied) if wanted else (list(every), [])


def without(query: str, empty: Collection[str]) -> str:
    """Return a query without words that say nothing in some place, unless it has no others."""
    left = [part for part in query.split() if part.casefold() not in empty]
    return " ".join(left) or query


def terms(query: str) -> list[Term]:
    """Return the terms of a query; none if it has no words."""
    quoted = [_as_indexed(phrase) for phrase in re.findall(r'"([^"]*)"', query)]
    found = [Term(" ".join(p), (_phrase(p),), exact=True) for p in quoted if p]
    rest = re.sub(r'"[^"]*"?', " ", query)
    if found:
        told = [word for word in words(rest) if word not in _fillers()]
    else:
        told = meaningful(rest)
    return [*found, *_plain_terms(told)]


def _plain_terms(told: Sequence[str]) -> list[Term]:
    """Return the terms of words; those that have a common name together make one term."""
    made = []
    place = 0
    while place < len(told):
        length = _named_together(told[place:])
        said = told[place : place + length]
        before = told[place - 1] if place else ""
        after = told[place + length] if place + length < len(told) else ""
        made.append(_term(said, before, after))
        place += length
    return made


def _named_together(told: Sequence[str]) -> int:
    for length in range(min(_longest(), len(told)), 1, -1):
        if " ".join(told[:length]) in _synonyms():
            return length
    return 1


def _term(said: Sequence[str], before: str, after: str) -> Term:
    text = " ".join(said)
    forms = [_phrase(said)]
    names = [*_synonyms().get(text, ()), *_synonyms().get(_singular(text), ())]
    others = tuple(_phrase(name.split()) for name in dict.fromkeys(names))
    beginning = None
    if len(said) == 1:
        # Written apart or together: ear buds, bookstores, 12oz.
        if before:
            forms.append(_phrase([before + text]))
        if after:
            forms.append(_phrase([text + after]))
        apart = re.fullmatch(r"(\d+)([^\W\d]+)", text)
        if apart:
            forms.append(_phrase(apart.groups()))
        if len(text) > 2 or (len(text) > 1 and not after):
            beginning = f'"{text[:-3] if len(text) >= LONG else text}"*'
    return Term(text, tuple(dict.fromkeys(forms)), others, beginning)


def _one_slip_away(db: World, table: str, word: str) -> list[Term]:
    """Return the words in names of a table that a mistyped word may mean."""
    if len(word) < SHORTEST_SLIP:
        return []

    def every_word() -> list[str]:
        names = db.sql(f"SELECT {db.tables[table].search[0]} FROM {table}")
        return sorted(set(words(" ".join(name for (name,) in names))))

    known = db.kept(("words in names", table), (table,), every_word)
    return [Term(near, (_phrase([near]),)) for near in known if one_slip(word, near)]


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _phrase(parts: Iterable[str]) -> str:
    return f'"{" ".join(parts)}"'


# -- ranking ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Source:
    """A table in which a query is looked for, with SQL of ours (`where`) that narrows its rows.

    `spread` turns scores of its rows into scores of what is searched, e.g. of dishes into scores
    of restaurants.
    """

    table: str
    where: str = ""
    params: tuple[Any, ...] = ()
    spread: Callable[[Scores], Scores] | None = None

    def scores(self, db: World, term: Term) -> Scores:
        """Return how well rows match a term."""
        found = term.scores(db, self.table, self.where, *self.params)
        if not found and db.tables[self.table].catalogue:
            for meant in _one_slip_away(db, self.table, term.text):
                found |= meant.scores(db, self.table, self.where, *self.params)
        return self._spread(found)

    def named(self, db: World, query: str) -> Scores:
        """Return the rows whose name has all words of a query one after the other."""
        name = db.tables[self.table].search[0]
        together = f"{name} : {_phrase(words(query))}*"
        return self._spread(hits(db, self.table, together, self.where, *self.params))

    def holding(self, db: World, word: str) -> Scores:
        """Return the rows whose name has a word, and not as what they are without."""
        name = db.tables[self.table].search[0]
        free = f'("no {word}" OR "without {word}" OR "{word} free")'
        holds = hits(db, self.table, f"{name} : {_phrase([word])}", self.where, *self.params)
        lacks = hits(db, self.table, f"{name} : {free}", self.where, *self.params)
        return self._spread({key: score for key, score in holds.items() if key not in lacks})

    def _spread(self, found: Scores) -> Scores:
        return found if self.spread is None else self.spread(found)


def hits(db: World, table: str, expression: str, where: str = "", *params: Any) -> dict[Any, float]:
    """Return how well rows match an expression of the full-text index, by key.

    In a catalogue this is BM25, which depends on all rows of the table. Elsewhere it is the weight
    of the best column that matches, since calls add rows there. `where` is SQL of ours.
    """
    spec = db.tables[table]
    index = f"{table}_fts"
    # A cross join keeps SQLite from looking for each row of the table in the index.
    joined = f"{index} CROSS JOIN {table} ON {table}.rowid={index}.rowid"
    source = f"FROM {joined} WHERE {index} MATCH ?"
    if where:
        source += f" AND {where}"
    if spec.catalogue:
        weights = ",".join(str(weight) for weight in spec.weighted.values())
        query = f"SELECT {table}.{spec.key}, -bm25({index},{weights}) {source}"
        return dict(db.sql(query, expression, *params))
    best: dict[Any, float] = {}
    for column, weight in sorted(spec.weighted.items(), key=lambda item: item[1]):
        matching = f"SELECT {table}.{spec.key} {source}"
        for (key,) in db.sql(matching, f"{column} : ({expression})", *params):
            best[key] = weight
    return best


def scores(db: World, query: str, *sources: Source) -> Scores:
    """Return how well rows match a query, without the long tail of those that hardly do."""
    return tail_cut(every_score(db, query, *sources), query)


def every_score(db: World, query: str, *sources: Source) -> Scores:
    """Return how well rows match a query.

    The best place in which a term is found counts. The first source is the one with the names: all
    words one after the other in a name count once more.
    """
    wanted = query
    denied: list[str] = []
    # In mail and notes, "no heat" is what somebody wrote.
    if db.tables[sources[0].table].catalogue and '"' not in query:
        told, denied = _wanted(words(query))
        wanted = " ".join(told)
    asked = terms(wanted)
    totals = total([(term, _best(db, term, sources)) for term in asked])
    if len(asked) > 1 and totals:
        for key, score in sources[0].named(db, query).items():
            totals[key] = totals.get(key, 0.0) + score
    for word in denied:
        for key in sources[0].holding(db, word):
            if key in totals:
                totals[key] *= DENIED
    return totals


def _best(db: World, term: Term, sources: Iterable[Source]) -> Scores:
    best: Scores = {}
    for source in sources:
        for key, score in source.scores(db, term).items():
            best[key] = max(best.get(key, 0.0), score)
    return best


def total(by_term: Sequence[tuple[Term, Scores]]) -> Scores:
    """Add up what rows score for each term; rows that lack a quoted term are left out."""
    totals: Scores = {}
    for _, found in by_term:
        for key, score in found.items():
            totals[key] = totals.get(key, 0.0) + score
    for term, found in by_term:
        if term.exact:
            totals = {key: score for key, score in totals.items() if key in found}
    return totals


def all_of(text: str, *, beginnings: bool = False) -> str:
    """Return the expression of the index for rows with every word of a text; "" if it has none."""
    every = []
    for term in terms(text):
        forms = [*term.forms, *term.others]
        if beginnings and term.beginning is not None:
            forms.append(term.beginning)
        every.append(f"({' OR '.join(forms)})")
    return " AND ".join(every)


def having_all(db: World, table: str, columns: Iterable[str], text: str) -> Scores:
    """Return the rows that have every word of a text in some columns, as whole words."""
    expression = all_of(text)
    return hits(db, table, f"{{{' '.join(columns)}}} : ({expression})") if expression else {}


def meant(db: World, table: str, text: str, *, order: str) -> list[Row]:
    """Return the rows that a name refers to: those with every word of it, best match first."""
    expression = all_of(text, beginnings=True)
    return rows_of(db, table, hits(db, table, expression), order) if expression else []


def tail_cut(totals: Scores, query: str) -> Scores:
    """Leave out rows that match a query much less than the best one."""
    least = _tail(query) * max(totals.values(), default=0.0)
    return {key: score for key, score in totals.items() if score >= least}


def _tail(query: str) -> float:
    return TAIL if len(terms(query)) > 2 else TAIL_OF_TWO


def find(db: World, table: str, query: str, *, order: str, grain: float = GRAIN) -> list[Row]:
    """Return the rows of a table that match a query, best match first.

    `order` (SQL of ours) decides between equal ones, see `in_order`. An empty query matches
    nothing.
    """
    return rows_of(db, table, scores(db, query, Source(table)), order, grain)


def scored(db: World, table: str, query: str, *, order: str) -> list[tuple[float, Row]]:
    """Return (score, row) of everything in a table that matches a query, to be `merged`."""
    totals = every_score(db, query, Source(table))
    return [(totals[row[db.tables[table].key]], row) for row in rows_of(db, table, totals, order)]


def merged(hits: Iterable[tuple[float, Row]], query: str) -> list[Row]:
    """Return what several tables hold, best match first and without the long tail."""
    ranked = sorted(hits, key=lambda hit: -hit[0])
    return [row for score, row in ranked if score >= _tail(query) * ranked[0][0]]


def rows_of(db: World, table: str, totals: Scores, order: str, grain: float = GRAIN) -> list[Row]:
    """Return the rows with a score, best first; `order` decides between equal ones."""
    key = db.tables[table].key
    marks = ",".join("?" * len(totals))
    rows = db.rows(table, f"{key} IN ({marks})", *totals, order=order)
    return in_order(rows, totals, key, grain)


def in_order(
    rows: Iterable[Row], totals: Scores, key: str = "id", grain: float = GRAIN
) -> list[Row]:
    """Return the rows that have a score, best first.

    Scores within about `grain`, a share of the best one, are equal, and the given order decides.
    """
    # The only hits of a word that everything has may score nothing.
    step = grain * max(totals.values(), default=0.0) or 1.0
    scored = [row for row in rows if row[key] in totals]
    return sorted(scored, key=lambda row: -round(totals[row[key]] / step))


def best_named(rows: Iterable[Row], query: str, name: str) -> list[Row]:
    """Put rows whose column `name` is exactly the query before all others."""
    told = words(query)
    return sorted(rows, key=lambda row: words(row[name]) != told)
