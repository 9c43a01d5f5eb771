"""What a Lua script is to us: its text, and the hash that the server knows it by."""

from hashlib import sha1


class Script:
    """A Lua script that runs whole: each checks everything before its first write. Memory, role and replicas are
    checked by the server before it begins (Redis 7.0, Lua script flags)."""

    def __init__(self, text: str, flags: str = "") -> None:
        self.text = f"#!lua{f' flags={flags}' if flags else ''}\n{text}"
        self.hash = sha1(self.text.encode(), usedforsecurity=False).hexdigest()
