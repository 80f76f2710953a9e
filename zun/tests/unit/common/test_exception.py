# SPDX-License-Identifier: Apache-2.0

import inspect
import string

from zun.common import exception
from zun.tests import base
from zun.tests import vectors

#: Recorded as 500: what a client did wrong, and what another part did not do.
_ARGUED = {
    'FailedParseStringToJson': 400, 'InvalidCapsuleTemplate': 400, 'NameEmpty': 400,
    'NameTooLong': 400, 'ReferenceInvalidFormat': 400, 'ResourcesUnavailable': 409,
    'OperationNotSupported': 501, 'ContainerHostNotUp': 503,
}


def _classes():
    return [found for _, found in inspect.getmembers(exception, inspect.isclass)
            if issubclass(found, exception.ZunException)]


class ExceptionTest(base.TestCase):
    def test_status_vectors(self):
        seen = 0
        for args, result, _status in vectors.of('error_http_status'):
            name = args['class_name']
            found = exception.by_name(name)
            if found.__name__ == name:
                self.assertEqual(_ARGUED.get(name, result), found.code, name)
                seen += 1
        self.assertGreater(seen, 80)

    def test_code_vectors(self):
        for args, result, _status in vectors.of('error_code'):
            # A remote process' class is exchanged for the local one before it is named.
            name = args['class_name'].removesuffix('_Remote')
            self.assertEqual(result, exception.error_code(name), args)

    def test_by_name_gives_our_classes_only(self):
        self.assertIs(exception.Conflict, exception.by_name('Conflict'))
        for name in ('re', 'ty', '__builtins__', 'ValueError', '', 'error_code', 'Nothing'):
            self.assertIs(exception.ZunException, exception.by_name(name))

    def test_every_message_renders(self):
        for found in _classes():
            fields = dict.fromkeys(_fields(found.template), 'x')
            message = found(**fields).message
            self.assertTrue(message, found)
            self.assertNotIn('%', message, found)
            # A part that was left out costs that part only.
            self.assertNotIn('%(', found().message, found)

    def test_message_of_ones_own(self):
        error = exception.Conflict('100 % mine')
        self.assertEqual(('100 % mine', '100 % mine', 409), (error.message, str(error),
                                                             error.code))
        self.assertEqual('', exception.Conflict('').message)

    def test_rebuilt_from_its_arguments(self):
        error = exception.ContainerNotFound(container='c')
        again = type(error)(*error.args, **error.kwargs)
        self.assertEqual(error.message, again.message)


def _fields(template):
    recorder = _Recorder()
    template % recorder
    return recorder.names


class _Recorder(dict):
    def __init__(self):
        super().__init__()
        self.names = []

    def __missing__(self, name):
        self.names.append(name)
        return string.ascii_letters
