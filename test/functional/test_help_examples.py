"""Every example of every call's help, run as it is printed: by bitcoin-cli, and the body of the
curl line by HTTP. The blocks, wallets and peers in the examples do not exist, so a call may report
that; it must not report wrong arguments."""

import json
import re
import shlex
import subprocess

from framework import FunctionalTest, program

# Ends the node, or waits for a block without an end.
LEFT_OUT = {"stop", "waitfornewblock"}
MISC, TYPE_ERROR, UNKNOWN_METHOD = -1, -3, -32601
SWITCHED_OFF = "Private broadcast is not enabled."  # Core has the code of an unknown method here
SECONDS = 30


def is_wrong_use(method, code, message):
    if message.startswith(SWITCHED_OFF):
        return False
    return (code in (TYPE_ERROR, UNKNOWN_METHOD) or "Unknown named parameter" in message
            or "specified twice" in message
            or (code == MISC and message.startswith(method) and "\nArguments:" in message))


class Examples(FunctionalTest):
    def setUp(self):
        super().setUp()
        self.running = self.node().start()
        methods = re.findall(r"^(\w+)", self.running.rpc("help"), re.M)
        self.helps = {method: self.running.rpc("help", method)
                      for method in methods if method not in LEFT_OUT}

    def examples(self, start):
        for method, text in self.helps.items():
            for line in re.findall(rf"^> ({start} .*)", text, re.M):
                yield method, line

    def test_of_bitcoin_cli(self):
        count = 0
        for method, line in self.examples("bitcoin-cli"):
            count += 1
            words = shlex.split(line)[1:]
            with self.subTest(line):
                done = subprocess.run(
                    [program("bitcoin-cli"), f"-datadir={self.running.datadir}", "-regtest",
                     f"-rpcport={self.running.port}", *words], capture_output=True, text=True,
                    stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
                said = re.match(r"error code: (-?\d+)\nerror message:\n(.*)", done.stderr, re.S)
                if said:
                    self.assertFalse(is_wrong_use(method, int(said[1]), said[2]), done.stderr)
                else:
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(count, len(self.helps) / 2)

    def test_of_curl(self):
        count = 0
        for method, line in self.examples("curl"):
            count += 1
            body = shlex.split(line)[shlex.split(line).index("--data-binary") + 1]
            with self.subTest(line):
                call = json.loads(body)
                self.assertEqual(call["method"], method)
                error = json.loads(self.running.post(body)[1]).get("error")
                if error:
                    self.assertFalse(is_wrong_use(method, error["code"], error["message"]), error)
        self.assertGreater(count, len(self.helps) / 2)
