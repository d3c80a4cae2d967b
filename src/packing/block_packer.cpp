// See block_packer.h.
#include "packing/block_packer.h"

#include "consensus/merkle.h"
#include "crypto/ripemd160.h"
#include "primitives/witness_items.h"
#include "script/compress.h"
#include "script/script.h"
#include "script/script_shape.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

/** Lock times up to this far from the one before are stored as a difference. */
constexpr int64_t kNearLock = 8192;
constexpr size_t kHashBytes = 32;

/** Whether tokens can say the script: each push is complete and has the shortest size field. */
bool HasTokens(ByteSpan script)
{
    ScriptIterator it(script);
    while (it.Next()) {
        const size_t size = it.Data().size();
        if (it.Op() == OP_PUSHDATA1 && size < OP_PUSHDATA1) return false;
        if (it.Op() == OP_PUSHDATA2 && size <= 0xff) return false;
        if (it.Op() == OP_PUSHDATA4) return false;
    }
    return !it.Failed();
}

/** The variable part of an output's script, and the form that says the rest. */
OutputForm FormOf(ByteSpan script, ByteSpan& hash)
{
    const auto is = [&](const ScriptShape& shape) {
        if (!shape.Matches(script)) return false;
        hash = shape.Part(script);
        return true;
    };
    if (is(kPayToKeyHash)) return kPaysKeyHash;
    if (is(kPayToScriptHash)) return kPaysScriptHash;
    if (is(kPayToWitnessKeyHash)) return kPaysWitnessKeyHash;
    if (is(kPayToWitnessScriptHash)) return kPaysWitnessScriptHash;
    if (is(kPayToTaproot)) return kPaysTaproot;
    return kPaysAny;
}

/** Whether the script is the push of a witness program: its size, and the hash. */
bool IsNested(ByteSpan script_sig, size_t size, ByteSpan hash)
{
    if (script_sig.size() != size + 3 || script_sig[0] != size + 2) return false;
    return script_sig[1] == OP_0 && script_sig[2] == size &&
           AsChars(script_sig.subspan(3)) == AsChars(hash.first(size));
}

/** Whether `key` is a public key of 65 bytes whose y follows from its x. */
bool IsLongKey(ByteSpan key)
{
    CompressedKey half;
    half[0] = 2 + (key[64] & 1);
    std::copy_n(key.begin() + 1, 32, half.begin() + 1);
    const auto whole = DecompressPublicKey(half);
    return whole && AsChars(*whole) == AsChars(key);
}

/** Whether the model says all of the block, and in bounded time. */
bool IsModelled(const BlockView& block, ByteSpan raw)
{
    if (block.Raw().size() != raw.size()) return false;
    size_t items = 0;
    for (const InputView& input : block.Inputs()) items += input.witness_items;
    if (items > kMaxWitnessItems) return false;
    const auto in_range = [](const OutputView& output) { return MoneyRange(output.value); };
    return std::all_of(block.Outputs().begin(), block.Outputs().end(), in_range);
}

/** The pushes of a script if it has no other operations, and tokens for all of them. */
std::vector<ByteSpan> Pushes(ByteSpan script)
{
    if (!HasTokens(script)) return {};
    std::vector<ByteSpan> out;
    ScriptIterator it(script);
    while (it.Next()) {
        if (it.Op() > OP_PUSHDATA4) return {};
        out.push_back(it.Data());
    }
    return out;
}

} // namespace

void BlockPacker::Pack(StreamWriter& streams)
{
    m_out = &streams;
    for (const ByteSpan raw : m_raw) {
        m_blocks.emplace_back();
        m_modelled.push_back(m_blocks.back().Parse(raw) && IsModelled(m_blocks.back(), raw));
        if (m_modelled.back()) CollectScripts(m_blocks.back());
    }
    To(PackStream::kNumbers).VarInt(m_scripts.size());
    for (const ByteSpan script : m_scripts) PutScript(script, false);
    for (size_t i = 0; i < m_raw.size(); ++i) {
        if (m_modelled[i]) {
            PutBlock(m_blocks[i], i);
        } else {
            At(PackStream::kBlocks).push_back(0);
            Append(At(PackStream::kRaw), m_raw[i]);
        }
    }
    PutHashes();
}

