# SPDX-License-Identifier: Apache-2.0

import threading
import types

from zun.common import context as zun_context
from zun.common import exception
from zun.common import transfers
from zun.image import docker
from zun.image import driver
from zun.tests import base
from zun.tests import vectors

LONG = 30
DIGEST = 'sha256:' + 'a' * 64


class Engine:
    """Images of an engine, in memory, and what its registries answer in turn."""

    def __init__(self, *answers, local=()):
        self.local = set(local)
        self.answers = list(answers)
        self.pulls = []
        self.begun = threading.Semaphore(0)
        self.release = threading.Event()
        self.release.set()

    def find_image(self, reference):
        return f'id of {reference}' if reference in self.local else None

    def pull_image(self, name, tag, username=None, password=None, transfer=None):
        self.pulls.append((name, tag, username, password))
        self.begun.release()
        self.release.wait(LONG)
        answer = self.answers.pop(0) if self.answers else f'id of {name} {tag}'
        if isinstance(answer, Exception):
            raise answer
        return answer

    def search_images(self, term):
        self.term = term
        return [{'name': 'nginx', 'description': 'Official', 'is_automated': False,
                 'is_official': True, 'star_count': 9},
                {'name': 'x/nginx', 'description': '', 'star_count': 0}]


def registry(domain, username='user', word='secret'):
    return types.SimpleNamespace(domain=domain, username=username,
                                 plain_password=lambda: word)


class DriverTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.context = zun_context.get_admin_context()
        self.driver = docker.DockerImageDriver()
        self.pauses = []
        self.transfer = transfers.Transfer()
        self.transfer.pause = self.pauses.append

    def fetch(self, engine, reference, policy=None, registry=None):
        found = self.plan(engine, reference, policy, registry)
        return found if isinstance(found, str) else found.work(self.transfer)

    def plan(self, engine, reference, policy=None, registry=None):
        return self.driver.plan(self.context, engine,
                                driver.Wanted(reference, policy, registry))


class PolicyTest(DriverTestCase):
    def test_should_pull_vectors(self):
        for args, result, _status in vectors.of('should_pull_image'):
            self.assertEqual(result, driver.should_pull(args['image_pull_policy'],
                                                        args['present']), args)

    def test_policy_of_none_vectors(self):
        for args, result, _status in vectors.of('get_image_pull_policy'):
            engine = Engine(local=['a:1'])
            self.fetch(engine, 'a:1', args['image_pull_policy'])
            self.assertEqual(result == 'always', bool(engine.pulls), args)

    def test_operator_s_policy(self):
        self.config('compute', default_image_pull_policy='ifnotpresent')
        engine = Engine(local=['a:latest'])
        self.assertEqual('id of a:latest', self.fetch(engine, 'a'))
        self.assertEqual([], engine.pulls)
        self.fetch(engine, 'a', 'always')
        self.assertEqual(1, len(engine.pulls))

    def test_never(self):
        engine = Engine(local=['a:latest'])
        self.assertEqual('id of a:latest', self.fetch(engine, 'a', 'never'))
        error = self.assertRaises(exception.ImageNotFound, self.fetch, engine, 'b:1', 'never')
        self.assertEqual('Image b:1 not present with pull policy of Never.', error.message)
        self.assertEqual(400, error.code)
        self.assertEqual([], engine.pulls)

    def test_always_fails_when_the_registry_does_although_a_copy_is_there(self):
        engine = Engine(exception.DockerError(error_msg='dial tcp: no'), local=['a:latest'])
        self.assertRaises(exception.DockerError, self.fetch, engine, 'a', 'always')

    def test_unknown_policy_pulls_nothing(self):
        self.assertRaises(exception.ImageNotFound, self.fetch, Engine(), 'a', 'Always')


