// See signet.h.
#include "consensus/signet.h"

#include "consensus/witness_commitment.h"
#include "consensus/merkle.h"
#include "script/script.h"
#include "script/verify.h"

#include <algorithm>

namespace ibd {
namespace {

constexpr uint8_t kSolutionTag[] = {0xec, 0xc7, 0xda, 0xa2};

bool HasSolutionTag(ByteSpan push)
{
    return push.size() > sizeof kSolutionTag &&
           std::equal(std::begin(kSolutionTag), std::end(kSolutionTag), push.begin());
}

/** Removes the solution from the commitment script, except its tag. Empty: there is none, and the
 *  script is unchanged. */
Bytes TakeSolution(Bytes& commitment)
{
    Bytes rest;
    Bytes solution;
    bool found = false;
    for (ScriptIterator it(commitment); it.Next();) {
        ByteSpan push = it.Data();
        if (!found && HasSolutionTag(push)) {
            solution.assign(push.begin() + sizeof kSolutionTag, push.end());
            push = push.first(sizeof kSolutionTag);
            found = true;
        }
        if (push.empty()) {
            rest.push_back(it.Op());
        } else {
            AppendPush(rest, push);
        }
    }
    if (found) commitment = std::move(rest);
    return solution;
}

/** Reads the solution: script, then witness stack, then the end. */
bool ReadSolution(ByteSpan solution, MutableInput& input)
{
    Reader reader(solution);
    const ByteSpan script = reader.VarBytes();
    input.script_sig.assign(script.begin(), script.end());
    const uint64_t items = reader.CompactSize();
    for (uint64_t i = 0; i < items && reader.Ok(); ++i) {
        const ByteSpan item = reader.VarBytes();
        input.witness.emplace_back(item.begin(), item.end());
    }
    return reader.AtEnd();
}

/** The signed data: the header's fields that do not depend on the work, with the merkle root of the
 *  block before the solution was inserted. */
Bytes SignedData(const BlockView& block, const MutableTransaction& coinbase)
{
    std::vector<Uint256> leaves{coinbase.Id()};
    for (const TxView& tx : block.Txs().subspan(1)) leaves.push_back(tx.txid);
    const BlockHeader& header = block.Header();
    Bytes data;
    Writer writer(data);
    writer.U32(static_cast<uint32_t>(header.version));
    writer.Hash(header.prev_hash);
    writer.Hash(MerkleRoot(std::move(leaves)).root);
    writer.U32(header.time);
    return data;
}

} // namespace

std::optional<SignetTransactions> MakeSignetTransactions(const BlockView& block, ByteSpan challenge)
{
    if (block.Txs().empty()) return {};
    MutableTransaction coinbase = MutableTransaction::FromView(block.Txs()[0]);
    const int index = WitnessCommitmentIndex(block.Txs()[0]);
    if (index < 0) return {};

    SignetTransactions txs;
    MutableInput spending;
    spending.sequence = 0;
    const Bytes solution = TakeSolution(coinbase.outputs[size_t(index)].script_pubkey);
    if (!solution.empty() && !ReadSolution(solution, spending)) return {};

    MutableInput funding;
    funding.sequence = 0;
    funding.script_sig = {OP_0};
    AppendPush(funding.script_sig, SignedData(block, coinbase));
    txs.to_spend.version = 0;
    txs.to_spend.inputs = {funding};
    txs.to_spend.outputs = {{0, Bytes(challenge.begin(), challenge.end())}};

    spending.prevout = {txs.to_spend.Id(), 0};
    txs.to_sign.version = 0;
    txs.to_sign.inputs = {spending};
    txs.to_sign.outputs = {{0, {OP_RETURN}}};
    return txs;
}

bool ScriptSignetVerifier::Verify(const TxView& to_sign, ByteSpan challenge) const
{
    constexpr ScriptFlags kFlags = kVerifyP2sh | kVerifyWitness | kVerifyDerSig | kVerifyNullDummy;
    const SpentOutput spent{0, challenge};
    const TxHashes hashes(to_sign, {&spent, 1});
    return VerifyInput(to_sign, 0, spent, hashes, kFlags) == ScriptError::kOk;
}

RuleResult CheckSignetSolution(const BlockView& block, const ConsensusParams& params,
                               const SignetVerifier& verifier)
{
    if (block.Hash() == params.genesis_hash) return {};
    const auto bad = Invalid("bad-signet-blksig", "signet block signature validation failure");
    const auto txs = MakeSignetTransactions(block, params.signet_challenge);
    if (!txs) return bad;
    const auto to_sign = Transaction::Parse(txs->to_sign.Serialize());
    if (!to_sign || !verifier.Verify(to_sign.Value()->View(), params.signet_challenge)) return bad;
    return {};
}

} // namespace ibd
