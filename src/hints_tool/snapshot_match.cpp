// See snapshot_match.h.
#include "hints_tool/snapshot_match.h"

#include "crypto/sha256.h"
#include "hints/leb128.h"
#include "primitives/serialize.h"

#include <algorithm>
#include <compare>
#include <cstring>

namespace ibd {

namespace {

constexpr size_t kPartBuffer = 64 << 10;
constexpr uint32_t kMinBlocksPerPart = 256;
constexpr uint64_t kMaxParts = 2048;
constexpr size_t kChecksumSize = 8;

/** The origin of a coin. 16 bytes of a txid distinguish the transactions of a block. */
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

/** Saves `body` with the checksum that LoadChecked() verifies. */
Result<> SaveChecked(Env& env, const Path& path, Bytes body)
{
    const Hash32 digest = Sha256Of(body);
    Append(body, ByteSpan(digest).first(kChecksumSize));
    return WriteFileAtomically(env, path, body);
}

/** Sorted. */
Result<std::vector<CoinPlace>> LoadCoins(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(env, path));
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

/** Looks up a block's outputs among the coins: finds the unspent ones and counts all. */
Result<> MatchBlock(std::span<const CoinPlace> coins, const FoldRules& rules, uint32_t height,
                    BlockSlot& slot)
{
    const auto at = [&](uint32_t h) {
        return std::lower_bound(coins.begin(), coins.end(), CoinPlace{h, 0, {}});
    };
    const auto first = at(height);
    const auto end = at(height + 1);
    slot.outputs = slot.all_outputs = 0;
    slot.unspent.clear();
    slot.all_indices.clear();
    CoinPlace wanted{height, 0, {}};
    ForEachOutput(slot.view, height, rules, [&](const TxView& tx, uint32_t vout, bool spendable) {
        wanted.vout = vout;
        std::copy_n(tx.txid.data(), wanted.txid.size(), wanted.txid.begin());
        if (spendable && std::binary_search(first, end, wanted)) {
            slot.unspent.push_back(slot.outputs);
            slot.all_indices.push_back(slot.all_outputs);
        }
        ++slot.all_outputs;
        if (spendable) ++slot.outputs;
    });
    const auto expected = static_cast<size_t>(end - first);
    if (slot.unspent.size() == expected) return {};
    return BadData("the snapshot has {} coins of block {}, but only {} are outputs of that block",
                   expected, height, slot.unspent.size());
}

/** Adds the record of a block: the numbers of all, spendable and unspent outputs; then for each
 *  unspent output the numbers of spendable and of unspendable outputs before it. */
void AddRecord(const BlockSlot& slot, Bytes& done)
{
    PutLeb128(slot.all_outputs, done);
    PutLeb128(slot.outputs, done);
    PutLeb128(static_cast<uint32_t>(slot.unspent.size()), done);
    for (size_t i = 0; i < slot.unspent.size(); ++i) {
        PutLeb128(slot.unspent[i], done);
        PutLeb128(slot.all_indices[i] - slot.unspent[i], done);
    }
}

} // namespace

SnapshotMatch::SnapshotMatch(const ToolContext& context, const ChainBlocks& blocks,
                             const OutputWork& work, uint64_t memory)
    : m_context(context), m_blocks(blocks), m_work(work),
      m_top(static_cast<uint32_t>(blocks.Terminal().height))
{
    const uint64_t parts = std::clamp<uint64_t>(memory / 4 / kPartBuffer, 16, kMaxParts);
    m_blocks_per_part =
        std::max<uint32_t>(kMinBlocksPerPart, static_cast<uint32_t>(m_top / parts + 1));
    m_parts = m_top / m_blocks_per_part + 1;
}

Result<> SnapshotMatch::Split(SnapshotReader& snapshot, const Path& path)
{
    // The input that a split depends on; sizes and the base block identify a snapshot.
    std::error_code code;
    const std::string input = fmt::format(
        "coins split 2\n{} {} {} {}\n", snapshot.Header().base.ToHex(), snapshot.Header().coins,
        std::filesystem::file_size(path, code), m_blocks_per_part);
    m_buffers.assign(m_parts, {});
    m_written.assign(m_parts, 0);
    IBD_ASSIGN_OR_RETURN(const auto state, LoadChecked(StatePath()));
    if (state && AsChars(*state).starts_with(input)) {
        const ByteSpan begun = ByteSpan(*state).subspan(input.size());
        if (begun.empty()) return {};
        if (GoOn(begun, snapshot)) return SplitRest(snapshot, input);
    }
    IBD_RETURN_IF_ERROR(m_work.RemoveFiles(m_context.env, OutputWork::IsOfSnapshot));
    snapshot.GoTo({});
    m_written.assign(m_parts, 0);
    return SplitRest(snapshot, input);
}

/** False: not a state from SaveState(). */
bool SnapshotMatch::GoOn(ByteSpan state, SnapshotReader& snapshot)
{
    Reader in(state);
    SnapshotReader::Place place;
    place.offset = in.U64();
    place.coins = in.U64();
    place.left_in_tx = in.U64();
    place.txid = in.Hash();
    for (uint64_t& written : m_written) written = in.U64();
    if (!in.AtEnd()) return false;
    snapshot.GoTo(place);
    return true;
}

/** `begun`: the position of an unfinished split; null: it is finished. */
Result<> SnapshotMatch::SaveState(const std::string& input, const SnapshotReader* begun)
{
    for (uint32_t part = 0; part < m_parts; ++part) IBD_RETURN_IF_ERROR(FlushPart(part, true));
    IBD_RETURN_IF_ERROR(m_context.env.SyncDirectory(m_work.Folder()));
    Bytes state(input.begin(), input.end());
    if (begun) {
        const SnapshotReader::Place place = begun->Where();
        Writer out(state);
        for (const uint64_t n : {place.offset, place.coins, place.left_in_tx}) out.U64(n);
        out.Hash(place.txid);
        for (const uint64_t written : m_written) out.U64(written);
    }
    return SaveChecked(m_context.env, StatePath(), std::move(state));
}

Result<> SnapshotMatch::SplitRest(SnapshotReader& snapshot, const std::string& input)
{
    uint64_t count = snapshot.Where().coins;
    ProgressMeter progress(m_context.env, m_context.log,
                           {.label = "Splitting coins",
                            .unit = "coins",
                            .total = snapshot.Header().coins,
                            .start = count,
                            .to = {&m_context.line, nullptr}});
    OutPoint outpoint;
    Coin coin;
    while (true) {
        if (m_context.stop) {
            IBD_RETURN_IF_ERROR(SaveState(input, &snapshot));
            return m_context.Interrupted(m_work);
        }
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
    IBD_RETURN_IF_ERROR(SaveState(input, nullptr));
    m_buffers.clear();
    return {};
}

Result<> SnapshotMatch::FlushPart(uint32_t part, bool sync)
{
    // Opened for each write, because a process may not have that many open files. Bytes beyond the
    // known length were written by a process that was killed.
    const bool first = m_written[part] == 0;
    IBD_ASSIGN_OR_RETURN(const auto file, m_context.env.OpenWrite(CoinsPath(part), first));
    IBD_RETURN_IF_ERROR(file->WriteAt(m_written[part], m_buffers[part]));
    m_written[part] += m_buffers[part].size();
    m_buffers[part].clear();
    if (!sync) return {};
    IBD_RETURN_IF_ERROR(file->Truncate(m_written[part]));
    return file->Sync();
}

Result<> SnapshotMatch::Match()
{
    uint32_t next = 1;
    Bytes begun;
    uint32_t part = 0;
    for (; part < m_parts; ++part) {
        IBD_ASSIGN_OR_RETURN(const bool done, IsDone(part));
        if (!done) break;
    }
    if (part < m_parts) {
        IBD_ASSIGN_OR_RETURN(next, TakeUpPart(part, begun));
    }
    auto progress = m_context.Progress("Reading blocks", m_top, next - 1);
    for (; part < m_parts; ++part) {
        IBD_ASSIGN_OR_RETURN(const bool done, IsDone(part));
        if (!done) IBD_RETURN_IF_ERROR(MatchPart(part, progress));
        progress.Update(LastOf(part));
    }
    return {};
}

Result<bool> SnapshotMatch::IsDone(uint32_t part) const
{
    IBD_ASSIGN_OR_RETURN(const auto done, LoadChecked(DonePath(part)));
    return done.has_value();
}

/** The height to resume at in this part, and the records of the blocks below. */
Result<uint32_t> SnapshotMatch::TakeUpPart(uint32_t part, Bytes& done) const
{
    IBD_ASSIGN_OR_RETURN(auto begun, LoadChecked(BegunPath(part)));
    if (!begun || begun->size() < sizeof(uint32_t)) return FirstOf(part);
    const size_t records = begun->size() - sizeof(uint32_t);
    const uint32_t next = Reader(ByteSpan(*begun).subspan(records)).U32();
    if (next < FirstOf(part) || next > LastOf(part)) return FirstOf(part);
    begun->resize(records);
    done = std::move(*begun);
    return next;
}

Result<> SnapshotMatch::MatchPart(uint32_t part, ProgressMeter& progress)
{
    Env& env = m_context.env;
    IBD_ASSIGN_OR_RETURN(const std::vector<CoinPlace> coins, LoadCoins(env, CoinsPath(part)));
    const FoldRules rules = m_blocks.Walk().Rules(HintsCounting::kSpendable);
    Bytes done;
    IBD_ASSIGN_OR_RETURN(uint32_t next, TakeUpPart(part, done));
    const auto work = [&](uint32_t height, BlockSlot& slot) {
        return MatchBlock(coins, rules, height, slot);
    };
    const auto take = [&](uint32_t height, BlockSlot& slot) -> Result<> {
        AddRecord(slot, done);
        next = height + 1;
        progress.Update(height);
        return m_context.stop ? m_context.Interrupted(m_work) : Result<>();
    };
    const Result<> read = m_blocks.Walk().ForEach(next, work, take, LastOf(part));
    if (next <= LastOf(part)) {
        if (read || !m_context.stop) return read;
        Writer(done).U32(next);
        IBD_RETURN_IF_ERROR(SaveChecked(env, BegunPath(part), std::move(done)));
        return m_context.Interrupted(m_work);
    }
    IBD_RETURN_IF_ERROR(SaveChecked(env, DonePath(part), std::move(done)));
    const std::string begun = BegunPath(part).filename().string();
    IBD_RETURN_IF_ERROR(
        m_work.RemoveFiles(env, [&](const std::string& name) { return name == begun; }));
    return read;
}

/** Nothing: the file is missing or damaged, so what it records must be made again. */
Found<Bytes> SnapshotMatch::LoadChecked(const Path& path) const
{
    IBD_ASSIGN_OR_RETURN(const bool there, m_context.env.IsThere(path));
    if (!there) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(Bytes bytes, ReadWholeFile(m_context.env, path));
    if (bytes.size() >= kChecksumSize) {
        const ByteSpan body = ByteSpan(bytes).first(bytes.size() - kChecksumSize);
        const Hash32 digest = Sha256Of(body);
        if (std::equal(digest.begin(), digest.begin() + kChecksumSize, body.end())) {
            bytes.resize(body.size());
            return bytes;
        }
    }
    return std::nullopt;
}

Result<> SnapshotMatch::Write(HintsWriter& writer, bool from_genesis, HintsCounting counting)
{
    if (from_genesis) IBD_RETURN_IF_ERROR(writer.Add(0, 1, {}));
    for (uint32_t part = 0; part < m_parts; ++part) {
        if (m_context.stop) return m_context.Interrupted(m_work);
        IBD_RETURN_IF_ERROR(WritePart(part, writer, counting));
    }
    return {};
}

Result<> SnapshotMatch::WritePart(uint32_t part, HintsWriter& writer, HintsCounting counting) const
{
    IBD_ASSIGN_OR_RETURN(const auto records, LoadChecked(DonePath(part)));
    if (!records) return BadData("{} is missing or damaged", DonePath(part).string());
    const Bytes& bytes = *records;
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

} // namespace ibd
