// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/depth_scene.h"
#include "projects/check/validate.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::editor {

/// The display of a shortcut while it is being drawn.
struct DragPreview {
    std::int64_t source = 0;            ///< the module that it starts from
    std::optional<std::int64_t> target; ///< the module under the pointer
    projects::Shortcut shortcut = {};   ///< the shortcut that a release adds if `valid`, from the source's stack entry
    Point pointer = {};                 ///< on the screen
    std::vector<std::string> lines;     ///< text beside the pointer
    bool valid = false;                 ///< true if a release adds it
};

/// A shortcut while it is being drawn from one module to another.
class ShortcutDrag {
public:
    /// Validates the project once, because only a network without errors has a cost.
    void begin(std::shared_ptr<const projects::Project> project, std::int64_t source);
    /// `over` is the box under the pointer.
    [[nodiscard]] DragPreview preview(const DepthScene& scene, const projects::Project& project,
                                      const LayerBox* over) const;

private:
    std::int64_t m_source = 0;
    std::optional<projects::SoundProject> m_sound; ///< nullopt if the network has errors
};

} // namespace residua::editor
