#include "oracle_shim.h"

#include <coins.h>
#include <consensus/tx_check.h>
#include <consensus/validation.h>
#include <crypto/muhash.h>
#include <hash.h>
#include <kernel/coinstats.h>
#include <policy/policy.h>
#include <primitives/transaction.h>
#include <script/interpreter.h>
#include <script/script_error.h>
#include <streams.h>
#include <txdb.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

const char* const kErrorNames[] = {
    "OK",
    "UNKNOWN_ERROR",
    "EVAL_FALSE",
    "OP_RETURN",
    "SCRIPTNUM",
    "SCRIPT_SIZE",
    "PUSH_SIZE",
    "OP_COUNT",
    "STACK_SIZE",
    "SIG_COUNT",
    "PUBKEY_COUNT",
    "VERIFY",
    "EQUALVERIFY",
    "CHECKMULTISIGVERIFY",
    "CHECKSIGVERIFY",
    "NUMEQUALVERIFY",
    "BAD_OPCODE",
    "DISABLED_OPCODE",
    "INVALID_STACK_OPERATION",
    "INVALID_ALTSTACK_OPERATION",
    "UNBALANCED_CONDITIONAL",
    "NEGATIVE_LOCKTIME",
    "UNSATISFIED_LOCKTIME",
    "SIG_HASHTYPE",
    "SIG_DER",
    "MINIMALDATA",
    "SIG_PUSHONLY",
    "SIG_HIGH_S",
    "SIG_NULLDUMMY",
    "PUBKEYTYPE",
    "CLEANSTACK",
    "MINIMALIF",
    "NULLFAIL",
    "DISCOURAGE_UPGRADABLE_NOPS",
    "DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM",
    "DISCOURAGE_UPGRADABLE_TAPROOT_VERSION",
    "DISCOURAGE_OP_SUCCESS",
    "DISCOURAGE_UPGRADABLE_PUBKEYTYPE",
    "WITNESS_PROGRAM_WRONG_LENGTH",
    "WITNESS_PROGRAM_WITNESS_EMPTY",
    "WITNESS_PROGRAM_MISMATCH",
    "WITNESS_MALLEATED",
    "WITNESS_MALLEATED_P2SH",
    "WITNESS_UNEXPECTED",
    "WITNESS_PUBKEYTYPE",
    "SCHNORR_SIG_SIZE",
    "SCHNORR_SIG_HASHTYPE",
    "SCHNORR_SIG",
    "TAPROOT_WRONG_CONTROL_SIZE",
    "TAPSCRIPT_VALIDATION_WEIGHT",
    "TAPSCRIPT_CHECKMULTISIG",
    "TAPSCRIPT_MINIMALIF",
    "TAPSCRIPT_EMPTY_PUBKEY",
    "OP_CODESEPARATOR",
    "SIG_FINDANDDELETE",
};
static_assert(std::size(kErrorNames) == SCRIPT_ERR_ERROR_COUNT);
static_assert(SCRIPT_ERR_SIG_NULLFAIL == 32 && SCRIPT_ERR_SIG_FINDANDDELETE == 54);

constexpr size_t kCoinsCacheBytes = 64 << 20;

// Core asserts that these hold; an oracle must answer instead.
bool FlagsUsable(script_verify_flags flags)
{
    if (flags.as_int() & ~MAX_SCRIPT_VERIFY_FLAGS) return false;
    const bool p2sh = bool(flags & SCRIPT_VERIFY_P2SH);
    const bool witness = bool(flags & SCRIPT_VERIFY_WITNESS);
    if (witness && !p2sh) return false;
    if ((flags & SCRIPT_VERIFY_TAPROOT) && !witness) return false;
    return !(flags & SCRIPT_VERIFY_CLEANSTACK) || (p2sh && witness);
}

void SetError(char* out, size_t len, const char* what)
{
    if (len == 0) return;
    std::strncpy(out, what, len - 1);
    out[len - 1] = 0;
}

