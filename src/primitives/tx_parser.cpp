// See tx_parser.h.
#include "primitives/tx_parser.h"

namespace ibd {

namespace {

constexpr uint8_t kWitnessFlag = 1;
constexpr size_t kMarkerAndFlag = 2;

size_t ReadInputs(Reader& reader, std::vector<InputView>& inputs)
{
    const size_t count = reader.Count(kMinInputSize);
    for (size_t i = 0; i < count && reader.Ok(); ++i) {
        InputView& input = inputs.emplace_back();
        input.prevout_bytes = reader.Span(36).data();
        input.script_sig = reader.VarBytes();
        input.sequence = reader.U32();
    }
    return count;
}

size_t ReadOutputs(Reader& reader, std::vector<OutputView>& outputs)
{
    const size_t count = reader.Count(kMinOutputSize);
    for (size_t i = 0; i < count && reader.Ok(); ++i) {
        OutputView& output = outputs.emplace_back();
        output.value = reader.I64();
        output.script_pubkey = reader.VarBytes();
    }
    return count;
}

/** Returns whether any of the inputs has a stack item. */
bool ReadWitnesses(Reader& reader, std::span<InputView> inputs)
{
    bool any = false;
    for (InputView& input : inputs) {
        const size_t items = reader.Count(1);
        const size_t start = reader.Position();
        for (size_t i = 0; i < items && reader.Ok(); ++i) reader.VarBytes();
        input.witness_items = static_cast<uint32_t>(items);
        input.witness = reader.Since(start);
        any |= items != 0;
    }
    return any;
}

} // namespace

const char* ParseTx(Reader& reader, bool allow_witness, std::vector<InputView>& inputs,
                    std::vector<OutputView>& outputs, TxView& tx)
{
    const size_t start = reader.Position();
    const size_t first_input = inputs.size(), first_output = outputs.size();
    tx.version = reader.U32();

    // Zero inputs mark the extended form: a flag byte follows, then the real inputs. A zero flag is
    // instead the output count of a transaction without inputs and outputs.
    uint8_t flags = 0;
    bool has_outputs = true;
    if (ReadInputs(reader, inputs) == 0 && reader.Ok() && allow_witness) {
        flags = reader.U8();
        has_outputs = flags != 0;
        if (has_outputs) ReadInputs(reader, inputs);
    }
    if (has_outputs) ReadOutputs(reader, outputs);
    const size_t outputs_end = reader.Position();

    tx.inputs = std::span(inputs).subspan(first_input);
    tx.outputs = std::span(outputs).subspan(first_output);
    if (flags & kWitnessFlag) {
        const bool any = ReadWitnesses(reader, std::span(inputs).subspan(first_input));
        if (reader.Ok() && !any) return "Superfluous witness record";
    }
    if (reader.Ok() && (flags & ~kWitnessFlag)) return "Unknown transaction optional data";
    tx.lock_time = reader.U32();
    if (!reader.Ok()) return reader.Fault();

    tx.has_witness = flags != 0;
    tx.raw = reader.Since(start);
    const size_t base = outputs_end - start + sizeof(tx.lock_time);
    tx.stripped_size = static_cast<uint32_t>(base - (tx.has_witness ? kMarkerAndFlag : 0));
    return nullptr;
}

} // namespace ibd
