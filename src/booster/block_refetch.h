// BlockRefetch: fetches blocks that files have lost, so that a run can continue from its saved
// work: after a stored block was found damaged, or if blocks that were read are not stored any
// more. Owned by its user; the session's thread.
#pragma once

#include "booster/session_parts.h"

namespace ibd {

class BlockRefetch {
public:
    explicit BlockRefetch(SessionParts& parts) : m_parts(parts) {}

    /** After a run failed with `error`: true if the cause was damaged blocks and peers have sent
     *  them again. */
    Result<bool> Mend(const Error& error);

    /** Fetches the blocks up to `terminal` that are not stored, if there are any. */
    Result<> FetchMissing(const HeaderNode& terminal, BlockFetcher& peers);
    /** Only those that unfinished work has read, and therefore does not request. `first_stored`:
     *  see ChainKeeper. */
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
