# SPDX-License-Identifier: Apache-2.0
"""Prints what the tests noted in the file of $ZUN_TEST_FAULT_TABLE: kill points and outcomes.

    python -m zun.tests.fault.table FILE [--all]

With --all it fails when something of the table of fail points was killed nowhere.
"""

import json
import pathlib
import sys

from zun.tests.fault import points


def text(lines: list[list[str]]) -> str:
    """A table in columns."""
    rows = [['operation', 'killed at', 'outcome'], *lines]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return '\n'.join('  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                     .rstrip() for row in rows)


def missing(lines: list[list[str]]) -> list[str]:
    """Operations and points of theirs at which no agent was killed."""
    killed = {(line[0], line[1]) for line in lines}
    return [f'{each.name} at {point}' for each in points.TABLE for point in each.points
            if (each.name, point) not in killed]


def main() -> None:
    found = pathlib.Path(sys.argv[1])
    lines = [json.loads(line) for line in found.read_text().splitlines()] if found.exists() else []
    print(text(lines))  # noqa: T201
    left = missing(lines) if '--all' in sys.argv[2:] else []
    if left:
        sys.exit('Nothing was killed in: ' + ', '.join(left))


if __name__ == '__main__':
    main()
