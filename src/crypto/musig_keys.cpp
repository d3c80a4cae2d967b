// See musig_keys.h.
#include "crypto/musig_keys.h"

#include "util/check.h"

#include <algorithm>
#include <secp256k1.h>
#include <vector>

namespace ibd {

namespace {

/** The first key that differs from keys[0]; its coefficient is 1 (BIP327, GetSecondKey). Null: all
 *  keys are equal. */
const CompressedKey* SecondKey(std::span<const CompressedKey> keys)
{
    const auto it =
        std::ranges::find_if(keys, [&](const CompressedKey& key) { return key != keys.front(); });
    return it == keys.end() ? nullptr : &*it;
}

} // namespace

std::optional<CompressedKey> AggregateKeys(std::span<const CompressedKey> keys)
{
    const secp256k1_context* const context = secp256k1_context_static;
    if (keys.empty()) return std::nullopt;
    Sha256 list = TaggedHash("KeyAgg list");
    for (const CompressedKey& key : keys) list.Write(key);
    const Hash32 list_hash = list.Finalize();
    const CompressedKey* const second = SecondKey(keys);
    std::vector<secp256k1_pubkey> terms(keys.size());
    std::vector<const secp256k1_pubkey*> pointers;
    for (size_t i = 0; i < keys.size(); ++i) {
        const CompressedKey& key = keys[i];
        if (!secp256k1_ec_pubkey_parse(context, &terms[i], key.data(), key.size())) {
            return std::nullopt;
        }
        const Hash32 factor =
            TaggedHash("KeyAgg coefficient").Write(list_hash).Write(key).Finalize();
        const bool has_factor = second == nullptr || key != *second;
        if (has_factor && !secp256k1_ec_pubkey_tweak_mul(context, &terms[i], factor.data())) {
            return std::nullopt;
        }
        pointers.push_back(&terms[i]);
    }
    secp256k1_pubkey sum;
    if (!secp256k1_ec_pubkey_combine(context, &sum, pointers.data(), pointers.size())) {
        return std::nullopt;
    }
    CompressedKey out;
    size_t size = out.size();
    CHECK(secp256k1_ec_pubkey_serialize(context, out.data(), &size, &sum,
                                        SECP256K1_EC_COMPRESSED) == 1);
    return out;
}

} // namespace ibd
