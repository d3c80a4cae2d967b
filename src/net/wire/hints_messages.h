// Hints from peers: the messages that request and carry hints files, with codecs. Only peers that
// announced kHintsFeature receive them. Values; bytes and rules: doc/formats/p2p_hints.md.
#pragma once

#include "net/wire/messages.h"

namespace ibd {

/** `feature` (BIP434) of a node that wants hints. Its data is kHintsFeatureVersion, a byte; further
 *  bytes are ignored. */
inline constexpr std::string_view kHintsFeature = "ibd-booster-hints";
inline constexpr uint8_t kHintsFeatureVersion = 2;

// Bounds.
inline constexpr size_t kMaxHintsOffers = 8;            //!< offers of a peer
inline constexpr uint64_t kMaxHintsSize = 512 << 20;    //!< bytes of a file
inline constexpr size_t kMaxHintsHead = 1'500'000;      //!< bytes of header, tables and index
inline constexpr size_t kMaxHintsData = 2'500'000;      //!< bytes of an answer; a group is smaller
inline constexpr size_t kMaxHintsRequests = 8;          //!< unanswered requests of a peer
inline constexpr uint64_t kMaxHintsUploads = 2;         //!< uploads of a file over one connection
inline constexpr size_t kHintsRequestBytes = 256 << 10; //!< bytes of groups in a request
inline constexpr size_t kHintsInFlight = 4;             //!< requests to one peer

/** A peer's container of version 2. Peers with the same file send the same offer. */
struct HintsOffer {
    static constexpr size_t kSize = 32 + 32 + 32 + 4 + 8;

    Uint256 id;         //!< the hints id
    Uint256 file_hash;  //!< SHA-256 of the file
    BlockHash terminal; //!< the block where they end
    uint32_t height = 0;
    uint64_t size = 0; //!< of the file, bytes

    auto operator<=>(const HintsOffer&) const = default;
};

struct HintsMessage { //!< once, after verack, to peers with the feature
    static constexpr std::string_view kType = "hints";

    BoundedList<HintsOffer, kMaxHintsOffers> list;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
    bool operator==(const HintsMessage&) const = default;
};

/** A part of a file: `count` groups from `first` on; 0: the head. */
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
    /** At most kMaxHintsData; empty: the sender refuses. The sender owns the bytes; in a received
     *  message they are part of its payload. */
    ByteSpan data;

    void Write(Writer& writer) const;
    void Read(PayloadReader& reader);
};

} // namespace ibd
