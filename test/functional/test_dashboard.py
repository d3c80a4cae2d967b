"""contrib/dashboard in a real browser (headless Chromium), beside a real node."""

import http.client
import json
import re
import shutil
import subprocess
import sys
import unittest

import framework
import interop_env
from framework import BURNT, FunctionalTest, wait_until
from generated import GeneratedChain

PROGRAM = framework.ROOT / "contrib" / "dashboard" / "dashboard.py"
BROWSER_SECONDS = 120


class Page(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.browser = shutil.which("chromium")
        if self.browser is None:
            interop_env.unavailable("no chromium (depends/install.sh depends/packages-page.txt)")

    def serve(self, node):
        """Starts the dashboard for a node; its port."""
        server = subprocess.Popen([sys.executable, PROGRAM, f"--datadir={node.datadir}",
                                   f"--chain={node.chain}", f"--rpcport={node.port}", "--port=0"],
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        return int(re.search(r":(\d+)/", server.stdout.readline())[1])

    def get(self, port, path, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def state(self, port):
        return json.loads(self.get(port, "/state.json")[1])

    def page(self, port):
        """The page as rendered by the browser, as text without tags."""
        done = subprocess.run(
            [self.browser, "--headless", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={self.dir}/browser",
             "--virtual-time-budget=3000", "--dump-dom", f"http://127.0.0.1:{port}/"],
            capture_output=True, text=True, check=True, timeout=BROWSER_SECONDS)
        shown = re.sub(r"<section[^>]* hidden.*?</section>", "", done.stdout, flags=re.S)
        return re.sub(r"<[^>]+>", " ", shown)

    def test_a_node_at_the_tip_its_stop_and_its_return(self):
        node = self.node().start()
        node.rpc("generatetoaddress", 7, BURNT)
        port = self.serve(node)
        wait_until(lambda: "getblockchaininfo" in self.state(port), "an answer of the node")
        shown = self.page(port)
        self.assertIn("At the tip, block 7", shown)
        self.assertIn(node.rpc("getnetworkinfo")["subversion"], shown)
        self.assertIn("Still trusted", shown)
        self.assertNotIn("does not answer", shown)

        node.stop()
        wait_until(lambda: "error" in self.state(port), "the stop to be seen")
        self.assertIn("No answer from the node", self.page(port))

        node.start()
        node.rpc("generatetoaddress", 1, BURNT)
        wait_until(lambda: self.state(port).get("getblockchaininfo", {}).get("blocks") == 8,
                   "the node's return")
        self.assertIn("At the tip, block 8", self.page(port))

    def test_a_sync_with_hints(self):
        chain = GeneratedChain(self.dir / "chain", ["--outputs", "20000", "--tail", "2100"])
        node = chain.place(self.node("regtest", *chain.trust))
        port = self.serve(node)
        node.start("-reindex", f"-ibdboosterfile={chain.container}")
        node.wait_for_tip(chain.tip)
        wait_until(lambda: self.state(port).get("getboosterinfo", {}).get("state") == "accepted",
                   "the end of the sync")
        wait_until(lambda: self.state(port)["getblockchaininfo"]["blocks"] == chain.height, "tip")
        shown = self.page(port)
        self.assertIn("Hints proven", shown)
        self.assertIn(f"Block {chain.height:,}, looking for newer ones", shown)

    def test_only_this_machine_and_only_the_page(self):
        port = self.serve(self.node())
        for path, status in (("/", 200), ("/dashboard.js", 200), ("/dashboard.py", 404),
                             ("/../dashboard.py", 404), ("/state.json?since=x", 400)):
            self.assertEqual(self.get(port, path)[0], status, path)
        self.assertEqual(self.get(port, "/state.json", host="evil.example:80")[0], 403)
        self.assertNotRegex(self.get(port, "/")[1].decode(), r"https?://")


if __name__ == "__main__":
    unittest.main()
