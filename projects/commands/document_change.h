// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/commands/selection.h"
#include "projects/edit/edit.h"

#include <optional>

namespace residua::projects {

/// The result of a command on a document.
struct DocumentChange {
    Edit edit;
    std::optional<Selection> selection = {}; ///< the selection after the edit; nullopt: unchanged
};

} // namespace residua::projects
