# SPDX-License-Identifier: Apache-2.0
"""A small in-memory stand-in for the OpenStack network API v2.0, enough to drive a container service.

Networks, subnets, ports (addresses taken from the subnets), security groups and their rules: list with exact
filters, show, create, update, delete. Tokens are checked against identity. A port bound to a host turns ACTIVE at
once. Faults for tests: POST /_lab/fail {"method": "POST", "path": "/ports", "status": 503, "times": 1}.
"""
import argparse
import copy
from http.server import BaseHTTPRequestHandler
from http.server import ThreadingHTTPServer
import ipaddress
import json
import random
import signal
import threading
import time
import traceback
import urllib.error
from urllib.parse import parse_qsl
from urllib.parse import urlsplit
import urllib.request
import uuid

SINGULAR = {"networks": "network", "subnets": "subnet", "ports": "port", "security-groups": "security_group",
            "security-group-rules": "security_group_rule", "floatingips": "floatingip", "routers": "router", "subnetpools": "subnetpool"}
ERRORS = {"networks": "NetworkNotFound", "subnets": "SubnetNotFound", "ports": "PortNotFound",
          "security-groups": "SecurityGroupNotFound", "security-group-rules": "SecurityGroupRuleNotFound"}
EXTENSIONS = ("binding", "security-group", "standard-attr-timestamp", "net-mtu", "port-security", "external-net")


