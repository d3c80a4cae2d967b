// See block_check.h.
#include "consensus/block_check.h"

#include "consensus/limits.h"
#include "consensus/merkle.h"
#include "consensus/pow.h"
#include "consensus/script_flags.h"
#include "consensus/signet.h"
#include "consensus/sigops.h"
#include "consensus/tx_check.h"
#include "consensus/tx_verify.h"
#include "consensus/witness_commitment.h"
#include "script/script.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {
namespace {

using Kind = RuleViolation::Kind;

RuleResult CheckBlockSize(const BlockView& block)
{
    const size_t count = block.Txs().size();
    const size_t limit = kMaxBlockWeight / kWitnessScaleFactor;
    if (count == 0 || count > limit || block.StrippedSize() > limit) {
        return Invalid("bad-blk-length", "size limits failed");
    }
    return {};
}

RuleResult CheckCoinbasePosition(const BlockView& block)
{
    const auto txs = block.Txs();
    if (!txs[0].IsCoinbase()) return Invalid("bad-cb-missing", "first tx is not coinbase");
    const auto is_coinbase = [](const TxView& tx) { return tx.IsCoinbase(); };
    if (std::any_of(txs.begin() + 1, txs.end(), is_coinbase)) {
        return Invalid("bad-cb-multiple", "more than one coinbase");
    }
    return {};
}

RuleResult CheckEachTransaction(const BlockView& block)
{
    for (const TxView& tx : block.Txs()) {
        if (auto bad = CheckTransaction(tx)) {
            bad->detail = fmt::format("Transaction check failed (tx hash {}) {}", tx.txid.ToHex(),
                                      bad->detail);
            return bad;
        }
    }
    return {};
}

RuleResult CheckSigOps(const BlockView& block, int64_t* told)
{
    const int64_t sigops = LegacySigOpCount(block.Inputs(), block.Outputs());
    if (told) *told = sigops;
    if (sigops * kWitnessScaleFactor > kMaxBlockSigOpsCost) {
        return Invalid("bad-blk-sigops", "out-of-bounds SigOpCount");
    }
    return {};
}

RuleResult CheckVersion(const BlockHeader& header, int height, const ConsensusParams& params)
{
    const auto outdated = [&](int32_t version, BuriedDeployment deployment) {
        return header.version < version && BuriedActive(height, params, deployment);
    };
    if (outdated(2, BuriedDeployment::kHeightInCoinbase) ||
        outdated(3, BuriedDeployment::kDerSig) || outdated(4, BuriedDeployment::kCltv)) {
        const auto version = static_cast<uint32_t>(header.version);
        return Violation(Kind::kInvalidHeader, fmt::format("bad-version(0x{:08x})", version),
                         fmt::format("rejected nVersion=0x{:08x} block", version));
    }
    return {};
}

/** A parsed block. Its wtxids are computed when they are needed. */
class ParsedTxs {
public:
    explicit ParsedTxs(const BlockView& block) : m_block(block) {}

    size_t Size() const { return m_block.Txs().size(); }
    const TxView& At(size_t i) const { return m_block.Txs()[i]; }
    MerkleResult Root() const { return BlockMerkleRoot(m_block); }
    Uint256 WitnessRoot() const { return BlockWitnessMerkleRoot(m_block); }

private:
    const BlockView& m_block;
};

/** Transactions that were parsed one by one, with their ids. */
class SeparateTxs {
public:
    explicit SeparateTxs(std::span<const TransactionRef> txs) : m_txs(txs) {}

