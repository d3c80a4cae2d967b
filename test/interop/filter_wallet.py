"""Runs a wallet over the library bdkpython, which speaks BIP 157, as a peer.

    with FilterWallet(node.p2p_port, folder) as wallet:
        wallet.address
        wallet.wait_for_height(101)
        wallet.confirmed()
        wallet.send(address, 1000)
"""

import asyncio
import importlib
import sys

from interop_env import built_program

SECONDS = 120
RATE = 2  # satoshis a virtual byte


class FilterWallet:
    def __init__(self, port, folder):
        """The port at which a node takes connections; an empty folder for headers."""
        packages = str(built_program("build_filter_wallet.sh", "IBD_FILTER_WALLET"))
        if packages not in sys.path:
            sys.path.append(packages)
        self.bdk = bdk = importlib.import_module("bdkpython")
        kind = bdk.NetworkKind.TEST
        key = bdk.DescriptorSecretKey(kind, bdk.Mnemonic(bdk.WordCount.WORDS12), None)
        chains = [bdk.Descriptor.new_bip84(key, chain, kind)
                  for chain in (bdk.KeychainKind.EXTERNAL, bdk.KeychainKind.INTERNAL)]
        self.wallet = bdk.Wallet(*chains, bdk.Network.REGTEST, bdk.Persister.new_in_memory())
        self.address = str(self.wallet.reveal_next_address(bdk.KeychainKind.EXTERNAL).address)
        loopback = bdk.Peer(address=bdk.IpAddress.from_ipv4(127, 0, 0, 1), port=port,
                            v2_transport=False)
        builder = bdk.CbfBuilder().connections(1).data_dir(str(folder)).peers([loopback])
        builder = builder.only_configured_peers().scan_type(bdk.ScanType.SYNC())
        self.parts = builder.build(self.wallet)
        self._loop = asyncio.new_event_loop()

    def __enter__(self):
        self.parts.node.run()
        return self

    def __exit__(self, *_):
        self.parts.client.shutdown()
        self._loop.close()

    def _run(self, call):
        return self._loop.run_until_complete(asyncio.wait_for(call, SECONDS))

    def wait_for_height(self, height):
        """Takes what is new up to this block, which must be the tip."""
        while self.wallet.latest_checkpoint().height < height:
            self.wallet.apply_update(self._run(self.parts.client.update()))

    def confirmed(self):
        """Satoshis in blocks."""
        return self.wallet.balance().confirmed.to_sat()

    def send(self, address, satoshis):
        """The txid."""
        bdk = self.bdk
        script = bdk.Address(address, bdk.Network.REGTEST).script_pubkey()
        rate = bdk.FeeRate.from_sat_per_vb(RATE)
        builder = bdk.TxBuilder().add_recipient(script, bdk.Amount.from_sat(satoshis))
        psbt = builder.fee_rate(rate).finish(self.wallet)
        assert self.wallet.sign(psbt)
        tx = psbt.extract_tx()
        self._run(self.parts.client.broadcast(tx))
        return str(tx.compute_txid())
