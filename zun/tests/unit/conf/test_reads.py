# SPDX-License-Identifier: Apache-2.0
"""Every option that is declared is read somewhere, or said to have no effect."""

import ast
import pathlib
import re

import zun.conf
from zun.conf import legacy
from zun.tests import base

ROOT = pathlib.Path(__file__).parents[3]
#: Groups whose options are read by the library that declares them.
LIBRARIES = {'database', 'keystone_auth', 'profiler', 'service_user'}
#: Any group, or any option of a group.
ANY = '*'
_NAME = re.compile(r'[a-z]+(_[a-z]+)+')


class Reads(ast.NodeVisitor):
    """Collects (group, option) of ``CONF.group.option`` and of what is written like it.

    A group may be in a variable (``options = CONF.docker``), and names may be computed.
    """

    def __init__(self):
        self.found = set()
        self.texts = set()
        self._variables = {}

    def _group(self, node):
        if isinstance(node, ast.Name):
            return self._variables.get(node.id)
        if isinstance(node, ast.Attribute) and _is_conf(node.value):
            return node.attr
        if isinstance(node, ast.Subscript) and _is_conf(node.value):
            return node.slice.value if isinstance(node.slice, ast.Constant) else ANY
        return None

    def visit_Assign(self, node):
        target = node.targets[0]
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for name, value in pairs:
            if isinstance(name, ast.Name) and self._group(value):
                self._variables[name.id] = self._group(value)
        self.generic_visit(node)

    def visit_Attribute(self, node):
        if _is_conf(node.value):
            self.found.add(('DEFAULT', node.attr))
        elif self._group(node.value):
            self.found.add((self._group(node.value), node.attr))
        self.generic_visit(node)

    def visit_Subscript(self, node):
        if self._group(node.value):
            self.found.add((self._group(node.value), ANY))
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, str) and _NAME.fullmatch(node.value):
            self.texts.add(node.value)


def _is_conf(node):
    return getattr(node, 'id', getattr(node, 'attr', None)) == 'CONF'


def reads():
    """What the code outside of zun.conf reads: by group and name, and names as texts."""
    visitor = Reads()
    for path in ROOT.rglob('*.py'):
        if not {'tests', 'conf'} & set(path.relative_to(ROOT).parts):
            visitor.visit(ast.parse(path.read_text()))
    return visitor


def references():
    """Options that are parts of others: ``$state_path``."""
    defaults = [str(opt.default) for _, opts in zun.conf.GROUPS for opt in opts]
    defaults += [str(entry.opt.default) for entry in legacy.UNREAD]
    return {name for text in defaults for name in re.findall(r'\$(\w+)', text)}


class ReadsTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.reads = reads()

    def is_read(self, group, name):
        return bool({(group, name), (ANY, name), (group, ANY)} & self.reads.found)

    def test_every_option(self):
        texts = self.reads.texts | references()
        unread = {
            (group.name, opt.dest) for group, opts in zun.conf.GROUPS for opt in opts
            if group.name not in LIBRARIES and not self.is_read(group.name, opt.dest)
            and opt.dest not in texts}
        self.assertEqual(set(legacy.WAITING), unread)

    def test_what_has_no_effect_is_not_read(self):
        for entry in legacy.UNREAD:
            self.assertNotIn((entry.group, entry.opt.dest), self.reads.found)

    def test_own_options_of_library_groups(self):
        for key in (('database', 'connection'), ('profiler', 'enabled'),
                    (ANY, 'send_service_user_token')):
            self.assertIn(key, self.reads.found)

    def test_what_is_recognised(self):
        visitor = Reads()
        visitor.visit(ast.parse(
            'a = CONF.one\nb, c = 1, CONF[name]\n'
            'CONF.host; conf.CONF.two.x; a.y; c.z; CONF.three[key]; d.nothing; f("min_cpus")'))
        self.assertLessEqual(
            {('DEFAULT', 'host'), ('two', 'x'), ('one', 'y'), (ANY, 'z'), ('three', ANY)},
            visitor.found)
        self.assertNotIn('nothing', {name for _, name in visitor.found})
        self.assertEqual({'min_cpus'}, visitor.texts)
