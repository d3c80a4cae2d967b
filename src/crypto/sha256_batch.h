// SHA-256 of many messages at once, in all lanes of the machine: outpoints for the booster's
// aggregate, inner merkle nodes, and the transaction ids of a block. Each kernel is the one
// measured fastest on this machine at its first use; results never depend on the choice. No shared
// mutable state, any thread; memory is a few hundred bytes of stack for each lane.
#pragma once

#include "crypto/sha256.h"
#include "crypto/sha256_backend.h"

#include <span>

namespace ibd {

/** Digest of salt block ‖ outpoint for each outpoint, one compression each.
 *  `salted_midstate`: Sha256::State() after exactly one 64-byte block. Message i is the 36 bytes
 *  at `messages + i * stride`. `out`: `count` digests, not overlapping the messages. */
void HashOutpoints(const Sha256State& salted_midstate, const uint8_t* messages, size_t stride,
                   size_t count, Hash32* out);

/** Portable reference for HashOutpoints, by the streaming definition. */
void HashOutpointsPortable(const Sha256State& salted_midstate, const uint8_t* messages,
                           size_t stride, size_t count, Hash32* out);

/** Double SHA-256 of `count` adjacent messages of 64 bytes (merkle nodes). `out` may be the start
 *  of `messages`: the next tree level then replaces a level. */
void Sha256dMany64(const uint8_t* messages, size_t count, Hash32* out);

/** One message in up to three pieces, hashed as their concatenation: a transaction without witness
 *  is version, inputs with outputs, lock time. Pieces may be empty. */
struct HashMessage {
    ByteSpan head;
    ByteSpan body;
    ByteSpan tail;
};

/** Double SHA-256 of messages of any lengths, e.g. all txids of a block. `out`: one digest for each
 *  message, not overlapping any of them. Copies only blocks that span pieces or have padding. */
void Sha256dMany(std::span<const HashMessage> messages, Hash32* out);

/** As Sha256dMany with a given backend; for tests and benches. */
void Sha256dManyWith(const Sha256Backend& backend, std::span<const HashMessage> messages,
                     Hash32* out);

/** Like Sha256dMany, but hashed once: the checksums of many pieces of a file. */
void Sha256Many(std::span<const HashMessage> messages, Hash32* out);
void Sha256ManyWith(const Sha256Backend& backend, std::span<const HashMessage> messages,
                    Hash32* out);

} // namespace ibd
