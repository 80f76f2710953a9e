# SPDX-License-Identifier: Apache-2.0
"""zun-wsproxy: consoles for browsers and command-line clients."""
