// OverallProgress: one figure for work of several steps: the number of the step, the share of all
// work that is done, and the remaining time. Steps are weighted by their expected seconds. The real
// seconds of past steps, and the rate of the current one, correct the expectation of later ones.
// Owned by the node; any thread may call it; its lock is a leaf.
#pragma once

#include "util/env.h"
#include "util/mutex.h"

#include <optional>
#include <string>
#include <vector>

namespace ibd {

enum class WorkStep {
    kNone, //!< work outside any plan
    kHeaders,
    kConvertHints,
    kReadBlocks, //!< for the join
    kJoin,       //!< of outputs and spends
    kCheckRules, //!< about spent coins
    kFetchCoins, //!< for undo data
    kWriteUndo,
    kFold,
    kIndex, //!< blocks of the block files
    kLoad,  //!< coins
    kConnect,
};

struct PlannedStep {
    WorkStep step = WorkStep::kNone;
    double seconds = 0;      //!< expected
    bool from_peers = false; //!< network-bound: its rate says nothing about this machine
    double bytes = 0;        //!< size of all blocks that `seconds` was planned for; 0: independent
};

class OverallProgress {
public:
    /** Above this share of a step the estimate uses only the step's own rate; below, also the plan.
     */
    static constexpr double kTrustedShare = 0.1;

    struct Figure {
        WorkStep kind = WorkStep::kNone;
        size_t step = 0; //!< from 1
        size_t steps = 0;
        double done = 0; //!< share of all work, below 1; it never falls
        int64_t seconds_left = 0;
    };

    explicit OverallProgress(Env& env) : m_env(env) {}

    /** Sets the next steps, in this order. They replace all planned steps that have not begun. */
    void Plan(const std::vector<PlannedStep>& steps);
    /** Sets the units done of a step; an earlier start of the node did `start` of them. If the
     *  current step is not of this kind, the next planned one of this kind becomes the current
     *  step; without one the call has no effect. */
    void Update(WorkStep step, uint64_t done, uint64_t total, uint64_t start);
    /** Updates the share of the planned seconds that later steps of this kind need. */
    void Weigh(WorkStep step, double share);
    /** Updates the size of all blocks. */
    void SetBytes(uint64_t bytes);
    /** Whether a step of this kind is planned after the current one. */
    bool Awaits(WorkStep step) const;
    /** Ends the work; no step is planned any more. */
    void End();

    /** Empty before a planned step begins. */
    std::optional<Figure> Now() const;
    /** "step 2 of 4, 63 %, 1 h 10 min left"; empty as Now(). */
    std::string Text() const;
    /** The same if `step` is the current one; otherwise empty. */
    std::string Text(WorkStep step) const;

private:
    struct Step {
        PlannedStep plan;
        double weight = 1; //!< share of the planned seconds that the step needs
        double size = 1;   //!< the same, from the updated size of the blocks
        double spent = 0; //!< seconds
        double start = 0; //!< share done by an earlier start of the node
        double done = 0;  //!< share
    };

    void Enter(size_t next) IBD_REQUIRES(m_mutex);
    /** Planned seconds times weight and size. */
    double Planned(size_t index) const IBD_REQUIRES(m_mutex);
    double SpentOn(size_t index) const IBD_REQUIRES(m_mutex);
    double Projected(size_t index, double scale) const IBD_REQUIRES(m_mutex);
    double ScaleOf(const PlannedStep& plan) const IBD_REQUIRES(m_mutex);
    double Scale(bool of_peers) const IBD_REQUIRES(m_mutex);
    Figure NowLocked() const IBD_REQUIRES(m_mutex);

    Env& m_env;
    mutable Mutex m_mutex;
    std::vector<Step> m_steps IBD_GUARDED_BY(m_mutex);
    std::optional<size_t> m_current IBD_GUARDED_BY(m_mutex); //!< empty: none has begun
    int64_t m_entered IBD_GUARDED_BY(m_mutex) = 0;           //!< MonotonicMicros
    mutable double m_shown IBD_GUARDED_BY(m_mutex) = 0;      //!< the largest share shown
};

} // namespace ibd
