// See sync_plan.h.
#include "booster/sync_plan.h"

#include "chain/assume_valid.h"
#include "chain/verification_progress.h"
#include "util/strings.h"
#include "validation/pruning.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr auto kNoneFolded = [](int32_t) { return false; };

/** The bytes of `part` of `whole` headers. `whole` is an estimate, and may be too low. */
uint64_t PartOf(uint64_t bytes, uint64_t part, uint64_t whole)
{
    return static_cast<uint64_t>(static_cast<double>(bytes) * static_cast<double>(part) /
                                 static_cast<double>(std::max<uint64_t>({part, whole, 1})));
}

bool Has(const std::vector<WorkStep>& steps, WorkStep step)
{
    return std::find(steps.begin(), steps.end(), step) != steps.end();
}

} // namespace

SyncPlan::BlockBytes SyncPlan::BytesUpTo(const HeaderNode& terminal) const
{
    const BlockPlan plan(terminal, kNoneFolded);
    return {plan.EstimatedBytes(), plan.Missing().size() * UsualBlockBytes()};
}

SyncPlan::BlockBytes SyncPlan::AssumedBytes() const
{
    const HeaderNode* const best = m_parts.chain->Read().Tree().BestHeader();
    const uint64_t stored = BlockPlan(*best, kNoneFolded).EstimatedBytes();
    return {stored, AllBytes() - std::min(AllBytes(), stored)};
}

/** Bytes of the network's blocks up to this time. The size in the parameters belongs to the same
 *  time as their number of transactions. */
uint64_t SyncPlan::BytesAt(int64_t time) const
{
    const ChainParams& params = m_parts.params;
    const auto known = static_cast<double>(params.assumed_blockchain_size_gb) * 1e9;
    const auto txs = static_cast<double>(params.chain_tx_data.tx_count);
    return static_cast<uint64_t>(txs > 0 ? known * EstimatedTxs(params, time) / txs : known);
}

uint64_t SyncPlan::UsualBlockBytes() const
{
    const HeaderNode* const best = m_parts.chain->Read().Tree().BestHeader();
    return BytesAt(best->time) / static_cast<uint64_t>(std::max(best->height, 1));
}

/** For plans, which need a number even without data. */
uint64_t SyncPlan::MissingBytes(size_t blocks) const
{
    const uint64_t usual = UsualBlockBytes();
    return blocks * (usual > 0 ? usual : kGuessedBlockBytes);
}

ExpectedBlocks SyncPlan::Expect(const HeaderNode& terminal) const
{
    return {UsualBlockBytes(), EstimatedTxs(m_parts.params, terminal.time)};
}

size_t SyncPlan::CountMissing(const HeaderNode& terminal) const
{
    const ChainReader reader = m_parts.chain->Read();
    size_t missing = 0;
    for (const HeaderNode* node = &terminal; node->height > 0; node = node->prev) {
        missing += !node->HasData();
    }
    return missing;
}

std::string SyncPlan::DescribeMissing(const HeaderNode& terminal) const
{
    const HeaderNode* first = nullptr;
    {
        const ChainReader reader = m_parts.chain->Read();
        for (const HeaderNode* node = &terminal; node->height > 0; node = node->prev) {
            if (!node->HasData()) first = node;
        }
    }
    CHECK(first);
    return fmt::format("{} blocks are missing, and there is no network (-connect=0). The first is "
                       "{}. Start with a network, or put a sound copy of the block files in their "
                       "place and start again",
                       CountMissing(terminal), m_parts.chain->DescribeMissing(*first));
}

bool SyncPlan::HasRoom(const BlockBytes& bytes, const JoinBesides& besides) const
{
    const Path place = m_parts.BlocksDir();
    std::vector<RoomNeed> needs =
        OwnHintsRoom(m_parts.Booster(), place, bytes.stored + bytes.missing, besides);
    needs.push_back({place, bytes.missing});
    const auto shortage = FindShortage(m_parts.env, needs);
    if (!shortage) {
        m_parts.log.Warning("IBD Booster: the free disk space is unknown and counts as too little: "
                            "{}",
                            shortage.Message());
    }
    return shortage && !*shortage;
}

