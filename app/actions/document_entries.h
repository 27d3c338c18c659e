// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/commands/command_palette.h"

#include <vector>

namespace residua::app {

class DocumentSession;
class DocumentViews;
class Workspace;

/// Returns the entries of the open document for the command palette: each topology with its change in parameters, and
/// each field with its value, also those of nodes and layers. Taking a topology applies it; taking a field moves the
/// cursor into it in the inspector. A field without effect is disabled. Empty while no document is open. GUI thread;
/// the arguments must outlive the palette.
[[nodiscard]] std::vector<PaletteEntry> documentEntries(const DocumentSession& session, DocumentViews& documents,
                                                        Workspace& workspace);

} // namespace residua::app
