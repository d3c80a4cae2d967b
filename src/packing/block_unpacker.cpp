// See block_unpacker.h.
#include "packing/block_unpacker.h"

#include "consensus/merkle.h"
#include "primitives/block.h"
#include "script/compress.h"
#include "script/script.h"
#include "script/script_shape.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kKeyBytes = 32;

} // namespace

bool BlockUnpacker::Fail()
{
    m_failed = true;
    return false;
}

void BlockUnpacker::Put(Bytes& to, ByteSpan bytes)
{
    if (m_failed || bytes.size() > m_room) return (void)Fail();
    m_room -= bytes.size();
    Append(to, bytes);
}

void BlockUnpacker::PutCount(Bytes& to, uint64_t count)
{
    Bytes bytes;
    Writer(bytes).CompactSize(count);
    Put(to, bytes);
}

void BlockUnpacker::PutU32(uint32_t number)
{
    uint8_t bytes[4];
    WriteLE32(bytes, number);
    Put(m_block, bytes);
}

void BlockUnpacker::PutScript(Bytes& to, ByteSpan script)
{
    PutCount(to, script.size());
    Put(to, script);
}

bool BlockUnpacker::Unpack(const std::vector<size_t>& sizes, std::vector<Bytes>& out)
{
    TakeKeys();
    TakeScripts();
    for (const size_t size : sizes) {
        m_room = size;
        m_block.clear();
        m_block.reserve(size);
        TakeBlock(out.empty() ? nullptr : &out.back());
        if (m_failed || m_room != 0 || !m_in.Ok(false)) return Fail();
        out.push_back(std::move(m_block));
    }
    return m_keys_used == m_key_forms.size() && m_scripts_used == m_scripts.size() && m_in.Ok(true);
}

void BlockUnpacker::TakeKeys()
{
    Reader& forms = In(PackStream::kKeyForms);
    if (forms.Remaining() > std::min(kMaxBatchKeys, m_total / kKeyBytes)) return (void)Fail();
    m_key_forms = forms.Span(forms.Remaining());
    m_keys = In(PackStream::kKeys).Span(kKeyBytes * m_key_forms.size());
    for (const uint8_t form : m_key_forms) {
        if (form > kKeyForms) return (void)Fail();
    }
    if (!m_in.Ok(false)) Fail();
}

void BlockUnpacker::TakeScripts()
{
    m_room = m_total; // each is shown in a block
    const uint64_t count = Number();
    if (count > m_total / kShortestScript) return (void)Fail();
    for (uint64_t i = 0; i < count; ++i) {
        TakeScript(m_script);
        if (m_failed || !m_in.Ok(false)) return (void)Fail();
        if (m_script.size() < kShortestScript || m_script.size() > m_room) return (void)Fail();
        m_room -= m_script.size();
        m_scripts.push_back(m_script);
    }
}

void BlockUnpacker::TakeBlock(const Bytes* before)
{
    const uint8_t form = In(PackStream::kBlocks).U8();
    if (form == 0) return Put(m_block, In(PackStream::kRaw).Span(m_room));
    if (form > kBlockForms || !(form & kBlockModelled)) return (void)Fail();
    BlockHeader header = TakeHeader(form, before);
    Put(m_block, header.ToBytes());
    const uint64_t txs = Number();
    PutCount(m_block, txs);
    m_leaves.clear();
    for (uint64_t i = 0; i < txs; ++i) {
        TakeTx();
        if (m_failed || !In(PackStream::kTxs).Ok()) return (void)Fail();
    }
    if (!(form & kBlockRooted)) return;
    if (m_leaves.empty()) return (void)Fail();
    header.merkle_root = MerkleRoot(m_leaves).root;
    const auto bytes = header.ToBytes();
    std::copy(bytes.begin(), bytes.end(), m_block.begin());
}

