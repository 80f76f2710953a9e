# SPDX-License-Identifier: Apache-2.0
"""Every error of the API in one JSON shape."""

import json
import typing as ty

from oslo_log import log as logging
from oslo_utils import uuidutils
import webob
from webob import exc

from zun.api import microversions
from zun.common import exception

LOG = logging.getLogger(__name__)

CODE_PREFIX = 'container.'
_HELP = {'rel': 'help', 'href': 'https://docs.openstack.org/zun/latest/'}
_UNSUPPORTED_TITLE = 'Requested microversion is unsupported'
_INTERNAL = ('The server encountered an unexpected error and could not fulfil the request. '
             'Error Correlation id is: %s')


def body(status: int, code: str, title: str, detail: str,
         links: ty.Sequence[dict[str, str]] = (), **more: ty.Any) -> bytes:
    """The document that describes one error.

    :param code: without the prefix of the service
    """
    return json.dumps({'errors': [{
        'request_id': '', 'code': CODE_PREFIX + code, 'status': status, 'title': title,
        'detail': detail, 'links': list(links), **more}]}).encode()


def response(error: BaseException) -> webob.Response:
    """The answer to a request that failed.

    Client errors and temporary ones show their message. For anything else the log gets the
    traceback and the client an id under which to find it.
    """
    if isinstance(error, exc.HTTPException):
        return _routing(error)
    if isinstance(error, exception.MicroversionUnsupported):
        return _answer(error.code, body(
            error.code, exception.error_code(type(error).__name__), _UNSUPPORTED_TITLE,
            error.message, [_HELP], min_version=str(microversions.MIN),
            max_version=str(microversions.MAX)))
    if isinstance(error, exception.ZunException) and error.code != exc.HTTPServerError.code:
        return _answer(error.code, body(
            error.code, exception.error_code(type(error).__name__), error.message,
            error.message))
    correlation_id = uuidutils.generate_uuid()
    LOG.error('Internal error, correlation id %s', correlation_id, exc_info=error)
    return _answer(exc.HTTPServerError.code, body(
        exc.HTTPServerError.code, '', exc.HTTPInternalServerError.title,
        _INTERNAL % correlation_id))


def _routing(error: exc.HTTPException) -> webob.Response:
    found = _answer(error.status_int, body(
        error.status_int, error.title.lower().replace(' ', '-'), error.title,
        error.detail or error.explanation))
    if error.allow:
        found.allow = error.allow
    return found


def _answer(status: int, document: bytes) -> webob.Response:
    return webob.Response(document, status=status, content_type='application/json',
                          charset='utf-8')
