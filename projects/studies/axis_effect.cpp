// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/file/json.h"
#include "projects/nodes/node_kinds.h"
#include "projects/schedule/stage_schedule.h"
#include "projects/schema/fields.h"
#include "projects/studies/sweep_grid.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <variant>

namespace residua::projects {
namespace {

constexpr const char* kDropout = "dropout";

/// True if the data, their split or their hidden tokens are drawn.
bool drawsData(const Project& project)
{
    const bool isDrawn = std::visit(
        [&](const auto& source) {
            using Kind = std::decay_t<decltype(source)>;
            if constexpr (std::is_same_v<Kind, PictureData> || std::is_same_v<Kind, LabelledTextData>) {
                return project.data.testFraction > 0 ||
                       (source.validationPath.empty() && project.data.validationFraction > 0);
            } else { // text and tokens of files are split each in one piece
                return !std::is_same_v<Kind, TextData> && !std::is_same_v<Kind, JsonLinesData> &&
                       !std::is_same_v<Kind, MixtureData> && !std::is_same_v<Kind, TokenFileData>;
            }
        },
        project.data.source);
    const ObjectiveTraits& objective = traitsOf(project.network.objective);
    return isDrawn || objective.targetOf == TargetOf::Hidden || objective.denoises;
}

/// True if the order of batches, or the random changes of pictures, count.
bool drawsOrder(const Project& project)
{
    return project.training.batching != BatchKind::Full || project.data.augmentation != Augmentation{};
}

bool hasDropout(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
        return node.kind == kDropout || (node.params.contains(kDropout) && paramDouble(node.params, kDropout) > 0);
    });
}

/// True if a step may leave out layers, parts or elements.
bool leavesOut(const Project& project)
{
    const Network& network = project.network;
    return !trainsAll(project.stack().schedule) || hasDropout(network.stem) || hasDropout(network.head) ||
           std::ranges::any_of(network.blocks, [](const Block& block) { return hasDropout(block.graph); });
}

/// A seed, and the condition under which something is drawn from it. Initial weights are drawn in every project.
struct SeedUse {
    const char* field;
    std::int64_t Seeds::*seed;
    bool (*isDrawn)(const Project& project);
    const char* reason; ///< why nothing is drawn
};

constexpr SeedUse kSeedUses[] = {
    {"/seeds/data", &Seeds::data, &drawsData, "these data are neither drawn nor split by a seed"},
    {"/seeds/order", &Seeds::order, &drawsOrder, "a full batch has no order"},
    {"/seeds/stages", &Seeds::stages, &leavesOut, "no step leaves out a layer, a part or an element"},
};

/// Returns a text that is equal exactly for projects that train alike, as far as the axis's field is concerned: without
/// seeds that draw nothing and with idle fields below `field` at their defaults.
std::string trainingText(Project project, const std::string& field)
{
    project.name.clear();
    project.description.clear();
    project.sweeps.clear();
    for (const SeedUse& use : kSeedUses) {
        if (!use.isDrawn(project)) {
            project.seeds.*use.seed = 0;
        }
    }
    if (field != kSeveralFields) {
        for (const FieldEntry& entry : fieldsOf(project, field)) {
            if (entry.isIdle && isSettable(entry)) {
                static_cast<void>(setField(project, entry.pointer, entry.defaultValue));
            }
        }
    }
    return toJson(project);
}

/// Returns the number of neighbouring members between two values of the axis.
std::size_t strideOf(const Sweep& sweep, std::size_t axis)
{
    std::size_t stride = 1;
    for (std::size_t later = axis + 1; later < sweep.axes.size(); ++later) {
        stride *= sweep.axes[later].values.size();
    }
    return stride;
}

bool hasEffect(const Sweep& sweep, std::size_t axis, const std::vector<SweepMember>& members)
{
    const std::size_t stride = strideOf(sweep, axis);
    const std::size_t count = sweep.axes[axis].values.size();
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i].error || count < 2) {
            return true; // nothing to compare
        }
        if (i / stride % count == 0) {
            continue;
        }
        const std::string& field = sweep.axes[axis].field;
        if (trainingText(members[i].project, field) != trainingText(members[i - stride].project, field)) {
            return true;
        }
    }
    return false;
}

} // namespace

std::vector<std::string> axesWithoutEffect(const Sweep& sweep, const std::vector<SweepMember>& members)
{
    std::vector<std::string> warnings;
    for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
        if (members.empty() || hasEffect(sweep, axis, members)) {
            continue;
        }
        const std::string& field = sweep.axes[axis].field;
        const auto seed = std::ranges::find(kSeedUses, field, &SeedUse::field);
        const std::string reason = seed == std::end(kSeedUses) ? "no value of it counts in this project" : seed->reason;
        warnings.push_back("axis " + labelOf(sweep.axes[axis]) + " (" + field + ") changes nothing: " + reason +
                           ", so its " + std::to_string(sweep.axes[axis].values.size()) +
                           " values train one and the same run");
    }
    return warnings;
}

} // namespace residua::projects