/** Collects the scripts that inputs show, once each, in the order in which PutBlock() meets them.
 */
void BlockPacker::CollectScripts(const BlockView& block)
{
    for (const InputView& input : block.Inputs()) {
        const auto pushes = Pushes(input.script_sig);
        if (!pushes.empty()) Consider(pushes.back());
        const auto items = WitnessItems(input);
        for (size_t i = items.size() < 2 ? 0 : items.size() - 2; i < items.size(); ++i) {
            Consider(items[i]);
        }
    }
}

void BlockPacker::Consider(ByteSpan item)
{
    const size_t size = item.size();
    if (size < kShortestScript || size == 32 || size == 33 || size == 64 || size == 65) return;
    if (size == 34 && item[0] == OP_0) return;              // the program of a nested script
    if (size % 32 == 1 && (item[0] & 0xfe) == 0xc0) return; // a control block (BIP341)
    uint8_t type = 0;
    if (SplitSignature(item, type) || !HasTokens(item)) return;
    if (m_script_numbers.try_emplace(AsChars(item), m_scripts.size()).second) {
        m_scripts.push_back(item);
    }
}

void BlockPacker::PutBlock(const BlockView& block, size_t index)
{
    PutHeader(block, index);
    To(PackStream::kNumbers).VarInt(block.Txs().size());
    for (const TxView& tx : block.Txs()) PutTx(tx);
}

void BlockPacker::PutHeader(const BlockView& block, size_t index)
{
    const BlockHeader& header = block.Header();
    if (header == BlockHeader{}) {
        return At(PackStream::kBlocks).push_back(kBlockModelled | kBlockBare);
    }
    uint8_t form = kBlockModelled;
    if (index > 0 && m_raw[index - 1].size() >= BlockHeader::kSize &&
        BlockHeader::FromBytes(m_raw[index - 1].data()).Hash() == header.prev_hash) {
        form |= kBlockFollows;
    }
    if (!block.Txs().empty() && BlockMerkleRoot(block).root == header.merkle_root) {
        form |= kBlockRooted;
    }
    Writer out = To(PackStream::kBlocks);
    out.U8(form);
    out.U32(static_cast<uint32_t>(header.version));
    if (!(form & kBlockFollows)) out.Hash(header.prev_hash);
    if (!(form & kBlockRooted)) out.Hash(header.merkle_root);
    out.U32(header.time);
    out.U32(header.bits);
    out.U32(header.nonce);
}

void BlockPacker::PutTx(const TxView& tx)
{
    uint8_t form = tx.has_witness ? kTxWitness : 0;
    if (tx.version == 1 || tx.version == 2) {
        form |= static_cast<uint8_t>(tx.version);
    } else {
        To(PackStream::kLocks).U32(tx.version);
    }
    const int64_t step = int64_t{tx.lock_time} - int64_t{m_lock_time};
    if (tx.lock_time != 0) {
        m_lock_time = tx.lock_time;
        const bool near = step > -kNearLock && step < kNearLock;
        form |= near ? kLockNear : kLockFull;
        if (near) {
            To(PackStream::kNumbers).VarInt(ZigZag(step));
        } else {
            To(PackStream::kLocks).U32(tx.lock_time);
        }
    }
    if (tx.inputs.size() == 1) {
        form |= kTxOneInput;
    } else {
        To(PackStream::kNumbers).VarInt(tx.inputs.size());
    }
    const size_t outputs = tx.outputs.size();
    if (outputs >= 1 && outputs <= 3) {
        form |= static_cast<uint8_t>(outputs << kTxOutputsShift);
    } else {
        To(PackStream::kNumbers).VarInt(outputs);
    }
    At(PackStream::kTxs).push_back(form);
    for (const InputView& input : tx.inputs) PutInput(input, tx.has_witness);
    for (const OutputView& output : tx.outputs) PutOutput(output);
    m_txids.try_emplace(AsChars(tx.txid.Span()), m_txid_count);
    ++m_txid_count;
}

