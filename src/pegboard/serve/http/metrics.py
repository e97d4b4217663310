"""Numbers as Prometheus reads them: counters, histograms and gauges in its text format."""

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]


class Family(NamedTuple):
    """One metric with all its values, as a snapshot."""

    name: str
    kind: str
    about: str
    lines: Sequence[str]

    def text(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self.about}"
        yield f"# TYPE {self.name} {self.kind}"
        yield from self.lines


class Counter:
    """Grows. The values of its labels come from lists of ours, never from a caller."""

    def __init__(self, name: str, about: str, labels: Sequence[str] = ()) -> None:
        self.name = name
        self.about = about
        self.labels = tuple(labels)
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}
        self._lock = threading.Lock()

    def add(self, *values: str) -> None:
        with self._lock:
            self._values[values] = self._values.get(values, 0.0) + 1.0

    def family(self) -> Family:
        with self._lock:
            found = sorted(self._values.items())
        lines = [line(self.name, dict(zip(self.labels, key, strict=True)), n) for key, n in found]
        return Family(self.name, "counter", self.about, lines)


class Histogram:
    """How often something took how long, for each value of one label."""

    def __init__(self, name: str, about: str, label: str, bounds: Sequence[float]) -> None:
        self.name = name
        self.about = about
        self.label = label
        self._bounds = tuple(bounds)
        self._counts: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}
        self._lock = threading.Lock()

    def observe(self, value: str, seconds: float) -> None:
        with self._lock:
            counts = self._counts.setdefault(value, [0] * (len(self._bounds) + 1))
            counts[bisect_left(self._bounds, seconds)] += 1
            self._sums[value] = self._sums.get(value, 0.0) + seconds

    def family(self) -> Family:
        with self._lock:
            found = {value: (list(self._counts[value]), self._sums[value]) for value in self._sums}
        lines: list[str] = []
        for value, (counts, total) in sorted(found.items()):
            reached = 0
            for bound, count in zip((*map(_number, self._bounds), "+Inf"), counts, strict=True):
                reached += count
                labels = {self.label: value, "le": bound}
                lines.append(line(f"{self.name}_bucket", labels, reached))
            lines.append(line(f"{self.name}_sum", {self.label: value}, total))
            lines.append(line(f"{self.name}_count", {self.label: value}, reached))
        return Family(self.name, "histogram", self.about, lines)


def gauge(name: str, about: str, value: float | None) -> Family:
    """A number of this moment; without one, there is no line."""
    return Family(name, "gauge", about, [] if value is None else [line(name, {}, value)])


def gauges(name: str, about: str, label: str, values: Mapping[str, float]) -> Family:
    lines = [line(name, {label: value}, number) for value, number in values.items()]
    return Family(name, "gauge", about, lines)


def counter(name: str, about: str, value: float) -> Family:
    """One that somebody else keeps."""
    return Family(name, "counter", about, [line(name, {}, value)])


def exposition(families: Iterable[Family]) -> bytes:
    lines = [each for family in families for each in family.text()]
    return ("\n".join(lines) + "\n").encode()


def line(name: str, labels: Mapping[str, str], value: float) -> str:
    said = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{said}}} {_number(value)}" if said else f"{name} {_number(value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
