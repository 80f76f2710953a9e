# SPDX-License-Identifier: Apache-2.0
from zun.common import exception
from zun.container.docker import errors
from zun.tests import base

ID = '404' + 'a' * 58 + '404'  # as one id in 70 has it
NAME = 'zun-11111111-1111-4111-8111-111111111111'


def _update(text):
    return f'Cannot update container {ID}: {text}'


#: Answers of Docker Engine 20.10 as they were seen, and of later ones where they differ.
ANSWERS = (
    (404, f'No such container: {NAME}', exception.EngineGone),
    (404, 'No such container: zun-22222222-2222-4222-8222-222222222222', exception.NotFound),
    (404, f'No such container: {ID}', exception.NotFound),
    (404, 'network zun-x not found', exception.NotFound),
    (404, f'Could not find the file /no/such in container {ID}', exception.NotFound),
    (404, f'No such exec instance: {ID}', exception.NotFound),
    (409, f'Cannot kill container: {ID}: Container {ID} is not running', exception.Conflict),
    (409, f'Container {ID} is already paused', exception.Conflict),
    (409, f'Container {ID} is paused, unpause the container before exec', exception.Conflict),
    (500, f'Container {ID} is not paused', exception.Conflict),
    (409, f'removal of container {NAME} is already in progress', exception.Conflict),
    (409, 'container is marked for removal and cannot be started', exception.Conflict),
    (409, f'cannot join network of a non running container: {ID}', exception.Conflict),
    (409, f'You cannot remove a running container {ID}. Stop the container before attempting '
          'removal or force remove', exception.Conflict),
    (403, 'Address already in use', exception.Conflict),
    (403, 'Pool overlaps with other one on this address space', exception.Conflict),
    (403, 'error while removing network: network x id y has active endpoints',
     exception.Conflict),
    (400, 'Invalid signal: SIGUSR9', exception.Invalid),
    (500, f'Cannot kill container: {ID}: The linux daemon does not support signal 65',
     exception.Invalid),
    (400, 'Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available',
     exception.Invalid),
    (400, 'Minimum memory limit allowed is 6MB', exception.Invalid),
    (409, _update('Memory limit should be smaller than already set memoryswap limit, update the '
                  'memoryswap at the same time'), exception.Conflict),
    (500, _update('runc did not terminate successfully: exit status 1: unable to set memory limit '
                  'to 6291456 (current usage: 17469440, peak usage: 17469440)\n: unknown'),
     exception.Conflict),
    (500, _update('runc did not terminate successfully: exit status 1: the minimum allowed '
                  'cpu-shares is 2\n: unknown'), exception.Invalid),
    (500, 'extraction point is not a directory', exception.Invalid),
    (500, 'Error processing tar file(exit status 1): archive/tar: invalid tar header',
     exception.Invalid),
    (500, 'Error processing tar file(exit status 1): unexpected EOF', exception.Invalid),
    (500, 'Error processing tar file(exit status 1): write /x: no space left on device',
     exception.DiskFull),
    (500, 'mkdir /var/lib/docker/overlay2/x-init: no space left on device', exception.DiskFull),
    (500, 'Error processing tar file(exit status 1): write /x: disk quota exceeded',
     exception.Conflict),
    (409, 'Conflict. The container name "/no space left on device" is already in use by "x"',
     exception.Conflict),
    (500, '"../../x" is outside of "/tmp"', exception.Invalid),
    (500, 'container rootfs is marked read-only', exception.Conflict),
    (500, 'ps: error: unknown gnu long option', exception.Invalid),
    (500, "Couldn't find PID field in ps output", exception.Invalid),
    (500, "--storage-opt is supported only for overlay over xfs with 'pquota' mount option",
     exception.Invalid),
    (501, 'configured logging driver does not support reading', exception.Conflict),
    (500, f'driver failed to remove root filesystem for {ID}: device busy',
     exception.EngineUnavailable),
    (502, 'bad gateway', exception.EngineUnavailable),
)


class TestTranslate(base.TestCase):
    def test_answers(self):
        for status, text, expected in ANSWERS:
            found = errors.translate(errors.Refusal(status, text), NAME, 'the-uuid')
            self.assertIs(expected, type(found), text)

    def test_no_id_and_no_second_line_reaches_a_reason(self):
        for status, text, _ in ANSWERS:
            message = errors.translate(errors.Refusal(status, text), NAME, 'the-uuid').message
            self.assertNotIn(ID, message)
            self.assertNotIn('\n', message)

    def test_gone_names_the_container(self):
        found = errors.translate(errors.Refusal(404, f'No such container: {NAME}'), NAME, 'uuid-1')
        self.assertIn('uuid-1', found.message)

    def test_usage_above_the_limit_is_said_so(self):
        text = 'unable to set memory limit to 6291456 (current usage: 17469440)'
        self.assertEqual('The memory limit is below what the container uses now.',
                         errors.translate(errors.Refusal(500, text)).message)

    def test_leaving_a_block(self):
        def call(error):
            with errors.translated(NAME, 'the-uuid'):
                raise error
        self.assertRaises(exception.Conflict, call, errors.Refusal(409, 'x'))
        self.assertRaises(exception.ImageNotFound, call, exception.ImageNotFound(image='x'))


class TestRefusal(base.TestCase):
    def test_name_in_use(self):
        text = (f'Conflict. The container name "/{NAME}" is already in use by container "{ID}". '
                'You have to remove (or rename) that container to be able to reuse that name.')
        self.assertTrue(errors.Refusal(409, text).name_in_use)
        self.assertTrue(errors.Refusal(409, f'Error when allocating new name: {text}').name_in_use)
        self.assertFalse(errors.Refusal(500, text).name_in_use)
        self.assertFalse(errors.Refusal(409, 'port is already in use').name_in_use)

    def test_in_removal(self):
        for text in (f'removal of container {NAME} is already in progress',
                     'container is marked for removal and cannot be started'):
            self.assertTrue(errors.Refusal(409, text).in_removal)
        self.assertFalse(errors.Refusal(409, 'You cannot remove a running container').in_removal)

    def test_gone_is_of_the_very_name(self):
        self.assertTrue(errors.Refusal(404, f'No such container: {NAME}').is_gone(NAME))
        self.assertTrue(errors.Refusal(404, f'no such container: /{NAME}').is_gone(NAME))
        self.assertFalse(errors.Refusal(404, f'No such container: {NAME}x').is_gone(NAME))
        self.assertFalse(errors.Refusal(409, f'No such container: {NAME}').is_gone(NAME))
        self.assertFalse(errors.Refusal(404, 'network x not found').is_gone(NAME))


class TestReadable(base.TestCase):
    def test_ids(self):
        for text, expected in (
                (f'Container {ID} is not running', 'Container is not running'),
                (f'Cannot kill container: {ID}: Container {ID} is not running',
                 'Cannot kill container: Container is not running'),
                ('one\ntwo  three', 'one two three'),
                (f'No such image: sha256:{"0" * 64}', f'No such image: sha256:{"0" * 64}')):
            self.assertEqual(expected, errors.readable(text))
