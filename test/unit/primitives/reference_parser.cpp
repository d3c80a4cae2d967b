// See reference_parser.h.
#include "reference_parser.h"

#include <stdexcept>

namespace ibd::test {

namespace {

struct Malformed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Stream {
public:
    explicit Stream(ByteSpan bytes) : m_rest(bytes.begin(), bytes.end()) {}

    Bytes Take(uint64_t n)
    {
        if (n > m_rest.size() - m_next) throw Malformed("end of data");
        Bytes out(m_rest.begin() + static_cast<ptrdiff_t>(m_next),
                  m_rest.begin() + static_cast<ptrdiff_t>(m_next + n));
        m_next += n;
        return out;
    }
    uint64_t Number(int bytes)
    {
        uint64_t value = 0;
        int shift = 0;
        for (const uint8_t byte : Take(static_cast<uint64_t>(bytes))) {
            value |= uint64_t{byte} << shift;
            shift += 8;
        }
        return value;
    }
    uint64_t Size()
    {
        uint64_t value = Number(1);
        if (value == 253) {
            value = Number(2);
            if (value < 253) throw Malformed("non-canonical size");
        } else if (value == 254) {
            value = Number(4);
            if (value < 65536) throw Malformed("non-canonical size");
        } else if (value == 255) {
            value = Number(8);
            if (value < 4294967296) throw Malformed("non-canonical size");
        }
        if (value > 33554432) throw Malformed("size too large");
        return value;
    }
    Bytes String() { return Take(Size()); }
    bool Empty() const { return m_next == m_rest.size(); }

private:
    Bytes m_rest;
    size_t m_next = 0;
};

std::vector<MutableInput> Inputs(Stream& in)
{
    std::vector<MutableInput> out;
    for (uint64_t n = in.Size(); n > 0; --n) {
        MutableInput input;
        input.prevout.txid = Txid::FromBytes(in.Take(32).data());
        input.prevout.vout = static_cast<uint32_t>(in.Number(4));
        input.script_sig = in.String();
        input.sequence = static_cast<uint32_t>(in.Number(4));
        out.push_back(input);
    }
    return out;
}

std::vector<MutableOutput> Outputs(Stream& in)
{
    std::vector<MutableOutput> out;
    for (uint64_t n = in.Size(); n > 0; --n) {
        MutableOutput output;
        output.value = static_cast<Amount>(in.Number(8));
        output.script_pubkey = in.String();
        out.push_back(output);
    }
    return out;
}

bool Witnesses(Stream& in, std::vector<MutableInput>& inputs)
{
    bool any = false;
    for (MutableInput& input : inputs) {
        for (uint64_t n = in.Size(); n > 0; --n) {
            input.witness.push_back(in.String());
            any = true;
        }
    }
    return any;
}

MutableTransaction Tx(Stream& in, bool allow_witness)
{
    MutableTransaction tx;
    tx.version = static_cast<uint32_t>(in.Number(4));
    tx.inputs = Inputs(in);
    uint64_t flags = 0;
    if (tx.inputs.empty() && allow_witness) {
        flags = in.Number(1);
        if (flags != 0) {
            tx.inputs = Inputs(in);
            tx.outputs = Outputs(in);
        }
    } else {
        tx.outputs = Outputs(in);
    }
    if (flags & 1) {
        flags -= 1;
        if (!Witnesses(in, tx.inputs)) throw Malformed("superfluous witness");
    }
    if (flags != 0) throw Malformed("unknown flag");
    tx.lock_time = static_cast<uint32_t>(in.Number(4));
    return tx;
}

} // namespace

std::optional<MutableTransaction> ReferenceParseTx(ByteSpan raw, bool allow_witness)
{
    try {
        Stream in(raw);
        MutableTransaction tx = Tx(in, allow_witness);
        if (!in.Empty()) return std::nullopt;
        return tx;
    } catch (const Malformed&) {
        return std::nullopt;
    }
}

std::optional<ReferenceBlock> ReferenceParseBlock(ByteSpan raw)
{
    try {
        Stream in(raw);
        ReferenceBlock block;
        block.header = in.Take(80);
        for (uint64_t n = in.Size(); n > 0; --n) block.txs.push_back(Tx(in, true));
        return block;
    } catch (const Malformed&) {
        return std::nullopt;
    }
}

bool SameTransaction(const MutableTransaction& a, const MutableTransaction& b)
{
    if (a.version != b.version || a.lock_time != b.lock_time ||
        a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) {
        return false;
    }
    for (size_t i = 0; i < a.inputs.size(); ++i) {
        const MutableInput &x = a.inputs[i], &y = b.inputs[i];
        if (x.prevout != y.prevout || x.script_sig != y.script_sig || x.sequence != y.sequence ||
            x.witness != y.witness) {
            return false;
        }
    }
    for (size_t i = 0; i < a.outputs.size(); ++i) {
        if (a.outputs[i].value != b.outputs[i].value ||
            a.outputs[i].script_pubkey != b.outputs[i].script_pubkey) {
            return false;
        }
    }
    return true;
}

} // namespace ibd::test
