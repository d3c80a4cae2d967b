// See convert_hints.h.
#include "swiftsync/convert_hints.h"

namespace ibd {

namespace {

/** The genesis block of every network: one transaction with one output. */
constexpr std::array<uint32_t, 1> kGenesisShape = {1};

/** Renumbers the slot's hints, read from `file`, to all or to spendable outputs. */
Result<> Renumber(uint32_t height, const FoldRules& rules, const HintsInfo& file, HintsCounting to,
                  BlockSlot& slot)
{
    const HintsCounting from = file.counting;
    uint32_t in = 0;
    uint32_t out = 0;
    size_t next = 0;
    const auto& unspent = slot.hints.unspent;
    std::optional<Error> wrong;
    slot.unspent.clear();
    ForEachOutput(slot.view, height, rules, [&](const TxView& tx, uint32_t vout, bool spendable) {
        const bool hinted = (from == HintsCounting::kAll || spendable) && next < unspent.size() &&
                            unspent[next] == in;
        if (from == HintsCounting::kAll || spendable) ++in;
        if (hinted) ++next;
        if (hinted && spendable) slot.unspent.push_back(out);
        if (hinted && !spendable && to == HintsCounting::kSpendable &&
            !rules.IsOverwritten(height)) {
            wrong = BadData("hints file {}: marks the unspendable output {}:{} of block {} as "
                            "unspent: damaged, or made from other blocks",
                            file.path.string(), tx.txid.ToHex(), vout, height);
        }
        if (to == HintsCounting::kAll || spendable) ++out;
    });
    if (wrong) return *wrong;
    if (next != unspent.size() || slot.hints.outputs.value_or(in) != in) {
        return BadData("hints file {}: of block {} it is for another number of outputs than its {}",
                       file.path.string(), height, in);
    }
    slot.outputs = out;
    return {};
}

void TakeShape(const BlockView& block, std::vector<uint32_t>& shape)
{
    shape.clear();
    for (const TxView& tx : block.Txs()) shape.push_back(static_cast<uint32_t>(tx.outputs.size()));
}

} // namespace

Result<> HintsSink::Start(Env& env, const Path& path)
{
    if (hints_target.format == HintsFormat::kSwifthints) {
        IBD_ASSIGN_OR_RETURN(auto file, env.OpenWrite(path, true));
        swifthints = std::make_unique<SwifthintsWriter>(std::move(file));
        return swifthints->Add(0, kGenesisShape, {});
    }
    IBD_ASSIGN_OR_RETURN(hints, StartHintsFile(env, path, hints_target));
    return FirstHeight(hints_target.format) == 0 ? hints->Add(0, 1, {}) : Result<>();
}

Result<> HintsSink::Add(uint32_t height, const BlockSlot& slot, BlockShape shape)
{
    if (swifthints) return swifthints->Add(height, shape, slot.unspent);
    return hints->Add(height, slot.outputs, slot.unspent);
}

Result<bool> ConvertBeside(const BlockWalk& blocks, const HintsSource& source, HintsSink& target,
                           const std::function<bool(uint32_t height)>& progress)
{
    const HintsCounting to = CountingOf(target.hints_target.format);
    const FoldRules rules = blocks.Rules(to);
    std::vector<uint32_t> shape;
    if (source.swifthints) {
        BlockHints none;
        IBD_RETURN_IF_ERROR(source.swifthints->Next(kGenesisShape, none));
    }
    bool stopped = false;
    const Result<> walked = blocks.ForEach(
        1,
        [&](uint32_t height, BlockSlot& slot) -> Result<> {
            if (!source.hints) return {};
            IBD_RETURN_IF_ERROR(source.hints->Read(height, slot.hints));
            return Renumber(height, rules, source.Info(), to, slot);
        },
        [&](uint32_t height, BlockSlot& slot) -> Result<> {
            TakeShape(slot.view, shape);
            if (source.swifthints) {
                IBD_RETURN_IF_ERROR(source.swifthints->Next(shape, slot.hints));
                IBD_RETURN_IF_ERROR(Renumber(height, rules, source.Info(), to, slot));
            }
            stopped = !progress(height);
            if (stopped) return SystemError("stopped");
            return target.Add(height, slot, shape);
        });
    if (stopped) return false;
    if (!walked) return walked.GetError();
    return true;
}

} // namespace ibd
