# SPDX-License-Identifier: Apache-2.0
# The servers around Zun, one up_ and one down_ each.

install_venv() {
    [ -x "$LAB_VENV/bin/keystone-manage" ] && [ -x "$LAB_VENV/bin/placement-manage" ] && return
    say "installing servers into their venv"
    "$LAB_PYTHON" -m venv "$LAB_VENV"
    "$LAB_VENV/bin/pip" install -q -r "$LAB_SELF/requirements.txt" >"$LAB_LOG/pip.log" 2>&1 \
        || { tail -5 "$LAB_LOG/pip.log" >&2; die "pip install failed"; }
}

# --- docker -------------------------------------------------------------------------------------
up_docker() {
    docker_ version >/dev/null 2>&1 && return
    if [ "$LAB_DOCKER_PRIVATE" != 1 ]; then
        spawn docker dockerd --host "$LAB_DOCKER_HOST" --pidfile "$LAB_RUN/dockerd.pid"
        wait_for docker docker_ version
        return
    fi
    if ! ip link show "$LAB_DOCKER_BRIDGE" >/dev/null 2>&1; then
        ip link add "$LAB_DOCKER_BRIDGE" type bridge; ip addr add "$LAB_DOCKER_BIP" dev "$LAB_DOCKER_BRIDGE"
        ip link set "$LAB_DOCKER_BRIDGE" up
        echo "$LAB_DOCKER_BRIDGE" >"$LAB_RUN/docker.bridge"   # ours to remove, and no other lab's
    fi
    spawn docker dockerd --host "unix://$LAB_RUN/docker.sock" --host "tcp://$LAB_HOST:$LAB_DOCKER_PORT" \
        --data-root "$LAB_DATA/docker" --exec-root "$LAB_RUN/docker" --pidfile "$LAB_RUN/dockerd.pid" \
        --bridge "$LAB_DOCKER_BRIDGE" --iptables=false --ip6tables=false --default-address-pool base=172.30.0.0/17,size=24
    wait_for docker docker_ version
}
down_docker() {
    reap docker
    [ ! -e "$LAB_RUN/docker.bridge" ] || { ip link del "$(cat "$LAB_RUN/docker.bridge")" 2>/dev/null || true; rm -f "$LAB_RUN/docker.bridge"; }
}

# --- database -----------------------------------------------------------------------------------
up_db() {
    local d=$LAB_DATA/mysql
    if [ ! -d "$d/mysql" ]; then
        mkdir -p "$d"
        mariadb-install-db --no-defaults --datadir="$d" --user="$(id -un)" --auth-root-authentication-method=normal \
            --skip-test-db >"$LAB_LOG/db-init.log" 2>&1 || die "database initialisation failed, see $LAB_LOG/db-init.log"
    fi
    spawn db mariadbd --no-defaults --user="$(id -un)" --datadir="$d" --socket="$LAB_RUN/mysql.sock" \
        --pid-file="$LAB_RUN/mariadbd.pid" --bind-address="$LAB_HOST" --port="$LAB_DB_PORT" \
        --character-set-server=utf8mb3 --collation-server=utf8mb3_general_ci --max-connections=1000 \
        --innodb-buffer-pool-size=256M --innodb-flush-log-at-trx-commit=2 --skip-name-resolve --skip-log-bin
    wait_for db sql -e 'select 1'
    sql -e "create user if not exists 'lab'@'%' identified by '$LAB_PASSWORD'; grant all on *.* to 'lab'@'%' with grant option;"
}
down_db() { reap db; }
make_db() { # NAME: a schema, and a database user of that name for it
    sql -e "create database if not exists \`$1\`; create user if not exists '$1'@'%' identified by '$LAB_PASSWORD'; grant all on \`$1\`.* to '$1'@'%'"
}

