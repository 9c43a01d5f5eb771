"""The ledger as anybody reads it, from any origin: checkpoint, tiles, closed games, a game's witness, a player's bars.

docs/protocol.md lists the addresses, docs/audit.md gives the formats (C2SP tlog-tiles and signed-note).
"""

import asyncio
import base64

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from events import ledger, tiles
from server.archive import game_path
from server.barring import bars
from server.http import ANY_ORIGIN, Problem, export, game_of, parts_of
from server.prove import NoProof, proof
from server.query import player_of, wait_ms
from server.signer import is_signed
from server.witness import consistency, witness

FOR_EVER = {**ANY_ORIGIN, "cache-control": "public, max-age=31536000, immutable"}


async def checkpoint(request: Request) -> Response:
    signed = parts_of(request).publisher.signed
    if signed is None:
        raise Problem(404, "not_signed", "Nothing is signed yet.")
    return Response(signed.note, media_type="text/plain", headers=ANY_ORIGIN)


async def key(request: Request) -> Response:
    return Response(f"{parts_of(request).publisher.key}\n", media_type="text/plain", headers=ANY_ORIGIN)


async def tile(request: Request) -> Response:
    parts = parts_of(request)
    path = f"tile/{request.path_params['path']}"
    try:
        what = tiles.parse(path)
    except tiles.BadPath as error:
        raise Problem(404, "unknown_tile", str(error)) from error
    signed = parts.publisher.signed
    data = await parts.archive.get(path) if signed is not None and is_signed(what, signed.size) else None
    if data is None:
        raise Problem(404, "unknown_tile", "No signed tree has this tile; a partial one goes when it is full.")
    return Response(data, media_type="application/octet-stream", headers=FOR_EVER)


async def closed_game(request: Request) -> Response:
    parts, game = parts_of(request), game_of(request)
    index = await parts.ledger.find(ledger.closing(game))
    signed = parts.publisher.signed
    is_public = index is not None and signed is not None and index < signed.size
    data = await parts.archive.get(game_path(game)) if is_public else None
    if data is None:
        raise Problem(404, "unknown_game", "No signed leaf closes this game.")
    return Response(data, media_type="application/x-ndjson", headers=FOR_EVER)


async def state(request: Request) -> Response:
    parts = parts_of(request)
    # In this order, so that none waiting and all leaves signed says that every result of before is signed.
    waiting = parts.sequencer.waiting
    leaves = (await parts.ledger.head()).size
    signed = parts.publisher.signed
    body = {
        "key": str(parts.publisher.key),
        "leaves": leaves,
        "signed": signed.size if signed else 0,
        "partitions_waiting": waiting,
        "partitions_stopped": {str(number): why for number, why in sorted(parts.sequencer.alarms.items())},
        "not_signed_because": parts.publisher.refusal,
        "projections": {name: at._asdict() for name, at in parts.projector.positions().items()},
    }
    return JSONResponse(body, headers=ANY_ORIGIN)


async def growth(request: Request) -> Response:
    """Whether the signed ledger begins with the one that somebody saw: the proof, for him to check."""
    parts = parts_of(request)
    text, signed = request.query_params.get("size", ""), parts.publisher.signed
    if not text.isascii() or not text.isdigit() or len(text) > 19:
        raise Problem(400, "bad_size", "size is the number of leaves of an older checkpoint; 0 if there is none.")
    size, proved = int(text), None
    if signed is not None and size <= signed.size:
        proved = [_base64(each) for each in await consistency(parts.ledger, size, signed)] if size else []
    body = {
        "size": size,
        "proof": proved,
        "checkpoint": signed.note.decode() if signed else None,
        "key": str(parts.publisher.key),
    }
    return JSONResponse(body, headers=ANY_ORIGIN)


async def leaf(request: Request) -> Response:
    parts, text = parts_of(request), request.path_params["index"]
    signed = parts.publisher.signed
    known = text.isascii() and text.isdigit() and len(text) <= 19 and str(int(text)) == text
    if not known or signed is None or int(text) >= signed.size:
        raise Problem(404, "unknown_leaf", "The signed ledger has no such leaf.")
    found = await witness(parts.ledger, signed, int(text))
    body = {
        "index": found.index,
        "entry": _base64(found.entry),
        "proof": [_base64(each) for each in found.proof],
        "checkpoint": signed.note.decode(),
        "key": str(parts.publisher.key),
    }
    return JSONResponse(body, headers=ANY_ORIGIN)


async def game_proof(request: Request) -> Response:
    """The saved game, behind its place in the ledger as soon as that is signed."""
    parts, game = parts_of(request), game_of(request)
    try:
        data = await proof(parts.ledger, parts.archive, parts.publisher.signed, parts.publisher.key, game)
    except NoProof:
        return await export(request)
    headers = {**ANY_ORIGIN, "Content-Disposition": f'attachment; filename="{game.hex()}.jsonl"'}
    return Response(data, media_type="application/x-ndjson", headers=headers)


async def game_witness(request: Request) -> Response:
    parts, game = parts_of(request), game_of(request)
    end = asyncio.get_running_loop().time() + wait_ms(request) / 1000

    def left() -> float:
        return max(0.0, end - asyncio.get_running_loop().time())

    if (await parts.log.head(game)).version == 0 and await parts.ledger.find(ledger.opening(game)) is None:
        raise Problem(404, "unknown_game", "There is no such game.")
    index = await parts.sequencer.entered(ledger.opening(game), left())
    signed = await parts.publisher.covers(index, left()) if index is not None else None
    body = {"game": game.hex(), "witnessed": signed is not None, "key": str(parts.publisher.key)}
    if index is not None and signed is not None:
        found = await witness(parts.ledger, signed, index)
        body |= {
            "index": index,
            "entry": _base64(found.entry),
            "proof": [_base64(each) for each in found.proof],
            "checkpoint": signed.note.decode(),
        }
    return JSONResponse(body, headers=ANY_ORIGIN)


async def player_bars(request: Request) -> Response:
    player = player_of(request.path_params["player"])
    found = await bars(parts_of(request).ledger, player)
    told = [
        {
            "index": each.index,
            "at_ms": each.barred.at_ms,
            "reason": each.barred.reason,
            "lifted_index": each.lifted_index,
            "lifted_at_ms": each.lifted.at_ms if each.lifted else None,
        }
        for each in found
    ]
    body = {"player": player.hex(), "barred": any(each.lifted is None for each in found), "bars": told}
    return JSONResponse(body, headers=ANY_ORIGIN)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def routes() -> list[Route]:
    return [
        Route("/checkpoint", checkpoint),
        Route("/ledger.vkey", key),
        Route("/tile/{path:path}", tile),
        Route("/games/{game}.jsonl", closed_game),
        Route("/api/ledger", state),
        Route("/api/ledger/consistency", growth),
        Route("/api/ledger/leaves/{index}", leaf),
        Route("/api/games/{game}/proof", game_proof),
        Route("/api/games/{game}/witness", game_witness),
        Route("/api/players/{player}/bars", player_bars),
    ]