class NameTest(DriverTestCase):
    def _pulled(self, reference, **kwargs):
        engine = Engine()
        self.fetch(engine, reference, **kwargs)
        return engine.pulls[0]

    def test_name_and_tag(self):
        self.assertEqual(('a', 'latest', None, None), self._pulled('a'))
        self.assertEqual(('r:5/a/b', '1', None, None), self._pulled('r:5/a/b:1'))

    def test_digest_wins(self):
        self.assertEqual(('a', DIGEST, None, None), self._pulled(f'a:1@{DIGEST}'))
        engine = Engine(local=[f'a@{DIGEST}'])
        self.assertEqual(f'id of a@{DIGEST}',
                         self.fetch(engine, f'a:1@{DIGEST}', 'ifnotpresent'))

    def test_bad_name(self):
        self.assertRaises(exception.ReferenceInvalidFormat, self.fetch, Engine(), 'a b')

    def test_registry_of_the_container(self):
        self.assertEqual(('reg:5000/a', 'latest', 'user', 'secret'),
                         self._pulled('a', registry=registry('reg:5000')))
        self.assertEqual(('reg.x/a', 'latest', None, None),
                         self._pulled('a', registry=registry('reg.x', username=None)))

    def test_credentials_go_to_their_own_registry_only(self):
        self.config('docker', default_registry='def.x', default_registry_username='u',
                    default_registry_password='p')
        for domain in ('other.x', 'REG.x', 'reg.x:5001'):
            pulled = self._pulled(f'{domain}/a', registry=registry('reg.x'))
            self.assertEqual((None, None), pulled[2:])
        self.assertEqual(('reg.x/a', 'latest', 'user', 'secret'),
                         self._pulled('reg.x/a', registry=registry('reg.x')))

    def test_default_registry(self):
        self.config('docker', default_registry='def.x', default_registry_username='u',
                    default_registry_password='p')
        self.assertEqual(('def.x/a', 'latest', 'u', 'p'), self._pulled('a'))
        self.assertEqual(('oth.er/a', 'latest', None, None), self._pulled('oth.er/a'))
        self.assertEqual(('reg.x/a', 'latest', 'user', 'secret'),
                         self._pulled('a', registry=registry('reg.x')))

    def test_credentials_do_not_go_to_the_engine_s_default_registry(self):
        """An engine takes ``reg/a`` for an image of a user of Docker Hub."""
        self.assertEqual(('reg/a', 'latest', None, None),
                         self._pulled('a', registry=registry('reg')))
        self.assertEqual(('localhost/a', 'latest', 'user', 'secret'),
                         self._pulled('a', registry=registry('localhost')))

    def test_password_is_not_decrypted_in_vain(self):
        def fail():
            raise exception.InvalidEncryptionKey(key='configured')

        locked = types.SimpleNamespace(domain='reg.x', username='u', plain_password=fail)
        engine = Engine(local=['reg.x/a:latest'])
        self.fetch(engine, 'a', 'ifnotpresent', locked)
        self.assertRaises(exception.InvalidEncryptionKey, self.fetch, engine, 'a', 'always',
                          locked)


