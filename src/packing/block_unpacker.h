// BlockUnpacker: the model's reading half, the inverse of BlockPacker (block_packer.h). Its bytes
// come from a stranger: each block gets exactly its stated size, or the batch is damaged;
// references and counts beyond what the batch has fail. Owned by UnpackBlocks(). Memory: the
// blocks, the batch's scripts (at most as many bytes), its txids and the hashes of its keys and
// scripts. Time: in proportion to the bytes of the blocks.
#pragma once

#include "crypto/ripemd160.h"
#include "packing/pack_forms.h"
#include "packing/pack_streams.h"
#include "primitives/block.h"

#include <unordered_map>

namespace ibd {

class BlockUnpacker {
public:
    /** `total`: bytes of all blocks, at most kMaxBatchBytes. */
    BlockUnpacker(StreamReader& streams, size_t total) : m_in(streams), m_total(total) {}

    /** Appends the blocks, whose sizes add up to the total. False: damage. */
    bool Unpack(const std::vector<size_t>& sizes, std::vector<Bytes>& out);

private:
    void TakeKeys();
    void TakeScripts();
    void TakeBlock(const Bytes* before);
    BlockHeader TakeHeader(uint8_t form, const Bytes* before);
    void TakeTx();
    void TakeInput();
    void TakeOutputs(uint64_t count);
    void PutTxid(uint32_t version, size_t start, uint32_t lock_time);
    void TakeOutpoint(uint8_t form);
    void TakeInputScripts(uint8_t shape);
    void TakeNestedScript();
    void TakeKeySpend(uint8_t shape);
    void TakeWitness();
    void TakeOutput();
    void TakeOutputScript(uint8_t form);
    uint32_t TakeSequence(uint8_t form);
    uint32_t TakeLockTime(uint8_t form);
    void TakeScript(Bytes& script);
    void TakePush(uint8_t token, Bytes& script);
    void TakeItem(uint8_t token);
    void TakeDerSignature(uint8_t type);
    size_t TakeKeyRef();
    void AppendKey(Bytes& to, size_t index);
    ByteSpan TakeScriptRef();
    ByteSpan TakeHash(size_t size, bool again);
    size_t TakeNear(uint64_t code, size_t next, size_t count);
    Hash20 TakeKeyHash(bool nested);
    template <typename Hash>
    Hash TakeScriptHash(std::unordered_map<size_t, Hash>& known, Hash (*hash)(ByteSpan));

    Reader& In(PackStream stream) { return m_in.At(stream); }
    uint64_t Number() { return In(PackStream::kNumbers).VarInt(); }
    /** Appends bytes for which the block, or the table of scripts, has room. */
    void Put(Bytes& to, ByteSpan bytes);
    void PutCount(Bytes& to, uint64_t count); //!< as a CompactSize
    void PutU32(uint32_t number);
    void PutScript(Bytes& to, ByteSpan script);
    bool Fail();

    StreamReader& m_in;
    const size_t m_total;
    bool m_failed = false;
    size_t m_room = 0; //!< bytes that the block still lacks
    Bytes m_block;
    Bytes m_witness; //!< of the transaction
    Bytes m_script;
    Bytes m_item;
    ByteSpan m_key_forms;
    ByteSpan m_keys; //!< the x of each
    std::vector<Bytes> m_scripts;
    size_t m_scripts_used = 0;
    size_t m_keys_used = 0;
    size_t m_key_roots = 0; //!< square roots so far
    std::unordered_map<size_t, Hash20> m_key_hashes;
    std::unordered_map<size_t, Hash20> m_script_hashes20;
    std::unordered_map<size_t, Hash32> m_script_hashes32;
    std::vector<Uint256> m_txids;
    std::vector<Uint256> m_leaves; //!< txids of the block
    std::vector<ByteSpan> m_hashes20;
    std::vector<ByteSpan> m_hashes32;
    uint32_t m_lock_time = 0;
    bool m_has_witness = false; //!< the transaction's inputs have witnesses
};

} // namespace ibd
