// See tx_build.h.
#include "rpc/tx_build.h"

#include "consensus/limits.h"
#include "keys/sign.h"
#include "mempool/policy.h"
#include "mempool/pool_view.h"

#include <algorithm>
#include <limits>
#include <set>

namespace ibd {

namespace {

constexpr uint32_t kMinVersion = 1;
constexpr uint32_t kMaxVersion = 3;
constexpr int kMoneyDecimals = 8;

[[noreturn]] void Refuse(const std::string& why)
{
    throw RpcError{RpcCode::kInvalidParameter, "Invalid parameter, " + why};
}

void RequireType(const UniValue& value, UniValue::VType type)
{
    if (value.type() != type) throw RpcError{RpcCode::kTypeError, WrongTypeText(value, type)};
}

/** For an input without an explicit sequence. */
uint32_t DefaultSequence(std::optional<bool> replaceable, uint32_t lock_time)
{
    if (replaceable.value_or(true)) return kMostReplaceable;
    return lock_time != 0 ? kSequenceFinal - 1 : kSequenceFinal;
}

MutableInput ParseInput(const UniValue& json, uint32_t sequence)
{
    RequireType(json, UniValue::VOBJ);
    MutableInput out;
    out.prevout.txid = ParseHash(json["txid"], "txid");
    if (!json["vout"].isNum()) Refuse("missing vout key");
    const auto vout = ParseInt<int32_t>(json["vout"]);
    if (vout < 0) Refuse("vout cannot be negative");
    out.prevout.vout = static_cast<uint32_t>(vout);
    out.sequence = sequence;
    if (!json["sequence"].isNum()) return out;
    const auto given = ParseInt<int64_t>(json["sequence"]);
    if (given < 0 || given > kSequenceFinal) Refuse("sequence number is out of range");
    out.sequence = static_cast<uint32_t>(given);
    return out;
}

/** Names and values of an object, or of an array of objects with one member each. */
std::vector<std::pair<std::string, UniValue>> OutputPairs(const UniValue& json)
{
    if (json.isNull()) Refuse("output argument must be non-null");
    std::vector<std::pair<std::string, UniValue>> out;
    const auto add = [&](const UniValue& object) {
        for (size_t i = 0; i < object.size(); ++i) {
            out.emplace_back(object.getKeys()[i], object.getValues()[i]);
        }
    };
    if (json.isObject()) {
        add(json);
        return out;
    }
    RequireType(json, UniValue::VARR);
    for (const UniValue& pair : json.getValues()) {
        if (!pair.isObject()) Refuse("key-value pair not an object as expected");
        if (pair.size() != 1) Refuse("key-value pair must contain exactly one key");
        add(pair);
    }
    return out;
}

MutableOutput DataOutput(const UniValue& value)
{
    const Bytes data = ParseHexArgument(UniValue(value.getValStr()), "Data");
    MutableOutput out{0, {OP_RETURN}};
    AppendPush(out.script_pubkey, data);
    return out;
}

std::vector<MutableOutput> ParseOutputs(const UniValue& json, const AddressPrefixes& prefixes)
{
    std::vector<MutableOutput> out;
    std::set<Bytes> scripts;
    bool has_data = false;
    for (const auto& [name, value] : OutputPairs(json)) {
        if (name == "data") {
            if (has_data) Refuse("duplicate key: data");
            has_data = true;
            out.push_back(DataOutput(value));
            continue;
        }
        const Amount amount = ParseAmount(value);
        auto script = DecodeAddress(name, prefixes);
        if (!script) {
            ThrowRpc(RpcCode::kInvalidAddressOrKey, "Invalid Bitcoin address: {}", name);
        }
        if (!scripts.insert(*script).second) Refuse("duplicated address: " + name);
        out.push_back({amount, std::move(*script)});
    }
    return out;
}

} // namespace

Amount ParseAmount(const UniValue& value)
{
    if (!value.isNum() && !value.isStr()) {
        throw RpcError{RpcCode::kTypeError, "Amount is not a number or string"};
    }
    const auto amount = ParseFixedPoint(value.getValStr(), kMoneyDecimals);
    if (!amount) throw RpcError{RpcCode::kTypeError, "Invalid amount"};
    if (!MoneyRange(*amount)) throw RpcError{RpcCode::kTypeError, "Amount out of range"};
    return *amount;
}

MutableTransaction BuildTransaction(const RpcCall& call, const AddressPrefixes& prefixes)
{
    MutableTransaction tx;
    std::optional<bool> replaceable;
    if (call.Has(3)) replaceable = call.Bool(3, true);
    const uint32_t version = call.Has(4) ? call.Uint32(4) : tx.version;
    const int64_t lock_time = call.Int(2, 0);
    if (lock_time < 0 || lock_time > std::numeric_limits<uint32_t>::max()) {
        Refuse("locktime out of range");
    }
    tx.lock_time = static_cast<uint32_t>(lock_time);
    if (version < kMinVersion || version > kMaxVersion) {
        Refuse(fmt::format("version out of range({}~{})", kMinVersion, kMaxVersion));
    }
    tx.version = version;
    const uint32_t sequence = DefaultSequence(replaceable, tx.lock_time);
    for (const UniValue& input : call.At(0).getValues()) {
        tx.inputs.push_back(ParseInput(input, sequence));
    }
    tx.outputs = ParseOutputs(call.At(1), prefixes);
    const bool signals = std::any_of(tx.inputs.begin(), tx.inputs.end(), [](const auto& input) {
        return input.sequence <= kMostReplaceable;
    });
    if (replaceable.value_or(false) && !tx.inputs.empty() && !signals) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Invalid parameter combination: Sequence number(s) contradict replaceable "
                       "option"};
    }
    return tx;
}

