// See taproot_tree.h.
#include "keys/taproot_tree.h"

#include "util/check.h"

#include <algorithm>

namespace ibd {

namespace {

/** A finished part of the tree, which waits for its right sibling. */
struct Subtree {
    int depth;
    Hash32 hash;
    size_t first_leaf;
};

/** Calls `join(left, right)` for each two adjacent subtrees; the leaves of `right` end at `end`. */
template <typename Join>
std::optional<Bytes> FoldTree(std::span<const TapLeaf> leaves, const Join& join)
{
    std::vector<Subtree> open;
    for (size_t i = 0; i < leaves.size(); ++i) {
        Subtree node = {leaves[i].depth, TapLeafHash(leaves[i].version, leaves[i].script), i};
        while (!open.empty() && open.back().depth == node.depth) {
            join(open.back(), node, i + 1);
            node = {node.depth - 1, TapBranchHash(open.back().hash, node.hash),
                    open.back().first_leaf};
            open.pop_back();
        }
        open.push_back(node);
    }
    if (open.empty()) return Bytes();
    if (open.size() > 1 || open[0].depth != 0) return std::nullopt;
    return Bytes(open[0].hash.begin(), open[0].hash.end());
}

/** The root, as TapTreeRoot(); sets the paths of TapPaths(). */
std::optional<Bytes> FindPaths(std::span<const TapLeaf> leaves, std::vector<Bytes>& paths)
{
    paths.assign(leaves.size(), {});
    return FoldTree(leaves, [&](const Subtree& left, const Subtree& right, size_t end) {
        for (size_t i = left.first_leaf; i < end; ++i) {
            Append(paths[i], i < right.first_leaf ? right.hash : left.hash);
        }
    });
}

} // namespace

std::optional<Bytes> TapTreeRoot(std::span<const TapLeaf> leaves)
{
    return FoldTree(leaves, [](const Subtree&, const Subtree&, size_t) {});
}

std::vector<Bytes> TapPaths(std::span<const TapLeaf> leaves)
{
    std::vector<Bytes> paths;
    CHECK(FindPaths(leaves, paths).has_value());
    return paths;
}

void TaprootSpends::Merge(const TaprootSpends& other)
{
    if (!internal_key) internal_key = other.internal_key;
    if (!merkle_root) merkle_root = other.merkle_root;
    for (const auto& [script, controls] : other.scripts) {
        scripts[script].insert(controls.begin(), controls.end());
    }
}

std::optional<std::pair<XOnlyKey, bool>> TaprootOutput::Key() const
{
    const auto root = TapTreeRoot(leaves);
    CHECK(root.has_value());
    return TweakXOnlyKey(internal_key, TapTweakHash(internal_key, *root));
}

TaprootSpends TaprootOutput::Spends() const
{
    std::vector<Bytes> paths;
    const auto root = FindPaths(leaves, paths);
    TaprootSpends out;
    out.internal_key = internal_key;
    if (root && !root->empty()) {
        out.merkle_root.emplace();
        std::copy(root->begin(), root->end(), out.merkle_root->begin());
    }
    const auto key = Key();
    if (!key) return out;
    for (size_t i = 0; i < leaves.size(); ++i) {
        Bytes control{static_cast<uint8_t>(leaves[i].version | (key->second ? 1 : 0))};
        Append(control, internal_key);
        Append(control, paths[i]);
        out.scripts[{leaves[i].script, leaves[i].version}].insert(std::move(control));
    }
    return out;
}

} // namespace ibd
