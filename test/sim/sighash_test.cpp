// The generator's signature hashes against Core's vectors and, on random transactions, against the
// script module's.
#include "sim/sighash.h"

#include "script/sighash.h"
#include "script/verify.h"
#include "sim/rng.h"
#include "support/testdata.h"
#include "util/hex.h"

#include "support/catch.h"

namespace ibd::sim {

namespace {

MutableTransaction RandomTransaction(Rng& rng)
{
    MutableTransaction tx;
    tx.version = static_cast<uint32_t>(rng.Next());
    tx.lock_time = static_cast<uint32_t>(rng.Next());
    for (int n = rng.Between(1, 4); n > 0; --n) {
        const Txid txid = Txid::FromBytes(rng.RandomBytes(32).data());
        tx.inputs.push_back({{txid, uint32_t(rng.Below(4))}, {}, uint32_t(rng.Next()), {}});
    }
    for (int n = rng.Between(1, 4); n > 0; --n) {
        tx.outputs.push_back({rng.Between(0, 1'000'000), rng.RandomBytes(rng.Below(40))});
    }
    return tx;
}

} // namespace

TEST_CASE("original signature hash: Core's vectors without code separators")
{
    const auto path = test::TestData("core/sighash.json");
    if (!path) return;
    const UniValue rows = test::ReadTestJson(*path);
    int checked = 0;
    for (size_t i = 1; i < rows.size(); ++i) {
        const UniValue& row = rows[i];
        const Bytes code = FromHex(row[1].get_str()).value();
        const auto tx = Transaction::Parse(FromHex(row[0].get_str()).value());
        if (row[1].get_str().find("ab") != std::string::npos || !tx.Ok()) continue;
        const auto plain = MutableTransaction::FromView((*tx)->View());
        const Hash32 hash = LegacySighash(plain, static_cast<size_t>(row[2].get_int()), code,
                                          static_cast<uint32_t>(row[3].get_int()));
        INFO("row " << i);
        CHECK(Uint256(hash).ToHex() == row[4].get_str());
        ++checked;
    }
    CHECK(checked > 100);
}

TEST_CASE("signature hashes equal the script module's on random transactions")
{
    Rng rng(test::TestRng()());
    const uint8_t types[] = {1, 2, 3, 0x81, 0x82, 0x83};
    for (int round = 0; round < 500; ++round) {
        const MutableTransaction tx = RandomTransaction(rng);
        const TransactionRef frozen = tx.Freeze();
        std::vector<Bytes> scripts;
        std::vector<Prevout> spent;
        std::vector<ibd::SpentOutput> spent_too;
        for (size_t i = 0; i < tx.inputs.size(); ++i) scripts.push_back(rng.RandomBytes(34));
        for (const Bytes& script : scripts) {
            spent.push_back({rng.Between(0, 1000), script});
            spent_too.push_back({spent.back().value, script});
        }
        const TxHashes hashes(frozen->View(), spent_too);
        const size_t i = rng.Below(tx.inputs.size());
        const uint8_t type = types[rng.Below(std::size(types))];
        const Bytes code = Bytes(rng.Below(300), 0x51);
        CHECK(LegacySighash(tx, i, code, type) == LegacySigHash(frozen->View(), i, code, type));
        CHECK(SegwitV0Sighash(tx, i, code, spent[i].value, type) ==
              WitnessV0SigHash(frozen->View(), i, code, spent[i].value, type, hashes));
        if ((type & 3) == 3 && i >= tx.outputs.size()) continue;
        TaprootContext context;
        context.tapscript = !code.empty();
        if (context.tapscript) context.leaf_hash = TapLeafHash(0xc0, code);
        CHECK(TaprootSighash(tx, i, spent, code, type) ==
              TaprootSigHash(frozen->View(), i, spent_too[i], type, hashes, context));
    }
}

} // namespace ibd::sim
