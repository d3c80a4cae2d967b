// BlockRefetch: downloads blocks again that are damaged in the block files, or are no longer stored
// although a sync has read them, so that the sync can continue from its saved work. Created where
// it is needed; the session's thread.
#pragma once

#include "booster/session_parts.h"

namespace ibd {

class BlockRefetch {
public:
    explicit BlockRefetch(SessionParts& parts) : m_parts(parts) {}

    /** Call it after a run failed with `error`. True: damaged blocks were the cause, and peers have
     *  sent them again. */
    Result<bool> Mend(const Error& error);

    /** Fetches the blocks up to `terminal` that are not stored, if there are any. */
    Result<> FetchMissing(const HeaderNode& terminal, BlockFetcher& peers);
    /** Fetches only the missing blocks that unfinished work has already read: resuming does not
     *  request these. `first_stored`: see ChainKeeper. */
    Result<> FetchRead(const HeaderNode& terminal, BlockFetcher& peers, int32_t first_stored = 0);

private:
    using Wanted = std::function<bool(const HeaderNode&)>;
    Result<> FetchWanted(const HeaderNode& terminal, BlockFetcher& peers, int32_t first_stored,
                         const Wanted& wanted);
    Result<> FetchAgain(const std::vector<const HeaderNode*>& lost, BlockFetcher& peers,
                        int32_t first_stored = 0);
    Result<> TakeBlocks(PeerBlockSupply& supply, bool named);

    SessionParts& m_parts;
};

} // namespace ibd
