// Compression of amounts and output scripts in the coin database, undo files and snapshots.
// Pure functions. Format: doc/formats/chainstate.md.
#pragma once

#include "primitives/serialize.h"
#include "primitives/tx_view.h"
#include "script/script_bytes.h"

#include <optional>

namespace ibd {

/** Maps an amount to a number that is small for round amounts: trailing decimal zeros become an
 *  exponent. Any 64-bit value; exact inverse of DecompressAmount for amounts up to kMaxMoney. */
uint64_t CompressAmount(uint64_t amount);
/** Inverse of CompressAmount; wraps on numbers that are not its results. */
uint64_t DecompressAmount(uint64_t code);

/** Appends the script: one type byte and its payload for P2PKH, P2SH and P2PK with a valid key;
 *  VARINT(size + 6) and the bytes for all others. */
void AppendCompressedScript(Bytes& out, ByteSpan script);

/** Reads the result of AppendCompressedScript(). A script longer than 10,000 bytes is skipped and
 *  replaced by a lone OP_RETURN, as its output cannot be spent. False, with the reader failed:
 *  truncation, or an uncompressed key whose x is not on the curve. */
bool ReadCompressedScript(Reader& in, ScriptBytes& script);
/** The same without a copy if the script is stored uncompressed, else in `space`. Nothing: false
 *  above. */
std::optional<ByteSpan> ViewCompressedScript(Reader& in, ScriptBytes& space);

/** Room that PutCompressedOutput() needs besides the script's own size. */
inline constexpr size_t kCompressedOutputRoom = 2 * kVarIntRoom;
/** Writes VARINT compressed amount and compressed script to memory with enough space; returns the
 *  end. */
uint8_t* PutCompressedOutput(uint8_t* to, Amount value, ByteSpan script);
void AppendCompressedOutput(Bytes& out, Amount value, ByteSpan script);
bool ReadCompressedOutput(Reader& in, Amount& value, ScriptBytes& script);

} // namespace ibd
