// Verifying input scripts. Without arguments: single spends of common kinds. With
// `--block BLOCK SPENT FLAGS REPEAT`: all inputs of a real block, the same work that the kernel
// oracle's verify-block times; `--deferred`: likewise, as full validation does it.
// compare_script.py runs them side by side.
#include "bench_support.h"

#include "consensus/deferred_scripts.h"
#include "crypto/ripemd160.h"
#include "crypto/secp256k1.h"
#include "primitives/block.h"
#include "primitives/transaction.h"
#include "script/standard.h"
#include "script/verify.h"
#include "util/check.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace ibd;

namespace {

constexpr ScriptFlags kFlags = kVerifyP2sh | kVerifyDerSig | kVerifyNullDummy | kVerifyCltv |
                               kVerifyCsv | kVerifyWitness | kVerifyTaproot;

Bytes ReadFile(const char* path)
{
    std::ifstream in(path, std::ios::binary);
    CHECK(in.good());
    return Bytes(std::istreambuf_iterator<char>(in), {});
}

/** As in the oracle's input: i64 amount, compact size, script, for each input in block order. */
std::vector<SpentOutput> ReadSpent(ByteSpan raw)
{
    std::vector<SpentOutput> out;
    Reader reader(raw);
    while (reader.Ok() && reader.Remaining() > 0) {
        const Amount value = reader.I64();
        out.push_back({value, reader.VarBytes()});
    }
    CHECK(reader.Ok());
    return out;
}

struct Outcome {
    size_t inputs = 0;
    size_t failed = 0;
};

Outcome VerifyBlock(ByteSpan raw, std::span<const SpentOutput> spent, ScriptFlags flags,
                    BlockView& block)
{
    Outcome outcome;
    CHECK(block.Parse(raw).Ok());
    for (const TxView& tx : block.Txs().subspan(1)) {
        const auto coins = spent.subspan(outcome.inputs, tx.inputs.size());
        const TxHashes hashes(tx, coins);
        for (size_t i = 0; i < tx.inputs.size(); ++i) {
            const bool ok = VerifyInput(tx, i, coins[i], hashes, flags) == ScriptError::kOk;
            outcome.failed += ok ? 0 : 1;
        }
        outcome.inputs += tx.inputs.size();
    }
    return outcome;
}

/** The same with the signatures of many inputs proven together. */
Outcome VerifyDeferred(ByteSpan raw, std::span<const SpentOutput> spent, ScriptFlags flags,
                       BlockView& block)
{
    Outcome outcome;
    CHECK(block.Parse(raw).Ok());
    DeferredScripts scripts(LanesMode::kOn);
    scripts.Begin(flags, true);
    for (const TxView& tx : block.Txs().subspan(1)) {
        const auto coins = spent.subspan(outcome.inputs, tx.inputs.size());
        outcome.failed += scripts.Add(tx, coins) ? 1 : 0;
        outcome.inputs += tx.inputs.size();
    }
    outcome.failed += scripts.Finish() ? 1 : 0;
    return outcome;
}

int RunBlock(char** argv, bool deferred)
{
    const Bytes raw = ReadFile(argv[0]);
    const Bytes spent_raw = ReadFile(argv[1]);
    const std::vector<SpentOutput> spent = ReadSpent(spent_raw);
    const auto flags = static_cast<ScriptFlags>(std::strtoul(argv[2], nullptr, 10));
    BlockView block;
    for (long run = std::strtol(argv[3], nullptr, 10); run > 0; --run) {
        const auto start = std::chrono::steady_clock::now();
        const Outcome outcome = deferred ? VerifyDeferred(raw, spent, flags, block)
                                         : VerifyBlock(raw, spent, flags, block);
        const std::chrono::duration<double, std::milli> time =
            std::chrono::steady_clock::now() - start;
        std::printf("inputs %zu failed %zu ms %.2f\n", outcome.inputs, outcome.failed,
                    time.count());
    }
    return 0;
}

/** A transaction with one input, spending `script`, and what fills in its witness or script. */
struct Spend {
    MutableTransaction tx;
    Bytes script;

    Spend()
    {
        tx.inputs = {{{Txid::FromBytes(Hash32{7}.data()), 0}, {}, 0xffffffff, {}}};
        tx.outputs = {{90'000, Bytes(22, 0x14)}, {9'000, Bytes(25, 0x76)}};
    }
    SpentOutput Output() const { return {100'000, script}; }
};

const Hash32 kSecret = Sha256Of(Bytes{1});

Spend SpendP2pkh(const Signer& signer)
{
    Spend spend;
    const CompressedKey key = signer.PublicKey(kSecret);
    spend.script = PubkeyHashScript(Hash160(key));
    const auto view = spend.tx.Freeze();
    Bytes sig = signer.SignEcdsa(kSecret, LegacySigHash(view->View(), 0, spend.script, 1));
    sig.push_back(1);
    AppendPush(spend.tx.inputs[0].script_sig, sig);
    AppendPush(spend.tx.inputs[0].script_sig, key);
    return spend;
}

Spend SpendP2wpkh(const Signer& signer)
{
    Spend spend;
    const CompressedKey key = signer.PublicKey(kSecret);
    const auto hash = Hash160(key);
    spend.script = WitnessProgramScript(0, hash);
    const auto view = spend.tx.Freeze();
    const TxHashes hashes(view->View(), {});
    Bytes sig = signer.SignEcdsa(kSecret, WitnessV0SigHash(view->View(), 0, PubkeyHashScript(hash),
                                                           spend.Output().value, 1, hashes));
    sig.push_back(1);
    spend.tx.inputs[0].witness = {sig, Bytes(key.begin(), key.end())};
    return spend;
}

Spend SpendTaprootKey(const Signer& signer)
{
    Spend spend;
    spend.script = WitnessProgramScript(1, signer.XOnlyPublicKey(kSecret));
    const auto view = spend.tx.Freeze();
    const SpentOutput output = spend.Output();
    const TxHashes hashes(view->View(), {&output, 1});
    const auto hash = TaprootSigHash(view->View(), 0, output, kSigHashDefault, hashes, {});
    const SchnorrSignature sig = signer.SignSchnorr(kSecret, *hash);
    spend.tx.inputs[0].witness = {Bytes(sig.begin(), sig.end())};
    return spend;
}

void BenchSpend(const bench::Runner& runner, const char* name, const Spend& spend)
{
    const TransactionRef tx = spend.tx.Freeze();
    const SpentOutput output = spend.Output();
    runner.Run(name, 1, [&] {
        const TxHashes hashes(tx->View(), {&output, 1});
        CHECK(VerifyInput(tx->View(), 0, output, hashes, kFlags) == ScriptError::kOk);
    });
}

} // namespace

int main(int argc, char** argv)
{
    if (argc == 6 && std::strcmp(argv[1], "--block") == 0) return RunBlock(argv + 2, false);
    if (argc == 6 && std::strcmp(argv[1], "--deferred") == 0) return RunBlock(argv + 2, true);
    const bench::Runner runner(argc, argv);
    const Signer signer;
    BenchSpend(runner, "spend P2PKH", SpendP2pkh(signer));
    BenchSpend(runner, "spend P2WPKH", SpendP2wpkh(signer));
    BenchSpend(runner, "spend taproot by key", SpendTaprootKey(signer));
    return 0;
}
