// See hints_choice.h.
#include "node/hints_choice.h"

#include "node/file_hash.h"
#include "swiftsync/terminal.h"
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

Result<std::unique_ptr<Hints>> OpenChecked(Env& env, const ChainParams& params, const Path& path,
                                           const std::optional<Uint256>& hash)
{
    IBD_RETURN_IF_ERROR(CheckHash(env, path, hash));
    IBD_ASSIGN_OR_RETURN(auto hints, OpenHints(env, path));
    IBD_RETURN_IF_ERROR(CheckNetwork(hints->Info(), params));
    return hints;
}

bool IsBetter(const HintsInfo& a, const HintsInfo& b, const BlockHash& assumed_valid)
{
    const bool any = !assumed_valid.IsNull(); // -assumevalid=0: none is
    const bool a_at_end = any && a.terminal_hash == assumed_valid;
    const bool b_at_end = any && b.terminal_hash == assumed_valid;
    return a_at_end != b_at_end ? a_at_end : a.terminal_height > b.terminal_height;
}

} // namespace

Result<Uint256> HashOfFile(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(FileHash hash, FileHash::Open(env, path));
    return hash.Finish();
}

Result<std::unique_ptr<Hints>> ChooseHints(Env& env, Logger& log, const ChainParams& params,
                                           const HintsChoice& choice,
                                           const BlockHash& assumed_valid)
{
    if (choice.file) return OpenChecked(env, params, *choice.file, choice.hash);
    std::unique_ptr<Hints> best;
    if (!choice.folder) return best;
    if (!env.Exists(*choice.folder)) {
        log.Info("IBD Booster: there is no folder {}: no hints", choice.folder->string());
        return best;
    }
    IBD_ASSIGN_OR_RETURN(auto names, env.List(*choice.folder));
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
        if (Path(name).extension() == kHintsPartExtension) continue;
        auto hints = OpenChecked(env, params, *choice.folder / name, choice.hash);
        if (!hints) {
            log.Info("IBD Booster: left out: {}", hints.Message());
        } else if (!best || IsBetter((*hints)->Info(), best->Info(), assumed_valid)) {
            best = std::move(hints).Value();
        }
    }
    if (!best) log.Info("IBD Booster: no hints in {}", choice.folder->string());
    return best;
}

} // namespace ibd
