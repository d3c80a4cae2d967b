// signmessagewithprivkey and verifymessage; see util_calls.h.
#include "crypto/recoverable.h"
#include "crypto/ripemd160.h"
#include "jsonrpc/json.h"
#include "keys/secret_key.h"
#include "primitives/serialize.h"
#include "rpc/util_calls.h"
#include "util/base64.h"

namespace ibd {

namespace {

/** Prefix of every message, so that its signature can never be valid for a transaction. */
constexpr std::string_view kMagic = "Bitcoin Signed Message:\n";

Hash32 MessageHash(std::string_view message)
{
    Bytes bytes;
    Writer writer(bytes);
    writer.VarBytes(AsBytes(kMagic));
    writer.VarBytes(AsBytes(message));
    return Sha256d(bytes);
}

UniValue Sign(const ChainContext& context, const RpcCall& call)
{
    const uint8_t prefix = context.Headers().Params().secret_key_prefix;
    const auto key = DecodeSecretKey(call.String(0), prefix);
    if (!key) throw RpcError{RpcCode::kInvalidAddressOrKey, "Invalid private key"};
    return ToBase64(SignRecoverable(key->bytes, MessageHash(call.String(1)), key->compressed));
}

UniValue Verify(const ChainContext& context, const RpcCall& call)
{
    const auto script = DecodeAddress(call.String(0), context.Prefixes());
    if (!script) throw RpcError{RpcCode::kInvalidAddressOrKey, "Invalid address"};
    const ScriptTemplate shape = ClassifyScript(*script);
    if (shape.kind != ScriptKind::kPubkeyHash) {
        throw RpcError{RpcCode::kTypeError, "Address does not refer to key"};
    }
    const auto signature = FromBase64(call.String(1));
    if (!signature) throw RpcError{RpcCode::kTypeError, "Malformed base64 encoding"};
    const auto key = RecoverPublicKey(*signature, MessageHash(call.String(2)));
    if (!key) return Bool(false);
    const Hash20 hash = Hash160(*key);
    return Bool(std::equal(hash.begin(), hash.end(), shape.parts[0].begin()));
}

RpcArg MessageArg()
{
    return WithCliForm({"message", RpcType::kString, true, "", "The message"}, CliForm::kFreeText);
}

} // namespace

void AddMessageMethods(RpcTable& table, ChainContext& context)
{
    table.Add(
        {"util",
         "verifymessage",
         "Whether a message was signed by the key of an address.",
         {{"address", RpcType::kString, true, "", "A pay-to-public-key-hash address"},
          WithCliForm({"signature", RpcType::kString, true, "", "In base 64"}, CliForm::kFreeText),
          MessageArg()},
         "true|false    (boolean) Whether the key of the address signed the message",
         "\"1D1ZrZNe3JUo7ZycKEYQQiQAWd9y54F4XX\" \"signature\" \"my message\"",
         [&context](const RpcCall& call) { return Verify(context, call); }});
    table.Add({"util",
               "signmessagewithprivkey",
               "Signs a message.",
               {{"privkey", RpcType::kString, true, "", "The private key"}, MessageArg()},
               "\"signature\"    (string) In base 64",
               "\"privkey\" \"my message\"",
               [&context](const RpcCall& call) { return Sign(context, call); }});
    table.AnswerEarly({"verifymessage", "signmessagewithprivkey"});
}

} // namespace ibd
