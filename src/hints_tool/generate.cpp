// generate: hints from block files and a snapshot of the coins after their terminal block. (1) The
// coins are split by height into files, 24 bytes each. (2) File by file, its blocks are read on all
// cores and their outputs looked up among its coins. (3) The hints file is written from what that
// gave. Each step leaves files in OUT.work, so that a stopped run goes on. Memory: --mem for
// splitting; then the coins of some hundred blocks. Without a snapshot a join does it
// (spend_join.h). See tool.h.
#include "hints_tool/tool.h"

#include "crypto/sha256.h"
#include "hints/leb128.h"
#include "join/spend_join.h"
#include "primitives/serialize.h"
#include "storage/snapshot.h"
#include "swiftsync/file_block_source.h"

#include <algorithm>
#include <compare>
#include <cstring>
#include <thread>

namespace ibd {

namespace {

constexpr uint64_t kDefaultMemory = 512; //!< MiB
constexpr size_t kPartBuffer = 64 << 10;
constexpr uint32_t kMinBlocksPerPart = 256;
constexpr uint64_t kMaxParts = 2048;
constexpr size_t kChecksumSize = 8;

/** Where a coin was made. 16 bytes of a txid tell a block's transactions apart. */
struct CoinPlace {
    static constexpr size_t kSize = 24;
    uint32_t height = 0;
    uint32_t vout = 0;
    std::array<uint8_t, 16> txid{};

    auto operator<=>(const CoinPlace& b) const
    {
        if (const auto order = height <=> b.height; order != 0) return order;
        if (const int order = std::memcmp(txid.data(), b.txid.data(), txid.size())) {
            return order <=> 0;
        }
        return vout <=> b.vout;
    }
    bool operator==(const CoinPlace&) const = default;
};

class Generator {
public:
    Generator(const ToolContext& context, const ChainBlocks& blocks, Path work, uint64_t memory)
        : m_context(context), m_blocks(blocks), m_work(std::move(work)),
          m_top(static_cast<uint32_t>(blocks.Terminal().height))
    {
        const uint64_t parts = std::clamp<uint64_t>(memory / 4 / kPartBuffer, 16, kMaxParts);
        m_blocks_per_part =
            std::max<uint32_t>(kMinBlocksPerPart, static_cast<uint32_t>(m_top / parts + 1));
        m_parts = m_top / m_blocks_per_part + 1;
    }

    /** Splits the coins unless an earlier run with the same input did. */
    Result<> Split(SnapshotReader& snapshot, const Path& path);
    /** Finds the unspent outputs of each part's blocks. */
    Result<> Match();
    Result<> Write(HintsWriter& writer, bool from_genesis, HintsCounting counting);
    /** What says that the coins are split goes first: a removal may be stopped on its way. */
    Result<> RemoveWork();

private:
    Path CoinsPath(uint32_t part) const { return m_work / fmt::format("{:06}.coins", part); }
    Path DonePath(uint32_t part) const { return m_work / fmt::format("{:06}.done", part); }
    Path StatePath() const { return m_work / "state"; }
    uint32_t FirstOf(uint32_t part) const { return std::max(1u, part * m_blocks_per_part); }
    uint32_t LastOf(uint32_t part) const
    {
        return std::min(m_top, (part + 1) * m_blocks_per_part - 1);
    }

    Result<> SplitAll(SnapshotReader& snapshot);
    Result<> FlushPart(uint32_t part, bool sync);
    Result<std::vector<CoinPlace>> LoadCoins(uint32_t part) const;
    Result<> MatchPart(uint32_t part, ProgressMeter& progress);
    Result<> WritePart(uint32_t part, HintsWriter& writer, HintsCounting counting) const;
    Result<Bytes> LoadDone(uint32_t part) const;

