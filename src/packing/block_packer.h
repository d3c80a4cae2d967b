// BlockPacker: the model's writing half. It appends each value of a batch's blocks to the stream of
// its kind; a value that follows from another place of the batch becomes a distance: txids, keys,
// and hashes of keys and scripts. BlockUnpacker (block_unpacker.h) is its inverse.
// Owned by PackBlocks(). Memory: the streams, and tables of the batch's txids, keys and hashes.
#pragma once

#include "packing/pack_forms.h"
#include "packing/pack_streams.h"
#include "primitives/block.h"

#include <map>
#include <string_view>

namespace ibd {

class BlockPacker {
public:
    /** The bytes must outlive the packer. */
    explicit BlockPacker(std::span<const ByteSpan> blocks) : m_raw(blocks) {}

    /** Fills the streams with the whole batch. */
    void Pack(StreamWriter& streams);

private:
    /** Where an output's hash is found. */
    struct Origin {
        uint8_t form = 0; //!< of the output
        size_t index = 0; //!< of the key or script
    };
    /** An output's hash whose place is known after all keys are. */
    struct PendingHash {
        size_t output; //!< its byte in kOutputs
        OutputForm form;
        ByteSpan hash;
        size_t keys;    //!< known when it came
        size_t scripts; //!< likewise
    };
    /** Number of each byte string that came before. The strings lie in the blocks. Strangers choose
     *  them, so the search must not depend on a hash that they can compute. */
    using Numbers = std::map<std::string_view, size_t>;
    /** A kind of hash (see OriginKey()) and the hash, filled up with zeros. */
    using HashKey = std::array<uint8_t, 33>;
    static HashKey OriginKey(char kind, ByteSpan hash);

    void CollectScripts(const BlockView& block);
    void Consider(ByteSpan item);
    void PutBlock(const BlockView& block, size_t index);
    void PutHeader(const BlockView& block, size_t index);
    void PutTx(const TxView& tx);
    void PutInput(const InputView& input, bool has_witness);
    uint8_t PutOutpoint(const InputView& input);
    uint8_t PutSequence(uint32_t sequence);
    bool PutKeySpend(const InputView& input, std::span<const ByteSpan> items, InputShape shape);
    void PutWitness(std::span<const ByteSpan> items);
    void PutOutput(const OutputView& output);
    void PutScriptSig(ByteSpan script);
    void PutScript(ByteSpan script, bool last_may_be_script);
    void PutItem(ByteSpan item, bool may_be_script);
    bool PutSignatureItem(ByteSpan item);
    bool IsModelledKey(ByteSpan key);
    void PutKey(ByteSpan key);
    void PutScriptRef(size_t index);
    void PutHashes();
    void PutHash(const PendingHash& pending, Numbers& known, PackStream literals);
    std::map<HashKey, Origin> HashOrigins() const;

    Bytes& At(PackStream stream) { return m_out->At(stream); }
    Writer To(PackStream stream) { return m_out->To(stream); }

    std::span<const ByteSpan> m_raw;
    StreamWriter* m_out = nullptr;
    std::vector<BlockView> m_blocks;
    std::vector<bool> m_modelled;
    Numbers m_script_numbers;
    std::vector<ByteSpan> m_scripts;
    size_t m_scripts_used = 0; //!< of m_scripts, in the blocks so far
    Numbers m_key_numbers;
    std::vector<ByteSpan> m_keys;
    size_t m_long_keys = 0; //!< that were looked at
    ByteSpan m_last_long;   //!< the last one
    bool m_last_modelled = false;
    Numbers m_txids;
    size_t m_txid_count = 0;
    uint32_t m_lock_time = 0; //!< the last that was not 0
    std::vector<PendingHash> m_pending;
};

} // namespace ibd
