# SPDX-License-Identifier: Apache-2.0
"""The place where deployments look for the application; it is built by :mod:`zun.wsgi.api`."""

import importlib
import typing as ty


def init_application() -> ty.Any:
    """The application of this process, for the script ``zun-api-wsgi``."""
    # Entry points lie above this layer, so that this one is named instead of imported.
    return importlib.import_module('zun.wsgi.api').application
