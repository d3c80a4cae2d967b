"""Bitcoin Core also passes our tests of -privatebroadcast and -txreconciliation."""

import pathlib
import sys

from core_node import CoreNode

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "functional"))

import test_private_broadcast  # noqa: E402 (needs the path above)
import test_tx_reconciliation  # noqa: E402


class CorePrivateBroadcast(test_private_broadcast.PrivateBroadcast):
    KIND = CoreNode


class CoreReconciliation(test_tx_reconciliation.Reconciliation):
    KIND = CoreNode