/** Without the merkle root if that follows from the transactions. */
BlockHeader BlockUnpacker::TakeHeader(uint8_t form, const Bytes* before)
{
    BlockHeader header;
    if (form == (kBlockModelled | kBlockBare)) return header;
    const bool follows = (form & kBlockFollows) != 0;
    const bool has_parent = before && before->size() >= BlockHeader::kSize;
    if (form & kBlockBare || (follows && !has_parent)) {
        Fail();
        return header;
    }
    Reader& in = In(PackStream::kBlocks);
    header.version = static_cast<int32_t>(in.U32());
    header.prev_hash =
        BlockHash(follows ? BlockHeader::FromBytes(before->data()).Hash() : BlockHash(in.Hash()));
    if (!(form & kBlockRooted)) header.merkle_root = in.Hash();
    header.time = in.U32();
    header.bits = in.U32();
    header.nonce = in.U32();
    return header;
}

void BlockUnpacker::TakeTx()
{
    const uint8_t form = In(PackStream::kTxs).U8();
    m_has_witness = (form & kTxWitness) != 0;
    uint32_t version = form & kTxVersion;
    if (version == 0) version = In(PackStream::kLocks).U32();
    if (version == 3 && (form & kTxVersion) == 3) return (void)Fail();
    const uint32_t lock_time = TakeLockTime(form & kTxLock);
    m_witness.clear();
    PutU32(version);
    if (m_has_witness) Put(m_block, AsBytes(std::string_view("\0\1", 2)));
    const size_t start = m_block.size();
    const uint64_t inputs = form & kTxOneInput ? 1 : Number();
    const uint64_t outputs = form >> kTxOutputsShift ? form >> kTxOutputsShift : Number();
    PutCount(m_block, inputs);
    for (uint64_t i = 0; i < inputs; ++i) {
        TakeInput();
        if (m_failed || !In(PackStream::kInputs).Ok()) return (void)Fail();
    }
    TakeOutputs(outputs);
    PutTxid(version, start, lock_time);
    Append(m_block, m_witness); // they had their room when they came
    PutU32(lock_time);
}

uint32_t BlockUnpacker::TakeLockTime(uint8_t form)
{
    if (form == kLockZero) return 0;
    if (form == kLockFull) {
        m_lock_time = In(PackStream::kLocks).U32();
    } else if (form == kLockNear) {
        m_lock_time += static_cast<uint32_t>(UnZigZag(Number()));
    } else {
        Fail();
    }
    return m_lock_time;
}

/** The id of the transaction whose inputs and outputs begin at `start` and end the block so far. */
void BlockUnpacker::PutTxid(uint32_t version, size_t start, uint32_t lock_time)
{
    if (m_failed) return;
    Bytes head;
    Bytes end;
    Writer(head).U32(version);
    Writer(end).U32(lock_time);
    Sha256 hasher;
    hasher.Write(head).Write(ByteSpan(m_block).subspan(start)).Write(end);
    const Uint256 txid(Sha256Of(hasher.Finalize()));
    m_txids.push_back(txid);
    m_leaves.push_back(txid);
}

void BlockUnpacker::TakeInput()
{
    const uint8_t form = In(PackStream::kInputs).U8();
    const uint8_t sequence_form = form >> kInputSequenceShift;
    if (sequence_form == kSequenceCoinbase) {
        if (form & kInputKnown) return (void)Fail();
        Bytes null(32, 0);
        null.resize(36, 0xff);
        Put(m_block, null);
    } else {
        TakeOutpoint(form);
    }
    const uint32_t sequence = TakeSequence(sequence_form);
    TakeInputScripts(form & kInputShapes);
    PutU32(sequence);
}

void BlockUnpacker::TakeOutpoint(uint8_t form)
{
    Uint256 txid;
    if (form & kInputKnown) {
        const uint64_t distance = In(PackStream::kTxRefs).VarInt();
        if (distance == 0 || distance > m_txids.size()) return (void)Fail();
        txid = m_txids[m_txids.size() - distance];
    } else {
        txid = In(PackStream::kTxids).Hash();
        m_txids.push_back(txid);
    }
    const uint64_t vout = In(PackStream::kVouts).VarInt();
    if (vout > OutPoint::kNullIndex) return (void)Fail();
    Put(m_block, txid.Span());
    PutU32(static_cast<uint32_t>(vout));
}

