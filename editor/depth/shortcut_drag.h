// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/depth/depth_scene.h"
#include "projects/check/sound_project.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::editor {

/// What is shown of a shortcut while it is being drawn.
struct DragPreview {
    std::int64_t source = 0;            ///< the module that it starts from
    std::optional<std::int64_t> target; ///< the module under the pointer
    projects::Shortcut shortcut = {};   ///< what letting go adds, where `valid`: from the source's stack entry
    Point pointer = {};                 ///< on the screen
    std::vector<std::string> lines;     ///< beside the pointer
    bool valid = false;                 ///< letting go adds it
};

/// A shortcut while it is being drawn from a module to another.
class ShortcutDrag {
public:
    /// The project is checked for errors once, since only a network without any has a cost.
    void begin(std::shared_ptr<const projects::Project> project, std::int64_t source);
    /// `over`: the box under the pointer.
    [[nodiscard]] DragPreview preview(const DepthScene& scene, const projects::Project& project,
                                      const LayerBox* over) const;

private:
    std::int64_t m_source = 0;
    std::optional<projects::SoundProject> m_sound; ///< nullopt where the network has errors
};

} // namespace residua::editor
