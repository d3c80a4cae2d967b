// Hostile bytes: the parser and the slow reference must accept and refuse the same, and the parser
// must never read past the end (each input lies in its own exact allocation, for asan).
#include "primitives/block.h"
#include "primitives/transaction.h"
#include "reference_parser.h"

#include "support/testdata.h"
#include "util/hex.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** Both parsers on a block: same verdict, same contents. Returns the verdict. */
bool CheckBothOnBlock(const Bytes& input)
{
    const Bytes exact(input); // capacity equals size: the byte after it is poisoned under asan
    static BlockView view;
    const bool accepted = view.Parse(exact).Ok();
    const auto reference = ReferenceParseBlock(exact);
    if (accepted != reference.has_value()) FAIL("verdicts differ: " << ToHex(exact));
    if (!accepted) {
        if (!view.Txs().empty() || !view.Raw().empty()) FAIL("a refused block leaves views");
        return false;
    }
    if (view.Txs().size() != reference->txs.size()) FAIL("count differs: " << ToHex(exact));
    Bytes rebuilt(reference->header);
    Writer(rebuilt).CompactSize(reference->txs.size());
    for (size_t i = 0; i < reference->txs.size(); ++i) {
        const MutableTransaction tx = MutableTransaction::FromView(view.Txs()[i]);
        if (!SameTransaction(tx, reference->txs[i])) FAIL("contents differ: " << ToHex(exact));
        if (view.Txs()[i].txid != reference->txs[i].Id()) FAIL("txid differs: " << ToHex(exact));
        Append(rebuilt, tx.Serialize());
    }
    if (rebuilt != Bytes(view.Raw().begin(), view.Raw().end()) || view.Raw().data() != exact.data())
        FAIL("an accepted block has one form: " << ToHex(exact));
    return true;
}

bool CheckBothOnTx(const Bytes& input, bool allow_witness)
{
    const Bytes exact(input);
    const auto parsed = Transaction::Parse(exact, allow_witness);
    const auto reference = ReferenceParseTx(exact, allow_witness);
    if (parsed.Ok() != reference.has_value()) FAIL("verdicts differ: " << ToHex(exact));
    if (!parsed.Ok()) return false;
    const MutableTransaction tx = MutableTransaction::FromView((*parsed)->View());
    if (!SameTransaction(tx, *reference)) FAIL("contents differ: " << ToHex(exact));
    if (tx.Serialize() != exact) FAIL("an accepted transaction has one form: " << ToHex(exact));
    if ((*parsed)->Id() != tx.Id()) FAIL("txid differs: " << ToHex(exact));
    return true;
}

size_t Random(size_t below) { return TestRng()() % below; }

/** A length at or beside the points where the encoding changes. */
size_t RandomLength()
{
    const size_t lengths[] = {0, 1, 2, 25, 107, 252, 253, 254, 300};
    return lengths[Random(std::size(lengths))];
}

MutableTransaction RandomTransaction()
{
    MutableTransaction tx;
    tx.version = static_cast<uint32_t>(TestRng()());
    tx.lock_time = static_cast<uint32_t>(TestRng()());
    const bool witness = Random(2);
    for (size_t n = Random(4); n > 0; --n) {
        MutableInput input;
        input.prevout = {Txid::FromBytes(RandomBytes(32).data()), uint32_t(Random(5))};
        input.script_sig = RandomBytes(RandomLength());
        if (witness) {
            for (size_t items = Random(4); items > 0; --items) {
                input.witness.push_back(RandomBytes(RandomLength()));
            }
        }
        tx.inputs.push_back(input);
    }
    // Inputs none and outputs some has no form of its own: it would read as the extended one.
    for (size_t n = tx.inputs.empty() ? 0 : Random(4); n > 0; --n) {
        tx.outputs.push_back({static_cast<Amount>(TestRng()()), RandomBytes(RandomLength())});
    }
    return tx;
}

Bytes RandomBlock()
{
    Bytes out = RandomBytes(80);
    const size_t n = Random(4);
    Writer(out).CompactSize(n);
    for (size_t i = 0; i < n; ++i) Append(out, RandomTransaction().Serialize());
    return out;
}