uint32_t BlockUnpacker::TakeSequence(uint8_t form)
{
    switch (form) {
    case kSequenceFinal:
    case kSequenceCoinbase: return 0xffffffff;
    case kSequenceLocked: return 0xfffffffe;
    case kSequenceReplaced: return 0xfffffffd;
    case kSequenceZero: return 0;
    case kSequenceFull: return In(PackStream::kLocks).U32();
    default: Fail(); return 0;
    }
}

void BlockUnpacker::TakeInputScripts(uint8_t shape)
{
    static constexpr uint8_t kNoItems = 0;
    if (shape == kSpendsKeyHash) {
        TakeKeySpend(shape);
        if (m_has_witness) Put(m_witness, {&kNoItems, 1});
        return;
    }
    if (shape == kSpendsAny) {
        TakeScript(m_script);
        PutScript(m_block, m_script);
        if (m_has_witness) TakeWitness();
        return;
    }
    if (!m_has_witness) return (void)Fail();
    if (shape == kSpendsNestedScript) return TakeNestedScript();
    if (shape == kSpendsWitnessKeyHash || shape == kSpendsNestedKeyHash) return TakeKeySpend(shape);
    PutScript(m_block, {});
    if (shape == kSpendsWitness) {
        TakeWitness();
    } else if (shape == kSpendsTaprootKey) {
        Put(m_witness, AsBytes("\1"));
        PutScript(m_witness, In(PackStream::kSignatures).Span(kSignatureSize));
    } else {
        Fail();
    }
}

void BlockUnpacker::TakeKeySpend(uint8_t shape)
{
    TakeDerSignature(1);
    Bytes key;
    AppendKey(key, TakeKeyRef());
    if (m_failed) return;
    m_script.clear();
    if (shape == kSpendsKeyHash) {
        for (const Bytes* part : {&m_item, &key}) AppendPush(m_script, *part);
        return PutScript(m_block, m_script);
    }
    if (shape == kSpendsNestedKeyHash) {
        m_script = {22, OP_0, 20};
        Append(m_script, Hash160(key));
    }
    PutScript(m_block, m_script);
    Put(m_witness, AsBytes("\2"));
    PutScript(m_witness, m_item);
    PutScript(m_witness, key);
}

/** The script's own push is the hash of the witness's last item. */
void BlockUnpacker::TakeNestedScript()
{
    TakeWitness(); // leaves the last item
    m_script = {34, OP_0, 32};
    Append(m_script, Sha256Of(m_item));
    PutScript(m_block, m_script);
}

void BlockUnpacker::TakeWitness()
{
    const uint64_t items = Number();
    PutCount(m_witness, items);
    m_item.clear();
    for (uint64_t i = 0; i < items; ++i) {
        TakeItem(In(PackStream::kTokens).U8());
        PutScript(m_witness, m_item);
        if (m_failed || !In(PackStream::kTokens).Ok()) return (void)Fail();
    }
}

void BlockUnpacker::TakeOutputs(uint64_t count)
{
    PutCount(m_block, count);
    for (uint64_t i = 0; i < count; ++i) {
        TakeOutput();
        if (m_failed || !In(PackStream::kOutputs).Ok()) return (void)Fail();
    }
}

void BlockUnpacker::TakeOutput()
{
    const uint8_t form = In(PackStream::kOutputs).U8();
    const size_t size = form >> 4;
    if (size > sizeof(uint64_t)) return (void)Fail();
    uint64_t code = 0;
    const ByteSpan bytes = In(PackStream::kAmounts).Span(size);
    for (size_t i = 0; i < bytes.size(); ++i) code |= uint64_t{bytes[i]} << (8 * i);
    Bytes amount;
    Writer(amount).U64(DecompressAmount(code));
    Put(m_block, amount);
    TakeOutputScript(form & 0xf);
    PutScript(m_block, m_script);
}

