# SPDX-License-Identifier: Apache-2.0
"""What deployment tools and old configuration files set: options without effect, old values.

Such options stay registered, so that the files load and validate, and the log names those that are
set.
"""

import dataclasses
import logging

from oslo_config import cfg


@dataclasses.dataclass(frozen=True)
class Unread:
    """An option that nothing reads.

    :ivar group: name of the group, DEFAULT included
    :ivar reason: one sentence for operators: what takes the option's place, or why nothing does
    :ivar silent: deployment tools write it everywhere; do not report it
    :ivar foreign: its group belongs to a library that knew it once; listed, never registered
    """

    group: str
    opt: cfg.Opt
    reason: str
    silent: bool = False
    foreign: bool = False


@dataclasses.dataclass(frozen=True)
class Renamed:
    """A value that stays accepted and means another one."""

    group: str
    name: str
    value: str
    meaning: str
    reason: str


_NEVER = 'It never had an effect.'
_CONSOLE = 'Consoles reach the engine through zun-compute, see [console].'
_CNI = 'zun-cni-daemon has no such setting any more.'
_SERVER_TLS = 'Use [api]enable_ssl_api and [ssl].'
_NO_VERSION = 'The version of the API is known.'
_NO_PORTS = 'This release wires no ports of Neutron on nodes.'
_NO_CINDER = 'This release attaches no volumes of Cinder.'
_NO_CRI = 'This release has no CRI driver of capsules.'


def _text(name: str, default: str | None = None) -> cfg.Opt:
    return cfg.StrOpt(name, default=default)


def _files(reason: str, *names: str) -> list[Unread]:
    return [Unread('DEFAULT', _text(name), reason, silent=True) for name in names]


UNREAD: list[Unread] = [
    Unread('DEFAULT', _text('bindir', '$pybasedir/bin'), _NEVER),
    Unread('DEFAULT', cfg.IntOpt('default_sleep_time', default=1), _NEVER),
    Unread('DEFAULT', cfg.IntOpt('default_timeout', default=600), _NEVER),
    Unread('DEFAULT', cfg.BoolOpt('use_sandbox'), 'Only capsules have a sandbox.', silent=True),
    Unread('DEFAULT', cfg.ListOpt('enabled_ssl_apis'), _SERVER_TLS, silent=True),
    *_files(_SERVER_TLS, 'ssl_cert_file', 'ssl_key_file'),
    Unread(
        'DEFAULT',
        cfg.IntOpt('rpc_conn_pool_size', min=1),
        'Use [oslo_messaging_rabbit]rpc_conn_pool_size.',
    ),
    Unread('cinder_client', _text('api_version', '3'), _NO_VERSION),
    Unread('cni_daemon', cfg.BoolOpt('docker_mode', default=False), _CNI),
    Unread('cni_daemon', _text('netns_proc_dir'), _CNI),
    Unread('cni_daemon', cfg.IntOpt('pyroute2_timeout', default=10), _CNI),
    Unread('cni_daemon', cfg.DictOpt('sriov_physnet_resource_mappings', default={}), _NEVER),
    Unread('cni_daemon', cfg.DictOpt('sriov_resource_driver_mappings', default={}), _NEVER),
    Unread('cni_daemon', cfg.IntOpt('worker_num', default=30), _CNI),
    Unread('database', _text('mysql_engine', 'InnoDB'), 'Tables are made with InnoDB.'),
    Unread('docker', _text('docker_data_root', '/var/lib/docker'), 'The engine is asked for it.'),
    Unread('docker', _text('docker_remote_api_host', '$my_ip'), _CONSOLE),
    Unread('docker', _text('docker_remote_api_port', '2375'), _CONSOLE),
    Unread(
        'docker',
        _text(
            'docker_remote_api_url',
            'tcp://$docker_remote_api_host:$docker_remote_api_port',
        ),
        _CONSOLE,
    ),
    Unread('glance_client', _text('api_version', '2'), _NO_VERSION),
    Unread('network', _text('driver_name', 'kuryr'), 'Networks need no engine plug-in.'),
    Unread(
        'oslo_messaging_rabbit',
        cfg.BoolOpt('heartbeat_in_pthread'),
        'Heartbeats always have a thread of their own.',
        foreign=True,
    ),
    Unread('pci', cfg.MultiStrOpt('alias', default=[]), _NEVER),
    Unread('ssl', _text('version'), 'TLS 1.2 is the lowest version.'),
    Unread('volume', _text('driver', 'cinder'), 'Use [volume]driver_list.'),
    Unread('zun_client', _text('endpoint_type', 'publicURL'), _NEVER, silent=True),
    Unread('zun_client', _text('region_name'), _NEVER, silent=True),
    Unread('zun_client', _text('ca_file'), _NEVER, silent=True),
    Unread('zun_client', _text('cert_file'), _NEVER, silent=True),
    Unread('zun_client', _text('key_file'), _NEVER, silent=True),
    Unread('zun_client', cfg.BoolOpt('insecure', default=False), _NEVER, silent=True),
]

#: (group, name of an option that is declared with all the others) -> why nothing reads it yet
WAITING: dict[tuple[str, str], str] = {
    ('DEFAULT', 'my_block_storage_ip'): _NO_CINDER,
    ('DEFAULT', 'rootwrap_config'): _NO_PORTS,
    ('cni_daemon', 'vif_active_timeout'): _NO_PORTS,
    ('cni_daemon', 'zun_cni_config_file'): _NO_CRI,
    ('network', 'vif_plugging_timeout'): _NO_PORTS,
    ('network', 'vif_plugging_is_fatal'): _NO_PORTS,
    ('network', 'netns_mode'): _NO_PORTS,
    ('network', 'ovsdb_connection'): _NO_PORTS,
    ('network', 'tx_checksum'): _NO_PORTS,
    ('neutron', 'ovs_bridge'): _NO_PORTS,
    ('volume', 'fstype'): _NO_CINDER,
    ('volume', 'use_multipath'): _NO_CINDER,
    ('volume', 'timeout_wait_volume_available'): _NO_CINDER,
    ('volume', 'timeout_wait_volume_deleted'): _NO_CINDER,
}

_NEUTRON = 'Zun wires the ports of Neutron itself.'
RENAMED: list[Renamed] = [
    Renamed('network', 'driver', 'kuryr', 'native', _NEUTRON),
    Renamed('network', 'driver', 'cni', 'native', _NEUTRON),
]

REGISTERED = [entry for entry in UNREAD if not entry.foreign]

for _entry in UNREAD:
    _entry.opt.help = f'Accepted, without effect. {_entry.reason}'


def is_set(conf: cfg.ConfigOpts, name: str, group: str) -> bool:
    """Tell whether the operator gave the option a value, whatever it is."""
    where = conf.get_location(name, None if group == 'DEFAULT' else group)
    return where is not None and where.location.is_user_controlled


def report(conf: cfg.ConfigOpts, log: logging.Logger | logging.LoggerAdapter) -> None:
    """Log one warning for each option set in vain, and for each value that means another one."""
    reasons = {(entry.group, entry.opt.dest): entry.reason
               for entry in REGISTERED if not entry.silent}
    for (group, name), reason in {**reasons, **WAITING}.items():
        if is_set(conf, name, group):
            log.warning('[%s]%s has no effect. %s', group, name, reason)
    for value in RENAMED:
        if conf[value.group][value.name] == value.value:
            log.warning('[%s]%s = %s means %s. %s', value.group, value.name, value.value,
                        value.meaning, value.reason)
