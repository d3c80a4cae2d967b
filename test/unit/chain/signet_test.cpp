// Signet solutions (BIP325) of the public network's first blocks, verified by the interpreter and
// by hand: the challenge is a bare 1-of-2 multisig, so a signature over the legacy hash of to_sign
// must fit one key.
#include "chain_data.h"
#include "consensus/block_check.h"
#include "consensus/signet.h"
#include "crypto/secp256k1.h"
#include "crypto/sha256.h"
#include "script/script.h"

#include <algorithm>

using namespace ibd;
using namespace ibd::test;

namespace {

/** Runs only OP_1 <key> <key> OP_2 OP_CHECKMULTISIG, with hash type ALL. */
class OneOfTwoVerifier final : public SignetVerifier {
public:
    bool Verify(const TxView& to_sign, ByteSpan challenge) const override
    {
        ScriptIterator spend(to_sign.inputs[0].script_sig);
        if (!spend.Next() || spend.Op() != OP_0 || !spend.Next()) return false;
        const ByteSpan signature = spend.Data();
        if (signature.empty() || signature.back() != 1 || spend.Next()) return false;
        const Hash32 hash = LegacyHash(to_sign, challenge);
        for (ScriptIterator it(challenge); it.Next();) {
            if (it.Data().size() != 33) continue;
            if (VerifyEcdsa(it.Data(), signature.first(signature.size() - 1), hash)) return true;
        }
        return false;
    }

private:
    static Hash32 LegacyHash(const TxView& to_sign, ByteSpan challenge)
    {
        MutableTransaction tx = MutableTransaction::FromView(to_sign);
        tx.inputs[0].script_sig.assign(challenge.begin(), challenge.end());
        Bytes preimage = tx.Serialize(false);
        Writer(preimage).U32(1);
        return Sha256d(preimage);
    }
};

} // namespace

TEST_CASE("a signet block is never accepted without its solution")
{
    const auto path = TestData("floresta/utreexo_blocks.json");
    if (!path) return;
    const UniValue json = ReadTestJson(*path);
    const Bytes raw = *FromHex(json[1]["block"].get_str());
    BlockView view;
    REQUIRE(view.Parse(raw));
    CHECK(!CheckBlock(view, ParamsOf(Network::kSignet).consensus));
    NetworkOptions options;
    options.signet_challenge = Bytes{OP_RETURN};
    const ChainParams other = MakeChainParams(Network::kSignet, options);
    const RuleResult bad = CheckBlock(view, other.consensus);
    REQUIRE(bad);
    CHECK(bad->ToString() == "bad-signet-blksig, signet block signature validation failure");
    // The original solution leaves something on the stack; a challenge of OP_NOP lets it through.
    options.signet_challenge = Bytes{OP_NOP};
    CHECK(!CheckBlock(view, MakeChainParams(Network::kSignet, options).consensus));
}

TEMPLATE_TEST_CASE("solutions of real signet blocks verify, those of changed blocks do not", "",
                   OneOfTwoVerifier, ScriptSignetVerifier)
{
    const auto path = TestData("floresta/utreexo_blocks.json");
    if (!path) return;
    const UniValue json = ReadTestJson(*path);
    const TestType verifier;
    const ConsensusParams& consensus = ParamsOf(Network::kSignet).consensus;
    HeaderTree tree(ParamsOf(Network::kSignet));
    size_t solved = 0;
    for (const UniValue& entry : json.getValues()) {
        const Bytes raw = *FromHex(entry["block"].get_str());
        BlockView view;
        REQUIRE(view.Parse(raw));
        HeaderNode* node = MustAccept(tree, view.Header());
        CAPTURE(node->height);
        REQUIRE(node->height == entry["height"].get_int());
        BlockCheckOptions options;
        options.signet = &verifier;
        REQUIRE(!CheckBlock(view, consensus, options));
        if (node->height == 0) continue; // genesis has no solution and needs none
        REQUIRE(!ContextualCheckBlock(view, NodeAncestry(node->prev), consensus));
        ++solved;

        // The time is signed, the nonce is not.
        Bytes changed = raw;
        changed[68] ^= 1;
        REQUIRE(view.Parse(changed));
        const RuleResult bad = CheckSignetSolution(view, consensus, verifier);
        REQUIRE(bad);
        CHECK(bad->reason == "bad-signet-blksig");
        changed = raw;
        changed[76] ^= 1;
        REQUIRE(view.Parse(changed));
        CHECK(!CheckSignetSolution(view, consensus, verifier));
        // Nor do any of the transactions go unsigned.
        changed = raw;
        changed[raw.size() - 1] ^= 1; // lock time of the last one
        REQUIRE(view.Parse(changed));
        CHECK(CheckSignetSolution(view, consensus, verifier));
    }
    CHECK(solved == 120);
}

