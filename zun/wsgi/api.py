# SPDX-License-Identifier: Apache-2.0
"""``application`` for uWSGI, mod_wsgi and other WSGI servers.

Everything is built when the server imports this module, which it has to do after its forks
(uWSGI: ``lazy-apps``). Options may stand in ``sys.argv`` behind the server's program name.
"""

from zun.common import threads  # noqa: F401  isort: skip  before anything else is imported

import sys

from zun.wsgi import wiring

wiring.configured(sys.argv[1:])
_dispatcher = wiring.connect()
_dispatcher.start()
application = wiring.application()
