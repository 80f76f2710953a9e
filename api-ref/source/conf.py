# SPDX-License-Identifier: Apache-2.0
"""Configuration of Sphinx."""

extensions = ['openstackdocstheme', 'os_api_ref']

project = 'Containers API'
copyright = 'OpenStack contributors'
master_doc = 'index'
pygments_style = 'native'
html_theme = 'openstackdocs'
html_theme_options = {'sidebar_mode': 'toc'}

openstackdocs_repo_name = 'openstack/zun'
openstackdocs_bug_project = 'zun'
openstackdocs_bug_tag = 'api-ref'
openstackdocs_auto_name = False
openstackdocs_auto_version = False
openstackdocs_use_storyboard = False
