// Pieces of the text of descriptors and miniscripts, taken from its front. Pure; any thread.
#pragma once

#include <string_view>

namespace ibd {

/** Takes the text up to the comma or closing bracket that ends an expression. */
std::string_view TakeExpression(std::string_view& text);

bool TakeCharacter(char c, std::string_view& text);

/** Leaves the text in the brackets of `name(...)`; false if `text` is not such a call. */
bool TakeFunction(std::string_view name, std::string_view& text);

} // namespace ibd
