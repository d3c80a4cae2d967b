// See draft_block.h.
#include "draft_block.h"

#include "consensus/block_check.h"
#include "consensus/merkle.h"
#include "consensus/pow.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

Bytes Serialize(const BlockHeader& header, const std::vector<MutableTransaction>& txs)
{
    Bytes raw;
    Writer writer(raw);
    writer.Raw(header.ToBytes());
    writer.CompactSize(txs.size());
    for (const MutableTransaction& tx : txs) writer.Raw(tx.Serialize());
    return raw;
}

/** Commits the coinbase to the witnesses, if it does so at all. */
void RenewCommitment(std::vector<MutableTransaction>& txs)
{
    const Bytes raw = Serialize({}, txs);
    BlockView view;
    REQUIRE(view.Parse(raw).Ok());
    const int index = WitnessCommitmentIndex(view.Txs()[0]);
    if (index < 0) return;
    Bytes preimage;
    Append(preimage, BlockWitnessMerkleRoot(view).Span());
    Append(preimage, txs[0].inputs[0].witness.at(0));
    const Hash32 hash = Sha256d(preimage);
    std::copy(hash.begin(), hash.end(),
              txs[0].outputs[static_cast<size_t>(index)].script_pubkey.begin() + 6);
}

} // namespace

DraftBlock DraftBlock::Of(ByteSpan raw)
{
    BlockView view;
    REQUIRE(view.Parse(raw).Ok());
    DraftBlock draft;
    draft.header = view.Header();
    for (const TxView& tx : view.Txs()) draft.txs.push_back(MutableTransaction::FromView(tx));
    return draft;
}

Bytes DraftBlock::Seal(const BlockHash& prev, const ChainParams& params) const
{
    std::vector<MutableTransaction> sealed = txs;
    if (renew_commitment) RenewCommitment(sealed);
    BlockHeader head = header;
    head.prev_hash = prev;
    const Bytes draft = Serialize(head, sealed);
    BlockView view;
    REQUIRE(view.Parse(draft).Ok());
    head.merkle_root = BlockMerkleRoot(view).root;
    while (!CheckProofOfWork(head.Hash(), head.bits, params.consensus)) ++head.nonce;
    return Serialize(head, sealed);
}

} // namespace ibd::test
