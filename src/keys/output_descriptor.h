// Output descriptors (BIP380 to BIP390): scripts to search for, as text. Supported functions: pk
// pkh wpkh sh wsh combo multi sortedmulti tr (with a tree) multi_a sortedmulti_a rawtr addr raw,
// and miniscript (BIP379) in wsh and tr; musig among the keys of tr and rawtr. Pure; any thread.
#pragma once

#include "keys/descriptor_key.h"
#include "keys/key_ring.h"
#include "keys/miniscript/node.h"

namespace ibd {

enum class DescriptorKind {
    kAddress,
    kRaw,
    kPk,
    kPkh,
    kWpkh,
    kCombo,
    kMulti,
    kSortedMulti,
    kMultiA,
    kSortedMultiA,
    kSh,
    kWsh,
    kTaproot,
    kRawTaproot,
    kMiniscript,
    kUnused, //!< has a key but cannot make a script
};

/** One function of a descriptor with its arguments. */
struct DescriptorNode {
    DescriptorKind kind = DescriptorKind::kRaw;
    std::vector<KeyExpression> keys; //!< of tr: the internal key
    uint32_t threshold = 0;          //!< of multi and its variants
    Bytes script;                    //!< of addr and raw
    std::vector<DescriptorNode> children;
    std::vector<int> depths; //!< of the leaves of tr, in the tree
    /** Its keys are positions in `keys`. */
    std::shared_ptr<const miniscript::Node> miniscript;
    miniscript::Context context{}; //!< of the miniscript
};

/** A script of a descriptor, and a descriptor of that script alone. */
struct ExpandedScript {
    Bytes script;
    std::string descriptor; //!< with the origins of keys and a checksum
};

class OutputDescriptor {
public:
    /** More than one descriptor if a path has a step "<0;1>". Errors in Core's words; an empty one
     *  if text follows the last bracket. */
    static Result<std::vector<OutputDescriptor>>
    Parse(std::string_view text, const DescriptorNetwork& network, bool require_checksum);

    /** Text without secrets, with checksum. */
    std::string ToString() const;
    bool IsRange() const;
    /** Whether it is solvable by Core's definition: all descriptors but addr and raw. */
    bool IsSolvable() const;
    bool HasPrivateKeys() const;
    /** The scripts at one position of the range (0 to 2^31-1; any value without a range). Nothing
     *  if one needs an unknown secret. */
    std::optional<std::vector<Bytes>> Scripts(uint32_t index) const;
    /** The same with the descriptor of each script, which may take far longer. */
    std::optional<std::vector<ExpandedScript>> Expand(uint32_t index) const;
    /** Adds the data that spends these scripts to the ring: keys with their origins, inner scripts,
     *  secrets. False if one needs an unknown secret. */
    bool Collect(uint32_t index, KeyRing& ring) const;

private:
    OutputDescriptor(DescriptorNode root, DescriptorNetwork network)
        : m_root(std::move(root)), m_network(std::move(network))
    {
    }

    DescriptorNode m_root;
    DescriptorNetwork m_network;
};

/** Removes the checksum of a descriptor, if it is right; else an error in Core's words. */
Result<std::string_view> StripDescriptorChecksum(std::string_view text, bool required);

} // namespace ibd
