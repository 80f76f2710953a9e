# SPDX-License-Identifier: Apache-2.0
"""When a client is asked, and when it is given up: interval 30, timeout 20."""

from zun.console import liveness
from zun.tests import base


class TestLiveness(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.life = liveness.Liveness(30, 20, 100)

    def test_pings_at_intervals(self):
        self.assertFalse(self.life.ping_due(129, True))
        self.assertTrue(self.life.ping_due(130, True))
        self.life.pinged(130, answers=True)
        self.life.heard(131)
        self.assertFalse(self.life.ping_due(159, True))
        self.assertTrue(self.life.ping_due(160, True))

    def test_no_answer(self):
        self.life.pinged(130, answers=True)
        self.assertFalse(self.life.ping_due(200, True))
        self.assertFalse(self.life.lost(150, True))
        self.assertTrue(self.life.lost(151, True))

    def test_any_sign_is_an_answer(self):
        for sign in (lambda: self.life.heard(140), lambda: self.life.sent(140)):
            self.life.pinged(130, answers=True)
            sign()
            self.assertFalse(self.life.lost(1000, True))

    def test_client_that_need_not_answer(self):
        self.life.pinged(130, answers=False)
        self.assertFalse(self.life.lost(1000, True))

    def test_answers_that_wait_behind_input(self):
        self.life.pinged(130, answers=True)
        self.assertFalse(self.life.lost(1000, False))
        self.assertTrue(self.life.ping_due(1000, False))

    def test_client_that_takes_nothing(self):
        self.life.sending(130)
        self.assertFalse(self.life.ping_due(1000, True))
        self.assertFalse(self.life.lost(180, True))
        self.assertTrue(self.life.lost(181, True))
        self.assertTrue(self.life.lost(181, False))
        self.life.sent(182)
        self.assertFalse(self.life.lost(1000, True))
