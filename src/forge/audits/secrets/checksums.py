"""Tokens that carry a checksum: where it is right, nobody made the token up."""

import zlib

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PREFIX, _BODY, _SUM = 4, 30, 6


def has_checksum(token: bytes) -> bool:
    """GitHub's and npm's: four characters, thirty at random, and their CRC32 in base 62."""
    if len(token) != _PREFIX + _BODY + _SUM:
        return False
    body, given = token[_PREFIX : _PREFIX + _BODY], token[_PREFIX + _BODY :]
    return checksum(body) == given


def checksum(body: bytes) -> bytes:
    number, text = zlib.crc32(body), ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        text = _DIGITS[digit] + text
    return text.rjust(_SUM, "0").encode()
