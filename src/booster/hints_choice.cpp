// See hints_choice.h.
#include "booster/hints_choice.h"

#include "booster/file_hash.h"
#include "hints/swifthints.h"
#include "swiftsync/terminal.h"
#include "util/found.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

Result<> CheckHash(Env& env, const Path& path, const std::optional<Uint256>& wanted)
{
    if (!wanted) return {};
    IBD_ASSIGN_OR_RETURN(const Uint256 found, HashOfFile(env, path));
    if (found == *wanted) return {};
    return BadData("hints file {} has SHA-256 {}, not {} as -ibdboosterhash says", path.string(),
                   ToHex(found.Span()), ToHex(wanted->Span()));
}

/** swifthints, or the container converted from them before. */
Result<ChosenHints> OpenSwifthints(Env& env, Logger& log, const ChainParams& params,
                                   const Path& path, const Path& folder)
{
    ChosenHints chosen;
    IBD_ASSIGN_OR_RETURN(const auto reader, SwifthintsReader::Open(env, path));
    IBD_ASSIGN_OR_RETURN(const Uint256 hash, HashOfFile(env, path));
    const Path container =
        folder / fmt::format("{}{}.hints", kConvertedHints, ToHex(hash.Span()));
    chosen.waiting = WaitingHints{reader->Info(), container};
    if (!env.Exists(container)) return chosen;
    auto made = OpenHints(env, container, HintsFormat::kContainer);
    IBD_RETURN_IF_SYSTEM_ERROR(made);
    if (made && CheckNetwork((*made)->Info(), params)) {
        chosen.hints = std::move(*made);
        chosen.waiting.reset();
    } else {
        log.Info("IBD Booster: to be made anew: {}", container.string());
    }
    return chosen;
}

Result<ChosenHints> OpenChecked(Env& env, Logger& log, const ChainParams& params, const Path& path,
                                const HintsChoice& choice)
{
    IBD_RETURN_IF_ERROR(CheckHash(env, path, choice.hash));
    IBD_ASSIGN_OR_RETURN(const bool swifthints, IsSwifthints(env, path));
    if (swifthints) return OpenSwifthints(env, log, params, path, choice.converted);
    ChosenHints chosen;
    IBD_ASSIGN_OR_RETURN(chosen.hints, OpenHints(env, path));
    IBD_RETURN_IF_ERROR(CheckNetwork(chosen.hints->Info(), params));
    return chosen;
}

bool IsBetter(const HintsInfo& a, const HintsInfo& b, const BlockHash& assumed_valid)
{
    const bool any = !assumed_valid.IsNull(); // -assumevalid=0: no block is assumed valid
    const bool a_at_end = any && a.terminal_hash == assumed_valid;
    const bool b_at_end = any && b.terminal_hash == assumed_valid;
    return a_at_end != b_at_end ? a_at_end : a.terminal_height > b.terminal_height;
}

/** The best hints of a folder so far. */
struct RankedHints {
    std::unique_ptr<Hints> hints;
    HintsRank rank = HintsRank::kRefused;
};

Result<> TakeIfBetter(std::unique_ptr<Hints> hints, const HintsChoice& choice,
                      const BlockHash& assumed_valid, RankedHints& best)
{
    HintsRank rank = HintsRank::kUsual;
    if (choice.rank) {
        IBD_ASSIGN_OR_RETURN(rank, choice.rank(hints->Info()));
    }
    if (rank < best.rank || rank == HintsRank::kRefused) return {};
    if (rank == best.rank && !IsBetter(hints->Info(), best.hints->Info(), assumed_valid)) return {};
    best = {std::move(hints), rank};
    return {};
}

void TakeIfBetter(const WaitingHints& waiting, std::optional<WaitingHints>& best)
{
    if (!best || waiting.info.terminal_height > best->info.terminal_height) best = waiting;
}

} // namespace

Result<Uint256> HashOfFile(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(FileHash hash, FileHash::Open(env, path));
    return hash.Finish();
}

Result<ChosenHints> ChooseHints(Env& env, Logger& log, const ChainParams& params,
                                const HintsChoice& choice, const BlockHash& assumed_valid)
{
    if (choice.file) return OpenChecked(env, log, params, *choice.file, choice);
    ChosenHints best;
    if (!choice.folder) return best;
    if (!env.Exists(*choice.folder)) {
        log.Info("IBD Booster: there is no folder {}: no hints", choice.folder->string());
        return best;
    }
    IBD_ASSIGN_OR_RETURN(auto names, env.List(*choice.folder));
    std::sort(names.begin(), names.end());
    RankedHints ranked;
    for (const std::string& name : names) {
        if (name.find(kHintsPartExtension) != name.npos) continue; // also skips files next to one
        auto opened = OpenChecked(env, log, params, *choice.folder / name, choice);
        if (!opened) {
            log.Info("IBD Booster: left out: {}", opened.Message());
        } else if (opened->waiting) {
            TakeIfBetter(*opened->waiting, best.waiting);
        } else {
            IBD_RETURN_IF_ERROR(
                TakeIfBetter(std::move(opened->hints), choice, assumed_valid, ranked));
        }
    }
    best.hints = std::move(ranked.hints);
    if (best.hints) best.waiting.reset();
    if (!best.hints && !best.waiting) {
        log.Info("IBD Booster: no hints in {}", choice.folder->string());
    }
    return best;
}

} // namespace ibd
