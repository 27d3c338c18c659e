// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/worlds/world.h"

#include "engine/data/worlds/built_in_worlds.h"

namespace residua::engine {

Result<std::unique_ptr<World>> makeWorld(const projects::WorldData& data, const std::filesystem::path& /*directory*/)
{
    switch (data.kind) {
    case projects::WorldKind::PointMaze:
        return makePointMaze();
    case projects::WorldKind::Arm:
        return makeArm();
    case projects::WorldKind::Mujoco:
        break;
    }
    return Error{"data · world",
                 "is a model of MuJoCo, which this version describes but does not run; expected the world "
                 "point_maze or arm"};
}

} // namespace residua::engine
