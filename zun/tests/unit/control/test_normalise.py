# SPDX-License-Identifier: Apache-2.0
from zun.common import exception
from zun.control import naming
from zun.control import normalise
from zun.tests import base
from zun.tests import vectors


class RestartPolicyTest(base.TestCase):
    TABLE = (
        (None, None), ({}, {}),
        ({'Name': 'no', 'MaximumRetryCount': '5'}, {'Name': 'no', 'MaximumRetryCount': '0'}),
        ({'Name': 'always'}, {'Name': 'always', 'MaximumRetryCount': '0'}),
        ({'Name': 'on-failure', 'MaximumRetryCount': None},
         {'Name': 'on-failure', 'MaximumRetryCount': '0'}),
        ({'Name': 'on-failure', 'MaximumRetryCount': 3},
         {'Name': 'on-failure', 'MaximumRetryCount': 3}),
    )

    def test_table(self):
        for given, expected in self.TABLE:
            self.assertEqual(expected, normalise.restart_policy(given), given)

    def test_refused(self):
        for name in ('always', 'unless-stopped'):
            error = self.assertRaises(exception.InvalidValue, normalise.restart_policy,
                                      {'Name': name, 'MaximumRetryCount': 2})
            self.assertEqual(f'maximum retry count not valid with restart policy of {name}',
                             error.message)

    def test_recorded(self):
        for args, result, status in vectors.of('check_for_restart_policy'):
            given = args.get('restart_policy')
            if given and given.get('MaximumRetryCount', '') is None:
                continue  # recorded over HTTP too, where null means absent: that one counts
            if status:
                error = self.assertRaises(exception.InvalidValue, normalise.restart_policy, given)
                self.assertEqual(status, error.code)
            elif 'restart_policy' in args:
                self.assertEqual(result['restart_policy'], normalise.restart_policy(given))


class ExposedPortsTest(base.TestCase):
    TABLE = (
        (None, {}), ({'80': {}}, {'80/tcp': {}}), ({'53/udp': {'a': 1}}, {'53/udp': {'a': 1}}),
        ({'080/tcp': None}, {'80/tcp': None}),
    )
    REFUSED = (
        ('80/sctp', 'value sctp is an invalid protocol'),
        ('80/TCP', 'value TCP is an invalid protocol'),
        ('80/', 'value  is an invalid protocol'),
        ('x', 'value x is invalid as publish port.'),
        ('80/tcp/x', 'value 80/tcp/x is invalid as publish port.'),
        ('0', 'value 0 is invalid as publish port.'),
        ('-1/tcp', 'value -1 is invalid as publish port.'),
        ('65536', 'value 65536 is invalid as publish port.'),
        (' 80', 'value  80 is invalid as publish port.'),
    )

    def test_table(self):
        for given, expected in self.TABLE:
            self.assertEqual(expected, normalise.exposed_ports(given), given)

    def test_refused(self):
        for key, message in self.REFUSED:
            error = self.assertRaises(exception.InvalidValue, normalise.exposed_ports, {key: {}})
            self.assertEqual(message, error.message)

    def test_recorded(self):
        for args, result, status in vectors.of('build_exposed_ports'):
            if status:
                self.assertRaises(exception.InvalidValue, normalise.exposed_ports, args['ports'])
            elif not any(self._out_of_range(key) for key in args['ports']):
                self.assertEqual(result, normalise.exposed_ports(args['ports']))

    @staticmethod
    def _out_of_range(key):
        """Recorded as accepted; ours refuses numbers that are no port, and blanks."""
        port = key.partition('/')[0]
        return not port.isdigit() or not 0 < int(port) < 65536


class MembersTest(base.TestCase):
    def test_labels(self):
        self.assertEqual({'a': '1', 'b': 'True', 'c': 'x'},
                         normalise.labels({'a': 1, 'b': True, 'c': 'x'}))
        self.assertEqual({}, normalise.labels(None))
        self.assertRaises(exception.InvalidValue, normalise.labels, {'zun.uuid': 'x'})
        self.assertEqual({'zunx': 'y'}, normalise.labels({'zunx': 'y'}))

    def test_workdir(self):
        for given in (None, '', '/', '/srv/x'):
            self.assertEqual(given, normalise.workdir(given))
        self.assertRaises(exception.InvalidValue, normalise.workdir, 'srv')

    def test_amounts(self):
        self.assertEqual([1.0, 0.5, None],
                         [normalise.cpu(None, 1.0), normalise.cpu('.5', 1.0),
                          normalise.cpu(None, None)])
        self.assertEqual(['512', '64', '7', None],
                         [normalise.memory(None, 512), normalise.memory('064', 512),
                          normalise.memory(7, 512), normalise.memory(None, None)])
        self.assertEqual([0, 10], [normalise.disk(None), normalise.disk('10')])
        self.assertEqual([None, None, 0, 15],
                         [normalise.number(item) for item in (None, '', '0', 15)])

    def test_texts(self):
        self.assertEqual(['sleep', '10', 'True'], normalise.texts(['sleep', 10, True]))
        self.assertEqual([], normalise.texts(None))

    def test_pull_policy(self):
        self.assertEqual([None, None, 'ifnotpresent'],
                         [normalise.pull_policy(item) for item in (None, '', 'IfNotPresent')])


class NamingTest(base.TestCase):
    def test_container(self):
        for _ in range(50):
            self.assertRegex(naming.container_name(), r'^[a-z]+-([1-9]|1\d|2[0-4])-container$')

    def test_member_keeps_its_tail(self):
        self.assertRegex(naming.member_name('web'), r'^capsule-web-[a-z]+-\d+$')
        long = naming.member_name('x' * 255)
        self.assertEqual(255, len(long))
        self.assertRegex(long, r'^capsule-x+-[a-z]+-\d+$')
