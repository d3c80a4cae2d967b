// The call that finds spenders of outputs; see mempool.h.
#include "jsonrpc/json.h"
#include "rpc/index_use.h"
#include "rpc/mempool.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

void RefuseOtherKeys(const UniValue& json, std::initializer_list<std::string_view> known)
{
    if (!json.isObject()) return;
    for (const std::string& key : json.getKeys()) {
        if (std::ranges::find(known, key) != known.end()) continue;
        ThrowRpc(RpcCode::kTypeError, "Unexpected key {}", key);
    }
}

OutPoint ParseOutput(const UniValue& json)
{
    if (!json.isObject()) {
        throw RpcError{RpcCode::kTypeError, WrongTypeText(json, UniValue::VOBJ)};
    }
    RequireMember(json, "txid", UniValue::VSTR);
    RequireMember(json, "vout", UniValue::VNUM);
    RefuseOtherKeys(json, {"txid", "vout"});
    const Txid txid = ParseHash(json["txid"], "txid");
    const auto vout = ParseInt<int32_t>(json["vout"]);
    if (vout < 0) {
        throw RpcError{RpcCode::kInvalidParameter, "Invalid parameter, vout cannot be negative"};
    }
    return {txid, static_cast<uint32_t>(vout)};
}

bool Option(const UniValue& options, const char* name, bool otherwise)
{
    if (!options.isObject() || !options.exists(name)) return otherwise;
    RequireMember(options, name, UniValue::VBOOL, true);
    return ParseBool(options[name]);
}

/** A requested output, and its answer. */
struct Question {
    OutPoint output;
    UniValue answer; //!< with the output
    bool spent = false;
};

void Answer(Question& question, const TxView& spender, bool with_tx)
{
    question.spent = true;
    question.answer.pushKV("spendingtxid", spender.txid.ToHex());
    if (with_tx) question.answer.pushKV("spendingtx", ToHex(spender.raw));
}

void AskPool(const TxPool& pool, std::vector<Question>& questions, bool with_tx)
{
    const Lock lock(pool.mutex);
    for (Question& question : questions) {
        const PoolTx* const spender = pool.Spender(question.output);
        if (spender) Answer(question, spender->tx->View(), with_tx);
    }
}

void AskIndex(const PoolContext& context, const SpenderIndex* index, Question& question,
              bool with_tx)
{
    const ChainManager& chain = context.chain.Headers();
    const auto is_place = [&chain](const BlockHash& block, const FilePos& place) {
        const ChainReader reader = chain.Read();
        const HeaderNode* const node = reader.Find(block);
        return node && StoredBlock(*node).data == place;
    };
    const auto found = index->Find(chain.Blocks(), question.output, is_place);
    if (!found) {
        context.log.Error("{}", found.Message());
        ThrowRpc(RpcCode::kMisc, "IO error finding spending tx for outpoint {}:{}.",
                 question.output.txid.ToHex(), question.output.vout);
    }
    if (!*found) return;
    Answer(question, (*found)->tx->View(), with_tx);
    question.answer.pushKV("blockhash", (*found)->block.ToHex());
}

/** As in Core the outputs that the pool spends come first in the result. */
UniValue FindSpenders(const PoolContext& context, const RpcCall& call)
{
    const UniValue& outputs = call.At(0);
    if (outputs.empty()) {
        throw RpcError{RpcCode::kInvalidParameter, "Invalid parameter, outputs are missing"};
    }
    const SpenderIndex* const index = FindIndex(context.chain, &Indexes::Spenders);
    const UniValue& options = call.At(1);
    const bool pool_only = Option(options, "mempool_only", index == nullptr);
    const bool with_tx = Option(options, "return_spending_tx", false);
    RefuseOtherKeys(options, {"mempool_only", "return_spending_tx"});
    std::vector<Question> questions;
    for (const UniValue& output : outputs.getValues()) {
        questions.push_back({ParseOutput(output), output});
    }
    AskPool(context.pool, questions, with_tx);
    UniValue out(UniValue::VARR);
    std::vector<Question*> open;
    for (Question& question : questions) {
        if (question.spent || pool_only) {
            out.push_back(question.answer);
        } else {
            open.push_back(&question);
        }
    }
    if (open.empty()) return out;
    if (!index || !WaitForTip(context.chain, *index)) {
        throw RpcError{RpcCode::kMisc,
                       "Mempool lacks a relevant spend, and txospenderindex is unavailable."};
    }
    for (Question* const question : open) {
        AskIndex(context, index, *question, with_tx);
        out.push_back(question->answer);
    }
    return out;
}

} // namespace

void AddSpenderMethod(RpcTable& table, PoolContext& context)
{
    table.Add({"blockchain",
               "gettxspendingprevout",
               "Finds the transactions that spend given outputs: in the pool and, with "
               "-txospenderindex, in the active chain.",
               {{"outputs",
                 RpcType::kArray,
                 true,
                 "",
                 "The outputs",
                 {{"output", RpcType::kObject, false, "", "{ \"txid\": \"hex\", \"vout\": n }"}},
                 "[{\"txid\":\"hex\",\"vout\":n},...]"},
                {"options",
                 RpcType::kNamedOptions,
                 false,
                 "",
                 "",
                 {{"mempool_only", RpcType::kBool, false,
                   "true if txospenderindex unavailable, otherwise false",
                   "Whether to search the pool alone. false: it is an error if an output is not "
                   "spent in the pool and there is no -txospenderindex"},
                  {"return_spending_tx", RpcType::kBool, false, "false",
                   "Whether to show the transaction, too"}}}},
               "[\n  {\n"
               "    \"txid\": \"hex\", \"vout\": n,    The output\n"
               "    \"spendingtxid\": \"hex\",       (string) Left out if none spends it\n"
               "    \"spendingtx\": \"hex\",         (string) With return_spending_tx\n"
               "    \"blockhash\": \"hex\"           (string) Of a spender in the active chain\n"
               "  }, ...\n]",
               "'[{\"txid\":\"a08e6907dbbd3d809776dbfc5d82e371b764ed838b5655e72f463568df1aadf0\","
               "\"vout\":3}]'",
               [&context](const RpcCall& call) { return FindSpenders(context, call); }});
    table.AnswerEarly({"gettxspendingprevout"});
}

} // namespace ibd
