// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/worlds/world.h"

#include "engine/data/worlds/built_in_worlds.h"

namespace residua::engine {

Result<std::vector<std::unique_ptr<World>>> makeWorlds(const projects::WorldData& data,
                                                       const std::filesystem::path& directory, std::int64_t count)
{
    if (data.kind == projects::WorldKind::Mujoco) {
        return makeMujocoWorlds(data, directory, count);
    }
    std::vector<std::unique_ptr<World>> worlds;
    for (std::int64_t i = 0; i < count; ++i) {
        worlds.push_back(data.kind == projects::WorldKind::PointMaze ? makePointMaze() : makeArm());
    }
    return worlds;
}

} // namespace residua::engine
