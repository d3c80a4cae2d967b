// Transaction and MutableTransaction on Core's vectors.
#include "crypto/sha256.h"
#include "primitives/transaction.h"
#include "reference_parser.h"

#include "support/testdata.h"
#include "util/hex.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

/** Parses the transaction hex in each row's `column`; returns how many there were. */
size_t CheckVectors(const char* name, size_t column)
{
    const auto path = TestData(name);
    if (!path) return SIZE_MAX;
    const UniValue rows = ReadTestJson(*path);
    size_t count = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].size() < 2) continue; // a comment
        const Bytes raw = FromHex(rows[i][column].get_str()).value();
        const auto tx = Transaction::Parse(raw);
        INFO(name << " row " << i);
        CHECK(tx.Ok() == ReferenceParseTx(raw, true).has_value());
        if (!tx.Ok()) continue;
        ++count;
        CHECK(MutableTransaction::FromView((*tx)->View()).Serialize() == raw);
        CHECK((*tx)->WitnessId() == Wtxid(Sha256d(raw)));
        CHECK((*tx)->WitnessId() == (*tx)->View().WitnessHash());
        CHECK((*tx)->View().Weight() == int64_t(3 * (*tx)->View().stripped_size + raw.size()));
    }
    return count;
}

} // namespace

TEST_CASE("Core's transaction vectors parse and come back")
{
    CHECK(CheckVectors("core/tx_valid.json", 1) > 100);
    CHECK(CheckVectors("core/tx_invalid.json", 1) > 80);
    CHECK(CheckVectors("core/sighash.json", 0) > 400);
}

TEST_CASE("the genesis coinbase has its id")
{
    MutableTransaction tx;
    tx.version = 1;
    tx.inputs.push_back({OutPoint{},
                         FromHex("04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368"
                                 "616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c"
                                 "6f757420666f722062616e6b73")
                             .value(),
                         0xffffffff,
                         {}});
    tx.outputs.push_back(
        {50 * kCoin, FromHex("4104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61"
                             "deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf1"
                             "1d5fac")
                         .value()});
    CHECK(tx.Id().ToHex() == "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b");
    const TransactionRef frozen = tx.Freeze();
    CHECK(frozen->Id() == tx.Id());
    CHECK(frozen->WitnessId() == tx.Id());
    CHECK(frozen->View().IsCoinbase());
    CHECK(frozen->View().Weight() == 4 * 204);
}

TEST_CASE("only one null outpoint makes a coinbase")
{
    MutableTransaction tx;
    tx.outputs.push_back({0, {}});
    CHECK(!tx.Freeze()->View().IsCoinbase());
    tx.inputs.push_back({OutPoint{}, {}, 0, {}});
    CHECK(tx.Freeze()->View().IsCoinbase());
    tx.inputs[0].prevout.vout = 0;
    CHECK(!tx.Freeze()->View().IsCoinbase());
    tx.inputs[0].prevout.vout = OutPoint::kNullIndex;
    tx.inputs.push_back(tx.inputs[0]);
    CHECK(!tx.Freeze()->View().IsCoinbase());
}

TEST_CASE("the witness changes the witness id and not the id")
{
    MutableTransaction tx;
    tx.inputs.push_back({{Txid(), 0}, {}, 0, {}});
    tx.outputs.push_back({1, {0x51}});
    const TransactionRef plain = tx.Freeze();
    tx.inputs[0].witness = {{1, 2, 3}, {}};
    const TransactionRef extended = tx.Freeze();
    CHECK(plain->Id() == extended->Id());
    CHECK(plain->WitnessId() == plain->Id());
    CHECK(extended->WitnessId() != extended->Id());
    CHECK(extended->View().has_witness);
    CHECK(extended->View().stripped_size == plain->View().raw.size());
    CHECK(tx.Serialize(false) == Bytes(plain->View().raw.begin(), plain->View().raw.end()));
}
