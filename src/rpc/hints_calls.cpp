// See hints_calls.h.
#include "rpc/hints_calls.h"

#include "booster/live_supply.h"
#include "join/spend_join.h"
#include "jsonrpc/json.h"
#include "rpc/new_file.h"
#include "util/hex.h"

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
    LiveSupply supply(context.env, log, chain, terminal, PlanOrder::OfChain());
    auto result = GenerateHints(context.env, log, chain.Params(), terminal, supply, options,
                                context.interrupt, file.path, HintsFormat::kContainer);
    const GeneratedHints made = OrThrow(std::move(result));
    if (made.verdict.kind == VerdictKind::kInterrupted) {
        throw RpcError{RpcCode::kMisc, "Shutting down"};
    }
    if (made.verdict.kind != VerdictKind::kDone) {
        throw RpcError{RpcCode::kMisc, made.verdict.reason};
    }
    const auto hints = OrThrow(OpenHints(context.env, file.path));
    on_made(*hints, terminal.hash);
    return ToJson(made.verdict.totals, hints->Info(), terminal);
}

} // namespace

void AddHintsMethods(RpcTable& table, const ChainContext& context, Logger& log,
                     const JoinOptions& options, const HintsMade& made)
{
    table.Add(
        {"blockchain",
         "dumptxouthints",
         "Makes a hints file for the IBD Booster from the stored blocks. It says which outputs are "
         "unspent after a block; all blocks up to it must be stored. The call may take hours; the "
         "node works as usual meanwhile. If the node stops, a later call for the same height "
         "continues.",
         {WithCliForm({"path", RpcType::kString, true, "",
                       "The file; a relative path is below the data directory"},
                      CliForm::kFreeText),
          {"height", RpcType::kNumber, false, "the tip",
           "Height of the block. Other nodes can use the file at once if it is at or below the "
           "assumed-valid block and 2,016 blocks are above it"}},
         "{\n  \"outputs\": n,           (numeric) Outputs that the hints cover\n"
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
