# SPDX-License-Identifier: Apache-2.0
"""The version of the installed distribution."""

import functools
import importlib.metadata


@functools.cache
def version_string() -> str:
    """Return the version from the package's metadata, for example ``19.0.0``."""
    return importlib.metadata.version('zun')
