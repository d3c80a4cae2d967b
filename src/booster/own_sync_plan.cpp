// OwnSync: decides whether it runs, up to which block and with which blocks, and chooses the
// additional tasks of the join. See own_sync.h.
#include "booster/own_sync.h"
#include "booster/reindex_supply.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr auto kNoneFolded = [](int32_t) { return false; };

/** Resumes an earlier start's work, even if a higher block is possible by now; but not for less
 *  than half of the chain. Null: it cannot be resumed. */
const HeaderNode* PreferKept(const std::optional<KeptWork::OwnWork>& kept,
                             const HeaderNode* terminal)
{
    if (!kept || !terminal) return nullptr;
    for (const HeaderNode* node = terminal; node->height * 2 >= terminal->height;
         node = node->prev) {
        if (node->hash == kept->terminal) return node;
        if (node->height == 0) break;
    }
    return nullptr;
}

} // namespace

bool OwnSync::MayRun(const ChainManagerOptions& trust) const
{
    using Mode = OwnHintsOptions::Mode;
    const Mode mode = m_parts.options.own.mode;
    if (mode == Mode::kAsked) return true;
    return mode == Mode::kDefault && !trust.assume_valid.IsNull() && trust.prune_target == 0;
}

/** The terminal block of own hints, from stored blocks or from any. */
HintsStanding OwnSync::Judge(bool stored) const
{
    const int64_t now = m_parts.env.UnixTime();
    const auto has_data = [](const HeaderNode& node) { return node.HasData(); };
    const ChainReader reader = m_parts.chain->Read();
    return FindOwnTerminal(reader.Tree(), m_parts.chain->Options(),
                           m_parts.Booster().full_validation, now,
                           stored ? std::function<bool(const HeaderNode&)>(has_data) : nullptr);
}

HintsStanding OwnSync::JudgeBuried() const
{
    const int64_t now = m_parts.env.UnixTime();
    const ChainReader reader = m_parts.chain->Read();
    return FindBuriedTerminal(reader.Tree(), m_parts.chain->Options(), now);
}

/** The default, without a request by the user. */
bool OwnSync::IsWorthIt(const SyncPlan::BlockBytes& bytes) const
{
    return bytes.stored + bytes.missing > m_parts.options.own.least_bytes &&
           m_plan.HasRoom(bytes, {.pairs = MustKeepPairs(), .values = JoinsValues()});
}

/** Estimated from the size in the network's parameters, before headers are known. */
bool OwnSync::FetchingMayBeWorthIt() const { return IsWorthIt(m_plan.AssumedBytes()); }

bool OwnSync::MustKeepPairs() const
{
    return (m_parts.Booster().check_rules && !JoinsValues()) ||
           m_parts.options.own.undo == UndoWanted::kYes;
}

/** If undo data is made before the chainstate, it is used to check the rules. */
bool OwnSync::JoinsValues() const
{
    const OwnHintsOptions& own = m_parts.options.own;
    return own.checks && !m_parts.Booster().full_validation && !own.undo_first;
}

/** Unfinished work continues unchanged: undo data can also be made without its pairs, and unneeded
 *  pairs do no harm. */
bool OwnSync::KeepsPairs(const Start& start) const
{
    if (start.begun) return start.pairs;
    return MustKeepPairs() || (start.pairs && m_parts.options.own.undo == UndoWanted::kIfRoom);
}

/** Checks have priority over pairs, since undo data can be made later. */
void OwnSync::LookForRoom(Start& start, const SyncPlan::BlockBytes& bytes) const
{
    const bool pairs = MustKeepPairs();
    start.values = JoinsValues() && (m_parts.Booster().check_rules ||
                                     m_plan.HasRoom(bytes, {.pairs = pairs, .values = true}));
    start.pairs = m_plan.HasRoom(bytes, {.pairs = true, .values = start.values});
}

