# SPDX-License-Identifier: Apache-2.0
"""Native threads for every library, chosen when this module is imported: before all others.

oslo.service is told to use threads. eventlet, which other packages bring along, is made
unimportable: futurist would load it wherever it is installed.
"""

import sys

sys.modules['eventlet'] = None  # type: ignore[assignment]

from oslo_service import backend

backend.init_backend(backend.BackendType.THREADING)
