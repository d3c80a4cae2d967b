// Opening a hints file of either format. See hints.h.
#include "hints/hints.h"

#include "hints/bitmap.h"
#include "hints/container1.h"
#include "hints/container2.h"

#include <algorithm>

namespace ibd {

namespace {

constexpr size_t kMagicSize = 10; //!< no format needs more to be told

bool StartsWith(ByteSpan data, ByteSpan prefix)
{
    return data.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), data.begin());
}

} // namespace

Result<std::unique_ptr<Hints>> OpenHints(Env& env, const Path& path)
{
    IBD_ASSIGN_OR_RETURN(HintsFile file, HintsFile::Open(env, path));
    Bytes data(std::min<uint64_t>(file.Size(), kMagicSize));
    IBD_RETURN_IF_ERROR(file.Read(0, data));
    if (StartsWith(data, kHintsMagic)) {
        const bool second = data.size() == kMagicSize && data[8] == kHintsVersion2 && data[9] == 0;
        if (second) return Container2Hints::Open(std::move(file));
        return ContainerHints::Open(std::move(file));
    }
    if (StartsWith(data, AsBytes("UTXO"))) {
        return BadData("hints file {}, offset 0: BIP 456 files are not supported; make one with "
                       "contrib/ibd-booster-hints-gen",
                       path.string());
    }
    // A bitmap has no magic, but its first block is the genesis block with its one spent output.
    const std::array<uint8_t, 3> genesis = {1, 0, 0};
    if (StartsWith(data, genesis)) return BitmapHints::Open(std::move(file));
    return BadData("hints file {}, offset 0: not a hints file", path.string());
}

Result<> CheckHintsUnchanged(Env& env, const HintsInfo& opened)
{
    const auto now = OpenHints(env, opened.path);
    if (now && (*now)->Info().id == opened.id) return {};
    return SystemError("hints file {} was changed while in use{}", opened.path.string(),
                       now ? std::string() : ": " + now.Message());
}

} // namespace ibd
