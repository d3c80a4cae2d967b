// See session_parts.h.
#include "booster/session_parts.h"

namespace ibd {

namespace {

Path HintsFolder(const Path& net_dir) { return net_dir.empty() ? Path() : net_dir / "hints"; }

} // namespace

SessionParts::SessionParts(Env& e, Logger& l, const ChainParams& p, SessionOptions o)
    : env(e), log(l), params(p), options(std::move(o)),
      kept(e, l, p, {options.booster.directory, HintsFolder(options.net_dir)}),
      maker(e, l, p, options.booster, kept),
      undo(e, l, p, options.booster, kept, options.own.undo == UndoWanted::kIfRoom),
      validation(e, l, p, options.booster, kept), suspects(l, kept),
      trust(l, options.booster, options.own.undo, options.stop_at), watch(e, maker, validation)
{
}

void SessionParts::Begin(const char* status) const
{
    if (hooks.started) hooks.started();
    if (hooks.set_status) hooks.set_status(status);
}

Error SessionParts::Refuse(const HintsStanding& standing)
{
    lacks_headers = standing.lacks_headers;
    return BadData("{}", standing.refusal);
}

const char* SessionParts::FallbackText() const
{
    return discards ? "the blocks were not kept (-prune): all are fetched again, and validated "
                      "serially"
                    : "validating serially from the same blocks";
}

} // namespace ibd
