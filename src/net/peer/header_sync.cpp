// See header_sync.h.
#include "net/peer/header_sync.h"

#include "consensus/limits.h"
#include "consensus/pow.h"
#include "crypto/sha256_batch.h"
#include "util/endian.h"

#include <algorithm>

namespace ibd {

namespace {

/** Bound on blocks per second, as each time must exceed the median of eleven. */
constexpr uint64_t kMaxBlocksPerSecond = 6;

uint64_t MaxCommitments(const ChainParams& params, int64_t start_time, int64_t now)
{
    CHECK(params.headers_sync_commitment_period > 0);
    const int64_t seconds = std::max<int64_t>(now - start_time, 0) + kMaxFutureBlockTime;
    return kMaxBlocksPerSecond * static_cast<uint64_t>(seconds) /
           static_cast<uint64_t>(params.headers_sync_commitment_period);
}

} // namespace

std::vector<BlockHash> HashHeaders(std::span<const BlockHeader> headers)
{
    std::vector<std::array<uint8_t, BlockHeader::kSize>> bytes(headers.size());
    std::vector<HashMessage> messages(headers.size());
    for (size_t i = 0; i < headers.size(); ++i) {
        bytes[i] = headers[i].ToBytes();
        messages[i].body = bytes[i];
    }
    std::vector<Hash32> digests(headers.size());
    Sha256dMany(messages, digests.data());
    return {digests.begin(), digests.end()};
}

bool AreContinuous(std::span<const BlockHeader> headers, std::span<const BlockHash> hashes)
{
    for (size_t i = 1; i < headers.size(); ++i) {
        if (headers[i].prev_hash != hashes[i - 1]) return false;
    }
    return true;
}

bool HaveProofOfWork(std::span<const BlockHeader> headers, std::span<const BlockHash> hashes,
                     const ConsensusParams& params)
{
    for (size_t i = 0; i < headers.size(); ++i) {
        if (!CheckProofOfWork(hashes[i], headers[i].bits, params)) return false;
    }
    return true;
}

Arith256 ClaimedWork(std::span<const BlockHeader> headers)
{
    Arith256 sum;
    Arith256 work;
    for (size_t i = 0; i < headers.size(); ++i) {
        if (i == 0 || headers[i].bits != headers[i - 1].bits) work = BlockWork(headers[i].bits);
        sum += work;
    }
    return sum;
}

HeaderSyncSecrets RandomHeaderSyncSecrets(Env& env, const ChainParams& params)
{
    std::array<uint8_t, 24> chance;
    env.RandomBytes(chance);
    const auto period = static_cast<uint64_t>(params.headers_sync_commitment_period);
    return {static_cast<uint32_t>(ReadLE64(chance.data()) % period),
            {ReadLE64(chance.data() + 8), ReadLE64(chance.data() + 16)}};
}

HeaderSync::HeaderSync(const ChainParams& params, const HeaderNode& start,
                       const Arith256& minimum_work, int64_t now, const HeaderSyncSecrets& secrets,
                       PeerId peer, Logger& logger)
    : m_params(params), m_start(start), m_minimum_work(minimum_work), m_secrets(secrets),
      m_peer(peer), m_logger(logger),
      m_max_commitments(MaxCommitments(params, start.MedianTimePast(), now)),
      m_last(start.Header()), m_last_hash(start.hash), m_height(start.height),
      m_work(start.chain_work)
{
    m_logger.Debug(LogCategory::kNet,
                   "Initial headers sync started with peer={}: height={}, max_commitments={}, "
                   "min_work={}",
                   m_peer, m_height, m_max_commitments, m_minimum_work.ToHex());
}

size_t HeaderSync::MaxMemory(const ChainParams& params, int64_t start_time, int64_t now)
{
    const auto buffered = static_cast<size_t>(params.headers_sync_redownload_buffer) + kMaxHeaders;
    // A growing vector may take twice its content, and the old half during the move.
    const size_t commitments = 3 * (MaxCommitments(params, start_time, now) + 1) / 8;
    return buffered * sizeof(Compressed) + commitments + sizeof(HeaderSync) + 4096;
}

size_t HeaderSync::MemoryUsage() const
{
    return sizeof *this + m_commitments.capacity() / 8 + m_buffer.size() * sizeof(Compressed);
}

bool HeaderSync::IsCommitted(int64_t height) const
{
    return height % m_params.headers_sync_commitment_period == m_secrets.offset;
}

bool HeaderSync::CommitmentOf(const BlockHash& hash) const
{
    return (SipHash32(m_secrets.salt, hash.Array()) & 1) != 0;
}

const Arith256& HeaderSync::WorkOf(uint32_t bits)
{
    if (bits != m_last_work_bits) m_last_work = BlockWork(bits);
    m_last_work_bits = bits;
    return m_last_work;
}

bool HeaderSync::GiveUp(std::string_view why, int64_t height)
{
    m_logger.Debug(LogCategory::kNet,
                   "Initial headers sync aborted with peer={}: {} at height={} ({} phase)", m_peer,
                   why, height, m_phase == Phase::kPresync ? "presync" : "redownload");
    return false;
}

void HeaderSync::Finish()
{
    m_phase = Phase::kFinal;
    m_commitments = {};
    m_buffer = {};
}

HeaderSync::Outcome HeaderSync::Process(std::span<const BlockHeader> headers,
                                        std::span<const BlockHash> hashes, bool full)
{
    CHECK(m_phase != Phase::kFinal && !headers.empty() && headers.size() == hashes.size());
    Outcome outcome = m_phase == Phase::kPresync ? ProcessPresync(headers, hashes, full)
                                                 : ProcessRedownload(headers, hashes, full);
    if (!outcome.ok || !outcome.request_more) Finish();
    return outcome;
}

HeaderSync::Outcome HeaderSync::ProcessPresync(std::span<const BlockHeader> headers,
                                               std::span<const BlockHash> hashes, bool full)
{
    if (headers[0].prev_hash != m_last_hash) {
        // The peer may have changed its chain: harmless, because the next sync starts from scratch.
        GiveUp("non-continuous headers", m_height);
        return {};
    }
    for (size_t i = 0; i < headers.size(); ++i) {
        if (!CountHeader(headers[i], hashes[i])) return {};
    }
    if (m_work >= m_minimum_work) StartRedownload();
    const bool more = full || m_phase == Phase::kRedownload;
    // Its chain ends with too little work.
    if (!more) GiveUp("incomplete headers message", m_height);
    return {true, more, {}};
}

bool HeaderSync::CountHeader(const BlockHeader& header, const BlockHash& hash)
{
    const int64_t height = m_height + 1;
    // Otherwise a single lucky block with a high claimed difficulty could replace a chain.
    if (!PermittedDifficultyTransition(m_params.consensus, static_cast<int>(height), m_last.bits,
                                       header.bits)) {
        return GiveUp("invalid difficulty transition", height);
    }
    if (IsCommitted(height)) {
        m_commitments.push_back(CommitmentOf(hash));
        if (m_commitments.size() > m_max_commitments) {
            return GiveUp("exceeded max commitments", height);
        }
    }
    m_work += WorkOf(header.bits);
    m_last = header;
    m_last_hash = hash;
    m_height = height;
    return true;
}

void HeaderSync::StartRedownload()
{
    m_phase = Phase::kRedownload;
    m_buffer_parent = m_buffer_last_hash = m_start.hash;
    m_buffer_last_bits = m_start.bits;
    m_buffer_height = m_start.height;
    m_buffer_work = m_start.chain_work;
    m_logger.Debug(LogCategory::kNet,
                   "Initial headers sync transition with peer={}: reached sufficient work at "
                   "height={}, redownloading from height={}",
                   m_peer, m_height, m_buffer_height);
}

HeaderSync::Outcome HeaderSync::ProcessRedownload(std::span<const BlockHeader> headers,
                                                  std::span<const BlockHash> hashes, bool full)
{
    for (size_t i = 0; i < headers.size(); ++i) {
        if (!CheckAgain(headers[i], hashes[i])) return {};
    }
    Outcome outcome{true, false, TakeReady()};
    if (m_release_all) {
        m_logger.Debug(LogCategory::kNet,
                       "Initial headers sync complete with peer={}: releasing all at height={} "
                       "(redownload phase)",
                       m_peer, m_buffer_height);
    } else if (full) {
        outcome.request_more = true;
    } else {
        // The peer does not send the same headers again. Headers released before are valid
        // nevertheless.
        GiveUp("incomplete headers message", m_buffer_height);
    }
    return outcome;
}

bool HeaderSync::MatchesCommitment(int64_t height, const BlockHash& hash)
{
    if (m_commitments_checked == m_commitments.size()) return GiveUp("commitment overrun", height);
    if (m_commitments[m_commitments_checked++] != CommitmentOf(hash)) {
        return GiveUp("commitment mismatch", height);
    }
    return true;
}

bool HeaderSync::CheckAgain(const BlockHeader& header, const BlockHash& hash)
{
    const int64_t height = m_buffer_height + 1;
    if (header.prev_hash != m_buffer_last_hash) return GiveUp("non-continuous headers", height);
    if (!PermittedDifficultyTransition(m_params.consensus, static_cast<int>(height),
                                       m_buffer_last_bits, header.bits)) {
        return GiveUp("invalid difficulty transition", height);
    }
    m_buffer_work += WorkOf(header.bits);
    // From here on the chain may be longer than in presync, where no bits were kept.
    if (m_buffer_work >= m_minimum_work) m_release_all = true;
    if (!m_release_all && IsCommitted(height) && !MatchesCommitment(height, hash)) return false;
    m_buffer.push_back(
        {header.version, header.merkle_root, header.time, header.bits, header.nonce});
    m_buffer_height = height;
    m_buffer_last_hash = hash;
    m_buffer_last_bits = header.bits;
    return true;
}

std::vector<BlockHeader> HeaderSync::TakeReady()
{
    const auto keep = static_cast<size_t>(m_params.headers_sync_redownload_buffer);
    const size_t count =
        m_release_all ? m_buffer.size() : m_buffer.size() - std::min(keep, m_buffer.size());
    std::vector<BlockHeader> out;
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        const Compressed& c = m_buffer.front();
        out.push_back({c.version, m_buffer_parent, c.merkle_root, c.time, c.bits, c.nonce});
        m_buffer_parent = out.back().Hash();
        m_buffer.pop_front();
    }
    return out;
}

std::vector<BlockHash> HeaderSync::NextLocator() const
{
    CHECK(m_phase != Phase::kFinal);
    std::vector<BlockHash> out = BlockLocator(&m_start);
    out.insert(out.begin(), m_phase == Phase::kPresync ? m_last_hash : m_buffer_last_hash);
    return out;
}

} // namespace ibd