Result<OwnSync::Start> OwnSync::Plan()
{
    Start start;
    IBD_ASSIGN_OR_RETURN(auto kept, m_parts.kept.OwnHints());
    start.standing = Judge(true);
    const HeaderNode* const stored = start.standing.terminal;
    const HeaderNode* begun = PreferKept(kept, stored);
    const HintsStanding reach = Judge(false);
    const bool complete = stored && stored == reach.terminal && !reach.may_change;
    // Without an assumed-valid block the end of the download is undefined.
    const bool assumes = !m_parts.chain->Options().assume_valid.IsNull() &&
                         (m_parts.IsAsked() || kept || FetchingMayBeWorthIt());
    const bool may_fetch = m_parts.Booster().full_validation || assumes;
    if (!complete && !(begun && kept->hints) && may_fetch) start.peers = m_parts.StartFetcher();
    if (start.peers) {
        WaitForPeers(start, stored);
        begun = PreferKept(kept, start.standing.terminal);
    }
    if (!begun && !start.peers && kept && !kept->hints) {
        // Unfinished work determines the end of the download.
        if (const HeaderNode* const further = PreferKept(kept, reach.terminal)) {
            start.peers = m_parts.StartFetcher();
            if (start.peers) {
                begun = further;
            } else {
                start.standing = StandingWithoutPeers(*further);
            }
        }
    }
    if (!begun) return start;
    start.begun = true;
    start.standing.terminal = begun;
    start.made = {std::move(kept->hints), std::move(kept->first)};
    start.pairs = kept->pairs;
    return start;
}

/** Waits for the headers that the end of the download needs. */
void OwnSync::WaitForPeers(Start& start, const HeaderNode* stored)
{
    const bool full = m_parts.Booster().full_validation;
    const HeadersWait::Judge judge = [&] { return full ? JudgeBuried() : Judge(false); };
    HintsStanding there = judge();
    if (there.may_change) there = WaitForTerminal(judge, *start.peers);
    const bool lower =
        full && stored && (!there.terminal || there.terminal->height <= stored->height);
    if (!lower) start.standing = std::move(there);
}

/** A join of fewer blocks would replace unfinished work, and leave all blocks above to the serial
 *  engine. */
HintsStanding OwnSync::StandingWithoutPeers(const HeaderNode& terminal) const
{
    HintsStanding standing;
    standing.refusal =
        fmt::format("hints up to height {} are unfinished: {}, or start with -ibdbooster=0, which "
                    "validates serially up to there",
                    terminal.height, m_plan.DescribeMissing(terminal));
    if (!m_parts.IsAsked()) {
        m_parts.log.Warning("IBD Booster: {}. This start validates serially, too",
                            standing.refusal);
    }
    return standing;
}

HintsStanding OwnSync::WaitForTerminal(const HeadersWait::Judge& judge, BlockFetcher& peers)
{
    const bool full = m_parts.Booster().full_validation;
    m_parts.log.Info("IBD Booster: waiting for headers: {}, before blocks are fetched",
                     full ? "all must be there, and two weeks of them above the last block to fetch"
                          : "the assumed-valid block must be among them, and two weeks of them "
                            "above it");
    return HeadersWait(m_parts, m_plan).Wait(judge, std::nullopt, StepsAfterIndex(), peers);
}

Result<bool> OwnSync::JoinSurvey(BlockSurvey& survey)
{
    std::vector<const HeaderNode*> there;
    for (const SurveyedBlock& block : survey.Blocks()) there.push_back(block.node);
    std::sort(there.begin(), there.end());
    const auto has = [&](const HeaderNode& node) {
        return std::binary_search(there.begin(), there.end(), &node);
    };
    const int64_t now = m_parts.env.UnixTime();
    const bool full = m_parts.Booster().full_validation;
    const ChainManagerOptions& trust = m_parts.chain->Options();
    const HeaderNode* terminal = FindOwnTerminal(survey.Tree(), trust, full, now, has).terminal;
    const HintsStanding reach = FindOwnTerminal(survey.Tree(), trust, full, now, nullptr);
    // Missing blocks may come from peers, once there is an index.
    if (!terminal || terminal != reach.terminal) return false;
    Start start;
    {
        IBD_ASSIGN_OR_RETURN(const auto kept, m_parts.kept.OwnHints());
        const HeaderNode* const begun = PreferKept(kept, terminal);
        if (begun && kept->hints) return false;
        if (begun) terminal = begun;
        start.begun = begun != nullptr;
        start.pairs = begun && kept->pairs;
    }
    ReindexSupply supply(m_parts.env, m_parts.log, m_parts.Blocks(), survey, *terminal);
    IBD_RETURN_IF_ERROR(supply.Begin(kNoneFolded));
    const SyncPlan::BlockBytes bytes{.stored = supply.BytesToFold()};
    if (!m_parts.IsAsked() && !start.begun && !IsWorthIt(bytes)) return false;
    if (!start.begun) LookForRoom(start, bytes);
    return JoinSurveyTo(*terminal, survey, supply, start);
}

} // namespace ibd
