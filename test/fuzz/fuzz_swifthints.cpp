// A swifthints file from hostile bytes, beside blocks of one shape: the first byte is their number
// of transactions, the next ones are the numbers of outputs. Its hints for the first blocks are
// written again, right or not, and must then be read as written.
#include "hints/swifthints.h"
#include "memory_file.h"

namespace {

using namespace ibd;
using namespace ibd::fuzz;

constexpr size_t kMaxTransactions = 16;
constexpr size_t kMaxBlocks = 300;

/** Leaves what is written to its maker. */
class WrittenBytes final : public WritableFile {
public:
    explicit WrittenBytes(Bytes& out) : m_out(out) {}
    Result<> WriteAt(uint64_t offset, ByteSpan data) override
    {
        CHECK(offset == m_out.size());
        Append(m_out, data);
        return {};
    }
    Result<uint64_t> Size() const override { return m_out.size(); }
    Result<> Truncate(uint64_t) override { return {}; }
    Result<> Allocate(uint64_t) override { return {}; }
    Result<> Sync() override { return {}; }

private:
    Bytes& m_out;
};

using Unspent = std::vector<std::vector<uint32_t>>;

Unspent ReadBlocks(const std::unique_ptr<SwifthintsReader>& reader, BlockShape shape)
{
    uint32_t outputs = 0;
    for (const uint32_t n : shape) outputs += n;
    const uint32_t blocks = std::min<uint32_t>(reader->Info().terminal_height + 1, kMaxBlocks);
    Unspent read;
    BlockHints block;
    while (read.size() < blocks) {
        const bool ok = reader->Next(shape, block).Ok();
        CHECK(std::is_sorted(block.unspent.begin(), block.unspent.end()));
        CHECK(block.unspent.empty() || block.unspent.back() < outputs);
        if (!ok) break;
        read.push_back(block.unspent);
    }
    return read;
}

void RoundTrip(const Unspent& unspent, BlockShape shape)
{
    Bytes file;
    SwifthintsWriter writer(std::make_unique<WrittenBytes>(file));
    for (uint32_t h = 0; h < unspent.size(); ++h) {
        CHECK(writer.Add(h, shape, unspent[h]).Ok());
    }
    CHECK(writer.Finish().Ok());
    const auto again = SwifthintsReader::Open(InMemory(file));
    CHECK(again.Ok());
    CHECK((*again)->Info().terminal_height + 1 == unspent.size());
    CHECK(ReadBlocks(*again, shape) == unspent);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const size_t count = size == 0 ? 0 : data[0] % kMaxTransactions;
    if (size < 1 + count) return 0;
    const std::vector<uint32_t> shape(data + 1, data + 1 + count);
    const auto reader = SwifthintsReader::Open(InMemory(Bytes(data + 1 + count, data + size)));
    if (!reader) return 0;
    const Unspent unspent = ReadBlocks(*reader, shape);
    if (unspent.size() >= 2) RoundTrip(unspent, shape);
    return 0;
}
