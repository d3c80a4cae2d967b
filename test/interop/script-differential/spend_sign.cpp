// SpendMaker: finding out what a script asks to be signed, and signing it well or badly.
#include "script/interpreter.h"
#include "script/script.h"
#include "spend_maker.h"

#include <algorithm>

namespace ibd::differential {

namespace {

constexpr std::array<uint8_t, 32> kGroupOrder = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
    0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41};

/** Group order - s, big-endian. */
void Negate(std::span<uint8_t> s)
{
    int borrow = 0;
    for (size_t i = s.size(); i-- > 0;) {
        const int digit = int{kGroupOrder[i]} - s[i] - borrow;
        s[i] = static_cast<uint8_t>(digit);
        borrow = digit < 0 ? 1 : 0;
    }
}

void AppendDerNumber(Bytes& out, ByteSpan number, size_t extra_zeros)
{
    while (number.size() > 1 && number[0] == 0) number = number.subspan(1);
    const size_t zeros = extra_zeros + (number[0] & 0x80 ? 1 : 0);
    out.push_back(0x02);
    out.push_back(static_cast<uint8_t>(number.size() + zeros));
    out.insert(out.end(), zeros, 0);
    Append(out, number);
}

Bytes EncodeDer(const CompactSignature& sig, size_t extra_zeros)
{
    Bytes numbers;
    AppendDerNumber(numbers, ByteSpan(sig).first(32), extra_zeros);
    AppendDerNumber(numbers, ByteSpan(sig).subspan(32), 0);
    Bytes out{0x30, static_cast<uint8_t>(numbers.size())};
    Append(out, numbers);
    return out;
}

void Replace(Bytes& script, ByteSpan placeholder, ByteSpan signature)
{
    Bytes pattern, push;
    AppendPush(pattern, placeholder);
    AppendPush(push, signature);
    const auto at = std::search(script.begin(), script.end(), pattern.begin(), pattern.end());
    if (at == script.end()) return;
    const auto from = script.erase(at, at + static_cast<std::ptrdiff_t>(pattern.size()));
    script.insert(from, push.begin(), push.end());
}

} // namespace

/** Accepts every placeholder and keeps what it would have to sign. */
class SpendMaker::Recorder final : public SignatureChecker {
public:
    explicit Recorder(std::vector<Request>& requests) : m_requests(requests) {}

    bool CheckEcdsa(ByteSpan signature, ByteSpan key, ByteSpan code,
                    SigVersion version) const override
    {
        return Record(signature, key, code, version, {});
    }
    ScriptError CheckSchnorr(ByteSpan signature, ByteSpan key,
                             const TaprootContext& context) const override
    {
        return Record(signature, key, {}, SigVersion::kTapscript, context)
                   ? ScriptError::kOk
                   : ScriptError::kSchnorrSig;
    }
    bool CheckLockTime(int64_t) const override { return true; }
    bool CheckSequence(int64_t) const override { return true; }

private:
    bool Record(ByteSpan signature, ByteSpan key, ByteSpan code, SigVersion version,
                const TaprootContext& context) const
    {
        if (!ScriptWriter::IsPlaceholder(signature)) return false;
        m_requests.push_back({Bytes(signature.begin(), signature.end()),
                              Bytes(key.begin(), key.end()), Bytes(code.begin(), code.end()),
                              version, context});
        return true;
    }
    std::vector<Request>& m_requests;
};

std::vector<SpentOutput> SpendMaker::SpentOutputs() const
{
    std::vector<SpentOutput> out;
    for (const MutableOutput& output : m_case.spent) {
        out.push_back({output.value, output.script_pubkey});
    }
    return out;
}

void SpendMaker::Sign(WrittenScript& written, SigVersion version, TapscriptState* state)
{
    std::vector<Request> requests;
    const Recorder recorder(requests);
    ScriptStack stack;
    for (const Bytes& item : written.items) stack.push_back(StackItem::Of(item));
    // Whether the script runs to its end does not matter here.
    const ScriptError ran = EvalScript(stack, written.script, 0, recorder, version, state);
    (void)ran;
    const auto spent = SpentOutputs();
    const TransactionRef tx = m_case.tx.Freeze();
    const TxHashes hashes(tx->View(), spent);
    for (const Request& request : requests) {
        const Bytes signature = SignatureFor(request, tx->View(), hashes);
        for (Bytes& item : written.items) {
            if (item == request.placeholder) item = signature;
        }
        if (version == SigVersion::kBase) Replace(written.script, request.placeholder, signature);
    }
}

Bytes SpendMaker::SignatureFor(const Request& request, const TxView& tx, const TxHashes& hashes)
{
    Bytes signature;
    if (request.version == SigVersion::kTapscript) {
        const Keys::Pair* pair = m_keys.Find(request.key);
        const Hash32 secret = pair ? pair->secret : m_keys.Any(m_random).secret;
        signature = SchnorrFor(secret, request.context, tx, hashes);
    } else {
        signature = EcdsaFor(request, tx, hashes);
    }
    if (m_random.Percent(2)) FlipBit(signature);
    if (m_random.Percent(1)) signature.clear();
    if (m_random.Percent(1)) signature.push_back(m_random.Byte());
    return signature;
}

Bytes SpendMaker::EcdsaFor(const Request& request, const TxView& tx, const TxHashes& hashes)
{
    const Keys::Pair* pair = m_keys.Find(request.key);
    if (!pair || m_random.Percent(1)) pair = &m_keys.Any(m_random);
    const uint8_t type = m_random.Percent(70)   ? 1
                         : m_random.Percent(85) ? m_random.Of<uint8_t>({1, 2, 3, 0x81, 0x82, 0x83})
                                                : m_random.Byte();
    const Amount value = m_case.spent[m_case.index].value;
    const Hash32 hash = request.version == SigVersion::kWitnessV0
                            ? WitnessV0SigHash(tx, m_case.index, request.code, value, type, hashes)
                            : LegacySigHash(tx, m_case.index, request.code, type);
    Bytes signature = m_keys.Signing().SignEcdsa(pair->secret, hash);
    if (m_random.Percent(8)) {
        CompactSignature compact = *ParseLaxDer(signature);
        if (m_random.Percent(60)) Negate(std::span(compact).subspan(32));
        signature = EncodeDer(compact, m_random.Percent(50) ? 0 : 1);
    }
    signature.push_back(type);
    return signature;
}

Bytes SpendMaker::SchnorrFor(const Hash32& secret, const TaprootContext& context, const TxView& tx,
                             const TxHashes& hashes)
{
    const uint8_t type = m_random.Percent(60)   ? 0
                         : m_random.Percent(90) ? m_random.Of<uint8_t>({1, 2, 3, 0x81, 0x82, 0x83})
                                                : m_random.Byte();
    const SpentOutput spent{m_case.spent[m_case.index].value,
                            m_case.spent[m_case.index].script_pubkey};
    const auto hash = TaprootSigHash(tx, m_case.index, spent, type, hashes, context);
    Bytes signature = m_random.Bytes(64);
    if (hash) {
        const SchnorrSignature good = m_keys.Signing().SignSchnorr(secret, *hash);
        signature.assign(good.begin(), good.end());
    }
    if (type != 0 || m_random.Percent(2)) signature.push_back(type);
    return signature;
}

} // namespace ibd::differential
