// KeyRing: the keys and scripts available for signing, by their hashes. A value type.
#pragma once

#include "crypto/ripemd160.h"
#include "keys/bip32.h"
#include "keys/secret_key.h"
#include "keys/taproot_tree.h"

namespace ibd {

/** Keys and scripts by their Hash160. That of a key is over its 33 or 65 bytes; the keys of a
 *  miniscript in tr() are also stored by the hash of the last 32 bytes. */
struct KeyRing {
    std::map<Hash20, SecretKey> secrets;
    std::map<Hash20, Bytes> public_keys;
    std::map<Hash20, KeyOrigin> origins;
    std::map<Hash20, Bytes> scripts;            //!< redeem and witness scripts
    std::map<XOnlyKey, TaprootOutput> taproots; //!< by the output's key

    void AddSecret(const SecretKey& secret);
    void AddScript(ByteSpan script);
    /** For either of the two keys with this x; null if neither is known. */
    const SecretKey* FindSecret(const XOnlyKey& key) const;
    const KeyOrigin* FindOrigin(const XOnlyKey& key) const;
};

} // namespace ibd
