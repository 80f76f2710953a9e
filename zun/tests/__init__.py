# SPDX-License-Identifier: Apache-2.0
"""The tests. As in every program of Zun, the libraries work with native threads."""

from zun.common import threads  # noqa: F401
