# SPDX-License-Identifier: Apache-2.0
"""Configuration of Sphinx."""

import os
import sys

# The policies and options shown are those of this source tree.
sys.path.insert(0, os.path.abspath('../..'))

extensions = [
    'openstackdocstheme',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
]

project = 'Zun'
copyright = 'OpenStack contributors'
master_doc = 'index'
exclude_patterns: list[str] = []
pygments_style = 'native'
html_theme = 'openstackdocs'
html_theme_options = {'display_global_toc_section': True}

openstackdocs_repo_name = 'openstack/zun'
openstackdocs_bug_project = 'zun'
openstackdocs_auto_name = False
openstackdocs_auto_version = False
openstackdocs_use_storyboard = False
