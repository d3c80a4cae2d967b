// getdescriptorinfo and deriveaddresses; see blockchain.h and descriptors.h.
#include "rpc/descriptors.h"

#include "jsonrpc/json.h"
#include "keys/descriptor.h"
#include "rpc/blockchain.h"

namespace ibd {

namespace {

constexpr uint32_t kDefaultScanEnd = 1000;
constexpr int64_t kMaxRange = 1'000'000;

const ChainParams& ParamsOf(const ChainContext& context) { return context.Headers().Params(); }

UniValue DescriptorInfo(const ChainContext& context, const RpcCall& call)
{
    const std::string& text = call.String(0);
    const auto parsed = ParseDescriptorOrThrow(text, ParamsOf(context), false);
    UniValue out(UniValue::VOBJ);
    out.pushKV("descriptor", parsed[0].ToString());
    if (parsed.size() > 1) {
        UniValue all(UniValue::VARR);
        for (const OutputDescriptor& one : parsed) all.push_back(one.ToString());
        out.pushKV("multipath_expansion", all);
    }
    out.pushKV("checksum", DescriptorChecksum(OrThrow(StripDescriptorChecksum(text, false))));
    out.pushKV("isrange", Bool(parsed[0].IsRange()));
    out.pushKV("issolvable", Bool(parsed[0].IsSolvable()));
    out.pushKV("hasprivatekeys", Bool(parsed[0].HasPrivateKeys()));
    return out;
}

UniValue Addresses(const OutputDescriptor& descriptor, std::pair<uint32_t, uint32_t> range,
                   const AddressPrefixes& prefixes)
{
    UniValue out(UniValue::VARR);
    for (uint32_t i = range.first; i <= range.second; ++i) {
        const auto scripts = descriptor.Scripts(i);
        if (!scripts) {
            throw RpcError{RpcCode::kInvalidAddressOrKey,
                           "Cannot derive script without private keys"};
        }
        for (const Bytes& script : *scripts) {
            const auto address = EncodeAddress(script, prefixes);
            // combo() also has a script of a bare key.
            const bool bare = ClassifyScript(script).kind == ScriptKind::kPubkey;
            if (!address && scripts->size() > 1 && bare) continue;
            if (!address) {
                throw RpcError{RpcCode::kInvalidAddressOrKey,
                               "Descriptor does not have a corresponding address"};
            }
            out.push_back(*address);
        }
    }
    if (out.empty()) throw RpcError{RpcCode::kMisc, "Unexpected empty result"};
    return out;
}

UniValue DeriveAddresses(const ChainContext& context, const RpcCall& call)
{
    std::pair<uint32_t, uint32_t> range{0, 0};
    if (call.Has(1)) range = ParseDescriptorRange(call.At(1));
    const auto parsed = ParseDescriptorOrThrow(call.String(0), ParamsOf(context), true);
    // As in Core, a null counts as given.
    const bool given = call.Count() > 1;
    if (!parsed[0].IsRange() && given) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Range should not be specified for an un-ranged descriptor"};
    }
    if (parsed[0].IsRange() && !given) {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Range must be specified for a ranged descriptor"};
    }
    const AddressPrefixes prefixes = context.Prefixes();
    if (parsed.size() == 1) return Addresses(parsed[0], range, prefixes);
    UniValue out(UniValue::VARR);
    for (const OutputDescriptor& one : parsed) out.push_back(Addresses(one, range, prefixes));
    return out;
}

/** Calls `use` with each descriptor of a descriptor text or object at each position. False from it:
 *  a secret is unknown. */
template <typename Use>
void ForEachPosition(const UniValue& object, const ChainParams& params, const Use& use)
{
    std::string text;
    std::pair<uint32_t, uint32_t> range{0, kDefaultScanEnd};
    if (object.isStr()) {
        text = object.get_str();
    } else if (object.isObject()) {
        const UniValue& given = object["desc"];
        if (given.isNull()) {
            throw RpcError{RpcCode::kInvalidParameter,
                           "Descriptor needs to be provided in scan object"};
        }
        text = ParseString(given);
        if (!object["range"].isNull()) range = ParseDescriptorRange(object["range"]);
    } else {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Scan object needs to be either a string or an object"};
    }
    std::vector<std::shared_ptr<const OutputDescriptor>> parsed;
    for (OutputDescriptor& one : ParseDescriptorOrThrow(text, params, false)) {
        parsed.push_back(std::make_shared<const OutputDescriptor>(std::move(one)));
    }
    if (!parsed[0]->IsRange()) range = {0, 0};
    for (uint32_t i = range.first; i <= range.second; ++i) {
        for (const auto& one : parsed) {
            if (use(one, i)) continue;
            ThrowRpc(RpcCode::kInvalidAddressOrKey,
                     "Cannot derive script without private keys: '{}'", text);
        }
    }
}

RpcMethod GetDescriptorInfo(ChainContext& context)
{
    return {"util",
            "getdescriptorinfo",
            "Properties of an output descriptor.",
            {{"descriptor", RpcType::kString, true, "", "The descriptor"}},
            "{\n"
            "  \"descriptor\" : \"str\",     (string) In canonical form, without private keys; of "
            "several the first\n"
            "  \"multipath_expansion\" : [ \"str\", ... ],  (json array) All of them, where a "
            "path has a step <0;1>\n"
            "  \"checksum\" : \"str\",       (string) Of the descriptor that was given\n"
            "  \"isrange\" : bool,         (boolean) Whether it has a step *\n"
            "  \"issolvable\" : bool,      (boolean) Whether keys and scripts are all known\n"
            "  \"hasprivatekeys\" : bool   (boolean) Whether a private key was given\n"
            "}",
            "\"wpkh([d34db33f/84h/0h/0h]0279be667ef9dcbbac55a06295Ce870b07029Bfcdb2dce28d959f2815"
            "b16f81798)\"",
            [&context](const RpcCall& call) { return DescriptorInfo(context, call); }};
}

RpcMethod DeriveAddressesMethod(ChainContext& context)
{
    return {"util",
            "deriveaddresses",
            "Lists the addresses of an output descriptor.",
            {{"descriptor", RpcType::kString, true, "", "The descriptor, with its checksum"},
             {"range", RpcType::kRange, false, "",
              "Positions of a descriptor with *: the last, or the first and the last"}},
            "[ \"address\", ... ]   (json array) Of several descriptors, one array each",
            "\"pkh(0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798)#ml40v0wf\"",
            [&context](const RpcCall& call) { return DeriveAddresses(context, call); }};
}

} // namespace

