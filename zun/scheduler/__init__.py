# SPDX-License-Identifier: Apache-2.0
"""Where containers go: candidates of the ledger, filters, weights, a claim."""
