// See session_watch.h.
#include "booster/session_watch.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr auto kPause = std::chrono::milliseconds(200);

} // namespace

Result<Verdict> SessionWatch::Run(std::unique_ptr<SyncEngine> engine)
{
    SyncEngine* const at_work = engine.get();
    {
        const Lock lock(m_mutex);
        m_engine = std::move(engine);
        if (m_interrupted) m_engine->Interrupt();
    }
    return at_work->Run();
}

void SessionWatch::Release()
{
    const Lock lock(m_mutex);
    ReleaseHeld();
}

void SessionWatch::ReleaseHeld()
{
    m_last = BoosterProgress{.fold = m_engine->Progress()};
    m_engine.reset();
    if (m_supply) m_last->download = m_supply->Progress();
    m_supply = nullptr;
}

void SessionWatch::ShowSupply(const PeerBlockSupply* supply)
{
    const Lock lock(m_mutex);
    m_supply = supply;
}

bool SessionWatch::SetMending(PeerBlockSupply* supply)
{
    const Lock lock(m_mutex);
    if (supply && m_interrupted) return false;
    m_mending = supply;
    return true;
}

void SessionWatch::ShowJoin(const HeaderNode& terminal)
{
    const Lock lock(m_mutex);
    m_last.reset(); // of wrong hints
    m_joining = FoldProgress{.terminal_height = terminal.height, .terminal_hash = terminal.hash};
}

void SessionWatch::ShowRefusal(const HeaderNode& terminal, const std::string& reason)
{
    const Lock lock(m_mutex);
    m_last = BoosterProgress{.fold = {.state = FoldState::kRefused,
                                      .terminal_height = terminal.height,
                                      .terminal_hash = terminal.hash,
                                      .verdict = reason}};
}

void SessionWatch::ShowHeaders(int32_t height)
{
    const Lock lock(m_mutex);
    m_headers = height;
}

void SessionWatch::ShowFullValidation(bool full)
{
    const Lock lock(m_mutex);
    m_full = full;
}

void SessionWatch::ShowHints(const Hints* hints)
{
    const Lock lock(m_mutex);
    m_given.reset();
    if (!hints) return;
    const HintsInfo& info = hints->Info();
    m_given = FoldProgress{.terminal_height = static_cast<int32_t>(info.terminal_height),
                           .terminal_hash = info.terminal_hash.value_or(BlockHash{}),
                           .hints_id = info.id};
}

void SessionWatch::DropHints(RefusedHints refused)
{
    const Lock lock(m_mutex);
    if (m_engine) ReleaseHeld();
    m_refused.push_back(std::move(refused));
    m_given.reset();
}

bool SessionWatch::WasDropped(const Uint256& hints_id) const
{
    const Lock lock(m_mutex);
    return std::any_of(m_refused.begin(), m_refused.end(),
                       [&](const RefusedHints& hints) { return hints.id == hints_id; });
}

bool SessionWatch::Pause()
{
    const Lock lock(m_mutex);
    if (!m_interrupted) m_stop.wait_for(m_mutex, kPause);
    return !m_interrupted;
}

bool SessionWatch::IsInterrupted() const
{
    const Lock lock(m_mutex);
    return m_interrupted;
}

void SessionWatch::Interrupt()
{
    const Lock lock(m_mutex);
    m_interrupted = true;
    m_stop.notify_all();
    m_maker.Interrupt();
    m_validation.Interrupt();
    if (m_engine) m_engine->Interrupt();
    if (m_mending) m_mending->Stop();
}

BoosterProgress SessionWatch::ProgressOfJoin() const
{
    BoosterProgress progress{.fold = *m_joining, .join = m_maker.Progress()};
    progress.fold.memory_bytes = m_env.ResidentBytes();
    if (progress.join) progress.state = BoosterState::kJoining;
    return progress;
}

BoosterProgress SessionWatch::ProgressOfRefused() const
{
    const RefusedHints& last = m_refused.back();
    return {.fold = {.state = FoldState::kRefused,
                     .terminal_height = last.height,
                     .hints_id = last.id,
                     .verdict = last.why}};
}

std::optional<BoosterProgress> SessionWatch::ProgressHeld() const
{
    if (m_engine) return BoosterProgress{.fold = m_engine->Progress()};
    if (m_last) return m_last;
    if (m_joining && m_headers < 0) return ProgressOfJoin();
    if (m_given || m_headers >= 0) {
        BoosterProgress progress{.fold = m_given.value_or(FoldProgress{}), .headers = m_headers};
        if (m_headers >= 0) progress.state = BoosterState::kWaiting;
        return progress;
    }
    if (!m_refused.empty()) return ProgressOfRefused();
    return std::nullopt;
}

std::optional<BoosterProgress> SessionWatch::Progress() const
{
    const Lock lock(m_mutex);
    auto progress = ProgressHeld();
    if (!progress) return progress;
    if (progress->fold.verdict.empty() && !m_refused.empty()) {
        const RefusedHints& last = m_refused.back(); // until the next attempt has a verdict
        progress->fold.verdict = fmt::format("refused {}: {}", last.file, last.why);
    }
    if (m_supply) progress->download = m_supply->Progress();
    progress->fold.full_validation = m_full;
    const auto validation = m_validation.Progress();
    if (!validation) return progress;
    progress->state = BoosterState::kValidating;
    progress->undo = validation;
    return progress;
}

} // namespace ibd