DescriptorNetwork NetworkOf(const ChainParams& params)
{
    return {{params.pubkey_address_prefix, params.script_address_prefix, params.bech32_hrp},
            {params.extended_public_prefix, params.extended_secret_prefix},
            params.secret_key_prefix};
}

std::vector<OutputDescriptor>
ParseDescriptorOrThrow(const std::string& text, const ChainParams& params, bool require_checksum)
{
    auto parsed = OutputDescriptor::Parse(text, NetworkOf(params), require_checksum);
    if (!parsed) throw RpcError{RpcCode::kInvalidAddressOrKey, parsed.Message()};
    return std::move(parsed).Value();
}

std::pair<uint32_t, uint32_t> ParseDescriptorRange(const UniValue& value)
{
    int64_t low = 0, high = 0;
    if (value.isNum()) {
        high = ParseInt<int64_t>(value);
    } else if (value.isArray() && value.size() == 2 && value[0].isNum() && value[1].isNum()) {
        low = ParseInt<int64_t>(value[0]);
        high = ParseInt<int64_t>(value[1]);
        if (low > high) {
            throw RpcError{RpcCode::kInvalidParameter,
                           "Range specified as [begin,end] must not have begin after end"};
        }
    } else {
        throw RpcError{RpcCode::kInvalidParameter,
                       "Range must be specified as end or as [begin,end]"};
    }
    const auto refuse = [](const char* why) { throw RpcError{RpcCode::kInvalidParameter, why}; };
    if (low < 0) refuse("Range should be greater or equal than 0");
    if (high >> 31 != 0) refuse("End of range is too high");
    if (high >= low + kMaxRange) refuse("Range is too large");
    return {static_cast<uint32_t>(low), static_cast<uint32_t>(high)};
}

std::string WatchedScript::Describe() const
{
    return descriptor->Expand(index).value().at(place).descriptor;
}

std::vector<WatchedScript> ExpandScanObject(const UniValue& object, const ChainParams& params)
{
    std::vector<WatchedScript> out;
    ForEachPosition(object, params,
                    [&](const std::shared_ptr<const OutputDescriptor>& one, uint32_t index) {
                        auto scripts = one->Scripts(index);
                        for (size_t i = 0; scripts && i < scripts->size(); ++i) {
                            out.push_back({std::move((*scripts)[i]), one, index, i});
                        }
                        return scripts.has_value();
                    });
    return out;
}

KeyRing CollectScanObjects(const UniValue& list, const ChainParams& params)
{
    KeyRing ring;
    for (const UniValue& object : list.getValues()) {
        ForEachPosition(object, params,
                        [&](const std::shared_ptr<const OutputDescriptor>& one, uint32_t index) {
                            return one->Collect(index, ring);
                        });
    }
    return ring;
}

void AddDescriptorMethods(RpcTable& table, ChainContext& context)
{
    table.Add(GetDescriptorInfo(context));
    table.Add(DeriveAddressesMethod(context));
    table.AnswerEarly({"getdescriptorinfo", "deriveaddresses"});
}

} // namespace ibd
