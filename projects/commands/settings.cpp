// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/commands.h"

#include "projects/base/json_tree.h"
#include "projects/schema/describe_project.h"
#include "projects/schema/fields.h"
#include "projects/schema/json_write.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace residua::projects {
namespace {

using namespace std::string_view_literals;

/// The keys of the network that have edits of their own.
constexpr std::array kGraphKeys{"stem"sv, "blocks"sv, "stack"sv, "loops"sv, "head"sv};

bool sameForm(const JsonObject& a, const JsonObject& b)
{
    const auto sameKey = [](const JsonMember& x, const JsonMember& y) {
        const bool kind = x.key == kKindKey;
        return x.key == y.key && (!kind || lineOf(x.value) == lineOf(y.value));
    };
    return std::ranges::equal(a, b, sameKey);
}

/// Collects the smallest parts of `b` that are not so in `a`, with their pointers.
void collect(const JsonValue& a, const JsonValue& b, const std::string& pointer, std::vector<SetField>& found)
{
    if (lineOf(a) == lineOf(b)) {
        return;
    }
    const auto* before = std::get_if<JsonObject>(&a.data);
    const auto* after = std::get_if<JsonObject>(&b.data);
    if (before == nullptr || after == nullptr || !sameForm(*before, *after)) {
        found.push_back({pointer, {lineOf(b)}});
        return;
    }
    for (std::size_t i = 0; i < before->size(); ++i) {
        collect((*before)[i].value, (*after)[i].value, pointer + "/" + (*after)[i].key, found);
    }
}

JsonValue treeOfFields(const Network& network)
{
    JsonValue tree = toTree(network);
    for (const std::string_view key : kGraphKeys) {
        takeMember(tree, key);
    }
    return tree;
}

/// Removes the members that only one of the objects has, and returns their keys: files have some fields only if these
/// are set.
std::vector<std::string> takeUnshared(JsonValue& a, JsonValue& b)
{
    std::vector<std::string> keys;
    const auto take = [&keys](JsonValue& from, const JsonValue& other) {
        const auto has = [&other](const JsonMember& member) {
            return std::ranges::count(std::get<JsonObject>(other.data), member.key, &JsonMember::key) > 0;
        };
        for (const JsonMember& member : std::get<JsonObject>(from.data)) {
            if (!has(member)) {
                keys.push_back(member.key);
            }
        }
        std::erase_if(std::get<JsonObject>(from.data), std::not_fn(has));
    };
    take(a, b);
    take(b, a);
    return keys;
}

/// The edit that gives the document the towers of `wanted` beside the first one.
EditGroup towerEdits(const Project& own, const Project& wanted)
{
    EditGroup group{"Use other towers", {}};
    for (std::size_t i = own.towers.size(); i > 0; --i) {
        group.edits.emplace_back(RemoveTower{i - 1});
    }
    for (const Tower& tower : wanted.towers) {
        group.edits.emplace_back(AddTower{tower});
    }
    return group;
}

/// The edit that gives the network the graphs and the stack of `wanted`.
EditGroup graphEdits(const Network& network, const Network& wanted)
{
    EditGroup group{"Use other graphs", {}};
    for (const Block& block : wanted.blocks) {
        const Block* own = network.findBlock(block.name);
        if (own == nullptr || *own != block) {
            group.edits.emplace_back(PutBlock{block});
        }
    }
    if (network.stack().segments != wanted.stack().segments || network.stack().loops != wanted.stack().loops) {
        group.edits.emplace_back(SetStack{wanted.stack().segments, wanted.stack().loops});
    }
    for (const Block& block : network.blocks) {
        if (wanted.findBlock(block.name) == nullptr) {
            group.edits.emplace_back(RemoveBlock{block.name});
        }
    }
    for (const auto& [ref, own, other] : {std::tuple(GraphRef::stem(), &network.stem, &wanted.stem),
                                          std::tuple(GraphRef::head(), &network.head, &wanted.head)}) {
        if (*own != *other) {
            group.edits.emplace_back(SetGraph{ref, *other});
        }
    }
    return group;
}

} // namespace

std::vector<SettingChange> settingsThatDiffer(const Document& document, const Project& wanted)
{
    std::vector<SettingChange> settings;
    const Project& own = document.project;
    const auto add = [&](std::string pointer, Edit edit) {
        Document after = document;
        if (!applyEdit(after, edit)) {
            return;
        }
        if (auto changes = diff(own, after.project); !changes.empty()) {
            settings.push_back({std::move(pointer), std::move(changes), std::move(edit)});
        }
    };
    const auto addFields = [&](JsonValue before, JsonValue after, const std::string& pointer) {
        for (const std::string& key : takeUnshared(before, after)) {
            for (const FieldEntry& field : fieldsOf(wanted, pointer + "/" + key)) {
                if (auto set = fieldEdit(own, field.pointer, field.value)) {
                    add(field.pointer, *std::move(set));
                }
            }
        }
        std::vector<SetField> fields;
        collect(before, after, pointer, fields);
        for (SetField& field : fields) {
            std::string at = field.pointer;
            add(std::move(at), Edit(std::move(field)));
        }
    };
    addFields(toTree(own.data), toTree(wanted.data), "/data");
    addFields(treeOfFields(own.network), treeOfFields(wanted.network), "/network");
    if (EditGroup graphs = graphEdits(own.network, wanted.network); !graphs.edits.empty()) {
        add("/network", std::move(graphs));
    }
    if (own.stack().topology != wanted.stack().topology) {
        add("/topology", SetTopology{wanted.stack().topology});
    }
    if (own.towers != wanted.towers) {
        add("/towers", towerEdits(own, wanted));
    }
    if (own.losses != wanted.losses) {
        add("/losses", SetLosses{wanted.losses});
    }
    addFields(toTree(own.initialisation), toTree(wanted.initialisation), "/initialisation");
    addFields(toTree(own.training), toTree(wanted.training), "/training");
    addFields(toTree(own.stack().schedule), toTree(wanted.stack().schedule), "/schedule");
    addFields(toTree(own.seeds), toTree(wanted.seeds), "/seeds");
    return settings;
}

Edit editOf(std::string title, const std::vector<SettingChange>& changes)
{
    EditGroup group{std::move(title), {}};
    std::ranges::transform(changes, std::back_inserter(group.edits), &SettingChange::edit);
    return group;
}

bool canChangeInRun(std::string_view pointer)
{
    const auto isIn = [pointer](std::string_view part) {
        return pointer == part || (pointer.starts_with(part) && pointer[part.size()] == '/');
    };
    // A field of the optimiser may change, the optimiser not: its state would be another's. Another judge's values
    // would not compare with the recorded ones.
    return (isIn("/training") || isIn("/schedule")) && pointer != "/training/optimiser" &&
           pointer != "/training/judged_by";
}

} // namespace residua::projects
