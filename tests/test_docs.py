"""What the documents say, held to the code: every example, every reason, every code, every hash."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import msgspec
import pytest

from events.entries import Barred, Closing, Imported, Lifted, Opening
from projections.audit import NOT_PROVED
from projections.whole import CLOSED_MS_MAX
from rules.catalogue import FACTS
from rules.fifty_states import FIFTY_STATES, Position
from rules.game import Reason, Table
from rules.war import CLASSIC
from rules.war import Position as WarPosition
from server import leaderboards, outgoing, personal, players, public, wire
from server.connection import BURST, RATE
from server.http import routes
from server.wire import FRAME_BYTES_MAX, JSON, MSGPACK, Code, Do, ToClient, Trouble
from tests.positions import war_game

ROOT = Path(__file__).parent.parent
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text()
AUDIT = (ROOT / "docs" / "audit.md").read_text()


def examples(kind: str) -> list[str]:
    blocks = re.findall(rf"```json {kind}\n(.*?)```", PROTOCOL, re.S)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.mark.parametrize("example", examples("client"))
def test_every_example_from_the_client_is_a_message_the_server_takes(example: str) -> None:
    message = wire.message(JSON, example)
    again: object = message
    if isinstance(message, Do):
        command = wire.command(FIFTY_STATES, JSON, bytes(message.command))
        told = {field.name: getattr(command, field.name) for field in fields(command)}
        again = {**json.loads(example), "command": {"do": type(command).__name__, **told}}
    packed = wire.message(MSGPACK, msgspec.msgpack.encode(again))
    assert type(packed) is type(message)
    if isinstance(packed, Do):
        assert wire.command(FIFTY_STATES, MSGPACK, bytes(packed.command)) == command


@pytest.mark.parametrize("example", examples("server"))
def test_every_example_from_the_server_is_a_message_of_its_types(example: str) -> None:
    message = msgspec.json.decode(example, type=ToClient)
    assert json.loads(JSON.encode(message)) == json.loads(example)


def test_every_message_type_has_an_example() -> None:
    shown = {json.loads(example)["type"] for example in (*examples("client"), *examples("server"))}
    assert shown == {
        type_.__struct_config__.tag for union in (wire.FromClient, wire.ToClient) for type_ in union.__args__
    }


def test_the_example_of_a_table_is_one_to_the_last_field() -> None:
    (block,) = re.findall(r"```json table\n(.*?)```", PROTOCOL, re.S)
    values = json.loads(block)
    position = msgspec.convert(values["position"], Position)
    table = replace(msgspec.convert({**values, "position": None}, Table), position=position)
    assert msgspec.json.decode(msgspec.json.encode(table)) == values


def test_the_example_of_a_war_is_the_fifth_battle_of_seed_12() -> None:
    (block,) = re.findall(r"```json war\n(.*?)```", PROTOCOL, re.S)
    values = json.loads(block)
    played = war_game(CLASSIC, seed=12)
    for _ in range(5):
        played.turn()
    assert msgspec.convert(values, WarPosition) == played.table.position
    assert msgspec.json.decode(msgspec.json.encode(played.table.position)) == values


def test_every_reason_is_explained() -> None:
    table = PROTOCOL[PROTOCOL.index("## Reasons") : PROTOCOL.index("## Limits")]
    explained = set(
        re.findall(r"`([a-z_]+)`", "\n".join(row.split("|")[1] for row in table.splitlines() if "|" in row))
    )
    assert explained == {*Reason, *Trouble}


def test_every_close_code_and_limit_is_documented() -> None:
    limits = PROTOCOL[PROTOCOL.index("## Limits") :]
    assert {str(int(code)) for code in Code} <= set(re.findall(r"\b\d{4}\b", limits))
    assert f"{FRAME_BYTES_MAX:,} bytes" in limits
    assert f"{RATE:.0f} messages a second, {BURST:.0f} in a burst" in limits
    assert outgoing.OUTGOING_BYTES_MAX == 1 << 20


def test_every_address_is_documented() -> None:
    for route in (*routes(), *public.routes(), *leaderboards.routes(), *players.routes(), *personal.routes()):
        if route.path != "/healthz":
            for method in (route.methods or set()) - {"HEAD"}:
                path = re.sub(r"\{(\w+)(:path)?\}", r"<\1>", route.path)
                assert f"`{method} {path}`" in PROTOCOL, (method, path)


def test_every_fact_is_documented_with_its_fields_in_order() -> None:
    for name, fact in FACTS.items():
        (row,) = re.findall(rf"^\| `{name}` \| (.*) \|$", AUDIT, re.M)
        if name not in ("Dealt", "TimeUp", "Captured"):
            places = [row.find(field.name) for field in fields(fact)]
            assert -1 not in places
            assert places == sorted(places)


@pytest.mark.parametrize("entry", [Opening, Closing, Imported, Barred, Lifted])
def test_every_entry_of_the_ledger_is_documented_with_its_fields_in_order(entry: type) -> None:
    (opening,) = re.findall(r"^\| `Opening` \| (.*) \|$", AUDIT, re.M)
    (row,) = re.findall(rf"^\| `{entry.__name__}` \| (.*) \|$", AUDIT, re.M)
    row = re.sub(r"\[rival \(str\)", "[", row)  # what stands inside a list is no field
    listed = re.findall(r"(\w+) \(", row.replace("the fields of `Opening`, then", opening + ","))
    assert listed == [field.name for field in fields(entry) if field.name != "after"]


def test_the_days_until_an_opening_must_be_closed_are_documented() -> None:
    assert f"{CLOSED_MS_MAX:,} ms" in AUDIT


def test_the_examples_of_a_witness_have_what_the_address_gives() -> None:
    told, untold = map(json.loads, examples("witness"))
    assert untold.keys() == {"game", "witnessed", "key"}
    assert told.keys() == untold.keys() | {"index", "entry", "proof", "checkpoint"}


def test_the_example_of_a_grown_ledger_has_what_the_address_gives() -> None:
    (told,) = map(json.loads, examples("consistency"))
    assert told.keys() == {"size", "proof", "checkpoint", "key"}


def test_every_domain_string_of_the_code_is_documented() -> None:
    code = "\n".join(path.read_text() for floor in ("rules", "events") for path in (ROOT / floor).glob("*.py"))
    domains = set(re.findall(r'b"(statecraft [a-z-]+ v\d)\\0"', code))
    assert len(domains) == 13
    for domain in domains:
        assert domain in AUDIT


def test_what_no_file_can_show_is_said_in_the_same_words_everywhere() -> None:
    section = AUDIT[AUDIT.index("## What no file can show") :].split("\n\n")[1]
    bullets = [" ".join(bullet.split()).rstrip(";.") for bullet in f"\n{section}".split("\n- ")[1:]]
    assert bullets == list(NOT_PROVED)
