// Compact blocks of a hostile peer: the first two bytes are the size of a cmpctblock, the following
// bytes are a blocktxn. For any content, an assembled block has the header and its merkle root; and
// a compact block that we make from it is reconstructed from a pool with all its transactions.
#include "net/wire/compact_block.h"

#include "consensus/block_check.h"
#include "util/check.h"

using namespace ibd;

namespace {

class Pool final : public TransactionSource {
public:
    explicit Pool(std::vector<TransactionRef> txs) : m_txs(std::move(txs)) {}
    void ForEachTransaction(const Visit& more) const override { VisitAll(m_txs, more); }
    /** Half of them would be mined first. */
    void ForEachToMine(size_t, const Visit& more) const override
    {
        VisitAll(std::span(m_txs).first(m_txs.size() / 2), more);
    }

private:
    static void VisitAll(std::span<const TransactionRef> txs, const Visit& more)
    {
        std::vector<Wtxid> ids;
        for (const TransactionRef& tx : txs) ids.push_back(tx->WitnessId());
        more(ids, txs);
    }

    const std::vector<TransactionRef> m_txs;
};

void CheckBlock(const Bytes& raw, const BlockHeader& header)
{
    BlockView view;
    CHECK(view.Parse(raw).Ok() && view.Header() == header && !CheckMerkleRoot(view));
    std::vector<TransactionRef> txs;
    for (const TxView& tx : view.Txs()) txs.push_back(Transaction::Parse(tx.raw).Value());
    const Pool pool(std::move(txs));
    PartialBlock again;
    const auto message = Decode<CompactBlockMessage>(Encode(MakeCompactBlock(view, 7)));
    CHECK(message.Ok());
    if (again.Start(*message, &pool) != PartialBlock::Status::kOk) return; // ids that collide
    CHECK(again.Missing().empty());
    Bytes copy;
    CHECK(again.Fill({}, true, copy) == PartialBlock::Status::kOk);
    CHECK(copy == raw);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size < 2) return 0;
    const ByteSpan rest(data + 2, size - 2);
    const size_t first = std::min<size_t>(ReadLE<uint16_t>(data), rest.size());
    const auto message = Decode<CompactBlockMessage>(rest.first(first));
    if (!message) return 0;
    const auto answer = Decode<BlockTxnMessage>(rest.subspan(first));
    const std::vector<TransactionRef> txs = answer ? answer->txs : std::vector<TransactionRef>{};
    const Pool pool(txs);
    for (const TransactionSource* source : {static_cast<const TransactionSource*>(nullptr),
                                            static_cast<const TransactionSource*>(&pool)}) {
        PartialBlock block;
        if (block.Start(*message, source) != PartialBlock::Status::kOk) continue;
        const auto missing = block.Missing();
        CHECK(missing.size() + block.PrefilledCount() + block.PoolCount() ==
              message->short_ids.size() + message->prefilled.size());
        Bytes raw;
        const auto status = block.Fill(txs, true, raw);
        CHECK((status == PartialBlock::Status::kInvalid) == (txs.size() != missing.size()));
        if (status == PartialBlock::Status::kOk) CheckBlock(raw, message->header);
    }
    return 0;
}
