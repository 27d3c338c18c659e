// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace residua::projects {

/// `base`, or with the first number from 2 that makes it unlike any that is taken.
template <class Taken>
[[nodiscard]] std::string freeName(const std::string& base, Taken taken)
{
    std::string name = base;
    for (int i = 2; taken(name); ++i) {
        name = base + std::to_string(i);
    }
    return name;
}

} // namespace residua::projects