class TroubleTest(DriverTestCase):
    def test_table(self):
        cases = {
            'toomanyrequests: You have reached your pull rate limit.': docker.Trouble.LIMITED,
            'error parsing HTTP 429 response body: x': docker.Trouble.LIMITED,
            'received unexpected HTTP status: 503 Service Unavailable': docker.Trouble.FAILING,
            'Get "http://r/v2/": no basic auth credentials': docker.Trouble.REFUSED,
            'unauthorized: authentication required': docker.Trouble.REFUSED,
            "pull access denied, may require 'docker login'": docker.Trouble.REFUSED,
            'manifest unknown: manifest unknown': docker.Trouble.MISSING,
            'write /var/lib: no space left on device': docker.Trouble.FULL,
            'Get "https://r/v2/": dial tcp 127.0.0.1:1: connect: connection refused':
                docker.Trouble.UNREACHABLE,
            'x509: certificate signed by unknown authority': docker.Trouble.UNREACHABLE,
            'filesystem layer verification failed for digest sha256:': docker.Trouble.OTHER,
        }
        for text, kind in cases.items():
            self.assertIs(kind, docker.trouble(text), text)

    def test_full_disk(self):
        engine = Engine(exception.DockerError(
            error_msg='pull of a:latest: write /var/lib: no space left on device'))
        error = self.assertRaises(exception.DiskFull, self.fetch, engine, 'a')
        self.assertEqual('A disk of the container engine is full: pull of a:latest: '
                         'write /var/lib: no space left on device.', error.message)

    def _limited(self):
        return exception.DockerError(error_msg='pull of a:latest: toomanyrequests: slow down')

    def test_limited_registry_is_asked_again(self):
        engine = Engine(self._limited(), self._limited())
        self.assertEqual('id of a latest', self.fetch(engine, 'a'))
        self.assertEqual(3, len(engine.pulls))
        self.assertTrue(2.5 <= self.pauses[0] <= 5 <= self.pauses[1] <= 10, self.pauses)

    def test_asked_pause(self):
        for text, seconds in (
                ('toomanyrequests: retry-after: 1m30s, allowed: 44000/minute', 90.0),
                ('toomanyrequests: retry-after: 352.1µs, allowed: 44000/minute', 0.0),
                ('toomanyrequests: retry-after: 2.5ms', 0.0), ('Retry-After: 1h0m5s', 3605.0),
                ('429 Too Many Requests, retry after 7 seconds', 7.0), ('retry-after: 1.5s.', 1.5),
                ('toomanyrequests: slow down', 0.0), ('retry-after: soon', 0.0)):
            self.assertEqual(seconds, docker.asked_pause(text), text)

    def test_pause_that_the_registry_asks_for(self):
        self.fetch(Engine(exception.DockerError(
            error_msg='pull of a:latest: toomanyrequests: retry-after: 2m, allowed: 9/minute')),
            'a')
        self.assertEqual([120.0], self.pauses)

    def test_pull_that_nobody_waits_for(self):
        """It is not tried again, and its pause ends."""
        engine = Engine(self._limited(), self._limited())
        self.transfer = transfers.Transfer()
        self.transfer.cancel()
        self.assertRaises(exception.Conflict, self.fetch, engine, 'a')
        self.assertEqual(1, len(engine.pulls))

    def test_not_for_ever(self):
        engine = Engine(*[self._limited() for _ in range(9)])
        error = self.assertRaises(exception.DockerError, self.fetch, engine, 'a')
        self.assertEqual(4, len(engine.pulls))
        self.assertIn('a:latest', error.message)
        self.assertIn('limits the rate', error.message)

    def test_not_longer_than_a_pull_may_take(self):
        self.config('docker', pull_timeout=2)
        engine = Engine(self._limited(), self._limited())
        self.assertRaises(exception.DockerError, self.fetch, engine, 'a')
        self.assertEqual(1, len(engine.pulls))

    def test_failing_registry_is_asked_again(self):
        engine = Engine(exception.DockerError(
            error_msg='pull of a:latest: received unexpected HTTP status: 500'))
        self.assertEqual('id of a latest', self.fetch(engine, 'a'))

    def test_missing_image_names_itself(self):
        engine = Engine(exception.ImageNotFound('Image a:1 could not be found: manifest unknown'))
        error = self.assertRaises(exception.ImageNotFound, self.fetch, engine, 'a:1')
        self.assertEqual('Image a:1 could not be found.', error.message)
        self.assertEqual([], self.pauses)

    def test_refused_image_says_so(self):
        engine = Engine(exception.ImageNotFound('Image a:1 could not be found: unauthorized'))
        error = self.assertRaises(exception.ImageNotFound, self.fetch, engine, 'a:1')
        self.assertEqual('Image a:1 could not be found: authentication with the registry failed.',
                         error.message)

    def test_words_in_the_image_s_name_mean_nothing(self):
        name = 'reg.x/unauthorized/toomanyrequests:429'
        engine = Engine(exception.ImageNotFound(f'Image {name} could not be found: '
                                                'manifest for reg.x/unauthorized/toomanyrequests'
                                                ':429 unknown: manifest unknown'))
        error = self.assertRaises(exception.ImageNotFound, self.fetch, engine, name)
        self.assertEqual(f'Image {name} could not be found.', error.message)
        self.assertEqual([], self.pauses)

    def test_engine_that_does_not_answer(self):
        broken = exception.EngineUnavailable(error_msg='timeout')
        self.assertIs(broken, self.assertRaises(
            exception.EngineUnavailable, self.fetch, Engine(broken), 'a'))
        self.assertEqual([], self.pauses)

    def test_secret_is_in_no_text(self):
        engine = Engine(exception.DockerError(error_msg='dial tcp'))
        error = self.assertRaises(exception.DockerError, self.fetch, engine, 'a', None,
                                  registry('reg.x', word='hunter2'))
        self.assertNotIn('hunter2', repr(error.__dict__))
        self.assertNotIn('hunter2', repr(docker._Pull(None, '1', 'u', 'hunter2')))


