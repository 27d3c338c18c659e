// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/json_tree.h"
#include "projects/file/json.h"
#include "projects/library/schedule_presets.h"
#include "projects/schema/json_write.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

namespace residua::projects {

namespace {

const std::string kStochasticDepth = "stochastic-depth"; // a preset of topologies and of schedules

/// Schema 0 (before the first release) has `network.depth` layers of the single `network.block`, and `topology` is the
/// name of a preset. Schema 1 has `network.stack`, and `topology` with its full wiring.
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
    if (*presetName == kStochasticDepth) { // a branch gate in that schema
        JsonValue gate{JsonObject{{std::string(kKindKey), toTree(std::string("branch_gate"))},
                                  {"gate", toTree(std::string("stochastic_depth"))}}};
        *topology = JsonValue{JsonObject{{"preset", toTree(kStochasticDepth)}, {"wiring", std::move(gate)}}};
        return Done{};
    }
    const auto presets = topologyPresets(depth);
    const auto preset =
        std::find_if(presets.begin(), presets.end(), [&](const TopologyPreset& p) { return p.name == *presetName; });
    if (preset == presets.end()) {
        return Error{"/topology", "is " + nameOfValue(*topology) + "; expected the name of a preset" +
                                      presetHint(*presetName, presets)};
    }
    *topology = toTree(Topology{preset->name, preset->wiring});
    return Done{};
}

bool isText(JsonValue* object, std::string_view key, std::string_view expected)
{
    const JsonValue* const value = object == nullptr ? nullptr : findMember(*object, key);
    const auto* const text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
    return text != nullptr && *text == expected;
}

/// Adds `key` if it is absent, with the value that its absence meant.
void spellOut(JsonValue& object, std::string_view key, JsonValue value)
{
    if (auto* const members = std::get_if<JsonObject>(&object.data); members != nullptr && !findMember(object, key)) {
        members->push_back({std::string(key), std::move(value)});
    }
}

/// Schema 1 had one interpretation of some wirings: dilated sources had a weight for every reader, weights per token
/// had as many hidden features as weights, shortcuts between both sites were one family, LAuReL's factors were
/// unbounded, and streams and gates acted once per layer. Schema 2 has fields for these, whose defaults are the
/// papers'.
Status readingsOfWirings(JsonValue& tree)
{
    JsonValue* const topology = findMember(tree, "topology");
    JsonValue* const wiring = topology == nullptr ? nullptr : findMember(*topology, "wiring");
    if (isText(wiring, kKindKey, "depth_mix")) {
        if (JsonValue* const sources = findMember(*wiring, "sources"); isText(sources, kKindKey, "dilated")) {
            spellOut(*sources, "readers", toTree(DilatedReaders::All));
        }
        // A field that is absent keeps its default, so that a preset still equals itself.
        if (isText(wiring, "sites", "both")) {
            spellOut(*wiring, "site_pairs", toTree(SitePairs::Any));
        }
        if (isText(wiring, "weight", "per_token")) {
            spellOut(*wiring, "hidden_multiple", toTree(std::int64_t{1}));
            spellOut(*wiring, "final_hidden", toTree(1.0));
        }
    } else if (isText(wiring, kKindKey, "branch_gate")) {
        spellOut(*wiring, "keep_probability", toTree(0.8));
        spellOut(*wiring, "bound", toTree(LaurelBound::None));
        spellOut(*wiring, "sites", toTree(MixSites::Mhsa));
    } else if (isText(wiring, kKindKey, "multi_stream")) {
        spellOut(*wiring, "sites", toTree(MixSites::Mhsa));
        spellOut(*wiring, "norm", toTree(NormKind::Rms));
        spellOut(*wiring, "scale_outputs", toTree(false));
    }
    return Done{};
}

void forEachIn(JsonValue* list, const std::function<void(JsonValue&)>& visit)
{
    if (auto* const items = list == nullptr ? nullptr : std::get_if<JsonArray>(&list->data)) {
        std::ranges::for_each(*items, visit);
    }
}

void forEachAxis(JsonValue& tree, const std::function<void(JsonValue&)>& visit)
{
    forEachIn(findMember(tree, "sweeps"), [&](JsonValue& sweep) { forEachIn(findMember(sweep, "axes"), visit); });
}

/// Removes and returns the value of a node's parameter; nullopt if the node does not set it.
std::optional<JsonValue> takeParam(JsonValue* params, std::string_view key)
{
    return params != nullptr && findMember(*params, key) != nullptr ? std::optional(takeMember(*params, key))
                                                                    : std::nullopt;
}

/// An integer now means a rank, so a share of 1 is converted to a real number.
JsonValue shareOf(JsonValue scale)
{
    const auto* const whole = std::get_if<std::int64_t>(&scale.data);
    return whole == nullptr ? std::move(scale) : toTree(static_cast<double>(*whole));
}

/// True if a low_rank_linear uses its rank_scale: its rank is 0 or absent.
bool goesByScale(const std::optional<JsonValue>& rank)
{
    const auto* const number = rank ? std::get_if<std::int64_t>(&rank->data) : nullptr;
    return !rank || (number != nullptr && *number == 0);
}

/// Before schema 3, a matrix below full rank was a separate kind, low_rank_linear, whose rank of 0 meant its
/// rank_scale.
void rankOfNode(JsonValue& node)
{
    if (!isText(&node, "kind", "low_rank_linear")) {
        return;
    }
    *findMember(node, "kind") = toTree(std::string("linear"));
    JsonValue* params = findMember(node, "params");
    if (params == nullptr) {
        std::get<JsonObject>(node.data).push_back({"params", JsonValue{JsonObject{}}});
        params = findMember(node, "params");
    }
    if (!std::holds_alternative<JsonObject>(params->data)) {
        return; // the reader reports the error
    }
    const std::optional<JsonValue> rank = takeParam(params, "rank");
    const std::optional<JsonValue> scale = takeParam(params, "rank_scale");
    spellOut(*params, "rank", goesByScale(rank) ? shareOf(scale.value_or(toTree(0.25))) : *rank);
}

void ranksOfGraph(JsonValue* graph)
{
    JsonValue* const nodes = graph == nullptr ? nullptr : findMember(*graph, "nodes");
    auto* const list = nodes == nullptr ? nullptr : std::get_if<JsonArray>(&nodes->data);
    if (list != nullptr) {
        std::ranges::for_each(*list, rankOfNode);
    }
}

/// Returns the new pointer of the rank_scale at `pointer`. Returns nullopt for another pointer, and if the node's own
/// rank overrides the scale.
std::optional<std::string> movedScale(JsonValue& tree, const std::string& pointer)
{
    constexpr std::string_view kEnd = "/params/rank_scale";
    if (!pointer.ends_with(kEnd)) {
        return std::nullopt;
    }
    const std::string path = pointer.substr(0, pointer.size() - kEnd.size());
    const Result<JsonValue*> node = valueAt(tree, path);
    if (!node || !isText(*node, kKindKey, "low_rank_linear")) {
        return std::nullopt;
    }
    const JsonValue* const params = findMember(**node, "params");
    const JsonValue* const rank = params == nullptr ? nullptr : findMember(*params, "rank");
    return goesByScale(rank == nullptr ? std::nullopt : std::optional(*rank)) ? std::optional(path + "/params/rank")
                                                                              : std::nullopt;
}

/// Converts a swept field and its value to schema 3.
void nameSweptRank(JsonValue& tree, std::string& pointer, JsonValue& value)
{
    const auto* const method = std::get_if<std::string>(&value.data);
    if (std::optional<std::string> moved = movedScale(tree, pointer)) {
        pointer = *std::move(moved);
        value = shareOf(std::move(value));
    } else if (pointer == "/initialisation/low_rank" && method != nullptr && *method == "nlra_exact") {
        value = toTree(LowRankMethod::Exact);
    }
}

/// Converts the fields of an axis; labels keep the names used in tables. Must run before the nodes are converted.
void sweepRanks(JsonValue& tree, JsonValue& axis)
{
    JsonValue* const field = findMember(axis, "field");
    const auto* const text = field == nullptr ? nullptr : std::get_if<std::string>(&field->data);
    if (text == nullptr) {
        return;
    }
    const std::string given = *text;
    forEachIn(findMember(axis, "values"), [&](JsonValue& entry) {
        JsonValue* const value = findMember(entry, "value");
        if (value == nullptr) {
            return;
        }
        const JsonValue before = *value;
        if (auto* const fields = std::get_if<JsonObject>(&value->data); fields != nullptr && given == kSeveralFields) {
            for (JsonMember& member : *fields) {
                std::string pointer = member.key;
                nameSweptRank(tree, pointer, member.value);
                if (findMember(*value, pointer) == nullptr) { // a rank beside the scale has its own key already
                    member.key = std::move(pointer);
                }
            }
        } else {
            std::string pointer = given;
            nameSweptRank(tree, pointer, *value);
        }
        if (const std::string line = lineOf(before); line != lineOf(*value)) {
            const auto* const word = std::get_if<std::string>(&before.data);
            spellOut(entry, "label", toTree(word == nullptr ? line : *word));
        }
    });
    if (const auto moved = movedScale(tree, given)) {
        *field = toTree(*moved);
        spellOut(axis, "label", toTree(std::string("rank_scale")));
    }
}

/// Schema 3: a rank belongs to a weight, and one method has a shorter name.
Status ranksOfWeights(JsonValue& tree)
{
    forEachAxis(tree, [&](JsonValue& axis) { sweepRanks(tree, axis); });
    if (JsonValue* const network = findMember(tree, "network"); network != nullptr) {
        ranksOfGraph(findMember(*network, "stem"));
        ranksOfGraph(findMember(*network, "head"));
        JsonValue* const blocks = findMember(*network, "blocks");
        if (auto* const list = blocks == nullptr ? nullptr : std::get_if<JsonArray>(&blocks->data)) {
            for (JsonValue& block : *list) {
                ranksOfGraph(findMember(block, "graph"));
            }
        }
    }
    JsonValue* const initialisation = findMember(tree, "initialisation");
    if (isText(initialisation, "low_rank", "nlra_exact")) {
        *findMember(*initialisation, "low_rank") = toTree(LowRankMethod::Exact);
    }
    return Done{};
}

/// Returns the number in a value that older files write as an integer or a real number.
std::optional<double> numberIn(const JsonValue& value)
{
    if (const auto* const whole = std::get_if<std::int64_t>(&value.data)) {
        return static_cast<double>(*whole);
    }
    const auto* const broken = std::get_if<double>(&value.data);
    return broken == nullptr ? std::nullopt : std::optional(*broken);
}

/// Returns the number of layers in the tree's stack, or 0 if the stack is malformed (the reader reports that).
std::int64_t depthIn(const JsonValue& tree)
{
    const JsonValue* const network = findMember(tree, "network");
    const JsonValue* const stack = network == nullptr ? nullptr : findMember(*network, "stack");
    const auto* const segments = stack == nullptr ? nullptr : std::get_if<JsonArray>(&stack->data);
    std::int64_t depth = 0;
    for (const JsonValue& segment : segments == nullptr ? JsonArray() : *segments) {
        const JsonValue* const repeat = findMember(segment, "repeat");
        const auto* const layers = repeat == nullptr ? nullptr : std::get_if<std::int64_t>(&repeat->data);
        depth += std::clamp<std::int64_t>(layers == nullptr ? StackSegment().repeat : *layers, 0, kMaxLayers);
    }
    return depth;
}

/// Returns the average number of `depth` layers that are kept if the last one is kept with probability `keepLast`: Σ 1
/// − l/L·(1 − p_L).
double averageOf(std::int64_t depth, double keepLast)
{
    return static_cast<double>(depth) - (1 - keepLast) * static_cast<double>(depth + 1) / 2;
}

/// Converts sweeps over the keep probability to sweeps over the average length that it gives.
void sweepAverages(JsonValue& tree, std::int64_t depth)
{
    forEachAxis(tree, [&](JsonValue& axis) {
        JsonValue* const field = findMember(axis, "field");
        if (!isText(&axis, "field", "/topology/wiring/keep_probability")) {
            return;
        }
        *field = toTree(std::string("/schedule/stages/0/average_length"));
        spellOut(axis, "label", toTree(std::string("keep_probability")));
        forEachIn(findMember(axis, "values"), [&](JsonValue& value) {
            JsonValue* const given = findMember(value, "value");
            if (const auto keep = given == nullptr ? std::nullopt : numberIn(*given)) {
                spellOut(value, "label", toTree(lineOf(*given))); // the label used in tables
                *findMember(value, "value") = toTree(averageOf(depth, *keep));
            }
        });
    });
}

/// Schema 4: stochastic depth, formerly a branch gate, moves to the schedule like all methods that leave out layers;
/// its wiring becomes the plain one. A document with both a gate and a schedule was invalid; its schedule is kept.
Status stochasticDepthIsASchedule(JsonValue& tree)
{
    JsonValue* const topology = findMember(tree, "topology");
    JsonValue* const wiring = topology == nullptr ? nullptr : findMember(*topology, "wiring");
    if (!isText(wiring, kKindKey, "branch_gate")) {
        return Done{};
    }
    const bool spelt = findMember(*wiring, "keep_probability") != nullptr;
    const JsonValue given = takeMember(*wiring, "keep_probability");
    if (!isText(wiring, "gate", "stochastic_depth")) {
        return Done{};
    }
    const std::optional<double> keepLast = spelt ? numberIn(given) : 0.5;
    if (!keepLast || *keepLast < 0 || *keepLast > 1) {
        return Error{"/topology/wiring/keep_probability", "is " + nameOfValue(given) + "; expected a number in [0, 1]"};
    }
    const std::int64_t depth = depthIn(tree);
    StageSchedule schedule = scheduleOf(*findSchedulePreset(kStochasticDepth), depth, 1);
    for (Stage& stage : schedule.stages) {
        stage.averageLength = averageOf(depth, *keepLast);
    }
    *topology = toTree(Topology{kPlainPreset, topologyPresets(depth).front().wiring});
    JsonValue* const present = findMember(tree, "schedule");
    const JsonValue* const stages = present == nullptr ? nullptr : findMember(*present, "stages");
    const auto* const list = stages == nullptr ? nullptr : std::get_if<JsonArray>(&stages->data);
    if ((list != nullptr && !list->empty()) || isText(present, "course", "curve")) {
        return Done{};
    }
    takeMember(tree, "schedule");
    spellOut(tree, "schedule", toTree(schedule));
    sweepAverages(tree, depth);
    return Done{};
}

/// A flag of an attention node before schema 4, and the choice that "on" now corresponds to.
struct FlagOfAttention {
    std::string_view param;
    const char* on;
};
constexpr FlagOfAttention kFlagsOfAttention[] = {{"bias", "all"}, {"qk_norm", "head"}};

/// Converts a flag; the reader rejects other values.
void nameFlag(JsonValue& value, const FlagOfAttention& flag)
{
    if (const auto* const was = std::get_if<bool>(&value.data)) {
        value = toTree(std::string(*was ? flag.on : "none"));
    }
}

/// Converts the flags of all attention nodes in a tree. A sweep's values may contain whole blocks.
void nameFlagsOfAttention(JsonValue& tree)
{
    if (auto* const list = std::get_if<JsonArray>(&tree.data)) {
        std::ranges::for_each(*list, nameFlagsOfAttention);
    }
    auto* const members = std::get_if<JsonObject>(&tree.data);
    if (members == nullptr) {
        return;
    }
    JsonValue* const params = isText(&tree, kKindKey, "attention") ? findMember(tree, "params") : nullptr;
    for (const FlagOfAttention& flag : kFlagsOfAttention) {
        if (JsonValue* const value = params == nullptr ? nullptr : findMember(*params, flag.param)) {
            nameFlag(*value, flag);
        }
    }
    for (JsonMember& member : *members) {
        nameFlagsOfAttention(member.value);
    }
}

/// Converts the flags of attention nodes of `tree` in a value that a sweep sets at `pointer`: a flag itself or a part
/// that contains some. A part with a kind is a whole node, which nameFlagsOfAttention() converts. Returns true if there
/// was one.
bool nameSweptFlags(JsonValue& tree, const std::string& pointer, JsonValue& value)
{
    bool named = false;
    if (auto* const members = std::get_if<JsonObject>(&value.data); members && !findMember(value, kKindKey)) {
        for (JsonMember& member : *members) {
            named = nameSweptFlags(tree, pointer + "/" + pointerToken(member.key), member.value) || named;
        }
    }
    for (const FlagOfAttention& flag : kFlagsOfAttention) {
        const std::string end = "/params/" + std::string(flag.param);
        if (!std::holds_alternative<bool>(value.data) || !pointer.ends_with(end)) {
            continue;
        }
        const Result<JsonValue*> node = valueAt(tree, std::string_view(pointer).substr(0, pointer.size() - end.size()));
        if (node && isText(*node, kKindKey, "attention")) {
            nameFlag(value, flag);
            named = true;
        }
    }
    return named;
}

/// Converts a sweep over such a flag to a sweep over the choice.
void sweepChoices(JsonValue& tree, JsonValue& axis)
{
    const JsonValue* const field = findMember(axis, "field");
    const auto* const pointer = field == nullptr ? nullptr : std::get_if<std::string>(&field->data);
    if (pointer == nullptr) {
        return;
    }
    forEachIn(findMember(axis, "values"), [&](JsonValue& value) {
        JsonValue* const given = findMember(value, "value");
        if (given == nullptr) {
            return;
        }
        const std::string label = lineOf(*given); // the label used in tables
        bool named = false;
        if (*pointer != kSeveralFields) {
            named = nameSweptFlags(tree, *pointer, *given);
        } else if (auto* const fields = std::get_if<JsonObject>(&given->data)) {
            for (JsonMember& member : *fields) {
                named = nameSweptFlags(tree, member.key, member.value) || named;
            }
        }
        if (named) {
            spellOut(value, "label", toTree(label));
        }
    });
}

/// Schema 5: biases and norms of an attention are choices.
Status choicesOfAttention(JsonValue& tree)
{
    nameFlagsOfAttention(tree);
    forEachAxis(tree, [&](JsonValue& axis) { sweepChoices(tree, axis); });
    return Done{};
}

/// Schema 6: a stack may have loops; an older one has none.
Status loopsOfStack(JsonValue& /*tree*/)
{
    return Done{};
}

/// kMigrations[n] migrates a tree from schema n to n + 1.
constexpr std::array<Status (*)(JsonValue&), kSchemaVersion> kMigrations{
    stackAndWiring, readingsOfWirings, ranksOfWeights, stochasticDepthIsASchedule, choicesOfAttention, loopsOfStack};

} // namespace

Status migrateProject(JsonValue& tree, int schema)
{
    for (auto step = static_cast<std::size_t>(schema); step < kMigrations.size(); ++step) {
        RESIDUA_TRY(kMigrations[step](tree));
    }
    return Done{};
}

void migrateBlock(JsonValue& tree, int schema)
{
    JsonValue* const block = schema < 3 ? findMember(tree, "block") : nullptr;
    ranksOfGraph(block == nullptr ? nullptr : findMember(*block, "graph"));
    if (schema < 5) {
        nameFlagsOfAttention(tree);
    }
}

} // namespace residua::projects
