// getboosterinfo: the progress of the IBD Booster.
#include "booster/snapshot_session.h"
#include "index/indexes.h"
#include "jsonrpc/json.h"
#include "rpc/blockchain.h"
#include "util/hex.h"

namespace ibd {

namespace {

UniValue ToJson(const DownloadProgress& download)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("peers", static_cast<int>(download.peers));
    const auto number = [&](const char* key, uint64_t value) {
        out.pushKV(key, Num(static_cast<int64_t>(value)));
    };
    number("blocks", download.blocks);
    number("received", download.received);
    number("bytes", download.bytes);
    number("rate", static_cast<uint64_t>(download.bytes_per_second));
    return out;
}

UniValue ToJson(const OwnHintsProgress& join)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("phase", join.phase);
    out.pushKV("bytes", Num(join.bytes));
    out.pushKV("totalbytes", Num(join.total_bytes));
    out.pushKV("partitions", Num(join.partitions));
    out.pushKV("joined", Num(join.joined));
    out.pushKV("rate", Num(static_cast<uint64_t>(join.bytes_per_second)));
    if (join.seconds_left) out.pushKV("timeleft", Num(*join.seconds_left));
    return out;
}

UniValue ToJson(const UndoProgress& undo)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("phase", undo.phase);
    out.pushKV("height", undo.height);
    out.pushKV("terminalheight", undo.terminal_height);
    out.pushKV("bytes", Num(undo.bytes));
    out.pushKV("totalbytes", Num(undo.total_bytes));
    out.pushKV("partitions", Num(undo.partitions));
    out.pushKV("joined", Num(undo.joined));
    if (undo.seconds_left) out.pushKV("timeleft", Num(*undo.seconds_left));
    return out;
}

UniValue ToJson(const ProofProgress& proof)
{
    UniValue out(UniValue::VOBJ);
    out.pushKV("phase", proof.phase);
    out.pushKV("terminalheight", proof.terminal_height);
    out.pushKV("folded", Num(proof.blocks));
    out.pushKV("bytes", Num(proof.bytes));
    out.pushKV("totalbytes", Num(proof.total_bytes));
    out.pushKV("rate", Num(static_cast<uint64_t>(proof.bytes_per_second)));
    if (proof.seconds_left) out.pushKV("timeleft", Num(*proof.seconds_left));
    if (proof.download) out.pushKV("download", ToJson(*proof.download));
    return out;
}

/** The counts of a fold, which are meaningless before it has begun. */
void PushFold(UniValue& out, const FoldProgress& progress)
{
    const auto number = [&](const char* key, uint64_t value) {
        out.pushKV(key, Num(static_cast<int64_t>(value)));
    };
    out.pushKV("aggregate", AggregateKindName(progress.aggregate));
    out.pushKV("threads", static_cast<int>(progress.threads));
    number("folded", progress.blocks);
    number("resumed", progress.resumed_blocks);
    number("outputs", progress.outputs);
    number("inputs", progress.inputs);
    number("bytes", progress.bytes);
    number("totalbytes", progress.total_bytes);
    number("coins", progress.coins);
    number("coinsexpected", progress.coins_expected);
    number("coinsloaded", progress.coins_loaded);
    number("diskbytes", progress.disk_bytes);
    number("diskneeded", progress.disk_bytes_needed);
    number("rate", static_cast<uint64_t>(progress.bytes_per_second));
    number("loadrate", static_cast<uint64_t>(progress.coins_per_second));
    number("elapsed", static_cast<uint64_t>(progress.seconds_elapsed));
}

UniValue ToJson(const BoosterProgress& progress, const std::optional<OverallProgress::Figure>& work)
{
    const FoldProgress& fold = progress.fold;
    UniValue terminal(UniValue::VOBJ);
    terminal.pushKV("height", fold.terminal_height);
    terminal.pushKV("hash", fold.terminal_hash.ToHex());
    const bool has_fold = fold.threads > 0;
    UniValue out(UniValue::VOBJ);
    out.pushKV("state", progress.StateName());
    if (fold.terminal_height > 0) out.pushKV("terminalblock", terminal);
    if (!fold.hints_id.IsNull()) out.pushKV("hintsid", ToHex(fold.hints_id.Span()));
    out.pushKV("fullvalidation", fold.full_validation);
    if (has_fold) PushFold(out, fold);
    if (fold.memory_bytes > 0) out.pushKV("memory", Num(fold.memory_bytes));
    if (work) PushOverall(out, *work);
    if (progress.headers >= 0) out.pushKV("headers", progress.headers);
    if (progress.download) out.pushKV("download", ToJson(*progress.download));
    if (progress.join) out.pushKV("join", ToJson(*progress.join));
    if (progress.undo) out.pushKV("undo", ToJson(*progress.undo));
    if (has_fold || !fold.verdict.empty()) out.pushKV("verdict", fold.verdict);
    return out;
}

