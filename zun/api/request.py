# SPDX-License-Identifier: Apache-2.0
"""A request as the API reads it: parameters from the query string and from the body."""

import collections.abc
import contextlib
import typing as ty

import pecan
from webob import exc
from webob import multidict

from zun.api import documents
from zun.api import long_texts
from zun.api import microversions
from zun.common import exception

JSON = 'application/json'
_VERSION = 'zun.api_version'
_LIMIT = 'zun.body_limit'
_DOCUMENT = 'zun.json_document'
_CHUNK = 64 << 10

Parameters = dict[str, ty.Any]


class Request(pecan.Request):
    """Adds to WebOb's: strict JSON, a limit of length, 400 for text that is not UTF-8."""

    @property
    def version(self) -> microversions.Version | None:
        """The microversion, once it is negotiated."""
        return self.environ.get(_VERSION)

    @version.setter
    def version(self, version: microversions.Version) -> None:
        self.environ[_VERSION] = version

    @property
    def path_info(self) -> str:
        """The path, decoded. :raises webob.exc.HTTPBadRequest: it is not UTF-8"""
        try:
            return super().path_info
        except UnicodeDecodeError:
            raise exc.HTTPBadRequest('The path is not UTF-8.') from None

    @property
    def GET(self) -> multidict.MultiDict:  # noqa: N802  (WebOb's name)
        """The query string. :raises webob.exc.HTTPBadRequest: it is not UTF-8"""
        try:
            return super().GET
        except UnicodeDecodeError:
            raise exc.HTTPBadRequest('The query string is not UTF-8.') from None

    @property
    def POST(self) -> multidict.MultiDict | multidict.NoVars:  # noqa: N802  (WebOb's name)
        """The fields of a form. :raises webob.exc.HTTPBadRequest: it cannot be read"""
        try:
            return super().POST
        except ValueError:
            raise exc.HTTPBadRequest('The form cannot be read.') from None

    @property
    def json(self) -> ty.Any:
        """The body as JSON, read once.

        :raises ValueError: it is not JSON
        :raises SchemaValidationError, RequestTooLarge
        """
        if _DOCUMENT not in self.environ:
            self.environ[_DOCUMENT] = documents.loads(self._limited_body())
        return self.environ[_DOCUMENT]

    def limit_body(self, limit: int, later: bool = False) -> None:
        """Accept no more bytes.

        :param later: :meth:`lift_long_texts` reads it; until then it seems to be empty
        :raises RequestTooLarge: the length says that there are more
        """
        self.environ[_LIMIT] = limit
        if later:
            self.environ[_DOCUMENT] = {}
        if (self.content_length or 0) > limit:
            raise exception.RequestTooLarge(what='The request body', limit=limit)

    def _limited_body(self) -> bytes:
        if self.content_length is not None:
            return self.body
        limit = self.environ[_LIMIT]
        body = self.body_file.read(limit + 1)
        if len(body) > limit:
            raise exception.RequestTooLarge(what='The request body', limit=limit)
        return body

    def lift_long_texts(self, undo: contextlib.ExitStack) -> None:
        """Read a JSON body whose long texts are kept in files until ``undo`` closes them.

        :raises SchemaValidationError, RequestTooLarge
        """
        if self.method == 'GET' or self.content_type != JSON:
            return
        with contextlib.suppress(ValueError):
            self.environ[_DOCUMENT] = long_texts.load(self._limited_chunks(), undo)

    def _limited_chunks(self) -> collections.abc.Iterator[bytes]:
        left = self.environ[_LIMIT]
        while chunk := self.body_file.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise exception.RequestTooLarge(what='The request body',
                                                limit=self.environ[_LIMIT])
            yield chunk

    @property
    def query(self) -> Parameters:
        """Parameters of the query string; a repeated one is a list."""
        return self.GET.mixed()

    def document(self) -> Parameters:
        """The members of a JSON object or the fields of a form; without either, nothing.

        :raises SchemaValidationError, RequestTooLarge
        """
        if self.method == 'GET':
            return {}
        if self.content_type == JSON:
            try:
                document = self.json
            except ValueError:
                return {}
            return document if isinstance(document, dict) else {}
        form = self.POST
        return form.mixed() if isinstance(form, multidict.MultiDict) else {}

    def arguments(self) -> Parameters:
        """Query and body together; what is in both is a list of both values."""
        query, document = self.query, self.document()
        both = {name: [query[name], document[name]] for name in query.keys() & document}
        return {**query, **document, **both}
