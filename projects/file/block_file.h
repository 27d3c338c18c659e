// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"

#include <map>
#include <string>
#include <string_view>

namespace residua::projects {

/// A block by itself, with its picture: an entry of a personal library, or nodes on the clipboard.
struct BlockFile {
    Block block;
    std::map<NodeId, Position> positions;

    bool operator==(const BlockFile&) const = default;
};

/// The block as text, by the rules of json.h.
[[nodiscard]] std::string toJson(const BlockFile& file);
/// Reads a block. Errors are those of projectFromJson.
[[nodiscard]] Result<BlockFile> blockFromJson(std::string_view text);

} // namespace residua::projects