/** The progress of the indexes that are not at the tip. */
UniValue IndexesOnTheWay(const Indexes* indexes)
{
    UniValue out(UniValue::VOBJ);
    if (!indexes) return out;
    for (const IndexSummary& summary : indexes->Summaries()) {
        if (summary.blocks_left == 0) continue;
        const double all = summary.height + summary.blocks_left;
        UniValue one(UniValue::VOBJ);
        one.pushKV("height", summary.height);
        one.pushKV("blocksleft", summary.blocks_left);
        one.pushKV("progress", summary.built.value_or(all > 0 ? summary.height / all : 0.0));
        if (summary.seconds_left) one.pushKV("timeleft", Num(*summary.seconds_left));
        out.pushKV(summary.name, one);
    }
    return out;
}

UniValue WithoutBooster(const std::optional<OverallProgress::Figure>& work)
{
    const bool converts = work && work->kind == WorkStep::kConvertHints;
    UniValue off(UniValue::VOBJ);
    off.pushKV("state", converts ? "converting" : "off");
    if (work) PushOverall(off, *work);
    return off;
}

constexpr const char* kResult =
    "{\n"
    "  \"state\" : \"str\",          (string) off, converting, idle, waiting, joining, validating, "
    "folding, judging, loading, publishing, accepted, refused\n"
    "  \"terminalblock\" : {...},  (json object) height and hash of the block at which the hints "
    "end\n"
    "  \"hintsid\" : \"hex\",        (string) identifies the hints, as soon as they are known\n"
    "  \"fullvalidation\" : b,     (boolean) every rule and script is checked\n"
    "  \"aggregate\" : \"str\",      (string) sha256 or muhash; this and the next fields up to "
    "elapsed exist once blocks are folded\n"
    "  \"threads\" : n,            (numeric)\n"
    "  \"folded\" : n,             (numeric) blocks done, earlier syncs included\n"
    "  \"resumed\" : n,            (numeric) of these, done by earlier syncs\n"
    "  \"outputs\" : n,            (numeric) outputs folded\n"
    "  \"inputs\" : n,             (numeric) inputs folded\n"
    "  \"bytes\" : n,              (numeric) bytes of blocks folded\n"
    "  \"totalbytes\" : n,         (numeric) bytes of all blocks, estimated\n"
    "  \"coins\" : n,              (numeric) unspent outputs so far\n"
    "  \"coinsexpected\" : n,      (numeric) by the hints\n"
    "  \"coinsloaded\" : n,        (numeric) written to the chainstate\n"
    "  \"diskbytes\" : n,          (numeric) used by runs now\n"
    "  \"diskneeded\" : n,         (numeric) by runs and the new chainstate at the end, estimated\n"
    "  \"memory\" : n,             (numeric) bytes that the process occupies\n"
    "  \"rate\" : n,               (numeric) bytes of blocks folded per second\n"
    "  \"loadrate\" : n,           (numeric) coins written to the chainstate per second\n"
    "  \"elapsed\" : n,            (numeric) seconds\n"
    "  \"step\" : n,               (numeric) the current step of the work up to a chainstate and "
    "the blocks stored above it; present during this work only, like the next three\n"
    "  \"steps\" : n,              (numeric) in all\n"
    "  \"progress\" : n,           (numeric) share of all steps that is done, 0 to 1\n"
    "  \"timeleft\" : n,           (numeric) seconds to the end of all steps, estimated\n"
    "  \"headers\" : n,            (numeric) height of the best header, while the node waits for "
    "headers\n"
    "  \"download\" : {            (json object) while blocks come from peers\n"
    "    \"peers\" : n,            (numeric) connected\n"
    "    \"blocks\" : n,           (numeric) that were missing when it began\n"
    "    \"received\" : n,         (numeric) of these, received intact\n"
    "    \"bytes\" : n,            (numeric) of these\n"
    "    \"rate\" : n              (numeric) bytes of these per second\n"
    "  },\n"
    "  \"join\" : {                (json object) while the node makes hints of its own\n"
    "    \"phase\" : \"str\",        (string) reading, joining, checking or writing\n"
    "    \"bytes\" : n,            (numeric) of blocks read\n"
    "    \"totalbytes\" : n,       (numeric) of all blocks, estimated\n"
    "    \"partitions\" : n,       (numeric) in which outputs and spends are matched\n"
    "    \"joined\" : n,           (numeric) of these, done\n"
    "    \"rate\" : n,             (numeric) bytes of blocks read per second\n"
    "    \"timeleft\" : n          (numeric) seconds to the end of the phase, estimated; absent "
    "while unknown\n"
    "  },\n"
    "  \"undo\" : {                (json object) while undo data is made (-ibdboosterundo) or "
    "missing, or is used for full validation\n"
    "    \"phase\" : \"str\",        (string) waiting (for blocks to be connected), reading, "
    "joining, fetching, writing or failed\n"
    "    \"height\" : n,           (numeric) all blocks up to this height have undo data\n"
    "    \"terminalheight\" : n,   (numeric) the last block that will have it\n"
    "    \"bytes\" : n,            (numeric) of blocks read for the join\n"
    "    \"totalbytes\" : n,       (numeric) of all blocks, estimated\n"
    "    \"partitions\" : n,       (numeric) in which outputs and spends are matched\n"
    "    \"joined\" : n,           (numeric) of these, done\n"
    "    \"timeleft\" : n          (numeric) seconds to the end of the phase, estimated; absent "
    "while unknown\n"
    "  },\n"
    "  \"proof\" : {               (json object) while the history below a snapshot is not proven\n"
    "    \"phase\" : \"str\",        (string) waiting, sorting (the coins), folding (the blocks), "
    "naming (the first coin that differs) or failed\n"
    "    \"terminalheight\" : n,   (numeric) of the snapshot\n"
    "    \"folded\" : n,           (numeric) blocks, in any order\n"
    "    \"bytes\" : n,            (numeric) of these\n"
    "    \"totalbytes\" : n,       (numeric) of all blocks, estimated\n"
    "    \"rate\" : n,             (numeric) bytes of blocks per second\n"
    "    \"timeleft\" : n,         (numeric) seconds, estimated; absent while unknown\n"
    "    \"download\" : {          (json object) as above, if blocks are missing\n"
    "      \"peers\", \"blocks\", \"received\", \"bytes\", \"rate\"\n"
    "    }\n"
    "  },\n"
    "  \"verdict\" : \"str\",        (string) empty, accepted, or the reason why the hints were "
    "refused; absent until blocks are folded or there is a reason\n"
    "  \"indexes\" : {             (json object) the indexes that are not at the tip\n"
    "    \"name\" : {              (json object) as in getindexinfo\n"
    "      \"height\" : n,         (numeric) of its last block\n"
    "      \"blocksleft\" : n,     (numeric) up to the tip\n"
    "      \"progress\" : n,       (numeric) share of the blocks that it has, 0 to 1\n"
    "      \"timeleft\" : n        (numeric) seconds to the tip, estimated; absent while unknown\n"
    "    }, ...\n"
    "  },\n"
    "  \"verifier\" : \"str\"        (string) verifies the signatures of blocks up to the "
    "assumed-valid one, if their scripts run: avx512ifma or avx2 (in batches), or libsecp256k1; "
    "with -signaturelanes=check followed by \", compared with libsecp256k1\"\n"
    "}";

} // namespace

