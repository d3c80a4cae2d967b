"""The data that relay_attacks.py replays: the chain, and the messages of each attack, made from a
seed and kept in files. Transactions do not depend on the time of the blocks, so they stay valid for
a chain that is made again with newer blocks."""

import dataclasses
import hashlib
import pickle
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("bench", "test/interop"):
    sys.path.insert(0, str(ROOT / folder))

from hostile_cases import (  # noqa: E402 (needs the path above)
    KEY, OP_0, OP_1, OP_CHECKSIGVERIFY, OP_CODESEPARATOR, OP_DROP, OP_DUP, OP_ENDIF, OP_HASH256,
    OP_IF, OP_ROLL, leaf_hash, prevout, push, schnorr, tagged, taproot)
from regtest_chain import COIN, FINAL, REDEEM, REDEEMED, Chain  # noqa: E402
from scripted_peer import message  # noqa: E402
from wire import Tx, compact_size, serialized_output, sha256d, sized  # noqa: E402

COINS_OF_A_TX = 2_000
SPLITS_OF_A_BLOCK = 12
VALUE = 50 * COIN // COINS_OF_A_TX // 8  # rewards have halved three times at most
SCRIPT_VALUE = COIN // 10
NEWS_FEE = 20_000  # of transactions that the blocks confirm: no attack pays a better rate
HONEST_FEE = 100_000
CLUSTER = 64  # most transactions
PEERS = 10
INV_WTX = 5
LARGE = 95_000  # virtual bytes, a little less than policy allows
OUTPUT_SIZE, INPUT_SIZE = 32, 43  # of P2SH
PADDING = 150  # bytes of data, so that a transaction has a usual size
SIGNATURES = 999  # of an input, which fill the stack


def random_txid(rng):
    return rng.randbytes(32).hex()


def padded(size, number):
    """An output with data that makes its transaction unique."""
    return 0, b"\x6a\x4e" + size.to_bytes(4, "little") + number.to_bytes(8, "little") + \
        bytes(size - 8)


