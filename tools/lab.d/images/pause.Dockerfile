# SPDX-License-Identifier: Apache-2.0
ARG BASE
FROM ${BASE}
CMD ["sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait; done"]
