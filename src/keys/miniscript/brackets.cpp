// See brackets.h.
#include "keys/miniscript/brackets.h"

namespace ibd {

std::string_view TakeExpression(std::string_view& text)
{
    int level = 0;
    size_t end = 0;
    for (; end < text.size(); ++end) {
        const char c = text[end];
        if (c == '(' || c == '{') ++level;
        if (level == 0 && (c == ')' || c == '}' || c == ',')) break;
        if (level != 0 && (c == ')' || c == '}')) --level;
    }
    const std::string_view out = text.substr(0, end);
    text.remove_prefix(end);
    return out;
}

bool TakeCharacter(char c, std::string_view& text)
{
    if (text.empty() || text[0] != c) return false;
    text.remove_prefix(1);
    return true;
}

bool TakeFunction(std::string_view name, std::string_view& text)
{
    if (text.size() < name.size() + 2 || !text.starts_with(name) || text[name.size()] != '(' ||
        text.back() != ')') {
        return false;
    }
    text = text.substr(name.size() + 1, text.size() - name.size() - 2);
    return true;
}

} // namespace ibd
