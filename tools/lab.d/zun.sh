# SPDX-License-Identifier: Apache-2.0
# Zun's own services: zun-api, zun-scheduler, zun-wsproxy, and one zun-compute for each of $LAB_ZUN_HOSTS.

. "$LAB_SELF/tls.sh"

zun_bin() { echo "$LAB_ZUN_VENV/bin/$1"; }
zun_auth() {   # the service user, for both option groups
    cat <<CONF
auth_type = password
auth_url = $LAB_AUTH_URL
username = zun
password = $LAB_PASSWORD
project_name = service
user_domain_name = Default
project_domain_name = Default
CONF
}
write_zun_conf() {
    local etc=$LAB_ETC/zun host port=$LAB_STREAM_PORT; mkdir -p "$etc" "$LAB_DATA/zun"
    cat >"$etc/zun.conf" <<CONF
[DEFAULT]
transport_url = $LAB_TRANSPORT_URL
my_ip = $LAB_HOST
state_path = $LAB_DATA/zun
log_dir = $LAB_LOG
use_stderr = false
capsule_driver = docker
auth_encryption_key = $(cat "$etc/encryption-key" 2>/dev/null || new_key)
${LAB_ZUN_DEFAULT:-}
[api]
host_ip = $LAB_HOST
port = ${LAB_CONTAINER_URL##*:}
workers = ${LAB_ZUN_WORKERS:-2}
api_paste_config = $LAB_REPO/etc/zun/api-paste.ini
[database]
connection = $(db_url zun)
[keystone_authtoken]
www_authenticate_uri = $LAB_AUTH_URL
service_token_roles_required = true
$(zun_auth)
[keystone_auth]
$(zun_auth)
[network]
driver = ${LAB_ZUN_NETWORK:-embedded}
[embedded_network]
allow_multiple_hosts = true
[scheduler]
reap_interval = 5
reap_after = 20
[docker]
api_url = $LAB_DOCKER_HOST
[console]
ca_file = $etc/tls/ca.pem
proxy_cert_file = $etc/tls/zun-wsproxy.pem
proxy_key_file = $etc/tls/zun-wsproxy.key
[websocket_proxy]
base_url = ws://$LAB_HOST:$LAB_WSPROXY_PORT/
wsproxy_host = $LAB_HOST
wsproxy_port = $LAB_WSPROXY_PORT
${LAB_ZUN_EXTRA:-}
CONF
    make_ca "$etc/tls"; make_proxy_cert "$etc/tls"
    for host in $LAB_ZUN_HOSTS; do
        make_node_cert "$etc/tls" "$host" "$LAB_HOST"
        mkdir -p "$LAB_DATA/zun/$host"
        cat >"$etc/$host.conf" <<CONF
[DEFAULT]
host = $host
state_path = $LAB_DATA/zun/$host
log_file = zun-compute-$host.log
[volume]
volume_dir = $LAB_DATA/zun/$host/mnt
[console]
listen_address = $LAB_HOST
listen_port = $port
cert_file = $etc/tls/$host.pem
key_file = $etc/tls/$host.key
CONF
        port=$((port + 1))
    done
}
new_key() {
    (umask 077; head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$LAB_ETC/zun/encryption-key")
    cat "$LAB_ETC/zun/encryption-key"
}
up_node() { # HOST
    spawn "zun-compute-$1" "$(zun_bin zun-compute)" --config-file "$LAB_ETC/zun/zun.conf" --config-file "$LAB_ETC/zun/$1.conf"
}
nodes_ready() { # every host has a service row, and the ledger knows what it has
    local host count=0
    for host in $LAB_ZUN_HOSTS; do count=$((count + 1)); done
    [ "$(sql -N zun -e "select count(*) from zun_service where \`binary\` = 'zun-compute' and last_seen_up >= '${NODES_SINCE:-1970-01-01}'")" -ge $count ] &&
    [ "$(sql -N placement -e 'select count(distinct resource_provider_id) from inventories')" -ge $count ]
}
up_zun() {
    [ -x "$(zun_bin zun-api)" ] || die "no zun-api in $LAB_ZUN_VENV (set LAB_ZUN_VENV)"
    make_db zun
    write_zun_conf
    "$(zun_bin zun-db-manage)" --config-file "$LAB_ETC/zun/zun.conf" upgrade >>"$LAB_LOG/zun-db-manage.log" 2>&1 \
        || { tail -5 "$LAB_LOG/zun-db-manage.log" >&2; die "database upgrade failed"; }
    control_zun start
}
down_zun() { control_zun stop nodes wsproxy scheduler api; }
up_api() {
    alive zun-api || ! http_ok "$LAB_CONTAINER_URL/healthcheck" || die "something else answers on $LAB_CONTAINER_URL (set LAB_CONTAINER_URL)"
    spawn zun-api "$(zun_bin zun-api)" --config-file "$LAB_ETC/zun/zun.conf"
}
up_wsproxy() { spawn zun-wsproxy "$(zun_bin zun-wsproxy)" --config-file "$LAB_ETC/zun/zun.conf"; }
up_scheduler() { spawn zun-scheduler "$(zun_bin zun-scheduler)" --config-file "$LAB_ETC/zun/zun.conf"; }
kill_tree() { # NAME: -9 for the recorded process and its workers at once; they are a session of their own
    local pid; pid=$(cat "$LAB_RUN/$1.pid") && kill -KILL -- "-$pid" 2>/dev/null || true
    rm -f "$LAB_RUN/$1.pid"
}
service_names() { # api | scheduler | wsproxy | nodes ...: names of the processes; all without arguments
    local part
    [ $# -gt 0 ] || set -- api scheduler wsproxy nodes
    for part; do
        if [ "$part" = nodes ]; then printf 'zun-compute-%s\n' $LAB_ZUN_HOSTS; else echo "zun-$part"; fi
    done
}
start_service() { # NAME
    case $1 in
    zun-api) up_api ;;
    zun-scheduler) up_scheduler ;;
    zun-wsproxy) up_wsproxy ;;
    zun-compute-*) up_node "${1#zun-compute-}" ;;
    esac
}
zun_ready() {
    wait_for zun-api http_ok "$LAB_CONTAINER_URL/healthcheck"
    wait_for zun-wsproxy http_ok "http://$LAB_HOST:$LAB_WSPROXY_PORT/"
    wait_for "zun-compute-${LAB_ZUN_HOSTS%% *}" nodes_ready
}
control_zun() { # stop|kill|start [api|scheduler|wsproxy|nodes]...: what a test does to the services
    local verb=$1 name; shift
    [ "$verb" != start ] || NODES_SINCE=$(sql -N -e 'select utc_timestamp()')
    for name in $(service_names "$@"); do
        case $verb in
        start) if alive "$name"; then NODES_SINCE=; else start_service "$name"; fi ;;
        stop)  reap "$name" ;;
        kill)  kill_tree "$name" ;;
        *)     usage ;;
        esac
    done
    [ "$verb" != start ] || zun_ready
}
