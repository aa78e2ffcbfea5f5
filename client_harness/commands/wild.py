"""Commands about dialogues of wild users."""

from __future__ import annotations

from client_harness.commands import _print


def list_tasks(*, json: bool) -> None:
    """Print the tasks of all dialogues with their counts, beside the published ones."""
    from client_harness.wild import listing

    entries = listing.entries()
    counts = listing.counts(entries)
    beside = listing.beside_published(counts)
    if json:
        published = {kind: count for kind, _, count in beside}
        _print.as_json({"counts": counts, "published": published, "tasks": entries})
        return
    rows = []
    for entry in entries:
        hidden = ", ".join(one["kind"] for one in entry["hidden"])
        rows.append([entry["name"], entry["task"], entry["type"], hidden])
    _print.columns(rows)
    for part, counted in counts.items():
        print(f"{part}: " + ", ".join(f"{name} {count}" for name, count in counted.items()))
    print("beside the published ones: " + ", ".join(f"{k} {n}/{p}" for k, n, p in beside))
