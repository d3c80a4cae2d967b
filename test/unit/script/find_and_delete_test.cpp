// Taking signatures out of the script code: the quick search against a plain reference, alone and
// as CHECKSIG and CHECKMULTISIG use it.
#include "script/interpreter.h"
#include "script/script.h"
#include "support/testdata.h"

#include <map>

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** Operation by operation: what starts with the pattern there is skipped, the rest copied. */
int SlowFindAndDelete(ByteSpan script, ByteSpan pattern, Bytes& out)
{
    out.clear();
    int found = 0;
    while (true) {
        while (!pattern.empty() && script.size() >= pattern.size() &&
               std::equal(pattern.begin(), pattern.end(), script.begin())) {
            script = script.subspan(pattern.size());
            ++found;
        }
        ScriptIterator it(script);
        if (!it.Next()) break;
        Append(out, script.first(it.End()));
        script = script.subspan(it.End());
    }
    Append(out, script); // the rest is malformed
    return found;
}

/** A few bytes that are pushes of each other, so that patterns nearly match everywhere. */
Bytes TrickyBytes(size_t most)
{
    static constexpr uint8_t kBytes[] = {0, 1, 2, 3, OP_PUSHDATA1, OP_PUSHDATA2, OP_1, OP_NOP};
    Bytes out(TestRng()() % (most + 1));
    for (uint8_t& byte : out) byte = kBytes[TestRng()() % std::size(kBytes)];
    return out;
}

/** Bytes, among them pushes of `data` of every form. */
Bytes ScriptAround(ByteSpan data)
{
    Bytes script;
    for (int parts = static_cast<int>(TestRng()() % 8); parts > 0; --parts) {
        const uint64_t kind = TestRng()() % 6;
        if (kind == 0) Append(script, TrickyBytes(6));
        if (kind == 1) script.push_back(OP_NOP);
        if (kind == 2 && data.size() <= 0xff) {
            Append(script, Bytes{OP_PUSHDATA1, static_cast<uint8_t>(data.size())});
            Append(script, data);
        }
        if (kind >= 3) AppendPush(script, data);
    }
    return script;
}

/** Says no to every signature and remembers what it should have signed. */
class CodeRecorder final : public SignatureChecker {
public:
    mutable std::vector<Bytes> codes;

    bool CheckEcdsa(ByteSpan, ByteSpan, ByteSpan code, SigVersion) const override
    {
        codes.emplace_back(code.begin(), code.end());
        return false;
    }
    ScriptError CheckSchnorr(ByteSpan, ByteSpan, const TaprootContext&) const override
    {
        return ScriptError::kSchnorrSig;
    }
    bool CheckLockTime(int64_t) const override { return false; }
    bool CheckSequence(int64_t) const override { return false; }
};

/** `items` must outlive it. */
ScriptStack StackOf(const std::vector<Bytes>& items)
{
    ScriptStack stack;
    for (const Bytes& item : items) stack.push_back(StackItem::Of(item));
    return stack;
}

Bytes WithoutPush(ByteSpan script, ByteSpan data)
{
    Bytes pattern, out;
    AppendPush(pattern, data);
    SlowFindAndDelete(script, pattern, out);
    return out;
}

/** A dead branch around a script of whole operations, so that it is signed but never run. */
Bytes Unrun(Bytes script)
{
    Bytes out{OP_0, OP_IF};
    for (ScriptIterator it(script); it.Next();) {
        const bool small = it.Data().size() <= kMaxScriptElementSize;
        const bool harmless = small && (it.Op() <= OP_16 || it.Op() == OP_NOP);
        if (harmless) Append(out, ByteSpan(script).subspan(it.Start(), it.End() - it.Start()));
    }
    out.push_back(OP_ENDIF);
    return out;
}

} // namespace

TEST_CASE("FindAndDelete equals its plain reference, for whole operations and for any bytes")
{
    std::map<int, int> by_count;
    for (int i = 0; i < 200'000; ++i) {
        const Bytes data = TrickyBytes(i % 50 == 0 ? 300 : 4);
        Bytes pattern;
        i % 3 == 0 ? Append(pattern, data) : AppendPush(pattern, data);
        const Bytes script = ScriptAround(data);
        Bytes expected, kept = script;
        const int count = SlowFindAndDelete(script, pattern, expected);
        REQUIRE(FindAndDelete(kept, pattern, kept) == count); // in place
        REQUIRE(kept == expected);
        ++by_count[std::min(count, 3)];
    }
    for (int count = 0; count <= 3; ++count) CHECK(by_count[count] > 1000);
}

TEST_CASE("CHECKSIG signs the script code without the signature's own pushes, before BIP143")
{
    size_t deleted = 0;
    for (int i = 0; i < 20'000; ++i) {
        const Bytes signature = TrickyBytes(i % 20 == 0 ? 260 : 4);
        Bytes script = Unrun(ScriptAround(signature));
        Append(script, Bytes{OP_CHECKSIG});
        const std::vector<Bytes> items{signature, Bytes(33, 2)};
        for (const SigVersion version : {SigVersion::kBase, SigVersion::kWitnessV0}) {
            const CodeRecorder recorder;
            ScriptStack stack = StackOf(items);
            REQUIRE(EvalScript(stack, script, 0, recorder, version) == ScriptError::kOk);
            const bool base = version == SigVersion::kBase;
            REQUIRE(recorder.codes.size() == 1);
            REQUIRE(recorder.codes[0] == (base ? WithoutPush(script, signature) : script));
            deleted += recorder.codes[0] == script ? 0 : 1;
            stack = StackOf(items);
            const bool found = WithoutPush(script, signature) != script;
            CHECK(EvalScript(stack, script, kVerifyConstScriptCode, recorder, version) ==
                  (base && found ? ScriptError::kSigFindAndDelete : ScriptError::kOk));
        }
    }
    CHECK(deleted > 5000);
}

TEST_CASE("CHECKMULTISIG takes out the pushes of all its signatures")
{
    size_t deleted = 0;
    for (int i = 0; i < 5'000; ++i) {
        const Bytes first = TrickyBytes(3), second = TrickyBytes(80);
        Bytes script = Unrun(ScriptAround(first));
        Append(script, Unrun(ScriptAround(second)));
        Append(script, Bytes{OP_CHECKMULTISIG});
        const CodeRecorder recorder;
        const std::vector<Bytes> items{{}, first, second, {2}, Bytes(33, 2), Bytes(33, 3), {2}};
        ScriptStack stack = StackOf(items);
        REQUIRE(EvalScript(stack, script, 0, recorder, SigVersion::kBase) == ScriptError::kOk);
        REQUIRE(recorder.codes.size() == 1); // two signatures cannot match the one key left
        REQUIRE(recorder.codes[0] == WithoutPush(WithoutPush(script, second), first));
        deleted += recorder.codes[0] == script ? 0 : 1;
    }
    CHECK(deleted > 1000);
}