void BlockPacker::PutInput(const InputView& input, bool has_witness)
{
    uint8_t form = 0;
    if (input.SpendsNothing() && input.sequence == 0xffffffff) {
        form = kSequenceCoinbase << kInputSequenceShift;
    } else {
        form = PutOutpoint(input) | PutSequence(input.sequence);
    }
    const auto items = WitnessItems(input);
    for (const InputShape shape : {kSpendsKeyHash, kSpendsWitnessKeyHash, kSpendsNestedKeyHash}) {
        if (!PutKeySpend(input, items, shape)) continue;
        return At(PackStream::kInputs).push_back(form | shape);
    }
    if (input.script_sig.empty() && items.size() == 1 && items[0].size() == kSignatureSize) {
        Append(At(PackStream::kSignatures), items[0]);
        return At(PackStream::kInputs).push_back(form | kSpendsTaprootKey);
    }
    InputShape shape = kSpendsAny;
    if (input.script_sig.empty() && has_witness) {
        shape = kSpendsWitness;
    } else if (!items.empty() && m_script_numbers.contains(AsChars(items.back())) &&
               IsNested(input.script_sig, 32, Sha256Of(items.back()))) {
        shape = kSpendsNestedScript;
    } else {
        PutScript(input.script_sig, true);
    }
    At(PackStream::kInputs).push_back(form | shape);
    if (has_witness) PutWitness(items);
}

uint8_t BlockPacker::PutOutpoint(const InputView& input)
{
    const OutPoint outpoint = input.Prevout();
    To(PackStream::kVouts).VarInt(outpoint.vout);
    const auto [known, is_new] =
        m_txids.try_emplace(AsChars({input.prevout_bytes, kHashBytes}), m_txid_count);
    if (is_new) {
        ++m_txid_count;
        To(PackStream::kTxids).Hash(outpoint.txid);
        return 0;
    }
    To(PackStream::kTxRefs).VarInt(m_txid_count - known->second);
    return kInputKnown;
}

uint8_t BlockPacker::PutSequence(uint32_t sequence)
{
    const auto bits = [](InputSequence form) {
        return static_cast<uint8_t>(form << kInputSequenceShift);
    };
    if (sequence == 0xffffffff) return bits(kSequenceFinal);
    if (sequence == 0xfffffffe) return bits(kSequenceLocked);
    if (sequence == 0xfffffffd) return bits(kSequenceReplaced);
    if (sequence == 0) return bits(kSequenceZero);
    To(PackStream::kLocks).U32(sequence);
    return bits(kSequenceFull);
}

/** Writes an input that shows one signature and one key, if it has this shape. */
bool BlockPacker::PutKeySpend(const InputView& input, std::span<const ByteSpan> items,
                              InputShape shape)
{
    const bool in_script = shape == kSpendsKeyHash;
    if (in_script ? !items.empty() : items.size() != 2) return false;
    const auto pushes = in_script ? Pushes(input.script_sig) : std::vector<ByteSpan>();
    const std::span<const ByteSpan> parts = in_script ? pushes : items;
    if (parts.size() != 2 || !IsModelledKey(parts[1])) return false;
    if (shape == kSpendsWitnessKeyHash && !input.script_sig.empty()) return false;
    if (shape == kSpendsNestedKeyHash && !IsNested(input.script_sig, 20, Hash160(parts[1]))) {
        return false;
    }
    uint8_t type = 0;
    const auto numbers = SplitSignature(parts[0], type);
    if (!numbers || type != 1) return false;
    Append(At(PackStream::kSignatures), *numbers);
    PutKey(parts[1]);
    return true;
}

void BlockPacker::PutWitness(std::span<const ByteSpan> items)
{
    To(PackStream::kNumbers).VarInt(items.size());
    for (size_t i = 0; i < items.size(); ++i) PutItem(items[i], i + 2 >= items.size());
}

