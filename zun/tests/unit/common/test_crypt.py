# SPDX-License-Identifier: Apache-2.0

from zun.common import crypt
from zun.common import exception
from zun.tests import base

OLD = 'a key that was used until today.'
NEW = 'a key that is used from today on'


class CryptTest(base.TestCase):
    def test_round_trip(self):
        for secret in ('', 'secret', 'ünïcode \U0001f511', 'x' * 5000):
            token = crypt.encrypt(secret)
            self.assertEqual(secret, crypt.decrypt(token))
            self.assertNotEqual(token, crypt.encrypt(secret))

    def test_token_of_an_imported_database(self):
        # Made with the key of 32 characters that deployments without one of their own have.
        token = ('gAAAAABlAAAAAAAAAAAAAAAAAAAAAAAAABa3paTJ8ICTrl-S9qMeJtaI1BLFa6_cS12C49JnNI_J'
                 'LE_pcqz7wzsgOxREEdXx1w==')
        self.assertEqual('secret', crypt.decrypt(token))

    def test_first_key_encrypts_all_decrypt(self):
        self.config(auth_encryption_key=OLD)
        old = crypt.encrypt('secret')
        self.config(auth_encryption_key=f'{NEW},{OLD}')
        self.assertEqual('secret', crypt.decrypt(old))
        new = crypt.encrypt('secret')
        self.config(auth_encryption_key=NEW)
        self.assertEqual('secret', crypt.decrypt(new))
        self.assertRaises(exception.InvalidEncryptionKey, crypt.decrypt, old)

    def test_only_32_characters_count(self):
        self.config(auth_encryption_key=NEW + 'and more')
        token = crypt.encrypt('secret')
        self.config(auth_encryption_key=NEW)
        self.assertEqual('secret', crypt.decrypt(token))

    def test_public_key(self):
        default = self.CONF.auth_encryption_key
        for text, expected in ((default, True), (f'{default},{"k" * 32}', True),
                               (f'{default}more', True), ('k' * 32, False),
                               (f'{"k" * 32},{default}', False)):
            self.config(auth_encryption_key=text)
            self.assertEqual(expected, crypt.is_public(), text)

    def test_renewed(self):
        old, new = 'o' * 32, 'n' * 32
        self.config(auth_encryption_key=old)
        token = crypt.encrypt('secret')
        self.assertEqual(token, crypt.renewed(token))
        self.config(auth_encryption_key=f'{new},{old}')
        renewed = crypt.renewed(token)
        self.assertNotEqual(token, renewed)
        self.config(auth_encryption_key=new)
        self.assertEqual('secret', crypt.decrypt(renewed))
        self.assertRaises(exception.InvalidEncryptionKey, crypt.renewed, token)

    def test_what_is_no_token(self):
        for token in ('', 'secret', 'gAAAAAB', crypt.encrypt('x')[:-4], 'ä'):
            self.assertRaises(exception.InvalidEncryptionKey, crypt.decrypt, token)

    def test_short_key(self):
        for keys in ('short', f'{OLD},short', f'{OLD},', ''):
            self.config(auth_encryption_key=keys)
            error = self.assertRaises(exception.InvalidEncryptionKey, crypt.encrypt, 'secret')
            self.assertNotIn('short', error.message)

    def test_key_beyond_ascii(self):
        self.config(auth_encryption_key='ü' * 32)
        self.assertRaises(exception.InvalidEncryptionKey, crypt.encrypt, 'secret')
