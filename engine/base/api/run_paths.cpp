// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/environment.h"

#include <array>
#include <cstdio>

namespace residua::engine {

std::filesystem::path checkpointDirectory(const std::filesystem::path& runDirectory, std::int64_t step)
{
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "%s%08lld", kCheckpointPrefix, static_cast<long long>(step));
    return runDirectory / "checkpoints" / name.data();
}

} // namespace residua::engine
