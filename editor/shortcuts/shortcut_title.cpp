// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/shortcuts/shortcut_title.h"

#include "editor/canvas/words.h"
#include "projects/depth/depth_names.h"

namespace residua::editor {

std::string titleOf(const projects::Project& project, const projects::Shortcut& shortcut)
{
    const std::string name = nameOf(shortcut);
    return numbersNameModules(project)
               ? name
               : filled(translate("Canvas", "%1  (%2 to %3)"),
                        {name, entryName(project, shortcut.source), moduleName(project, shortcut.target)});
}

} // namespace residua::editor
