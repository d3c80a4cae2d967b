// See plain_block.h.
#include "primitives/plain_block.h"

#include "primitives/tx_parser.h"

namespace ibd {

bool PlainBlock::Parse(ByteSpan raw)
{
    m_txs.clear();
    m_inputs.clear();
    m_outputs.clear();
    Reader reader(raw);
    reader.Span(BlockHeader::kSize);
    const size_t count = reader.Count(kMinTxSize);
    if (!reader.Ok() || count == 0) return false;
    for (size_t i = 0; i < count; ++i) {
        if (ParseTx(reader, true, m_inputs, m_outputs, m_txs.emplace_back())) return false;
    }
    const InputView* input = m_inputs.data();
    const OutputView* output = m_outputs.data();
    for (TxView& tx : m_txs) { // the arrays have their final size
        tx.inputs = {input, tx.inputs.size()};
        tx.outputs = {output, tx.outputs.size()};
        input += tx.inputs.size();
        output += tx.outputs.size();
    }
    m_raw = raw.first(reader.Position());
    return true;
}

BlockHash PlainBlock::Hash() const { return BlockHash(Sha256d(m_raw.first(BlockHeader::kSize))); }

void PlainBlock::ComputeIds(std::span<const uint32_t> numbers)
{
    for (const uint32_t number : numbers) m_ids.Add(m_txs[number]);
    m_ids.Run();
}

} // namespace ibd
