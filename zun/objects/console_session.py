# SPDX-License-Identifier: Apache-2.0
"""Console sessions, from the ticket to the end of the connection.

Two secrets open one, each once: the ticket, which the user brings to a proxy, and the node key,
which the proxy makes when it redeems the ticket and shows the node. Only their SHA-256 is stored.
"""

import hashlib
import secrets
import typing as ty

from oslo_utils import uuidutils
from oslo_versionedobjects import fields as ovo_fields

import zun.conf
from zun.db import actions
from zun.db import console_sessions
from zun.objects import fields
from zun.objects import versioned

CONF = zun.conf.CONF
Context = versioned.Context

ATTACH = 'attach'
EXEC = 'exec'
LOGS = 'logs'

#: What is shown as the user's action.
_ACTIONS = {ATTACH: 'attach', EXEC: 'execute', LOGS: 'follow_logs'}
_SECRET_BYTES = 32
_MAX_SECRET = 256


def _new_secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret[:_MAX_SECRET].encode('utf-8', 'replace')).hexdigest()


@versioned.register
class ConsoleSession(versioned.Persistent):
    """What is known of a session, its secrets excepted.

    :ivar params: of an exec: ``command`` (list of words); of logs: ``stdout``, ``stderr``,
        ``timestamps``, ``tail``, ``since``
    :ivar tty: output is that of a terminal; of an exec: somebody types into it, too
    :ivar engine_id: what the engine calls the exec
    :ivar node_url: ``wss://host:port`` or ``unix:/path``
    """

    VERSION = '1.0'
    fields = {
        'id': ovo_fields.StringField(),
        'container_uuid': ovo_fields.UUIDField(),
        'project_id': ovo_fields.StringField(nullable=True),
        'user_id': ovo_fields.StringField(nullable=True),
        'host': ovo_fields.StringField(),
        'kind': ovo_fields.StringField(),
        'exec_id': ovo_fields.StringField(nullable=True),
        'tty': ovo_fields.BooleanField(),
        'params': fields.JsonField(nullable=True),
        'node_url': ovo_fields.StringField(),
        'engine_id': ovo_fields.StringField(nullable=True),
        'height': ovo_fields.IntegerField(nullable=True),
        'width': ovo_fields.IntegerField(nullable=True),
        'client_address': ovo_fields.StringField(nullable=True),
        'close_code': ovo_fields.IntegerField(nullable=True),
    }

    @classmethod
    def issue(cls, context: Context, container: ty.Any, kind: str, node_url: str,
              tty: bool = False,
              params: versioned.Values | None = None) -> 'tuple[ConsoleSession, str]':
        """A new session, and the ticket for it, which is stored nowhere.

        It is good for ``[console]/token_ttl`` seconds and one connection. An exec gets an id here;
        the engine's own is made when the client connects.

        :raises ContainerNotFound: the container is gone
        """
        token = _new_secret()
        exec_id = secrets.token_hex(_SECRET_BYTES) if kind == EXEC else None
        row = console_sessions.create({
            'id': uuidutils.generate_uuid(dashed=False), 'token_hash': _digest(token),
            'container_uuid': container.uuid, 'project_id': container.project_id,
            'user_id': context.user_id, 'host': container.host, 'kind': kind, 'tty': tty,
            'exec_id': exec_id, 'params': params or {}, 'node_url': node_url,
        }, CONF.console.token_ttl, actions.start_values(context, _ACTIONS[kind]),
            None if exec_id is None else {'container_id': container.id, 'exec_id': exec_id})
        return cls.from_row(context, row), token

    @classmethod
    def redeem(cls, token: str, container_uuid: str, exec_id: str | None,
               client_address: str) -> 'tuple[ConsoleSession, str] | None':
        """Use up a ticket: the session and the key for its node.

        :returns: None when it is wrong, used, expired or revoked
        """
        key = _new_secret()
        row = console_sessions.redeem(_digest(token), container_uuid, exec_id, _digest(key),
                                      client_address)
        return None if row is None else (cls.from_row(None, row), key)

    @staticmethod
    def ticket_state(token: str, container_uuid: str, exec_id: str | None) -> str:
        """What a ticket is to one who holds it: valid, used, expired, revoked or unknown."""
        return console_sessions.state(_digest(token), container_uuid, exec_id)

    @classmethod
    def begin(cls, session_id: str, key: str, host: str) -> 'ConsoleSession | None':
        """Open a session on its node; None when that key does not open it, or not any more."""
        row = console_sessions.begin(session_id, _digest(key), host)
        return None if row is None else cls.from_row(None, row)

    def end(self, close_code: int | None, details: str) -> bool:
        """Close it for good; False when it was closed already.

        :param close_code: of the WebSocket; None: the connection was lost
        :param details: of the event that users see
        """
        return console_sessions.end(self.id, close_code, details)

    def set_engine_id(self, engine_id: str) -> None:
        """Note what the engine calls the exec."""
        console_sessions.set_engine_id(self.id, engine_id)
        self.engine_id = engine_id

    def remember_size(self, height: int, width: int) -> bool:
        """Keep the size of a terminal that does not exist yet; False when it may exist."""
        return console_sessions.remember_size(self.id, height, width)

    @classmethod
    def find_exec(cls, container_uuid: str, exec_id: str) -> 'ConsoleSession | None':
        """The session of a command that has not ended."""
        row = console_sessions.find_exec(container_uuid, exec_id)
        return None if row is None else cls.from_row(None, row)

    @staticmethod
    def revoke(container_uuid: str) -> int:
        """Make the unused tickets of a container worthless; how many there were."""
        return console_sessions.revoke(container_uuid)

    @classmethod
    def list_abandoned(cls, host: str) -> 'list[ConsoleSession]':
        """Sessions that a node had opened and never closed."""
        return [cls.from_row(None, row) for row in console_sessions.list_abandoned(host)]

    @staticmethod
    def purge(host: str) -> int:
        """Delete the sessions of a node that are over since a day; how many."""
        return console_sessions.purge(host)
