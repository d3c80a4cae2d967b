// What a worker of the booster does for one block, and what the order of spending within it adds to
// that. Usage: bench_swiftsync [--once]
#include "bench_support.h"
#include "consensus/block_check.h"
#include "consensus/merkle.h"
#include "primitives/transaction.h"
#include "swiftsync/aggregate.h"
#include "swiftsync/fold.h"
#include "swiftsync/spend_order.h"

#include <random>

namespace ibd::bench {

namespace {

constexpr size_t kTransactions = 2500;

/** Two inputs and two outputs, every second one with witness: about a block of 2024. Every fifth
 *  spends an output of the transaction before it. */
MutableTransaction TypicalTransaction(size_t i, const Txid& before, std::mt19937_64& rng)
{
    MutableTransaction tx;
    for (uint32_t n = 0; n < 2; ++n) {
        MutableInput input;
        for (size_t at = 0; at < 32; at += 8) WriteLE64(input.prevout.txid.data() + at, rng());
        if (i % 5 == 0 && n == 0) input.prevout.txid = before;
        input.prevout.vout = n;
        if (i % 2) input.witness = {Bytes(71, 1), Bytes(33, 2)};
        if (i % 2 == 0) input.script_sig = Bytes(107, 3);
        tx.inputs.push_back(input);
        tx.outputs.push_back({Amount(i), Bytes(i % 2 ? 22 : 25, 0x51)});
    }
    return tx;
}

Bytes TypicalBlock()
{
    std::mt19937_64 rng(1);
    MutableTransaction coinbase;
    coinbase.inputs.emplace_back().script_sig = Bytes(8, 1);
    coinbase.outputs.push_back({0, Bytes(22, 0x51)});
    std::vector<Uint256> ids = {coinbase.Id()};
    Bytes txs = coinbase.Serialize();
    Txid before = coinbase.Id();
    for (size_t i = 1; i < kTransactions; ++i) {
        const MutableTransaction tx = TypicalTransaction(i, before, rng);
        before = tx.Id();
        ids.push_back(before);
        Append(txs, tx.Serialize());
    }
    BlockHeader header;
    header.merkle_root = MerkleRootSimple(ids).root;
    Bytes block;
    Writer writer(block);
    writer.Raw(header.ToBytes());
    writer.CompactSize(kTransactions);
    writer.Raw(txs);
    return block;
}

/** All but reading the block and its hints and writing the coins. */
class Worker {
public:
    Worker()
    {
        m_hints.outputs = 2 * kTransactions - 1;
        for (uint32_t i = 0; i < m_hints.outputs; i += 20) m_hints.unspent.push_back(i);
    }
    void Fold(ByteSpan block)
    {
        CHECK(m_view.Parse(block).Ok());
        const BlockCheckOptions options{.check_pow = false, .check_merkle_root = true};
        CHECK(!CheckBlock(m_view, m_params.consensus, options));
        CHECK(ibd::Fold(m_view, 1, m_hints, {}, m_delta).Ok());
        m_sum->AddCreated(m_delta.created.data(), m_delta.created.size());
        m_sum->AddSpent(m_delta.spent.data(), m_delta.spent.size());
    }
    void CheckOrder() { CHECK(!m_order.Check(m_view.Txs())); }

private:
    const ChainParams m_params = MakeChainParams(Network::kRegtest);
    BlockView m_view;
    BlockHints m_hints;
    BlockDelta m_delta;
    SpendOrder m_order{0x9e3779b97f4a7c15};
    std::unique_ptr<Aggregate> m_sum = MakeAggregate(AggregateKind::kSha256, {});
};

void Run(int argc, char** argv)
{
    const Runner runner(argc, argv);
    const Bytes block = TypicalBlock();
    Worker worker;
    worker.Fold(block);
    runner.Run("parse, check, fold, sum: per transaction", kTransactions,
               [&] { worker.Fold(block); });
    runner.Run("order of spending alone: per transaction", kTransactions,
               [&] { worker.CheckOrder(); });
    runner.Run("both: per transaction", kTransactions, [&] {
        worker.Fold(block);
        worker.CheckOrder();
    });
    std::printf("block of %zu bytes, %zu transactions\n", block.size(), kTransactions);
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv) { ibd::bench::Run(argc, argv); }
