// See full_mark.h.
#include "booster/full_mark.h"

#include "crypto/sha256.h"
#include "swiftsync/fold.h"
#include "util/atomic_file.h"
#include "util/hex.h"

#include <algorithm>
#include <charconv>

namespace ibd {

namespace {

constexpr const char* kMarkFile = "fullvalidation.txt";
constexpr size_t kChecksumDigits = 16;

std::string ChecksumOf(std::string_view text)
{
    return ToHex(Sha256Of(AsBytes(text))).substr(0, kChecksumDigits);
}

Path MarkPath(const Path& directory) { return directory / kMarkFile; }

} // namespace

FullMark::FullMark(Env& env, const Path& directory, const ChainParams& params,
                   const HeaderNode& terminal, UndoChecks checks, int32_t known_height)
    : m_env(env), m_path(MarkPath(directory)),
      m_key(fmt::format(
          "{} {} {} ", terminal.hash.ToHex(),
          ToHex(FoldRulesId({HintsCounting::kSpendable, {}}, 0, params.consensus).Span()),
          checks == UndoChecks::kScripts ? "scripts" : "rules")),
      m_known_height(known_height)
{
}

Result<int32_t> FullMark::Load() const
{
    IBD_ASSIGN_OR_RETURN(const bool there, m_env.IsThere(m_path));
    if (!there) return 0;
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(m_env, m_path));
    const std::string_view line = AsChars(bytes);
    const size_t end = line.rfind(' ');
    if (!line.starts_with(m_key) || end < m_key.size() || end == std::string_view::npos) return 0;
    if (line.substr(end + 1) != ChecksumOf(line.substr(0, end)) + "\n") return 0;
    int32_t height = 0, known_height = 0;
    const auto read = std::from_chars(line.data() + m_key.size(), line.data() + end, height);
    // Older programs did not record the height of batches.
    if (read.ptr == line.data() + end) return 0;
    std::from_chars(read.ptr + 1, line.data() + end, known_height);
    return std::min(height, known_height) <= m_known_height ? height : 0;
}

Result<> FullMark::Save(int32_t height) const
{
    const std::string line = fmt::format("{}{} {}", m_key, height, m_known_height);
    const std::string whole = fmt::format("{} {}\n", line, ChecksumOf(line));
    return WriteFileAtomically(m_env, m_path, AsBytes(whole));
}

bool IsFullMarkFile(const std::string& name) { return name == kMarkFile; }

Result<> RemoveFullMark(Env& env, const Path& directory)
{
    const auto removed = RemoveWithUnwritten(env, MarkPath(directory));
    return removed ? Result<>() : removed.GetError();
}

} // namespace ibd