CCoinsViewDB OpenCoins(const char* path)
{
    return CCoinsViewDB{DBParams{.path = fs::PathFromString(path),
                                 .cache_bytes = kCoinsCacheBytes,
                                 .memory_only = false,
                                 .wipe_data = false,
                                 .obfuscate = true},
                        CoinsViewOptions{}};
}

void Visit(const COutPoint& outpoint, const Coin& coin, OracleCoinFn each, void* user)
{
    OracleCoin out{};
    const auto& id = outpoint.hash.ToUint256();
    std::copy(id.begin(), id.end(), out.txid);
    out.vout = outpoint.n;
    out.height = coin.nHeight;
    out.coinbase = coin.IsCoinBase();
    out.amount = coin.out.nValue;
    out.script = coin.out.scriptPubKey.data();
    out.script_len = coin.out.scriptPubKey.size();
    each(user, &out);
}

// The coins of one transaction, hashed in output order: database keys order them by VARINT bytes.
struct TxGroup {
    COutPoint last;
    std::vector<std::pair<uint32_t, Coin>> coins;
};

void HashGroup(TxGroup& group, HashWriter& writer)
{
    std::sort(group.coins.begin(), group.coins.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [n, coin] : group.coins) {
        writer << COutPoint{group.last.hash, n}
               << static_cast<uint32_t>((coin.nHeight << 1) + coin.fCoinBase) << coin.out;
    }
    group.coins.clear();
}

void Scan(const char* path, bool hashes, OracleCoinFn each, void* user, OracleCoinsInfo& info)
{
    CCoinsViewDB db = OpenCoins(path);
    const uint256 best = db.GetBestBlock();
    std::copy(best.begin(), best.end(), info.best_block);
    HashWriter writer{};
    MuHash3072 muhash;
    TxGroup group;
    COutPoint key;
    Coin coin;
    for (auto cursor = db.Cursor(); cursor->Valid(); cursor->Next()) {
        if (!cursor->GetKey(key) || !cursor->GetValue(coin)) {
            throw std::runtime_error("unreadable coin record " + std::to_string(info.coins));
        }
        ++info.coins;
        info.total_amount += coin.out.nValue;
        if (each) Visit(key, coin, each, user);
        if (!hashes) continue;
        kernel::ApplyCoinHash(muhash, key, coin);
        if (key.hash != group.last.hash) HashGroup(group, writer);
        group.last = key;
        group.coins.emplace_back(key.n, coin);
    }
    if (!hashes) return;
    HashGroup(group, writer);
    const uint256 serialized = writer.GetHash();
    std::copy(serialized.begin(), serialized.end(), info.hash_serialized);
    uint256 mu;
    muhash.Finalize(mu);
    std::copy(mu.begin(), mu.end(), info.muhash);
}

} // namespace

struct OracleTx {
    CTransactionRef tx;
    PrecomputedTransactionData data;
};

