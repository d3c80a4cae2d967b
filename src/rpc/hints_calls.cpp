// See hints_calls.h.
#include "rpc/hints_calls.h"

#include "booster/live_supply.h"
#include "join/join_state.h"
#include "join/spend_join.h"
#include "jsonrpc/json.h"
#include "rpc/new_file.h"
#include "swiftsync/checkpoint.h"
#include "util/hex.h"
#include "util/strings.h"

#include <memory>
#include <mutex>

namespace ibd {

namespace {

/** The block at the requested height, else the tip. */
const HeaderNode& TerminalBlock(const ChainReader& chain, const RpcCall& call)
{
    const int64_t height = call.Int(1, chain.Tip()->height);
    if (height < 0 || height > chain.Tip()->height) {
        ThrowRpc(RpcCode::kInvalidParameter, "Block height out of range");
    }
    if (height == 0) ThrowRpc(RpcCode::kInvalidParameter, "Hints begin with the block at height 1");
    return *chain.Active()[static_cast<int>(height)];
}

UniValue ToJson(const JoinTotals& totals, const HintsInfo& hints, const HeaderNode& terminal)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("outputs", Num(totals.outputs));
    out.pushKV("unspent", Num(totals.unspent));
    out.pushKV("base_hash", terminal.hash.ToHex());
    out.pushKV("base_height", Num(terminal.height));
    out.pushKV("path", hints.path.string());
    out.pushKV("size", Num(hints.file_size));
    out.pushKV("hintsid", ToHex(hints.id.Span()));
    return out;
}

UniValue DumpTxOutHints(const ChainContext& context, Logger& log, const JoinOptions& options,
                        const HintsMade& on_made, const RpcCall& call, std::mutex& at_work)
{
    // A second call would write to the same folder, and possibly to the same file.
    const std::unique_lock alone(at_work, std::try_to_lock);
    if (!alone) ThrowRpc(RpcCode::kMisc, "Hints are being made for another call");
    const ChainManager& chain = context.Chain();
    const NewFile file(context, call.String(0));
    const HeaderNode& terminal = TerminalBlock(chain.Read(), call);
    const UnfinishedFile claimed = ClaimUnfinished(context, file.incomplete);
    const UnfinishedFile beside = ClaimUnfinished(context, file.incomplete.string() + ".gaps");
    LiveSupply supply(context.env, chain, terminal, PlanOrder::OfChain());
    auto result = GenerateHints(context.env, log, chain.Params(), terminal, supply, options,
                                context.interrupt, file.path, HintsFormat::kContainer);
    const GeneratedHints made = OrThrow(std::move(result));
    if (made.verdict.kind == JoinVerdict::Kind::kInterrupted) {
        throw RpcError{RpcCode::kMisc, "Shutting down"};
    }
    if (made.verdict.kind != JoinVerdict::Kind::kDone) {
        throw RpcError{RpcCode::kMisc, made.verdict.reason};
    }
    const auto hints = OrThrow(OpenHints(context.env, file.path));
    on_made(*hints, terminal.hash);
    return ToJson(made.verdict.totals, hints->Info(), terminal);
}

/** Whether a call for this height, now or once the chain has reached it, is for the state's block.
 */
bool IsToBeHad(const ChainManager& chain, const JoinState& state)
{
    const ChainReader reader = chain.Read();
    const HeaderNode* const node = reader.Find(state.terminal_hash);
    if (!node || node->Failed()) return false;
    if (reader.Active().Contains(node)) return true;
    // The chainstate is being rebuilt, or blocks are still to be connected.
    return (!chain.Tip() || chain.Tip()->height < node->height) &&
           reader.Tree().BestHeader()->Ancestor(node->height) == node;
}

/** The reason why no call can resume it; empty: one can. */
std::string WhyUseless(const ChainManager& chain, const Result<std::optional<JoinState>>& state)
{
    if (!state) return state.Message();
    if (!*state) return "it had only begun";
    if ((*state)->stage != JoinStage::kReading) return "it is not of hints";
    if (IsToBeHad(chain, **state)) return "";
    return fmt::format("block {} is not on the chain any more", (*state)->terminal_hash.ToHex());
}

} // namespace

Result<> CleanUpUnfinishedHints(Env& env, Logger& log, const ChainManager& chain,
                                const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const auto bytes, BytesOfJoin(env, directory));
    if (!bytes) return {};
    const auto lock = LockBooster(env, directory);
    if (!lock) return {}; // another node works there
    const auto state = LoadJoinState(env, directory);
    if (!state && state.GetError().kind == Error::Kind::kSystem) return state.GetError();
    const std::string useless = WhyUseless(chain, state);
    if (!useless.empty()) {
        log.Warning("dumptxouthints: removing the unfinished work of a call in '{}' ({}), which "
                    "no call can resume: {}",
                    directory.string(), FormatBytes(*bytes), useless);
        return RemoveJoin(env, directory);
    }
    log.Warning("dumptxouthints: '{}' has unfinished work of a call for height {} ({}): a call for "
                "that height resumes it, one for another height removes it",
                directory.string(), (*state)->terminal_height, FormatBytes(*bytes));
    return {};
}

void AddHintsMethods(RpcTable& table, const ChainContext& context, Logger& log,
                     const JoinOptions& options, const HintsMade& made)
{
    table.Add(
        {"blockchain",
         "dumptxouthints",
         "Makes a hints file for the IBD Booster from the stored blocks: which outputs are "
         "unspent at a block. All of the blocks up to it must be stored. Takes a while, in which "
         "the node goes on as usual; if it is stopped meanwhile, a call for the same height goes "
         "on where it was.",
         {WithCliForm({"path", RpcType::kString, true, "",
                       "The file; a relative path is below the data directory"},
                      CliForm::kFreeText),
          {"height", RpcType::kNumber, false, "the tip", "Height of the block"}},
         "{\n  \"outputs\": n,           (numeric) Outputs that the hints speak of\n"
         "  \"unspent\": n,           (numeric) Of these, unspent at the block\n"
         "  \"base_hash\": \"hex\",     (string) The block\n"
         "  \"base_height\": n,       (numeric) Its height\n"
         "  \"path\": \"str\",          (string) The file\n"
         "  \"size\": n,              (numeric) Its size in bytes\n"
         "  \"hintsid\": \"hex\"        (string) Identifies the hints, as getboosterinfo has it\n}",
         "main.hints\nmain.hints 850000",
         [&context, &log, options, made,
          at_work = std::make_shared<std::mutex>()](const RpcCall& call) {
             return DumpTxOutHints(context, log, options, made, call, *at_work);
         }});
}

} // namespace ibd
