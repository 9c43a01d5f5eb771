"""Proofs under a signed checkpoint, of a leaf or of an older tree: what anybody can check with the public key alone."""

from dataclasses import dataclass

from events import ledger, merkle
from events.ledger import Ledger
from server.signer import Signed


@dataclass(frozen=True, slots=True)
class Witness:
    index: int
    entry: bytes
    proof: tuple[bytes, ...]
    signed: Signed


async def witness(ledger_: Ledger, signed: Signed, index: int) -> Witness:
    """Of a leaf under `signed`."""
    size = signed.size
    nodes = [node for leaves in merkle.inclusion_leaves(index, size) for node in merkle.nodes(leaves)]
    proof = merkle.inclusion(index, size, await ledger.read(ledger_, nodes))
    (entry,) = await ledger_.leaves(index, 1)
    merkle.check_inclusion(index, size, merkle.leaf_hash(entry), proof, signed.checkpoint.root)
    return Witness(index, entry, proof, signed)


async def consistency(ledger_: Ledger, size: int, signed: Signed) -> tuple[bytes, ...]:
    """That the tree under `signed` begins with the one of `size` leaves, which is neither empty nor larger."""
    nodes = [node for leaves in merkle.consistency_leaves(size, signed.size) for node in merkle.nodes(leaves)]
    return merkle.consistency(size, signed.size, await ledger.read(ledger_, nodes))
