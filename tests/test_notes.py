"""Notes, keys and checkpoints: the published ones to the byte, and no changed byte taken."""

import base64
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events import notes
from events.notes import BadCheckpoint, BadKey, BadNote, Checkpoint, Note, Signer, VerifierKey
from tests.tlog import KNOWN, flipped

# golang/mod sumdb/note/note_test.go (BSD-3-Clause), at the commit that vectors/tlog.json names.
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETER_PRIVATE = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
ENOCH = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
PETER_LINE = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
ENOCH_LINE = (
    "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n"
)
# C2SP signed-note.md, Example (CC BY 4.0).
FOO = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
FOO_NOTE = """This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
"""
# The key of a public checksum log, and its signature as C2SP tlog-checkpoint.md shows it under another name.
SUM = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
SUM_SIGNATURE = "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8="

FORMAT = KNOWN["checkpoint_format"]
anywhere = settings(deadline=None)
peter, enoch = VerifierKey.parse(PETER), VerifierKey.parse(ENOCH)

SIGNER = Signer("statecraft.example/ledger", bytes(range(32)))
OTHER = Signer("witness.example", bytes(range(1, 33)))
ORIGIN = SIGNER.key.name
CHECKPOINT = Checkpoint(ORIGIN, 70_000, sha256(b"root").digest())
SIGNED = notes.sign(str(CHECKPOINT), SIGNER)


def refused(note: bytes, *keys: VerifierKey) -> bool:
    try:
        notes.read(note, keys)
    except BadNote:
        return True
    return False


def test_the_published_key_signs_the_published_note_to_the_byte() -> None:
    signer = Signer("PeterNeumann", PETER_PRIVATE)
    assert str(signer.key) == PETER
    assert notes.sign(TEXT, signer).decode() == TEXT + "\n" + PETER_LINE


def test_the_published_notes_are_verified() -> None:
    foo = VerifierKey.parse(FOO)
    note = notes.read(FOO_NOTE.encode(), [foo])
    assert note.text == "This is an example message.\n"
    assert [(each.name, each.id.hex()) for each in note.verified] == [("example.com/foo", "530d903a")]
    both = notes.read((TEXT + "\n" + PETER_LINE + ENOCH_LINE).encode(), [peter, enoch])
    assert [str(each) for each in both.verified] == [PETER_LINE, ENOCH_LINE]


def test_the_published_signature_of_a_real_log_is_verified_over_its_own_text_only() -> None:
    origin, size, root, _ = FORMAT["c2sp_example_body"].split("\n")
    line = f"\n— sum.golang.org {SUM_SIGNATURE}\n"
    own = f"{KNOWN['checkpoint_format']['log_id_formats']['origin']}\n{size}\n{root}\n"
    note = notes.read((own + line).encode(), [VerifierKey.parse(SUM)])
    assert Checkpoint.parse(note.text, "go.sum database tree").size == 20_852_163
    assert refused((FORMAT["c2sp_example_body"] + line).encode(), VerifierKey.parse(SUM))
    assert Checkpoint.parse(FORMAT["c2sp_example_body"], origin).size == 20_852_163


def test_a_signature_of_a_key_nobody_knows_is_put_aside() -> None:
    note = notes.read((TEXT + "\n" + ENOCH_LINE + PETER_LINE + ENOCH_LINE).encode(), [peter])
    assert [str(each) for each in note.verified] == [PETER_LINE]
    assert [str(each) for each in note.unknown] == [ENOCH_LINE, ENOCH_LINE]
    namesake = Signer("PeterNeumann", bytes(32))
    assert len(notes.read(notes.sign(TEXT, namesake, Signer("PeterNeumann", PETER_PRIVATE)), [peter]).unknown) == 1


def test_a_note_that_no_known_key_has_signed_is_refused() -> None:
    with pytest.raises(BadNote, match=r"no known key has signed, only .*EnochRoot"):
        notes.read((TEXT + "\n" + ENOCH_LINE).encode(), [peter])
    assert refused((TEXT + "\n" + PETER_LINE).encode())


