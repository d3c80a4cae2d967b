// See pool_memory.h.
#include "mempool/pool_memory.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kTx = 632;          //!< the entry with its places in the indexes
constexpr size_t kSlot = 40;         //!< in the array of PoolSlots
constexpr size_t kInput = 112;       //!< in the array of inputs
constexpr size_t kOutput = 48;       //!< in the array of outputs
constexpr size_t kWitnessItem = 24;  //!< in the array of a witness
constexpr size_t kSpender = 64;      //!< the index of spent outputs, for each input
constexpr size_t kInlineScript = 36; //!< longer scripts are allocated
constexpr int64_t kCluster = 202;
constexpr int64_t kLessInCluster = 32; //!< for each transaction that has no cluster of its own

/** The memory of an allocation of `bytes` on a 64-bit system: 8 bytes more, in steps of 16. */
size_t Allocated(size_t bytes) { return bytes == 0 ? 0 : (bytes + 31) / 16 * 16; }

size_t OfScript(ByteSpan script)
{
    return script.size() > kInlineScript ? Allocated(script.size()) : 0;
}

} // namespace

size_t PoolMemoryOf(const TxView& tx)
{
    size_t bytes =
        kTx + Allocated(tx.inputs.size() * kInput) + Allocated(tx.outputs.size() * kOutput);
    for (const InputView& input : tx.inputs) {
        bytes += kSpender + OfScript(input.script_sig);
        bytes += Allocated(input.witness_items * kWitnessItem);
        ForEachWitnessItem(input, [&](ByteSpan item) { bytes += Allocated(item.size()); });
    }
    for (const OutputView& output : tx.outputs) bytes += OfScript(output.script_pubkey);
    return bytes;
}

int64_t PoolMemoryOfClusters(size_t clusters, size_t txs)
{
    return kCluster * static_cast<int64_t>(clusters) - kLessInCluster * static_cast<int64_t>(txs);
}

void PoolSlots::Grow(size_t txs)
{
    if (txs > m_slots) m_slots = std::max<size_t>(1, 2 * m_slots);
}

void PoolSlots::Shrink(size_t txs)
{
    if (txs > 0 && 2 * txs < m_slots) m_slots = txs;
}

size_t PoolSlots::Bytes() const { return kSlot * m_slots; }

} // namespace ibd