    size_t Size() const { return m_txs.size(); }
    const TxView& At(size_t i) const { return m_txs[i]->View(); }
    MerkleResult Root() const
    {
        std::vector<Uint256> leaves;
        leaves.reserve(m_txs.size() + 1);
        for (const TransactionRef& tx : m_txs) leaves.push_back(tx->Id());
        return MerkleRoot(std::move(leaves));
    }
    Uint256 WitnessRoot() const
    {
        std::vector<Uint256> leaves(1); // zero for the coinbase (BIP141)
        leaves.reserve(m_txs.size() + 1);
        for (const TransactionRef& tx : m_txs.subspan(1)) leaves.push_back(tx->WitnessId());
        return MerkleRoot(std::move(leaves)).root;
    }

private:
    std::span<const TransactionRef> m_txs;
};

template <typename Txs>
RuleResult CheckRoot(const BlockHeader& header, const Txs& txs)
{
    const MerkleResult merkle = txs.Root();
    if (header.merkle_root != merkle.root) {
        return Violation(Kind::kMutated, "bad-txnmrklroot", "hashMerkleRoot mismatch");
    }
    if (merkle.mutated) {
        return Violation(Kind::kMutated, "bad-txns-duplicate", "duplicate transaction");
    }
    return {};
}

/** Checks the hash that the coinbase commits to: double SHA-256 of witness root and reserved value.
 */
template <typename Txs>
RuleResult CheckCommitment(const Txs& txs, ByteSpan script)
{
    const InputView& input = txs.At(0).inputs[0];
    ByteSpan reserved;
    ForEachWitnessItem(input, [&](ByteSpan item) { reserved = item; });
    if (input.witness_items != 1 || reserved.size() != kWitnessReservedSize) {
        return Violation(Kind::kMutated, "bad-witness-nonce-size",
                         "CheckWitnessMalleation : invalid witness reserved value size");
    }
    const Uint256 hash = WitnessCommitmentHash(txs.WitnessRoot(), reserved);
    const ByteSpan committed = script.subspan(kCommitmentTag.size(), hash.size());
    if (!std::equal(committed.begin(), committed.end(), hash.data())) {
        return Violation(Kind::kMutated, "bad-witness-merkle-match",
                         "CheckWitnessMalleation : witness merkle commitment mismatch");
    }
    return {};
}

template <typename Txs, typename Predicate>
bool AnyOf(const Txs& txs, Predicate holds)
{
    for (size_t i = 0; i < txs.Size(); ++i) {
        if (holds(txs.At(i))) return true;
    }
    return false;
}

template <typename Txs>
RuleResult CheckWitness(const Txs& txs, bool expect_commitment)
{
    if (expect_commitment && txs.Size() > 0 && !txs.At(0).inputs.empty()) {
        const int index = WitnessCommitmentIndex(txs.At(0));
        if (index >= 0) {
            return CheckCommitment(txs, txs.At(0).outputs[size_t(index)].script_pubkey);
        }
    }
    if (AnyOf(txs, [](const TxView& tx) { return tx.has_witness; })) {
        return Violation(Kind::kMutated, "unexpected-witness",
                         "CheckWitnessMalleation : unexpected witness data found");
    }
    return {};
}

template <typename Txs>
bool AreMutated(const BlockHeader& header, const Txs& txs, bool check_witness_root)
{
    if (CheckRoot(header, txs)) return true;
    if (txs.Size() == 0 || !txs.At(0).IsCoinbase()) {
        // A 64-byte transaction may be an inner node of the merkle tree presented as a leaf. With a
        // coinbase before it, that takes 224 bits of work.
        return AnyOf(txs, [](const TxView& tx) { return tx.stripped_size == 64; });
    }
    return CheckWitness(txs, check_witness_root).has_value();
}

} // namespace

RuleResult CheckBlockHeader(const BlockHeader& header, const BlockHash& hash,
                            const ConsensusParams& params)
{
    if (!CheckProofOfWork(hash, header.bits, params)) {
        return Violation(Kind::kInvalidHeader, "high-hash", "proof of work failed");
    }
    return {};
}

RuleResult ContextualCheckBlockHeader(const BlockHeader& header, const Ancestry& prev,
                                      const ConsensusParams& params, int64_t now)
{
    const int height = prev.Height() + 1;
    if (header.bits != GetNextWorkRequired(prev, header.time, params)) {
        return Violation(Kind::kInvalidHeader, "bad-diffbits", "incorrect proof of work");
    }
    if (header.time <= prev.MedianTimePast()) {
        return Violation(Kind::kInvalidHeader, "time-too-old", "block's timestamp is too early");
    }
    if (params.enforce_bip94 && height % params.DifficultyAdjustmentInterval() == 0 &&
        int64_t{header.time} < int64_t{prev.Tip().time} - kMaxTimewarp) {
        return Violation(Kind::kInvalidHeader, "time-timewarp-attack",
                         "block's timestamp is too early on diff adjustment block");
    }
    if (header.time > now + kMaxFutureBlockTime) {
        return Violation(Kind::kTimeFuture, "time-too-new",
                         "block timestamp too far in the future");
    }
    return CheckVersion(header, height, params);
}

