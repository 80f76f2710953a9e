# SPDX-License-Identifier: Apache-2.0
"""Names of containers that users leave unnamed."""

import random

_LETTERS = (
    'alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'eta', 'theta', 'iota', 'kappa',
    'lambda', 'mu', 'nu', 'xi', 'omicron', 'pi', 'rho', 'sigma', 'tau', 'upsilon', 'phi', 'chi',
    'psi', 'omega')
_MOST = 255


def _word() -> str:
    return f'{random.choice(_LETTERS)}-{random.randint(1, 24)}'


def container_name() -> str:
    """A name such as ``zeta-22-container``. It need not be unique."""
    return f'{_word()}-container'


def member_name(capsule: str) -> str:
    """A name such as ``capsule-web-pi-3``, of at most 255 characters.

    :param capsule: name of the capsule, else its uuid
    """
    tail = f'-{_word()}'
    return f'capsule-{capsule}'[:_MOST - len(tail)] + tail
