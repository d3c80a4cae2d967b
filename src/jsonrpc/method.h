// RpcMethod: one call of the JSON-RPC interface: name, arguments, help and handler. RpcCall: the
// checked arguments of a handler. Methods are made once at start-up and const afterwards.
#pragma once

#include "jsonrpc/error.h"
#include "primitives/uint256.h"
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
    kHex,    //!< string, described as hex in help
    kNumber, //!< an integer or, for an amount, a decimal
    kAmount,
    kBool,
    kArray,
    kObject,
    kRange,        //!< number or pair of numbers
    kNamedOptions, //!< object whose members may be given as named arguments
    kText,         //!< documented as string, accepts any value
    kAny,          //!< checked by the handler
};

/** The form in which bitcoin-cli sends an argument. */
enum class CliForm {
    kByType,     //!< strings as text, all else as JSON
    kFreeText,   //!< text that may contain '=', which is then not the end of a name: paths, base64
    kJson,       //!< as JSON, for any type
    kJsonOrText, //!< as JSON, or as text if it is none: a height or a hash
};

struct RpcArg {
    std::string names; //!< "verbosity|verbose": the name, then aliases
    RpcType type = RpcType::kString;
    bool required = false;
    std::string default_text; //!< shown in help if optional
    std::string help;
    std::vector<RpcArg> members = {}; //!< of kNamedOptions and kArray
    std::string one_line = {};        //!< text in the usage line, if not name or members
    bool hidden = false;              //!< not in help, like all later arguments
    CliForm cli = CliForm::kByType;

    std::string Name() const { return names.substr(0, names.find('|')); }
};

/** The argument with a form that is not its type's default. */
inline RpcArg WithCliForm(RpcArg arg, CliForm form)
{
    arg.cli = form;
    return arg;
}

/** Arguments in order, checked against the method's list: of the right type, or null/absent. */
class RpcCall {
public:
    explicit RpcCall(UniValue params) : m_params(std::move(params)) {}

    const UniValue& All() const { return m_params; }
    size_t Count() const { return m_params.size(); }
    bool Has(size_t i) const { return i < m_params.size() && !m_params[i].isNull(); }
    const UniValue& At(size_t i) const;

    const std::string& String(size_t i) const { return At(i).getValStr(); }
    std::string String(size_t i, const std::string& otherwise) const;
    /** -1 unless it is an integer in range. */
    int64_t Int(size_t i) const;
    int32_t Int32(size_t i) const;
    int32_t Int32(size_t i, int32_t otherwise) const { return Has(i) ? Int32(i) : otherwise; }
    uint32_t Uint32(size_t i) const;
    /** false and true are accepted for 0 and 1. */
    int32_t Verbosity(size_t i, int32_t otherwise) const;
    int64_t Int(size_t i, int64_t otherwise) const { return Has(i) ? Int(i) : otherwise; }
    bool Bool(size_t i, bool otherwise) const;
    /** -8 in Core's words unless it is 64 hex digits. `name`: the argument's. */
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
/** -3 if the object lacks the member, unless it is optional, or has one of another type. */
void RequireMember(const UniValue& object, const std::string& name, UniValue::VType type,
                   bool optional = false);
/** -3 if it is not a string. */
const std::string& ParseString(const UniValue& value);
/** -3 if it is not true or false. */
bool ParseBool(const UniValue& value);
/** -3 if it is not a number; -1: "JSON integer out of range". */
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

/** The phases of a starting node; each call is answered from a certain phase on. */
enum class RpcPhase {
    kStart,   //!< no call is answered
    kNetwork, //!< calls that need neither coins nor a tip, while index or chainstate is built
    kChain,   //!< everything
};

struct RpcMethod {
    std::string category; //!< "blockchain", "control", ...; "hidden" is not in help
    std::string name;
    std::string description;
    std::vector<RpcArg> args;
    std::string result;   //!< text after Result: in help
    std::string examples; //!< arguments of an example call in bitcoin-cli's form, one example a
                          //!< line
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
    /** The arguments in order, a word each, in the notation of cli/param_table.cpp. */
    std::string CliWords() const;
};

} // namespace ibd
