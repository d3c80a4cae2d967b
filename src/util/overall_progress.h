// OverallProgress: one figure for work of several steps: which step of how many, which share of all
// is done, and how long the rest takes. Steps are weighted by the seconds that they are expected to
// take; what steps took here, and the rate of the one at work, correct that for those to come.
// Owned by the node; any thread may call it; its lock is a leaf.
#pragma once

#include "util/env.h"
#include "util/mutex.h"

#include <optional>
#include <string>
#include <vector>

namespace ibd {

enum class WorkStep {
    kNone, //!< work that no plan holds
    kHeaders,
    kConvertHints,
    kReadBlocks, //!< for the join
    kJoin,       //!< of outputs and spends
    kCheckRules, //!< about spent coins
    kFetchCoins, //!< that undo data is made of
    kWriteUndo,
    kFold,
    kIndex, //!< blocks of files
    kLoad,  //!< coins
    kConnect,
};

struct PlannedStep {
    WorkStep step = WorkStep::kNone;
    double seconds = 0;      //!< expected
    bool from_peers = false; //!< its rate says nothing about this machine's
};

class OverallProgress {
public:
    /** From this share of a step on its own rate counts alone; below, the plan too. */
    static constexpr double kTrustedShare = 0.1;

    struct Figure {
        WorkStep kind = WorkStep::kNone;
        size_t step = 0; //!< from 1
        size_t steps = 0;
        double done = 0; //!< share of all work, below 1; it never falls
        int64_t seconds_left = 0;
    };

    explicit OverallProgress(Env& env) : m_env(env) {}

    /** What is to be done from now on, in this order: in place of what was planned and has not
     *  begun. */
    void Plan(std::vector<PlannedStep> steps);
    /** Units of a step; `start` of them were done by an earlier start of the node. The step is the
     *  one at work or, from now on, the next such one of the plan; else nothing happens. */
    void Update(WorkStep step, uint64_t done, uint64_t total, uint64_t start);
    /** What is known by now: steps of that kind which are yet to come need this share of the
     *  seconds that were planned. */
    void Weigh(WorkStep step, double share);
    /** There is no such work any more. */
    void End();

    /** Nothing before a planned step begins. */
    std::optional<Figure> Now() const;
    /** "step 2 of 4, 63 %, 1 h 10 min left"; empty as Now(). */
    std::string Text() const;
    /** The same if that step is at work, else empty. */
    std::string Text(WorkStep step) const;

private:
    struct Step {
        PlannedStep plan;
        double weight = 1; //!< of the planned seconds
        double spent = 0; //!< seconds
        double start = 0; //!< share done by an earlier start
        double done = 0;  //!< share
    };

    void Enter(size_t next) IBD_REQUIRES(m_mutex);
    /** Seconds as planned, by what is known. */
    double Planned(size_t index) const IBD_REQUIRES(m_mutex);
    double SpentOn(size_t index) const IBD_REQUIRES(m_mutex);
    double Projected(size_t index, double scale) const IBD_REQUIRES(m_mutex);
    double Scale() const IBD_REQUIRES(m_mutex);
    Figure NowLocked() const IBD_REQUIRES(m_mutex);

    Env& m_env;
    mutable Mutex m_mutex;
    std::vector<Step> m_steps IBD_GUARDED_BY(m_mutex);
    std::optional<size_t> m_current IBD_GUARDED_BY(m_mutex); //!< nothing: none has begun
    int64_t m_entered IBD_GUARDED_BY(m_mutex) = 0;           //!< MonotonicMicros
    mutable double m_shown IBD_GUARDED_BY(m_mutex) = 0;      //!< the largest share told
};

} // namespace ibd
