// FullMark: the height up to which the rules were checked with joined coins
// (-ibdboosterfullvalidation, -ibdboosterchecks), so that a start after a kill resumes there. A
// file in the booster's folder, replaced atomically; one thread. Format: doc/formats/spill.md.
#pragma once

#include "chain/header_node.h"
#include "consensus/params.h"
#include "join/undo_options.h"

namespace ibd {

class FullMark {
public:
    /** For the chain up to `terminal`, the rules of `params`, and these `checks`. `known_height`:
     *  the height up to which signatures are verified in batches. */
    FullMark(Env& env, const Path& directory, const ChainParams& params, const HeaderNode& terminal,
             UndoChecks checks, int32_t known_height);

    /** The saved height; 0: nothing usable (another chain, other rules, batches at greater heights,
     *  damaged). Errors: the machine's. */
    Result<int32_t> Load() const;
    int32_t KnownHeight() const { return m_known_height; }
    /** Saves that blocks 1 to `height` keep these rules. Durable on return. */
    Result<> Save(int32_t height) const;

private:
    Env& m_env;
    const Path m_path;
    const std::string m_key; //!< start of the file
    const int32_t m_known_height;
};

bool IsFullMarkFile(const std::string& name);

/** Removes the mark of any chain. */
Result<> RemoveFullMark(Env& env, const Path& directory);

} // namespace ibd