extern "C" {

OracleTx* oracle_tx_new(const uint8_t* tx, size_t tx_len, const uint8_t* spent, size_t spent_len)
{
    try {
        SpanReader stream{std::span{tx, tx_len}};
        auto out = std::make_unique<OracleTx>();
        out->tx = MakeTransactionRef(CMutableTransaction{deserialize, TX_WITH_WITNESS, stream});
        if (!stream.empty()) return nullptr;
        std::vector<CTxOut> outputs;
        SpanReader spent_stream{std::span{spent, spent_len}};
        while (!spent_stream.empty()) spent_stream >> outputs.emplace_back();
        if (!outputs.empty() && outputs.size() != out->tx->vin.size()) return nullptr;
        out->data.Init(*out->tx, std::move(outputs));
        return out.release();
    } catch (const std::exception&) {
        return nullptr;
    }
}

void oracle_tx_free(OracleTx* tx) { delete tx; }

size_t oracle_tx_inputs(const OracleTx* tx) { return tx->tx->vin.size(); }

int oracle_verify(const OracleTx* tx, size_t input, const uint8_t* spk, size_t spk_len,
                  int64_t amount, uint64_t flag_bits)
{
    const auto flags = script_verify_flags::from_int(flag_bits);
    if (!FlagsUsable(flags)) return kOracleBadFlags;
    if (input >= tx->tx->vin.size()) return kOracleBadInput;
    const bool have_spent = !tx->data.m_spent_outputs.empty();
    if (!have_spent && (!spk || (flags & SCRIPT_VERIFY_TAPROOT))) return kOracleNeedSpent;
    CScript given;
    if (spk) given = CScript{spk, spk + spk_len};
    const CScript& script = spk ? given : tx->data.m_spent_outputs[input].scriptPubKey;
    const CAmount value = spk ? amount : tx->data.m_spent_outputs[input].nValue;
    const CTxIn& in = tx->tx->vin[input];
    const TransactionSignatureChecker checker{tx->tx.get(), static_cast<unsigned>(input), value,
                                              tx->data, MissingDataBehavior::FAIL};
    ScriptError error{SCRIPT_ERR_UNKNOWN_ERROR};
    if (VerifyScript(in.scriptSig, script, &in.scriptWitness, flags, checker, &error)) return 0;
    return error == SCRIPT_ERR_OK ? SCRIPT_ERR_UNKNOWN_ERROR : error;
}

int oracle_check_tx(const uint8_t* tx, size_t tx_len, char* reason, size_t reason_len)
{
    try {
        SpanReader stream{std::span{tx, tx_len}};
        const CTransaction parsed{CMutableTransaction{deserialize, TX_WITH_WITNESS, stream}};
        if (!stream.empty()) return -1;
        TxValidationState state;
        if (CheckTransaction(parsed, state)) return 0;
        SetError(reason, reason_len, state.GetRejectReason().c_str());
        return 1;
    } catch (const std::exception&) {
        return -1;
    }
}

const char* oracle_error_name(int error)
{
    switch (error) {
    case kOracleBadFlags: return "BAD_FLAGS";
    case kOracleNeedSpent: return "SPENT_OUTPUTS_REQUIRED";
    case kOracleBadInput: return "BAD_INPUT_INDEX";
    default: break;
    }
    if (error < 0 || error >= SCRIPT_ERR_ERROR_COUNT) return "UNKNOWN_ERROR";
    return kErrorNames[error];
}

uint64_t oracle_flag_bits(const char* name)
{
    const std::string key{name};
    if (key == "NONE") return 0;
    if (key == "MANDATORY") return MANDATORY_SCRIPT_VERIFY_FLAGS.as_int();
    if (key == "STANDARD") return STANDARD_SCRIPT_VERIFY_FLAGS.as_int();
    if (key == "ALL") return MAX_SCRIPT_VERIFY_FLAGS;
    const auto& names = ScriptFlagNamesToEnum();
    const auto it = names.find(key);
    return it == names.end() ? ~uint64_t{0} : script_verify_flags{it->second}.as_int();
}

const char* oracle_flag_name(unsigned bit)
{
    for (const auto& [name, flag] : ScriptFlagNamesToEnum()) {
        if (static_cast<unsigned>(flag) == bit) return name.c_str();
    }
    return nullptr;
}

int oracle_coins_scan(const char* path, int hashes, OracleCoinFn each, void* user,
                      OracleCoinsInfo* info, char* error, size_t error_len)
{
    try {
        *info = {};
        Scan(path, hashes != 0, each, user, *info);
        return 0;
    } catch (const std::exception& e) {
        SetError(error, error_len, e.what());
        return -1;
    }
}

int oracle_coin_get(const char* path, const uint8_t* txid, uint32_t vout, OracleCoinFn each,
                    void* user, char* error, size_t error_len)
{
    try {
        CCoinsViewDB db = OpenCoins(path);
        const COutPoint key{Txid::FromUint256(uint256{std::span<const uint8_t>{txid, 32}}), vout};
        const std::optional<Coin> coin = db.GetCoin(key);
        if (!coin) return 0;
        Visit(key, *coin, each, user);
        return 1;
    } catch (const std::exception& e) {
        SetError(error, error_len, e.what());
        return -1;
    }
}
}
