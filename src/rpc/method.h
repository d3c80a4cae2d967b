// RpcMethod: one call of the JSON-RPC interface - its name, arguments, help and handler - and
// RpcCall, the checked arguments a handler gets. Methods are made once at start-up and const after.
#pragma once

#include "primitives/uint256.h"
#include "rpc/error.h"
#include "util/bytes.h"
#include "util/strings.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <univalue.h>

namespace ibd {

enum class RpcType {
    kString,
    kHex,    //!< string, said so in help
    kNumber, //!< an integer or, for an amount, a decimal
    kAmount,
    kBool,
    kArray,
    kObject,
    kRange,        //!< number or pair of numbers
    kNamedOptions, //!< object whose members may be given as named arguments of the call
    kText,         //!< told to be a string, any value is taken
    kAny,          //!< checked by the handler
};

struct RpcArg {
    std::string names; //!< "verbosity|verbose": first the name, then aliases
    RpcType type = RpcType::kString;
    bool required = false;
    std::string default_text; //!< shown by help when optional
    std::string help;
    std::vector<RpcArg> members = {}; //!< of kNamedOptions and kArray
    std::string one_line = {};        //!< what the usage line shows, if not name or members
    bool hidden = false;              //!< help does not show it, nor those after it

    std::string Name() const { return names.substr(0, names.find('|')); }
};

/** Arguments in order, checked against the method's list: of the right type or null/absent. */
class RpcCall {
public:
    explicit RpcCall(UniValue params) : m_params(std::move(params)) {}

    const UniValue& All() const { return m_params; }
    size_t Count() const { return m_params.size(); }
    bool Has(size_t i) const { return i < m_params.size() && !m_params[i].isNull(); }
    const UniValue& At(size_t i) const;

    const std::string& String(size_t i) const { return At(i).getValStr(); }
    std::string String(size_t i, const std::string& otherwise) const;
    /** -1 if it is no whole number in range. */
    int64_t Int(size_t i) const;
    int32_t Int32(size_t i) const;
    int32_t Int32(size_t i, int32_t otherwise) const { return Has(i) ? Int32(i) : otherwise; }
    uint32_t Uint32(size_t i) const;
    /** 0 and 1 may be given as false and true. */
    int32_t Verbosity(size_t i, int32_t otherwise) const;
    int64_t Int(size_t i, int64_t otherwise) const { return Has(i) ? Int(i) : otherwise; }
    bool Bool(size_t i, bool otherwise) const;
    /** -8 in Core's words if it is not 64 hex digits. `name` is the argument's. */
    Uint256 Hash(size_t i, std::string_view name) const;
    /** A member of the options object at `i`; null if absent. */
    const UniValue& Option(size_t i, const std::string& key) const;

private:
    UniValue m_params;
};

/** "`name` must be of length 64 (not 3, for 'abc')" and the like, code -8. */
Uint256 ParseHash(const UniValue& value, std::string_view name);
/** "`name` must be hexadecimal string (not 'xyz')", code -8. */
Bytes ParseHexArgument(const UniValue& value, std::string_view name);
/** "JSON value of type null is not of expected type string". */
std::string WrongTypeText(const UniValue& value, UniValue::VType expected);
/** -3 if it is no string. */
const std::string& ParseString(const UniValue& value);
/** -3 if it is no number, -1 "JSON integer out of range". */
template <std::integral T>
T ParseInt(const UniValue& value)
{
    if (!value.isNum()) {
        throw RpcError{RpcCode::kTypeError, WrongTypeText(value, UniValue::VNUM)};
    }
    const auto number = ParseInteger<T>(value.getValStr());
    if (!number) throw RpcError{RpcCode::kMisc, "JSON integer out of range"};
    return *number;
}

/** What there is of a node that starts; a call is answered from its phase on. */
enum class RpcPhase {
    kStart,   //!< nothing yet
    kNetwork, //!< headers and peers, while the booster fetches blocks; no coins and no tip
    kChain,   //!< all
};

struct RpcMethod {
    std::string category; //!< "blockchain", "control", ...; "hidden" is left out of help
    std::string name;
    std::string description;
    std::vector<RpcArg> args;
    std::string result;   //!< text of the Result: part
    std::string examples; //!< arguments of an example call as bitcoin-cli takes them, one a line
    std::function<UniValue(const RpcCall&)> handler;
    RpcPhase since = RpcPhase::kChain;

    /** `getblock "blockhash" ( verbosity )`. */
    std::string Signature() const;
    std::string Help() const;
    /** Checks number and types of the arguments and calls the handler. Throws RpcError. */
    UniValue Execute(const UniValue& positional) const;
    /** Named arguments in order of position. Throws RpcError (-8). */
    UniValue ToPositional(const UniValue& named) const;
    /** Appends [method, position, name, whether it is a string] for each name of each argument. */
    void AppendConversions(UniValue& out) const;
};

} // namespace ibd
