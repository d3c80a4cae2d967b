// The forms in which a batch stores transactions, inputs, outputs and scripts: the bytes that
// packer and unpacker share. Meaning of each: doc/formats/packed_blocks.md.
#pragma once

#include "crypto/secp256k1.h"
#include "primitives/tx_view.h"

#include <optional>

namespace ibd {

/** Bits of a block's byte. */
enum BlockForm : uint8_t {
    kBlockModelled = 1,
    kBlockFollows = 2, //!< the previous block of the batch is its parent
    kBlockRooted = 4,  //!< its merkle root is that of its transactions
    kBlockBare = 8,    //!< its header is all zeros; not with other bits but kBlockModelled
    kBlockForms = 15,
};

/** Bits of a transaction's byte. */
enum TxForm : uint8_t {
    kTxVersion = 3, //!< 1 or 2; 0: in kLocks
    kTxLock = 12,   //!< one of TxLock
    kTxWitness = 16,
    kTxOneInput = 32, //!< otherwise the count is in kNumbers
    kTxOutputs = 192, //!< 1, 2 or 3 outputs; 0: the count is in kNumbers
};
inline constexpr int kTxOutputsShift = 6;
enum TxLock : uint8_t {
    kLockZero = 0,
    kLockNear = 4, //!< difference to the lock time before, in kNumbers
    kLockFull = 8, //!< in kLocks
};

/** Bits of an input's byte: InputShape, kInputKnown, InputSequence. */
inline constexpr uint8_t kInputShapes = 7;
enum InputShape : uint8_t {
    kSpendsAny = 0,
    kSpendsKeyHash = 1,
    kSpendsWitnessKeyHash = 2,
    kSpendsNestedKeyHash = 3, //!< P2WPKH in P2SH
    kSpendsTaprootKey = 4,
    kSpendsWitness = 5,      //!< an empty script and a witness
    kSpendsNestedScript = 6, //!< P2WSH in P2SH
};
inline constexpr uint8_t kInputKnown = 8; //!< its txid is in the batch before
inline constexpr int kInputSequenceShift = 4;
enum InputSequence : uint8_t {
    kSequenceFinal = 0,    //!< ffffffff
    kSequenceLocked = 1,   //!< fffffffe
    kSequenceReplaced = 2, //!< fffffffd
    kSequenceZero = 3,
    kSequenceFull = 4,     //!< in kLocks
    kSequenceCoinbase = 5, //!< ffffffff, and the null outpoint
};

/** Low half of an output's byte; the high half is the number of the amount's bytes. */
enum OutputForm : uint8_t {
    kPaysKeyHash = 0,      //!< in kHashes20
    kPaysKeyHashAgain = 1, //!< a hash of kHashes20
    kPaysKey = 2,          //!< the hash of a key
    kPaysScriptHash = 3,
    kPaysScriptHashAgain = 4,
    kPaysNestedKey = 5,
    kPaysScript = 6,
    kPaysWitnessKeyHash = 7,
    kPaysWitnessKeyHashAgain = 8,
    kPaysWitnessKey = 9,
    kPaysWitnessScriptHash = 10, //!< in kHashes32
    kPaysWitnessScriptHashAgain = 11,
    kPaysWitnessScript = 12,
    kPaysTaproot = 13,
    kPaysTaprootAgain = 14,
    kPaysAny = 15,
};

/** Bytes of kTokens. A script is its operations with a token in place of each push, and kEnd; an
 *  item of a witness is a token. Direct pushes have the numbers 1 to 78, so that none of these is
 *  an operation that a script keeps. */
enum Token : uint8_t {
    kEmptyItem = 0, //!< also OP_0
    kEnd = 1,
    kUnparsed = 2,           //!< a whole script as bytes
    kSignatureItem = 3,      //!< ECDSA, strict DER, SIGHASH_ALL
    kSignatureTypedItem = 4, //!< its hash type is in kData
    kKeyItem = 5,
    kScriptItem = 6,       //!< a script of the batch's table
    kSchnorrItem = 7,      //!< 64 bytes
    kSchnorrTypedItem = 8, //!< 65 bytes
    kData20Item = 9,
    kData32Item = 10,
    kDataItem = 11, //!< size in kNumbers
    kLastToken = 11,
};
inline constexpr uint8_t kLastPush = 0x4e;

/** Bits of a key's byte. */
enum KeyForm : uint8_t {
    kKeyOdd = 1,
    kKeyLong = 2, //!< 65 bytes; its y is computed
    kKeyForms = 3,
};

inline constexpr size_t kSignatureSize = 64;
/** Of the table of scripts, so that it has a bounded number of entries; bytes. */
inline constexpr size_t kShortestScript = 23;

/** r and s of a signature in strict DER with the hash type `type` behind it; nothing: its bytes are
 *  not those of AppendSignature(). */
std::optional<CompactSignature> SplitSignature(ByteSpan item, uint8_t& type);
/** Appends the signature in DER, and the hash type. */
void AppendSignature(Bytes& out, ByteSpan r_and_s, uint8_t type);

/** A signed number as an unsigned one that is small for numbers near 0. */
constexpr uint64_t ZigZag(int64_t n)
{
    return (static_cast<uint64_t>(n) << 1) ^ static_cast<uint64_t>(n >> 63);
}
constexpr int64_t UnZigZag(uint64_t n)
{
    return static_cast<int64_t>(n >> 1) ^ -static_cast<int64_t>(n & 1);
}

} // namespace ibd
