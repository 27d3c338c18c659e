// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/stack.h"

#include <algorithm>
#include <limits>

namespace residua::projects {

std::int64_t layersOf(const std::vector<StackSegment>& stack)
{
    std::int64_t layers = 0;
    for (const StackSegment& segment : stack) {
        // Small enough that twice as many modules and the final output can still be counted.
        const std::int64_t room = std::numeric_limits<std::int64_t>::max() / 4 - layers;
        layers += std::clamp<std::int64_t>(segment.repeat, 0, room);
    }
    return layers;
}

bool isUsed(const std::vector<StackSegment>& stack, const std::string& block)
{
    return std::ranges::find(stack, block, &StackSegment::block) != stack.end();
}

} // namespace residua::projects
