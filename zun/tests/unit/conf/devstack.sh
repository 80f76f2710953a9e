# SPDX-License-Identifier: Apache-2.0
# As much of devstack as its plugin of Zun calls. Sourced with ROOT, the directory that stands for /,
# REPO, and ENABLED_SERVICES; calls go to $ROOT/calls, one a line.
# shellcheck shell=bash disable=SC2034

set -euo pipefail

DEST=$ROOT/opt/stack
DATA_DIR=$DEST/data
GIT_BASE=https://git.example.org
HOST_IP=192.0.2.20
SERVICE_HOST=192.0.2.20
SERVICE_LISTEN_ADDRESS=0.0.0.0
SERVICE_PROTOCOL=http
SERVICE_PASSWORD=secret
SERVICE_DOMAIN_NAME=Default
SERVICE_PROJECT_NAME=service
SERVICE_TIMEOUT=60
STACK_USER=$(id -un)
REGION_NAME=RegionOne
ENABLE_DEBUG_LOG_LEVEL=True
KEYSTONE_SERVICE_URI=http://192.0.2.20/identity
SSL_BUNDLE_FILE=$DATA_DIR/ca-bundle.pem
DEVSTACK_CERT=$DATA_DIR/devstack-cert.pem
ZUN_CONF_DIR=$ROOT/etc/zun
ZUN_DIR=$REPO
ZUN_BIN_DIR=$ROOT/bin

function called { echo "$*" >>"$ROOT/calls"; }

for name in define_plugin install_package start_service git_clone setup_develop pip_install_gr \
    configure_rootwrap write_uwsgi_config remove_uwsgi_config create_service_user \
    get_or_create_service get_or_create_endpoint recreate_database wait_for_service stop_process; do
    eval "function $name { called $name \"\$@\"; }"
done

function echo_summary { :; }
function sudo { "$@"; }
function die { echo "$@" >&2; exit 1; }
function get_python_exec_prefix { echo "$ROOT/bin"; }
function use_library_from_git { return 1; }
function ipv6_unquote_host { echo "$1"; }
function trueorfalse { echo "${!2:-$1}"; }
function database_connection_url { echo "mysql+pymysql://root:secret@127.0.0.1/$1?charset=utf8"; }
function iniset { printf '[%s]\n%s = %s\n' "$2" "$3" "$4" >>"$1"; }
function iniset_rpc_backend { iniset "$2" DEFAULT transport_url rabbit://stackrabbit:secret@192.0.2.20:5672/; }
function setup_logging { iniset "$1" DEFAULT use_journal True; }

function enable_service {
    local name
    for name; do
        if [[ ",$ENABLED_SERVICES," != *",-$name,"* ]]; then ENABLED_SERVICES+=",$name"; fi
    done
}

function is_service_enabled {
    local name
    for name; do
        if [[ ",$ENABLED_SERVICES," == *",$name,"* ]]; then return 0; fi
    done
    return 1
}

function configure_keystone_authtoken_middleware {
    local section=${3:-keystone_authtoken}
    iniset "$1" "$section" auth_type password
    iniset "$1" "$section" interface public
    iniset "$1" "$section" auth_url "$KEYSTONE_SERVICE_URI"
    iniset "$1" "$section" username "$2"
    iniset "$1" "$section" password "$SERVICE_PASSWORD"
    iniset "$1" "$section" user_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$1" "$section" project_name "$SERVICE_PROJECT_NAME"
    iniset "$1" "$section" project_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$1" "$section" cafile "$SSL_BUNDLE_FILE"
    iniset "$1" "$section" memcached_servers localhost:11211
}

function run_process {
    if is_service_enabled "$1"; then called run_process "$@"; fi
}

function docker {
    called docker "$@"
    if [[ " $* " == *" ls "* ]]; then echo one; echo two; fi
}
