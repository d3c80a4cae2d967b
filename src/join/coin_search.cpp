// See coin_search.h.
#include "join/coin_search.h"

#include "crypto/random_key.h"
#include "join/coin_record.h"
#include "join/hot_table.h"
#include "script/coin.h"
#include "storage/crc32c.h"

#include <algorithm>

namespace ibd {

namespace {

/** The state whose ranges cut the spills of coins. */
JoinState FreshState(const JoinJob& job, uint32_t first)
{
    JoinState state = job.NewState();
    state.pairs = true;
    // Uses as many ranges as possible above `first`, because no wanted coin is spent below it.
    state.partition_bits = TableShape::kMaxPartitionBits;
    state.outputs.assign(size_t{state.terminal_height} + 1, 0);
    for (const HeaderNode* node = &job.terminal;
         node && node->height > 0 && static_cast<uint32_t>(node->height) >= first;
         node = node->prev) {
        state.outputs[static_cast<size_t>(node->height)] = node->tx_count;
    }
    state.checksums.resize(state.outputs.size());
    return state;
}

} // namespace

CoinSearch::CoinSearch(JoinJob& job, uint32_t first, uint32_t first_spill)
    : m_job(job), m_first(first), m_state(FreshState(job, first)),
      m_spending(m_state.SpendingRanges()), m_next_input(m_state.terminal_height - first + 1),
      m_coins(job.env, job.options.directory, first_spill, m_state.OwnerOf(m_spending.Count()),
              SpillUse::kPassing)
{
    CHECK(first >= 1 && m_next_input.size() <= WantedCoins::kMostBlocks);
}

void CoinSearch::ResetTable(uint64_t most_inputs)
{
    if (m_wanted) {
        m_wanted->Clear();
        return;
    }
    // The other quarter is for coins that are being spilled.
    const size_t bytes = m_job.options.memory_bytes / 4 * 3;
    m_wanted.emplace(m_first, most_inputs, bytes, RandomKey(m_job.env));
}

bool CoinSearch::Add(uint32_t height, ByteSpan raw, std::span<const TxView> txs)
{
    m_state.checksums[height] = Crc32c(raw);
    uint32_t& next = m_next_input[height - m_first];
    auto index = static_cast<uint32_t>(txs[0].inputs.size());
    for (const TxView& tx : txs.subspan(1)) {
        for (const InputView& input : tx.inputs) {
            const uint32_t at = index++;
            if (at < next) continue;
            next = at;
            if (!m_wanted->Add(input.prevout_bytes, JoinRecord::PlaceOf(height, at))) return false;
        }
    }
    next = kAll;
    return true;
}

bool CoinSearch::AllAdded() const
{
    return std::all_of(m_next_input.begin(), m_next_input.end(),
                       [](uint32_t next) { return next == kAll; });
}

Result<JoinState> CoinSearch::Finish()
{
    IBD_ASSIGN_OR_RETURN(m_state.coin_spills, m_coins.Finish());
    return std::move(m_state);
}

CoinSearch::Finder::Finder(CoinSearch& search, size_t threads, bool again)
    : m_search(search), m_again(again),
      m_coins(search.m_spending.Count(),
              CollectorBytes(search.m_job.options.memory_bytes / threads / 8))
{
    m_coins.SetSink(&search.m_coins);
}

void CoinSearch::Finder::Find(std::span<const TxView> txs, uint32_t height)
{
    const WantedCoins& wanted = *m_search.m_wanted;
    for (const TxView& tx : txs) {
        if (wanted.MayHold(tx.txid)) Consider(tx, height, &tx == txs.data());
    }
    TakeAll(height);
}

void CoinSearch::Finder::Consider(const TxView& tx, uint32_t height, bool coinbase)
{
    if (coinbase && m_search.m_job.rules.IsOverwritten(height)) return;
    const WantedCoins& wanted = *m_search.m_wanted;
    const sip::State begun = wanted.Begin(tx.txid);
    for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
        if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
        m_candidates[m_count++] = {wanted.Prepare(begun, i), &tx.outputs[i], coinbase};
        if (m_count == kAtOnce) TakeAll(height);
    }
}

void CoinSearch::Finder::TakeAll(uint32_t height)
{
    for (const Candidate& candidate : std::span(m_candidates).first(std::exchange(m_count, 0))) {
        const auto spender = m_search.m_wanted->Take(candidate.prepared, height, m_again);
        if (!spender) continue;
        const uint8_t* const end =
            PutCoinRecord(m_coins.Room(), *spender, *candidate.output, height, candidate.coinbase);
        const uint32_t range = m_search.m_spending.Of(JoinRecord::HeightOf(*spender));
        m_written = m_coins.Close(range, end) && m_written;
    }
}

} // namespace ibd
