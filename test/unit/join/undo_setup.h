// Undo data of a chain as a walk over a map finds it, and a consumer that keeps what it is given.
#pragma once

#include "join/undo_rebuild.h"
#include "join_setup.h"

namespace ibd::test {

/** By height from 1, the records that connecting the blocks in order leaves. The blocks may break
 *  rules, but spend what is there. */
inline std::vector<Bytes> WalkUndo(uint32_t blocks, const std::function<ByteSpan(uint32_t)>& raw)
{
    std::map<OutPoint, Coin> coins;
    std::vector<Bytes> records;
    for (uint32_t height = 1; height <= blocks; ++height) {
        BlockView view;
        REQUIRE(view.Parse(raw(height)).Ok());
        BlockUndo undo;
        for (const TxView& tx : view.Txs()) {
            const bool coinbase = &tx == view.Txs().data();
            if (!coinbase) undo.txs.emplace_back();
            for (const InputView& input : tx.inputs) {
                if (coinbase) continue;
                const auto coin = coins.find(input.Prevout());
                REQUIRE(coin != coins.end());
                undo.txs.back().spent.push_back(coin->second);
                coins.erase(coin);
            }
            for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
                const OutputView& output = tx.outputs[i];
                if (IsUnspendable(output.script_pubkey)) continue;
                coins[{tx.txid, i}] = {output.value, ScriptBytes(output.script_pubkey), height,
                                       coinbase};
            }
        }
        records.push_back(undo.Encode());
    }
    return records;
}

class KeptUndo final : public UndoConsumer {
public:
    /** Requires that they come in order; the next is that of height Records().size() + 1. */
    Result<> Take(const HeaderNode& node, ByteSpan undo) override
    {
        if (fails_at == node.height) return BadData("no room");
        const bool next = node.height == NextHeight();
        m_ordered = m_ordered && next;
        m_records.emplace_back(undo.begin(), undo.end());
        return {};
    }
    int32_t NextHeight() const { return static_cast<int32_t>(m_records.size()) + 1; }
    bool Ordered() const { return m_ordered; }
    const std::vector<Bytes>& Records() const { return m_records; }
    /** As if what came last had not been durable. */
    void Keep(size_t records) { m_records.resize(std::min(records, m_records.size())); }

    int32_t fails_at = 0;

private:
    std::vector<Bytes> m_records;
    bool m_ordered = true;
};

} // namespace ibd::test
