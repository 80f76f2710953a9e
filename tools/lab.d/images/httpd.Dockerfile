# SPDX-License-Identifier: Apache-2.0
ARG BASE
FROM ${BASE}
COPY www /www
EXPOSE 80
CMD ["httpd", "-f", "-v", "-p", "80", "-h", "/www"]
