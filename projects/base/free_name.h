// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace residua::projects {

/// `base`, or where that is taken `base`, `between` and the first number from 2 with which it is not: "mlp2".
template <class Taken>
[[nodiscard]] std::string freeName(const std::string& base, Taken taken, std::string_view between = {})
{
    std::string name = base;
    for (int i = 2; taken(name); ++i) {
        name = base + std::string(between) + std::to_string(i);
    }
    return name;
}

} // namespace residua::projects
