// Parts of signature hashes cached across signatures and inputs: the hashes equal those without the
// cache, memory is bounded, and no data is read that no signature needs.
#include "crypto/ripemd160.h"
#include "crypto/secp256k1.h"
#include "script/script.h"
#include "script/standard.h"
#include "script/vector_support.h"
#include "support/testdata.h"

#include <sys/mman.h>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

size_t Below(size_t n) { return TestRng()() % n; }

MutableTransaction RandomTx(size_t most)
{
    MutableTransaction tx;
    tx.version = static_cast<uint32_t>(TestRng()());
    tx.lock_time = static_cast<uint32_t>(TestRng()());
    for (size_t i = Below(most) + 1; i > 0; --i) {
        tx.inputs.push_back({{Txid::FromBytes(RandomBytes(32).data()), static_cast<uint32_t>(i)},
                             RandomBytes(Below(40)),
                             static_cast<uint32_t>(TestRng()()),
                             {}});
    }
    for (size_t i = Below(most) + 1; i > 0; --i) {
        const size_t size = Below(20) == 0 ? 9000 : 40;
        tx.outputs.push_back({static_cast<Amount>(Below(1'000'000)), RandomBytes(Below(size))});
    }
    return tx;
}

/** A script code of any length, some with separators, some broken. */
Bytes RandomCode()
{
    Bytes code;
    for (size_t parts = Below(6); parts > 0; --parts) {
        const size_t kind = Below(4);
        if (kind == 0) code.push_back(OP_CODESEPARATOR);
        if (kind == 1) AppendPush(code, RandomBytes(Below(300)));
        if (kind == 2) Append(code, Bytes{OP_DUP, OP_CHECKSIG});
        if (kind == 3) Append(code, RandomBytes(3));
    }
    return code;
}

uint32_t RandomType()
{
    static constexpr uint32_t kTypes[] = {1, 2, 3, 0x81, 0x82, 0x83, 0, 4, 0x80, 0xff};
    return Below(4) == 0 ? static_cast<uint32_t>(TestRng()()) : kTypes[Below(10)];
}

/** A bare output of `script`, spent with `script_sig` by a large transaction. */
struct LargeSpend {
    TransactionRef tx;
    SpentOutput spent;

    LargeSpend(const MutableTransaction& base, ByteSpan script, ByteSpan script_sig)
        : spent{1, script}
    {
        MutableTransaction made = base;
        made.inputs[0].script_sig.assign(script_sig.begin(), script_sig.end());
        tx = made.Freeze();
    }
};

} // namespace

TEST_CASE("signature hashes with and without what an input keeps are equal")
{
    size_t hits = 0;
    for (int round = 0; round < 400; ++round) {
        const TransactionRef tx = RandomTx(round % 40 == 0 ? 400 : 6).Freeze();
        const TxView& view = tx->View();
        const size_t input = Below(view.inputs.size());
        const std::vector<Bytes> codes{RandomCode(), RandomCode(), RandomCode()};
        const TxHashes hashes(view, {});
        InputHashes kept;
        for (int i = 0; i < 60; ++i) {
            const Bytes& code = codes[Below(codes.size())];
            const uint32_t type = RandomType();
            const bool base = Below(2) == 0;
            const SigVersion version = base ? SigVersion::kBase : SigVersion::kWitnessV0;
            hits += kept.Find(version, type, code) ? 1 : 0;
            const TxHashes fresh(view, {});
            if (base) {
                REQUIRE(LegacySigHash(view, input, code, type, &kept) ==
                        LegacySigHash(view, input, code, type));
            } else {
                REQUIRE(WitnessV0SigHash(view, input, code, 7, type, hashes, &kept) ==
                        WitnessV0SigHash(view, input, code, 7, type, fresh));
            }
        }
    }
    CHECK(hits > 1000);
}

TEST_CASE("taproot hashes with and without what an input keeps are equal")
{
    for (int round = 0; round < 300; ++round) {
        const TransactionRef tx = RandomTx(6).Freeze();
        const TxView& view = tx->View();
        const Bytes script = RandomBytes(Below(60));
        const std::vector<SpentOutput> spent(view.inputs.size(), {5, script});
        const size_t input = Below(view.inputs.size());
        const TxHashes hashes(view, spent);
        InputHashes kept;
        for (int i = 0; i < 20; ++i) {
            TaprootContext context;
            context.tapscript = Below(2) == 0;
            context.code_separator = static_cast<uint32_t>(Below(3));
            const auto type = static_cast<uint8_t>(Below(2) == 0 ? Below(5) : 0x80 + Below(5));
            const TxHashes fresh(view, spent);
            REQUIRE(TaprootSigHash(view, input, spent[0], type, hashes, context, &kept) ==
                    TaprootSigHash(view, input, spent[0], type, fresh, context));
        }
    }
}

