// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/source_paths.h"

#include "projects/model/data_endings.h"

namespace residua::projects {

std::span<const std::string_view> folderEndingsOf(const Source& source)
{
    return std::visit(
        []<class Data>(const Data& data) -> std::span<const std::string_view> {
            if constexpr (std::is_same_v<Data, TextData>) {
                return kTextEndings;
            } else if constexpr (std::is_same_v<Data, JsonLinesData>) {
                return kRecordEndings;
            } else if constexpr (std::is_same_v<Data, MixtureData>) {
                return kAnyTextEndings;
            } else if constexpr (std::is_same_v<Data, TokenFileData>) {
                return kTokenEndings;
            } else if constexpr (std::is_same_v<Data, LabelledTextData>) {
                return kTableEndings;
            } else if constexpr (std::is_same_v<Data, PictureData>) {
                return kAnyPictureEndings;
            } else {
                static_assert(
                    !requires { data.path; }, "a source of files needs its endings");
                return {};
            }
        },
        source);
}

} // namespace residua::projects