def test_one_false_signature_of_a_known_key_refuses_the_note() -> None:
    false = ENOCH_LINE[:60] + "ABCD" + ENOCH_LINE[64:]
    assert not refused((TEXT + "\n" + PETER_LINE + false).encode(), peter)
    with pytest.raises(BadNote, match="EnochRoot doesn't fit"):
        notes.read((TEXT + "\n" + PETER_LINE + false).encode(), [peter, enoch])
    for wrong in (PETER_LINE[:60] + "ABCD" + PETER_LINE[60:], "— PeterNeumann x08go/Y=\n"):
        with pytest.raises(BadNote):
            notes.read((TEXT + "\n" + wrong).encode(), [peter])


def test_a_key_signs_once() -> None:
    with pytest.raises(BadNote, match="PeterNeumann has signed twice"):
        notes.read((TEXT + "\n" + PETER_LINE + PETER_LINE).encode(), [peter])
    assert not refused((TEXT + "\n" + PETER_LINE).encode(), peter, peter)


def test_two_keys_of_one_name_and_id_are_refused() -> None:
    class Twin(VerifierKey):
        @property
        def id(self) -> bytes:
            return peter.id

    with pytest.raises(BadKey, match="two keys"):
        notes.read((TEXT + "\n" + PETER_LINE).encode(), [peter, Twin("PeterNeumann", bytes(32))])


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"\n",
        b"\n\n",
        TEXT.encode(),
        (TEXT + "\n").encode(),
        (TEXT + PETER_LINE).encode(),
        (TEXT + "\n" + PETER_LINE[:-1]).encode(),
        (TEXT + "\n" + PETER_LINE + "\n").encode(),
        (TEXT + "\n" + PETER_LINE).replace("\n", "\r\n").encode(),
        b"\x01" + (TEXT + "\n" + PETER_LINE).encode(),
        b"\xff" + (TEXT + "\n" + PETER_LINE).encode(),
        b"\xed\xa0\x80" + (TEXT + "\n" + PETER_LINE).encode(),
        (TEXT + "\n" + PETER_LINE + ENOCH_LINE * 100).encode(),
    ],
)
def test_what_is_not_written_like_a_note_is_refused(note: bytes) -> None:
    assert refused(note, peter)


@pytest.mark.parametrize(
    "line",
    [
        "Unexpected line.\n",
        "EnochRoot rwz+eBzm\n",
        ENOCH_LINE.replace("—", "-"),
        ENOCH_LINE.replace("— ", "—"),
        ENOCH_LINE.replace("EnochRoot", "Enoch Root"),
        ENOCH_LINE.replace("EnochRoot", "Enoch\u2003Root"),
        ENOCH_LINE.replace("EnochRoot", "Enoch+Root"),
        ENOCH_LINE.replace("EnochRoot", ""),
        ENOCH_LINE.replace("=\n", "\n"),
        ENOCH_LINE.replace("QQ=\n", "QR=\n"),
        ENOCH_LINE.replace("=\n", "= \n"),
        ENOCH_LINE.replace("+", "-").replace("/", "_"),
        "— EnochRoot\n",
        "— EnochRoot \n",
        "— EnochRoot rwz+\n",
        "— EnochRoot rwz+eA==\n",
    ],
)
def test_a_malformed_line_refuses_the_note_even_beside_a_good_one(line: str) -> None:
    assert not refused((TEXT + "\n" + PETER_LINE + ENOCH_LINE).encode(), peter)
    for lines in (PETER_LINE + line, line + PETER_LINE):
        assert refused((TEXT + "\n" + lines).encode(), peter)


def test_no_signature_makes_a_text_with_control_characters_a_note() -> None:
    for text, taken in (("plain\n", True), ("tab\t\n", False), ("return\r\n", False), ("null\0\n", False)):
        note = f"{text}\n{SIGNER.signature(text)}".encode()
        assert refused(note, SIGNER.key) is not taken


def test_a_note_is_a_million_bytes_at_most() -> None:
    longest = notes.NOTE_BYTES_MAX - len(notes.sign("\n", SIGNER))
    assert not refused(notes.sign("a" * longest + "\n", SIGNER), SIGNER.key)
    assert refused(notes.sign("a" * (longest + 1) + "\n", SIGNER), SIGNER.key)


