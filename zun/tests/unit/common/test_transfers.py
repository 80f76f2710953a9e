# SPDX-License-Identifier: Apache-2.0
import threading

from zun.common import exception
from zun.common import transfers
from zun.tests import base


class TransferTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.transfer, self.stopped = transfers.Transfer(), []

    def _stop(self):
        self.stopped.append(1)

    def test_not_cancelled(self):
        with self.transfer.stopped_by(self._stop):
            self.transfer.check()
        self.transfer.pause(0)
        self.assertEqual([], self.stopped)

    def test_cancelled_meanwhile(self):
        with self.assertRaisesRegex(exception.Conflict, 'Nobody waits'), \
                self.transfer.stopped_by(self._stop):
            self.transfer.cancel()
        self.assertEqual([1], self.stopped)

    def test_what_then_fails_was_cancelled(self):
        with self.assertRaisesRegex(exception.Conflict, 'Nobody waits'), \
                self.transfer.stopped_by(self._stop):
            self.transfer.cancel()
            raise exception.EngineUnavailable(error_msg='connection lost')

    def test_other_failures_stay(self):
        with self.assertRaises(exception.EngineUnavailable), self.transfer.stopped_by(self._stop):
            raise exception.EngineUnavailable(error_msg='connection lost')

    def test_cancelled_before(self):
        self.transfer.cancel()
        with self.assertRaises(exception.Conflict), self.transfer.stopped_by(self._stop):
            self.fail('It is not begun.')
        self.assertRaises(exception.Conflict, self.transfer.pause, 60)

    def test_nothing_is_stopped_after_its_end(self):
        with self.transfer.stopped_by(self._stop):
            pass
        self.transfer.cancel()
        self.assertEqual([], self.stopped)

    def test_pause_ends(self):
        thread = threading.Thread(target=self.assertRaises, args=(
            exception.Conflict, self.transfer.pause, 60))
        thread.start()
        self.transfer.cancel()
        thread.join(30)
        self.assertFalse(thread.is_alive())
