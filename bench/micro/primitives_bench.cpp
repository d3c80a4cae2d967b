// Cost of parsing a block in place, per transaction: the walk over the bytes with the ids, the
// witness ids, and serialization from plain fields. Usage: bench_primitives [--once]
#include "bench_support.h"
#include "primitives/block.h"
#include "primitives/transaction.h"

namespace ibd::bench {

namespace {

constexpr size_t kTransactions = 2500;

/** Two inputs and two outputs, every second one with witness: about a block of 2024. */
MutableTransaction TypicalTransaction(size_t i)
{
    MutableTransaction tx;
    for (uint32_t n = 0; n < 2; ++n) {
        MutableInput input;
        input.prevout.txid.data()[0] = static_cast<uint8_t>(i);
        input.prevout.txid.data()[1] = static_cast<uint8_t>(i >> 8);
        input.prevout.vout = n;
        if (i % 2) input.witness = {Bytes(71, 1), Bytes(33, 2)};
        if (i % 2 == 0) input.script_sig = Bytes(107, 3);
        tx.inputs.push_back(input);
        tx.outputs.push_back({Amount(i), Bytes(i % 2 ? 22 : 25, 4)});
    }
    return tx;
}

void Run(int argc, char** argv)
{
    const Runner runner(argc, argv);
    std::vector<MutableTransaction> txs;
    Bytes block(BlockHeader::kSize, 0);
    Writer(block).CompactSize(kTransactions);
    for (size_t i = 0; i < kTransactions; ++i) {
        txs.push_back(TypicalTransaction(i));
        Append(block, txs.back().Serialize());
    }
    BlockView view;
    runner.Run("BlockView::Parse, per transaction", kTransactions,
               [&] { CHECK(view.Parse(block).Ok()); });
    std::vector<Wtxid> ids;
    runner.Run("ComputeWitnessHashes, per transaction", kTransactions,
               [&] { ComputeWitnessHashes(view, ids); });
    runner.Run("MutableTransaction::FromView, per transaction", kTransactions, [&] {
        for (const TxView& tx : view.Txs()) Keep(MutableTransaction::FromView(tx));
    });
    runner.Run("MutableTransaction::Serialize, per transaction", kTransactions, [&] {
        for (const MutableTransaction& tx : txs) Keep(tx.Serialize());
    });
    std::printf("block of %zu bytes, %zu transactions\n", block.size(), kTransactions);
}

} // namespace

} // namespace ibd::bench

int main(int argc, char** argv) { ibd::bench::Run(argc, argv); }
