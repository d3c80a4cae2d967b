// The reader. See swifthints.h.
#include "hints/swifthints.h"

#include "util/found.h"

namespace ibd {

namespace {

constexpr const char* kCutOff = "the group is cut off";

uint32_t StateFrom(const uint8_t* in) { return in[0] | in[1] << 8 | in[2] << 16; }

} // namespace

const char* SwifthintsGroup::Start(Bytes bytes)
{
    m_bytes = std::move(bytes);
    std::array<uint8_t, SwifthintsHead::kSize> head_bytes{};
    if (m_bytes.size() < head_bytes.size()) return kCutOff;
    std::copy_n(m_bytes.begin(), head_bytes.size(), head_bytes.begin());
    const auto head = SwifthintsHead::From(head_bytes);
    if (m_bytes.size() != head.bytes || m_bytes.size() < head.Fixed()) return kCutOff;
    const uint8_t* const table = m_bytes.data() + SwifthintsHead::kSize;
    m_probabilities.fill(table[0]);
    if (!head.compact) std::copy_n(table, m_probabilities.size(), m_probabilities.begin());
    m_at = head.Fixed();
    m_state = StateFrom(m_bytes.data() + m_at - SwifthintsHead::kStateSize);
    m_left = head.blocks;
    m_cut_off = false;
    return m_state < kSwifthintsState ? "the state that the group starts with is too small"
                                      : nullptr;
}

// Reads zeros past the end, so that the loop over a block's outputs needs no early exit.
bool SwifthintsGroup::TakeOne(uint32_t context)
{
    const uint32_t t = m_probabilities[context];
    if (t == 0) return false;
    const uint32_t slot = m_state % kSwifthintsScale;
    const bool unspent = slot >= kSwifthintsScale - t;
    const uint32_t share = unspent ? t : kSwifthintsScale - t;
    const uint32_t start = unspent ? kSwifthintsScale - t : 0;
    m_state = share * (m_state / kSwifthintsScale) + slot - start;
    while (m_state < kSwifthintsState) {
        m_cut_off = m_cut_off || m_at == m_bytes.size();
        m_state = m_state << 8 | (m_cut_off ? 0 : m_bytes[m_at++]);
    }
    return unspent;
}

void SwifthintsGroup::Take(BlockShape shape, std::vector<uint32_t>& unspent)
{
    CHECK(m_left > 0);
    --m_left;
    unspent.clear();
    uint32_t index = 0;
    ForEachSwifthint(shape, [&](uint32_t context) {
        const bool is_unspent = TakeOne(context);
        if (is_unspent) unspent.push_back(index);
        ++index;
        return is_unspent;
    });
}

const char* SwifthintsGroup::Finish() const
{
    if (m_cut_off) return "its bytes do not suffice for the outputs of its blocks";
    if (m_at != m_bytes.size()) return "bytes are left over after the outputs of its blocks";
    return m_state == kSwifthintsState ? nullptr : "it does not end in the state that it must";
}

Result<std::unique_ptr<SwifthintsReader>> SwifthintsReader::Open(HintsFile file)
{
    auto reader = std::unique_ptr<SwifthintsReader>(new SwifthintsReader(std::move(file)));
    reader->m_info.path = reader->m_file.GetPath();
    reader->m_info.format = HintsFormat::kSwifthints;
    reader->m_info.counting = HintsCounting::kAll;
    reader->m_info.file_size = reader->m_file.Size();
    IBD_RETURN_IF_ERROR(reader->Scan());
    return reader;
}

Result<std::unique_ptr<SwifthintsReader>> SwifthintsReader::Open(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(HintsFile file, HintsFile::Open(env, path));
    return Open(std::move(file));
}

Error SwifthintsReader::Damaged(std::string_view what) const
{
    return m_file.Damaged(
        m_group_at, fmt::format("swifthints, the group from height {} on: {}", m_group_from, what));
}

Result<SwifthintsHead> SwifthintsReader::HeadAt(uint64_t offset) const
{
    std::array<uint8_t, SwifthintsHead::kSize> bytes{};
    if (m_file.Size() - offset < bytes.size()) return Damaged(kCutOff);
    IBD_RETURN_IF_ERROR(m_file.Read(offset, bytes));
    const auto head = SwifthintsHead::From(bytes);
    if (head.bytes < head.Fixed()) return Damaged("it is shorter than any group");
    if (m_file.Size() - offset < head.bytes) return Damaged(kCutOff);
    std::array<uint8_t, SwifthintsHead::kStateSize> state{};
    IBD_RETURN_IF_ERROR(m_file.Read(offset + head.Fixed() - state.size(), state));
    if (StateFrom(state.data()) >= kSwifthintsState) return head;
    return Damaged("the state that it starts with is too small");
}

Result<> SwifthintsReader::Scan()
{
    uint32_t blocks = 0;
    while (m_group_at < m_file.Size()) {
        m_group_from = blocks;
        IBD_ASSIGN_OR_RETURN(const SwifthintsHead head, HeadAt(m_group_at));
        blocks += head.blocks;
        if (blocks - 1 > kMaxHintedHeight) return Damaged("more blocks than there can be");
        m_group_at += head.bytes;
    }
    m_group_at = m_group_from = 0;
    if (blocks < 2) return Damaged("the file describes no block above the genesis block");
    m_info.terminal_height = blocks - 1;
    return {};
}

Result<> SwifthintsReader::StartGroup()
{
    m_group_at = m_next_group;
    m_group_from = m_height;
    IBD_ASSIGN_OR_RETURN(const SwifthintsHead head, HeadAt(m_group_at));
    Bytes bytes(head.bytes);
    IBD_RETURN_IF_ERROR(m_file.Read(m_group_at, bytes));
    if (const char* wrong = m_group.Start(std::move(bytes))) return Damaged(wrong);
    m_next_group = m_group_at + head.bytes;
    return {};
}

Result<> SwifthintsReader::Next(BlockShape shape, BlockHints& out)
{
    CHECK(m_height <= m_info.terminal_height);
    if (m_group.BlocksLeft() == 0) IBD_RETURN_IF_ERROR(StartGroup());
    m_group.Take(shape, out.unspent);
    out.outputs.reset();
    if (m_height == 0 && !out.unspent.empty()) {
        return Damaged("marks an output of the genesis block unspent");
    }
    ++m_height;
    if (m_group.BlocksLeft() > 0) return {};
    if (const char* wrong = m_group.Finish()) {
        return Damaged(
            fmt::format("to {}: {}: damaged, or made from other blocks", m_height - 1, wrong));
    }
    return {};
}

Result<bool> LooksLikeSwifthints(HintsFile file)
{
    const auto reader = SwifthintsReader::Open(std::move(file));
    IBD_RETURN_IF_SYSTEM_ERROR(reader);
    return reader.Ok();
}

} // namespace ibd
