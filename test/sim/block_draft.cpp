// See block_draft.h.
#include "sim/block_draft.h"

#include "consensus/block_check.h"
#include "consensus/witness_commitment.h"
#include "consensus/merkle.h"
#include "consensus/pow.h"
#include "crypto/sha256.h"
#include "script/script.h"
#include "util/check.h"

#include <algorithm>

namespace ibd::sim {

namespace {

/** OP_RETURN, a push of 36 bytes, and the tag of BIP141. */
constexpr std::array<uint8_t, 6> kCommitmentHead = {OP_RETURN, 0x24, 0xaa, 0x21, 0xa9, 0xed};

} // namespace

BlockDraft::BlockDraft(const BlockView& view) : header(view.Header())
{
    for (const TxView& tx : view.Txs()) txs.push_back(MutableTransaction::FromView(tx));
}

BlockDraft BlockDraft::Of(ByteSpan raw)
{
    BlockView view;
    CHECK(view.Parse(raw).Ok());
    return BlockDraft(view);
}

// Equal pairs at the end are hashed like others, because a test may need them.
void BlockDraft::FixRoot()
{
    std::vector<Uint256> ids;
    for (const MutableTransaction& tx : txs) ids.push_back(tx.Id());
    header.merkle_root = MerkleRoot(std::move(ids)).root;
}

int BlockDraft::CommitmentIndex() const
{
    const Bytes raw = txs[0].Serialize();
    const auto coinbase = Transaction::Parse(raw);
    return coinbase ? WitnessCommitmentIndex((*coinbase)->View()) : -1;
}

void BlockDraft::RenewCommitment()
{
    const Bytes raw = ToBytes();
    BlockView view;
    if (!view.Parse(raw) || view.Txs().empty() || txs[0].inputs.empty()) return;
    const int at = WitnessCommitmentIndex(view.Txs()[0]);
    if (at < 0) return;
    auto& witness = txs[0].inputs[0].witness;
    if (witness.empty()) witness = {Bytes(32)};
    Bytes preimage;
    Append(preimage, BlockWitnessMerkleRoot(view).Span());
    Append(preimage, witness[0]);
    const Hash32 hash = Sha256d(preimage);
    Bytes& script = txs[0].outputs[static_cast<size_t>(at)].script_pubkey;
    std::copy(hash.begin(), hash.end(), script.begin() + kCommitmentHead.size());
}

void BlockDraft::Commit()
{
    txs[0].inputs[0].witness = {Bytes(32)};
    if (CommitmentIndex() < 0) {
        Bytes script(kCommitmentHead.begin(), kCommitmentHead.end());
        script.resize(script.size() + 32);
        txs[0].outputs.push_back({0, std::move(script)});
    }
    RenewCommitment();
}

Bytes BlockDraft::ToBytes() const
{
    Bytes raw;
    Writer writer(raw);
    writer.Raw(header.ToBytes());
    writer.CompactSize(txs.size());
    for (const MutableTransaction& tx : txs) writer.Raw(tx.Serialize());
    return raw;
}

void Mine(BlockHeader& header, const ChainParams& params)
{
    const uint32_t bits = params.genesis.header.bits;
    while (!CheckProofOfWork(header.Hash(), bits, params.consensus)) ++header.nonce;
}

void MineBytes(Bytes& block, const ChainParams& params)
{
    BlockHeader header = BlockHeader::FromBytes(block.data());
    Mine(header, params);
    const auto bytes = header.ToBytes();
    std::copy(bytes.begin(), bytes.end(), block.begin());
}

} // namespace ibd::sim