void BlockUnpacker::TakeOutputScript(uint8_t form)
{
    const auto pay = [&](const ScriptShape& shape, ByteSpan hash) { shape.Make(hash, m_script); };
    const auto take = [&](const ScriptShape& shape, bool again) {
        pay(shape, TakeHash(shape.size, again));
    };
    switch (form) {
    case kPaysKeyHash:
    case kPaysKeyHashAgain: return take(kPayToKeyHash, form == kPaysKeyHashAgain);
    case kPaysKey: return pay(kPayToKeyHash, TakeKeyHash(false));
    case kPaysScriptHash:
    case kPaysScriptHashAgain: return take(kPayToScriptHash, form == kPaysScriptHashAgain);
    case kPaysNestedKey: return pay(kPayToScriptHash, TakeKeyHash(true));
    case kPaysScript: return pay(kPayToScriptHash, TakeScriptHash(m_script_hashes20, Hash160));
    case kPaysWitnessKeyHash:
    case kPaysWitnessKeyHashAgain:
        return take(kPayToWitnessKeyHash, form == kPaysWitnessKeyHashAgain);
    case kPaysWitnessKey: return pay(kPayToWitnessKeyHash, TakeKeyHash(false));
    case kPaysWitnessScriptHash:
    case kPaysWitnessScriptHashAgain:
        return take(kPayToWitnessScriptHash, form == kPaysWitnessScriptHashAgain);
    case kPaysWitnessScript:
        return pay(kPayToWitnessScriptHash, TakeScriptHash(m_script_hashes32, Sha256Of));
    case kPaysTaproot:
    case kPaysTaprootAgain: return take(kPayToTaproot, form == kPaysTaprootAgain);
    default: TakeScript(m_script);
    }
}

/** A hash of 20 or 32 bytes: the next, or one that came before. */
ByteSpan BlockUnpacker::TakeHash(size_t size, bool again)
{
    auto& known = size == 20 ? m_hashes20 : m_hashes32;
    if (!again) {
        known.push_back(In(size == 20 ? PackStream::kHashes20 : PackStream::kHashes32).Span(size));
        return known.back();
    }
    const uint64_t distance = In(PackStream::kHashRefs).VarInt();
    if (distance == 0 || distance > known.size()) {
        Fail();
        return {};
    }
    return known[known.size() - distance];
}

/** The index that a ZigZag code means as a distance before `next`. */
size_t BlockUnpacker::TakeNear(uint64_t code, size_t next, size_t count)
{
    const int64_t distance = UnZigZag(code);
    const auto most = static_cast<int64_t>(next);
    if (distance > most || distance <= most - static_cast<int64_t>(count)) {
        Fail();
        return 0;
    }
    return static_cast<size_t>(most - distance);
}

/** HASH160 of a key, or of the P2WPKH script of that key. */
Hash20 BlockUnpacker::TakeKeyHash(bool nested)
{
    const size_t index =
        TakeNear(In(PackStream::kHashRefs).VarInt(), m_keys_used, m_key_forms.size());
    if (m_failed) return {};
    const auto [known, is_new] = m_key_hashes.try_emplace(index);
    if (is_new) {
        Bytes key;
        AppendKey(key, index);
        known->second = Hash160(key);
    }
    if (!nested) return known->second;
    Bytes program{OP_0, 20};
    Append(program, known->second);
    return Hash160(program);
}

/** A hash of a script of the table, computed once: an output is much shorter than a script. */
template <typename Hash>
Hash BlockUnpacker::TakeScriptHash(std::unordered_map<size_t, Hash>& known, Hash (*hash)(ByteSpan))
{
    const size_t index =
        TakeNear(In(PackStream::kHashRefs).VarInt(), m_scripts_used, m_scripts.size());
    if (m_failed) return {};
    const auto [place, is_new] = known.try_emplace(index);
    if (is_new) place->second = hash(m_scripts[index]);
    return place->second;
}

