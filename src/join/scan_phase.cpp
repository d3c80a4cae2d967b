// See scan_phase.h.
#include "join/scan_phase.h"

#include "consensus/block_check.h"
#include "join/coin_record.h"
#include "join/hot_table.h"
#include "script/coin.h"
#include "storage/crc32c.h"
#include "util/progress.h"
#include "util/watched_threads.h"

#include <algorithm>

namespace ibd {

namespace {

/** What the spills of coins are cut by. */
JoinState FreshState(const JoinJob& job, uint32_t first)
{
    JoinState state = job.NewState();
    state.pairs = true;
    // For as many ranges as can be where the coins are: none are spent below.
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

/** That it is the block, as far as what is found in it depends on that: coins are found by the ids
 *  that its bytes have now. `careful`: that all of its transactions are as they were. */
RuleResult CheckRead(const BlockView& block, const Result<>& parsed, const HeaderNode& node,
                     bool careful)
{
    if (!parsed) return Violation(RuleViolation::Kind::kMutated, parsed.Message());
    if (block.Hash() != node.hash) {
        return Violation(RuleViolation::Kind::kMutated,
                         "another block lies in its place: " + block.Hash().ToHex());
    }
    return careful ? CheckMerkleRoot(block) : std::nullopt;
}

SipKey RandomKey(Env& env)
{
    uint8_t key[16];
    env.RandomBytes(key);
    return {ReadLE64(key), ReadLE64(key + 8)};
}

} // namespace

/** One thread's share of a scan. */
class ScanPhase::Worker {
public:
    Worker(ScanPhase& phase, bool careful)
        : m_phase(phase), m_careful(careful),
          m_coins(phase.m_spending.Count(),
                  CollectorBytes(phase.m_job.options.memory_bytes / phase.m_job.Threads() / 8))
    {
        m_coins.SetSink(&phase.m_coins);
    }

    Result<> Run(BlockSource& source);

private:
    void Find(uint32_t height);

