// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/schema/json_read.h"

#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace residua::projects {

namespace {

/// Returns the index of the first item whose key occurred before, or items.size().
template <class Items, class KeyOf>
std::size_t firstRepeated(const Items& items, const KeyOf& keyOf)
{
    std::set<std::decay_t<decltype(keyOf(items.front()))>> seen;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!seen.insert(keyOf(items[i])).second) {
            return i;
        }
    }
    return items.size();
}

} // namespace

bool JsonReader::fail(const JsonPlace& at, std::string message)
{
    m_error = Error{at.text(), std::move(message)};
    return false;
}

bool JsonReader::unexpected(const JsonPlace& at, const JsonValue& got, std::string_view expected)
{
    return fail(at, "is " + nameOfValue(got) + "; expected " + std::string(expected));
}

bool JsonReader::unknownName(const JsonPlace& at, const JsonValue& got, std::span<const std::string_view> names)
{
    std::string expected = "one of " + listOf(names);
    if (const auto* text = std::get_if<std::string>(&got.data)) {
        expected += meantHint(*text, names);
    }
    return unexpected(at, got, expected);
}

bool JsonReader::notTooLong(const std::string& text, const JsonPlace& at, std::size_t most)
{
    return text.size() <= most ||
           fail(at, "is " + std::to_string(text.size()) + " bytes long; expected at most " + std::to_string(most));
}

bool JsonReader::noStrangers(const JsonObject& object, std::span<const std::string_view> known, const JsonPlace& at)
{
    for (const JsonMember& member : object) {
        if (std::find(known.begin(), known.end(), member.key) != known.end()) {
            continue;
        }
        return fail(JsonPlace{&at, member.key}, "is no key that is known here; expected " +
                                                    (known.empty() ? "none" : listOf(known)) +
                                                    meantHint(member.key, known));
    }
    return true;
}

bool JsonReader::read(const JsonValue& from, bool& to, const JsonPlace& at)
{
    const bool* value = std::get_if<bool>(&from.data);
    if (value == nullptr) {
        return unexpected(at, from, "true or false");
    }
    to = *value;
    return true;
}

bool JsonReader::read(const JsonValue& from, std::int64_t& to, const JsonPlace& at)
{
    const auto* value = std::get_if<std::int64_t>(&from.data);
    if (value == nullptr) {
        return unexpected(at, from, "a whole number (of at most 63 bits, without a decimal point)");
    }
    to = *value;
    return true;
}

bool JsonReader::read(const JsonValue& from, double& to, const JsonPlace& at)
{
    if (const auto* whole = std::get_if<std::int64_t>(&from.data)) {
        to = static_cast<double>(*whole);
        return true;
    }
    const double* value = std::get_if<double>(&from.data);
    if (value == nullptr) {
        return unexpected(at, from, "a number");
    }
    to = *value;
    return std::isfinite(to) || fail(at, "is " + numberText(to) + "; expected a finite number");
}

bool JsonReader::read(const JsonValue& from, std::string& to, const JsonPlace& at)
{
    const auto* value = std::get_if<std::string>(&from.data);
    if (value == nullptr) {
        return unexpected(at, from, "a text");
    }
    to = *value;
    return notTooLong(to, at) && (isUtf8(to) || fail(at, "is not valid UTF-8"));
}

bool JsonReader::read(const JsonValue& from, NodeId& to, const JsonPlace& at)
{
    const auto* value = std::get_if<std::int64_t>(&from.data);
    const auto id = value != nullptr ? nodeIdFrom(std::to_string(*value)) : std::nullopt;
    if (!id) {
        return unexpected(at, from, "a node's id, a whole number from 0 to 4294967294");
    }
    to = *id;
    return true;
}

bool JsonReader::read(const JsonValue& from, Shortcut& to, const JsonPlace& at)
{
    const auto* text = std::get_if<std::string>(&from.data);
    const auto shortcut = text != nullptr ? shortcutFrom(*text) : std::nullopt;
    if (!shortcut) {
        return unexpected(at, from, "a shortcut \"source:target\" with source < target, as \"2:5\"");
    }
    to = *shortcut;
    return true;
}