def test_as_many_signatures_as_the_specification_demands_are_taken() -> None:
    signers = [Signer(f"witness-{number}.example", bytes([number] * 32)) for number in range(16)]
    note = notes.sign(TEXT, *signers)
    assert len(notes.read(note, [each.key for each in signers]).verified) == 16


def test_no_flipped_bit_of_a_note_is_taken() -> None:
    assert not refused(SIGNED, SIGNER.key)
    for at in range(len(SIGNED)):
        for bit in range(8):
            assert refused(flipped(SIGNED, at, bit), SIGNER.key)


@anywhere
@given(st.data())
def test_no_changed_lost_or_added_byte_of_a_note_is_taken(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(SIGNED)))
    end = data.draw(st.integers(start, min(start + 3, len(SIGNED))))
    changed = SIGNED[:start] + data.draw(st.binary(max_size=3)) + SIGNED[end:]
    assert changed == SIGNED or refused(changed, SIGNER.key)


WRITABLE = st.characters(codec="utf-8", exclude_characters=[chr(each) for each in range(32) if each != 10])


@anywhere
@given(st.text(WRITABLE), st.booleans())
def test_any_text_comes_back_from_its_note(text: str, both: bool) -> None:
    text += "\n"
    note = notes.sign(text, SIGNER, OTHER)
    verified, unknown = (SIGNER.signature(text), OTHER.signature(text)), ()
    if both:
        assert notes.read(note, [OTHER.key, SIGNER.key]) == Note(text, verified, unknown)
    else:
        assert notes.read(note, [OTHER.key]) == Note(text, verified[1:], verified[:1])


@anywhere
@given(st.binary(max_size=300))
def test_whatever_comes_is_refused_and_breaks_nothing(body: bytes) -> None:
    assert refused(body, SIGNER.key)
    assert refused(SIGNED[: len(body)] + body, SIGNER.key)


@pytest.mark.parametrize("text", ["", "no newline", "\n ", "tab\t\n", "\r\n", "\0\n", "\ud800\n"])
def test_a_text_that_can_not_stand_in_a_note_is_not_signed(text: str) -> None:
    with pytest.raises(BadNote):
        notes.sign(text, SIGNER)


@pytest.mark.parametrize("text", [PETER, ENOCH, FOO, SUM, str(SIGNER.key)])
def test_a_verifier_key_is_written_as_it_is_read(text: str) -> None:
    assert str(VerifierKey.parse(text)) == text


def test_no_part_of_a_verifier_key_and_no_changed_one_is_taken() -> None:
    parts = [PETER[start:end] for start in range(len(PETER)) for end in range(start + 1, len(PETER) + 1)]
    higher = [PETER[:at] + chr(ord(PETER[at]) + 1) + PETER[at + 1 :] for at in range(len(PETER))]
    for wrong in (*parts[:-1], *higher):
        if wrong != PETER:
            with pytest.raises(BadKey):
                VerifierKey.parse(wrong)


@pytest.mark.parametrize(
    "text",
    [
        KNOWN["bad_vkeys"]["wrong_length"],
        KNOWN["bad_vkeys"]["unknown_algorithm"],
        "",
        "++",
        PETER.replace("c74f20a3", "C74F20A3"),
        PETER.replace("c74f20a3", "0c74f20a3"),
        PETER + "=",
        PETER + "\n",
        PETER.replace("PeterNeumann", "Peter Neumann"),
    ],
)
def test_a_wrong_verifier_key_is_refused(text: str) -> None:
    with pytest.raises(BadKey):
        VerifierKey.parse(text)


def test_a_key_of_another_algorithm_is_refused_as_that() -> None:
    with pytest.raises(BadKey, match="no Ed25519 key"):
        VerifierKey.parse(KNOWN["bad_vkeys"]["unknown_algorithm"])


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u00a0b", "a\u2028b", "a\u0085b", "\ud800", "\x1f"])
def test_a_name_without_spaces_and_pluses_is_demanded(name: str) -> None:
    with pytest.raises(BadKey):
        Signer(name, bytes(32))


