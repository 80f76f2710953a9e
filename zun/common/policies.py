# SPDX-License-Identifier: Apache-2.0
"""Where the entry point of oslo.policy.policies finds the rules."""

from zun.policies import list_rules

__all__ = ['list_rules']