TEST_CASE("what is kept is used, for its own script code, version and kind of hash type only")
{
    const TransactionRef tx = RandomTx(4).Freeze();
    const TxView& view = tx->View();
    const TxHashes hashes(view, {});
    const Bytes code{OP_CHECKSIG}, other{OP_CHECKSIGVERIFY};
    InputHashes kept;
    const auto legacy = [&](const Bytes& script, uint32_t type) {
        return LegacySigHash(view, 0, script, type, &kept) == LegacySigHash(view, 0, script, type);
    };
    CHECK(legacy(code, 1));
    REQUIRE(kept.Find(SigVersion::kBase, 1, code));
    kept.Keep(SigVersion::kBase, 1, code, Sha256()); // wrong on purpose: now it shows
    CHECK(!legacy(code, 1));
    CHECK(!legacy(code, 0x41)); // the same kind
    CHECK(legacy(code, 0x81));
    CHECK(legacy(code, 2));
    CHECK(legacy(code, 3));
    CHECK(WitnessV0SigHash(view, 0, code, 1, 1, hashes, &kept) ==
          WitnessV0SigHash(view, 0, code, 1, 1, hashes));
    CHECK(legacy(other, 1)); // takes the place of the wrong one
    CHECK(!kept.Find(SigVersion::kBase, 1, code));
    CHECK(legacy(code, 1));
}

TEST_CASE("signatures after separators and of every hash type verify in one input")
{
    const Signer signer;
    const Hash32 secret = Sha256Of(Bytes{1});
    const CompressedKey key = signer.PublicKey(secret);
    const std::vector<uint8_t> types{1, 1, 2, 3, 0x81, 0x82, 0x83, 1};
    // Each signature is checked twice, then a separator changes the script code.
    Bytes script;
    for (size_t i = 0; i < types.size(); ++i) {
        for (int twice = 0; twice < 2; ++twice) {
            if (twice == 0) script.push_back(OP_DUP);
            AppendPush(script, key);
            script.push_back(OP_CHECKSIGVERIFY);
        }
        if (i % 2 == 1) script.push_back(OP_CODESEPARATOR);
    }
    script.push_back(OP_1);
    const MutableTransaction base = RandomTx(50);
    const TransactionRef unsigned_tx = base.Freeze();
    Bytes script_sig;
    for (size_t i = types.size(); i-- > 0;) {
        size_t start = 0; // after the last separator before the i-th check
        size_t checks = 0;
        for (ScriptIterator it(script); it.Next() && checks < 2 * i + 1;) {
            if (it.Op() == OP_CHECKSIGVERIFY) ++checks;
            if (it.Op() == OP_CODESEPARATOR) start = it.End();
        }
        const ByteSpan code = ByteSpan(script).subspan(start);
        Bytes sig = signer.SignEcdsa(secret, LegacySigHash(unsigned_tx->View(), 0, code, types[i]));
        sig.push_back(types[i]);
        AppendPush(script_sig, sig);
    }
    const LargeSpend spend(base, script, script_sig);
    const TxHashes hashes(spend.tx->View(), {});
    CHECK(VerifyInput(spend.tx->View(), 0, spend.spent, hashes, kVerifyP2sh) == ScriptError::kOk);
    MutableTransaction changed = MutableTransaction::FromView(spend.tx->View());
    changed.lock_time ^= 1;
    const TransactionRef bad = changed.Freeze();
    const TxHashes bad_hashes(bad->View(), {});
    CHECK(VerifyInput(bad->View(), 0, spend.spent, bad_hashes, kVerifyP2sh) ==
          ScriptError::kCheckSigVerify);
}

TEST_CASE("scripts of spent outputs are read only when a taproot signature needs them")
{
    // A page that may not be read stands for the spent script of another input.
    const size_t size = 4096;
    void* page = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(page != MAP_FAILED);
    const ByteSpan unreadable(static_cast<const uint8_t*>(page), size);
    const Signer signer;
    const Hash32 secret = Sha256Of(Bytes{1});
    const CompressedKey key = signer.PublicKey(secret);
    const auto key_hash = Hash160(key);
    MutableTransaction tx = RandomTx(1);
    tx.inputs.push_back(tx.inputs[0]);
    const Bytes script = WitnessProgramScript(0, key_hash);
    const std::vector<SpentOutput> spent{{5, script}, {6, unreadable}};
    const TransactionRef unsigned_tx = tx.Freeze();
    const TxHashes first(unsigned_tx->View(), spent);
    Bytes sig = signer.SignEcdsa(
        secret, WitnessV0SigHash(unsigned_tx->View(), 0, PubkeyHashScript(key_hash), 5, 1, first));
    sig.push_back(1);
    tx.inputs[0].script_sig.clear();
    tx.inputs[0].witness = {sig, Bytes(key.begin(), key.end())};
    const TransactionRef frozen = tx.Freeze();
    const TxHashes hashes(frozen->View(), spent);
    CHECK(VerifyInput(frozen->View(), 0, spent[0], hashes, kVerifyP2sh | kVerifyWitness) ==
          ScriptError::kOk);
    ::munmap(page, size);
}
