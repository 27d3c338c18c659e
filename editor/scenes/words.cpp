// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/words.h"

#include <atomic>

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

} // namespace residua::editor