class Fault(Exception):
    def __init__(self, status, kind, message):
        super().__init__(message)
        self.status, self.kind = status, kind


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Store:
    def __init__(self, path):
        self.path, self.lock, self.faults = path, threading.RLock(), []
        try:
            with open(path) as handle:
                self.data = json.load(handle)
        except FileNotFoundError:
            self.data = {}
        for kind in SINGULAR:
            self.data.setdefault(kind, {})
        if not self.data["networks"]:
            self._seed()
        self.used = {sid: set() for sid in self.data["subnets"]}
        for port in self.data["ports"].values():
            for fixed in port["fixed_ips"]:
                self.used[fixed["subnet_id"]].add(fixed["ip_address"])

    def _seed(self):
        self.used = {}
        for name, cidr, shared, external in (("lab-shared", "172.31.0.0/20", True, False),
                                             ("lab-second", "172.31.16.0/24", True, False),
                                             ("lab-external", "172.31.17.0/24", False, True)):
            net = self.create("networks", {"name": name, "shared": shared, "router:external": external}, "lab")
            self.create("subnets", {"name": name + "-v4", "network_id": net["id"], "cidr": cidr, "ip_version": 4}, "lab")

    def save(self):
        with open(self.path, "w") as handle:
            json.dump(self.data, handle)

    def _stamp(self, body, project):
        project = body.get("project_id") or body.get("tenant_id") or project
        return {"id": str(uuid.uuid4()), "name": "", "description": "", "tags": [], **body, "project_id": project,
                "tenant_id": project, "created_at": now(), "updated_at": now(), "revision_number": 1}

    def create(self, kind, body, project):
        with self.lock:
            item = self._stamp(body, project)
            getattr(self, "_new_" + kind.replace("-", "_"), lambda _: None)(item)
            self.data[kind][item["id"]] = item
            return copy.deepcopy(item)

    def _new_networks(self, net):
        for key, value in {"shared": False, "router:external": False, "admin_state_up": True, "status": "ACTIVE",
                           "mtu": 1500, "subnets": [], "provider:network_type": "vxlan", "provider:physical_network": None,
                           "provider:segmentation_id": 1, "port_security_enabled": True, "availability_zones": []}.items():
            net.setdefault(key, value)

    def _new_subnetpools(self, pool):
        first = ipaddress.ip_network(pool["prefixes"][0])
        pool.setdefault("default_prefixlen", pool.get("min_prefixlen") or (24 if first.version == 4 else 64))
        pool.setdefault("ip_version", first.version)
        pool.setdefault("shared", False)

    def _new_subnets(self, subnet):
        net = self.get("networks", subnet["network_id"])
        if not subnet.get("cidr"):
            subnet["cidr"] = self._from_pool(subnet)
        cidr = ipaddress.ip_network(subnet["cidr"])
        subnet.setdefault("ip_version", cidr.version)
        subnet.setdefault("gateway_ip", str(cidr[1]))
        subnet.setdefault("enable_dhcp", True)
        subnet.setdefault("dns_nameservers", [])
        subnet.setdefault("host_routes", [])
        subnet.setdefault("allocation_pools", [{"start": str(cidr[2]), "end": str(cidr[-2])}])
        subnet.setdefault("subnetpool_id", None)
        net["subnets"].append(subnet["id"])
        self.used[subnet["id"]] = set()

    def _from_pool(self, subnet):
        pool = self.get("subnetpools", subnet["subnetpool_id"])
        taken = [ipaddress.ip_network(s["cidr"]) for s in self.data["subnets"].values()]
        length = int(subnet.get("prefixlen") or pool["default_prefixlen"])
        for prefix in map(ipaddress.ip_network, pool["prefixes"]):
            for cidr in prefix.subnets(new_prefix=length):
                if not any(cidr.version == t.version and cidr.overlaps(t) for t in taken):
                    return str(cidr)
        raise Fault(409, "SubnetAllocationError", "The pool is exhausted")

    def _take(self, subnet, wanted=None):
        used = self.used[subnet["id"]]
        if wanted:
            if wanted in used:
                raise Fault(409, "IpAddressInUse", f"Address {wanted} is in use")
            used.add(wanted)
            return wanted
        for pool in subnet["allocation_pools"]:
            first, last = (int(ipaddress.ip_address(pool[k])) for k in ("start", "end"))
            for number in range(first, last + 1):
                address = str(ipaddress.ip_address(number))
                if address not in used and address != subnet["gateway_ip"]:
                    used.add(address)
                    return address
        raise Fault(409, "IpAddressGenerationFailure", "No address left")

    def _new_ports(self, port):
        net = self.get("networks", port["network_id"])
        subnets = [self.data["subnets"][sid] for sid in net["subnets"]]
        fixed = []
        for want in port.get("fixed_ips") or [{"subnet_id": s["id"]} for s in subnets]:
            address = want.get("ip_address")
            subnet = next((s for s in subnets if s["id"] == want.get("subnet_id") or
                           (address and ipaddress.ip_address(address) in ipaddress.ip_network(s["cidr"]))), None)
            if subnet is None:
                raise Fault(400, "InvalidIpForNetwork", f"{want} fits no subnet of the network")
            fixed.append({"subnet_id": subnet["id"], "ip_address": self._take(subnet, address)})
        port["fixed_ips"] = fixed
        port.setdefault("mac_address", "fa:16:3e:%02x:%02x:%02x" % tuple(random.randrange(256) for _ in range(3)))
        for key, value in {"admin_state_up": True, "status": "DOWN", "device_id": "", "device_owner": "",
                           "binding:host_id": "", "binding:vif_type": "unbound", "binding:vnic_type": "normal",
                           "binding:profile": {}, "binding:vif_details": {}, "allowed_address_pairs": []}.items():
            port.setdefault(key, value)
        if port.get("security_groups") is None:
            port["security_groups"] = [self.default_group(port["project_id"])["id"]]
        self._bind(port)

    @staticmethod
    def _bind(port):
        bound = bool(port.get("binding:host_id"))
        port["status"] = "ACTIVE" if bound else "DOWN"
        port["binding:vif_type"] = "ovs" if bound else "unbound"

    def _new_security_groups(self, group):
        group.setdefault("security_group_rules", [])
        group.setdefault("stateful", True)

    def _new_security_group_rules(self, rule):
        for key in ("port_range_min", "port_range_max"):
            rule[key] = int(rule[key]) if rule.get(key) is not None else None
        self.get("security-groups", rule["security_group_id"])["security_group_rules"].append(rule)

    def default_group(self, project):
        for group in self.data["security-groups"].values():
            if group["project_id"] == project and group["name"] == "default":
                return group
        return self.create("security-groups", {"name": "default"}, project)

    def get(self, kind, ident):
        try:
            return self.data[kind][ident]
        except KeyError:
            raise Fault(404, ERRORS.get(kind, "NotFound"), f"{SINGULAR[kind]} {ident} could not be found.") from None

    def update(self, kind, ident, body):
        with self.lock:
            item = self.get(kind, ident)
            item.update(body)
            item["updated_at"] = now()
            item["revision_number"] += 1
            if kind == "ports":
                self._bind(item)
            return copy.deepcopy(item)

    def delete(self, kind, ident):
        with self.lock:
            item = self.get(kind, ident)
            if kind == "networks" and any(p["network_id"] == ident for p in self.data["ports"].values()):
                raise Fault(409, "NetworkInUse", f"Unable to complete operation on network {ident}: ports in use.")
            if kind == "ports":
                for fixed in item["fixed_ips"]:
                    self.used[fixed["subnet_id"]].discard(fixed["ip_address"])
            if kind == "subnets":
                self.data["networks"][item["network_id"]]["subnets"].remove(ident)
            if kind == "networks":
                for subnet in list(item["subnets"]):
                    self.delete("subnets", subnet)
            del self.data[kind][ident]

    def list(self, kind, query, who):
        if kind == "security-groups":
            self.default_group(who["project"])
        wanted = {}
        for key, value in query:
            if key not in ("fields", "limit", "marker", "sort_key", "sort_dir"):
                wanted.setdefault(key, set()).add(value.lower())
        with self.lock:
            items = copy.deepcopy(list(self.data[kind].values()))
        return [i for i in items if self.visible(kind, i, who) and
                all(str(i.get(key)).lower() in values for key, values in wanted.items())]

    def visible(self, kind, item, who):
        if who["admin"] or item["project_id"] == who["project"]:
            return True
        if kind == "subnets":
            item = self.data["networks"][item["network_id"]]
        return bool(item.get("shared") or item.get("router:external"))


