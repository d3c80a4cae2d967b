// TrustLog: logs at the start of a sync its folder, and which rules are not yet checked and until
// when. Owned by SessionParts; one thread.
#pragma once

#include "booster/own_hints.h"

namespace ibd {

class TrustLog {
public:
    /** `stop_at`: -stopatheight; 0: never. The options must outlive it. */
    TrustLog(Logger& log, const BoosterOptions& options, UndoWanted undo, int32_t stop_at)
        : m_log(log), m_options(options), m_undo(undo), m_stop_at(stop_at)
    {
    }

    /** Logs that a sync up to `height` begins; only the first call has an effect. `given`: the sync
     *  uses given hints, which the node may still refuse; then Accepted() logs the trust.
     *  `checks`: all rules but scripts are checked on the way. */
    void Start(int32_t height, bool given, bool checks = false);
    /** The same for own hints. `assumes`: there is an assumed-valid block. */
    void StartOwn(int32_t height, bool assumes, bool checks);
    /** Logs that given hints passed all checks. */
    void Accepted();
    /** Warns that more is trusted than by Core's -assumevalid, and for how long. */
    void WarnOfTrust(int32_t height, bool given) const;
    /** Other hints are tried. */
    void Reset();

private:
    Logger& m_log;
    const BoosterOptions& m_options;
    const UndoWanted m_undo;
    const int32_t m_stop_at;
    bool m_started = false;
    std::optional<int32_t> m_trusted_height; //!< for Accepted()
};

} // namespace ibd
