# SPDX-License-Identifier: Apache-2.0
"""Tickets as clients bring them: in the query of the URL that the API gave."""

import typing as ty
import urllib.parse

from zun.objects import console_session

_FIELDS = 8

#: What a user is told who shows his ticket to /ticket.
REASONS = {
    'valid': 'The ticket is valid.',
    'used': 'The ticket has been used. Each one opens one connection: ask for a new console.',
    'expired': 'The ticket has expired. Ask for a new console.',
    'revoked': 'The ticket is not valid any more: the container was stopped or changed. '
               'Ask for a new console.',
    'unknown': 'There is no such ticket.',
}


class Ticket(ty.NamedTuple):
    """
    :ivar exec_id: None: for the container itself or its log
    """

    token: str
    container_uuid: str
    exec_id: str | None


def parse(target: str) -> Ticket | None:
    """The ticket in a request's path and query; None when there is none.

    Of several values the last one counts.
    """
    try:
        found = dict(urllib.parse.parse_qsl(target.partition('?')[2], max_num_fields=_FIELDS))
    except ValueError:
        return None
    token, uuid = found.get('token'), found.get('uuid')
    return Ticket(token, uuid, found.get('exec_id')) if token and uuid else None


def redeem(ticket: Ticket, address: str) -> 'tuple[console_session.ConsoleSession, str] | None':
    """Use up a ticket: the session and the key for its node; None when it is not valid."""
    return console_session.ConsoleSession.redeem(*ticket, client_address=address)


def state(ticket: Ticket) -> str:
    """What a ticket is to one who holds it: a key of REASONS."""
    return console_session.ConsoleSession.ticket_state(*ticket)
