// BlockSource: hands out an engine's blocks in any order, from block files, peers or both. One
// source for each worker, used by that worker's thread alone but for Sync(). BlockSupply: makes the
// sources. Errors (Result) are the machine's, or a missing block that must exist: they end the
// sync. A fault of a block is passed to Reject(), and the source decides whether the sync ends.
#pragma once

#include "chain/header_tree.h"
#include "primitives/block.h"

#include <optional>
#include <vector>

namespace ibd {

struct Coin;

struct SuppliedBlock {
    const HeaderNode* node = nullptr; //!< the expected block
    ByteSpan bytes;                   //!< serialized, possibly with surplus bytes; valid until the
                                      //!< next call
    /** False: only its rules are to be checked: a block off the branch, above the terminal block,
     *  or folded in an earlier sync. */
    bool fold = true;
    /** The block index accepted it before, with all rules that need no coins: only check that the
     *  bytes are still that block's. False: check all those rules, among them witness commitment
     *  and signet solution. */
    bool indexed = true;
    uint32_t tag = 0; //!< for the source's own use
    /** The coins that its inputs spend, in their order, as its sender claims; the receiver may take
     *  them out. Null: they are in the block's undo record, or are not needed. */
    std::vector<Coin>* spent_coins = nullptr;
};

class BlockSource {
public:
    virtual ~BlockSource() = default;

    /** The next block; may wait for one. False: there are no more. */
    virtual Result<bool> Next(SuppliedBlock& out) = 0;
    /** The block is valid; `view`: its parsed bytes. Called before it is folded. */
    virtual Result<> Keep(const SuppliedBlock& block, const BlockView& view) = 0;
    /** The block is refused. If `why` concerns only the bytes, the block itself may be valid. True:
     *  continue, because the source can fetch it again or the sync does not need it. False: the
     *  sync must end. */
    virtual Result<bool> Reject(const SuppliedBlock& block, const RuleViolation& why) = 0;
    /** Makes all kept blocks durable. Any thread; called before a checkpoint names these blocks as
     *  done. */
    virtual Result<> Sync() = 0;
};

class BlockSupply {
public:
    virtual ~BlockSupply() = default;

    /** Called before the first source is made, and again if the engine starts over. `folded`:
     *  whether an earlier sync has folded the height; valid only during the call. The other blocks
     *  may still be missing. */
    virtual Result<> Begin(const std::function<bool(int32_t height)>& folded) = 0;
    /** Makes a source for one more worker; the supply must outlive it. */
    virtual std::unique_ptr<BlockSource> MakeSource() = 0;
    /** Makes every Next() return false soon. Any thread. */
    virtual void Stop() = 0;

    // After Begin().

    /** Number of blocks to be folded, present or not. */
    virtual size_t BlocksToFold() const = 0;
    /** Estimated bytes of all blocks that the sources will hand out. */
    virtual uint64_t EstimatedBytes() const = 0;
    /** The part of it that will be folded. */
    virtual uint64_t BytesToFold() const { return EstimatedBytes(); }
    /** An updated EstimatedBytes(), from the blocks received since Begin(). Nothing: the estimate
     *  is unchanged. Only for progress; any thread. */
    virtual std::optional<uint64_t> NewEstimate() const { return std::nullopt; }
    /** Text appended to the progress line; any thread. */
    virtual std::string Detail() const { return {}; }
};

} // namespace ibd
