// Block headers, and blocks parsed in place (BlockView).
#pragma once

#include "primitives/serialize.h"
#include "primitives/txid_hasher.h"
#include "util/result.h"

#include <vector>

namespace ibd {

/** The 80 bytes that are hashed for proof of work. */
struct BlockHeader {
    static constexpr size_t kSize = 80;

    int32_t version = 0;
    BlockHash prev_hash;
    Uint256 merkle_root;
    uint32_t time = 0; //!< seconds since 1970
    uint32_t bits = 0; //!< target in compact form
    uint32_t nonce = 0;

    static BlockHeader FromBytes(const uint8_t* p80);
    std::array<uint8_t, kSize> ToBytes() const;
    BlockHash Hash() const;
    bool operator==(const BlockHeader&) const = default;
};

/** A block parsed in place. Reusable: Parse() keeps the capacity of the arrays, so that parsing
 *  block after block does not allocate. The bytes must outlive the views. One thread at a time;
 *  const access from any. */
class BlockView {
public:
    BlockView() = default;
    BlockView(BlockView&&) = default;
    BlockView& operator=(BlockView&&) = default;
    BlockView(const BlockView&) = delete; // views of a copy would point into the original
    BlockView& operator=(const BlockView&) = delete;

    /** Parses the block at the start of `raw` and computes every txid once from the bytes
     *  (multi-lane). Rejects truncation, counts past the end, superfluous witness and unknown
     *  flags. Bytes after the last transaction are neither part of the block nor of Raw(); as in
     *  Core they are ignored from all sources: submitblock, files, peers. An error names the
     *  offset; the view is then empty. Consensus rules are not checked: a block without
     *  transactions parses. */
    Result<> Parse(ByteSpan raw);
    /** The fault that Parse() found, in the words of Core's log; null: none. */
    const char* Fault() const { return m_fault; }

    const BlockHeader& Header() const { return m_header; }
    /** Hash of the header, computed by Parse(). */
    const BlockHash& Hash() const { return m_hash; }
    ByteSpan Raw() const { return m_raw; }
    std::span<const TxView> Txs() const { return m_txs; }
    std::span<const InputView> Inputs() const { return m_inputs; }    //!< of all transactions
    std::span<const OutputView> Outputs() const { return m_outputs; } //!< of all transactions
    /** BIP141: 3 * size without witnesses + size. */
    int64_t Weight() const { return m_weight; }
    size_t StrippedSize() const { return m_stripped_size; }

private:
    const char* ParseTransactions(Reader& reader);
    void PointViewsIntoArrays();
    void Clear();

    const char* m_fault = nullptr;
    ByteSpan m_raw;
    BlockHeader m_header;
    BlockHash m_hash;
    std::vector<TxView> m_txs;
    std::vector<InputView> m_inputs;
    std::vector<OutputView> m_outputs;
    TxidHasher m_ids;
    int64_t m_weight = 0;
    size_t m_stripped_size = 0;
};

/** The witness ids of all transactions in order, hashed multi-lane. BIP141 replaces the first, the
 *  coinbase's, by zeros in the commitment. `out` is overwritten and keeps its capacity. */
void ComputeWitnessHashes(const BlockView& block, std::vector<Wtxid>& out);

} // namespace ibd