class SameFetchTest(DriverTestCase):
    """What is fetched once for all who want it at the time."""

    def test_equal(self):
        self.assertEqual(self.plan(Engine(), 'a').key, self.plan(Engine(), 'a:latest').key)
        self.assertEqual(self.plan(Engine(), 'reg.x/a').key,
                         self.plan(Engine(), 'a', registry=registry('reg.x', None)).key)

    def test_other_images_and_credentials(self):
        wanted = [('a', {}), ('a:1', {}), (f'a@{DIGEST}', {}), ('b', {}),
                  ('reg.x/a', {}), ('a', {'registry': registry('reg.x')}),
                  ('a', {'registry': registry('reg.x', word='other')})]
        keys = {self.plan(Engine(), reference, **more).key for reference, more in wanted}
        self.assertEqual(len(wanted), len(keys))


class SearchTest(DriverTestCase):
    def _search(self, name, exact_match=False):
        self.engine = Engine()
        return self.driver.search(self.context, self.engine, name, exact_match)

    def test_items(self):
        self.assertEqual(
            [{'name': 'nginx', 'description': 'Official', 'is_automated': False,
              'metadata': {'is_official': True, 'star_count': 9}},
             {'name': 'x/nginx', 'description': '', 'is_automated': False,
              'metadata': {'is_official': False, 'star_count': 0}}], self._search('nginx:1.25'))
        self.assertEqual('nginx', self.engine.term)

    def test_exact_match(self):
        self.assertEqual(['nginx'], [item['name'] for item in self._search('nginx', True)])
        self.assertEqual(['x/nginx'],
                         [item['name'] for item in self._search('docker.io/x/nginx', True)])

    def test_official_image_by_its_long_name(self):
        for name in ('library/nginx', 'docker.io/library/nginx:1.25'):
            self.assertEqual(['nginx'], [item['name'] for item in self._search(name, True)])
            self.assertEqual('nginx', self.engine.term)

    def test_other_registries(self):
        self.assertRaises(exception.OperationNotSupported, self._search, 'reg.example/a')
        self.assertRaises(exception.ReferenceInvalidFormat, self._search, 'a..b')


class LoadTest(base.TestCase):
    def test_by_name(self):
        self.config(image_driver_list=['docker'])
        found = driver.load()
        self.assertEqual(['docker'], list(found))
        self.assertIsInstance(driver.select(found, None), docker.DockerImageDriver)
        self.assertRaises(exception.OperationNotSupported, driver.select, found, 'glance')

    def test_name_that_is_none(self):
        self.config(image_driver_list=['docker', 'nothing'])
        error = self.assertRaises(exception.ConfigInvalid, driver.load)
        self.assertIn("image_driver_list: no driver 'nothing'", error.message)
