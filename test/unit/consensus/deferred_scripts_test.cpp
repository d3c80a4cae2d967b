// Blocks whose signatures are verified as a batch, against the same blocks verified input by input:
// the verdict and the named input are the same for any corruption.
#include "consensus/deferred_scripts.h"

#include "script/script.h"
#include "sim/script_book.h"
#include "sim/spender.h"
#include "support/testdata.h"

#include <cstdlib>

#include "support/catch.h"

namespace ibd {

namespace {

constexpr ScriptFlags kFlags = kVerifyP2sh | kVerifyDerSig | kVerifyNullDummy | kVerifyCltv |
                               kVerifyCsv | kVerifyWitness | kVerifyTaproot;

/** Transactions with signed inputs of every kind, and the outputs that they spend. */
struct SignedBlock {
    std::vector<TransactionRef> txs;
    std::vector<std::vector<SpentOutput>> spent;
};

MutableTransaction SignedTx(const sim::ScriptBook& book, sim::Rng& rng,
                            std::vector<SpentOutput>& spent)
{
    MutableTransaction tx;
    std::vector<sim::CoinToUnlock> coins;
    for (size_t i = rng.Below(6) + 1; i > 0; --i) {
        const uint16_t script = book.Draw(rng);
        const auto value = static_cast<Amount>(rng.Below(100'000) + 1);
        coins.push_back({script, value});
        spent.push_back({value, book.At(script).script_pubkey});
        MutableInput input;
        input.prevout = {Txid::FromBytes(test::RandomBytes(32).data()), static_cast<uint32_t>(i)};
        tx.inputs.push_back(input);
    }
    tx.outputs = {{1, Bytes{0x51}}, {2, Bytes{0x51}}, {3, Bytes{0x51}},
                  {4, Bytes{0x51}}, {5, Bytes{0x51}}, {6, Bytes{0x51}}};
    sim::UnlockInputs(tx, coins, book, rng);
    return tx;
}

void SpoilByte(Bytes& bytes, sim::Rng& rng)
{
    if (!bytes.empty()) bytes[rng.Below(bytes.size())] ^= static_cast<uint8_t>(1 + rng.Below(255));
}

/** Changes a byte of what unlocks one input: of a signature, mostly. */
void Spoil(MutableTransaction& tx, sim::Rng& rng)
{
    MutableInput& input = tx.inputs[rng.Below(tx.inputs.size())];
    if (input.witness.empty() || (!input.script_sig.empty() && rng.Below(2) == 0)) {
        SpoilByte(input.script_sig, rng);
    } else {
        SpoilByte(input.witness[rng.Below(input.witness.size())], rng);
    }
}

SignedBlock MakeBlock(const sim::ScriptBook& book, sim::Rng& rng, size_t txs, unsigned one_bad_in)
{
    SignedBlock block;
    for (size_t i = 0; i < txs; ++i) {
        std::vector<SpentOutput> spent;
        MutableTransaction tx = SignedTx(book, rng, spent);
        if (one_bad_in != 0 && rng.Below(one_bad_in) == 0) Spoil(tx, rng);
        block.txs.push_back(tx.Freeze());
        block.spent.push_back(std::move(spent));
    }
    return block;
}

RuleResult OneByOne(const SignedBlock& block)
{
    for (size_t i = 0; i < block.txs.size(); ++i) {
        const TxView& tx = block.txs[i]->View();
        const TxHashes hashes(tx, block.spent[i]);
        if (auto bad = CheckInputScripts(tx, block.spent[i], hashes, kFlags, 0, tx.inputs.size())) {
            return bad;
        }
    }
    return std::nullopt;
}

RuleResult Deferred(DeferredScripts& scripts, const SignedBlock& block)
{
    scripts.Begin(kFlags, true);
    for (size_t i = 0; i < block.txs.size(); ++i) {
        if (auto bad = scripts.Add(block.txs[i]->View(), block.spent[i])) return bad;
    }
    return scripts.Finish();
}

std::string Text(const RuleResult& result) { return result ? result->ToString() : "valid"; }

} // namespace

TEST_CASE("deferred scripts: every valid block passes, and an invalid one fails at the same input")
{
    sim::Rng& rng = test::TestRng();
    const sim::ScriptBook book(rng.Below(1'000), true);
    DeferredScripts on(LanesMode::kOn), check(LanesMode::kCheck), off(LanesMode::kOff);
    size_t valid = 0;
    for (int round = 0; round < 60; ++round) {
        const unsigned one_bad_in = round % 3 == 0 ? 0 : (round % 3 == 1 ? 200 : 12);
        const SignedBlock block = MakeBlock(book, rng, rng.Below(120) + 1, one_bad_in);
        const std::string wanted = Text(OneByOne(block));
        for (DeferredScripts* scripts : {&on, &check, &off}) {
            REQUIRE(Text(Deferred(*scripts, block)) == wanted);
        }
        valid += wanted == "valid" ? 1 : 0;
    }
    CHECK(valid >= 20);
    CHECK(valid < 60);
}

// A block that is given up in the middle leaves nothing behind for the next one.
TEST_CASE("deferred scripts: what one block left is forgotten at the next")
{
    sim::Rng& rng = test::TestRng();
    const sim::ScriptBook book(7, true);
    DeferredScripts scripts(LanesMode::kOn);
    {
        const SignedBlock bad = MakeBlock(book, rng, 20, 1);
        scripts.Begin(kFlags, true);
        for (size_t i = 0; i < bad.txs.size(); ++i) {
            if (scripts.Add(bad.txs[i]->View(), bad.spent[i])) break;
        }
    }
    const SignedBlock good = MakeBlock(book, rng, 20, 0);
    CHECK(Text(Deferred(scripts, good)) == "valid");
}

namespace {

/** A signature in DER that no key and message of the tests fit, with its hash type. Lanes do not
 *  decide it, because its r is small. */
const Bytes kFalseSignature = {0x30, 6, 2, 1, 1, 2, 1, 1, 1};

/** Another, which they do. */
Bytes DecidedFalseSignature()
{
    Bytes signature = {0x30, 37, 2, 32};
    Append(signature, Bytes(32, 0x55));
    Append(signature, Bytes{2, 1, 1, 1});
    return signature;
}

/** A block of which every input spends `script`, which must outlive it, with the pushes of
 *  `script_sig`. */
SignedBlock BlockOf(const Bytes& script, const Bytes& script_sig, size_t txs, size_t inputs,
                    size_t output_size)
{
    SignedBlock block;
    for (size_t i = 0; i < txs; ++i) {
        MutableTransaction tx;
        for (size_t k = 0; k < inputs; ++k) {
            MutableInput input;
            input.prevout = {Txid::FromBytes(test::RandomBytes(32).data()), 0};
            input.script_sig = script_sig;
            tx.inputs.push_back(input);
        }
        tx.outputs = {{1, Bytes(output_size, 0x51)}};
        block.txs.push_back(tx.Freeze());
        block.spent.emplace_back(inputs, SpentOutput{1, script});
    }
    return block;
}

Bytes PushOf(const Bytes& item)
{
    Bytes out;
    AppendPush(out, item);
    return out;
}

Bytes SomeKey()
{
    const CompressedKey key = Signer().PublicKey(Sha256Of(test::RandomBytes(8)));
    return Bytes(key.begin(), key.end());
}

/** CHECKSIG with a false signature, which the script expects to be false. */
Bytes ExpectsFalse()
{
    Bytes script = PushOf(SomeKey());
    Append(script, Bytes{OP_CHECKSIG, OP_NOT});
    return script;
}

/** A false CHECKSIG, and for a true one as many others as fit. */
Bytes ManyBehindOne()
{
    Bytes script = PushOf(SomeKey());
    Append(script, Bytes{OP_CHECKSIG, OP_IF});
    for (int i = 0; i < 60; ++i) {
        Append(script, PushOf(kFalseSignature));
        Append(script, PushOf(SomeKey()));
        Append(script, Bytes{OP_CODESEPARATOR, OP_CHECKSIG, OP_DROP});
    }
    Append(script, Bytes{OP_ENDIF, OP_1});
    return script;
}

/** CHECKMULTISIG of one key in twenty, which the script expects to be false. */
Bytes OneOfTwenty()
{
    Bytes script = {OP_1};
    for (int i = 0; i < 20; ++i) Append(script, PushOf(SomeKey()));
    Append(script, PushOf(Bytes{20}));
    Append(script, Bytes{OP_CHECKMULTISIG, OP_NOT});
    return script;
}

/** The most work that a block may lose: the budget, and the last signature and operations of an
 *  input that had room before. */
uint64_t MostWasted(const DeferBudget& budget)
{
    return DeferBudget::kFreeWaste + budget.Saved() + DeferredSignatures::kPlainCost +
           200 * DeferredSignatures::kOpCost;
}

/** A false CHECKSIG, which is assumed to hold. */
Bytes OneAssumed()
{
    Bytes script = PushOf(kFalseSignature);
    Append(script, PushOf(SomeKey()));
    Append(script, Bytes{OP_CHECKSIG, OP_DROP});
    return script;
}

/** Checks that are made at once. */
Bytes ManyAtOnce()
{
    Bytes script;
    for (int i = 0; i < 8; ++i) {
        Append(script, Bytes{OP_0});
        Append(script, PushOf(kFalseSignature));
        Append(script, OneOfTwenty());
        Append(script, Bytes{OP_DROP});
    }
    return script;
}

/** Twenty signatures, looked for in a script of 10,000 operations, by keys that are none. */
Bytes ManySearches()
{
    Bytes script = {OP_0, OP_IF};
    script.resize(7'500, OP_1);
    script.push_back(OP_ENDIF);
    for (int i = 0; i < 8; ++i) {
        script.push_back(OP_0);
        for (int k = 0; k < 20; ++k) Append(script, PushOf(kFalseSignature));
        Append(script, PushOf(Bytes{20}));
        script.resize(script.size() + 20, OP_1);
        Append(script, PushOf(Bytes{20}));
        Append(script, Bytes{OP_CHECKMULTISIG, OP_DROP});
    }
    return script;
}

Bytes Joined(Bytes first, const Bytes& second)
{
    Append(first, second);
    Append(first, Bytes{OP_1});
    return first;
}

} // namespace

TEST_CASE("deferred scripts: a block whose assumptions fail loses little work")
{
    struct Case {
        Bytes script, script_sig;
        size_t txs, inputs, output_size;
    };
    const Bytes one = PushOf(kFalseSignature), decided = PushOf(DecidedFalseSignature());
    const Case cases[] = {
        {ExpectsFalse(), one, 40, 50, 100},     {ManyBehindOne(), one, 10, 50, 100},
        {ManyBehindOne(), one, 2, 20, 400'000}, // each signature hashes the whole transaction
        {ExpectsFalse(), one, 1, 300, 400'000}, {Joined(OneAssumed(), ManyAtOnce()), {}, 5, 5, 100},
        {ExpectsFalse(), decided, 40, 50, 100}, {Joined(OneAssumed(), ManySearches()), {}, 3, 3, 1},
    };
    DeferredScripts scripts(LanesMode::kOn);
    for (const Case& made : cases) {
        const SignedBlock block =
            BlockOf(made.script, made.script_sig, made.txs, made.inputs, made.output_size);
        CHECK(Text(Deferred(scripts, block)) == "valid");
        const DeferBudget& budget = scripts.Budget();
        CHECK(budget.Wasted() > 0);
        CHECK(budget.Saved() == 0);
        CHECK(budget.Wasted() <= MostWasted(budget));
    }
}

TEST_CASE("deferred scripts: an input that did much before its first signature assumes nothing")
{
    DeferredScripts scripts(LanesMode::kOn);
    const Bytes script = Joined(ManyAtOnce(), OneAssumed());
    CHECK(Text(Deferred(scripts, BlockOf(script, {}, 2, 5, 100))) == "valid");
    CHECK(scripts.Budget().Wasted() == 0);
}

TEST_CASE("deferred scripts: valid inputs that seem to do much work earn no budget for it")
{
    // One right signature among operations that take no time, so that few make a batch.
    const Signer signer;
    const Hash32 secret = Sha256Of(test::RandomBytes(8)), one{1};
    const CompressedKey key = signer.PublicKey(secret);
    Bytes script(190, OP_NOP);
    Append(script, PushOf(Bytes(key.begin(), key.end())));
    script.push_back(OP_CHECKSIG);
    Bytes signature = signer.SignEcdsa(secret, one); // SIGHASH_SINGLE without an output
    signature.push_back(kSigHashSingle);
    SignedBlock block = BlockOf(script, PushOf(signature), 1, 300, 100);
    MutableTransaction tx = MutableTransaction::FromView(block.txs[0]->View());
    tx.outputs.clear();
    block.txs[0] = tx.Freeze();
    DeferredScripts scripts(LanesMode::kOn);
    CHECK(Text(Deferred(scripts, block)) == "valid");
    CHECK(scripts.Budget().Proven() == 300);
    CHECK(scripts.Budget().Saved() == 0);
}

TEST_CASE("deferred scripts: a taproot input needs no room, but notes a bounded number")
{
    DeferredSignatures deferred(LanesMode::kOn);
    deferred.BeginInput(0);
    CHECK_FALSE(deferred.Defers());
    for (size_t i = 0; i < DeferredSignatures::kMaxTaprootNotes; ++i) {
        REQUIRE(deferred.DefersTaproot());
        deferred.NoteSchnorr({}, {}, {});
    }
    CHECK_FALSE(deferred.DefersTaproot());
    CHECK(deferred.Signatures() == DeferredSignatures::kMaxTaprootNotes);
}

TEST_CASE("deferred scripts: the operations of a failed run are lost work too")
{
    constexpr size_t kOps = 190;
    Bytes script = PushOf(SomeKey());
    Append(script, Bytes{OP_CHECKSIG, OP_DROP});
    Append(script, PushOf(Bytes(520, 1)));
    for (size_t i = 0; i < kOps / 2; ++i) Append(script, Bytes{OP_HASH256, OP_RIPEMD160});
    DeferredScripts scripts(LanesMode::kOn);
    CHECK(Text(Deferred(scripts, BlockOf(script, PushOf(kFalseSignature), 1, 1, 100))) == "valid");
    CHECK(scripts.Budget().Wasted() >= kOps * DeferredSignatures::kOpCost);
}

TEST_CASE("deferred scripts: inputs that hold keep deferring in use, among some that fail")
{
    sim::Rng& rng = test::TestRng();
    const sim::ScriptBook book(3, true);
    SignedBlock block = MakeBlock(book, rng, 600, 0);
    const Bytes script = ExpectsFalse();
    const SignedBlock hostile = BlockOf(script, PushOf(kFalseSignature), 60, 1, 100);
    for (size_t i = 0; i < hostile.txs.size(); ++i) {
        block.txs.insert(block.txs.begin() + static_cast<std::ptrdiff_t>(10 * i), hostile.txs[i]);
        block.spent.insert(block.spent.begin() + static_cast<std::ptrdiff_t>(10 * i),
                           hostile.spent[i]);
    }
    DeferredScripts scripts(LanesMode::kOn);
    CHECK(Text(Deferred(scripts, block)) == "valid");
    CHECK(scripts.Budget().Left());
    CHECK(scripts.Budget().Saved() > scripts.Budget().Wasted());
    CHECK(scripts.Budget().Proven() >= 600);
}

// One key in twenty would be twenty signatures in lanes, where libsecp256k1 may need one.
TEST_CASE("deferred scripts: a CHECKMULTISIG of many keys is verified at once")
{
    const Bytes script_sig = [] {
        Bytes out = {OP_0};
        Append(out, PushOf(kFalseSignature));
        return out;
    }();
    DeferredScripts scripts(LanesMode::kOn);
    CHECK(Text(Deferred(scripts, BlockOf(OneOfTwenty(), script_sig, 3, 10, 100))) == "valid");
    CHECK(scripts.Budget().Wasted() == 0);
    for (size_t keys = 1; keys <= 20; ++keys) {
        for (size_t signatures = 1; signatures <= keys; ++signatures) {
            const size_t pairs = signatures * (keys - signatures + 1);
            CHECK(DeferredSignatures::WorthNoting(signatures, keys) ==
                  (pairs <= lanes::SignaturesInTimeOfOne() * signatures));
        }
    }
}

} // namespace ibd
