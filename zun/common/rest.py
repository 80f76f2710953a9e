# SPDX-License-Identifier: Apache-2.0
"""Requests to the other services of a cloud, and what their refusals mean here."""

import collections.abc
import typing as ty

from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ks_exceptions

from zun.common import exception

_REFUSALS = {401: exception.NotAuthorized, 403: exception.NotAuthorized,
             409: exception.Conflict}


class Rest:
    """One service, asked with one identity.

    :param title: its name, for messages
    :param connect: makes the adapter, at the first request
    :param version: path of the API's version, which endpoints may or may not bear
    """

    def __init__(self, title: str, connect: collections.abc.Callable[[], adapter.Adapter],
                 version: str) -> None:
        self._title = title
        self._connect = connect
        self._version = version
        self._adapter: adapter.Adapter | None = None
        self._root = ''

    def send(self, method: str, path: str, absent: collections.abc.Collection[int] = (),
             **kwargs: ty.Any) -> ty.Any:
        """The answer to a request.

        :param absent: statuses for which None is returned
        :param kwargs: json, params, headers
        :raises ServiceMissing: it is not in the catalogue, or no identity is configured
        :raises NotAuthorized, Conflict, Invalid: it refuses; with its words
        :raises ServiceUnavailable: it does not answer, or fails
        """
        try:
            session = self._adapter or self._begin()
            answer = session.request(self._root + path, method, **kwargs)
        except (ks_exceptions.OptionError, ks_exceptions.EndpointNotFound):
            raise exception.ServiceMissing(service=self._title) from None
        except ks_exceptions.ClientException as error:
            raise exception.ServiceUnavailable(
                service=self._title, reason=str(error).rstrip('.')) from error
        if answer.status_code in absent:
            return None
        if answer.status_code >= 400:
            raise self._refusal(answer)
        return answer

    def _begin(self) -> adapter.Adapter:
        session = self._connect()
        endpoint = session.get_endpoint()
        if not endpoint:
            raise exception.ServiceMissing(service=self._title)
        base = endpoint.rstrip('/')
        self._root = base if self._version in base else base + self._version
        self._adapter = session
        return session

    def _refusal(self, answer: ty.Any) -> exception.ZunException:
        status = answer.status_code
        if status >= 500:
            return exception.ServiceUnavailable(f'The {self._title} answers {status}.')
        words = _words(answer) or f'The {self._title} answers {status}.'
        return _REFUSALS.get(status, exception.Invalid)(words)


def _words(answer: ty.Any) -> str | None:
    """The message of an error body: ``{"<kind of error>": {"message": ...}}``."""
    try:
        body = answer.json()
    except ValueError:
        return None
    for member in body.values() if isinstance(body, dict) else ():
        if isinstance(member, dict) and isinstance(member.get('message'), str):
            return member['message']
    return None
