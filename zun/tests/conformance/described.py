# SPDX-License-Identifier: Apache-2.0
"""Whether answers are as the API's own documentation describes them."""

import functools
import json
from urllib import parse

import jsonschema
from webob import exc

from zun.api import answers
from zun.api import router


@functools.cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({
        **answers.ref(name), 'components': {'schemas': answers.SCHEMAS}})


def differences(method: str, path: str, status: int, body: bytes) -> list[str]:
    """What differs between an answer and its description."""
    try:
        operation = router.match(method, parse.unquote(path)).operation
    except exc.HTTPException:
        operation = None
    if operation is not None and status == operation.status:
        name = operation.answer
    else:
        name = 'error'
    if not name or not body or b'"error"' in body[:10] or body == b'OK':
        return []
    return [f'{method} {path} {status} {name}: {error.json_path}: {error.message[:200]}'
            for error in _validator(name).iter_errors(json.loads(body))]
