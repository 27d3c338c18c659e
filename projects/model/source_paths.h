// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace residua::projects {

/// Returns the path of the part that is held out; null for a source without such a field. `source` may be const.
template <class AnySource>
[[nodiscard]] auto* validationPathOf(AnySource& source)
{
    using Path = std::conditional_t<std::is_const_v<AnySource>, const std::string, std::string>;
    return std::visit(
        [](auto& data) -> Path* {
            if constexpr (requires { data.validationPath; }) {
                return &data.validationPath;
            } else {
                return nullptr;
            }
        },
        source);
}

/// Calls `visit` with each path of data that a source has: its own, that of the part that is held out, and those of a
/// mixture's parts. A path may be empty. `source` may be const.
template <class AnySource, class Visit>
void forEachPath(AnySource& source, const Visit& visit)
{
    std::visit(
        [&](auto& data) {
            if constexpr (requires { data.path; }) {
                visit(data.path);
            }
            if constexpr (requires { data.parts; }) {
                for (auto& part : data.parts) {
                    visit(part.path);
                }
            }
        },
        source);
    if (auto* const heldOut = validationPathOf(source)) {
        visit(*heldOut);
    }
}

/// Returns the endings of the files that a source reads in a folder; empty for generated data.
[[nodiscard]] std::span<const std::string_view> folderEndingsOf(const Source& source);

} // namespace residua::projects