def test_a_private_key_has_32_bytes_and_is_shown_nowhere() -> None:
    for wrong in (b"", bytes(31), bytes(33)):
        with pytest.raises(BadKey, match=f"{len(wrong)} came"):
            Signer("a", wrong)
    shown = repr(SIGNER) + str(SIGNER.key) + repr(SIGNER.key)
    private = bytes(range(32))
    assert all(each not in shown for each in (repr(private)[2:-1], private.hex(), base64.b64encode(private).decode()))


def test_a_public_key_that_is_no_point_verifies_nothing() -> None:
    for public in (b"\xff" * 32, b"\x02" + bytes(31)):
        key = VerifierKey("a", public)
        line = f"— a {base64.b64encode(key.id + bytes(64)).decode()}\n"
        assert refused((TEXT + "\n" + line).encode(), key)


def test_the_published_checkpoint_comes_out_and_is_read() -> None:
    golden = FORMAT["golden"]
    origin = golden["text"].partition("\n")[0]
    checkpoint = Checkpoint(origin, golden["size"], base64.b64decode(golden["hash_b64"]))
    assert str(checkpoint) == golden["text"]
    assert Checkpoint.parse(golden["text"], origin) == checkpoint
    for wrong in (FORMAT["must_refuse"][0], golden["text"].replace(str(golden["size"]), "0xabcdef")):
        with pytest.raises(BadCheckpoint):
            Checkpoint.parse(wrong, origin)


HASH = base64.b64encode(bytes(32)).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "log\n",
        "log\n1\n",
        f"log\n1\n{HASH}",
        f"log\n1\n{HASH}\n\n",
        f"log\n1\n{HASH}\nmore",
        f"log\n1\n{HASH}\n\nmore\n",
        f"\n1\n{HASH}\n",
        f"log \n1\n{HASH}\n",
        f"other\n1\n{HASH}\n",
        f"log\n\n{HASH}\n",
        f"log\n01\n{HASH}\n",
        f"log\n+1\n{HASH}\n",
        f"log\n-1\n{HASH}\n",
        f"log\n1 \n{HASH}\n",
        f"log\n1_0\n{HASH}\n",
        f"log\n1.0\n{HASH}\n",
        f"log\n١\n{HASH}\n",
        f"log\n9223372036854775808\n{HASH}\n",
        f"log\n{'9' * 5000}\n{HASH}\n",
        f"log\n1\n{HASH[:-1]}\n",
        f"log\n1\n{HASH} \n",
        f"log\n1\n{HASH[4:]}\n",
        f"log\n1\nAAAA{HASH}\n",
        f"log\n1\n{HASH[:-2]}B=\n",
        f"log\r\n1\r\n{HASH}\r\n",
    ],
)
def test_what_is_not_written_like_a_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(BadCheckpoint):
        Checkpoint.parse(text, "log")


@anywhere
@given(
    st.text(WRITABLE, min_size=1).map(lambda text: text.replace("\n", " ")),
    st.integers(0, notes.SIZE_MAX),
    st.binary(min_size=32, max_size=32),
    st.lists(st.text(WRITABLE, min_size=1).map(lambda text: text.replace("\n", " ")), max_size=3),
)
def test_any_checkpoint_is_read_as_it_was_signed(origin: str, size: int, root: bytes, more: list[str]) -> None:
    checkpoint = Checkpoint(origin, size, root, tuple(more))
    note = notes.read(notes.sign(str(checkpoint), SIGNER), [SIGNER.key])
    assert Checkpoint.parse(note.text, origin) == checkpoint


def test_only_what_can_be_written_is_a_checkpoint() -> None:
    for origin, size, root, more in (
        ("", 0, bytes(32), ()),
        ("a\nb", 0, bytes(32), ()),
        ("log", -1, bytes(32), ()),
        ("log", 1 << 63, bytes(32), ()),
        ("log", 0, bytes(31), ()),
        ("log", 0, bytes(32), ("",)),
    ):
        with pytest.raises(AssertionError):
            Checkpoint(origin, size, root, more)
