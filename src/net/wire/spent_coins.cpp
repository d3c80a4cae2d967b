// See spent_coins.h.
#include "net/wire/spent_coins.h"

#include "script/script_shape.h"

namespace ibd {

namespace {

/** The first byte of a script. */
enum Form : uint8_t {
    kRaw = 0,
    kKeyHash = 1,
    kEvenKey = 2,
    kOddKey = 3,
    kLongKey = 4,
    kScriptHash = 5,
    kWitnessScriptHash = 6,
    kWitnessKeyHash = 7,
    kTaproot = 8,
};

struct Entry {
    Form form;
    ScriptShape shape;
};

using namespace std::string_view_literals;
constexpr Entry kShapes[] = {
    {kKeyHash, kPayToKeyHash},
    {kEvenKey, {"\x21\x02"sv, 32, "\xac"sv}},
    {kOddKey, {"\x21\x03"sv, 32, "\xac"sv}},
    {kLongKey, {"\x41\x04"sv, 64, "\xac"sv}},
    {kScriptHash, kPayToScriptHash},
    {kWitnessScriptHash, kPayToWitnessScriptHash},
    {kWitnessKeyHash, kPayToWitnessKeyHash},
    {kTaproot, kPayToTaproot},
};

void WriteScript(Writer& writer, ByteSpan script)
{
    for (const auto& [form, shape] : kShapes) {
        if (!shape.Matches(script)) continue;
        writer.U8(form);
        return writer.Raw(shape.Part(script));
    }
    writer.U8(kRaw);
    writer.VarBytes(script);
}

/** A script of a known shape must not be encoded as raw bytes: each script has one encoding. */
bool ReadRaw(Reader& in, ScriptBytes& script)
{
    const ByteSpan bytes = in.VarBytes();
    if (!in.Ok()) return false;
    for (const Entry& entry : kShapes) {
        if (entry.shape.Matches(bytes)) return false;
    }
    script.Assign(bytes);
    return true;
}

bool ReadScript(Reader& in, ScriptBytes& script)
{
    const uint8_t form = in.U8();
    if (!in.Ok()) return false;
    if (form == kRaw) return ReadRaw(in, script);
    for (const Entry& entry : kShapes) {
        if (entry.form != form) continue;
        const ByteSpan part = in.Span(entry.shape.size);
        if (!in.Ok()) return false;
        Bytes bytes;
        entry.shape.Make(part, bytes);
        script.Assign(bytes);
        return true;
    }
    return false;
}

/** The smallest coin: input, origin, an empty script, an amount of a byte. */
constexpr size_t kLeastCoin = 4 + 4 + 2 + 1;

void WriteCoin(Writer& writer, const CoinOfInput& spent)
{
    writer.U32(spent.input);
    writer.U32(spent.coin.height << 1 | (spent.coin.coinbase ? 1 : 0));
    WriteScript(writer, spent.coin.script.Span());
    writer.CompactSize(CompressAmount(static_cast<uint64_t>(spent.coin.value)));
}

bool ReadCoin(Reader& in, CoinOfInput& out)
{
    out.input = in.U32();
    const uint32_t origin = in.U32();
    out.coin.height = origin >> 1;
    out.coin.coinbase = (origin & 1) != 0;
    if (!ReadScript(in, out.coin.script)) return false;
    const uint64_t code = in.CompactSize(/*range_check=*/false);
    const uint64_t value = DecompressAmount(code);
    if (!in.Ok() || value > uint64_t{kMaxMoney} || CompressAmount(value) != code) return false;
    out.coin.value = static_cast<Amount>(value);
    return true;
}

} // namespace

void GetSpentCoinsMessage::Write(Writer& writer) const
{
    writer.Hash(block);
    writer.U32(before);
}

void GetSpentCoinsMessage::Read(PayloadReader& reader)
{
    block = reader.Hash();
    before = reader.U32();
}

void SpentCoinsMessage::Write(Writer& writer) const
{
    writer.Hash(block);
    writer.CompactSize(coins.size());
    for (const CoinOfInput& coin : coins) WriteCoin(writer, coin);
}

void SpentCoinsMessage::Read(PayloadReader& reader)
{
    block = reader.Hash();
    const size_t count = reader.Count(kLeastCoin);
    if (count > kMaxSpentCoins) return reader.Fail();
    coins.resize(count);
    for (size_t i = 0; i < count; ++i) {
        if (!ReadCoin(reader, coins[i])) return reader.Fail();
        if (i > 0 && coins[i].input <= coins[i - 1].input) return reader.Fail();
    }
}

} // namespace ibd
