// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/words.h"

#include "projects/base/utf8.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <sstream>

namespace residua::editor {
namespace {

std::atomic<Translator> theTranslator = nullptr;

} // namespace

void useTranslator(Translator translator)
{
    theTranslator = translator;
}

std::string translate(const char* context, const char* text)
{
    const Translator translator = theTranslator;
    return translator != nullptr ? translator(context, text) : text;
}

std::string filled(std::string text, std::initializer_list<std::string> values)
{
    // From the last to the first, because a value of %2 may itself contain %1.
    for (auto value = values.end(); value != values.begin();) {
        --value;
        const std::string place = "%" + std::to_string(value - values.begin() + 1);
        if (const auto at = text.find(place); at != std::string::npos) {
            text.replace(at, place.size(), *value);
        }
    }
    return text;
}

std::string elided(const std::string& text, float width, const TextWidth& widthOf)
{
    const auto first = [&text](std::size_t bytes) {
        std::string part = text.substr(0, bytes);
        part.resize(wholeCodePoints(part));
        return part;
    };
    std::size_t wide = 1; // bytes that do not fit, at last
    while (wide < text.size() && widthOf(first(wide)) <= width) {
        wide *= 2;
    }
    if (wide >= text.size() && widthOf(text) <= width) {
        return text;
    }
    std::size_t kept = 0;
    for (wide = std::min(wide, text.size()); kept + 1 < wide;) {
        const std::size_t middle = (kept + wide) / 2;
        (widthOf(first(middle) + "…") <= width ? kept : wide) = middle;
    }
    const std::string shown = first(kept);
    return shown.empty() ? shown : shown + "…";
}

std::vector<std::string> wrapped(const std::string& text, float width, const TextWidth& widthOf)
{
    std::vector<std::string> lines;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (!lines.empty() && widthOf(lines.back() + " " + word) <= width) {
            lines.back() += " " + word;
        } else {
            lines.push_back(word);
        }
    }
    return lines;
}

} // namespace residua::editor
