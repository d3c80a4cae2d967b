// Hints from peers: the messages that ask for hints files and carry them, by their codecs. Only
// who has said kHintsFeature gets any of them. Values; bytes and rules: doc/formats/p2p_hints.md.
#pragma once

#include "net/messages.h"

namespace ibd {

/** `feature` (BIP434) of a node that wants hints. Its data is kHintsFeatureVersion, a byte; bytes
 *  behind it are ignored. */
inline constexpr std::string_view kHintsFeature = "ibd-booster-hints";
inline constexpr uint8_t kHintsFeatureVersion = 2;

// Bounds.
inline constexpr size_t kMaxHintsOffers = 8;            //!< files that a peer may offer
inline constexpr uint64_t kMaxHintsSize = 512 << 20;    //!< bytes of a file
inline constexpr size_t kMaxHintsHead = 1'500'000;      //!< bytes of header, tables and index
inline constexpr size_t kMaxHintsData = 2'500'000;      //!< bytes of an answer; a group has less
inline constexpr size_t kMaxHintsRequests = 8;          //!< of a peer, not yet answered
inline constexpr uint64_t kMaxHintsUploads = 2;         //!< times a file, over one connection
inline constexpr size_t kHintsRequestBytes = 256 << 10; //!< of groups that are asked for at once
inline constexpr size_t kHintsInFlight = 4;             //!< requests to one peer

/** A container of version 2 that a peer has. Who names the same file names the same offer. */
struct HintsOffer {
    static constexpr size_t kSize = 32 + 32 + 32 + 4 + 8;

    Uint256 id;         //!< the hints id
    Uint256 file_hash;  //!< SHA-256 of the file
    BlockHash terminal; //!< the block where they end
    uint32_t height = 0;
    uint64_t size = 0; //!< of the file, bytes

    auto operator<=>(const HintsOffer&) const = default;
};

struct HintsMessage { //!< once, behind verack, to who said the feature
    static constexpr std::string_view kType = "hints";

    BoundedList<HintsOffer, kMaxHintsOffers> list;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const HintsMessage&) const = default;
};

/** Which part of a file: `count` groups from `first` on; of none: the head. */
struct HintsPart {
    Uint256 id;
    uint32_t first = 0;
    uint32_t count = 0;

    bool IsHead() const { return count == 0; }
    bool operator==(const HintsPart&) const = default;
};

struct GetHintsMessage {
    static constexpr std::string_view kType = "gethints";

    HintsPart part;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const GetHintsMessage&) const = default;
};

struct HintsDataMessage {
    static constexpr std::string_view kType = "hintsdata";

    HintsPart part;
    /** At most kMaxHintsData; empty: the sender will not, or cannot. Who sends it owns the bytes;
     *  of a message that was read they lie in its payload. */
    ByteSpan data;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
};

} // namespace ibd
