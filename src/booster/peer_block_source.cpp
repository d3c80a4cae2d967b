// See peer_block_source.h.
#include "booster/peer_block_source.h"

#include "net/wire/spent_coins.h"
#include "util/strings.h"

#include <algorithm>
#include <utility>

namespace ibd {

namespace {

/** The coins of all inputs but the coinbase's, in their order. */
Result<std::vector<Coin>> DecodeSpentCoins(ByteSpan payload)
{
    IBD_ASSIGN_OR_RETURN(SpentCoinsMessage message, Decode<SpentCoinsMessage>(payload));
    std::vector<Coin> out;
    out.reserve(message.coins.size());
    for (CoinOfInput& spent : message.coins) {
        if (spent.input != out.size()) return BadData("input {} has no coin", out.size());
        out.push_back(std::move(spent.coin));
    }
    return out;
}

} // namespace

/** Hands out blocks from peers first, because peers wait for space in the queue; then stored ones;
 *  then waits for peers. */
class PeerBlockSupply::Source final : public BlockSource {
public:
    Source(PeerBlockSupply& all, std::shared_ptr<Queue> queue)
        : m_all(all), m_queue(std::move(queue)), m_files(all.m_env, all.m_store, *all.m_plan)
    {
    }

    Result<bool> Next(SuppliedBlock& out) override
    {
        do {
            m_block = m_queue->TryPop();
            if (!m_block) {
                IBD_ASSIGN_OR_RETURN(const bool stored, m_files.Next(out));
                if (stored) return true;
                m_block = Await();
            }
            if (!m_block) return false;
            m_all.m_fetcher.Wake();
        } while (!ReadCoins());
        out = {.node = m_block->node, .bytes = m_block->raw, .fold = true, .indexed = false};
        if (m_all.m_with_coins) out.spent_coins = &m_coins;
        return true;
    }
    Result<> Keep(const SuppliedBlock& block, const BlockView& view) override
    {
        if (!m_block) return {};
        IBD_RETURN_IF_ERROR(m_all.m_keeper.Keep(*block.node, view));
        m_all.Kept(*m_block, view.Txs().size());
        return {};
    }
    /** A block that breaks a rule, apart from mutated bytes, is the same from every peer. */
    Result<bool> Reject(const SuppliedBlock& block, const RuleViolation& why) override
    {
        if (!m_block) return m_files.Reject(block, why);
        m_all.Refused(*m_block, why);
        return why.IsOfDataAlone();
    }
    Result<> Sync() override { return m_all.m_keeper.Sync(); }

private:
    std::optional<PeerBlock> Await()
    {
        if (!m_all.m_with_coins) return m_queue->Pop();
        while (!m_queue->Closed()) {
            if (auto block = m_queue->PopWithin(std::chrono::seconds(1))) return block;
            m_all.EndIfSilent();
        }
        return m_queue->TryPop();
    }
    /** False: the message is wrong in itself, and is refused. */
    bool ReadCoins()
    {
        if (!m_all.m_with_coins) return true;
        auto coins = DecodeSpentCoins(m_block->spent_coins);
        if (coins) {
            m_coins = std::move(*coins);
            return true;
        }
        m_all.Refused(*m_block, Violation(RuleViolation::Kind::kSpentCoins, "bad-spent-coins",
                                          coins.Message()));
        return false;
    }