def paying(names, total, fee, outputs=1, data=None, version=2):
    """Spends coins of REDEEMED into equal ones."""
    out = [((total - fee) // outputs, REDEEMED)] * outputs
    return Tx([(*name, REDEEM, FINAL) for name in names], out + ([data] if data else []),
              version=version)


def child_of(tx, output, fee, outputs=1, **more):
    return paying([(tx.txid(), output)], tx.outputs[output][0], fee, outputs, **more)


# Scripts of 400 kWU that fail with their last operation, so that each costs all and pays nothing.

def hashing_script():
    return push(b"\x01" * 520) + bytes([OP_DUP, OP_HASH256, OP_DROP]) * 130_000 + bytes([OP_0])


def rolling_script():
    deep = push((996).to_bytes(2, "little"))
    return bytes([OP_1]) * 997 + (deep + bytes([OP_ROLL])) * 97_000 + bytes([OP_0])


def branching_script():
    return bytes([OP_0, OP_IF]) + bytes([OP_IF, OP_ENDIF]) * 195_000 + bytes([OP_ENDIF, OP_0])


def signing_script():
    return bytes([OP_CODESEPARATOR]).join(
        [b"", *[push(KEY[1:]) + bytes([OP_CHECKSIGVERIFY])] * SIGNATURES]) + bytes([OP_0])


SCRIPTS = (hashing_script, rolling_script, branching_script, signing_script)
SIGNING_INPUTS = 3


def script_coins():
    """The outputs that the scripts are behind."""
    return [taproot(make()) for make in SCRIPTS for _ in range(SIGNING_INPUTS)]


def signatures(tx, index, spent, script):
    """Signatures of all operations of signing_script(), the first on top."""
    outputs = b"".join(map(serialized_output, tx.outputs))
    parts = (b"".join(map(prevout, tx.inputs)),
             b"".join(amount.to_bytes(8, "little") for amount, _ in spent),
             b"".join(sized(program) for _, program in spent),
             b"".join(i[3].to_bytes(4, "little") for i in tx.inputs), outputs)
    head = b"\0\0" + tx.version.to_bytes(4, "little") + tx.lock_time.to_bytes(4, "little") + \
        b"".join(hashlib.sha256(part).digest() for part in parts) + b"\x02" + \
        index.to_bytes(4, "little") + leaf_hash(script) + b"\0"
    return [schnorr(tagged("TapSighash", head + (3 * i).to_bytes(4, "little")), 0)[:64]
            for i in reversed(range(SIGNATURES))]


class Ground:
    """The chain: coins of REDEEMED, and those of script_coins()."""

    def __init__(self, coins, news):
        """`news`: blocks sent later."""
        splits = -(-coins // COINS_OF_A_TX)
        blocks = 102 + splits
        spare = blocks + splits // SPLITS_OF_A_BLOCK + news + 2
        self.chain = Chain(first_time=int(time.time()) - 600 * spare).grow(blocks)
        self.scripts = script_coins()
        made = [self._from_coinbase(i + 2, [(VALUE, REDEEMED)] * COINS_OF_A_TX)
                for i in range(splits)]
        self.lair = self._from_coinbase(1, [(SCRIPT_VALUE, output)
                                                     for output, _ in self.scripts])
        made.append(self.lair)
        for at in range(0, len(made), SPLITS_OF_A_BLOCK):
            self.chain.add(self.chain.candidate(made[at:at + SPLITS_OF_A_BLOCK]))
        ids = [tx.txid() for tx in made[:splits]]
        self.coins = [(one, i) for one in ids for i in range(COINS_OF_A_TX)]

    def _from_coinbase(self, height, outputs):
        txid, _ = self.chain.coinbase_of(height)
        return Tx([(txid, 0, b"", FINAL)], outputs)

    def script_spends(self, kind, number):
        """A transaction that runs the script of that kind."""
        count = SIGNING_INPUTS if SCRIPTS[kind] is signing_script else 1
        first = kind * SIGNING_INPUTS
        tx = Tx([(self.lair.txid(), first + i, b"", FINAL) for i in range(count)],
                [(SCRIPT_VALUE - 1_000_000 - number, REDEEMED)])
        spent = [self.lair.outputs[first + i] for i in range(count)]
        for i in range(count):
            ending = self.scripts[first + i][1]
            signed = signatures(tx, i, spent, ending[0]) if count > 1 else []
            tx.witness.append([*signed, *ending])
        return tx


@dataclasses.dataclass
class Attack:
    peers: list  # of each the bytes that it sends
    before: list = dataclasses.field(default_factory=list)  # transactions of the pool
    pool_megabytes: int = 100


def taking_turns(messages, peers=PEERS):
    """Messages that are dealt out to peers."""
    out = [[] for _ in range(peers)]
    for i, one in enumerate(messages):
        out[i % peers].append(one)
    return [b"".join(one) for one in out]


def tx_messages(txs):
    return (message("tx", tx.raw()) for tx in txs)


def inv_message(ids):
    return message("inv", compact_size(len(ids)) +
                   b"".join(INV_WTX.to_bytes(4, "little") + one for one in ids))


def orphans(_, rng, scale):
    return Attack(taking_turns(tx_messages(
        paying([(random_txid(rng), 0)], VALUE, 1_000) for _ in range(int(20_000 * scale)))))


def wide_orphans(_, rng, scale):
    """Each with as many outputs as fit."""
    return Attack(taking_turns(tx_messages(
        paying([(random_txid(rng), 0)], 10 * COIN, 10_000, LARGE // OUTPUT_SIZE)
        for _ in range(int(200 * scale)))))


def deep_orphans(_, rng, scale):
    """Each with as many parents as fit."""
    return Attack(taking_turns(tx_messages(
        paying([(random_txid(rng), 0) for _ in range(LARGE // INPUT_SIZE)], 10 * COIN, 10_000)
        for _ in range(int(200 * scale)))))


def told_orphan(_, rng, scale):
    """One orphan with many parents, which all announce again and again."""
    orphan = paying([(random_txid(rng), 0) for _ in range(LARGE // INPUT_SIZE)], 10 * COIN, 10_000)
    told = inv_message([sha256d(orphan.raw())] * int(200 * scale))
    return Attack([message("tx", orphan.raw()) + told] * PEERS)


def conflicts(ground, rng, scale):
    """Other spends of coins that the pool has spent, one or many at once, for no better fee."""
    wide = 60
    spent = ground.coins[:200]
    before = [paying([name], VALUE, 1_000) for name in spent]

    def another(i):
        names = rng.sample(spent, wide) if i % 10 == 0 else [rng.choice(spent)]
        return paying(names, VALUE * len(names), 900 * len(names), data=padded(PADDING, i))
    return Attack(taking_turns(tx_messages(map(another, range(int(20_000 * scale))))), before)


def chain_of(name, length, fee):
    txs = [paying([name], VALUE, fee)]
    while len(txs) < length:
        txs.append(child_of(txs[-1], 0, fee))
    return txs


def low_fee_chains(ground, _, scale):
    """Longer than a cluster may be, at the least fee; and transactions without a fee."""
    chains = [chain_of(name, CLUSTER + 6, 9) for name in ground.coins[:int(250 * scale)]]
    free = [paying([name], VALUE, 0) for name in ground.coins[int(250 * scale):][:CLUSTER]]
    return Attack([b"".join(tx_messages(tx for one in chains[i::PEERS] for tx in one)) +
                   b"".join(tx_messages(free)) for i in range(PEERS)])


def scripts(ground, _, scale):
    txs = [ground.script_spends(kind, i)
           for i in range(int(40 * scale)) for kind in range(len(SCRIPTS))]
    return Attack(taking_turns(tx_messages(txs)))


def replacement_storm(ground, _, scale):
    """Each peer replaces a transaction again and again; and another with a family of twenty."""
    family = 20

    def of_peer(peer):
        single, root = ground.coins[2 * peer:2 * peer + 2]
        fee, last, txs = 100, 0, []
        for i in range(int(1_500 * scale)):
            txs.append(paying([single], VALUE, 100 + 20 * i))
            if i % (2 * family) == 0:
                fee = last + 1_000
                parent = paying([root], VALUE, fee, family)
                txs += [parent, *(child_of(parent, n, 100) for n in range(family))]
                last = fee + 100 * family
        return b"".join(tx_messages(txs))
    return Attack([of_peer(peer) for peer in range(PEERS)])


ROOT_FEE, MOST_FEE = 4_000, 400


def tree_of(name, rng):
    """A cluster that is full: a binary tree with a root that pays well and random fees."""
    txs = [paying([name], VALUE, ROOT_FEE, 2)]
    for i in range(1, CLUSTER):
        parent = txs[(i - 1) // 2]
        txs.append(child_of(parent, (i - 1) % 2, rng.randrange(30, MOST_FEE), 2))
    return txs


def cluster_games(ground, rng, scale):
    """Transactions that would join all clusters of a pool of full ones; and replacements of a
    hundred clusters that pay more in all, but less for their size than the roots do."""
    count = max(100, int(300 * scale))
    trees = [tree_of(name, rng) for name in ground.coins[:count]]
    leaves, many = CLUSTER // 2, 100

    def joining(i):
        ends = [tree[-1 - i % leaves] for tree in trees][:LARGE // INPUT_SIZE]
        return paying([(tx.txid(), 0) for tx in ends], sum(tx.outputs[0][0] for tx in ends),
                      20_000, data=padded(PADDING, i))

    def replacing(i):
        at = rng.randrange(max(1, count - many + 1))
        names = ground.coins[at:at + many]
        return paying(names, many * VALUE, many * (ROOT_FEE + CLUSTER * MOST_FEE),
                      data=padded(85_000, i))
    txs = [joining(i) if i % 2 else replacing(i) for i in range(int(400 * scale))]
    return Attack(taking_turns(tx_messages(txs)), [tx for tree in trees for tx in tree], 300)


def inventory_spam(_, rng, scale):
    most = 50_000
    return Attack([b"".join(inv_message([rng.randbytes(32) for _ in range(int(most * scale))])
                            for _ in range(2)) for _ in range(100)])


def pinning(ground, rng, scale):
    """Large children at the least rate hold parents down, and are replaced by each other; parents
    are replaced for less than both pay; restricted parents (BIP431) get one child after another."""
    txs = []
    before = [paying([name], VALUE, 500, 2) for name in ground.coins[:50]]
    truc = [paying([name], VALUE, 500, 2, version=3) for name in ground.coins[50:100]]
    for i in range(int(2_000 * scale)):
        parent, restricted = rng.choice(before), rng.choice(truc)
        if i % 10 == 0:
            txs.append(child_of(parent, 0, 10_000 + 10 * i, data=padded(90_000, i)))
        txs.append(paying([parent.inputs[0][:2]], VALUE, 1_000 + i, data=padded(PADDING, i)))
        txs.append(child_of(restricted, i % 2, 1_000 + 30 * i, version=3))
        txs.append(child_of(restricted, i % 2, 1_000 + i, version=2))
    return Attack(taking_turns(tx_messages(txs)), before + truc)


def full_pool(megabytes):
    def make(ground, rng, scale):
        """Transactions that each push out others, chains that fall link by link, and ones that pay
        too little."""
        filling = megabytes * 900
        flood = int(20_000 * scale)
        names = iter(ground.coins)

        def one(fee, number):
            return paying([next(names)], VALUE, fee, data=padded(PADDING, number))
        before = [one(100 + i * 7_919 % 4_000, i) for i in range(filling)]
        chains = []
        for _ in range(10):
            txs = [paying([next(names)], VALUE, 400)]
            while len(txs) < CLUSTER:
                txs.append(child_of(txs[-1], 0, 400 - 5 * len(txs)))
            chains += txs
        before += chains
        txs = [one(rng.randrange(50) if i % 3 == 0 else 4_000 + i // 10, filling + i)
               for i in range(flood)]
        return Attack(taking_turns(tx_messages(txs)), before, megabytes)
    make.coins = megabytes * 900 + 25_000
    return make


ATTACKS = {"orphans": orphans, "orphans with 2,900 outputs": wide_orphans,
           "orphans with 2,200 parents": deep_orphans, "an orphan announced again": told_orphan,
           "conflicts": conflicts, "low-fee chains": low_fee_chains,
           "scripts of 400 kWU": scripts, "replacement storms": replacement_storm,
           "cluster-limit games": cluster_games, "inventory spam of 100 peers": inventory_spam,
           "pinning": pinning, "full pool of 5 MB": full_pool(5)}
FULL_ATTACKS = {"full pool of 300 MB": full_pool(300)}


def coins_of(names):
    """Coins that the attacks need."""
    return max([25_000, *(getattr(attack, "coins", 0) for name, attack
                          in (ATTACKS | FULL_ATTACKS).items() if name in names)])


def recorded(name, ground, scale, work):
    """The folder with the messages of an attack, and the attack without them; made if it is not
    there."""
    kept = work / "streams" / f"{name.replace(' ', '-').replace(',', '')}-{scale:g}.pickle"
    folder = kept.with_suffix("")
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        attack = (ATTACKS | FULL_ATTACKS)[name](ground, random.Random(1), scale)
        for i, data in enumerate(attack.peers):
            (folder / f"peer-{i:03}.bin").write_bytes(data)
        attack.peers, attack.before = [], [tx.raw() for tx in attack.before]
        kept.write_bytes(pickle.dumps(attack))
    return folder, pickle.loads(kept.read_bytes())
