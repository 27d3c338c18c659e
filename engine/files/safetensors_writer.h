// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/safetensors.h"

namespace residua::engine {

/// Writes the file in place and brings it to the disk; the value is the CRC-32C of all its bytes. For a path that
/// nobody reads yet.
[[nodiscard]] Result<std::uint32_t> writeNewSafetensors(const std::filesystem::path& path,
                                                        const std::map<std::string, StoredTensor>& tensors,
                                                        const std::map<std::string, std::string>& metadata);

} // namespace residua::engine
