// See progress.h.
#include "util/progress.h"
#include "util/strings.h"
#include "util/terminal_line.h"

#include <algorithm>
#include <cmath>

namespace ibd {

namespace {

constexpr int64_t kSampleMicros = 500'000; //!< rates over shorter spans are noise
constexpr int64_t kDrawMicros = 200'000;
constexpr const char* kBytes = "bytes";

/** `line`, then shorter versions, each without the next detail from the end. Details are searched
 *  from `begin` on. */
std::vector<std::string> EverShorter(std::string line, size_t begin = 0)
{
    std::vector<std::string> texts = {line};
    const size_t detail = line.find("; ", begin);
    while (detail != std::string::npos && line.size() > detail) {
        const size_t comma = line.rfind(", ");
        line.resize(comma == std::string::npos ? detail : std::max(comma, detail));
        texts.push_back(line);
    }
    return texts;
}

} // namespace

ProgressMeter::ProgressMeter(Env& env, Logger& logger, ProgressOptions options)
    : m_env(env), m_logger(logger), m_options(std::move(options)),
      m_draws(m_options.to.line != nullptr && m_options.to.line->IsShown()),
      m_start_micros(env.MonotonicMicros()), m_total(m_options.total),
      m_sample_micros(m_start_micros), m_sample_done(m_options.start), m_done(m_options.start),
      m_moved_micros(m_start_micros), m_last_log_micros(m_start_micros)
{
    TellOverall();
}

void ProgressMeter::TellOverall()
{
    OverallProgress* const overall = m_options.to.overall;
    if (overall) overall->Update(m_options.step, m_done, m_total, m_options.start);
}

void ProgressMeter::SetTotal(uint64_t total)
{
    const Lock lock(m_mutex);
    m_total = total;
}

void ProgressMeter::Update(uint64_t done, const std::string& detail)
{
    const Lock lock(m_mutex);
    if (m_finished) return;
    const int64_t now = m_env.MonotonicMicros();
    if (done > m_done) m_moved_micros = now;
    m_done = std::max(m_done, done);
    m_detail = detail;
    const int64_t span = now - m_sample_micros;
    if (span >= kSampleMicros) {
        const double seconds = static_cast<double>(span) / 1e6;
        const double rate = static_cast<double>(m_done - m_sample_done) / seconds;
        // Exponential average: past samples lose weight by 1/e every kAverageSeconds.
        const bool first = m_sample_micros == m_start_micros;
        const double past = first ? 0 : std::exp(-seconds / kAverageSeconds);
        m_rate = past * m_rate + (1 - past) * rate;
        m_sample_micros = now;
        m_sample_done = m_done;
    }
    TellOverall();
    if (now - m_last_log_micros >= int64_t{m_options.log_every_seconds} * 1'000'000) {
        m_last_log_micros = now;
        m_logger.Info("{}{}", Overall(), LineLocked());
    }
    if (m_draws && now - m_last_draw_micros >= kDrawMicros) {
        m_last_draw_micros = now;
        m_options.to.line->Draw(Lines());
    }
}

void ProgressMeter::Finish()
{
    const Lock lock(m_mutex);
    if (m_finished) return;
    m_finished = true;
    const int64_t micros = std::max<int64_t>(m_env.MonotonicMicros() - m_start_micros, 1);
    const auto fresh = static_cast<double>(m_done - m_options.start);
    std::string line = fmt::format("{}: {} in {}, {}/s", m_options.label, Amount(fresh),
                                   FormatDuration(micros / 1'000'000),
                                   Amount(fresh * 1e6 / static_cast<double>(micros)));
    if (!m_detail.empty()) line += "; " + m_detail;
    m_logger.Info("{}", line);
    if (m_draws) m_options.to.line->End(EverShorter(line));
}

uint64_t ProgressMeter::Done() const
{
    const Lock lock(m_mutex);
    return m_done;
}

double ProgressMeter::Rate() const
{
    const Lock lock(m_mutex);
    return m_rate;
}

std::optional<int64_t> ProgressMeter::SecondsLeft() const
{
    const Lock lock(m_mutex);
    return SecondsLeftLocked();
}

std::string ProgressMeter::Line() const
{
    const Lock lock(m_mutex);
    return LineLocked();
}

std::optional<int64_t> ProgressMeter::SecondsLeftLocked() const
{
    if (m_total == 0 || m_rate <= 0) return std::nullopt;
    if (m_done >= m_total) return 0;
    if (StillSeconds() >= kStillSeconds) return std::nullopt;
    return std::llround(static_cast<double>(m_total - m_done) / m_rate);
}

std::string ProgressMeter::LineLocked() const
{
    const auto done = static_cast<double>(m_done);
    std::string line = m_options.label + ": ";
    if (m_total != 0) {
        const auto total = static_cast<double>(std::max(m_total, m_done));
        line += m_options.unit == kBytes ? Amount(done) : fmt::format("{}", m_done);
        line += fmt::format(" of {} ({:.1f} %)", Amount(total), 100 * done / total);
    } else {
        line += Amount(done);
    }
    const int64_t still = m_done < m_total ? StillSeconds() : 0;
    if (still >= kStillSeconds) {
        line += fmt::format(", none for {}", FormatDuration(still));
    } else if (m_rate > 0) {
        line += fmt::format(", {}/s", Amount(m_rate));
    }
    if (const auto left = SecondsLeftLocked()) line += ", " + FormatDuration(*left) + " left";
    if (!m_detail.empty()) line += "; " + m_detail;
    return line;
}

int64_t ProgressMeter::StillSeconds() const
{
    return (m_env.MonotonicMicros() - m_moved_micros) / 1'000'000;
}

std::string ProgressMeter::Amount(double units) const
{
    if (m_options.unit == kBytes) return FormatBytes(static_cast<uint64_t>(units));
    return fmt::format("{:.0f} {}", units, m_options.unit);
}

std::string ProgressMeter::Overall() const
{
    const OverallProgress* const overall = m_options.to.overall;
    const auto text = overall ? overall->Text(m_options.step) : std::string();
    return text.empty() ? text : text + "; ";
}

std::vector<std::string> ProgressMeter::Lines() const
{
    const std::string overall = Overall();
    std::vector<std::string> texts = EverShorter(overall + LineLocked(), overall.size());
    const auto seconds = SecondsLeftLocked();
    const std::string left = seconds ? ", " + FormatDuration(*seconds) + " left" : "";
    const double total = static_cast<double>(std::max({m_total, m_done, uint64_t{1}}));
    const std::string share =
        m_total == 0 ? Amount(static_cast<double>(m_done))
                     : fmt::format("{:.1f} %", 100 * static_cast<double>(m_done) / total);
    // A short line has no space for two remaining times.
    const std::string end = overall.empty() ? share + left : share;
    texts.push_back(overall + m_options.label + ": " + end);
    texts.push_back(overall + end);
    if (!overall.empty()) texts.push_back(overall.substr(0, overall.size() - 2));
    return texts;
}

} // namespace ibd
