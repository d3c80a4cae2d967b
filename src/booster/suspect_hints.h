// SuspectHints: hints with wrong totals. Either they are wrong, or a block up to their terminal
// block is invalid (a double spend, for example). Once the blocks are known to be valid, the hints
// are recorded as bad, so that no later start uses them for these blocks. Owned by SessionParts;
// any thread. Memory: a few hundred bytes for each.
#pragma once

#include "booster/kept_work.h"
#include "chain/header_tree.h"
#include "util/mutex.h"

#include <vector>

namespace ibd {

class SuspectHints {
public:
    struct Entry {
        Uint256 id;
        BlockHash terminal;
        int32_t height = 0; //!< of the terminal block
        std::string why;
    };

    SuspectHints(Logger& log, const KeptWork& kept) : m_log(log), m_kept(kept) {}

    void Add(Entry entry);
    /** Call it when all blocks up to `valid` are valid. A failure to record the hints is only
     *  logged: its only effect is a slower later start. */
    void Proven(const HeaderNode& valid);

private:
    Logger& m_log;
    const KeptWork& m_kept;
    Mutex m_mutex;
    std::vector<Entry> m_entries IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
