// See trust_log.h.
#include "booster/trust_log.h"

#include <utility>

namespace ibd {

namespace {

/** The time at which rules are checked together with making undo data. */
const char* WhenChecked(UndoWanted undo)
{
    switch (undo) {
    case UndoWanted::kNo: return "This will not be checked later, as no undo data is made";
    case UndoWanted::kIfRoom: return "This is checked later, with the undo data, if it has room";
    case UndoWanted::kYes: return "This is checked later, with the undo data";
    }
    return "";
}

} // namespace

void TrustLog::Start(int32_t height, bool given, bool checks)
{
    if (std::exchange(m_started, true)) return; // by the survey of a reindex
    m_log.Info("IBD Booster: runs and checkpoint are kept in '{}'", m_options.directory.string());
    if (!m_options.full_validation && !m_options.check_rules && !checks) {
        if (given) {
            m_trusted_height = height;
        } else {
            WarnOfTrust(height, given);
        }
    }
    if (m_stop_at <= 0 || m_stop_at >= height) return;
    m_log.Warning("-stopatheight={} is below the terminal block at height {}: the IBD Booster has "
                  "no chainstate before that, so the node stops there",
                  m_stop_at, height);
}

void TrustLog::StartOwn(int32_t height, bool assumes, bool checks)
{
    if (!m_started && !assumes && !m_options.full_validation) {
        m_log.Warning("IBD Booster: there is no assumed-valid block: up to height {}, the best "
                      "stored block, scripts are not run only because -ibdbooster was given",
                      height);
    }
    Start(height, false, checks);
}

void TrustLog::Accepted()
{
    if (m_trusted_height) WarnOfTrust(*std::exchange(m_trusted_height, std::nullopt), true);
}

void TrustLog::WarnOfTrust(int32_t height, bool given) const
{
    m_log.Warning("IBD Booster: up to height {} not only scripts are assumed valid, but also "
                  "amounts against inputs, coinbase maturity, the signature operations of P2SH and "
                  "witness spends{}. {}. -ibdboosterchecks checks them before the chainstate is "
                  "used, -ibdboosterfullvalidation also checks scripts",
                  height,
                  given ? ", relative lock times, and that no block spends an output of a later "
                          "block"
                        : ", and relative lock times", // the join has checked the rest
                  WhenChecked(m_undo));
}

void TrustLog::Reset()
{
    m_started = false;
    m_trusted_height.reset();
}

} // namespace ibd
