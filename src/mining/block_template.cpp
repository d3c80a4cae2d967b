// See block_template.h.
#include "mining/block_template.h"

#include "chain/header_tree.h"
#include "consensus/limits.h"
#include "consensus/merkle.h"
#include "consensus/pow.h"
#include "consensus/witness_commitment.h"
#include "util/prefetch.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ibd {

namespace {

bool IsCommitment(const MutableOutput& output)
{
    const Bytes& script = output.script_pubkey;
    return script.size() >= kCommitmentScriptSize &&
           std::equal(kCommitmentTag.begin(), kCommitmentTag.end(), script.begin());
}

} // namespace

std::vector<Bytes> ReservedWitness() { return {Bytes(kWitnessReservedSize, 0)}; }

Bytes BlockTemplate::CommitmentScript() const
{
    const auto& outputs = coinbase.outputs;
    const auto it = std::find_if(outputs.rbegin(), outputs.rend(), IsCommitment);
    return it == outputs.rend() ? Bytes{} : it->script_pubkey;
}

void BlockTemplate::Commit()
{
    std::vector<Uint256> leaves(1); // the coinbase counts as zeros
    for (const TransactionRef& tx : txs) leaves.push_back(tx->WitnessId());
    auto& outputs = coinbase.outputs;
    const auto old = std::find_if(outputs.rbegin(), outputs.rend(), IsCommitment);
    if (old != outputs.rend()) outputs.erase(std::next(old).base());
    const Bytes reserved(kWitnessReservedSize, 0);
    outputs.push_back({0, WitnessCommitmentScript(MerkleRoot(std::move(leaves)).root, reserved)});
}

void BlockTemplate::Seal()
{
    std::vector<Uint256> leaves{coinbase.Id()};
    for (const TransactionRef& tx : txs) leaves.push_back(tx->Id());
    header.merkle_root = MerkleRoot(std::move(leaves)).root;
}

Bytes BlockTemplate::Serialize() const
{
    Bytes out;
    Writer writer(out);
    writer.Raw(header.ToBytes());
    writer.CompactSize(txs.size() + 1);
    writer.Raw(coinbase.Serialize());
    out.reserve(out.size() + std::accumulate(txs.begin(), txs.end(), size_t{0},
                                             [](size_t sum, const TransactionRef& tx) {
                                                 return sum + tx->View().raw.size();
                                             }));
    constexpr size_t kAhead = 8;
    for (size_t i = 0; i < txs.size(); ++i) {
        if (i + kAhead < txs.size()) {
            const ByteSpan later = txs[i + kAhead]->View().raw;
            PrefetchBytes(later.data(), later.size());
        }
        writer.Raw(txs[i]->View().raw);
    }
    return out;
}

int64_t MinimumBlockTime(const HeaderNode& prev, const ConsensusParams& params)
{
    const int64_t least = prev.MedianTimePast() + 1;
    if ((prev.height + 1) % params.DifficultyAdjustmentInterval() != 0) return least;
    return std::max(least, int64_t{prev.time} - kMaxTimewarp);
}

void UpdateTime(BlockHeader& header, const HeaderNode& prev, const ConsensusParams& params,
                int64_t now)
{
    const int64_t time = std::max(MinimumBlockTime(prev, params), now);
    if (int64_t{header.time} < time) header.time = static_cast<uint32_t>(time);
    if (params.pow_allow_min_difficulty_blocks) {
        header.bits = GetNextWorkRequired(NodeAncestry(&prev), header.time, params);
    }
}

ProofSearch FindProof(BlockHeader& header, uint64_t& tries, const ConsensusParams& params,
                      const std::atomic<bool>& interrupt)
{
    constexpr uint32_t kLastNonce = std::numeric_limits<uint32_t>::max();
    while (tries > 0 && header.nonce < kLastNonce && !interrupt &&
           !CheckProofOfWork(header.Hash(), header.bits, params)) {
        ++header.nonce;
        --tries;
    }
    if (tries == 0 || interrupt) return ProofSearch::kGaveUp;
    return header.nonce == kLastNonce ? ProofSearch::kNoneLeft : ProofSearch::kFound;
}

} // namespace ibd