# --- message bus --------------------------------------------------------------------------------
mq_env() {
    env HOME="$LAB_DATA/mq" RABBITMQ_NODENAME="$LAB_MQ_NODE" RABBITMQ_NODE_IP_ADDRESS="$LAB_HOST" \
        RABBITMQ_NODE_PORT="$LAB_MQ_PORT" RABBITMQ_DIST_PORT="$LAB_MQ_DIST_PORT" ERL_EPMD_ADDRESS="$LAB_HOST" \
        RABBITMQ_MNESIA_BASE="$LAB_DATA/mq" RABBITMQ_LOG_BASE="$LAB_LOG" RABBITMQ_PID_FILE="$LAB_RUN/rabbit.pid" \
        RABBITMQ_ENABLED_PLUGINS_FILE="$LAB_ETC/rabbit-plugins" RABBITMQ_CONF_ENV_FILE=/dev/null \
        RABBITMQ_CONFIG_FILE="$LAB_ETC/rabbit.conf" RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+S 2:2 +sbwt none" "$@"
}
mqctl() { mq_env /usr/lib/rabbitmq/bin/rabbitmqctl "$@"; }
up_mq() {
    mkdir -p "$LAB_DATA/mq"
    [ -e "$LAB_DATA/mq/.erlang.cookie" ] || (umask 077; head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$LAB_DATA/mq/.erlang.cookie")
    chmod 400 "$LAB_DATA/mq/.erlang.cookie"
    printf '[].\n' >"$LAB_ETC/rabbit-plugins"
    printf 'default_user = lab\ndefault_pass = %s\nloopback_users = none\nlog.console = false\nvm_memory_high_watermark.absolute = 512MB\ndisk_free_limit.absolute = 100MB\n' \
        "$LAB_PASSWORD" >"$LAB_ETC/rabbit.conf"
    spawn mq "$LAB_REPO/tools/lab" exec-mq
    wait_for mq mqctl await_startup --timeout 5
}
down_mq() { if alive mq; then mqctl shutdown --timeout 20 >/dev/null 2>&1 || true; fi; reap mq; }

# --- identity -----------------------------------------------------------------------------------
serve_wsgi() { # NAME PORT MODULE: under gunicorn, without arguments of its own (applications read them as theirs)
    cat >"$LAB_ETC/$1/gunicorn.conf.py" <<CONF
wsgi_app, bind, workers, threads = "$3", "$LAB_HOST:$2", 2, 8
timeout, keepalive, worker_tmp_dir, loglevel, backlog = 60, 30, "$LAB_RUN", "warning", 512
accesslog, access_log_format = "$LAB_LOG/$1-access.log", '%(t)s %(m)s %(U)s?%(q)s %(s)s %(D)sus'
CONF
    spawn "$1" env --chdir="$LAB_ETC/$1" PYTHONWARNINGS=ignore "$LAB_VENV/bin/gunicorn"
}
up_keystone() {
    local etc=$LAB_ETC/keystone; mkdir -p "$etc"; make_db keystone
    cat >"$etc/keystone.conf" <<CONF
[DEFAULT]
log_file = $LAB_LOG/keystone-server.log
[database]
connection = $(db_url keystone)
[token]
provider = fernet
expiration = 14400
[fernet_tokens]
key_repository = $etc/fernet
[credential]
key_repository = $etc/credential
[identity]
password_hash_rounds = $LAB_PASSWORD_ROUNDS
[cache]
enabled = true
backend = dogpile.cache.memory
[catalog]
caching = false
CONF
    export OS_KEYSTONE_CONFIG_DIR=$etc
    local manage=("$LAB_VENV/bin/keystone-manage" --config-file "$etc/keystone.conf")
    if [ ! -e "$etc/.ready" ]; then
        local me grp; me=$(id -un) grp=$(id -gn)
        "${manage[@]}" db_sync
        "${manage[@]}" fernet_setup --keystone-user "$me" --keystone-group "$grp"
        "${manage[@]}" credential_setup --keystone-user "$me" --keystone-group "$grp"
        "${manage[@]}" bootstrap --bootstrap-password "$LAB_PASSWORD" --bootstrap-region-id "$LAB_REGION" \
            --bootstrap-admin-url "$LAB_AUTH_URL" --bootstrap-internal-url "$LAB_AUTH_URL" --bootstrap-public-url "$LAB_AUTH_URL"
        touch "$etc/.ready"
    fi
    serve_wsgi keystone "$LAB_KEYSTONE_PORT" keystone.wsgi.api:application
    wait_for keystone http_ok "$LAB_AUTH_URL"
    export LAB_AUTH_URL LAB_PASSWORD LAB_REGION LAB_CONTAINER_URL
    LAB_PLACEMENT_URL=http://$LAB_HOST:$LAB_PLACEMENT_PORT LAB_NETWORK_URL=http://$LAB_HOST:$LAB_NETWORK_PORT \
        "$LAB_PYTHON" "$LAB_SELF/identity.py"
}
down_keystone() { reap keystone; }

# --- placement ----------------------------------------------------------------------------------
up_placement() {
    local etc=$LAB_ETC/placement; mkdir -p "$etc"; make_db placement
    cat >"$etc/placement.conf" <<CONF
[DEFAULT]
log_file = $LAB_LOG/placement-server.log
[placement_database]
connection = $(db_url placement)
[api]
auth_strategy = keystone
[keystone_authtoken]
www_authenticate_uri = $LAB_AUTH_URL
auth_url = $LAB_AUTH_URL
auth_type = password
username = placement
password = $LAB_PASSWORD
project_name = service
user_domain_name = Default
project_domain_name = Default
service_token_roles_required = true
CONF
    [ -e "$etc/.ready" ] || { "$LAB_VENV/bin/placement-manage" --config-file "$etc/placement.conf" db sync; touch "$etc/.ready"; }
    OS_PLACEMENT_CONFIG_DIR=$etc serve_wsgi placement "$LAB_PLACEMENT_PORT" placement.wsgi.api:application
    wait_for placement http_ok "http://$LAB_HOST:$LAB_PLACEMENT_PORT/"
}
down_placement() { reap placement; }

# --- images, with files on disk (not part of `up` without arguments) ----------------------------------
up_glance() {
    [ -x "$LAB_VENV/bin/glance-manage" ] || "$LAB_VENV/bin/pip" install -q -r "$LAB_SELF/requirements-glance.txt" >>"$LAB_LOG/pip.log" 2>&1 \
        || die "pip install of glance failed, see $LAB_LOG/pip.log"
    local etc=$LAB_ETC/glance; mkdir -p "$etc" "$LAB_DATA/glance"; make_db glance
    cat >"$etc/glance-api.conf" <<CONF
[DEFAULT]
log_file = $LAB_LOG/glance-server.log
enabled_backends = disk:file
[disk]
filesystem_store_datadir = $LAB_DATA/glance/images
[os_glance_staging_store]
filesystem_store_datadir = $LAB_DATA/glance/staging
[os_glance_tasks_store]
filesystem_store_datadir = $LAB_DATA/glance/tasks
[glance_store]
default_backend = disk
[database]
connection = $(db_url glance)
[paste_deploy]
flavor = keystone
config_file = $LAB_VENV/etc/glance/glance-api-paste.ini
[keystone_authtoken]
www_authenticate_uri = $LAB_AUTH_URL
auth_url = $LAB_AUTH_URL
auth_type = password
username = glance
password = $LAB_PASSWORD
project_name = service
user_domain_name = Default
project_domain_name = Default
service_token_roles_required = true
CONF
    [ -e "$etc/.ready" ] || { "$LAB_VENV/bin/glance-manage" --config-file "$etc/glance-api.conf" db_sync >"$LAB_LOG/glance-db.log" 2>&1; touch "$etc/.ready"; }
    export LAB_AUTH_URL LAB_PASSWORD LAB_REGION LAB_CONTAINER_URL
    LAB_PLACEMENT_URL=http://$LAB_HOST:$LAB_PLACEMENT_PORT LAB_NETWORK_URL=http://$LAB_HOST:$LAB_NETWORK_PORT \
        LAB_IMAGE_URL=http://$LAB_HOST:$LAB_GLANCE_PORT "$LAB_PYTHON" "$LAB_SELF/identity.py"
    OS_GLANCE_CONFIG_DIR=$etc serve_wsgi glance "$LAB_GLANCE_PORT" glance.wsgi.api:application
    wait_for glance http_ok "http://$LAB_HOST:$LAB_GLANCE_PORT/healthcheck"
}
down_glance() { reap glance; }

# --- network API (in-memory stand-in) --------------------------------
up_network() {
    spawn network "$LAB_PYTHON" "$LAB_SELF/netapi.py" --host "$LAB_HOST" --port "$LAB_NETWORK_PORT" \
        --auth-url "$LAB_AUTH_URL" --state "$LAB_DATA/network.json"
    wait_for network http_ok "http://$LAB_HOST:$LAB_NETWORK_PORT/"
}
down_network() { reap network; }

# --- image registries and test images -----------------------------------------------------------
up_registry() {
    local p name; mkdir -p "$LAB_ETC/registry"
    "$LAB_VENV/bin/python" -c 'import bcrypt,sys; print("puller:" + bcrypt.hashpw(sys.argv[1].encode(), bcrypt.gensalt(5)).decode())' \
        "$LAB_PASSWORD" >"$LAB_ETC/registry/htpasswd"
    for name in registry auth-registry; do
        [ $name = registry ] && p=$LAB_REGISTRY_PORT || p=$LAB_AUTH_REGISTRY_PORT
        { printf 'version: 0.1\nlog: {level: warn}\nstorage: {filesystem: {rootdirectory: %s}, delete: {enabled: true}}\nhttp: {addr: "%s:%s"}\n' \
            "$LAB_DATA/$name" "$LAB_HOST" "$p"
          [ $name = registry ] || printf 'auth: {htpasswd: {realm: lab, path: %s}}\n' "$LAB_ETC/registry/htpasswd"
        } >"$LAB_ETC/registry/$name.yml"
        spawn "$name" docker-registry serve "$LAB_ETC/registry/$name.yml"
        wait_for "$name" bash -c "curl -s -o /dev/null --max-time 2 http://$LAB_HOST:$p/v2/"
    done
    push_images
}
down_registry() { reap registry; reap auth-registry; }
docker_build() { # without a network, so that it needs no default bridge
    DOCKER_BUILDKIT=0 docker_ build -q --network none "$@" >>"$LAB_LOG/images.log" 2>&1 \
        || { tail -5 "$LAB_LOG/images.log" >&2; die "image build failed"; }
}
push_images() {
    local open=$LAB_HOST:$LAB_REGISTRY_PORT shut=$LAB_HOST:$LAB_AUTH_REGISTRY_PORT ctx=$LAB_DATA/image
    if http_ok "http://$open/v2/lab/httpd/manifests/latest" 2>/dev/null && http_ok "http://$open/v2/lab/pause/manifests/latest" 2>/dev/null && [ -e "$LAB_ETC/registry/.pushed" ]; then return; fi
    [ -n "$LAB_BUSYBOX" ] || die "no static busybox found (package busybox-static)"
    mkdir -p "$ctx/www"; cp "$LAB_BUSYBOX" "$ctx/busybox"; echo 'hello from the lab' >"$ctx/www/index.html"
    cp "$LAB_SELF"/images/*.Dockerfile "$ctx/"
    docker_build -f "$ctx/busybox.Dockerfile" -t "$open/lab/busybox:latest" "$ctx"
    docker_build -f "$ctx/httpd.Dockerfile" --build-arg "BASE=$open/lab/busybox:latest" -t "$open/lab/httpd:latest" "$ctx"
    docker_build -f "$ctx/pause.Dockerfile" --build-arg "BASE=$open/lab/busybox:latest" -t "$open/lab/pause:latest" "$ctx"
    docker_ tag "$open/lab/busybox:latest" "$open/lab/busybox:v2"
    docker_ tag "$open/lab/busybox:latest" "$shut/lab/secret:latest"
    docker_ push -q "$open/lab/busybox:latest" >/dev/null; docker_ push -q "$open/lab/busybox:v2" >/dev/null
    docker_ push -q "$open/lab/httpd:latest" >/dev/null; docker_ push -q "$open/lab/pause:latest" >/dev/null
    mkdir -p "$LAB_DATA/dockercfg"
    docker --config "$LAB_DATA/dockercfg" -H "$LAB_DOCKER_HOST" login -u puller --password-stdin "$shut" <<<"$LAB_PASSWORD" >/dev/null 2>&1
    docker --config "$LAB_DATA/dockercfg" -H "$LAB_DOCKER_HOST" push -q "$shut/lab/secret:latest" >/dev/null
    docker_ rmi "$shut/lab/secret:latest" >/dev/null
    touch "$LAB_ETC/registry/.pushed"; say "test images pushed"
}


# --- PostgreSQL, for the database tests only; not part of `up` without arguments ---------------------
up_pg() {
    local bin d=$LAB_DATA/pg
    bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
    if [ ! -e "$d/PG_VERSION" ]; then
        mkdir -p "$d"; chown postgres "$d"
        runuser -u postgres -- "$bin/initdb" -D "$d" -A trust -U postgres -E UTF8 >"$LAB_LOG/pg-init.log" 2>&1 \
            || die "database initialisation failed, see $LAB_LOG/pg-init.log"
    fi
    spawn pg runuser -u postgres -- "$bin/postgres" -D "$d" -h "$LAB_HOST" -p "$LAB_PG_PORT" -k '' -c max_connections=300 -c fsync=off
    wait_for pg "$bin/pg_isready" -h "$LAB_HOST" -p "$LAB_PG_PORT"
}
down_pg() { reap pg INT; }
