#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Called by devstack in each of its phases; what is done then is in lib/zun.

# shellcheck source=devstack/lib/zun
source "$(dirname "${BASH_SOURCE[0]}")/lib/zun"

if is_zun_enabled; then
    case "$1 ${2:-}" in
    "stack pre-install")
        echo_summary "Installing the container engine of Zun"
        install_zun_engine
        ;;
    "stack install")
        echo_summary "Installing Zun"
        install_zun
        install_zunclient
        ;;
    "stack post-config")
        echo_summary "Configuring Zun"
        configure_zun
        create_zun_accounts
        ;;
    "stack extra")
        echo_summary "Starting Zun"
        init_zun
        start_zun
        ;;
    "unstack "*)
        stop_zun
        ;;
    "clean "*)
        cleanup_zun
        ;;
    esac
fi
