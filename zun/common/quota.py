# SPDX-License-Identifier: Apache-2.0
"""The names that ``[quota]/driver`` may have."""


class DbQuotaDriver:
    """Limits and use are in the database."""

    LIMITED = True


class NoopQuotaDriver:
    """There are no limits, and use is not shown."""

    LIMITED = False