void SyncPlan::WarnIfRoomIsShort(const HeaderNode& terminal, uint64_t rest) const
{
    const uint64_t missing = CountMissing(terminal);
    const uint64_t bytes = missing * UsualBlockBytes();
    const uint64_t stored =
        m_parts.chain->IsPruneMode() ? std::min<uint64_t>(missing, kMinBlocksToKeep) : missing;
    const uint64_t blocks = stored * UsualBlockBytes();
    const Path place = m_parts.BlocksDir();
    m_parts.log.Info("IBD Booster: {} of {} blocks are to be fetched from peers{}", missing,
                     terminal.height, bytes > 0 ? ", about " + FormatBytes(bytes) : "");
    const auto free = m_parts.env.SpaceAvailable(place);
    if (!free || *free >= blocks + rest) return;
    m_parts.log.Warning("IBD Booster: disk space may not suffice: {} has {} free, and the rest of "
                        "the sync needs about {}, {} of it for blocks",
                        place.string(), FormatBytes(*free), FormatBytes(blocks + rest),
                        FormatBytes(blocks));
}

std::vector<WorkStep> SyncPlan::GivenSteps(bool joins) const
{
    if (joins) {
        return {WorkStep::kReadBlocks, WorkStep::kJoin, WorkStep::kWriteUndo, WorkStep::kFold,
                WorkStep::kLoad};
    }
    return {WorkStep::kFold, WorkStep::kLoad};
}

std::vector<WorkStep> SyncPlan::OwnSteps(bool values, bool joins) const
{
    std::vector<WorkStep> steps = {WorkStep::kReadBlocks, WorkStep::kJoin};
    if (values) steps.push_back(WorkStep::kCheckRules);
    steps.push_back(joins ? WorkStep::kWriteUndo : WorkStep::kFold);
    steps.push_back(WorkStep::kLoad);
    return steps;
}

WorkAmounts SyncPlan::BaseAmounts() const
{
    return {.coins = m_parts.hints ? m_parts.hints->Info().unspent : 0,
            .threads = m_parts.Booster().threads,
            .scripts = m_parts.Booster().full_validation};
}

void SyncPlan::Set(std::vector<WorkStep> steps, const HeaderNode& terminal) const
{
    const BlockBytes below = BytesUpTo(terminal);
    const HeaderNode* const best = m_parts.chain->Read().Tree().BestHeader();
    const BlockPlan above(*best, [&](int32_t height) { return height <= terminal.height; });
    WorkAmounts amounts = BaseAmounts();
    amounts.missing = MissingBytes(CountMissing(terminal));
    amounts.bytes = below.stored + amounts.missing;
    amounts.above = above.BytesToFold();
    if (m_parts.chain->Options().peers_bring_blocks && above.Missing().size() > kFewMissing) {
        amounts.above_missing = MissingBytes(above.Missing().size());
        amounts.above += amounts.above_missing;
    }
    amounts.lacks_undo = LacksUndo(terminal);
    amounts.last_undo =
        PartOf(amounts.bytes, kMinBlocksToKeep, static_cast<uint64_t>(terminal.height));
    Set(std::move(steps), amounts);
}

/** Whether undo data will be made before the node serves calls: of any block, or of the last ones.
 */
bool SyncPlan::LacksUndo(const HeaderNode& terminal) const
{
    const bool last_only = m_parts.MakesUndoLater();
    const int32_t lowest = last_only ? std::max(1, terminal.height - kMinBlocksToKeep + 1) : 1;
    const HeaderNode* node = &terminal;
    while (node->height >= lowest && node->HasUndo()) node = node->prev;
    return node->height >= lowest;
}

void SyncPlan::Set(std::vector<WorkStep> steps, const BlockSurvey& survey,
                   const HeaderNode& terminal) const
{
    WorkAmounts amounts = BaseAmounts();
    amounts.indexes = true;
    for (const SurveyedBlock& block : survey.Blocks()) {
        const bool is_above = block.node && block.node->height > terminal.height;
        (is_above ? amounts.above : amounts.bytes) += block.frame_size;
    }
    amounts.last_undo =
        PartOf(amounts.bytes, kMinBlocksToKeep, static_cast<uint64_t>(terminal.height));
    Set(std::move(steps), amounts);
}

