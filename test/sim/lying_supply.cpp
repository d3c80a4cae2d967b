// See lying_supply.h.
#include "sim/lying_supply.h"

namespace ibd::sim {

class LyingSupply::Source final : public BlockSource {
public:
    explicit Source(LyingSupply& all) : m_all(all) {}

    Result<bool> Next(SuppliedBlock& out) override
    {
        const auto arrival = m_all.Take();
        if (!arrival) return false;
        m_arrival = *arrival;
        m_raw = m_all.Deliver(m_arrival);
        out = {m_all.m_tip.Ancestor(static_cast<int>(m_arrival.height)), m_raw};
        return true;
    }
    Result<> Keep(const SuppliedBlock& block, const BlockView& view) override
    {
        m_all.Keep(m_arrival.height, view.Hash() == block.node->hash);
        return {};
    }
    Result<bool> Reject(const SuppliedBlock&, const RuleViolation& why) override
    {
        return m_all.Reject(m_arrival, why);
    }
    Result<> Sync() override
    {
        m_all.Sync();
        return {};
    }

private:
    LyingSupply& m_all;
    Arrival m_arrival; //!< handed out last
    Bytes m_raw;
};

std::unique_ptr<BlockSource> LyingSupply::MakeSource() { return std::make_unique<Source>(*this); }

Result<> LyingSupply::Begin(const std::function<bool(int32_t height)>& folded)
{
    const std::lock_guard lock(m_mutex);
    m_arrived.clear();
    for (int32_t h = 1; h <= m_tip.height; ++h) {
        if (folded(h)) continue;
        const int lies = m_rng.Between(0, m_options.lies);
        m_arrived.push_back({static_cast<uint32_t>(h), lies});
    }
    m_asked = m_arrived.size();
    while (m_arrived.size() > m_options.most) {
        m_arrived[m_rng.Below(m_arrived.size())] = m_arrived.back();
        m_arrived.pop_back();
    }
    m_under_way = m_arrived.size();
    return {};
}

void LyingSupply::Stop()
{
    const std::lock_guard lock(m_mutex);
    m_stopped = true;
    m_changed.notify_all();
}

/** Any received block; waits while other sources hold blocks that may have to be sent again. */
std::optional<LyingSupply::Arrival> LyingSupply::Take()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_stopped || m_under_way == 0 || !m_arrived.empty(); });
    if (m_stopped || m_arrived.empty()) return std::nullopt;
    Arrival& picked = m_arrived[m_rng.Below(m_arrived.size())];
    const Arrival out = std::exchange(picked, m_arrived.back());
    m_arrived.pop_back();
    return out;
}

Bytes LyingSupply::Deliver(const Arrival& arrival)
{
    const std::lock_guard lock(m_mutex);
    const ByteSpan good = m_raw(arrival.height);
    Bytes raw(good.begin(), good.end());
    if (arrival.lies == 0) {
        if (m_rng.Chance(1, 4)) Append(raw, m_rng.RandomBytes(m_rng.Below(100))); // more behind it
        return raw;
    }
    switch (m_rng.Below(5)) {
    case 0: raw[80 + m_rng.Below(raw.size() - 80)] ^= 1; break;
    case 1: raw[m_rng.Below(80)] ^= static_cast<uint8_t>(m_rng.Between(1, 255)); break;
    case 2: raw.resize(m_rng.Below(raw.size())); break;
    case 3: raw = m_rng.RandomBytes(m_rng.Below(2'000)); break;
    default: {
        const ByteSpan other = m_raw(arrival.height == 1 ? 2 : arrival.height - 1);
        raw.assign(other.begin(), other.end());
    }
    }
    return raw;
}

void LyingSupply::Keep(uint32_t height, bool right)
{
    const std::lock_guard lock(m_mutex);
    const bool first = m_kept.insert(height).second;
    if (!first || !right) ++m_mistakes;
    --m_under_way;
    m_changed.notify_all();
}

bool LyingSupply::Reject(const Arrival& arrival, const RuleViolation& why)
{
    const std::lock_guard lock(m_mutex);
    if (!why.IsOfDataAlone() || arrival.lies == 0) ++m_mistakes;
    ++m_rejected;
    if (!m_options.asks_again || arrival.lies < 0) return false; // refused as it is: for ever
    m_arrived.push_back({arrival.height, arrival.lies - 1});
    m_changed.notify_all();
    return true;
}

void LyingSupply::Sync()
{
    const std::lock_guard lock(m_mutex);
    m_synced = m_kept;
}

} // namespace ibd::sim
