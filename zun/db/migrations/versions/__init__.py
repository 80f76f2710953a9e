# SPDX-License-Identifier: Apache-2.0
"""One step each. Ours are additive, so that upstream still runs on the result, and repeatable."""