/** One to three changes of the kinds that hurt parsers. */
Bytes Mutate(Bytes bytes)
{
    static constexpr uint8_t kTelling[] = {0, 1, 2, 0x7f, 0x80, 252, 253, 254, 255};
    for (size_t n = 1 + Random(3); n > 0 && !bytes.empty(); --n) {
        const size_t at = Random(bytes.size());
        const auto here = bytes.begin() + static_cast<ptrdiff_t>(at);
        switch (Random(5)) {
        case 0: bytes[at] ^= static_cast<uint8_t>(1u << Random(8)); break;
        case 1: bytes[at] = kTelling[Random(std::size(kTelling))]; break;
        case 2:
            bytes.erase(here, here + static_cast<ptrdiff_t>(Random(bytes.size() - at) % 40));
            break;
        case 3: bytes.insert(here, kTelling[Random(std::size(kTelling))]); break;
        default: bytes.resize(at);
        }
    }
    return bytes;
}

/** A coinbase and a spend with and without witness: every part of the format, 400 bytes. */
Bytes SmallBlock()
{
    Bytes out(80, 0x11);
    MutableTransaction coinbase;
    coinbase.inputs.push_back({OutPoint{}, {0x51, 0x51}, 0xffffffff, {Bytes(32, 0)}});
    coinbase.outputs.push_back({50 * kCoin, {0x51}});
    MutableTransaction spend;
    spend.inputs.push_back({{coinbase.Id(), 0}, {}, 1, {Bytes(3, 7), {}}});
    spend.inputs.push_back({{coinbase.Id(), 1}, {0x00}, 2, {}});
    spend.outputs.push_back({1, Bytes(22, 9)});
    spend.outputs.push_back({2, {}});
    MutableTransaction plain = spend;
    plain.inputs[0].witness.clear();
    Writer writer(out);
    writer.CompactSize(3);
    for (const auto* tx : {&coinbase, &spend, &plain}) writer.Raw(tx->Serialize());
    return out;
}

Bytes Hex(const std::string& hex) { return FromHex(hex).value(); }

const std::string kInput = std::string(72, '0') + "00" + "ffffffff";
const std::string kOutput = "0100000000000000"
                            "0151";

} // namespace

TEST_CASE("a block cut at any byte is refused, bytes after it are no part of it")
{
    const Bytes whole = SmallBlock();
    REQUIRE(CheckBothOnBlock(whole));
    for (size_t n = 0; n < whole.size(); ++n) {
        CHECK(!CheckBothOnBlock(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n))));
    }
    for (int byte = 0; byte < 256; ++byte) {
        Bytes longer = whole;
        longer.push_back(static_cast<uint8_t>(byte));
        CHECK(CheckBothOnBlock(longer));
        BlockView view;
        REQUIRE(view.Parse(longer));
        CHECK(view.Raw().size() == whole.size());
        BlockView same;
        REQUIRE(same.Parse(whole));
        CHECK(view.Weight() == same.Weight());
        CHECK(view.StrippedSize() == same.StrippedSize());
    }
}

TEST_CASE("every byte of a small block set to every value: both parsers agree")
{
    const Bytes whole = SmallBlock();
    size_t accepted = 0, refused = 0;
    for (size_t at = 80; at < whole.size(); ++at) {
        for (int value = 0; value < 256; ++value) {
            Bytes changed = whole;
            changed[at] = static_cast<uint8_t>(value);
            ++(CheckBothOnBlock(changed) ? accepted : refused);
        }
    }
    CHECK(accepted > 1000);
    CHECK(refused > 1000);
}

