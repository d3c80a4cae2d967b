// Keys in output descriptors (BIP380): a fixed key, an extended one with a path, or the aggregate
// of several (musig(), BIP390); and their origins. Pure; any thread.
#pragma once

#include "keys/address.h"
#include "keys/bip32.h"
#include "keys/secret_key.h"
#include "util/result.h"

namespace ibd {

/** A network's encodings in descriptors; from its ChainParams. */
struct DescriptorNetwork {
    AddressPrefixes addresses;
    ExtendedKeyPrefixes extended_keys;
    uint8_t secret_key_prefix = 0;
};

/** A key at one position of its range. */
struct DerivedKey {
    Bytes public_key; //!< 33 or 65 bytes
    bool x_only = false;
    KeyOrigin origin;
    std::optional<SecretKey> secret; //!< if known
    std::vector<DerivedKey> participants; //!< of musig()

    /** The 32 bytes that taproot uses. */
    XOnlyKey XOnly() const;
    /** "[d34db33f/44h/0]02c6...". */
    std::string ToString() const;
};

/** The function that contains a key; it limits the forms of the key. */
enum class KeyPlace {
    kAnyForm,    //!< pk, pkh, combo, multi at the top or in sh: may be uncompressed
    kCompressed, //!< below wpkh and wsh
    kTaproot,    //!< x-only keys too
};

struct KeyExpression {
    enum class Range { kNone, kNormal, kHardened };

    std::optional<KeyOrigin> origin;
    bool apostrophe = false;         //!< hardened steps are written with ', not h
    Bytes fixed;                     //!< the key itself, 33 or 65 bytes; empty for an extended key
    bool x_only = false;             //!< of a fixed key
    std::optional<SecretKey> secret; //!< of a fixed key
    ExtendedKey root;                //!< of an extended key
    KeyPath path;
    Range range = Range::kNone;
    /** Of musig(); the path and range then derive from their aggregate. */
    std::vector<KeyExpression> participants;

    /** Whether it, or a participant, has a range. */
    bool IsRange() const;
    bool HasSecret() const;
    /** Bytes of the key in a script. */
    size_t Size() const { return fixed.empty() ? 33 : fixed.size(); }
    /** Text without secrets. */
    std::string ToString(const DescriptorNetwork& network) const;
    /** The key at position `index` of the range; nothing if it needs an unknown secret. */
    std::optional<DerivedKey> At(uint32_t index) const;

private:
    DerivedKey Fixed(const Bytes& key) const;
    std::optional<DerivedKey> DerivedFrom(const ExtendedKey& from, uint32_t index) const;
    std::optional<DerivedKey> AggregateAt(uint32_t index) const;
};

/** One key, or one for each value of a step "<0;1>". Errors in Core's words. */
Result<std::vector<KeyExpression>> ParseKeyExpression(std::string_view text, KeyPlace place,
                                                      const DescriptorNetwork& network);

} // namespace ibd
