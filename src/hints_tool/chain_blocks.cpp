// See chain_blocks.h.
#include "hints_tool/chain_blocks.h"

#include "util/hex.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr const char* kFirstFile = "blk00000.dat";

Result<std::array<uint8_t, 4>> MagicOf(Env& env, const Path& blocks)
{
    XorKey key;
    if (env.Exists(blocks / "xor.dat")) {
        IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(env, blocks / "xor.dat"));
        if (bytes.size() != XorKey::kSize) {
            return BadData("{}: not {} bytes", (blocks / "xor.dat").string(), XorKey::kSize);
        }
        std::array<uint8_t, XorKey::kSize> raw;
        std::copy(bytes.begin(), bytes.end(), raw.begin());
        key = XorKey(raw);
    }
    IBD_ASSIGN_OR_RETURN(const auto file, env.OpenRead(blocks / kFirstFile));
    std::array<uint8_t, 4> magic{};
    IBD_ASSIGN_OR_RETURN(const size_t got, file->ReadAt(0, magic));
    if (got < magic.size()) return BadData("{}: it is empty", (blocks / kFirstFile).string());
    key.Apply(magic);
    return magic;
}

/** The folder with the block files: `dir`, or the one below it in a data directory. */
Result<Path> FindBlocks(Env& env, const Path& dir, std::optional<Network> network)
{
    std::vector<Path> places = {dir, dir / "blocks"};
    for (const Network n : {Network::kMain, Network::kTestnet3, Network::kTestnet4,
                            Network::kSignet, Network::kRegtest}) {
        if (network && *network != n) continue;
        places.push_back(dir / MakeChainParams(n).sub_folder / "blocks");
    }
    for (const Path& place : places) {
        if (env.Exists(place / kFirstFile)) return place;
    }
    return BadData("{}: no block files there (a folder with {}, or a data directory)", dir.string(),
                   kFirstFile);
}

} // namespace

Result<std::unique_ptr<ChainBlocks>> ChainBlocks::Open(Env& env, Logger& log, const Path& dir,
                                                       std::optional<Network> network,
                                                       const std::atomic<bool>& stop)
{
    IBD_ASSIGN_OR_RETURN(const Path folder, FindBlocks(env, dir, network));
    IBD_ASSIGN_OR_RETURN(const auto magic, MagicOf(env, folder));
    if (!network) network = NetworkFromMagic(magic);
    if (!network || MakeChainParams(*network).magic != magic) {
        return BadData("{}: block files of {} (magic {}); name the network with --network",
                       folder.string(), network ? "another network" : "an unknown network",
                       ToHex(magic));
    }
    auto blocks = std::unique_ptr<ChainBlocks>(new ChainBlocks(MakeChainParams(*network)));
    BlockStoreOptions options;
    options.blocks_dir = folder;
    options.magic = magic;
    IBD_ASSIGN_OR_RETURN(blocks->m_store, BlockStore::Open(env, log, options));
    IBD_RETURN_IF_ERROR(blocks->m_survey.Take(env, log, *blocks->m_store, stop));
    if (stop) return SystemError("interrupted while the block files were looked through");
    return blocks;
}

Result<> ChainBlocks::EndAt(const BlockHash& hash)
{
    HeaderNode* const node = m_survey.Tree().Find(hash);
    if (!node) return BadData("block {} is not in the block files", hash.ToHex());
    return EndAtNode(node);
}

Result<> ChainBlocks::EndAt(uint32_t height)
{
    HeaderNode* const best = m_survey.Tree().BestHeader();
    HeaderNode* const node = best->Ancestor(static_cast<int>(height));
    if (!node) {
        return BadData("the chain of the block files ends at height {}, below {}", best->height,
                       height);
    }
    return EndAtNode(node);
}

Result<> ChainBlocks::EndAtNode(HeaderNode* node)
{
    m_terminal = node;
    std::vector<FilePos> places(static_cast<size_t>(node->height) + 1); // by height
    for (const SurveyedBlock& block : m_survey.Blocks()) {
        if (!block.node || block.node->height > node->height) continue;
        if (node->Ancestor(block.node->height) != block.node) continue;
        FilePos& place = places[static_cast<size_t>(block.node->height)];
        if (place.IsNull()) place = block.pos;
    }
    for (size_t h = 1; h < places.size(); ++h) {
        if (places[h].IsNull()) return BadData("block {} is not in the block files", h);
    }
    for (HeaderNode* at = node; at->height > 0; at = at->prev) {
        const FilePos place = places[static_cast<size_t>(at->height)];
        at->file = place.file;
        at->data_pos = place.offset;
        at->status |= kHaveData;
    }
    if (node->height > 0) return {};
    return BadData("the block files have no block above the genesis block");
}

} // namespace ibd
