"""What tasks there are, with counts beside those that WildToolBench published."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scenarios.wild import dialogues, stories
from scenarios.wild.stories import CLASSES, TYPES

PUBLISHED = {
    "single": 256,
    "clarify": 256,
    "chat": 256,
    "parallel": 156,
    "mixed": 84,
    "sequential": 16,
}
"""Tasks of each type in WildToolBench (Yu et al. 2026); chats are one type there."""


def entries() -> list[dict[str, Any]]:
    """Return `{name, dialogue, story, person, task, type, task_class, position, switches, hidden,
    services}` of each task of each dialogue.

    `switches` counts those of the dialogue up to the task; `hidden` lists `{piece, kind, by,
    distance}`.
    """
    found = []
    for name in dialogues.index():
        facts = dialogues.dialogue(name).facts
        classes = [task.task_class for task in facts.tasks]
        for task in facts.tasks:
            hidden = []
            for one in task.hidden:
                hidden.append(one.model_dump(include={"piece", "kind", "by", "distance"}))
            found.append(
                {
                    "name": f"{name}{dialogues.TASK}{task.position}",
                    "dialogue": name,
                    "story": facts.story,
                    "person": facts.person,
                    "task": task.name,
                    "type": task.type,
                    "task_class": task.task_class,
                    "position": task.position,
                    "switches": dialogues.switches(classes[: task.position]),
                    "hidden": hidden,
                    "services": list(task.services),
                }
            )
    return found


def counts(listed: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return how many tasks there are of each type, hidden kind, number of switches, and so on."""
    hidden: Counter[str] = Counter()
    by: Counter[str] = Counter()
    services: Counter[str] = Counter()
    switches: Counter[str] = Counter()
    whole: dict[str, int] = {}
    for entry in listed:
        hidden.update({one["kind"] for one in entry["hidden"]})
        by.update({one["by"] for one in entry["hidden"]})
        services.update(entry["services"])
        whole[entry["dialogue"]] = entry["switches"]
    switches.update(str(count) for count in whole.values())
    types = Counter(entry["type"] for entry in listed)
    return {
        "type": {kind: types[kind] for kind in TYPES},
        "hidden": dict(sorted(hidden.items())),
        "said by": dict(sorted(by.items())),
        "switches": dict(sorted(switches.items())),
        "person": dict(sorted(Counter(entry["person"] for entry in listed).items())),
        "service": dict(sorted(services.items())),
        "stories": {"stories": len(stories.index()), "dialogues": len(whole), "tasks": len(listed)},
    }


def beside_published(counted: dict[str, dict[str, int]]) -> list[tuple[str, int, int]]:
    """Return `(type, ours, published)`, with talk and known as chats."""
    ours: Counter[str] = Counter()
    for kind in TYPES:
        ours["chat" if CLASSES[kind] == "chat" else kind] += counted["type"][kind]
    return [(kind, ours[kind], published) for kind, published in PUBLISHED.items()]