void SyncPlan::SetSurvey(std::vector<WorkStep> steps, uint64_t bytes) const
{
    OverallProgress* const overall = m_parts.Booster().progress.overall;
    if (!overall) return;
    WorkAmounts amounts = BaseAmounts();
    amounts.coins = 0;
    amounts.bytes = bytes;
    amounts.above = std::min(bytes / 2, TwoWeeksOfBytes());
    amounts.last_undo = amounts.above;
    amounts.indexes = true;
    std::vector<PlannedStep> plan = Planned(std::move(steps), amounts);
    plan.insert(plan.begin(), SurveyStep(bytes));
    overall->Plan(plan);
    overall->Update(WorkStep::kIndex, 0, 1, 0);
}

/** Blocks above the terminal block bury it. 0: the network's figures are unknown. */
uint64_t SyncPlan::TwoWeeksOfBytes() const
{
    const int64_t age = m_parts.env.UnixTime() - int64_t{m_parts.params.genesis.header.time};
    return PartOf(AllBytes(), static_cast<uint64_t>(kAssumeValidBuryTime),
                  static_cast<uint64_t>(std::max<int64_t>(age, 1)));
}

void SyncPlan::SetIndex(std::vector<WorkStep> then, uint64_t bytes) const
{
    then.insert(then.begin(), WorkStep::kIndex);
    WorkAmounts amounts = BaseAmounts();
    amounts.bytes = bytes;
    amounts.above = amounts.last_undo = std::min(bytes / 2, TwoWeeksOfBytes());
    Set(std::move(then), amounts);
}

void SyncPlan::SetWaiting(std::vector<WorkStep> steps, uint64_t headers) const
{
    const auto best = static_cast<uint64_t>(m_parts.chain->Read().Tree().BestHeader()->height);
    WorkAmounts amounts = BaseAmounts();
    amounts.coins = 0;
    const uint64_t all = AllBytes() > 0 ? AllBytes() : headers * kGuessedBlockBytes;
    amounts.bytes = all;
    amounts.missing = all - PartOf(all, best, headers);
    amounts.headers = headers - std::min(headers, best);
    const int64_t spacing = m_parts.params.consensus.pow_target_spacing;
    amounts.above_missing =
        PartOf(all, static_cast<uint64_t>(kAssumeValidBuryTime / spacing), headers);
    amounts.above = amounts.last_undo = amounts.above_missing;
    Set(std::move(steps), amounts);
}

/** The steps for undo data after the load: BoosterSession::MakeUndo(). Without space for it they
 *  are skipped, and count as done. */
void SyncPlan::AddUndo(std::vector<WorkStep>& steps) const
{
    const bool first = m_parts.options.own.undo_first;
    const bool writes = Has(steps, WorkStep::kWriteUndo); // or only checks: RuleCheck::WritesUndo()
    if (writes && (first || m_parts.Booster().full_validation)) return;
    if (first) {
        steps.insert(steps.end(), {WorkStep::kReadBlocks, WorkStep::kJoin, WorkStep::kWriteUndo});
    } else if (m_parts.MakesUndoLater()) {
        // The fold with given hints finds the coins of the last blocks, unless a join has kept its
        // pairs: UndoRebuild::RunLast().
        if (!m_parts.hints || writes) steps.push_back(WorkStep::kFetchCoins);
        steps.push_back(WorkStep::kWriteUndo);
    }
}

void SyncPlan::Set(std::vector<WorkStep> steps, const WorkAmounts& amounts) const
{
    OverallProgress* const overall = m_parts.Booster().progress.overall;
    if (overall) overall->Plan(Planned(std::move(steps), amounts));
}

std::vector<PlannedStep> SyncPlan::Planned(std::vector<WorkStep> steps, WorkAmounts amounts) const
{
    amounts.last_undo =
        m_parts.MakesUndoLater() ? std::max(amounts.last_undo, uint64_t{1}) : uint64_t{0};
    if (amounts.lacks_undo) AddUndo(steps);
    if (amounts.above >= kLeastToConnect || amounts.above_missing > 0) {
        steps.push_back(WorkStep::kConnect);
    }
    return PlanOf(steps, amounts);
}

} // namespace ibd
