// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace residua {

/// Returns `base` if it is free, else `base` + `between` + the first number from 2 that makes it free: "mlp2".
template <class Taken>
[[nodiscard]] std::string freeName(const std::string& base, Taken taken, std::string_view between = {})
{
    std::string name = base;
    for (int i = 2; taken(name); ++i) {
        name = base + std::string(between) + std::to_string(i);
    }
    return name;
}

/// Returns freeName() for a path that does not exist, not even as a dangling link: "runs/mlp-2".
[[nodiscard]] inline std::filesystem::path freePath(const std::filesystem::path& base, std::string_view between = "-")
{
    std::error_code ignored;
    return freeName(
        base.string(),
        [&](const std::string& path) {
            return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
        },
        between);
}

} // namespace residua
