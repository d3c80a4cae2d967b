// SpendJoin: finds out from blocks alone which outputs up to a block are unspent after it. An
// external join of all that was made with all that was spent: the two events of an output meet in a
// bounded table if they are close together, the rest is spilled by partitions of a keyed hash and
// joined partition by partition. Blocks come from a supply in any order; a kill at any moment is
// resumed. Owned by who asks for it; Run() on one thread, the rest from any. Memory:
// JoinOptions::memory_bytes, the blocks being parsed, and 12 bytes a block of the chain. See
// doc/develop/join.md.
#pragma once

#include "join/hints_phase.h"
#include "join/read_phase.h"

namespace ibd {

class SpendJoin {
public:
    /** Of the blocks 1 to `terminal`, as `supply` hands them out. `stop`: makes Run() return soon,
     *  from any thread. All must outlive the join. */
    SpendJoin(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
              BlockSupply& supply, JoinOptions options, const std::atomic<bool>& stop);

    /** Writes the hints of all blocks with what `make_writer` gives, if it is not empty; once.
     * Unless the verdict is kDone, what was written is of no use. What is on disk of the join is
     * removed unless it is incomplete, interrupted or without room, or it is done and JoinOptions
     * has `pairs` or `aggregate`. With `pairs` `publish` is called when the hints are whole, before
     * what they could be made of again goes and the pairs stay. An error is the machine's: what was
     * durable stays for the next join. */
    using Publish = std::function<Result<>()>;
    Result<JoinVerdict> Run(const MakeHintsWriter& make_writer, const Publish& publish = {});

    JoinProgress Progress() const;

private:
    /** How a try ends. */
    struct Outcome {
        JoinVerdict verdict;
        bool damaged = false;              //!< a spill is
        std::optional<JoinRecord> problem{}; //!< an event that no valid chain has
        bool ordered = false;              //!< that is certain, and it is the first in the chain
    };

    Result<Outcome> Try(const MakeHintsWriter& make_writer, const Publish& publish, bool ordered);
    Result<Outcome> Join(JoinState& state, const MakeHintsWriter& make_writer,
                         const Publish& publish);
    Result<> KeepPairs(JoinState& state, std::span<const SpillInfo> found);
    JoinVerdict Done(const JoinState& state) const;
    Outcome Early(const ReadEnd& end) const;
    static Outcome Undecided(const std::string& want);
    Result<JoinVerdict> Refuse(const JoinRecord& problem);
    Result<std::string> Describe(const JoinRecord& problem);
    Result<JoinVerdict> Conclude(JoinVerdict verdict);

    JoinJob m_job;
    BlockSupply& m_supply;
};

struct GeneratedHints {
    JoinVerdict verdict; //!< unless it is kDone, there is no file
    uint64_t file_size = 0;
};

/** Is shown the join before it begins, and null when it is over. */
using JoinObserver = std::function<void(const SpendJoin* join)>;

/** Makes a hints file at `path`, where nothing may be yet, from blocks alone. The file appears when
 *  it is complete and durable; until then `path`.incomplete is written. With JoinOptions::aggregate
 *  the state stays, of which FirstPassOf() is made. The format is one that
 *  numbers spendable outputs from height 1. The other parameters and errors are SpendJoin's. */
Result<GeneratedHints> GenerateHints(Env& env, Logger& log, const ChainParams& params,
                                     const HeaderNode& terminal, BlockSupply& supply,
                                     const JoinOptions& options, const std::atomic<bool>& stop,
                                     const Path& path, HintsFormat format,
                                     const JoinObserver& observer = {});

} // namespace ibd