ByteSpan BlockUnpacker::TakeScriptRef()
{
    const size_t index = TakeNear(Number(), m_scripts_used, m_scripts.size());
    if (m_failed) return {};
    m_scripts_used = std::max(m_scripts_used, index + 1);
    return m_scripts[index];
}

/** A script may exceed the room that is left, by one push; callers check. */
void BlockUnpacker::TakeScript(Bytes& script)
{
    script.clear();
    Reader& tokens = In(PackStream::kTokens);
    for (uint8_t token = tokens.U8(); token != kEnd; token = tokens.U8()) {
        if (!tokens.Ok() || script.size() > m_room) return (void)Fail();
        if (token == kUnparsed) {
            if (!script.empty()) return (void)Fail();
            const ByteSpan bytes = In(PackStream::kData).Span(Number());
            return script.assign(bytes.begin(), bytes.end());
        }
        if (token == kEmptyItem || token > kLastPush) {
            script.push_back(token);
        } else {
            TakePush(token, script);
        }
        if (m_failed) return;
    }
}

void BlockUnpacker::TakePush(uint8_t token, Bytes& script)
{
    TakeItem(token);
    if (m_item.empty() || m_item.size() > 0xffff || m_item.size() > m_room) return (void)Fail();
    AppendPush(script, m_item);
}

void BlockUnpacker::TakeItem(uint8_t token)
{
    const auto take = [&](ByteSpan bytes) { m_item.assign(bytes.begin(), bytes.end()); };
    m_item.clear();
    switch (token) {
    case kEmptyItem: return;
    case kKeyItem: return AppendKey(m_item, TakeKeyRef());
    case kScriptItem: return take(TakeScriptRef());
    case kSchnorrItem: return take(In(PackStream::kSignatures).Span(kSignatureSize));
    case kData20Item: return take(In(PackStream::kData).Span(20));
    case kData32Item: return take(In(PackStream::kData).Span(32));
    case kDataItem: return take(In(PackStream::kData).Span(Number()));
    case kSignatureItem: return TakeDerSignature(1);
    case kSignatureTypedItem: return TakeDerSignature(In(PackStream::kData).U8());
    case kSchnorrTypedItem:
        take(In(PackStream::kSignatures).Span(kSignatureSize));
        return m_item.push_back(In(PackStream::kData).U8());
    default: Fail();
    }
}

void BlockUnpacker::TakeDerSignature(uint8_t type)
{
    m_item.clear();
    const ByteSpan numbers = In(PackStream::kSignatures).Span(kSignatureSize);
    if (numbers.empty()) return (void)Fail();
    AppendSignature(m_item, numbers, type);
}

size_t BlockUnpacker::TakeKeyRef()
{
    const uint64_t distance = In(PackStream::kKeyRefs).VarInt();
    if (distance == 0 && m_keys_used < m_key_forms.size()) return m_keys_used++;
    if (distance == 0 || distance > m_keys_used) {
        Fail();
        return 0;
    }
    return m_keys_used - distance;
}

void BlockUnpacker::AppendKey(Bytes& to, size_t index)
{
    if (m_failed) return;
    CompressedKey key;
    key[0] = 2 + (m_key_forms[index] & kKeyOdd);
    std::copy_n(m_keys.begin() + static_cast<ptrdiff_t>(kKeyBytes * index), kKeyBytes,
                key.begin() + 1);
    if (!(m_key_forms[index] & kKeyLong)) return Append(to, key);
    if (m_key_roots++ == MaxKeyRoots(m_total)) return (void)Fail();
    const auto whole = DecompressPublicKey(key);
    if (!whole) return (void)Fail();
    Append(to, *whole);
}

} // namespace ibd
