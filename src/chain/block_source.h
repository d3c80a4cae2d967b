// BlockSource: where an engine's blocks come from, in whatever order they come - block files, peers
// or both. One source for each worker, used by that worker's thread alone but for Sync().
// BlockSupply: what hands out the sources. Errors (Result) are the machine's, or say that a block
// that must be there is not: they end the sync. What is wrong with a block is told to
// Reject(), and the source decides whether that ends anything.
#pragma once

#include "chain/header_tree.h"
#include "primitives/block.h"

namespace ibd {

struct SuppliedBlock {
    const HeaderNode* node = nullptr; //!< whose block this should be
    ByteSpan bytes;                   //!< serialized, maybe with more behind; until the next call
    /** False: nothing is asked but whether it keeps the rules - a block off the branch, above the
     *  terminal block, or folded in an earlier sync. */
    bool fold = true;
    /** The block index took it once, with all rules that need no coins: what is left to check is
     *  that the bytes are still that block's. False: all those rules, witness commitment and
     *  signet solution among them, are yet to be checked. */
    bool indexed = true;
    uint32_t tag = 0; //!< the source's own
};

class BlockSource {
public:
    virtual ~BlockSource() = default;

    /** The next block; waits for one if need be. False: there will be no more. */
    virtual Result<bool> Next(SuppliedBlock& out) = 0;
    /** The block kept the rules; `view` is its bytes, parsed. Called before it is folded. */
    virtual Result<> Keep(const SuppliedBlock& block, const BlockView& view) = 0;
    /** The block is not taken. If `why` is of the data alone the block itself may be sound.
     *  True: go on - the source can get it again, or the sync can do without. False: this ends the
     *  sync. */
    virtual Result<bool> Reject(const SuppliedBlock& block, const RuleViolation& why) = 0;
    /** Makes all durable that was kept until now. From any thread: called before a checkpoint says
     *  that those blocks are done. */
    virtual Result<> Sync() = 0;
};

class BlockSupply {
public:
    virtual ~BlockSupply() = default;

    /** Called before the first source is made, and again if the engine starts over. `folded` says
     *  which heights of the branch an earlier sync has folded; it may be asked during the call
     *  only. Not all other blocks have to be there yet. */
    virtual Result<> Begin(const std::function<bool(int32_t height)>& folded) = 0;
    /** A source for one more worker; the supply must outlive it. */
    virtual std::unique_ptr<BlockSource> MakeSource() = 0;
    /** Makes every Next() return false soon. Any thread. */
    virtual void Stop() = 0;

    // After Begin().

    /** Blocks to be folded, whether they are there or not. */
    virtual size_t BlocksToFold() const = 0;
    /** Bytes of all blocks that the sources will hand out, roughly. */
    virtual uint64_t EstimatedBytes() const = 0;
    /** Of these, of the blocks to be folded. */
    virtual uint64_t BytesToFold() const { return EstimatedBytes(); }
    /** What else the line of progress is to say; any thread. */
    virtual std::string Detail() const { return {}; }
};

} // namespace ibd