    PeerBlockSupply& m_all;
    const std::shared_ptr<Queue> m_queue; //!< the source's own queue: a restart makes another one
    FileBlockSource m_files;
    std::optional<PeerBlock> m_block; //!< the last one handed out, if from a peer
    std::vector<Coin> m_coins;        //!< that it spends
};

Result<> PeerBlockSupply::Begin(const std::function<bool(int32_t height)>& folded)
{
    ReadIndex(folded);
    m_fetcher.Fetch(*this, *this);
    return {};
}

void PeerBlockSupply::ReadIndex(const std::function<bool(int32_t height)>& folded)
{
    if (!m_chain) return FindMissing(folded);
    const ChainReader reader = m_chain->Read();
    FindMissing(folded);
}

void PeerBlockSupply::FindMissing(const std::function<bool(int32_t height)>& folded)
{
    const Lock lock(m_mutex);
    const auto heights = static_cast<size_t>(m_terminal.height) + 1;
    m_states.assign(heights, State::kDone);
    m_nodes.assign(heights, nullptr);
    const auto miss = [this](const HeaderNode* node) IBD_NO_THREAD_CHECK {
        const auto height = static_cast<size_t>(node->height);
        m_states[height] = State::kMissing;
        m_nodes[height] = node;
    };
    if (m_with_coins) m_lost = StoredUnfolded(folded);
    std::ranges::for_each(m_lost, miss);
    m_plan.emplace(m_terminal, [&](int32_t height) IBD_NO_THREAD_CHECK {
        return folded(height) || m_nodes[static_cast<size_t>(height)];
    });
    m_plan->Uncached().LogTo(m_log);
    std::ranges::for_each(m_plan->Missing(), miss);
    m_missing = m_lost.size() + m_plan->Missing().size();
    m_none_below = 0;
    m_refused.clear();
    m_received_bytes = 0;
    m_seen = CountSeen(folded);
    m_start_micros = m_last_kept = m_env.MonotonicMicros();
    m_gave_up = false;
    m_queue = std::make_shared<Queue>(m_queue_bytes);
    if (m_missing == 0) m_queue->Close();
}

/** The blocks that are stored and not folded. */
std::vector<const HeaderNode*>
PeerBlockSupply::StoredUnfolded(const std::function<bool(int32_t height)>& folded) const
{
    std::vector<const HeaderNode*> out;
    for (const HeaderNode* node = &m_terminal; node->height > 0; node = node->prev) {
        if (node->HasData() && !folded(node->height)) out.push_back(node);
    }
    return out;
}

SeenBlocks PeerBlockSupply::CountSeen(const std::function<bool(int32_t height)>& folded) const
{
    SeenBlocks seen{.blocks = m_plan->Blocks(), .bytes = m_plan->EstimatedBytes()};
    for (const HeaderNode* node = &m_terminal; node->height > 0; node = node->prev) {
        if (m_states[static_cast<size_t>(node->height)] == State::kMissing) continue;
        (folded(node->height) ? seen.txs_elsewhere : seen.txs) += node->tx_count;
    }
    return seen;
}

std::unique_ptr<BlockSource> PeerBlockSupply::MakeSource()
{
    const Lock lock(m_mutex);
    return std::make_unique<Source>(*this, m_queue);
}

void PeerBlockSupply::Stop()
{
    m_plan->Stop();
    const Lock lock(m_mutex);
    m_queue->Abort();
}

void PeerBlockSupply::Finish()
{
    m_plan->Stop();
    const Lock lock(m_mutex);
    m_queue->Close();
}

/** Lost blocks are folded already, unless all blocks are fetched with their coins. */
size_t PeerBlockSupply::BlocksToFetch() const
{
    return m_plan->Missing().size() + (m_with_coins ? m_lost.size() : 0);
}

size_t PeerBlockSupply::BlocksToFold() const { return m_plan->Blocks() + BlocksToFetch(); }

uint64_t PeerBlockSupply::EstimatedBytes() const
{
    const uint64_t stored = m_plan->EstimatedBytes();
    const uint64_t each = stored ? stored / m_plan->Blocks() : m_expected.usual_bytes;
    return stored + each * BlocksToFetch();
}

std::optional<uint64_t> PeerBlockSupply::NewEstimate() const
{
    const Lock lock(m_mutex);
    return m_seen.bytes + EstimateMissing(m_missing, m_expected, m_seen);
}

DownloadProgress PeerBlockSupply::Progress() const
{
    DownloadProgress out;
    out.peers = m_with_coins ? m_fetcher.CountSpentCoinsPeers() : m_fetcher.PeerCount();
    const Lock lock(m_mutex);
    if (!m_queue) return out;
    out.blocks = m_lost.size() + m_plan->Missing().size();
    out.received = out.blocks - m_missing;
    out.bytes = m_received_bytes;
    const int64_t micros = std::max<int64_t>(m_env.MonotonicMicros() - m_start_micros, 1);
    out.bytes_per_second = static_cast<double>(out.bytes) * 1e6 / static_cast<double>(micros);
    return out;
}

size_t PeerBlockSupply::QueuedBytes() const
{
    const Lock lock(m_mutex);
    return m_queue ? m_queue->BytesQueued() : 0;
}

std::string PeerBlockSupply::Detail() const
{
    const DownloadProgress now = Progress();
    if (now.received == now.blocks) return {};
    if (now.peers == 0) return m_with_coins ? "; no peers with spent coins" : "; no peers";
    return fmt::format("; {} of {} blocks came from peers, {}/s; {} peers", now.received,
                       now.blocks, FormatBytes(static_cast<uint64_t>(now.bytes_per_second)),
                       now.peers);
}

bool PeerBlockSupply::IsMissing(const HeaderNode& node) const
{
    const auto height = static_cast<size_t>(node.height);
    return m_queue && !m_queue->Closed() && height < m_states.size() &&
           m_states[height] == State::kMissing && m_nodes[height] == &node;
}

bool PeerBlockSupply::Have(const HeaderNode& node) const
{
    const Lock lock(m_mutex);
    return !IsMissing(node);
}

const HeaderNode* PeerBlockSupply::NextMissing(int32_t after) const
{
    const Lock lock(m_mutex);
    if (!m_queue || m_queue->Closed()) return nullptr;
    const size_t first = std::max(static_cast<size_t>(std::max(after, 0)) + 1, m_none_below);
    for (size_t height = first; height < m_states.size(); ++height) {
        if (m_states[height] == State::kMissing) return m_nodes[height];
    }
    return nullptr;
}

bool PeerBlockSupply::HasRoom(size_t bytes) const
{
    const Lock lock(m_mutex);
    return m_queue && m_queue->HasRoom(bytes + sizeof(PeerBlock));
}

bool PeerBlockSupply::Put(PeerBlock&& block)
{
    const Lock lock(m_mutex);
    if (!IsMissing(*block.node)) return true;
    const size_t bytes = block.raw.size() + block.spent_coins.size() + sizeof(PeerBlock);
    if (!m_queue->HasRoom(bytes)) return false;
    StateOf(block) = State::kAtWork;
    while (m_none_below < m_states.size() && m_states[m_none_below] != State::kMissing) {
        ++m_none_below;
    }
    m_queue->TryPush(std::move(block), bytes);
    return true;
}

std::vector<RefusedBlock> PeerBlockSupply::TakeRefused()
{
    const Lock lock(m_mutex);
    for (const RefusedBlock& block : m_refused) {
        const auto height = static_cast<size_t>(block.node->height);
        m_states[height] = State::kMissing;
        m_none_below = std::min(m_none_below, height);
    }
    return std::exchange(m_refused, {});
}

void PeerBlockSupply::Kept(const PeerBlock& block, size_t txs)
{
    const Lock lock(m_mutex);
    StateOf(block) = State::kDone;
    m_received_bytes += block.raw.size();
    m_last_kept = m_env.MonotonicMicros();
    ++m_seen.blocks;
    m_seen.bytes += block.raw.size();
    m_seen.txs += static_cast<double>(txs);
    if (--m_missing == 0) m_queue->Close();
}

/** Without any peer serial validation could not go on either. */
void PeerBlockSupply::EndIfSilent()
{
    const bool offline = m_fetcher.PeerCount() == 0;
    const Lock lock(m_mutex);
    if (offline) m_last_kept = m_env.MonotonicMicros();
    if (m_env.MonotonicMicros() - m_last_kept < m_patience) return;
    m_gave_up = true;
    m_queue->Close();
}

bool PeerBlockSupply::GaveUp() const
{
    const Lock lock(m_mutex);
    return m_gave_up;
}

void PeerBlockSupply::Refused(const PeerBlock& block, const RuleViolation& why)
{
    if (m_log && why.kind == RuleViolation::Kind::kSpentCoins) {
        m_log->Warning("IBD Booster: block {} at height {} fails with the spent coins that peer={} "
                       "sent: {}; another peer is asked",
                       block.node->hash.ToHex(), block.node->height, block.peer, why.ToString());
    }
    {
        const Lock lock(m_mutex);
        StateOf(block) = State::kRefused;
        m_refused.push_back({.node = block.node,
                             .peer = block.peer,
                             .why = why,
                             .via_compact = block.via_compact,
                             .bytes = block.raw.size()});
    }
    m_fetcher.Wake();
}

} // namespace ibd
