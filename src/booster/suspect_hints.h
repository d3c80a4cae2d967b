// SuspectHints: hints with wrong totals. Either they are wrong, or a block up to their terminal
// block is invalid (a double spend, for example). They are recorded on disk, so that a later start
// tries them last. Once the blocks are known to be valid, the hints are recorded as bad, so that no
// later start uses them for these blocks. Owned by SessionParts; any thread. Memory: a few hundred
// bytes for each.
#pragma once

#include "booster/kept_work.h"
#include "chain/header_tree.h"
#include "util/mutex.h"

#include <vector>

namespace ibd {

class SuspectHints {
public:
    SuspectHints(Logger& log, const KeptWork& kept) : m_log(log), m_kept(kept) {}

    // A failure to read or write the record is only logged: its only effect is a slower later
    // start.

    void Add(SuspectEntry entry);
    /** The failed check of these hints on the branch that ends at `terminal`, if they are suspect.
     */
    std::optional<std::string> Suspicion(const Uint256& hints_id, const BlockHash& terminal);
    /** Call it when these hints passed all checks. */
    void Clear(const Uint256& hints_id);
    /** Call it when all blocks up to `valid` are valid. */
    void Proven(const HeaderNode& valid);

private:
    void LoadOnce() IBD_REQUIRES(m_mutex);
    void Save() IBD_REQUIRES(m_mutex);

    Logger& m_log;
    const KeptWork& m_kept;
    Mutex m_mutex;
    bool m_loaded IBD_GUARDED_BY(m_mutex) = false;
    std::vector<SuspectEntry> m_entries IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
