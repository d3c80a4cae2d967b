// FullMark: up to which block the rules were checked with coins joined from the blocks
// (-ibdboosterfullvalidation, -ibdboosterchecks), so that a start after a kill goes on from there.
// A file in the booster's folder, replaced atomically; one thread. Format: doc/formats/spill.md.
#pragma once

#include "chain/header_node.h"
#include "consensus/params.h"
#include "join/undo_options.h"

namespace ibd {

class FullMark {
public:
    /** Of the chain up to `terminal`, under the rules of `params`, as far as `checks` goes. */
    FullMark(Env& env, const Path& directory, const ChainParams& params, const HeaderNode& terminal,
             UndoChecks checks);

    /** The height that was saved; 0 if nothing usable is there: another chain's, other rules',
     *  damaged. Errors: the machine's. */
    Result<int32_t> Load() const;
    /** Blocks 1 to `height` keep these rules. Durable on return. */
    Result<> Save(int32_t height) const;

private:
    Env& m_env;
    const Path m_path;
    const std::string m_key; //!< how the file begins
};

bool IsFullMarkFile(const std::string& name);

/** Removes it, of whatever chain it is. */
Result<> RemoveFullMark(Env& env, const Path& directory);

} // namespace ibd
