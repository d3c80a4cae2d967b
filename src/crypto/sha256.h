// SHA-256 (FIPS 180-4): a streaming hasher that can be copied to keep a midstate, and one-shot
// helpers. The compression function is chosen once for the process, by the CPU's features
// (sha256_backends.h). Values only, no shared mutable state: any thread may use its own hasher.
#pragma once

#include "crypto/sha256_state.h"
#include "util/bytes.h"

#include <string>
#include <string_view>

namespace ibd {

class Sha256 {
public:
    static constexpr size_t kOutputSize = 32;
    static constexpr size_t kBlockSize = 64;

    /** Appends bytes to the message. */
    Sha256& Write(ByteSpan data);

    /** Digest of all bytes so far; the hasher is unchanged and can be continued. */
    Hash32 Finalize() const;

    /** Restarts with an empty message. */
    Sha256& Reset();

    /** Bytes written so far. */
    uint64_t Size() const { return m_size; }

    /** The midstate; only at a block boundary (Size() a multiple of 64), anything else is a bug. */
    const Sha256State& State() const;

private:
    Sha256State m_state = kSha256Initial;
    std::array<uint8_t, kBlockSize> m_buffer{};
    uint64_t m_size = 0;
};

/** SHA-256 of the bytes. */
Hash32 Sha256Of(ByteSpan data);

/** SHA-256 of SHA-256 of the bytes: txids, block hashes, checksums. */
Hash32 Sha256d(ByteSpan data);

/** A hasher that has absorbed SHA256(tag) ‖ SHA256(tag), ready for the message (BIP340). */
Sha256 TaggedHash(std::string_view tag);

/** Names of the compression functions in use, for the log. */
std::string Sha256Implementation();

} // namespace ibd
