"""Nodes of either kind that are peers on loopback and relay to each other without delay."""

from framework import FunctionalTest, free_port, wait_until


class JoinedNodes(FunctionalTest):
    def start(self, kind, *args):
        """A node that can be called at `p2p_port`."""
        node = kind(self.dir / kind.__name__, "regtest",
                    ["-dnsseed=0", "-whitelist=noban@127.0.0.1", *args])  # noban: without delay
        self.nodes.append(node)
        node.p2p_port = free_port()
        return node.start("-listen=1", f"-bind=127.0.0.1:{node.p2p_port}", "-noconnect")

    @staticmethod
    def join(caller, called):
        caller.rpc("addnode", f"127.0.0.1:{called.p2p_port}", "onetry")
        for node in (caller, called):  # the fee filter is the last message after a handshake
            wait_until(lambda node=node: any("feefilter" in peer["bytesrecv_per_msg"]
                                             for peer in node.rpc("getpeerinfo")), "a peer")

    def submit_all(self, chain):
        """Every node gets the blocks of a chain."""
        for node in self.nodes:
            for block in chain.blocks:
                self.assertIsNone(node.rpc("submitblock", block.raw().hex()))

    def wait_for_pools(self, *txids):
        """Transactions are in the pools of all nodes."""
        for node in self.nodes:
            wait_until(lambda node=node: set(txids) <= set(node.rpc("getrawmempool")),
                       "transactions in the pool")
