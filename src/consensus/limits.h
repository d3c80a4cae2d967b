// Numbers of the protocol that are the same on every network.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ibd {

inline constexpr int64_t kMaxBlockWeight = 4'000'000;       //!< BIP141
inline constexpr int64_t kMaxBlockSigOpsCost = 80'000;      //!< BIP141
inline constexpr int kWitnessScaleFactor = 4;               //!< weight of a non-witness byte
inline constexpr int kCoinbaseMaturity = 100;               //!< blocks
inline constexpr int64_t kMaxFutureBlockTime = 2 * 60 * 60; //!< seconds ahead of our clock
inline constexpr int64_t kMaxTimewarp = 600;                //!< seconds, BIP94
inline constexpr size_t kMinCoinbaseScript = 2;             //!< bytes
inline constexpr size_t kMaxCoinbaseScript = 100;           //!< bytes
inline constexpr uint32_t kLockTimeThreshold = 500'000'000; //!< below: a height; else a time
inline constexpr uint32_t kSequenceFinal = 0xffffffff;
inline constexpr uint32_t kSequenceDisableFlag = 1U << 31; //!< BIP68: no relative lock
inline constexpr uint32_t kSequenceTypeFlag = 1U << 22;    //!< BIP68: units of 512 seconds
inline constexpr uint32_t kSequenceMask = 0x0000ffff;
inline constexpr int kSequenceGranularity = 9; //!< BIP68: 2^9 seconds
/** From here on BIP30 is checked again: on mainnet the coinbases of some blocks before BIP34 encode
 *  later heights and could be repeated from height 1,983,702 on. */
inline constexpr int kBip34ImpliesBip30Limit = 1'983'702;

} // namespace ibd