class Identity:
    def __init__(self, url):
        self.url, self.cache = url, {}

    def who(self, token):
        if not token:
            raise Fault(401, "HTTPUnauthorized", "Authentication required")
        if token not in self.cache:
            request = urllib.request.Request(self.url + "/auth/tokens?nocatalog",
                                             headers={"X-Auth-Token": token, "X-Subject-Token": token})
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    found = json.load(answer)["token"]
            except urllib.error.HTTPError:
                raise Fault(401, "HTTPUnauthorized", "Bad token") from None
            self.cache[token] = {"project": found.get("project", {}).get("id"),
                                 "admin": any(r["name"] == "admin" for r in found.get("roles", ()))}
        return self.cache[token]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = identity = None

    def log_message(self, form, *args):   # stdout is the access log
        print(self.log_date_time_string(), form % args, flush=True)

    def _answer(self, status, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _planned_fault(self, path):
        with self.store.lock:
            for plan in self.store.faults:
                if plan["times"] > 0 and plan["method"] == self.command and plan["path"] in path:
                    plan["times"] -= 1
                    time.sleep(plan.get("delay", 0))
                    if plan.get("status"):
                        raise Fault(plan["status"], plan.get("type", "Planned"), "planned by the lab")

    def _serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        try:
            self._answer(*self._route(body))
        except Fault as fault:
            self._answer(fault.status, {"NeutronError": {"type": fault.kind, "message": str(fault), "detail": ""}})
        except (KeyError, ValueError, TypeError) as error:
            self._answer(400, {"NeutronError": {"type": "HTTPBadRequest", "message": repr(error), "detail": ""}})
        except (OSError, RuntimeError) as error:
            traceback.print_exc()
            self._answer(500, {"NeutronError": {"type": "HTTPInternalServerError", "message": repr(error), "detail": ""}})

    def _route(self, body):
        url = urlsplit(self.path)
        parts = [p for p in url.path.split("/") if p]
        if not parts:
            return 200, {"versions": [{"id": "v2.0", "status": "CURRENT", "links": [{"rel": "self", "href": f"http://{self.headers['Host']}/v2.0/"}]}]}
        if parts[0] == "_lab":
            with self.store.lock:
                self.store.faults = [] if self.command == "DELETE" else [*self.store.faults, body]
            return 204, None
        who = self.identity.who(self.headers.get("X-Auth-Token"))
        parts = [p.removesuffix(".json") for p in parts[1:]]
        if not parts:
            return 200, {"resources": []}
        self._planned_fault(url.path)
        kind = parts[0]
        if kind == "extensions":
            return 200, {"extensions": [{"alias": a, "name": a} for a in EXTENSIONS]}
        if kind == "quotas":
            return 200, {"quota": {"network": -1, "port": -1, "subnet": -1, "security_group": -1}}
        if kind not in SINGULAR:
            raise Fault(404, "HTTPNotFound", "The resource could not be found.")
        one, many = SINGULAR[kind], kind.replace("-", "_")
        if len(parts) == 1:
            if self.command == "POST":
                items = [self.store.create(kind, b, who["project"]) for b in body.get(many, [body.get(one)])]
                return 201, {many: items} if many in body else {one: items[0]}
            return 200, {many: self.store.list(kind, parse_qsl(url.query), who)}
        item = self.store.get(kind, parts[1])
        if not self.store.visible(kind, item, who):
            raise Fault(404, ERRORS.get(kind, "NotFound"), f"{one} {parts[1]} could not be found.")
        if self.command == "PUT":
            return 200, {one: self.store.update(kind, parts[1], body[one])}
        if self.command == "DELETE":
            self.store.delete(kind, parts[1])
            return 204, None
        with self.store.lock:
            return 200, {one: copy.deepcopy(item)}

    do_GET = do_POST = do_PUT = do_DELETE = _serve


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9696)
    parser.add_argument("--auth-url", required=True)
    parser.add_argument("--state", required=True)
    args = parser.parse_args()
    Handler.store, Handler.identity = Store(args.state), Identity(args.auth_url)
    server = Server((args.host, args.port), Handler)

    def stop(*_):
        threading.Thread(target=server.shutdown).start()
    signal.signal(signal.SIGTERM, stop)
    try:
        server.serve_forever()
    finally:
        Handler.store.save()


if __name__ == "__main__":
    main()