    const ToolContext& m_context;
    const ChainBlocks& m_blocks;
    const Path m_work;
    const uint32_t m_top;
    uint32_t m_blocks_per_part;
    uint32_t m_parts;
    std::vector<Bytes> m_buffers;
    std::vector<uint64_t> m_written;
};

Result<> Generator::Split(SnapshotReader& snapshot, const Path& path)
{
    // What a finished split depends on; sizes and the base block tell snapshots apart.
    std::error_code code;
    const std::string state = fmt::format(
        "coins split 1\n{} {} {} {}\n", snapshot.Header().base.ToHex(), snapshot.Header().coins,
        std::filesystem::file_size(path, code), m_blocks_per_part);
    if (m_context.env.Exists(StatePath())) {
        IBD_ASSIGN_OR_RETURN(const Bytes found, ReadWholeFile(m_context.env, StatePath()));
        if (AsChars(found) == state) return {};
    }
    IBD_RETURN_IF_ERROR(RemoveWork());
    IBD_RETURN_IF_ERROR(m_context.env.CreateDirectories(m_work));
    IBD_RETURN_IF_ERROR(SplitAll(snapshot));
    return WriteFileAtomically(m_context.env, StatePath(), AsBytes(state));
}

Result<> Generator::SplitAll(SnapshotReader& snapshot)
{
    m_buffers.assign(m_parts, {});
    m_written.assign(m_parts, 0);
    ProgressMeter progress(m_context.env, m_context.log,
                           {.label = "Splitting coins",
                            .unit = "coins",
                            .total = snapshot.Header().coins,
                            .tty = stderr});
    OutPoint outpoint;
    Coin coin;
    uint64_t count = 0;
    for (;;) {
        IBD_ASSIGN_OR_RETURN(const bool more, snapshot.Next(outpoint, coin));
        if (!more) break;
        if (coin.height < 1 || coin.height > m_top) {
            return BadData("the snapshot has coin {}:{} of height {}, outside 1 to {}",
                           outpoint.txid.ToHex(), outpoint.vout, coin.height, m_top);
        }
        const auto part = static_cast<uint32_t>(coin.height) / m_blocks_per_part;
        Writer record(m_buffers[part]);
        record.U32(static_cast<uint32_t>(coin.height));
        record.U32(outpoint.vout);
        record.Raw(outpoint.txid.Span().first(16));
        if (m_buffers[part].size() + CoinPlace::kSize > kPartBuffer) {
            IBD_RETURN_IF_ERROR(FlushPart(part, false));
        }
        if (++count % 10'000 == 0) progress.Update(count);
    }
    progress.Update(count);
    for (uint32_t part = 0; part < m_parts; ++part) IBD_RETURN_IF_ERROR(FlushPart(part, true));
    m_buffers.clear();
    return m_context.env.SyncDirectory(m_work);
}

Result<> Generator::FlushPart(uint32_t part, bool sync)
{
    // Opened each time: a process may not have so many files open at once.
    const bool first = m_written[part] == 0;
    IBD_ASSIGN_OR_RETURN(const auto file, m_context.env.OpenWrite(CoinsPath(part), first));
    IBD_RETURN_IF_ERROR(file->WriteAt(m_written[part], m_buffers[part]));
    m_written[part] += m_buffers[part].size();
    m_buffers[part].clear();
    return sync ? file->Sync() : Result<>();
}

Result<> Generator::RemoveWork()
{
    if (!m_context.env.Exists(m_work)) return {};
    if (m_context.env.Exists(StatePath())) IBD_RETURN_IF_ERROR(m_context.env.Remove(StatePath()));
    IBD_RETURN_IF_ERROR(m_context.env.SyncDirectory(m_work));
    return m_context.env.RemoveAll(m_work);
}

Result<std::vector<CoinPlace>> Generator::LoadCoins(uint32_t part) const
{
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(m_context.env, CoinsPath(part)));
    std::vector<CoinPlace> coins(bytes.size() / CoinPlace::kSize);
    Reader in(bytes);
    for (CoinPlace& coin : coins) {
        coin.height = in.U32();
        coin.vout = in.U32();
        const ByteSpan txid = in.Span(coin.txid.size());
        std::copy(txid.begin(), txid.end(), coin.txid.begin());
    }
    std::sort(coins.begin(), coins.end());
    return coins;
}

Result<> Generator::Match()
{
    auto progress = m_context.Progress("Reading blocks", m_top);
    for (uint32_t part = 0; part < m_parts; ++part) {
        if (!LoadDone(part)) IBD_RETURN_IF_ERROR(MatchPart(part, progress));
        progress.Update(LastOf(part));
    }
    return {};
}

// A block's record: all outputs, spendable outputs, unspent outputs, and for each of these what
// lies before it of spendable outputs and of others.
Result<> Generator::MatchPart(uint32_t part, ProgressMeter& progress)
{
    IBD_ASSIGN_OR_RETURN(const std::vector<CoinPlace> coins, LoadCoins(part));
    const FoldRules rules = m_blocks.Walk().Rules(HintsCounting::kSpendable);
    Bytes done;
    const auto work = [&](uint32_t height, BlockSlot& slot) -> Result<> {
        const auto at = [&](uint32_t h) {
            return std::lower_bound(coins.begin(), coins.end(), CoinPlace{h, 0, {}});
        };
        const auto first = at(height);
        const auto end = at(height + 1);
        uint32_t all = 0;
        uint32_t spendable_count = 0;
        slot.unspent.clear();
        slot.all_indices.clear();
        CoinPlace wanted{height, 0, {}};
        ForEachOutput(slot.view, height, rules,
                      [&](const TxView& tx, uint32_t vout, bool spendable) {
                          wanted.vout = vout;
                          std::copy_n(tx.txid.data(), wanted.txid.size(), wanted.txid.begin());
                          if (spendable && std::binary_search(first, end, wanted)) {
                              slot.unspent.push_back(spendable_count);
                              slot.all_indices.push_back(all);
                          }
                          ++all;
                          if (spendable) ++spendable_count;
                      });
        slot.outputs = spendable_count;
        slot.all_outputs = all;
        const auto expected = static_cast<size_t>(end - first);
        if (slot.unspent.size() == expected) return {};
        return BadData("the snapshot has {} coins of block {}, of which the block has {}", expected,
                       height, slot.unspent.size());
    };
    const auto take = [&](uint32_t height, BlockSlot& slot) -> Result<> {
        PutLeb128(slot.all_outputs, done);
        PutLeb128(slot.outputs, done);
        PutLeb128(static_cast<uint32_t>(slot.unspent.size()), done);
        for (size_t i = 0; i < slot.unspent.size(); ++i) {
            PutLeb128(slot.unspent[i], done);
            PutLeb128(slot.all_indices[i] - slot.unspent[i], done);
        }
        progress.Update(height);
        return {};
    };
    IBD_RETURN_IF_ERROR(m_blocks.Walk().ForEach(FirstOf(part), work, take, LastOf(part)));
    const Hash32 digest = Sha256Of(done);
    Append(done, ByteSpan(digest).first(kChecksumSize));
    return WriteFileAtomically(m_context.env, DonePath(part), done);
}

Result<Bytes> Generator::LoadDone(uint32_t part) const
{
    IBD_ASSIGN_OR_RETURN(Bytes bytes, ReadWholeFile(m_context.env, DonePath(part)));
    if (bytes.size() >= kChecksumSize) {
        const ByteSpan body = ByteSpan(bytes).first(bytes.size() - kChecksumSize);
        const Hash32 digest = Sha256Of(body);
        if (std::equal(digest.begin(), digest.begin() + kChecksumSize, body.end())) {
            bytes.resize(body.size());
            return bytes;
        }
    }
    return BadData("{} is damaged", DonePath(part).string());
}

Result<> Generator::Write(HintsWriter& writer, bool from_genesis, HintsCounting counting)
{
    if (from_genesis) IBD_RETURN_IF_ERROR(writer.Add(0, 1, {}));
    for (uint32_t part = 0; part < m_parts; ++part) {
        IBD_RETURN_IF_ERROR(WritePart(part, writer, counting));
    }
    return {};
}

Result<> Generator::WritePart(uint32_t part, HintsWriter& writer, HintsCounting counting) const
{
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, LoadDone(part));
    const bool all = counting == HintsCounting::kAll;
    std::vector<uint32_t> unspent;
    size_t pos = 0;
    bool ok = true;
    const auto take = [&] {
        uint32_t value = 0;
        ok = ok && TakeLeb128(bytes, pos, value);
        return value;
    };
    for (uint32_t height = FirstOf(part); height <= LastOf(part); ++height) {
        const uint32_t all_outputs = take();
        const uint32_t spendable = take();
        unspent.resize(std::min(take(), kMaxHintedOutputs));
        for (uint32_t& index : unspent) {
            index = take();
            const uint32_t others = take();
            if (all) index += others;
        }
        CHECK(ok); // the checksum was right
        IBD_RETURN_IF_ERROR(writer.Add(height, all ? all_outputs : spendable, unspent));
    }
    return {};
}

/** From blocks alone: what is made and what is spent are joined. */
Result<> GenerateByJoin(const ToolContext& context, const ChainBlocks& blocks, const Path& out,
                        HintsFormat format, uint64_t memory)
{
    IBD_ASSIGN_OR_RETURN(const Path part, context.PartOf(out));
    // An earlier run may have left one.
    if (context.env.Exists(part)) IBD_RETURN_IF_ERROR(context.env.Remove(part));
    JoinOptions options;
    options.threads = std::max(1u, std::thread::hardware_concurrency());
    options.memory_bytes = memory;
    options.directory = out.string() + ".work";
    options.tty = stderr;
    FileBlockSupply supply(context.env, blocks.Store(), blocks.Terminal(), PlanOrder::OfChain());
    const std::atomic<bool> stop = false;
    IBD_ASSIGN_OR_RETURN(const GeneratedHints made,
                         GenerateHints(context.env, context.log, blocks.Params(), blocks.Terminal(),
                                       supply, options, stop, part, format));
    if (made.verdict.kind == JoinVerdict::Kind::kNoRoom) {
        return SystemError("{}", made.verdict.reason);
    }
    if (made.verdict.kind != JoinVerdict::Kind::kDone) {
        IBD_RETURN_IF_ERROR(context.env.RemoveAll(options.directory));
        return BadData("no hints can be made: {}", made.verdict.reason);
    }
    IBD_RETURN_IF_ERROR(context.Publish(part, out));
    // What the join leaves behind when it is done is the lock on its folder.
    return context.env.RemoveAll(options.directory);
}

Result<> GenerateFromSnapshot(const ToolContext& context, ChainBlocks& blocks,
                              const std::string& path, const Path& out, HintsFormat format,
                              uint64_t memory)
{
    IBD_ASSIGN_OR_RETURN(const auto snapshot, SnapshotReader::Open(context.env, path));
    if (snapshot->Header().magic != blocks.Params().magic) {
        return BadData("{}: a snapshot of another network than the blocks", path);
    }
    IBD_RETURN_IF_ERROR(blocks.EndAt(snapshot->Header().base));
    Generator generator(context, blocks, out.string() + ".work", memory);
    IBD_RETURN_IF_ERROR(generator.Split(*snapshot, path));
    IBD_RETURN_IF_ERROR(generator.Match());
    const HeaderNode& terminal = blocks.Terminal();
    const HintsTarget target{format, blocks.Params().magic, static_cast<uint32_t>(terminal.height)};
    IBD_ASSIGN_OR_RETURN(const Path part, context.PartOf(out));
    IBD_ASSIGN_OR_RETURN(const auto writer, StartHintsFile(context.env, part, target));
    IBD_RETURN_IF_ERROR(generator.Write(*writer, FirstHeight(format) == 0, CountingOf(format)));
    IBD_RETURN_IF_ERROR(writer->Finish(terminal.hash));
    IBD_RETURN_IF_ERROR(context.Publish(part, out));
    return generator.RemoveWork();
}

} // namespace

