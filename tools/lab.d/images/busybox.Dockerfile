# SPDX-License-Identifier: Apache-2.0
FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "mkdir", "-p", "/tmp", "/etc", "/var/tmp", "/root", "/usr/bin", "/usr/sbin", "/sbin"]
RUN ["/bin/busybox", "--install", "-s"]
RUN ["/bin/busybox", "sh", "-c", "chmod 1777 /tmp; echo root:x:0:0:root:/root:/bin/sh >/etc/passwd; echo root:x:0: >/etc/group"]
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
CMD ["sh"]
