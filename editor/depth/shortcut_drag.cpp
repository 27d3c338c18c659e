// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth/shortcut_drag.h"

#include "editor/scenes/words.h"
#include "projects/depth/depth_names.h"
#include "projects/layers/shortcut_cost.h"

#include <utility>

namespace residua::editor {

void ShortcutDrag::begin(std::shared_ptr<const projects::Project> project, std::int64_t source)
{
    m_source = source;
    const auto sound = projects::soundProject(std::move(project));
    m_sound = sound ? std::optional(*sound) : std::nullopt;
}

DragPreview ShortcutDrag::preview(const DepthScene& scene, const projects::Project& project, const LayerBox* over) const
{
    DragPreview drag{.source = m_source, .target = std::nullopt, .shortcut = {}, .lines = {}};
    const LayerBox* from = scene.box(m_source);
    if (over == nullptr || over == from) {
        drag.lines = {moduleName(project, m_source) + ": …", translate("Canvas", "drop on a later layer")};
        return drag;
    }
    drag.target = over->module;
    if (from->folded() || over->folded()) {
        drag.lines = {filled(translate("Canvas", "%1 to %2"), {from->title, over->title}),
                      translate("Canvas", "unfold both ends to add a shortcut")};
        return drag;
    }
    const auto* const mix = std::get_if<projects::DepthMix>(&project.stack().topology.wiring);
    drag.shortcut = {mix != nullptr ? stackEntryOf(*mix, m_source) : m_source, over->module};
    drag.lines = {nameOf(drag.shortcut)};
    projects::ShortcutCheck check; // for a shortcut that goes forward
    if (m_source < over->module) {
        check = checkShortcut(project, m_sound, drag.shortcut);
    }
    drag.valid = check.possible;
    if (!check.adding) {
        drag.lines.push_back(translate("Canvas", "a shortcut runs forward in depth"));
    } else if (*check.adding == projects::Adding::Back) {
        drag.lines.push_back(translate("Canvas", "brings the pruned shortcut back"));
    } else if (*check.adding == projects::Adding::Nothing) {
        drag.lines.push_back(translate("Canvas", "is there already"));
    } else if (*check.adding == projects::Adding::Weight) {
        drag.lines.push_back(translate("Canvas", "gets a learned weight of its own"));
    }
    drag.lines.insert(drag.lines.end(), check.costs.begin(), check.costs.end());
    return drag;
}

} // namespace residua::editor