void BlockPacker::PutOutput(const OutputView& output)
{
    const uint64_t amount = CompressAmount(static_cast<uint64_t>(output.value));
    const int bytes = (std::bit_width(amount) + 7) / 8;
    for (int i = 0; i < bytes; ++i) {
        At(PackStream::kAmounts).push_back(static_cast<uint8_t>(amount >> (8 * i)));
    }
    ByteSpan hash;
    const OutputForm form = FormOf(output.script_pubkey, hash);
    Bytes& forms = At(PackStream::kOutputs);
    forms.push_back(static_cast<uint8_t>(form | bytes << 4));
    if (form == kPaysAny) return PutScript(output.script_pubkey, false);
    m_pending.push_back({forms.size() - 1, form, hash, m_keys.size(), m_scripts_used});
}

/** `last_may_be_script`: its last push may be in the table of scripts. */
void BlockPacker::PutScript(ByteSpan script, bool last_may_be_script)
{
    Bytes& tokens = At(PackStream::kTokens);
    if (!HasTokens(script)) {
        tokens.push_back(kUnparsed);
        To(PackStream::kNumbers).VarInt(script.size());
        return Append(At(PackStream::kData), script);
    }
    ScriptIterator it(script);
    while (it.Next()) {
        if (it.Op() > kLastPush) {
            tokens.push_back(it.Op());
        } else {
            PutItem(it.Data(), last_may_be_script && it.End() == script.size());
        }
    }
    tokens.push_back(kEnd);
}

void BlockPacker::PutItem(ByteSpan item, bool may_be_script)
{
    Bytes& tokens = At(PackStream::kTokens);
    if (item.empty()) return tokens.push_back(kEmptyItem);
    if (may_be_script) {
        const auto script = m_script_numbers.find(AsChars(item));
        if (script != m_script_numbers.end()) {
            tokens.push_back(kScriptItem);
            return PutScriptRef(script->second);
        }
    }
    if (IsModelledKey(item)) {
        tokens.push_back(kKeyItem);
        return PutKey(item);
    }
    if (PutSignatureItem(item)) return;
    if (item.size() == 20 || item.size() == 32) {
        tokens.push_back(item.size() == 20 ? kData20Item : kData32Item);
    } else {
        tokens.push_back(kDataItem);
        To(PackStream::kNumbers).VarInt(item.size());
    }
    Append(At(PackStream::kData), item);
}

bool BlockPacker::PutSignatureItem(ByteSpan item)
{
    Bytes& tokens = At(PackStream::kTokens);
    const bool typed = item.size() == kSignatureSize + 1;
    if (item.size() == kSignatureSize || typed) {
        tokens.push_back(typed ? kSchnorrTypedItem : kSchnorrItem);
        Append(At(PackStream::kSignatures), item.first(kSignatureSize));
        if (typed) At(PackStream::kData).push_back(item.back());
        return true;
    }
    uint8_t type = 0;
    const auto numbers = SplitSignature(item, type);
    if (!numbers) return false;
    tokens.push_back(type == 1 ? kSignatureItem : kSignatureTypedItem);
    Append(At(PackStream::kSignatures), *numbers);
    if (type != 1) At(PackStream::kData).push_back(type);
    return true;
}

/** Whether `key` is stored as its x, which costs work on both sides. The verdict on the last long
 * key is kept, as each place of a key is asked about several times. */
bool BlockPacker::IsModelledKey(ByteSpan key)
{
    if (m_keys.size() >= kMaxBatchKeys) return false;
    if (key.size() == 33) return key[0] == 2 || key[0] == 3;
    if (key.size() != 65 || key[0] != 4) return false;
    if (key.data() == m_last_long.data()) return m_last_modelled;
    if (m_long_keys == kMaxLongKeys) return false;
    ++m_long_keys;
    m_last_long = key;
    return m_last_modelled = IsLongKey(key);
}

