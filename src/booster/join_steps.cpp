// See join_steps.h.
#include "booster/join_steps.h"

#include "booster/block_refetch.h"

namespace ibd {

Result<JoinVerdict> JoinSteps::WithBlocks(const HeaderNode& terminal, BlockFetcher* peers,
                                          const JoinBesides& besides, const Join& join)
{
    if (!peers) {
        FileBlockSupply supply(m_parts.env, m_parts.Blocks(), terminal, PlanOrder::OfChain(),
                               &m_parts.log);
        return join(supply);
    }
    IBD_RETURN_IF_ERROR(BlockRefetch(m_parts).FetchRead(terminal, *peers));
    if (m_parts.watch.IsInterrupted()) return InterruptedVerdict();
    const Path place = m_parts.BlocksDir();
    const uint64_t all = static_cast<uint64_t>(terminal.height) * m_plan.UsualBlockBytes();
    uint64_t rest = 0;
    for (const RoomNeed& need : OwnHintsRoom(m_parts.Booster(), place, all, besides)) {
        const Path there = ExistingFolder(m_parts.env, need.place);
        if (m_parts.env.SameFileSystem(there, place)) rest += need.bytes;
    }
    m_plan.WarnIfRoomIsShort(terminal, rest);
    ChainKeeper keeper(*m_parts.chain);
    PeerBlockSupply supply(m_parts.env, m_parts.Blocks(), terminal, keeper, *peers);
    supply.LogTo(m_parts.log);
    supply.Expect(m_plan.Expect(terminal));
    m_parts.watch.ShowSupply(&supply);
    auto verdict = join(supply);
    peers->StopFetching();
    m_parts.watch.ShowSupply(nullptr);
    return verdict;
}

Result<VerdictKind> JoinSteps::NoRoom(const Verdict& verdict)
{
    if (m_parts.IsAsked() || m_parts.Booster().full_validation || m_parts.hints) {
        return SystemError("{}", verdict.reason);
    }
    m_parts.log.Warning("IBD Booster: {}; unfinished work is removed: validating serially",
                        verdict.reason);
    IBD_RETURN_IF_ERROR(CleanUp(false));
    return VerdictKind::kSerial;
}

VerdictKind JoinSteps::GiveUp(const HeaderNode& terminal, const Verdict& verdict)
{
    const bool undecided = verdict.kind == VerdictKind::kUndecided;
    CHECK(undecided || verdict.kind == VerdictKind::kBlockInvalid);
    const std::string block = fmt::format("block at height {} is invalid: ", verdict.height);
    m_parts.log.Error("IBD Booster: {}{}; {}", undecided ? "" : block, verdict.reason,
                      m_parts.FallbackText());
    m_parts.watch.ShowRefusal(terminal, verdict.reason);
    return VerdictKind::kSerial;
}

Result<> JoinSteps::CleanUp(bool keep_pairs)
{
    const unsigned parts = KeptWork::kOwnHints | KeptWork::kMark;
    return m_parts.kept.Discard(keep_pairs ? parts : parts | KeptWork::kPairs);
}

Result<> JoinSteps::CleanUpAfter(VerdictKind end)
{
    return CleanUp(end == VerdictKind::kDone && m_parts.options.own.undo != UndoWanted::kNo);
}

} // namespace ibd
