// See overall_progress.h.
#include "util/overall_progress.h"

#include "util/strings.h"

#include <algorithm>
#include <cmath>

namespace ibd {

namespace {

/** Upper bound of the share while a step is running. */
constexpr double kMostDone = 0.9999;
/** Weight of the plan in Scale(): as if this share of it had been done at the planned speed. */
constexpr double kPriorShare = 0.003;

/** Whether this start has done work in the current or an earlier step. */
bool IsMeasured(const auto& steps, size_t current)
{
    for (size_t i = 0; i <= current; ++i) {
        const bool skipped = i < current && steps[i].spent <= 0;
        if (!skipped && steps[i].done > steps[i].start) return true;
    }
    return false;
}

/** Without measured work no remaining time is shown: it would only be the plan's. */
std::string ToText(const OverallProgress::Figure& now, bool measured)
{
    const std::string text =
        fmt::format("step {} of {}, {:.0f} %", now.step, now.steps, std::floor(100 * now.done));
    return measured ? text + ", " + FormatDuration(now.seconds_left) + " left" : text;
}

} // namespace

void OverallProgress::Plan(const std::vector<PlannedStep>& steps)
{
    const Lock lock(m_mutex);
    m_steps.resize(m_current ? *m_current + 1 : 0);
    for (const PlannedStep& step : steps) m_steps.push_back({.plan = step});
}

void OverallProgress::End()
{
    const Lock lock(m_mutex);
    m_steps.clear();
    m_current.reset();
    m_shown = 0;
}

void OverallProgress::Weigh(WorkStep step, double share)
{
    const Lock lock(m_mutex);
    for (size_t i = m_current ? *m_current + 1 : 0; i < m_steps.size(); ++i) {
        if (m_steps[i].plan.step == step) m_steps[i].weight = share;
    }
}

void OverallProgress::SetBytes(uint64_t bytes)
{
    const Lock lock(m_mutex);
    for (Step& step : m_steps) {
        if (step.plan.bytes > 0) step.size = static_cast<double>(bytes) / step.plan.bytes;
    }
}

bool OverallProgress::Awaits(WorkStep step) const
{
    const Lock lock(m_mutex);
    for (size_t i = m_current ? *m_current + 1 : 0; i < m_steps.size(); ++i) {
        if (m_steps[i].plan.step == step) return true;
    }
    return false;
}

double OverallProgress::Planned(size_t index) const
{
    const Step& step = m_steps[index];
    return step.plan.seconds * step.weight * step.size;
}

double OverallProgress::SpentOn(size_t index) const
{
    if (index != m_current) return m_steps[index].spent;
    return static_cast<double>(m_env.MonotonicMicros() - m_entered) / 1e6;
}

// Skipped steps count as done.
void OverallProgress::Enter(size_t next)
{
    if (m_current) m_steps[*m_current].spent = SpentOn(*m_current);
    for (size_t i = 0; i < next; ++i) m_steps[i].done = 1;
    m_current = next;
    m_entered = m_env.MonotonicMicros();
}

void OverallProgress::Update(WorkStep step, uint64_t done, uint64_t total, uint64_t start)
{
    const Lock lock(m_mutex);
    size_t at = m_current.value_or(0);
    while (at < m_steps.size() && m_steps[at].plan.step != step) ++at;
    if (at == m_steps.size()) return;
    if (at != m_current) Enter(at);
    if (total == 0) return;
    const auto share = [&](uint64_t part) {
        return std::min(static_cast<double>(part) / static_cast<double>(total), 1.0);
    };
    m_steps[at].start = share(start);
    m_steps[at].done = share(std::max(done, start)); // falls if the total grows
}

/** Expected seconds of a step from its start by this process, by its own rate and by the plan. */
double OverallProgress::Projected(size_t index, double scale) const
{
    const Step& step = m_steps[index];
    const double spent = SpentOn(index);
    const double planned = std::max(Planned(index) * (1 - step.start) * scale, spent);
    if (step.done <= step.start) return planned;
    const double fresh = (step.done - step.start) / (1 - step.start);
    const double trust = std::min(fresh / kTrustedShare, 1.0);
    return trust * spent / fresh + (1 - trust) * planned;
}

/** Ratio of real to planned seconds, by the work done so far on this machine, or by its peers. The
 *  rate of headers says nothing about other steps. */
double OverallProgress::Scale(bool of_peers) const
{
    double planned = 0;
    double done = 0;
    double taken = 0;
    for (size_t i = 0; i < m_steps.size(); ++i) {
        const Step& step = m_steps[i];
        if (step.plan.step == WorkStep::kHeaders || step.plan.from_peers != of_peers) continue;
        // A step of unknown size says nothing about the speed.
        if (Planned(i) <= 0) continue;
        planned += Planned(i);
        if (i > *m_current || SpentOn(i) <= 0) continue; // not begun, or skipped
        done += Planned(i) * (step.done - step.start);
        taken += SpentOn(i);
    }
    const double prior = kPriorShare * planned;
    return prior > 0 ? (taken + prior) / (done + prior) : 1;
}

double OverallProgress::ScaleOf(const PlannedStep& plan) const
{
    return plan.step == WorkStep::kHeaders ? 1 : Scale(plan.from_peers);
}

OverallProgress::Figure OverallProgress::NowLocked() const
{
    double done = 0;
    double left = 0;
    for (size_t i = 0; i < m_steps.size(); ++i) {
        const Step& step = m_steps[i];
        const double scale = ScaleOf(step.plan);
        if (i > *m_current) {
            left += Planned(i) * scale;
            continue;
        }
        // The seconds of an earlier start are unknown: the planned ones are used.
        done += SpentOn(i) + Planned(i) * step.start * scale;
        if (i == *m_current) left += std::max(Projected(i, scale) - SpentOn(i), 0.0);
    }
    const double share = done + left > 0 ? done / (done + left) : 0;
    m_shown = std::max(m_shown, std::min(share, kMostDone));
    return {m_steps[*m_current].plan.step, *m_current + 1, m_steps.size(), m_shown,
            std::llround(left)};
}

std::optional<OverallProgress::Figure> OverallProgress::Now() const
{
    const Lock lock(m_mutex);
    if (!m_current) return std::nullopt;
    return NowLocked();
}

std::string OverallProgress::Text() const
{
    const Lock lock(m_mutex);
    return m_current ? ToText(NowLocked(), IsMeasured(m_steps, *m_current)) : std::string();
}

std::string OverallProgress::Text(WorkStep step) const
{
    const Lock lock(m_mutex);
    if (!m_current || m_steps[*m_current].plan.step != step) return {};
    return ToText(NowLocked(), IsMeasured(m_steps, *m_current));
}

} // namespace ibd