bool JsonReader::read(const JsonValue& from, ShortcutState& to, const JsonPlace& at)
{
    const std::string_view frozen = nameOf(ShortcutState::Frozen);
    const std::string_view learned = nameOf(ShortcutState::Learned);
    if (objectOf(from) == nullptr) {
        return read(from, to.kind, at);
    }
    const JsonValue* const value = findMember(from, frozen);
    if (!noStrangers(*objectOf(from), std::span(&frozen, 1), at)) {
        return false;
    }
    const JsonPlace here{&at, frozen};
    if (value == nullptr) {
        return fail(here, "is missing");
    }
    if (const auto* text = std::get_if<std::string>(&value->data); text != nullptr && *text == learned) {
        to = ShortcutState::frozenAsLearned();
        return true;
    }
    double number = 0;
    if (std::holds_alternative<std::string>(value->data)) {
        return unexpected(here, *value, "a number, or \"learned\" for the weight that the run has learned");
    }
    const bool good = read(*value, number, here);
    to = ShortcutState::frozenAt(number);
    return good;
}

bool JsonReader::read(const JsonValue& from, Wire& to, const JsonPlace& at)
{
    const auto* text = std::get_if<std::string>(&from.data);
    if (text != nullptr && !notTooLong(*text, at)) {
        return false;
    }
    auto wire = text != nullptr ? wireFrom(*text) : std::nullopt;
    if (!wire) {
        return unexpected(at, from, "a wire \"node.port > node.port\", as \"3.out > 5.in\"");
    }
    to = *std::move(wire);
    return true;
}

bool JsonReader::read(const JsonValue& from, Position& to, const JsonPlace& at)
{
    const auto* pair = std::get_if<JsonArray>(&from.data);
    if (pair == nullptr || pair->size() != 2) {
        return unexpected(at, from, "a position, a list of x and y");
    }
    return read((*pair)[0], to.x, JsonPlace{&at, {}, 0}) && read((*pair)[1], to.y, JsonPlace{&at, {}, 1});
}

bool JsonReader::read(const JsonValue& from, ParamValue& to, const JsonPlace& at)
{
    if (std::holds_alternative<bool>(from.data)) {
        return read(from, to.emplace<bool>(), at);
    }
    if (std::holds_alternative<std::int64_t>(from.data)) {
        return read(from, to.emplace<std::int64_t>(), at);
    }
    if (std::holds_alternative<double>(from.data)) {
        return read(from, to.emplace<double>(), at);
    }
    if (std::holds_alternative<std::string>(from.data)) {
        return read(from, to.emplace<std::string>(), at);
    }
    return unexpected(at, from, "true, false, a number or a text");
}

bool JsonReader::read(const JsonValue& from, FieldValue& to, const JsonPlace& at)
{
    to.json = lineOf(from);
    return notTooLong(to.json, at) && (isUtf8(to.json) || fail(at, "is not valid UTF-8"));
}

bool JsonReader::readKey(const std::string& text, std::string& key, const JsonPlace& at)
{
    key = text;
    // The limit leaves room for a prefix before a name of the greatest length.
    return notTooLong(key, at, 2 * kLongestText) && (isUtf8(key) || fail(at, "is a key that is not valid UTF-8"));
}

bool JsonReader::readKey(const std::string& text, GraphRef& key, const JsonPlace& at)
{
    std::string whole;
    const auto graph = graphRefFrom(text);
    key = graph.value_or(GraphRef{});
    return readKey(text, whole, at) &&
           (graph || fail(at, "is no graph; expected \"stem\", \"head\" or \"block:\" and a block's name as the key"));
}

bool JsonReader::readKey(const std::string& text, NodeId& key, const JsonPlace& at)
{
    const auto id = nodeIdFrom(text);
    key = id.value_or(NodeId{});
    return id || fail(at, "is no node's id; expected a whole number from 0 to 4294967294 as the key");
}