std::vector<std::optional<MutableOutput>> FindSpent(const PoolContext& context,
                                                    const MutableTransaction& tx)
{
    const CoinsGuard coins = context.chain.Chain().HoldCoins();
    const Lock lock(context.pool.mutex);
    const PoolChange none(context.pool);
    const PoolView view(coins.Cache(), none, coins.Tip().height + 1);
    std::vector<std::optional<MutableOutput>> out;
    for (const MutableInput& input : tx.inputs) {
        const auto coin = OrThrow(view.Read(input.prevout));
        out.emplace_back();
        if (!coin) continue;
        const ByteSpan script = coin->script.Span();
        out.back() = MutableOutput{coin->value, {script.begin(), script.end()}};
    }
    return out;
}

std::optional<uint8_t> HashTypeArgument(const RpcCall& call, size_t argument)
{
    if (!call.Has(argument)) return std::nullopt;
    const auto type = ParseSigHashName(call.String(argument));
    if (type) return type;
    ThrowRpc(RpcCode::kInvalidParameter, "'{}' is not a valid sighash parameter.",
             call.String(argument));
}

std::vector<RpcArg> TransactionArgs()
{
    return {{"inputs",
             RpcType::kArray,
             true,
             "",
             "The outputs to spend. A sequence that is not given follows from replaceable and "
             "locktime",
             {},
             "[{\"txid\":\"hex\",\"vout\":n,\"sequence\":n},...]"},
            {"outputs",
             RpcType::kAny,
             true,
             "",
             "Addresses with amounts in bitcoin, each once; and \"data\" once, with hex, for an "
             "unspendable output. An object, or an array of objects of one member each",
             {},
             "[{\"address\":amount,...},{\"data\":\"hex\"},...]"},
            {"locktime", RpcType::kNumber, false, "0", "Earliest height or time"},
            {"replaceable", RpcType::kBool, false, "true",
             "Whether it may be replaced by one that pays more (BIP125)"},
            {"version", RpcType::kNumber, false, "2", "Version of the transaction"}};
}

} // namespace ibd
