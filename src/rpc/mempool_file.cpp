// Calls about the file of the pool; see mempool.h.
#include "jsonrpc/json.h"
#include "mempool/pool_file.h"
#include "rpc/mempool.h"

namespace ibd {

namespace {

UniValue Save(PoolContext& context)
{
    if (!context.loaded) throw RpcError{RpcCode::kMisc, "The mempool was not loaded yet"};
    const Result<> saved = DumpPool(context.pool, context.file, context.chain.env, context.log);
    if (!saved) {
        context.log.Error("Failed to dump mempool: {}", saved.Message());
        throw RpcError{RpcCode::kMisc, "Unable to dump mempool to disk"};
    }
    UniValue out(UniValue::VOBJ);
    out.pushKV("filename", context.file.path.string());
    return out;
}

bool Option(const RpcCall& call, const char* name, bool otherwise)
{
    const UniValue& value = call.Option(1, name);
    return value.isNull() ? otherwise : ParseBool(value);
}

UniValue Import(const PoolContext& context, const RpcCall& call)
{
    if (context.chain.Chain().IsInitialBlockDownload()) {
        throw RpcError{RpcCode::kInitialDownload,
                       "Can only import the mempool after the block download and sync is done."};
    }
    const PoolImport import{.current_time = Option(call, "use_current_time", true),
                            .deltas = Option(call, "apply_fee_delta_priority", false),
                            .unbroadcast = Option(call, "apply_unbroadcast_set", false)};
    const Path file = call.String(0);
    const Result<> done = ImportPool(file, import, context.submission, context.pool,
                                     context.chain.env, context.log, context.chain.interrupt);
    if (done) return UniValue(UniValue::VOBJ);
    context.log.Error("importmempool: '{}': {}", file.string(), done.Message());
    throw RpcError{RpcCode::kMisc, "Unable to import mempool file, see debug log for details."};
}

} // namespace

void AddMempoolFileMethods(RpcTable& table, PoolContext& context)
{
    table.Add({"blockchain",
               "savemempool",
               "Writes the pool to mempool.dat, from which the next start loads it.",
               {},
               "{\n  \"filename\": \"str\"    (string) The file\n}",
               "",
               [&context](const RpcCall&) { return Save(context); }});
    table.Add(
        {"blockchain",
         "importmempool",
         "Adds the transactions of a mempool.dat to the pool. The file may be of this node or of "
         "Bitcoin Core. Each transaction is checked. Times and fee deltas of the file are used "
         "without checks if the options say so: import only files from sources that you trust.",
         {{"filepath", RpcType::kString, true, "", "The file"},
          {"options",
           RpcType::kNamedOptions,
           false,
           "",
           "",
           {{"use_current_time", RpcType::kBool, false, "true",
             "Whether the transactions get the present time, not the time in the file"},
            {"apply_fee_delta_priority", RpcType::kBool, false, "false",
             "Whether to add the fee deltas of prioritisetransaction"},
            {"apply_unbroadcast_set", RpcType::kBool, false, "false",
             "Whether to announce transactions that no peer has asked for"}},
           "options"}},
         "{ }    (json object) Empty",
         "/path/to/mempool.dat",
         [&context](const RpcCall& call) { return Import(context, call); }});
}

} // namespace ibd
