"""Log lines that other programs wait for, and calls that clients make at start, compared with Core.
(Beside Core itself: test/interop/test_core_rpc.py.)"""

from framework import FunctionalTest, free_port, wait_until

ONION = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion"


class Words(FunctionalTest):
    def test_lines_of_threads(self):
        """Each begins before the node serves and ends before the node does."""
        node = self.node("regtest", "-dnsseed=0", "-noconnect", "-listen=0",
                         "-rpcthreads=2").start()
        names = ["scheduler", "http", "http.00", "http.01", "initload", "net", "addcon",
                 "msghand"]
        wait_until(lambda: "initload thread exit" in node.log_text, "the end of the import")
        for name in names:
            self.assertEqual(node.log_text.count(f" {name} thread start\n"), 1, name)
        node.stop()
        for name in names:
            self.assertEqual(node.log_text.count(f" {name} thread exit\n"), 1, name)
        for none in ("dnsseed", "opencon"):  # by -dnsseed=0 and -noconnect
            self.assertNotIn(f" {none} thread", node.log_text)

    def test_handshake_of_version_2(self):
        """Both sides announce the start of theirs; a connection of version 1 has none."""
        port = free_port()
        called = self.node("regtest", "-listen=1", f"-bind=127.0.0.1:{port}", "-noconnect",
                           "-debug=net").start()
        for version, lines in (("0", 0), ("1", 1)):
            caller = self.node("regtest", f"-connect=127.0.0.1:{port}", f"-v2transport={version}",
                               "-debug=net").start()
            wait_until(lambda c=caller: c.rpc("getconnectioncount") == 1, "the connection")
            for node in (caller, called):
                self.assertEqual(node.log_text.count("start sending v2 handshake to peer="), lines)
            caller.stop()

    def test_addresses_that_the_user_names(self):
        """-onlynet is about calls that the node makes."""
        node = self.node("regtest", "-listen=1", f"-bind=127.0.0.1:{free_port()}", "-noconnect",
                         "-onlynet=ipv4", f"-externalip={ONION}", "-externalip=2001:db9::5").start()
        shown = {entry["address"] for entry in node.rpc("getnetworkinfo")["localaddresses"]}
        self.assertEqual(shown, {ONION, "2001:db9::5"})

    def test_fees_without_data(self):
        node = self.node("regtest").start()
        none = {"errors": ["Insufficient data or no feerate found"], "blocks": 0}
        for mode in ([], [None], ["economical"], ["CONSERVATIVE"], ["Unset"]):
            self.assertEqual(node.rpc("estimatesmartfee", 1008, *mode), none)
        for call in ("estimatesmartfee", "estimaterawfee"):
            for target in (0, 1009):
                self.assert_rpc_error(-8, "Invalid conf_target, must be between 1 and 1008",
                                      node.rpc, call, target)
        self.assert_rpc_error(-8, "Invalid estimate_mode parameter, must be one of: \"unset\", "
                              "\"economical\", \"conservative\"",
                              node.rpc, "estimatesmartfee", 1, "fast")
        for threshold in (-0.1, 1.1):
            self.assert_rpc_error(-8, "Invalid threshold", node.rpc, "estimaterawfee", 1, threshold)
        horizons = ["short", "medium", "long"]
        for target, first in ((1, 0), (12, 0), (13, 1), (48, 1), (49, 2), (1008, 2)):
            self.assertEqual(list(node.rpc("estimaterawfee", target)), horizons[first:])
        node.stop().start("-blocksonly")
        for call in ("estimatesmartfee", "estimaterawfee"):
            self.assert_rpc_error(-32603, "Fee estimation disabled", node.rpc, call, 0)
