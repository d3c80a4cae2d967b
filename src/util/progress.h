// ProgressMeter: progress, speed and remaining time of a long job. Redraws a line if the output is
// a terminal, and writes a log line every few seconds. Any thread may call it.
#pragma once

#include "util/env.h"
#include "util/log.h"
#include "util/mutex.h"
#include "util/overall_progress.h"
#include "util/progress_targets.h"

#include <optional>
#include <vector>

namespace ibd {

struct ProgressOptions {
    std::string label;          //!< "Reading blocks"
    std::string unit;           //!< "blocks"; "bytes" are shown as kB, MB, ...
    uint64_t total = 0;         //!< total units; 0: unknown
    uint64_t start = 0;         //!< units done by an earlier start, which do not count for the rate
    int log_every_seconds = 10; //!< a log line at most this often
    ProgressTargets to = {};
    WorkStep step = WorkStep::kNone; //!< the step of `to.overall` that this job is
};

class ProgressMeter {
public:
    /** Rates are averaged over about this time, so that they follow changes of speed. */
    static constexpr double kAverageSeconds = 15;
    /** After this time without progress there is no rate and no time left. */
    static constexpr int64_t kStillSeconds = 30;

    ProgressMeter(Env& env, Logger& logger, ProgressOptions options);
    ~ProgressMeter() { Finish(); }

    /** Units done so far (absolute), and text for the end of the line. */
    void Update(uint64_t done, const std::string& detail = {});
    /** Replaces ProgressOptions::total. Shown by the next Update(). */
    void SetTotal(uint64_t total);
    /** Writes the last log line and ends the terminal's; later calls do nothing. */
    void Finish();

    uint64_t Done() const;
    /** Recent units per second; 0 before the second update. */
    double Rate() const;
    /** Nothing: the total or the rate is unknown. */
    std::optional<int64_t> SecondsLeft() const;
    /** "Reading blocks: 1200 of 14131 blocks (8.5 %), 310 blocks/s, 42 s left". */
    std::string Line() const;

private:
    void TellOverall() IBD_REQUIRES(m_mutex);
    std::string LineLocked() const IBD_REQUIRES(m_mutex);
    /** "1200 blocks", "34.5 MB". */
    std::string Amount(double units) const;
    std::optional<int64_t> SecondsLeftLocked() const IBD_REQUIRES(m_mutex);
    /** Seconds since the last finished unit. */
    int64_t StillSeconds() const IBD_REQUIRES(m_mutex);
    /** The overall progress: "step 2 of 4, 63 %, 1 h 10 min left; "; empty if this job is no step
     *  of it. */
    std::string Overall() const;
    /** Line() and shorter versions, for the terminal. */
    std::vector<std::string> Lines() const IBD_REQUIRES(m_mutex);

    Env& m_env;
    Logger& m_logger;
    mutable Mutex m_mutex;
    const ProgressOptions m_options; //!< `total`: the first
    const bool m_draws;
    const int64_t m_start_micros;
    uint64_t m_total IBD_GUARDED_BY(m_mutex);        //!< 0: unknown
    int64_t m_sample_micros IBD_GUARDED_BY(m_mutex); //!< time of the last rate update
    uint64_t m_sample_done IBD_GUARDED_BY(m_mutex) = 0;
    uint64_t m_done IBD_GUARDED_BY(m_mutex) = 0;
    int64_t m_moved_micros IBD_GUARDED_BY(m_mutex); //!< time of the last finished unit
    std::string m_detail IBD_GUARDED_BY(m_mutex);
    double m_rate IBD_GUARDED_BY(m_mutex) = 0;
    int64_t m_last_log_micros IBD_GUARDED_BY(m_mutex);
    int64_t m_last_draw_micros IBD_GUARDED_BY(m_mutex) = 0;
    bool m_finished IBD_GUARDED_BY(m_mutex) = false;
};

} // namespace ibd
