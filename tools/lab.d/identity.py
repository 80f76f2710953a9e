# SPDX-License-Identifier: Apache-2.0
"""Fill a bootstrapped identity service with the lab's projects, users, roles and catalog. Safe to repeat."""
import json
import os
import urllib.error
import urllib.request

URL, PASSWORD, REGION = (os.environ[k] for k in ("LAB_AUTH_URL", "LAB_PASSWORD", "LAB_REGION"))
ENDPOINTS = {
    "placement": ("placement", os.environ["LAB_PLACEMENT_URL"]),
    "neutron": ("network", os.environ["LAB_NETWORK_URL"]),
    "zun": ("container", os.environ["LAB_CONTAINER_URL"].rstrip("/") + "/v1"),
}
if os.environ.get("LAB_IMAGE_URL"):
    ENDPOINTS["glance"] = ("image", os.environ["LAB_IMAGE_URL"])
PROJECTS = ("service", "demo", "other")
USERS = {  # user: {project: roles}
    "zun": {"service": ("admin", "service")},
    "placement": {"service": ("admin", "service")},
    "neutron": {"service": ("admin", "service")},
    "glance": {"service": ("admin", "service")},
    "demo": {"demo": ("member",)},
    "other": {"other": ("member",)},
    "admin": {"demo": ("admin",)},
}


class Identity:
    def __init__(self):
        self.token = None
        domain = {"id": "default"}
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": {
                    "name": "admin", "domain": domain, "password": PASSWORD}}},
                "scope": {"project": {"name": "admin", "domain": domain}}}}
        _, self.token = self._send("POST", "/auth/tokens", body)

    def _send(self, method, path, body=None):
        request = urllib.request.Request(URL + path, method=method,
                                         data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Content-Type": "application/json"})
        if self.token:
            request.add_header("X-Auth-Token", self.token)
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return (json.loads(text) if text else None), answer.headers.get("X-Subject-Token")

    def ensure(self, kind, match, extra=None):
        """Return the entity of this kind with these attributes; make it when there is none."""
        plural = kind + "s"
        for found in self._send("GET", f"/{plural}")[0][plural]:
            if all(found.get(k) == v for k, v in match.items()):
                return found
        return self._send("POST", f"/{plural}", {kind: {**match, **(extra or {})}})[0][kind]

    def grant(self, project, user, role):
        self._send("PUT", f"/projects/{project}/users/{user}/roles/{role}")


def main():
    keystone = Identity()
    projects = {name: keystone.ensure("project", {"name": name, "domain_id": "default"})["id"] for name in PROJECTS}
    roles = {name: keystone.ensure("role", {"name": name})["id"] for name in ("admin", "member", "reader", "service")}
    for name, grants in USERS.items():
        user = keystone.ensure("user", {"name": name, "domain_id": "default"}, {"password": PASSWORD})["id"]
        for project, names in grants.items():
            for role in names:
                keystone.grant(projects[project], user, roles[role])
    for name, (kind, url) in ENDPOINTS.items():
        service = keystone.ensure("service", {"type": kind}, {"name": name})["id"]
        for interface in ("public", "internal", "admin"):
            match = {"service_id": service, "interface": interface, "region_id": REGION}
            endpoint = keystone.ensure("endpoint", match, {"url": url})
            if endpoint["url"] != url:
                keystone._send("PATCH", f"/endpoints/{endpoint['id']}", {"endpoint": {"url": url}})


if __name__ == "__main__":
    main()
