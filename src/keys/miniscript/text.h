// Miniscript as text (BIP379). Pure; any thread. Time: that of the script (script.h), which ends
// the reading of a text that is too long.
#pragma once

#include "keys/miniscript/script.h"

#include <string>

namespace ibd::miniscript {

/** Reads a key and adds it to the table of the owner, whose keys get positions in the order of the
 *  calls. False: it is no key. */
using KeyReader = std::function<bool(std::string_view)>;

/** The miniscript; nothing: the text is none, or longer than a script can be. The types of the
 *  nodes may not fit: see FindFault(). */
std::optional<Node> Parse(std::string_view text, Context context, const KeyReader& read_key);

/** The canonical text. `key_text`: of a key, by its position. */
std::string ToText(const Node& root, Context context,
                   const std::function<std::string(uint32_t)>& key_text);

/** The same for an expression that was read from a script, which does not tell how and_v is nested:
 *  it is printed as Core does. */
std::string ToText(const Expression& expression,
                   const std::function<std::string(uint32_t)>& key_text);

/** The text inside wsh() of a script, with its keys in hex. Nothing: the script is no sane
 *  miniscript. Keys are not looked up, so pk_h() is not recognised. */
std::optional<std::string> TextOf(ByteSpan script);

} // namespace ibd::miniscript