void BlockPacker::PutKey(ByteSpan key)
{
    const auto [known, is_new] = m_key_numbers.try_emplace(AsChars(key), m_keys.size());
    To(PackStream::kKeyRefs).VarInt(m_keys.size() - known->second);
    if (!is_new) return;
    m_keys.push_back(key);
    const bool is_long = key.size() == 65;
    const uint8_t odd = is_long ? key[64] & 1 : key[0] & 1;
    At(PackStream::kKeyForms).push_back(odd | (is_long ? kKeyLong : 0));
    Append(At(PackStream::kKeys), key.subspan(1, 32));
}

/** 0 for the next script of the table, so that an ordinary batch has only zeros. */
void BlockPacker::PutScriptRef(size_t index)
{
    const auto next = static_cast<int64_t>(m_scripts_used);
    To(PackStream::kNumbers).VarInt(ZigZag(next - static_cast<int64_t>(index)));
    m_scripts_used = std::max(m_scripts_used, index + 1);
}

/** `kind`: k of a key, s in P2SH, w in P2WSH. */
BlockPacker::HashKey BlockPacker::OriginKey(char kind, ByteSpan hash)
{
    HashKey out{static_cast<uint8_t>(kind)};
    std::copy(hash.begin(), hash.end(), out.begin() + 1);
    return out;
}

/** The hashes of keys and scripts that outputs may have. */
std::map<BlockPacker::HashKey, BlockPacker::Origin> BlockPacker::HashOrigins() const
{
    std::map<HashKey, Origin> out;
    const auto add = [&](char kind, ByteSpan hash, Origin origin) {
        out.try_emplace(OriginKey(kind, hash), origin);
    };
    for (size_t i = 0; i < m_keys.size(); ++i) {
        const Hash20 hash = Hash160(m_keys[i]);
        add('k', hash, {0, i});
        if (m_keys[i].size() != 33) continue;
        Bytes program{OP_0, 20};
        Append(program, hash);
        add('s', Hash160(program), {kPaysNestedKey, i});
    }
    for (size_t i = 0; i < m_scripts.size(); ++i) {
        add('s', Hash160(m_scripts[i]), {kPaysScript, i});
        add('w', Sha256Of(m_scripts[i]), {kPaysWitnessScript, i});
    }
    return out;
}

/** Writes the hashes of outputs: a key may come long after the output that it spends. */
void BlockPacker::PutHashes()
{
    if (m_pending.empty()) return;
    const auto origins = HashOrigins();
    Numbers known20;
    Numbers known32;
    Bytes& forms = At(PackStream::kOutputs);
    for (const PendingHash& pending : m_pending) {
        const bool is_long = pending.hash.size() == 32;
        const char kind = pending.form == kPaysScriptHash ? 's' : is_long ? 'w' : 'k';
        const auto origin = origins.find(OriginKey(kind, pending.hash));
        if (origin == origins.end() || pending.form == kPaysTaproot) {
            PutHash(pending, is_long ? known32 : known20,
                    is_long ? PackStream::kHashes32 : PackStream::kHashes20);
            continue;
        }
        uint8_t form = origin->second.form;
        if (form == 0) form = pending.form + 2; // kPaysKey and kPaysWitnessKey
        forms[pending.output] = static_cast<uint8_t>((forms[pending.output] & 0xf0) | form);
        const bool of_script = form == kPaysScript || form == kPaysWitnessScript;
        const size_t next = of_script ? pending.scripts : pending.keys;
        To(PackStream::kHashRefs)
            .VarInt(
                ZigZag(static_cast<int64_t>(next) - static_cast<int64_t>(origin->second.index)));
    }
}

void BlockPacker::PutHash(const PendingHash& pending, Numbers& known, PackStream literals)
{
    const size_t count = known.size();
    const auto [number, is_new] = known.try_emplace(AsChars(pending.hash), count);
    if (is_new) return Append(At(literals), pending.hash);
    ++At(PackStream::kOutputs)[pending.output]; // the form with "again" is the next one
    To(PackStream::kHashRefs).VarInt(count - number->second);
}

} // namespace ibd
