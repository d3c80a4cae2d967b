// See block_mutator.h.
#include "block_mutator.h"

#include "consensus/block_check.h"
#include "consensus/limits.h"
#include "crypto/sha256.h"
#include "script/script.h"
#include "util/check.h"

namespace ibd::interop {

Bytes BlockMutator::Write(Draft draft, bool fix_root, bool mine)
{
    if (fix_root) draft.FixRoot();
    if (mine) sim::Mine(draft.header, m_params);
    return draft.ToBytes();
}

Bytes BlockMutator::OnParent(ByteSpan block, const BlockHash& parent)
{
    Draft draft = Draft::Of(block);
    draft.header.prev_hash = parent;
    return Write(draft, false, true);
}

MutableTransaction& BlockMutator::AnySpend(Draft& draft)
{
    if (draft.txs.size() < 2) return draft.txs[0];
    return draft.txs[1 + m_rng.Below(draft.txs.size() - 1)];
}

void BlockMutator::FlipBit(Bytes& bytes)
{
    if (bytes.empty()) {
        bytes.push_back(0x51);
        return;
    }
    bytes[m_rng.Below(bytes.size())] ^= static_cast<uint8_t>(1 << m_rng.Below(8));
}

void BlockMutator::ChangeHeader(Draft& draft, const MutatorMemory& memory)
{
    BlockHeader& header = draft.header;
    switch (m_rng.Below(7)) {
    case 0: header.version = static_cast<int32_t>(m_rng.Below(6)); break;
    case 1: header.version = static_cast<int32_t>(m_rng.Next()); break;
    case 2: header.time -= static_cast<uint32_t>(m_rng.Below(20'000)); break;
    case 3: header.time = static_cast<uint32_t>(memory.now + 2 * 86'400); break;
    case 4: header.bits ^= 1U << m_rng.Below(32); break;
    case 5: header.merkle_root.data()[m_rng.Below(32)] ^= 4; break;
    case 6:
        if (!memory.hashes.empty()) {
            const size_t back = std::min<size_t>(memory.hashes.size(), 40);
            header.prev_hash = memory.hashes[memory.hashes.size() - 1 - m_rng.Below(back)];
        }
        if (Chance(4)) header.prev_hash.data()[0] ^= 1;
        break;
    }
}

void BlockMutator::ChangeCoinbase(Draft& draft)
{
    MutableTransaction& tx = draft.txs[0];
    Bytes& script = tx.inputs.empty() ? tx.outputs[0].script_pubkey : tx.inputs[0].script_sig;
    switch (m_rng.Below(8)) {
    case 0: tx.outputs[0].value += 1; break;
    case 1: tx.outputs[0].value -= static_cast<Amount>(m_rng.Below(kCoin)); break;
    case 2: FlipBit(script); break;
    case 3: script.resize(m_rng.Below(4)); break;
    case 4: script.resize(95 + m_rng.Below(10)); break;
    case 5: Append(script, m_rng.RandomBytes(4)); break; // another valid block, mostly
    case 6:
        if (!tx.inputs.empty()) tx.inputs[0].prevout.vout = static_cast<uint32_t>(m_rng.Below(2));
        break;
    case 7: tx.outputs.push_back({static_cast<Amount>(m_rng.Below(2)), {0x51}}); break;
    }
}

void BlockMutator::ChangeOrder(Draft& draft, const MutatorMemory& memory)
{
    auto& txs = draft.txs;
    const size_t a = m_rng.Below(txs.size()), b = m_rng.Below(txs.size());
    switch (m_rng.Below(8)) {
    case 0: std::swap(txs[a], txs[b]); break;
    case 1: txs.erase(txs.begin() + static_cast<ptrdiff_t>(a)); break;
    case 2: {
        const MutableTransaction copy = txs[b];
        txs.insert(txs.begin() + static_cast<ptrdiff_t>(a), copy);
        break;
    }
    case 3: { // CVE-2012-2459: the end repeated, the root stays
        const std::vector<MutableTransaction> copy = txs;
        const size_t tail = size_t{1} << m_rng.Below(3);
        if (tail <= copy.size())
            txs.insert(txs.end(), copy.end() - static_cast<ptrdiff_t>(tail), copy.end());
        break;
    }
    case 4: txs.resize(1); break;
    case 5: txs.clear(); break;
    case 6: txs.push_back(txs[0]); break;
    case 7: // one of an earlier block: its coins may be there still (BIP30)
        if (!memory.txs.empty()) {
            txs.insert(txs.begin() + static_cast<ptrdiff_t>(a) + 1,
                       memory.txs[m_rng.Below(memory.txs.size())]);
        }
        break;
    }
}

void BlockMutator::ChangeInput(Draft& draft, const MutatorMemory& memory)
{
    MutableTransaction& tx = AnySpend(draft);
    if (tx.inputs.empty()) return;
    const MutableTransaction& another = AnySpend(draft);
    const MutableInput other = another.inputs.empty() ? tx.inputs[0] : another.inputs[0];
    MutableInput& input = tx.inputs[m_rng.Below(tx.inputs.size())];
    const auto pick = [&](const std::vector<OutPoint>& from) {
        if (!from.empty()) input.prevout = from[m_rng.Below(from.size())];
    };
    switch (m_rng.Below(12)) {
    case 0: input.prevout.vout += 1; break;
    case 1: input.prevout.txid.data()[m_rng.Below(32)] ^= 1; break;
    case 2: pick(memory.coinbases); break;
    case 3: pick(memory.spent); break;
    case 4: tx.inputs.push_back(tx.inputs[m_rng.Below(tx.inputs.size())]); break;
    case 5: input.prevout = other.prevout; break;
    case 6: FlipBit(input.script_sig); break;
    case 7: input.script_sig.clear(); break;
    case 8: input.sequence = static_cast<uint32_t>(m_rng.Below(40)); break;
    case 9: input.sequence = kSequenceTypeFlag | static_cast<uint32_t>(m_rng.Below(20)); break;
    case 10: tx.inputs.erase(tx.inputs.begin()); break;
    case 11: input.prevout = OutPoint{}; break;
    }
}

void BlockMutator::ChangeOutput(Draft& draft)
{
    MutableTransaction& tx = AnyTx(draft);
    if (tx.outputs.empty()) return;
    MutableOutput& output = tx.outputs[m_rng.Below(tx.outputs.size())];
    switch (m_rng.Below(10)) {
    case 0: output.value += 1; break;
    case 1: output.value = -1; break;
    case 2: output.value = kMaxMoney + 1; break;
    case 3: output.value = kMaxMoney; break;
    case 4: output.value = static_cast<Amount>(m_rng.Next()); break;
    case 5: output.value = 0; break;
    case 6: FlipBit(output.script_pubkey); break;
    case 7: tx.outputs.clear(); break;
    case 8: tx.outputs.push_back(output); break;
    case 9: { // signature operations around the limit, in scripts of one size
        const size_t size = 1 + m_rng.Below(40);
        const size_t count = (20'100 - m_rng.Below(400)) / size;
        tx.outputs.insert(tx.outputs.end(), count, {0, Bytes(size, OP_CHECKSIG)});
        break;
    }
    }
}

void BlockMutator::ChangeTransaction(Draft& draft)
{
    MutableTransaction& tx = AnyTx(draft);
    switch (m_rng.Below(4)) {
    case 0: tx.version = static_cast<uint32_t>(m_rng.Below(4)) - 1; break;
    case 1: // a lock that counts
        tx.lock_time = static_cast<uint32_t>(m_rng.Below(400));
        if (!tx.inputs.empty()) tx.inputs[0].sequence = static_cast<uint32_t>(m_rng.Below(3));
        break;
    case 2:
        tx.lock_time = draft.header.time - 5'000 + static_cast<uint32_t>(m_rng.Below(10'000));
        if (!tx.inputs.empty()) tx.inputs[0].sequence = 0;
        break;
    case 3: // the size of an inner node of the merkle tree
        tx = {};
        tx.inputs.push_back({});
        tx.outputs.push_back({0, Bytes(4, 0x51)});
        break;
    }
}

void BlockMutator::ChangeWitness(Draft& draft)
{
    MutableTransaction& tx = AnyTx(draft);
    if (tx.inputs.empty()) return;
    auto& witness = tx.inputs[m_rng.Below(tx.inputs.size())].witness;
    switch (m_rng.Below(6)) {
    case 0:
        if (!witness.empty()) FlipBit(witness[m_rng.Below(witness.size())]);
        break;
    case 1: witness.clear(); break;
    case 2: witness.push_back(m_rng.RandomBytes(m_rng.Below(5))); break;
    case 3: draft.txs[0].inputs[0].witness = {m_rng.RandomBytes(32)}; break;
    case 4: draft.txs[0].inputs[0].witness = {Bytes(31)}; break;
    case 5: // another commitment after the right one
        draft.txs[0].outputs.push_back({0, {OP_RETURN, 0x24, 0xaa, 0x21, 0xa9, 0xed}});
        draft.txs[0].outputs.back().script_pubkey.resize(38);
        break;
    }
}

void BlockMutator::ChangeSize(Draft& draft)
{
    MutableTransaction& tx = AnySpend(draft);
    switch (m_rng.Below(4)) {
    case 0: // signature operations around the limit
        tx.outputs.push_back({0, Bytes(19'900 + m_rng.Below(200), OP_CHECKSIG)});
        break;
    case 1: // the stripped size around its limit
        tx.outputs.push_back({0, Bytes(990'000 + m_rng.Below(12'000), OP_RETURN)});
        break;
    case 2: // weight around its limit by witness
        if (!tx.inputs.empty())
            tx.inputs[0].witness.push_back(Bytes(3'980'000 + m_rng.Below(25'000)));
        break;
    case 3:
        if (!tx.inputs.empty())
            tx.inputs[0].script_sig.resize(1'600 + m_rng.Below(9'000), OP_CHECKSIG);
        break;
    }
}

void BlockMutator::ChangeOnce(Draft& draft, const MutatorMemory& memory)
{
    if (draft.txs.empty() || draft.txs[0].inputs.empty() || draft.txs[0].outputs.empty()) return;
    if (Chance(120)) return ChangeSize(draft);
    switch (m_rng.Below(10)) {
    case 0: return ChangeHeader(draft, memory);
    case 1: return ChangeCoinbase(draft);
    case 2: return ChangeOrder(draft, memory);
    case 3:
    case 4:
    case 5: return ChangeInput(draft, memory);
    case 6:
    case 7: return ChangeOutput(draft);
    case 8: return ChangeTransaction(draft);
    case 9: return ChangeWitness(draft);
    }
}

Bytes BlockMutator::ChangeBytes(Bytes block)
{
    if (Chance(6)) {
        Append(block, m_rng.RandomBytes(1 + m_rng.Below(200))); // no part of it
        return block;
    }
    if (Chance(3)) {
        block.resize(m_rng.Below(block.size()));
    } else {
        FlipBit(block);
    }
    if (block.size() >= BlockHeader::kSize && !Chance(3)) sim::MineBytes(block, m_params);
    return block;
}

Bytes BlockMutator::Mutate(ByteSpan block, const MutatorMemory& memory)
{
    if (Chance(12)) return ChangeBytes(Bytes(block.begin(), block.end()));
    Draft draft = Draft::Of(block);
    const int changes = 1 + static_cast<int>(m_rng.Below(6)) / 3 + (Chance(12) ? 1 : 0);
    for (int i = 0; i < changes; ++i) ChangeOnce(draft, memory);
    if (!Chance(8)) draft.RenewCommitment();
    const bool keep_root = draft.header.merkle_root != Draft::Of(block).header.merkle_root;
    return Write(draft, !keep_root && !Chance(25), !Chance(25));
}

} // namespace ibd::interop