namespace {

/** A block of a coinbase alone, whose only output has the given script. */
Bytes BlockWithOutput(const Bytes& script)
{
    MutableTransaction coinbase;
    coinbase.inputs.resize(1);
    coinbase.inputs[0].script_sig = {OP_1, OP_1};
    coinbase.outputs.push_back({0, script});
    BlockHeader header;
    header.merkle_root = coinbase.Id();
    Bytes raw;
    Append(raw, header.ToBytes());
    raw.push_back(1);
    Append(raw, coinbase.Serialize());
    return raw;
}

/** Whether the block with these pushes after the witness commitment solves the challenge. */
bool Solves(const std::vector<Bytes>& pushes, const Bytes& challenge)
{
    Bytes script{OP_RETURN, 0x24, 0xaa, 0x21, 0xa9, 0xed};
    script.resize(38);
    for (const Bytes& push : pushes) AppendPush(script, push);
    const Bytes raw = BlockWithOutput(script);
    BlockView view;
    REQUIRE(view.Parse(raw));
    ConsensusParams params = ParamsOf(Network::kSignet).consensus;
    params.signet_challenge = challenge;
    return !CheckSignetSolution(view, params, ScriptSignetVerifier());
}

} // namespace

TEST_CASE("the solution is the rest of the first push that begins with its magic and has a rest")
{
    const Bytes trivial{OP_1};
    const auto with_magic = [](const Bytes& rest) {
        Bytes push{0xec, 0xc7, 0xda, 0xa2};
        Append(push, rest);
        return push;
    };
    // A missing solution counts as an empty one: a challenge may require nothing.
    CHECK(Solves({}, trivial));
    CHECK(Solves({{1, 2, 3}}, trivial));
    CHECK(Solves({with_magic({})}, trivial));
    CHECK(!Solves({}, {OP_0}));
    // Script and witness, both empty; no less and no more.
    CHECK(!Solves({with_magic({0})}, trivial));
    CHECK(Solves({with_magic({0, 0})}, trivial));
    CHECK(!Solves({with_magic({0, 0, 0})}, trivial));
    CHECK(Solves({with_magic({1, OP_1, 0})}, trivial)); // an unclean stack will do
    CHECK(!Solves({with_magic({2, OP_1, 0})}, trivial));
    CHECK(!Solves({with_magic({0xfd, 0, 0, 0})}, trivial)); // a length that is not minimal
    CHECK(!Solves({with_magic({0, 1})}, trivial));
    // Only the first counts.
    CHECK(Solves({{9, 9}, with_magic({}), with_magic({0, 0}), with_magic({0})}, trivial));
    CHECK(!Solves({with_magic({0}), with_magic({0, 0})}, trivial));

    // Scripts and witnesses are used: OP_NOP takes the script's value, P2WSH asks for OP_1.
    CHECK(!Solves({with_magic({0, 0})}, {OP_NOP}));
    CHECK(Solves({with_magic({1, OP_1, 0})}, {OP_NOP}));
    Bytes program{OP_0, 32};
    Append(program, Sha256Of(Bytes{OP_1}));
    CHECK(Solves({with_magic({0, 1, 1, OP_1})}, program));
    CHECK(!Solves({with_magic({0, 1, 1, OP_2})}, program));
    CHECK(!Solves({with_magic({0, 0})}, program));
}

TEST_CASE("a block without witness commitment or transactions solves no challenge")
{
    ConsensusParams params = ParamsOf(Network::kSignet).consensus;
    params.signet_challenge = {OP_1};
    BlockView view;
    const Bytes plain = BlockWithOutput({OP_1});
    REQUIRE(view.Parse(plain));
    CHECK(CheckSignetSolution(view, params, ScriptSignetVerifier()));
    Bytes empty(plain.begin(), plain.begin() + BlockHeader::kSize);
    empty.push_back(0);
    REQUIRE(view.Parse(empty));
    CHECK(CheckSignetSolution(view, params, ScriptSignetVerifier()));
}