TEST_CASE("every bit of small real blocks flipped: both parsers agree")
{
    for (const char* name : {"bitcoinj/block_testnet21066.dat", "bitcoinj/block_testnet32768.dat",
                             "bitcoinj/block_testnet700000.dat"}) {
        const auto path = TestData(name);
        if (!path) return;
        Bytes raw = ReadTestFile(*path);
        REQUIRE(CheckBothOnBlock(raw));
        for (size_t bit = 0; bit < 8 * raw.size(); ++bit) {
            raw[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
            CheckBothOnBlock(raw);
            raw[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
        }
    }
}

TEST_CASE("random blocks and transactions, mutated: both parsers agree")
{
    size_t accepted = 0;
    for (int round = 0; round < 4000; ++round) {
        const Bytes block = RandomBlock();
        REQUIRE(CheckBothOnBlock(block));
        accepted += CheckBothOnBlock(Mutate(block));
        const Bytes tx = RandomTransaction().Serialize();
        REQUIRE(CheckBothOnTx(tx, true));
        CheckBothOnTx(tx, false);
        const Bytes changed = Mutate(tx);
        accepted += CheckBothOnTx(changed, true);
        accepted += CheckBothOnTx(changed, false);
    }
    CHECK(accepted > 100);
}

TEST_CASE("short random strings over the telling bytes: both parsers agree")
{
    static constexpr uint8_t kTelling[] = {0, 0, 0, 1, 1, 2, 253, 254, 255};
    size_t accepted = 0;
    for (int round = 0; round < 200000; ++round) {
        Bytes tx = Hex("02000000");
        for (size_t n = Random(24); n > 0; --n) tx.push_back(kTelling[Random(std::size(kTelling))]);
        accepted += CheckBothOnTx(tx, Random(2));
    }
    CHECK(accepted > 0);
}

TEST_CASE("forms of the witness marker and flag")
{
    const auto ok = [](const std::string& hex, bool allow_witness = true) {
        return CheckBothOnTx(Hex(hex), allow_witness);
    };
    const std::string version = "02000000", lock_time = "00000000";
    const std::string body = "01" + kInput + "01" + kOutput;
    CHECK(ok(version + body + lock_time));
    CHECK(ok(version + "0001" + body + "0100" + lock_time));
    CHECK(!ok(version + "0001" + body + "00" + lock_time));      // superfluous
    CHECK(!ok(version + "000100" + "01" + kOutput + lock_time)); // extended, yet no inputs
    CHECK(!ok(version + "0002" + body + lock_time));             // unknown flag alone
    CHECK(!ok(version + "0003" + body + "0100" + lock_time));    // unknown flag beside witness
    CHECK(!ok(version + "0080" + body + "0100" + lock_time));
    CHECK(ok(version + "0000" + lock_time)); // neither inputs nor outputs
    CHECK(ok(version + "0000" + lock_time, false));
    CHECK(ok(version + "0001" + kOutput + lock_time, false)); // no inputs, the old form
    CHECK(!ok(version + "0001" + kOutput + lock_time, true));
    CHECK(!ok(version + "0001" + body + "0100" + lock_time, false));
    CHECK(!ok(version + body + lock_time + "00"));
}

TEST_CASE("counts and lengths far beyond the data fail at once")
{
    const std::string version = "02000000";
    for (const std::string count : {"fdffff", "fe00000002", "feffffffff", "ffffffffffffffffff"}) {
        CHECK(!CheckBothOnTx(Hex(version + count + kInput), true));
        CHECK(!CheckBothOnTx(Hex(version + "01" + kInput + count + kOutput), true));
        CHECK(!CheckBothOnTx(Hex(version + "0001" + "01" + kInput + "00" + count), true));
        CHECK(!CheckBothOnTx(Hex(version + "01" + std::string(72, '0') + count), true));
        Bytes block(80, 0);
        Append(block, Hex(count));
        Append(block, Bytes(200, 0));
        CHECK(!CheckBothOnBlock(block));
    }
}

TEST_CASE("a block without transactions parses; errors name the offset")
{
    Bytes raw(81, 0);
    BlockView view;
    CHECK(view.Parse(raw).Ok());
    CHECK(view.Txs().empty());
    CHECK(view.Weight() == 4 * 81);
    raw[80] = 1;
    const auto bad = view.Parse(raw);
    REQUIRE(!bad.Ok());
    CHECK(bad.Message().find("offset 81") != std::string::npos);
    CHECK(bad.GetError().kind == Error::Kind::kBadData);
}

TEST_CASE("a reused view allocates nothing for a block no larger than the last")
{
    Bytes raw = SmallBlock();
    BlockView view;
    REQUIRE(view.Parse(raw).Ok());
    const TxView* txs = view.Txs().data();
    const InputView* inputs = view.Inputs().data();
    REQUIRE(view.Parse(raw).Ok());
    CHECK(view.Txs().data() == txs);
    CHECK(view.Inputs().data() == inputs);
    CHECK(view.Txs()[1].inputs.data() == inputs + 1);
}
