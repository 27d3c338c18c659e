// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <random>
#include <string>

namespace residua::fuzz {

/// Damages the store of a run: bytes and pages of the file as a bad disk does, or rows and schema as another program
/// may write them. What was done, in words.
[[nodiscard]] std::string mutateStore(const std::filesystem::path& store, std::mt19937_64& random);

} // namespace residua::fuzz