RuleResult CheckMerkleRoot(const BlockView& block)
{
    return CheckRoot(block.Header(), ParsedTxs(block));
}

RuleResult CheckBlock(const BlockView& block, const ConsensusParams& params,
                      const BlockCheckOptions& options)
{
    if (options.check_pow) {
        IBD_RETURN_IF_VIOLATED(CheckBlockHeader(block.Header(), block.Hash(), params));
        if (params.signet_blocks) {
            const ScriptSignetVerifier interpreter;
            const SignetVerifier& verifier = options.signet ? *options.signet : interpreter;
            IBD_RETURN_IF_VIOLATED(CheckSignetSolution(block, params, verifier));
        }
    }
    if (options.check_merkle_root) IBD_RETURN_IF_VIOLATED(CheckMerkleRoot(block));
    IBD_RETURN_IF_VIOLATED(CheckBlockSize(block));
    if (!TransactionsAreSound(block)) {
        IBD_RETURN_IF_VIOLATED(CheckCoinbasePosition(block));
        IBD_RETURN_IF_VIOLATED(CheckEachTransaction(block));
    }
    return CheckSigOps(block, options.legacy_sigops);
}

RuleResult ContextualCheckBlock(const BlockView& block, const Ancestry& prev,
                                const ConsensusParams& params)
{
    const int height = prev.Height() + 1;
    const bool median_time = height > 0 && BuriedActive(height, params, BuriedDeployment::kCsv);
    const int64_t cutoff = median_time ? prev.MedianTimePast() : block.Header().time;
    for (const TxView& tx : block.Txs()) {
        if (!IsFinalTx(tx, height, cutoff)) {
            return Invalid("bad-txns-nonfinal", "non-final transaction");
        }
    }
    IBD_RETURN_IF_VIOLATED(CheckCoinbaseHeight(block, height, params));
    const bool segwit = BuriedActive(height, params, BuriedDeployment::kSegwit);
    IBD_RETURN_IF_VIOLATED(CheckWitnessMalleation(block, segwit));
    if (block.Weight() > kMaxBlockWeight) {
        return Invalid("bad-blk-weight", "ContextualCheckBlock : weight limit failed");
    }
    return {};
}

RuleResult CheckCoinbaseHeight(const BlockView& block, int height, const ConsensusParams& params)
{
    if (!BuriedActive(height, params, BuriedDeployment::kHeightInCoinbase)) return {};
    const Bytes expected = Bip34Prefix(height);
    const ByteSpan script = block.Txs()[0].inputs[0].script_sig;
    if (script.size() >= expected.size() &&
        std::equal(expected.begin(), expected.end(), script.begin())) {
        return {};
    }
    return Invalid("bad-cb-height", "block height mismatch in coinbase");
}

RuleResult CheckWitnessMalleation(const BlockView& block, bool expect_commitment)
{
    return CheckWitness(ParsedTxs(block), expect_commitment);
}

bool IsMutated(const RuleResult& found) { return found && found->kind == Kind::kMutated; }

bool IsBlockMutated(const BlockView& block, bool check_witness_root)
{
    return AreMutated(block.Header(), ParsedTxs(block), check_witness_root);
}

bool IsBlockMutated(const BlockHeader& header, std::span<const TransactionRef> txs,
                    bool check_witness_root)
{
    return AreMutated(header, SeparateTxs(txs), check_witness_root);
}

Bytes Bip34Prefix(int height)
{
    Bytes prefix;
    AppendPushInt(prefix, height);
    return prefix;
}

} // namespace ibd
