// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/file/json_document.h"
#include "projects/schema/json_write.h"

#include <algorithm>
#include <array>

namespace residua::projects {

namespace {

/// Schema 0, before the first release: `network.depth` layers of the one `network.block`, and `topology` the
/// bare name of a preset. Schema 1: `network.stack`, and `topology` with its wiring spelt out.
Status stackAndWiring(JsonValue& tree)
{
    JsonValue* network = findMember(tree, "network");
    std::int64_t depth = 0;
    if (network != nullptr && findMember(*network, "depth") != nullptr) {
        const JsonValue number = takeMember(*network, "depth");
        const JsonValue block = takeMember(*network, "block");
        const auto* layers = std::get_if<std::int64_t>(&number.data);
        const auto* name = std::get_if<std::string>(&block.data);
        if (layers == nullptr) {
            return Error{"/network/depth", "is " + nameOfValue(number) + "; expected a whole number of layers"};
        }
        if (name == nullptr) {
            return Error{"/network/block", "is " + nameOfValue(block) + "; expected the name of a block"};
        }
        depth = *layers;
        std::get<JsonObject>(network->data).push_back({"stack", toTree(std::vector{StackSegment{*name, depth}})});
    }

    JsonValue* topology = findMember(tree, "topology");
    const auto* presetName = topology == nullptr ? nullptr : std::get_if<std::string>(&topology->data);
    if (topology == nullptr) {
        return Done{};
    }
    if (presetName == nullptr) {
        return Error{"/topology", "is " + nameOfValue(*topology) + "; expected the name of a preset"};
    }
    const auto presets = topologyPresets(depth);
    const auto preset =
        std::find_if(presets.begin(), presets.end(), [&](const TopologyPreset& p) { return p.name == *presetName; });
    if (preset == presets.end()) {
        std::vector<std::string_view> names;
        std::transform(presets.begin(), presets.end(), std::back_inserter(names),
                       [](const auto& p) { return std::string_view(p.name); });
        const std::string_view meant = nearest(*presetName, names);
        return Error{"/topology", "is " + nameOfValue(*topology) + "; expected the name of a preset" +
                                      (meant.empty() ? "" : "; did you mean \"" + std::string(meant) + "\"?")};
    }
    *topology = toTree(Topology{preset->name, preset->wiring});
    return Done{};
}

/// kMigrations[n] takes a tree from schema n to n + 1.
constexpr std::array<Status (*)(JsonValue&), kSchemaVersion> kMigrations{stackAndWiring};

} // namespace

Status migrateProject(JsonValue& tree, int schema)
{
    for (auto step = static_cast<std::size_t>(schema); step < kMigrations.size(); ++step) {
        if (Status migrated = kMigrations[step](tree); !migrated) {
            return migrated;
        }
    }
    return Done{};
}

} // namespace residua::projects
