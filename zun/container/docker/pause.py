# SPDX-License-Identifier: Apache-2.0
"""An image with one small program that holds the namespaces of a capsule, for any host without one.

The program waits for SIGTERM or SIGINT and ends. It is so small that it is kept as machine code.
"""

import io
import platform
import struct
import tarfile

#: Named by what it does, so that another program gets another tag.
NAME, TAG = 'zun/pause', '1'
PROGRAM = '/pause'

_BASE = 0x400000
_HEADERS = 64 + 56
_X86_64 = 62
_CODE = {
    'x86_64': (_X86_64, bytes.fromhex(
        '48c7c0ffffffff'    # mov  rax, -1
        '50'                # push rax               a set of all signals
        '31d2'              # xor  edx, edx
        '4889e6'            # mov  rsi, rsp
        'bf02000000'        # mov  edi, 2            SIG_SETMASK
        '41ba08000000'      # mov  r10d, 8
        'b80e000000'        # mov  eax, 14           rt_sigprocmask
        '0f05'              # syscall
        '6802400000'        # push 0x4002            SIGTERM and SIGINT
        '4889e7'            # mov  rdi, rsp          <- again
        '31f6'              # xor  esi, esi
        '31d2'              # xor  edx, edx
        '41ba08000000'      # mov  r10d, 8
        'b880000000'        # mov  eax, 128          rt_sigtimedwait
        '0f05'              # syscall
        '85c0'              # test eax, eax
        '78e8'              # js   again
        '31ff'              # xor  edi, edi
        'b83c000000'        # mov  eax, 60           exit
        '0f05')),           # syscall
}


def program(machine: str) -> bytes | None:
    """An ELF executable; None: not for this kind of machine.

    :param machine: as the kernel names it
    """
    if machine not in _CODE:
        return None
    number, code = _CODE[machine]
    size = _HEADERS + len(code)
    header = struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\x02\x01\x01', 2, number, 1,
                         _BASE + _HEADERS, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack('<IIQQQQQQ', 1, 5, 0, _BASE, _BASE, size, size, 0x1000)
    return header + segment + code


def archive(machine: str = platform.machine()) -> bytes | None:
    """The image's one layer, as a tar; None: not for this kind of machine."""
    content = program(machine)
    if content is None:
        return None
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode='w') as tar:
        entry = tarfile.TarInfo(PROGRAM.lstrip('/'))
        entry.size, entry.mode = len(content), 0o755
        tar.addfile(entry, io.BytesIO(content))
    return stream.getvalue()
