#!/usr/bin/env python3
"""Serves one local page that shows a bitcoind at work: syncing, and afterwards at the tip.

    dashboard.py [--datadir DIR] [--chain NAME] [--rpcport PORT] [--port PORT]

The page is at http://127.0.0.1:8330/ by default. Only this machine can open it. The program logs in
to the node with the cookie in the data directory, makes read-only calls once a second, and fetches
nothing from elsewhere. It needs only Python. The node may be stopped and started meanwhile.
"""

import argparse
import base64
import collections
import http.client
import http.server
import json
import pathlib
import shutil
import sys
import threading
import time
import urllib.parse

PAGE = pathlib.Path(__file__).resolve().parent / "page"
FILES = {"/": ("index.html", "text/html; charset=utf-8"),
         "/dashboard.css": ("dashboard.css", "text/css; charset=utf-8"),
         "/dashboard.js": ("dashboard.js", "text/javascript; charset=utf-8")}
FOLDERS = {"main": "", "test": "testnet3", "testnet4": "testnet4", "signet": "signet",
           "regtest": "regtest"}
RPC_PORTS = {"main": 8332, "test": 18332, "testnet4": 48332, "signet": 38332, "regtest": 18443}
CALLS = ("getboosterinfo", "getblockchaininfo", "getnetworkinfo", "getpeerinfo", "uptime")
RPC_SECONDS = 10  # a call may wait for a block that is being connected
SAMPLES = 3600  # of history, one a second
KEPT_PEER_FIELDS = ("id", "addr", "subver", "inbound", "connection_type", "bytesrecv", "pingtime",
                    "synced_blocks")


class NodeError(Exception):
    """The node does not answer; the text says why."""


class Node:
    """Calls of a node. `net_dir`: where its cookie is."""

    def __init__(self, net_dir, port):
        self.net_dir, self.port = net_dir, port

    def ask(self, methods):
        """{method: result}; a method that the node cannot answer yet gives {"error": text}."""
        body = json.dumps([{"jsonrpc": "2.0", "id": name, "method": name} for name in methods])
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=RPC_SECONDS)
        try:
            login = base64.b64encode((self.net_dir / ".cookie").read_bytes()).decode()
            connection.request("POST", "/", body, {"Authorization": f"Basic {login}",
                                                   "Content-Type": "application/json"})
            answer = connection.getresponse()
            if answer.status == 401:
                raise NodeError("the node refuses the cookie: is this its data directory?")
            answers = json.loads(answer.read())
        except FileNotFoundError:
            raise NodeError(f"no node runs: {self.net_dir / '.cookie'} is not there") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NodeError(f"no answer at 127.0.0.1:{self.port}: {error}") from None
        finally:
            connection.close()
        try:
            return {item["id"]: item["result"] if item.get("error") is None
                    else {"error": item["error"]["message"]} for item in answers}
        except (TypeError, KeyError, AttributeError):
            raise NodeError(f"127.0.0.1:{self.port} does not answer like a node") from None


def rate(now, before, seconds):
    """Growth a second; 0 if a counter was reset."""
    return max(0.0, (now - before) / seconds) if seconds > 0 else 0.0


def counters(answers):
    """The sources of the history. In each phase other counters of the booster change."""
    booster = answers.get("getboosterinfo") or {}
    part = booster.get("join") or booster.get("undo") or {}
    chain = answers.get("getblockchaininfo") or {}
    return {"bytes": max(part.get("bytes", 0), booster.get("bytes", 0)),
            "outputs": booster.get("outputs", 0), "height": chain.get("blocks", 0)}


