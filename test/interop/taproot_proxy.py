"""Stands before the RPC server of the pinned Core (31.99), which no longer lists taproot among the
deployments. lnd 0.20.1 starts only on a node that lists it, as the released Core 31 does.

    with TaprootProxy(node) as proxy:
        proxy.port      # calls go to node, and getdeploymentinfo lists taproot
"""

import http.client
import http.server
import json
import threading

DROPPED = {"host", "connection", "accept-encoding", "content-length"}
TAPROOT = {"type": "buried", "active": True, "height": 0}


def with_taproot(call, answer):
    """The answer to a call, or those to a batch."""
    if isinstance(answer, list):
        return [with_taproot(*pair) for pair in zip(call, answer)]
    if call["method"] == "getdeploymentinfo" and answer["result"]:
        answer["result"]["deployments"].setdefault("taproot", TAPROOT)
    return answer


class TaprootProxy:
    def __init__(self, node):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # clients keep their connections

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = proxy.forward(self.headers, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.node = node
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def forward(self, headers, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port)
        try:
            kept = {name: value for name, value in headers.items() if name.lower() not in DROPPED}
            connection.request("POST", "/", body, kept)
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        finally:
            connection.close()
        if b"getdeploymentinfo" not in body or status != http.client.OK:
            return status, text
        return status, json.dumps(with_taproot(json.loads(body), json.loads(text))).encode()

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
