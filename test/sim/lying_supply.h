// LyingSupply: the blocks of a branch as hostile peers send them: in any order, and many of them
// wrong before they are right: truncated, changed, another block, or empty. All randomness follows
// from a seed, so that a sync with one worker repeats exactly. It records the engine's treatment of
// the blocks. Any number of workers; memory is a block a source and a few bytes a block.
#pragma once

#include "chain/block_source.h"
#include "sim/rng.h"

#include <condition_variable>
#include <mutex>
#include <set>

namespace ibd::sim {

struct LyingOptions {
    uint64_t seed = 1;
    bool asks_again = true; //!< a refused block is available from another source
    size_t most = SIZE_MAX; //!< blocks that will ever come
    int lies = 2;           //!< a block is wrong at most this often before it is right
};

class LyingSupply final : public BlockSupply {
public:
    using Raw = std::function<ByteSpan(uint32_t height)>;

    /** `raw` gives the blocks of the branch that ends at `tip`, from height 1. Both must outlive
     *  the supply. */
    LyingSupply(const HeaderNode& tip, Raw raw, const LyingOptions& options)
        : m_tip(tip), m_raw(std::move(raw)), m_options(options), m_rng(options.seed)
    {
    }

    Result<> Begin(const std::function<bool(int32_t height)>& folded) override;
    std::unique_ptr<BlockSource> MakeSource() override;
    void Stop() override;
    size_t BlocksToFold() const override { return m_asked; }
    uint64_t EstimatedBytes() const override { return m_asked * 1'000; }

    // For when the engine is done.

    size_t Rejected() const { return m_rejected; }
    /** Blocks that were kept twice or wrongly, or declared invalid because of bad bytes. */
    size_t Mistakes() const { return m_mistakes; }
    const std::set<uint32_t>& Kept() const { return m_kept; }     //!< heights
    const std::set<uint32_t>& Synced() const { return m_synced; } //!< of these, durable

private:
    class Source;

    /** A received height, and the number of times that it will still be wrong. */
    struct Arrival {
        uint32_t height = 0;
        int lies = 0;
    };

    std::optional<Arrival> Take();
    Bytes Deliver(const Arrival& arrival);
    void Keep(uint32_t height, bool right);
    bool Reject(const Arrival& arrival, const RuleViolation& why);
    void Sync();

    const HeaderNode& m_tip;
    const Raw m_raw;
    const LyingOptions m_options;
    std::mutex m_mutex; //!< guards the members below
    std::condition_variable m_changed;
    Rng m_rng;
    std::vector<Arrival> m_arrived;
    size_t m_asked = 0;
    size_t m_under_way = 0; //!< neither kept nor given up
    bool m_stopped = false;
    size_t m_rejected = 0;
    size_t m_mistakes = 0;
    std::set<uint32_t> m_kept;
    std::set<uint32_t> m_synced;
};

} // namespace ibd::sim