bool JsonReader::readKey(const std::string& text, Shortcut& key, const JsonPlace& at)
{
    const auto shortcut = shortcutFrom(text);
    key = shortcut.value_or(Shortcut{});
    return shortcut || fail(at, "is no shortcut; expected \"source:target\" with source < target as the key");
}

bool JsonReader::finish(Graph& graph, const JsonPlace& at)
{
    const JsonPlace nodesAt{&at, "nodes"};
    if (const auto i = firstRepeated(graph.nodes, [](const Node& n) { return n.id; }); i < graph.nodes.size()) {
        const JsonPlace nodeAt{&nodesAt, {}, i};
        return fail(JsonPlace{&nodeAt, "id"},
                    "is " + textOf(graph.nodes[i].id) + ", which an earlier node has; expected an id of its own");
    }
    if (const auto i = firstRepeated(graph.nodes, [](const Node& n) { return n.name; }); i < graph.nodes.size()) {
        const JsonPlace nodeAt{&nodesAt, {}, i};
        return fail(JsonPlace{&nodeAt, "name"},
                    "is \"" + graph.nodes[i].name + "\", which an earlier node has; expected a name of its own");
    }
    if (const auto i = firstRepeated(graph.wires, [](const Wire& w) { return w; }); i < graph.wires.size()) {
        const JsonPlace wiresAt{&at, "wires"};
        return fail(JsonPlace{&wiresAt, {}, i}, "repeats the wire \"" + textOf(graph.wires[i]) + "\"");
    }
    std::sort(graph.wires.begin(), graph.wires.end());
    return true;
}

bool JsonReader::finish(Network& network, const JsonPlace& at)
{
    if (network.depth() > kMaxLayers) {
        return fail(JsonPlace{&at, "loops"}, "make " + std::to_string(network.depth()) +
                                                 " executed layers; expected at most " + std::to_string(kMaxLayers));
    }
    const auto i = firstRepeated(network.blocks, [](const Block& b) { return b.name; });
    if (i == network.blocks.size()) {
        return true;
    }
    const JsonPlace blocksAt{&at, "blocks"};
    const JsonPlace blockAt{&blocksAt, {}, i};
    return fail(JsonPlace{&blockAt, "name"},
                "is \"" + network.blocks[i].name + "\", which an earlier block has; expected a name of its own");
}

bool JsonReader::finish(std::vector<StackSegment>& stack, const JsonPlace& at)
{
    const std::int64_t layers = layersOf(stack);
    return layers <= kMaxLayers ||
           fail(at, "has " + std::to_string(layers) + " layers; expected at most " + std::to_string(kMaxLayers));
}

bool JsonReader::finish(ExplicitSources& sources, const JsonPlace& at)
{
    const auto i = firstRepeated(sources.shortcuts, [](const Shortcut& s) { return s; });
    if (i < sources.shortcuts.size()) {
        const JsonPlace listAt{&at, "shortcuts"};
        return fail(JsonPlace{&listAt, {}, i}, "repeats the shortcut " + textOf(sources.shortcuts[i]));
    }
    std::sort(sources.shortcuts.begin(), sources.shortcuts.end());
    return true;
}

bool JsonReader::finish(Layout& layout, const JsonPlace&)
{
    std::erase_if(layout.positions, [](const auto& entry) { return entry.second.empty(); });
    return true;
}

bool JsonReader::finish(TowerLayout& layout, const JsonPlace&)
{
    std::erase_if(layout.positions, [](const auto& entry) { return entry.second.empty(); });
    return true;
}

std::size_t JsonReader::indexOf(const JsonValue& value, std::span<const std::string_view> names)
{
    const auto* text = std::get_if<std::string>(&value.data);
    if (text == nullptr) {
        return names.size();
    }
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), *text) - names.begin());
}

std::string JsonReader::listOf(std::span<const std::string_view> names)
{
    return names.empty() ? "" : "\"" + joinedText(names, "\", \"") + "\"";
}

} // namespace residua::projects
