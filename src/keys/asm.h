// Scripts as text, one word for each operation: "asm" in RPC answers. Pure; any thread.
#pragma once

#include "util/bytes.h"

namespace ibd {

/** "ALL
 *  ANYONECANPAY" and the like; empty for types without a name, and for DEFAULT. */
std::string SigHashName(uint8_t type);

/** Numbers for pushes of up to four bytes, hex for longer ones, names for other opcodes, "[error]"
 *  where a push exceeds the script. With `decode_hash_types` (input scripts) the last byte of a
 *  probable ECDSA signature is shown by name: "3044...[ALL
 *  ANYONECANPAY]". */
std::string ScriptToAsm(ByteSpan script, bool decode_hash_types = false);

} // namespace ibd