void PushOverall(UniValue& out, const OverallProgress::Figure& work)
{
    out.pushKV("step", Num(work.step));
    out.pushKV("steps", Num(work.steps));
    out.pushKV("progress", work.done);
    out.pushKV("timeleft", Num(work.seconds_left));
}

void AddBoosterMethods(RpcTable& table, const ChainContext& context,
                       std::function<std::optional<BoosterProgress>()> progress,
                       const OverallProgress& overall, const std::string& verifier)
{
    RpcMethod method{"blockchain",
                     "getboosterinfo",
                     "State of the IBD Booster: phase, progress and result.",
                     {},
                     kResult,
                     "",
                     [&context, progress = std::move(progress), &overall,
                      verifier](const RpcCall&) {
                         const auto now = progress();
                         const auto work = overall.Now();
                         UniValue out = now ? ToJson(*now, work) : WithoutBooster(work);
                         const auto proof = context.snapshots ? context.snapshots->Proof()
                                                              : std::nullopt;
                         if (proof) out.pushKV("proof", ToJson(*proof));
                         out.pushKV("indexes", IndexesOnTheWay(context.indexes));
                         out.pushKV("verifier", verifier);
                         return out;
                     }};
    method.since = RpcPhase::kStart;
    table.Add(std::move(method));
}

} // namespace ibd
