// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/depth/visit_borders.h"

#include <algorithm>

namespace residua::engine {

using projects::DepthStep;

std::vector<std::size_t> readBy(const DepthStep& step)
{
    std::vector<std::size_t> read = step.inputs;
    for (const std::optional<std::size_t>& value : {step.base, step.newest}) {
        read.insert(read.end(), value ? 1 : 0, value.value_or(0));
    }
    return read;
}

VisitBorders bordersOf(const projects::DepthProgram& program, const projects::Stack& stack, std::size_t loop)
{
    const projects::Loop& of = stack.loops.at(loop);
    const std::int64_t perLayer = program.modules / program.layers;
    VisitBorders borders;
    for (std::int64_t visit = 0; visit <= of.visits; ++visit) {
        const std::int64_t layer = visit == 0 ? stack.numberOf({of.first, 1}) - 1 : stack.numberOf({of.last, visit});
        borders.values.push_back(layer == 0 ? program.steps.front().output
                                            : program.residuals.at(static_cast<std::size_t>(layer - 1)));
        const auto next =
            std::ranges::find_if(program.steps, [&](const DepthStep& step) { return step.module > layer * perLayer; });
        borders.steps.push_back(static_cast<std::size_t>(next - program.steps.begin()));
        const std::int64_t first = stack.numberOf({of.first, std::max<std::int64_t>(visit, 1)});
        borders.modules.push_back(static_cast<std::size_t>((first - 1) * perLayer));
    }
    // Parts of the program: 0 before the loop, then its visits, then what follows it.
    std::vector<std::size_t> partOf(program.values);
    for (std::size_t number = 0; number < program.steps.size(); ++number) {
        const DepthStep& step = program.steps[number];
        const auto part =
            static_cast<std::size_t>(std::ranges::upper_bound(borders.steps, number) - borders.steps.begin());
        std::fill_n(partOf.begin() + static_cast<std::ptrdiff_t>(step.output), step.outputs, part);
        for (const std::size_t value : readBy(step)) {
            const std::size_t made = partOf[value];
            const bool isState = made + 1 == part && value == borders.values[made];
            borders.areClosed &= made == 0 || made == part || isState;
        }
    }
    return borders;
}

} // namespace residua::engine
