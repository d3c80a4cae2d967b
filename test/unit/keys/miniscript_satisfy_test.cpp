// Witnesses of miniscripts: the smallest one that others cannot change, from the available items.
// test/interop/test_core_miniscript_spends.py compares many with Core's.
#include "keys/miniscript/satisfy.h"
#include "keys/miniscript/text.h"

#include "support/catch.h"
#include "util/hex.h"

using namespace ibd;
using namespace ibd::miniscript;

namespace {

/** Keys are A to Z; a signature is its key's letter three times. */
class Source final : public WitnessSource {
public:
    explicit Source(std::string keys, uint32_t older = 0, uint32_t after = 0,
                    std::string preimage = "")
        : m_keys(std::move(keys)), m_older(older), m_after(after), m_preimage(std::move(preimage))
    {
    }
    std::optional<Bytes> Sign(ByteSpan key) override
    {
        asked.push_back(static_cast<char>(key.back()));
        if (m_keys.find(asked.back()) == m_keys.npos) return std::nullopt;
        return Bytes(3, key.back());
    }
    std::optional<Bytes> FindPreimage(Fragment, ByteSpan) const override
    {
        if (m_preimage.empty()) return std::nullopt;
        return Bytes(m_preimage.begin(), m_preimage.end());
    }
    bool IsOlder(uint32_t lock) const override { return lock <= m_older; }
    bool IsAfter(uint32_t lock) const override { return lock <= m_after; }

    std::string asked; //!< keys, in the order of the questions

private:
    const std::string m_keys;
    const uint32_t m_older, m_after;
    const std::string m_preimage;
};

Expression Read(std::string_view text, Context context)
{
    Expression out{context, {}, {}};
    const auto read_key = [&](std::string_view key) {
        Bytes bytes(context == Context::kTapscript ? 32 : 33, static_cast<uint8_t>(key[0]));
        if (context == Context::kWsh) bytes[0] = 2;
        out.keys.push_back(std::move(bytes));
        return true;
    };
    out.root = *Parse(text, context, read_key);
    return out;
}

/** The items: letters, "0" for an empty item, "1" for a byte of this value, "k" for a key, "z" for
 *  32 zero bytes; "-": there is no witness. */
std::string Witness(std::string_view text, Source source, Context context = Context::kWsh)
{
    const auto items = Satisfy(Read(text, context), source);
    if (!items) return "-";
    std::string out;
    for (const Bytes& item : *items) {
        if (item.empty()) {
            out += '0';
        } else if (item == Bytes{1}) {
            out += '1';
        } else if (item.size() == 33) {
            out += 'k';
        } else if (item == Bytes(32)) {
            out += 'z';
        } else {
            out += static_cast<char>(item[0]);
        }
    }
    return out;
}

const std::string kHash = "sha256(" + std::string(64, '1') + ")";

} // namespace

TEST_CASE("witnesses of single expressions", "[miniscript]")
{
    CHECK(Witness("pk(A)", Source("A")) == "A");
    CHECK(Witness("pk(A)", Source("")) == "-");
    CHECK(Witness("pkh(A)", Source("A")) == "Ak");
    CHECK(Witness("and_v(v:pk(A),pk(B))", Source("AB")) == "BA"); // the first is consumed first
    CHECK(Witness("and_v(v:pk(A),older(7))", Source("A", 7)) == "A");
    CHECK(Witness("and_v(v:pk(A),older(7))", Source("A", 6)) == "-");
    CHECK(Witness("and_v(v:pk(A),after(7))", Source("A", 0, 7)) == "A");
    CHECK(Witness("and_v(v:pk(A)," + kHash + ")", Source("A", 0, 0, "p")) == "pA");
    CHECK(Witness("and_v(v:pk(A)," + kHash + ")", Source("A")) == "-");
    CHECK(Witness("or_b(pk(A),s:pk(B))", Source("A")) == "0A");
    CHECK(Witness("or_i(pk(A),pk(B))", Source("B")) == "B0");
    CHECK(Witness("or_i(pk(A),pk(B))", Source("A")) == "A1");
    CHECK(Witness("andor(pk(A),pk(B),pk(C))", Source("C")) == "C0");
    CHECK(Witness("andor(pk(A),pk(B),pk(C))", Source("AB")) == "BA");
    CHECK(Witness("and_v(v:pk(A),jc:pk_k(B))", Source("AB")) == "BA");
}

TEST_CASE("witnesses of keys with a threshold", "[miniscript]")
{
    CHECK(Witness("multi(2,A,B,C)", Source("AC")) == "0AC");
    CHECK(Witness("multi(2,A,B,C)", Source("C")) == "-");
    CHECK(Witness("multi_a(2,A,B,C)", Source("AC"), Context::kTapscript) == "C0A");
    CHECK(Witness("multi_a(2,A,B,C)", Source("ABC"), Context::kTapscript) == "CB0");
    CHECK(Witness("thresh(2,pk(A),s:pk(B),s:pk(C))", Source("AC")) == "C0A");
    CHECK(Witness("thresh(2,pk(A),s:pk(B),s:pk(C))", Source("B")) == "-");
    Source source("A");
    CHECK(Satisfy(Read("or_d(pk(A),multi(2,B,C))", Context::kWsh), source));
    CHECK(source.asked == "ABC"); // other signers may need them
}

TEST_CASE("of several witnesses that one is taken which others cannot change", "[miniscript]")
{
    const std::string recovery = "andor(pk(A),older(7),and_v(v:pk(B),pk(C)))";
    CHECK(Witness(recovery, Source("ABC", 7)) == "A");
    CHECK(Witness(recovery, Source("ABC")) == "CB0");
    // A satisfied lock needs no signature, so the other way would be replaced by it.
    CHECK(Witness("or_i(and_v(v:pk(A),older(7)),pk(B))", Source("AB", 7)) == "B0");
    CHECK(Witness("or_d(pk(A),and_v(v:pk(B),older(7)))", Source("B", 7)) == "B0");
    CHECK(Witness("thresh(1,pk(A),sln:older(7))", Source("A", 7)) == "-");
    // Malleable ways alone are none.
    CHECK(Witness("older(7)", Source("", 7)) == "-");
    CHECK(Witness("or_i(pk(A),older(7))", Source("A", 7)) == "-");
}

TEST_CASE("witnesses of very large thresholds take little time", "[miniscript]")
{
    std::string many = "multi_a(500", children = "thresh(500,pk(A)";
    for (int i = 0; i < 999; ++i) many += ",A";
    for (int i = 0; i < 499; ++i) children += ",s:pk(A)";
    for (int i = 0; i < 60'000; ++i) children += ",a:0";
    CHECK(Witness(many + ")", Source("A"), Context::kTapscript).size() == 999);
    CHECK(Witness(children + ")", Source("A"), Context::kTapscript) == std::string(500, 'A'));
}
