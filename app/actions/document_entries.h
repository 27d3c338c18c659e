// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/command_palette.h"

#include <vector>

namespace residua::app {

class DocumentSession;
class DocumentViews;
class Workspace;

/// What the command palette finds of the open document: each topology with what it changes in parameters, each field
/// with its value. Taking a topology wires the stack so; taking a field puts the cursor into it. None while no document
/// is open. GUI thread; the entries are for a palette that closes before the arguments go.
[[nodiscard]] std::vector<PaletteEntry> documentEntries(const DocumentSession& session, DocumentViews& documents,
                                                        Workspace& workspace);

} // namespace residua::app