Result<> GenerateHints(const ToolContext& context)
{
    const ToolArguments& arguments = context.arguments;
    const Path out = arguments.words[1];
    const auto snapshot = arguments.Get("snapshot");
    IBD_ASSIGN_OR_RETURN(const auto chosen, arguments.Format("format"));
    IBD_ASSIGN_OR_RETURN(const auto memory, arguments.Number("mem", 16, 1 << 20));
    IBD_ASSIGN_OR_RETURN(const auto height, arguments.Number("height", 1, kMaxHintedHeight));
    IBD_RETURN_IF_ERROR(context.PartOf(out));
    const HintsFormat format = chosen.value_or(HintsFormat::kContainer);
    if (format == HintsFormat::kSwifthints) {
        return BadData("generate does not make swifthints: make a container and convert it");
    }
    const uint64_t bytes = memory.value_or(kDefaultMemory) << 20;
    std::optional<Network> network;
    if (const auto name = arguments.Get("network")) {
        network = NetworkFromName(*name);
        if (!network) return BadData("--network={}: no such network", *name);
    }
    if (snapshot && height) return BadData("--height is the snapshot's where there is one");
    IBD_ASSIGN_OR_RETURN(const auto blocks,
                         ChainBlocks::Open(context.env, context.log, arguments.words[0], network));
    if (snapshot) return GenerateFromSnapshot(context, *blocks, *snapshot, out, format, bytes);
    if (CountingOf(format) != HintsCounting::kSpendable || FirstHeight(format) != 1) {
        return BadData("{} is not made from blocks alone: make a container and convert it",
                       NameOf(format));
    }
    IBD_RETURN_IF_ERROR(height ? blocks->EndAt(static_cast<uint32_t>(*height))
                               : blocks->EndAtBest());
    return GenerateByJoin(context, *blocks, out, format, bytes);
}

} // namespace ibd
