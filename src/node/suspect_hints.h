// SuspectHints: hints that led to a wrong whole. Either they are wrong, or a block up to their end
// is invalid (one that spends an output twice, say). Once something else has shown that the blocks
// are valid, the hints are noted as bad, so that no later start tries them on these blocks again.
// Owned by BoosterRun; any thread. Memory: a few hundred bytes for each.
#pragma once

#include "chain/header_tree.h"
#include "util/env.h"
#include "util/log.h"
#include "util/mutex.h"

#include <vector>

namespace ibd {

class SuspectHints {
public:
    struct Entry {
        Path directory; //!< the booster's
        Uint256 id;
        BlockHash terminal;
        int32_t height = 0; //!< of the terminal block
        std::string why;
    };

    SuspectHints(Env& env, Logger& log) : m_env(env), m_log(log) {}

    void Add(Entry entry);
    /** All blocks up to this one are valid. A failure to note what follows costs a later start time
     *  and nothing else, and is logged. */
    void Proven(const HeaderNode& valid);

private:
    Result<> Note(const Entry& entry);

    Env& m_env;
    Logger& m_log;
    Mutex m_mutex;
    std::vector<Entry> m_entries IBD_GUARDED_BY(m_mutex);
};

} // namespace ibd
