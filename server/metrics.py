"""What `/metrics` tells: name, kind and words of every metric, and where its number is. docs/operations.md lists them.

Nothing is kept here. The numbers are read when somebody asks, so what counts them needs to know nothing of this.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from server.clock import now_ms
from server.parts import Parts
from server.tally import APPEND_SECONDS, Tally

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "statecraft_"


@dataclass(frozen=True, slots=True)
class Ledger:
    """How far everybody is, at one moment."""

    size: int | None
    """Leaves; None: the store doesn't say."""
    signed: int


class Numbers(Collector):
    """One look at one application's parts."""

    def __init__(self, parts: Parts, ledger: Ledger, troubles: Mapping[str, bool]) -> None:
        self._parts = parts
        self._ledger = ledger
        self._troubles = troubles

    def collect(self) -> Iterator[Metric]:
        yield from _happened(self._parts.tally)
        yield from self._standing()
        yield from self._lag()

    def _standing(self) -> Iterator[Metric]:
        parts = self._parts
        waiting = [each.waiting_bytes for each in parts.doors.ways]
        yield _gauge("sockets", "Open sockets at /ws.", parts.connections)
        yield _gauge("sessions", "Open sockets of players.", len(parts.sessions))
        yield _gauge("subscriptions", "Games followed, counted once for each socket.", len(parts.audience))
        yield _gauge("games", "Games folded in memory.", len(parts.games))
        yield _gauge("queue_players", "Players who wait here to be paired.", len(parts.hall.queue.players()))
        yield _gauge("outgoing_bytes", "Bytes that wait for peers to read, of all sockets.", sum(waiting))
        yield _gauge("outgoing_bytes_max", "Bytes that wait for the slowest peer.", max(waiting, default=0))
        last_ms = parts.sweep.looked_ms
        age = (now_ms() - last_ms) / 1000 if last_ms else 0.0
        yield _gauge("sweep_age_seconds", "Since the sweep last looked at deadlines.", age)
        trouble = GaugeMetricFamily(f"{PREFIX}trouble", "1 while /readyz names this trouble.", labels=["trouble"])
        for name, stands in self._troubles.items():
            trouble.add_metric([name], float(stands))
        yield trouble

    def _lag(self) -> Iterator[Metric]:
        parts, ledger = self._parts, self._ledger
        if ledger.size is not None:
            yield _gauge("ledger_leaves", "Leaves in the ledger.", ledger.size)
            yield _gauge("ledger_unsigned_leaves", "Leaves no signature covers.", ledger.size - ledger.signed)
        yield _gauge("ledger_partitions_waiting", "Outboxes that may hold what isn't copied.", parts.sequencer.waiting)
        yield _gauge("ledger_partitions_stopped", "Outboxes that stand still.", len(parts.sequencer.alarms))
        lag = GaugeMetricFamily(
            f"{PREFIX}projection_lag_leaves", "Signed leaves that aren't folded.", labels=["projection"]
        )
        for name, position in parts.projector.positions().items():
            lag.add_metric([name], ledger.signed - (position.as_of or 0))
        yield lag


def _happened(tally: Tally) -> Iterator[Metric]:
    yield _counted("commands", "Commands answered.", "outcome", tally.commands)
    held = [str(bound) for bound in APPEND_SECONDS] + ["+Inf"]
    counts = [float(count) for count in accumulate(tally.appends.counts)]
    appends = HistogramMetricFamily(f"{PREFIX}append_seconds", "From an append to its acknowledgement.")
    appends.add_metric([], list(zip(held, counts, strict=True)), tally.appends.sum_seconds)
    yield appends
    yield _counted("appends_not_stored", "Appends that stored nothing.", "why", tally.not_stored)
    yield _counter("frames", "Frames put on their way to peers.", tally.frames)
    yield _counter("frame_bytes", "Bytes of those frames.", tally.frame_bytes)
    closes = {str(code): count for code, count in tally.closes.items()}
    yield _counted("closes", "Sockets that the server closed.", "code", closes)
    yield _counted("handshakes_refused", "Handshakes at /ws that were refused.", "why", tally.turned_away)
    yield _counter("deadlines_called", "Deadlines that the sweep called.", tally.deadlines)
    yield _counter("sweeps", "Looks of the sweep at deadlines.", tally.looks)
    yield _counter("damaged_games", "Games that the sweep found damaged.", tally.damaged)
    yield _counter("put_back", "Appends put back into a store that had lost them.", tally.put_back)
    yield _counter("forks", "Games whose log went another way than was shown.", tally.forks)
    yield _counter("faults", "Faults of ours that ended a loop or a socket.", tally.faults)


def _gauge(name: str, what: str, value: float) -> Metric:
    return GaugeMetricFamily(PREFIX + name, what, value)


def _counter(name: str, what: str, value: float) -> Metric:
    return CounterMetricFamily(PREFIX + name, what, value)


def _counted(name: str, what: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(PREFIX + name, what, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family


def exposition(parts: Parts, ledger: Ledger, troubles: Mapping[str, bool]) -> bytes:
    """In the Prometheus text format, version 0.0.4."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    registry.register(Numbers(parts, ledger, troubles))
    return generate_latest(registry)
