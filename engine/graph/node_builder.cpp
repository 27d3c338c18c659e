// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/node_builder.h"

namespace residua::engine {

NodeBuilder findNodeBuilder(const std::string& kind)
{
    for (const auto table : {linearBuilders(), normBuilders(), sequenceBuilders(), arithmeticBuilders()}) {
        for (const NodeBuilderEntry& entry : table) {
            if (kind == entry.kind) {
                return entry.build;
            }
        }
    }
    return nullptr;
}

} // namespace residua::engine
