// SpendJoin: finds the outputs up to a block that are unspent after it, from blocks alone. It is an
// external join of all made outputs with all spends. The two events of an output are matched in a
// bounded table if they are close together; unmatched events are spilled by partitions of a keyed
// hash, and the partitions are joined one by one. Blocks come from a supply in any order; a join
// killed at any moment can be resumed. Run() on one thread, the rest from any. Memory:
// JoinOptions::memory_bytes, the blocks being parsed, and up to 40 bytes for each block of the
// chain. See doc/develop/join.md.
#pragma once

#include "join/hints_phase.h"
#include "join/read_phase.h"

namespace ibd {

class SpendJoin {
public:
    /** For the blocks 1 to `terminal`, as `supply` hands them out. `stop`: makes Run() return soon;
     *  set by any thread. All arguments must outlive the join. */
    SpendJoin(Env& env, Logger& log, const ChainParams& params, const HeaderNode& terminal,
              BlockSupply& supply, JoinOptions options, const std::atomic<bool>& stop);

    /** Call once. Writes the hints of all blocks with the writer that `make_writer` gives, if it is
     *  not empty; the file is usable only if the verdict is kDone. The join's files are removed,
     *  except after a join that is incomplete, interrupted or short of disk space, and after a
     *  finished one with `pairs` or `aggregate`. With `pairs` it calls `publish` when the hints are
     *  complete; then it removes the events, from which hints could be made again, and keeps the
     *  pairs. An error is the machine's: durable work stays for the next join. */
    using Publish = std::function<Result<>()>;
    Result<JoinVerdict> Run(const MakeHintsWriter& make_writer, const Publish& publish = {});

    JoinProgress Progress() const;

private:
    /** The end of a try. */
    struct Outcome {
        JoinVerdict verdict;
        bool damaged = false;                //!< a spill is damaged
        std::optional<JoinRecord> problem{}; //!< an event that no valid chain has
        bool ordered = false;                //!< `problem` is certainly invalid, and the lowest in
                                             //!< the chain
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
    JoinVerdict verdict; //!< without kDone there is no file
    uint64_t file_size = 0;
};

/** Called with the join before it begins, and with null after its end. */
using JoinObserver = std::function<void(const SpendJoin* join)>;

/** Makes a hints file at `path`, which must not exist, from blocks alone. The file appears when it
 *  is complete and durable; until then `path`.incomplete is written. With JoinOptions::aggregate
 *  the state stays, for FirstPassOf(). The format must number spendable outputs from height 1. For
 *  the other parameters and errors see SpendJoin. */
Result<GeneratedHints> GenerateHints(Env& env, Logger& log, const ChainParams& params,
                                     const HeaderNode& terminal, BlockSupply& supply,
                                     const JoinOptions& options, const std::atomic<bool>& stop,
                                     const Path& path, HintsFormat format,
                                     const JoinObserver& observer = {});

} // namespace ibd
