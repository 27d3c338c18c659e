// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <map>
#include <string>
#include <string_view>

namespace residua::projects {

/// A single block with its node positions: an entry of a personal library, or nodes on the clipboard.
struct BlockFile {
    Block block;
    std::map<NodeId, Position> positions;

    bool operator==(const BlockFile&) const = default;
};

/// Formats the block by the rules of json.h.
[[nodiscard]] std::string toJson(const BlockFile& file);
/// Parses a block. Errors are as in projectFromJson().
[[nodiscard]] Result<BlockFile> blockFromJson(std::string_view text);

} // namespace residua::projects
