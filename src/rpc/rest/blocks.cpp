// Blocks, parts of them, and the outputs that they spend; see rest.h.
#include "jsonrpc/http_uri.h"
#include "primitives/serialize.h"
#include "rpc/amount_json.h"
#include "rpc/block_json.h"
#include "rpc/rest/request.h"
#include "rpc/tx_json.h"

namespace ibd::rest {

namespace {

constexpr int kWithPrevouts = 3; //!< verbosity of getblock
constexpr int kWithIds = 1;

/** A known block, and the fields of its header if it is to be shown as JSON. */
struct Known {
    StoredBlock place;
    UniValue header;
};

Known FindBlock(const RestContext& context, const RestRequest& request)
{
    const std::string& hex = request.target.name;
    const BlockHash hash = ParseHash(hex);
    const ChainReader chain = context.chain.Read();
    const HeaderNode* const node = chain.Find(hash);
    if (!node) Refuse(kNotFound, "{} not found", hex);
    Known known{StoredBlock(*node), {}};
    if (request.target.format == Format::kJson) known.header = HeaderJson(chain, *node);
    return known;
}

/** Refuses a block that is not stored. */
Known FindStored(const RestContext& context, const RestRequest& request)
{
    Known known = FindBlock(context, request);
    if (!known.place.data.IsNull()) return known;
    Refuse(kNotFound, "{} not available ({})", request.target.name,
           known.place.seen ? "pruned data" : "not fully downloaded");
}

[[noreturn]] void RefuseUnreadable(const RestRequest& request)
{
    Refuse(kServerError, "I/O error reading {}", request.target.name);
}

/** An object without its closing brace, so that a last member can follow. */
std::string OpenObject(const UniValue& object)
{
    std::string text = object.write();
    text.pop_back();
    return text;
}

/** An unreadable block has the same answer in all formats; the log has the cause. */
std::shared_ptr<const BlockData> ReadOrRefuse(const RestContext& context,
                                              const RestRequest& request, const Known& known,
                                              UndoUse use)
{
    try {
        return ReadBlockData(context.chain.Headers().Blocks(), known.place, use);
    } catch (const RpcError& error) {
        if (error.code != RpcCode::kMisc) throw; // the undo data
        context.chain.log.Error("REST: {}", error.message);
        RefuseUnreadable(request);
    }
}

HttpResponse BlockJson(const RestContext& context, const RestRequest& request, const Known& known,
                       int verbosity)
{
    if (verbosity >= kWithPrevouts) RequireUndoIfMade(context.chain, known.place);
    const auto block = ReadOrRefuse(
        context, request, known, verbosity >= kWithPrevouts ? UndoUse::kIfThere : UndoUse::kNone);
    UniValue fields = known.header;
    AppendBlockSizes(fields, *block);
    return JsonItems(OpenObject(fields) + ",\"tx\":[", block->view.Txs().size(), "]}",
                     [block, verbosity, prefixes = context.chain.Prefixes()](size_t i, auto& out) {
                         out += BlockTxJson(*block, i, prefixes, verbosity).write();
                     });
}

HttpResponse WholeBlock(const RestContext& context, const RestRequest& request, int verbosity)
{
    const Known known = FindStored(context, request);
    if (request.target.format == Format::kJson)
        return BlockJson(context, request, known, verbosity);
    auto raw = BlockArchive(context.chain.Headers().Blocks()).BlockAsVector(known.place);
    if (!raw) RefuseUnreadable(request);
    return Binary(std::move(*raw), request.target.format);
}

size_t SizeParameter(const RestRequest& request, const char* key)
{
    const auto text = QueryParameter(request.http.uri, key);
    const auto number = text ? ParseInteger<size_t>(*text) : std::nullopt;
    if (!number) Refuse(kBadRequest, "Block part {} missing or invalid", key);
    return *number;
}

/** The undo data; genesis has none, because it spends no output. */
BlockUndo ReadUndo(const RestContext& context, const Known& known, const std::string& hex)
{
    if (known.place.height == 0) return {};
    auto undo = known.place.undo.IsNull()
                    ? Result<BlockUndo>(BadData("none"))
                    : BlockArchive(context.chain.Headers().Blocks()).Undo(known.place);
    if (!undo) Refuse(kNotFound, "{} undo not available", hex);
    return std::move(*undo);
}

UniValue SpentJson(const TxUndo& tx, const AddressPrefixes& prefixes)
{
    UniValue out(UniValue::VARR);
    for (const Coin& coin : tx.spent) {
        UniValue one(UniValue::VOBJ);
        one.pushKV("value", AmountJson(coin.value));
        one.pushKV("scriptPubKey", ScriptPubKeyJson(coin.script, prefixes));
        out.push_back(one);
    }
    return out;
}

/** The outputs that each transaction spends, the first being the coinbase. */
Bytes SpentBytes(const BlockUndo& undo)
{
    Bytes out;
    Writer writer(out);
    writer.CompactSize(undo.txs.size() + 1);
    writer.CompactSize(0);
    for (const TxUndo& tx : undo.txs) {
        writer.CompactSize(tx.spent.size());
        for (const Coin& coin : tx.spent) {
            writer.I64(coin.value);
            writer.VarBytes(coin.script);
        }
    }
    return out;
}

} // namespace

HttpResponse Block(const RestContext& context, const RestRequest& request)
{
    return WholeBlock(context, request, kWithPrevouts);
}

HttpResponse BlockWithIds(const RestContext& context, const RestRequest& request)
{
    return WholeBlock(context, request, kWithIds);
}

HttpResponse BlockPart(const RestContext& context, const RestRequest& request)
{
    const size_t offset = SizeParameter(request, "offset");
    const size_t size = SizeParameter(request, "size");
    const StoredBlock place = FindStored(context, request).place;
    const auto whole = context.chain.Headers().Blocks().BlockSize(place.data);
    if (!whole) RefuseUnreadable(request);
    if (size == 0 || offset > *whole || size > *whole - offset) {
        Refuse(kBadRequest, "Bad block part offset/size {}/{} for {}", offset, size,
               request.target.name);
    }
    auto part = context.chain.Headers().Blocks().ReadBlockPart(
        place.data, static_cast<uint32_t>(offset), static_cast<uint32_t>(size));
    if (!part) RefuseUnreadable(request);
    if (request.target.format == Format::kJson) {
        Refuse(kBadRequest, "JSON output is not supported for this request type");
    }
    return Binary(std::move(*part), request.target.format);
}

HttpResponse SpentOutputs(const RestContext& context, const RestRequest& request)
{
    const std::string& hex = request.target.name;
    if (request.Parts().size() != 1) {
        Refuse(kBadRequest, "Invalid URI format. Expected /rest/spenttxouts/<hash>.<ext>");
    }
    const Known known = FindBlock(context, request);
    const auto undo = std::make_shared<const BlockUndo>(ReadUndo(context, known, hex));
    if (request.target.format != Format::kJson) {
        return Binary(SpentBytes(*undo), request.target.format);
    }
    return JsonItems("[", undo->txs.size() + 1, "]",
                     [undo, prefixes = context.chain.Prefixes()](size_t i, std::string& out) {
                         out += i == 0 ? "[]" : SpentJson(undo->txs[i - 1], prefixes).write();
                     });
}

} // namespace ibd::rest
