"""Seal with AES-256-GCM. A passphrase is stretched with scrypt; the bytes of a key file are mixed with the salt."""

import secrets
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from commonplace.domain.errors import InvalidInput

KEY, NONCE = 32, 12
COST = 2**15
"""Of scrypt: 32 MB and a tenth of a second for each guess at a passphrase."""


@dataclass(frozen=True, slots=True)
class PassphraseSeal:
    passphrase: str = field(repr=False)

    def begin(self, salt: bytes) -> "AesSealer":
        kdf = Scrypt(salt=salt, length=KEY, n=COST, r=8, p=1)
        return AesSealer(kdf.derive(self.passphrase.encode("utf-8", "surrogatepass")))


@dataclass(frozen=True, slots=True)
class KeySeal:
    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) < KEY:
            raise InvalidInput(f"snapshot_key_file: holds {len(self.key)} bytes; expected {KEY} or more random ones")

    def begin(self, salt: bytes) -> "AesSealer":
        return AesSealer(HKDF(SHA256(), length=KEY, salt=salt, info=b"commonplace snapshot").derive(self.key))


class AesSealer:
    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def close(self, data: bytes, *, place: str) -> bytes:
        nonce = secrets.token_bytes(NONCE)
        return nonce + self._cipher.encrypt(nonce, data, place.encode())

    def open(self, data: bytes, *, place: str) -> bytes:
        try:
            return self._cipher.decrypt(data[:NONCE], data[NONCE:], place.encode())
        except InvalidTag:
            raise InvalidInput(f"{place}: the key does not fit, or the data was changed") from None
