// Miniscript as text (BIP379). Pure; any thread. Time: as for its script (script.h). Reading stops
// when the script would be too long; only the keys of a multi() are all read first.
#pragma once

#include "keys/miniscript/script.h"

#include <string>

namespace ibd::miniscript {

/** Reads a key and appends it to the table of the owner: positions follow the order of the calls.
 *  False: the text is no key. */
using KeyReader = std::function<bool(std::string_view)>;

/** Reads a miniscript. Nothing: the text is no miniscript, is nested deeper than kMaxDepth, or its
 *  script would be larger than MaxScriptSize(). The types of the nodes may not fit: see
 *  FindFault(). */
std::optional<Node> Parse(std::string_view text, Context context, const KeyReader& read_key);

/** The canonical text. `key_text`: of a key, by its position. */
std::string ToText(const Node& root, Context context,
                   const std::function<std::string(uint32_t)>& key_text);

/** The canonical text of an expression that was read from a script. A script does not show how
 *  and_v is nested, so the nesting is Core's. */
std::string ToText(const Expression& expression,
                   const std::function<std::string(uint32_t)>& key_text);

/** The text of a witness script, as in wsh(), with keys in hex. Nothing: the script is no sane
 *  miniscript. Keys are not looked up, so pk_h() is not recognised. */
std::optional<std::string> TextOf(ByteSpan script);

} // namespace ibd::miniscript
