# SPDX-License-Identifier: Apache-2.0
# Settings and small functions of the lab. Every value can be set from the environment.
: "${LAB_DIR:=${TMPDIR:-/tmp}/zun-lab}"
: "${LAB_HOST:=127.0.0.1}"
: "${LAB_VENV:=$LAB_DIR/venv}"
: "${LAB_PYTHON:=python3}"
: "${LAB_PASSWORD:=labpass}"
: "${LAB_PASSWORD_ROUNDS:=4}"      # bcrypt's; 12 is what a real identity service takes (a login then costs 0.3 s of CPU)
: "${LAB_REGION:=RegionOne}"
# Ports lie below the ephemeral range, so that no outgoing connection can sit on one.
: "${LAB_DB_PORT:=13306}"
: "${LAB_PG_PORT:=15432}"
: "${LAB_MQ_PORT:=15670}"
: "${LAB_MQ_DIST_PORT:=15671}"
: "${LAB_MQ_NODE:=lab@localhost}"
: "${LAB_KEYSTONE_PORT:=15000}"
: "${LAB_PLACEMENT_PORT:=18778}"
: "${LAB_NETWORK_PORT:=19696}"
: "${LAB_GLANCE_PORT:=19292}"
: "${LAB_REGISTRY_PORT:=15050}"
: "${LAB_AUTH_REGISTRY_PORT:=15051}"
: "${LAB_DOCKER_PORT:=12375}"
: "${LAB_WSPROXY_PORT:=16784}"
: "${LAB_STREAM_PORT:=16785}"      # of the first host of LAB_ZUN_HOSTS; the next have the next ports
: "${LAB_DOCKER_BIP:=172.30.255.1/24}"
: "${LAB_DOCKER_BRIDGE:=br-lab}"   # of the private dockerd; give each lab on a machine its own
: "${LAB_DOCKER_PRIVATE:=0}"       # 1: start a dockerd of our own, on TCP and its own socket
: "${LAB_CONTAINER_URL:=http://$LAB_HOST:19517}"   # what the catalog says of the product; 9517 is the quickstart's
: "${LAB_BUSYBOX:=$(command -v busybox || true)}" # a statically linked busybox, for the test images
: "${LAB_WAIT:=90}"                # seconds to wait for one component's health
LAB_SELF=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LAB_REPO=$(cd "$LAB_SELF/../.." && pwd)
: "${LAB_ZUN_VENV:=$LAB_REPO/.venv}"   # where zun and its client are installed
: "${LAB_ZUN_HOSTS:=node-one node-two}" # host names, one zun-compute each
LAB_RUN=$LAB_DIR/run LAB_LOG=$LAB_DIR/log LAB_ETC=$LAB_DIR/etc LAB_DATA=$LAB_DIR/data
if [ "$LAB_DOCKER_PRIVATE" = 1 ]; then
    LAB_DOCKER_HOST=unix://$LAB_RUN/docker.sock
else
    : "${LAB_DOCKER_HOST:=unix:///var/run/docker.sock}"
fi
LAB_DB_URL="mysql+pymysql://lab:$LAB_PASSWORD@$LAB_HOST:$LAB_DB_PORT"
LAB_TRANSPORT_URL="rabbit://lab:$LAB_PASSWORD@$LAB_HOST:$LAB_MQ_PORT/"
LAB_AUTH_URL="http://$LAB_HOST:$LAB_KEYSTONE_PORT/v3"

say() { printf 'lab: %s\n' "$*"; }
die() { printf 'lab: %s\n' "$*" >&2; exit 1; }

alive() { # NAME: its recorded process still runs
    local pid; pid=$(cat "$LAB_RUN/$1.pid" 2>/dev/null) && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null
}

spawn() { # NAME COMMAND...: start in the background, in a session of its own, and record the pid
    local name=$1; shift
    alive "$name" && return 0
    setsid "$@" >>"$LAB_LOG/$name.log" 2>&1 </dev/null &
    echo $! >"$LAB_RUN/$name.pid"
}

reap() { # NAME [SIGNAL]: stop the recorded process and wait for it
    local name=$1 sig=${2:-TERM} pid
    if alive "$name"; then
        pid=$(cat "$LAB_RUN/$name.pid")
        kill "-$sig" "$pid" 2>/dev/null || true
        for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -KILL "$pid" 2>/dev/null || true
        say "$name stopped"
    fi
    rm -f "$LAB_RUN/$name.pid"
}

wait_for() { # NAME COMMAND...: until the command succeeds, the process dies, or time is up
    local name=$1 end; shift
    end=$((SECONDS + LAB_WAIT))
    until "$@" >/dev/null 2>&1; do
        if [ -e "$LAB_RUN/$name.pid" ] && ! alive "$name"; then
            tail -20 "$LAB_LOG/$name.log" >&2; die "$name died while starting"
        fi
        if [ $SECONDS -ge $end ]; then
            tail -20 "$LAB_LOG/$name.log" >&2; die "$name not healthy after ${LAB_WAIT}s"
        fi
        sleep 0.2
    done
    say "$name up"
}

db_url() { echo "mysql+pymysql://$1:$LAB_PASSWORD@$LAB_HOST:$LAB_DB_PORT/$1"; }   # NAME
http_ok() { curl -fsS -o /dev/null --max-time 5 "$1"; }
docker_() { docker -H "$LAB_DOCKER_HOST" "$@"; }
sql() { mariadb --no-defaults --socket="$LAB_RUN/mysql.sock" -uroot "$@"; }
