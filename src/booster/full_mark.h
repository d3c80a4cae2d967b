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
    /** For the chain up to `terminal`, the rules of `params`, and these `checks`. */
    FullMark(Env& env, const Path& directory, const ChainParams& params, const HeaderNode& terminal,
             UndoChecks checks);

    /** The saved height; 0: nothing usable (another chain, other rules, damaged). Errors: the
     *  machine's. */
    Result<int32_t> Load() const;
    /** Saves that blocks 1 to `height` keep these rules. Durable on return. */
    Result<> Save(int32_t height) const;

private:
    Env& m_env;
    const Path m_path;
    const std::string m_key; //!< start of the file
};

bool IsFullMarkFile(const std::string& name);

/** Removes the mark of any chain. */
Result<> RemoveFullMark(Env& env, const Path& directory);

} // namespace ibd
