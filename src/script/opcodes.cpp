// See opcodes.h.
#include "script/opcodes.h"

#include <array>

// clang-format off
namespace ibd {
namespace {

constexpr std::array<const char*, 0xba - 0x61 + 1> kNames = {
    "OP_NOP", "OP_VER", "OP_IF", "OP_NOTIF", "OP_VERIF", "OP_VERNOTIF", "OP_ELSE", "OP_ENDIF",
    "OP_VERIFY", "OP_RETURN", "OP_TOALTSTACK", "OP_FROMALTSTACK", "OP_2DROP", "OP_2DUP", "OP_3DUP",
    "OP_2OVER", "OP_2ROT", "OP_2SWAP", "OP_IFDUP", "OP_DEPTH", "OP_DROP", "OP_DUP", "OP_NIP",
    "OP_OVER", "OP_PICK", "OP_ROLL", "OP_ROT", "OP_SWAP", "OP_TUCK", "OP_CAT", "OP_SUBSTR",
    "OP_LEFT", "OP_RIGHT", "OP_SIZE", "OP_INVERT", "OP_AND", "OP_OR", "OP_XOR", "OP_EQUAL",
    "OP_EQUALVERIFY", "OP_RESERVED1", "OP_RESERVED2", "OP_1ADD", "OP_1SUB", "OP_2MUL", "OP_2DIV",
    "OP_NEGATE", "OP_ABS", "OP_NOT", "OP_0NOTEQUAL", "OP_ADD", "OP_SUB", "OP_MUL", "OP_DIV",
    "OP_MOD", "OP_LSHIFT", "OP_RSHIFT", "OP_BOOLAND", "OP_BOOLOR", "OP_NUMEQUAL",
    "OP_NUMEQUALVERIFY", "OP_NUMNOTEQUAL", "OP_LESSTHAN", "OP_GREATERTHAN", "OP_LESSTHANOREQUAL",
    "OP_GREATERTHANOREQUAL", "OP_MIN", "OP_MAX", "OP_WITHIN", "OP_RIPEMD160", "OP_SHA1",
    "OP_SHA256", "OP_HASH160", "OP_HASH256", "OP_CODESEPARATOR", "OP_CHECKSIG",
    "OP_CHECKSIGVERIFY", "OP_CHECKMULTISIG", "OP_CHECKMULTISIGVERIFY", "OP_NOP1",
    "OP_CHECKLOCKTIMEVERIFY", "OP_CHECKSEQUENCEVERIFY", "OP_NOP4", "OP_NOP5", "OP_NOP6", "OP_NOP7",
    "OP_NOP8", "OP_NOP9", "OP_NOP10", "OP_CHECKSIGADD"};

} // namespace

std::string OpcodeName(uint8_t opcode)
{
    if (opcode == OP_0) return "0";
    if (opcode == OP_PUSHDATA1) return "OP_PUSHDATA1";
    if (opcode == OP_PUSHDATA2) return "OP_PUSHDATA2";
    if (opcode == OP_PUSHDATA4) return "OP_PUSHDATA4";
    if (opcode == OP_1NEGATE) return "-1";
    if (opcode == OP_RESERVED) return "OP_RESERVED";
    if (opcode >= OP_1 && opcode <= OP_16) return std::to_string(opcode - OP_1 + 1);
    if (opcode >= OP_NOP && opcode <= OP_CHECKSIGADD) return kNames[opcode - OP_NOP];
    if (opcode == OP_INVALIDOPCODE) return "OP_INVALIDOPCODE";
    return "OP_UNKNOWN";
}

} // namespace ibd
// clang-format on