class Watcher(threading.Thread):
    """Asks the node once a second and keeps the newest state and an hour of rates."""

    def __init__(self, node, disk):
        super().__init__(daemon=True)
        self.node, self.disk = node, disk
        self.lock = threading.Lock()
        self.state = {"error": "not asked yet"}
        self.history = collections.deque(maxlen=SAMPLES)
        self.before = None  # (time, counters, {peer: bytes received})
        self.answered = None  # time of the node's last answer
        self.received = {}  # bytes, by peer

    def run(self):
        while True:
            self.look()
            time.sleep(1)

    def look(self):
        now = time.time()
        try:
            answers = self.node.ask(CALLS)
        except NodeError as error:
            with self.lock:
                self.state = {"time": now, "error": str(error), "answered": self.answered}
            self.before = None
            return
        self.answered = now
        state = {"time": now, **answers, "peers": self.peers(answers, now)}
        usage = shutil.disk_usage(self.disk)
        state["disk"] = {"free": usage.free, "total": usage.total}
        with self.lock:
            self.state = state
            self.add_sample(now, counters(answers))

    def peers(self, answers, now):
        listed = answers.pop("getpeerinfo", [])
        if not isinstance(listed, list):
            return []
        seconds = now - self.before[0] if self.before else 0
        known = self.before[2] if self.before else {}
        out = []
        for peer in listed:
            kept = {name: peer.get(name) for name in KEPT_PEER_FIELDS}
            received = peer.get("bytesrecv", 0)
            kept["rate"] = rate(received, known.get(peer["id"], received), seconds)
            out.append(kept)
        self.received = {peer["id"]: peer.get("bytesrecv", 0) for peer in listed}
        return sorted(out, key=lambda peer: -peer["rate"])

    def add_sample(self, now, current):
        if self.before:
            seconds = now - self.before[0]
            self.history.append({"time": round(now, 1), **{
                name: round(rate(value, self.before[1][name], seconds), 1)
                for name, value in current.items()}})
        self.before = (now, current, self.received)

    def answer(self, since):
        with self.lock:
            newer = [sample for sample in self.history if sample["time"] > since]
            return {**self.state, "history": newer}


class Handler(http.server.BaseHTTPRequestHandler):
    """GET of the page, its two files, and /state.json?since=SECONDS. Nothing else."""

    watcher = None
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # noqa: N802 (the name that http.server calls)
        if not self.asked_by_its_name():
            self.reply(403, "text/plain", b"ask for 127.0.0.1 or localhost\n")
            return
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/state.json":
            query = urllib.parse.parse_qs(url.query)
            try:
                since = float(query.get("since", ["0"])[0])
            except ValueError:
                self.reply(400, "text/plain", b"since: seconds\n")
                return
            self.reply(200, "application/json", json.dumps(self.watcher.answer(since)).encode())
        elif url.path in FILES:
            name, kind = FILES[url.path]
            self.reply(200, kind, (PAGE / name).read_bytes())
        else:
            self.reply(404, "text/plain", b"not here\n")

    def asked_by_its_name(self):
        """Whether Host is a local name. Prevents DNS rebinding: reads by a foreign page."""
        try:
            name = urllib.parse.urlsplit("//" + self.headers.get("Host", "")).hostname
        except ValueError:
            return False
        return name in ("127.0.0.1", "localhost")

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", "default-src 'self'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args):
        pass


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datadir", type=pathlib.Path, default=pathlib.Path.home() / ".bitcoin",
                        help="data directory of the node (default: %(default)s)")
    parser.add_argument("--chain", choices=FOLDERS, default="main",
                        help="network of the node (default: %(default)s)")
    parser.add_argument("--rpcport", type=int, help="RPC port of the node (default: the network's)")
    parser.add_argument("--port", type=int, default=8330,
                        help="port of the page on 127.0.0.1 (default: %(default)s; 0: any)")
    return parser.parse_args()


def main():
    args = arguments()
    if not args.datadir.is_dir():
        raise SystemExit(f"dashboard: --datadir={args.datadir} is no directory")
    node = Node(args.datadir / FOLDERS[args.chain], args.rpcport or RPC_PORTS[args.chain])
    Handler.watcher = Watcher(node, args.datadir)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    except OSError as error:
        raise SystemExit(f"dashboard: port {args.port}: {error.strerror}; choose another --port") \
            from None
    Handler.watcher.start()
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
