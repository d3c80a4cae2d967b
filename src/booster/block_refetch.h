// BlockRefetch: after a stored block was found damaged: with a network the block is fetched again,
// so that the run can start again from its saved work. Owned by BoosterSession; the session's
// thread.
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

private:
    Result<> FetchAgain(const std::vector<const HeaderNode*>& lost, BlockFetcher& peers);
    Result<> TakeBlocks(PeerBlockSupply& supply);

    SessionParts& m_parts;
};

} // namespace ibd
