// The call about UTXO snapshots; see blockchain.h.
#include "booster/snapshot_session.h"
#include "jsonrpc/json.h"
#include "rpc/blockchain.h"

namespace ibd {

namespace {

/** In Core's words, the end being that of its exceptions. */
[[noreturn]] void CannotParse(const std::string& why)
{
    ThrowRpc(RpcCode::kDeserialization, "Unable to parse metadata: {}: iostream error", why);
}

[[noreturn]] void RefuseHeader(const SnapshotHeader::Parsed& parsed)
{
    if (parsed.fault == SnapshotFault::kMagic) {
        CannotParse("Invalid UTXO set snapshot magic bytes. Please check if this is indeed a "
                    "snapshot file or if you are using an outdated snapshot format.");
    }
    if (parsed.fault == SnapshotFault::kVersion) {
        CannotParse(fmt::format("Version of snapshot {} does not match any of the supported "
                                "versions.",
                                parsed.version));
    }
    CannotParse("AutoFile::read: end of file");
}

void CheckNetwork(const SnapshotHeader::Parsed& parsed, const ChainParams& params)
{
    if (!parsed.has_network || parsed.header.magic == params.magic) return;
    const auto network = NetworkFromMagic(parsed.header.magic);
    if (!network) {
        CannotParse("This snapshot has been created for an unrecognized network. This could be a "
                    "custom signet, a new testnet or possibly caused by data corruption.");
    }
    CannotParse(fmt::format("The network of the snapshot ({}) does not match the network of this "
                            "node ({}).",
                            NetworkName(*network), params.name));
}

SnapshotHeader ReadHeader(const ChainContext& context, const Path& path)
{
    const auto file = context.env.OpenRead(path);
    if (!file) {
        ThrowRpc(RpcCode::kInvalidParameter, "Couldn't open file {} for reading.", path.string());
    }
    Bytes bytes(SnapshotHeader::kSize);
    bytes.resize(OrThrow((*file)->ReadAt(0, bytes)));
    const SnapshotHeader::Parsed parsed = SnapshotHeader::Parse(bytes);
    CheckNetwork(parsed, context.Headers().Params());
    if (parsed.fault != SnapshotFault::kNone) RefuseHeader(parsed);
    return parsed.header;
}

UniValue LoadTxOutSet(const ChainContext& context, const RpcCall& call)
{
    ChainManager& chain = context.Chain();
    const std::string& name = call.String(0);
    const Path path = name.empty() ? Path() : context.net_dir / name;
    const SnapshotHeader header = ReadHeader(context, path);
    const auto run = [&](const std::function<Result<>()>& task) {
        return context.OnChainThread(task);
    };
    const auto loaded = context.snapshots->Load(chain, path, header, run);
    if (!loaded) {
        ThrowRpc(RpcCode::kInternalError, "Unable to load UTXO snapshot: {}. ({})",
                 loaded.Message(), path.string());
    }
    if (ChainThread* const thread = context.chain_thread) thread->ActivateSoon();
    UniValue out(UniValue::VOBJ);
    out.pushKV("coins_loaded", Num(header.coins));
    out.pushKV("tip_hash", (*loaded)->hash.ToHex());
    out.pushKV("base_height", Num((*loaded)->height));
    out.pushKV("path", path.string());
    return out;
}

RpcMethod MakeLoadTxOutSet(ChainContext& context)
{
    return {
        "blockchain",
        "loadtxoutset",
        "Loads a snapshot of all unspent outputs and continues from its block. The node must know "
        "the hash of the snapshot's content, and the block must be above the tip. The whole file "
        "is checked against that hash. Then the node proves the snapshot from the blocks below, in "
        "the background, and downloads missing blocks. Until then it also keeps the older unspent "
        "outputs (getchainstates: validated).",
        {WithCliForm({"path", RpcType::kString, true, "",
                      "The file; a relative path is below the data directory"},
                     CliForm::kFreeText)},
        "{\n  \"coins_loaded\": n,     (numeric) Number of coins\n"
        "  \"tip_hash\": \"hex\",     (string) The block of the snapshot\n"
        "  \"base_height\": n,      (numeric) Its height\n"
        "  \"path\": \"str\"          (string) The file\n}",
        "utxo.dat",
        [&context](const RpcCall& call) { return LoadTxOutSet(context, call); }};
}

} // namespace

void AddSnapshotMethods(RpcTable& table, ChainContext& context)
{
    table.Add(MakeLoadTxOutSet(context));
}

} // namespace ibd
