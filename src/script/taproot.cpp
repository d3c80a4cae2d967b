// See taproot.h.
#include "script/taproot.h"

#include "primitives/serialize.h"

#include <algorithm>

namespace ibd {

Hash32 TapLeafHash(uint8_t leaf_version, ByteSpan script)
{
    static const Sha256 tag = TaggedHash("TapLeaf");
    Bytes prefix{leaf_version};
    Writer(prefix).CompactSize(script.size());
    Sha256 hasher = tag;
    return hasher.Write(prefix).Write(script).Finalize();
}

Hash32 TapBranchHash(ByteSpan a, ByteSpan b)
{
    static const Sha256 tag = TaggedHash("TapBranch");
    const bool first = std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    Sha256 hasher = tag;
    first ? hasher.Write(a).Write(b) : hasher.Write(b).Write(a);
    return hasher.Finalize();
}

Hash32 TapTweakHash(const XOnlyKey& internal_key, ByteSpan merkle_root)
{
    static const Sha256 tag = TaggedHash("TapTweak");
    Sha256 hasher = tag;
    return hasher.Write(internal_key).Write(merkle_root).Finalize();
}

} // namespace ibd
