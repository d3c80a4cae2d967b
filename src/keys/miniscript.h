// The miniscript of a witness script (BIP379). Pure; any thread. Time and memory: linear in the
// script, of which at most 3,600 bytes and 201 operations are read.
#pragma once

#include "util/bytes.h"

#include <optional>
#include <string>

namespace ibd {

/** The expression inside wsh(), without checksum. Nothing: the script is no miniscript, or is not
 *  sane: it could be malleable, or be spent without a signature, mixes kinds of locks, repeats a
 *  key, or exceeds the limits of scripts. Because keys are not looked up, pk_h() is not recognised.
 */
std::optional<std::string> InferMiniscript(ByteSpan script);

} // namespace ibd
