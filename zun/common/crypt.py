# SPDX-License-Identifier: Apache-2.0
"""Encryption of the registry passwords at rest.

``[DEFAULT]/auth_encryption_key`` holds one key, or several separated by commas: the first
encrypts, all decrypt, so that keys can be rotated. Of each key the first 32 characters count.
"""

import base64

from cryptography import fernet

from zun.common import exception
import zun.conf
from zun.conf import base

CONF = zun.conf.CONF
_KEY_LENGTH = 32


def _keys() -> list[fernet.Fernet]:
    keys = []
    for number, text in enumerate(CONF.auth_encryption_key.split(','), 1):
        raw = text[:_KEY_LENGTH].encode()
        if len(raw) != _KEY_LENGTH:
            raise exception.InvalidEncryptionKey(key=f'number {number}')
        keys.append(fernet.Fernet(base64.urlsafe_b64encode(raw)))
    return keys


def is_public() -> bool:
    """Whether the key that encrypts is the default, which everybody knows."""
    key, public = CONF.auth_encryption_key.partition(',')[0], base.DEFAULT_ENCRYPTION_KEY
    return key[:_KEY_LENGTH] == public[:_KEY_LENGTH]


def encrypt(text: str) -> str:
    """Fernet token of a secret.

    :raises InvalidEncryptionKey: a configured key is shorter than 32 characters
    """
    return _keys()[0].encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    """The secret in a Fernet token.

    :raises InvalidEncryptionKey: no configured key opens it
    """
    try:
        return fernet.MultiFernet(_keys()).decrypt(token.encode()).decode()
    except fernet.InvalidToken:
        raise exception.InvalidEncryptionKey(key='configured') from None


def renewed(token: str) -> str:
    """The same secret under the first key; the token itself when that key made it.

    :raises InvalidEncryptionKey: no configured key opens it
    """
    try:
        _keys()[0].decrypt(token.encode())
    except fernet.InvalidToken:
        return encrypt(decrypt(token))
    return token
