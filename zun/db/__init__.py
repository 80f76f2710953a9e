# SPDX-License-Identifier: Apache-2.0
"""The database: tables, queries (one module per aggregate), migrations."""
