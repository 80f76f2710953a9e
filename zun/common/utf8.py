# SPDX-License-Identifier: Apache-2.0
"""Where a run of bytes may be cut, so that no character of UTF-8 is in two pieces."""

#: Bytes of a character by the first one; what is not listed begins no character of several bytes.
_LENGTHS = dict.fromkeys(range(0xC2, 0xE0), 2)
_LENGTHS |= dict.fromkeys(range(0xE0, 0xF0), 3)
_LENGTHS |= dict.fromkeys(range(0xF0, 0xF5), 4)
#: Bounds of the second byte after some first ones.
_SECOND = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}
_LONGEST = 4


def incomplete(data: bytes) -> int:
    """How many bytes at the end begin a character that is not complete: 0 to 3.

    Bytes that can never be UTF-8 do not count.
    """
    for count in range(1, min(_LONGEST, len(data) + 1)):
        first = data[-count]
        if 0x80 <= first <= 0xBF:
            continue
        if _LENGTHS.get(first, 1) <= count:
            return 0
        low, high = _SECOND.get(first, (0x80, 0xBF))
        return count if count == 1 or low <= data[-count + 1] <= high else 0
    return 0


def split(data: bytes) -> tuple[bytes, bytes]:
    """What can be shown, and what waits for the rest of its character."""
    cut = len(data) - incomplete(data)
    return data[:cut], data[cut:]
