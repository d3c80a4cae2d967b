// Undo data of a chain as a walk over a map finds it, and a consumer that keeps what it is given.
#pragma once

#include "join/undo_rebuild.h"
#include "join_setup.h"
#include "support/undo_record.h"

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
    /** In order; the next is that of NextHeight(). */
    Result<> Take(const HeaderNode& node, const UndoRecord& undo) override
    {
        if (fails_at == node.height) return BadData("no room");
        const bool next = node.height == NextHeight();
        m_ordered = m_ordered && next;
        const bool right =
            !node.prev || undo.checksum == UndoChecksum(node.prev->hash, undo.pieces);
        m_checksums_right = m_checksums_right && right;
        m_records.push_back(Together(undo));
        return {};
    }
    Result<> End() override
    {
        ++ended;
        return fails_at_end ? BadData("no room at the end") : Result<>();
    }
    int32_t NextHeight() const { return first + static_cast<int32_t>(m_records.size()); }
    bool Ordered() const { return m_ordered; }
    bool ChecksumsRight() const { return m_checksums_right; }
    const std::vector<Bytes>& Records() const { return m_records; }
    /** As if the last records had not been durable. */
    void Keep(size_t records) { m_records.resize(std::min(records, m_records.size())); }

    int32_t first = 1; //!< height
    int32_t fails_at = 0;
    bool fails_at_end = false;
    int ended = 0;

private:
    std::vector<Bytes> m_records;
    bool m_ordered = true;
    bool m_checksums_right = true;
};

/** A chain on disk, and its expected undo data. */
class UndoSetup {
public:
    explicit UndoSetup(uint64_t seed, const TestChainOptions& shape = {})
        : m_setup(seed, shape), m_right(WalkUndo(m_setup.Chain().Height(), [this](uint32_t height) {
              return m_setup.Chain().Raw(height);
          }))
    {
    }

    SyncSetup& Setup() { return m_setup; }
    Path Directory() const { return m_setup.Booster() / "undo"; }
    const std::vector<Bytes>& Right() const { return m_right; }
    std::atomic<bool>& Stop() { return m_stop; }
    KeptUndo& Kept() { return m_kept; }
    KeptUndo& Last() { return m_last; }

    UndoOptions Options(unsigned threads, size_t memory) const
    {
        UndoOptions options;
        options.join = MakeJoinOptions(Directory(), threads, memory);
        options.join.connected = TestRng().Below(2) == 0;
        options.checks = UndoChecks::kNone; // the chain breaks rules: see test/full_validation
        options.outlines = TestRng().Below(2) == 0;
        options.oversized_bytes =
            std::array{uint64_t{0}, uint64_t{300}, kOversizedUndoBytes}[TestRng().Below(3)];
        options.portion_ranges = std::array{8u, 50u, kUndoPortionRanges}[TestRng().Below(3)];
        return options;
    }
    Result<JoinVerdict> Rebuild(Env& env, UndoOptions options)
    {
        FileBlockSupply files(env, m_setup.Blocks(), m_setup.Chain().Tip(), m_order);
        return RebuildFrom(env, files, std::move(options), m_kept);
    }
    Result<JoinVerdict> RebuildFrom(Env& env, BlockSupply& supply, UndoOptions options,
                                    UndoConsumer& consumer)
    {
        options.first_height = m_kept.NextHeight();
        UndoRebuild rebuild(env, m_setup.Log(), m_setup.Chain().Params(), m_setup.Chain().Tip(),
                            m_setup.Blocks(), supply, std::move(options), m_stop);
        return rebuild.Run(consumer);
    }
    /** Only the records of the last blocks, from `first` on. */
    Result<JoinVerdict> RebuildLast(Env& env, UndoOptions options, int32_t first,
                                    std::optional<FoundCoins> found = {})
    {
        FileBlockSupply files(env, m_setup.Blocks(), m_setup.Chain().Tip(), m_order);
        return RebuildLastFrom(env, files, std::move(options), first, std::move(found));
    }
    Result<JoinVerdict> RebuildLastFrom(Env& env, BlockSupply& supply, UndoOptions options,
                                        int32_t first, std::optional<FoundCoins> found = {})
    {
        if (m_last.Records().empty()) m_last.first = first;
        options.first_height = m_last.NextHeight();
        UndoRebuild rebuild(env, m_setup.Log(), m_setup.Chain().Params(), m_setup.Chain().Tip(),
                            m_setup.Blocks(), supply, std::move(options), m_stop);
        return rebuild.RunLast(m_last, std::move(found));
    }
    /** Leaves what a join leaves. */
    void KeepPairs(JoinOptions join)
    {
        FaultEnv env;
        FileBlockSupply files(env, m_setup.Blocks(), m_setup.Chain().Tip(), m_order);
        join.pairs = true;
        SpendJoin pairing(env, m_setup.Log(), m_setup.Chain().Params(), m_setup.Chain().Tip(),
                          files, join, m_stop);
        RequireDone(pairing.Run({}));
    }
    void RequireRight()
    {
        REQUIRE(m_kept.Ordered());
        REQUIRE(m_kept.ChecksumsRight());
        REQUIRE(m_kept.Records() == m_right);
        RequireClean(Directory());
    }
    void RequireRightLast()
    {
        REQUIRE(m_last.Ordered());
        REQUIRE(m_last.ChecksumsRight());
        const std::vector<Bytes> right(m_right.begin() + m_last.first - 1, m_right.end());
        REQUIRE(m_last.Records() == right);
    }
    void Reset()
    {
        std::filesystem::remove_all(Directory());
        m_kept = KeptUndo();
        m_last = KeptUndo();
    }

private:
    SyncSetup m_setup;
    const PlanOrder m_order = AnyOrder();
    const std::vector<Bytes> m_right;
    std::atomic<bool> m_stop = false;
    KeptUndo m_kept;
    KeptUndo m_last; //!< of RebuildLast()
};

} // namespace ibd::test
