// BlockImporter: brings blocks from files into the index - the network's own blk files for -reindex
// (left where they are), any other file for -loadblock (copied). Blocks may lie in any order,
// repeated, in branches, between garbage. One thread. Memory: one file position for each block
// whose parent was not seen yet.
#pragma once

#include "util/progress.h"
#include "validation/chain_manager.h"

#include <unordered_map>

namespace ibd {

class BlockImporter {
public:
    BlockImporter(ChainManager& chain, BlockStore& blocks, Env& env, Logger& log,
                  const std::atomic<bool>& interrupt);

    /** Indexes every block of the store's files. Stops early, without error, when interrupted. */
    Result<> Reindex();
    /** Takes the blocks of a file that is not obfuscated and connects them. */
    Result<> LoadFile(const Path& path);

    uint64_t Accepted() const { return m_accepted; }

private:
    /** Where a block waits for its parent; with an own store's position or the bytes. */
    struct Waiting {
        FilePos pos;
        Bytes raw;
    };

    ScanStep Visit(const FilePos* pos, ByteSpan raw);
    /** Accepts a block whose parent is known and all that waited for it. */
    Result<ScanStep> Accept(const FilePos* pos, ByteSpan raw);
    Result<> AcceptWaiting(const BlockHash& parent);
    void ReportWaiting(const std::string& where) const;

    ChainManager& m_chain;
    BlockStore& m_blocks;
    Env& m_env;
    Logger& m_log;
    const std::atomic<bool>& m_interrupt;
    std::unordered_multimap<BlockHash, Waiting, Uint256Hasher> m_waiting; //!< by parent
    Result<> m_failure; //!< of the disk; ends the import
    uint64_t m_accepted = 0;
};

} // namespace ibd
