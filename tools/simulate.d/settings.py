# SPDX-License-Identifier: Apache-2.0
"""Configuration files of the simulated services."""

import os
import pathlib

import cloud

_COMMON = """\
[DEFAULT]
transport_url = {bus}
state_path = {directory}/state
log_file = {directory}/{name}.log
use_stderr = false
host = {host}
container_driver = fake
default_disk = 0
image_driver_list = docker
executor_thread_pool_size = 8
[database]
connection = {database}
max_pool_size = 20
[network]
driver = embedded
[volume]
driver_list = local
[scheduler]
mode = service
ledger = {ledger}
optimistic_above = {above}
[placement_client]
audit_interval = 0
[compute]
rpc_workers = 4
initial_cpu_allocation_ratio = {ratio}
default_image_pull_policy = ifnotpresent
[quota]
containers = -1
cpu = -1
memory = -1
disk = -1
[keystone_auth]
auth_type = password
auth_url = {auth_url}
username = zun
password = {password}
project_name = service
user_domain_name = Default
project_domain_name = Default
"""

#: Ways to use the two ledgers -> number of hosts above which candidates are not asked for.
LEDGERS = {'placement': 64, 'local': 64, 'asked': 0, 'optimistic': 1}


def directory() -> pathlib.Path:
    """Where configuration, logs and state are."""
    found = pathlib.Path(os.environ['LAB_DIR']) / 'sim'
    (found / 'state').mkdir(parents=True, exist_ok=True)
    return found


def write(name: str, role: str, ledger: str, host: str, ratio: float = 16.0) -> pathlib.Path:
    """The file of one process.

    :param name: of the process
    :param role: one of :data:`cloud.ROLES`
    :param ledger: one of :data:`LEDGERS`
    :param ratio: how many times the CPUs of a node are allocated
    """
    environ = os.environ
    server = environ['LAB_DB_URL'].rpartition('@')[2]
    path = directory() / f'{name}.conf'
    path.write_text(_COMMON.format(
        bus=environ['LAB_TRANSPORT_URL'].rstrip('/') + f'/{cloud.VHOST}', directory=directory(),
        name=name, host=host, ledger='local' if ledger == 'local' else 'placement',
        above=LEDGERS[ledger], ratio=ratio, auth_url=environ['LAB_AUTH_URL'],
        password=environ['LAB_PASSWORD'],
        database=f'mysql+pymysql://{cloud.user(role)}:{environ["LAB_PASSWORD"]}@{server}/'
                 f'{cloud.DATABASE}'))
    return path