    ScanPhase& m_phase;
    const bool m_careful;
    BlockView m_block;
    RangeCollector m_coins;
    bool m_written = true; //!< else the spills have failed, and who finishes them says why
};

Result<> ScanPhase::Worker::Run(BlockSource& source)
{
    JoinJob& job = m_phase.m_job;
    SuppliedBlock block;
    while (!job.stop.load(std::memory_order_relaxed) && m_written) {
        IBD_ASSIGN_OR_RETURN(const bool more, source.Next(block));
        if (!more) break;
        const Result<> parsed = m_block.Parse(block.bytes);
        if (const auto broken = CheckRead(m_block, parsed, *block.node, m_careful)) {
            IBD_RETURN_IF_ERROR(source.Reject(block, *broken)); // once more, or it is an error
            continue;
        }
        Find(static_cast<uint32_t>(block.node->height));
        job.fetched_bytes.fetch_add(m_block.Raw().size(), std::memory_order_relaxed);
    }
    (void)m_coins.Flush();
    return {};
}

void ScanPhase::Worker::Find(uint32_t height)
{
    SoughtCoins& sought = *m_phase.m_sought;
    bool coinbase = true;
    for (const TxView& tx : m_block.Txs()) {
        const bool is_coinbase = std::exchange(coinbase, false);
        if (!sought.MayHold(tx.txid)) continue;
        if (is_coinbase && m_phase.m_job.rules.IsOverwritten(height)) continue;
        const sip::State begun = sought.Begin(tx.txid);
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            const OutputView& output = tx.outputs[i];
            if (IsUnspendable(output.script_pubkey)) continue;
            const auto spender = sought.Take(begun, i, height, m_careful);
            if (!spender) continue;
            AppendCoinRecord(m_coins.Record(), *spender, output, height, is_coinbase);
            const uint32_t range = m_phase.m_spending.Of(JoinRecord::HeightOf(*spender));
            m_written = m_coins.Close(range) && m_written;
        }
    }
}

ScanPhase::ScanPhase(JoinJob& job, BlockSupply& supply, uint32_t first, uint32_t first_spill)
    : m_job(job), m_supply(supply), m_first(first), m_state(FreshState(job, first)),
      m_spending(m_state.SpendingRanges()), m_next_input(m_state.terminal_height - first + 1),
      m_coins(job.env, job.options.directory, first_spill, m_state.OwnerOf(m_spending.Count()))
{
    CHECK(first >= 1 && m_next_input.size() <= SoughtCoins::kMostBlocks);
}

Result<ScanEnd> ScanPhase::Run()
{
    ScanEnd end;
    m_job.Enter(JoinProgress::Phase::kFetching);
    while (true) {
        IBD_RETURN_IF_ERROR(Collect());
        if (!m_job.stop && m_sought->Size() > 0) IBD_RETURN_IF_ERROR(FindAll());
        if (m_job.stop) return end;
        end.kind = ScanEnd::Kind::kRepeated;
        if (m_sought->Repeated()) return end;
        end.kind = ScanEnd::Kind::kStopped;
        const bool all = std::all_of(m_next_input.begin(), m_next_input.end(),
                                     [](uint32_t next) { return next == kAll; });
        if (all) break;
    }
    IBD_ASSIGN_OR_RETURN(m_state.coin_spills, m_coins.Finish());
    m_state.stage = JoinStage::kFetched;
    end.state = std::move(m_state);
    end.kind = ScanEnd::Kind::kDone;
    return end;
}

/** Fills the table with inputs that were not dealt with yet. */
Result<> ScanPhase::Collect()
{
    IBD_RETURN_IF_ERROR(m_supply.Begin([&](int32_t height) {
        const auto at = static_cast<uint32_t>(height);
        return at < m_first || m_next_input[at - m_first] == kAll;
    }));
    if (!m_sought) {
        // The rest is for coins on their way to the spills.
        const size_t bytes = m_job.options.memory_bytes / 4 * 3;
        m_sought.emplace(m_first, static_cast<uint32_t>(m_next_input.size()), bytes,
                         RandomKey(m_job.env));
    }
    m_sought->Clear();
    return CollectFrom(*m_supply.MakeSource());
}

/** Checks these blocks whole: undo data is made of them later, by their checksums. */
Result<> ScanPhase::CollectFrom(BlockSource& source)
{
    BlockTaker taker(m_job.params, RandomKey(m_job.env).k0);
    SuppliedBlock block;
    while (!m_job.stop) {
        IBD_ASSIGN_OR_RETURN(const bool more, source.Next(block));
        if (!more) break;
        bool kept = false;
        if (const auto failure = taker.Take(source, block, kept)) {
            return Error{failure->error.message, Error::Kind::kSystem};
        }
        if (!kept) continue;
        const auto height = static_cast<uint32_t>(block.node->height);
        m_state.checksums[height] = Crc32c(taker.View().Raw());
        AddInputs(height, taker.View());
        if (m_next_input[height - m_first] != kAll) break; // the table is full
    }
    return {};
}

void ScanPhase::AddInputs(uint32_t height, const BlockView& block)
{
    const auto inputs = block.Inputs();
    const size_t coinbase = block.Txs()[0].inputs.size();
    uint32_t& next = m_next_input[height - m_first];
    for (size_t i = std::max<size_t>(next, coinbase); i < inputs.size(); ++i) {
        const auto index = static_cast<uint32_t>(i);
        next = index;
        if (!m_sought->Add(inputs[i].prevout_bytes, JoinRecord::PlaceOf(height, index))) return;
    }
    next = kAll;
}

/** Reads all blocks for what the table holds. */
Result<> ScanPhase::FindAll()
{
    m_job.log.Info("Undo: looking for {} coins that the last {} blocks spend", m_sought->Size(),
                   m_next_input.size());
    IBD_RETURN_IF_ERROR(Scan(false));
    auto missing = m_sought->FirstMissing();
    if (m_job.stop || m_sought->Repeated() || !missing) return {};
    // A block is damaged, on the disk or on its way from there.
    IBD_RETURN_IF_ERROR(Scan(true));
    missing = m_sought->FirstMissing();
    if (m_job.stop || !missing) return {};
    const auto height = static_cast<int>(JoinRecord::HeightOf(*missing));
    return SystemError("block {} at height {}: the output that its input {} spends is in no block",
                       m_job.terminal.Ancestor(height)->hash.ToHex(), height,
                       JoinRecord::IndexOf(*missing));
}

Result<> ScanPhase::Scan(bool careful)
{
    IBD_RETURN_IF_ERROR(m_supply.Begin([](int32_t) { return false; }));
    m_job.total_bytes = m_job.fetched_bytes + m_supply.EstimatedBytes();
    std::vector<std::unique_ptr<BlockSource>> sources;
    for (size_t i = 0; i < m_job.Threads(); ++i) sources.push_back(m_supply.MakeSource());
    Mutex mutex;
    Result<> status;
    const auto body = [&](size_t i) {
        const Result<> done = Worker(*this, careful).Run(*sources[i]);
        if (done) return;
        m_supply.Stop(); // the others finish their stretch
        const Lock lock(mutex);
        if (status) status = Error{done.Message(), Error::Kind::kSystem}; // bad data is a spill's
    };
    if (!m_job.options.background) {
        body(0);
        return status;
    }
    ProgressMeter meter(m_job.env, m_job.log,
                        {.label = "Undo: looking for coins",
                         .unit = "bytes",
                         .total = m_job.total_bytes,
                         .start = m_job.fetched_bytes,
                         .tty = m_job.options.tty});
    RunWatched("scan", sources.size(), body, [&] { meter.Update(m_job.fetched_bytes); });
    return status;
}

} // namespace ibd
