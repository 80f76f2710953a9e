# SPDX-License-Identifier: Apache-2.0
# A small certificate authority, and the certificates of nodes and console proxies.
# Sourced by tools/lab; run by itself it writes into a directory:  bash tls.sh DIRECTORY NODE=ADDRESS...

TLS_DAYS=${TLS_DAYS:-3650}

tls_key() { (umask 077; openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null); }

make_ca() { # DIRECTORY: ca.pem and ca.key, once
    mkdir -p "$1"
    [ -s "$1/ca.pem" ] && return
    tls_key "$1/ca.key"
    openssl req -x509 -new -sha256 -key "$1/ca.key" -days "$TLS_DAYS" -subj '/CN=Zun console authority' \
        -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign,cRLSign -out "$1/ca.pem"
}

make_cert() { # DIRECTORY NAME serverAuth|clientAuth SUBJECT_ALT_NAMES: NAME.pem and NAME.key, signed by the authority
    local dir=$1 name=$2 usage=$3 names=$4
    [ -s "$dir/$name.pem" ] && return
    tls_key "$dir/$name.key"
    openssl req -new -sha256 -key "$dir/$name.key" -subj "/CN=$name" -out "$dir/$name.csr"
    printf '%s\n' "subjectAltName=$names" "extendedKeyUsage=$usage" basicConstraints=critical,CA:false \
        keyUsage=critical,digitalSignature >"$dir/$name.ext"
    openssl x509 -req -sha256 -in "$dir/$name.csr" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -days "$TLS_DAYS" \
        -set_serial "0x$(openssl rand -hex 16)" -extfile "$dir/$name.ext" -out "$dir/$name.pem" 2>/dev/null
    rm -f "$dir/$name.csr" "$dir/$name.ext"
}

make_node_cert() { # DIRECTORY HOST ADDRESS: for zun-compute; proxies reach the node under that address
    case $3 in
    *[!0-9.]*) case $3 in *:*) make_cert "$1" "$2" serverAuth "IP:$3" ;; *) make_cert "$1" "$2" serverAuth "DNS:$3" ;; esac ;;
    *) make_cert "$1" "$2" serverAuth "IP:$3" ;;
    esac
}

make_proxy_cert() { # DIRECTORY: for zun-wsproxy, with the name that [console]allowed_client_names has by default
    make_cert "$1" zun-wsproxy clientAuth DNS:zun-wsproxy
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    set -euo pipefail
    dir=${1:?directory}; shift
    make_ca "$dir"; make_proxy_cert "$dir"
    for node; do make_node_cert "$dir" "${node%%=*}" "${node#*=}"; done
fi
