// SnapshotCoins: the coins of a UTXO snapshot, sorted by the block that made them, in one file. A
// fold in any order of blocks finds the coins of a block with one or two reads. They serve as the
// hints for the proof of the snapshot: an output is unspent at the base if the file has its coin
// with this amount, script, height and kind. A coin that its block does not contain in this form
// refutes the snapshot. Records are those of runs (doc/formats/runs.md), whose key begins with the
// height. Immutable once opened; any thread. Memory: 24 bytes for each 32 KiB of coins; while they
// are made, as given.
#pragma once

#include "script/coin.h"
#include "swiftsync/checkpoint.h"
#include "swiftsync/fold.h"
#include "swiftsync/named_hints.h"

#include <atomic>
#include <functional>

namespace ibd {

/** The snapshot that coins belong to. */
struct SnapshotIdentity {
    std::array<uint8_t, 4> network_magic{};
    uint32_t height = 0; //!< of its base
    BlockHash base;
    Uint256 hash; //!< hash_serialized_3 of all its coins
};

/** The state of a fold with a snapshot's coins (BoosterOptions::proves). */
enum class ProofStanding { kUnfinished, kFolded, kProven };
/** Determined from its files; damaged ones count as unfinished. */
Result<ProofStanding> FindProofStanding(Env& env, const Path& directory,
                                        const SnapshotIdentity& snapshot);
/** Removes the files of such a fold, or of SnapshotCoins::Make(), if the directory exists. */
Result<> RemoveProofFiles(Env& env, const Path& directory);

/** The result of making the file. */
enum class SnapshotCoinsMade { kDone, kInterrupted, kOtherCoins };

class SnapshotCoins final : public NamedHints {
public:
    /** The next coin in the order of the database; false: there are no more. */
    using NextCoin = std::function<Result<bool>(OutPoint& outpoint, Coin& coin)>;

    /** Writes the coins to `directory`, whose older contents are removed. kOtherCoins: their hash
     *  is not the snapshot's, and nothing is kept. `memory_bytes`: for sorting. */
    static Result<SnapshotCoinsMade> Make(Env& env, const Path& directory,
                                          const SnapshotIdentity& snapshot, size_t memory_bytes,
                                          const NextCoin& next, const std::atomic<bool>& stop);
    /** Opens the file that Make() has completed; null: there is none, or it is damaged. `rules`: of
     *  the branch of the base. */
    static Result<std::unique_ptr<SnapshotCoins>>
    Open(Env& env, const Path& directory, const SnapshotIdentity& snapshot, FoldRules rules);

    Result<> Read(uint32_t height, BlockHints& out) const override; //!< a bug: needs the block
    Result<> ReadFor(std::span<const TxView> txs, uint32_t height, BlockHints& out) const override;
    /** Visits all coins by height. */
    Result<> Visit(const std::function<void(const OutPoint&)>& visit) const;
    /** Whether a read found the file damaged, which proves nothing about the coins. */
    bool IsDamaged() const { return m_damaged; }

private:
    SnapshotCoins(RunReader run, const SnapshotIdentity& snapshot, FoldRules rules);
    Error Damaged(const Error& error) const;

    const std::array<RunReader, 1> m_run;
    const FoldRules m_rules;
    mutable std::atomic<bool> m_damaged{false};
};

} // namespace ibd
