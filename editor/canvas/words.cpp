// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/canvas/words.h"

#include <imgui.h>

namespace residua::editor {

void useTranslator(Translator translator)
{
    ImGui::GetIO().UserData = reinterpret_cast<void*>(translator);
}

std::string translate(const char* context, const char* text)
{
    const bool drawing = ImGui::GetCurrentContext() != nullptr && ImGui::GetIO().UserData != nullptr;
    return drawing ? reinterpret_cast<Translator>(ImGui::GetIO().UserData)(context, text) : text;
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
