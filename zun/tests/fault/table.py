# SPDX-License-Identifier: Apache-2.0
"""Prints what the tests noted in the file of $ZUN_TEST_FAULT_TABLE: kill points and outcomes.

    python -m zun.tests.fault.table FILE
"""

import json
import pathlib
import sys


def text(lines: list[list[str]]) -> str:
    """A table in columns."""
    rows = [['operation', 'killed at', 'outcome'], *lines]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return '\n'.join('  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                     .rstrip() for row in rows)


def main() -> None:
    found = pathlib.Path(sys.argv[1])
    lines = [json.loads(line) for line in found.read_text().splitlines()] if found.exists() else []
    print(text(lines))  # noqa: T201


if __name__ == '__main__':
    main()
