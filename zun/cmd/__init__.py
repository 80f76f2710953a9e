# SPDX-License-Identifier: Apache-2.0
"""Programs of Zun, all on native threads."""

from zun.common import threads  # noqa: F401  before anything else is imported
