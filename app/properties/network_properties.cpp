// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/property.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/commands/tower_edits.h"
#include "projects/layers/layer_edits.h"
#include "projects/nodes/expression.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/schema/fields.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>

namespace residua::app {

namespace {

using projects::Node;
using projects::ParamSpec;
using projects::ParamType;
using projects::ParamValue;
using projects::Project;
using projects::StackSegment;
using Text = PropertyText;

constexpr const char* kJudgedBy = "/training/judged_by";

/// Returns the property of a name. Editing it renames every use. Names have no default.
Property nameProperty(const std::string& name, QString help, std::function<projects::Edit(std::string)> rename)
{
    Property property;
    property.key = "name";
    property.title = Text::tr("Name");
    property.value = QString::fromStdString(name);
    property.help = std::move(help);
    property.edit = [rename = std::move(rename)](const Project&, const QVariant& given) -> Result<projects::Edit> {
        return rename(given.toString().toStdString());
    };
    return property;
}

QVariant toVariant(const ParamSpec& spec, const ParamValue& value)
{
    if (spec.type == ParamType::Choice) {
        const auto* name = std::get_if<std::string>(&value);
        const auto found = name ? std::find(spec.choices.begin(), spec.choices.end(), *name) : spec.choices.end();
        return found == spec.choices.end() ? -1 : static_cast<int>(found - spec.choices.begin());
    }
    if (const auto* flag = std::get_if<bool>(&value)) {
        return *flag;
    }
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return spec.type == ParamType::Real ? QVariant(static_cast<double>(*number))
                                            : QVariant(QString::number(*number));
    }
    if (const auto* real = std::get_if<double>(&value)) {
        return spec.type == ParamType::Rank ? QVariant(QString::fromStdString(numberText(*real))) : QVariant(*real);
    }
    return QString::fromStdString(std::get<std::string>(value));
}

ParamValue fromVariant(const ParamSpec& spec, const QVariant& given)
{
    switch (spec.type) {
    case ParamType::Flag:
        return given.toBool();
    case ParamType::Real:
        return given.toDouble();
    case ParamType::Choice:
        return spec.choices.at(static_cast<std::size_t>(given.toInt()));
    case ParamType::Text:
    case ParamType::Formula:
        return given.toString().toStdString();
    case ParamType::Rank:
        return projects::rankFrom(given.toString().trimmed().toStdString());
    case ParamType::Integer:
        break;
    }
    bool whole = false;
    const qlonglong number = given.toString().trimmed().toLongLong(&whole);
    return whole ? ParamValue(static_cast<std::int64_t>(number)) : ParamValue(given.toString().trimmed().toStdString());
}

PropertyKind kindOf(ParamType type)
{
    switch (type) {
    case ParamType::Flag:
        return PropertyKind::Toggle;
    case ParamType::Integer:
    case ParamType::Rank:
        return PropertyKind::Size;
    case ParamType::Real:
        return PropertyKind::Real;
    case ParamType::Choice:
        return PropertyKind::Choice;
    case ParamType::Text:
    case ParamType::Formula:
        return PropertyKind::Text;
    }
    return PropertyKind::Text;
}

QString textOf(const Error& error)
{
    return QString::fromStdString(error.place.empty() ? error.message : error.place + ": " + error.message);
}

/// Checks a size or rank: a number, one of the words, or a formula over the named sizes.
QString problemWithSize(const ParamSpec& spec, const Result<projects::Sizes>& sizes, const QString& text)
{
    const ParamValue value = fromVariant(spec, text);
    if (!sizes && std::holds_alternative<std::string>(value)) {
        return {}; // the width or the data is invalid, which is reported there
    }
    const auto evaluated = projects::evaluateParam(spec, value, sizes ? *sizes : projects::Sizes{});
    return evaluated ? QString() : QString::fromStdString(evaluated.error().message);
}

QString problemWithFormula(const QString& text)
{
    const auto formula = projects::parseExpression(text.toStdString());
    if (!formula) {
        return textOf(formula.error());
    }
    return projects::namesIn(*formula).empty() ? Text::tr("It reads no input: a name in it is an input port.")
                                               : QString();
}

Property paramProperty(const Project& project, const NodePlace& place, const Node& node, const ParamSpec& spec,
                       const Result<projects::Sizes>& sizes)
{
    const auto given = node.params.find(spec.name());
    Property property = propertyFor(spec);
    property.key = "param." + spec.name();
    property.pointer = pointerOf(project, place) + "/params/" + projects::pointerToken(spec.name());
    property.kind = kindOf(spec.type);
    property.defaultValue = toVariant(spec, spec.defaultValue);
    property.value = given == node.params.end() ? property.defaultValue : toVariant(spec, given->second);
    for (const std::string& choice : spec.choices) {
        property.choices << QString::fromStdString(choice);
    }
    if (spec.type == ParamType::Integer || spec.type == ParamType::Rank) {
        property.check = [spec, sizes](const QString& text) { return problemWithSize(spec, sizes, text); };
    } else if (spec.type == ParamType::Formula) {
        property.check = problemWithFormula;
    }
    property.edit = [place, spec](const Project&, const QVariant& value) -> Result<projects::Edit> {
        if (spec.type == ParamType::Choice &&
            (value.toInt() < 0 || value.toInt() >= static_cast<int>(spec.choices.size()))) {
            return Error{std::string(spec.title), "expected one of its choices"};
        }
        ParamValue wanted = fromVariant(spec, value);
        std::optional<ParamValue> stored;
        if (wanted != spec.defaultValue) { // the file contains only values that differ
            stored = std::move(wanted);
        }
        return projects::Edit{projects::SetParam{place.graph, place.node, spec.name(), std::move(stored)}};
    };
    return property;
}

/// Makes a choice of a property that is the name of a value. `none` is the title of the empty name, if it is allowed. A
/// name that is not among the values stays a choice, because it may be the error.
void chooseAmong(Property& property, std::vector<std::string> values, const QString& none = {})
{
    const std::string now = property.value.toString().toStdString();
    if (!none.isEmpty()) {
        values.insert(values.begin(), std::string());
    }
    if (std::ranges::find(values, now) == values.end()) {
        values.push_back(now);
    }
    property.kind = PropertyKind::Choice;
    property.value = static_cast<int>(std::ranges::find(values, now) - values.begin());
    property.defaultValue = none.isEmpty() ? QVariant() : QVariant(0);
    for (const std::string& value : values) {
        property.choices << (value.empty() ? none : QString::fromStdString(value));
    }
    property.edit = [values, pointer = property.key](const Project& project,
                                                     const QVariant& given) -> Result<projects::Edit> {
        const auto index = static_cast<std::size_t>(given.toInt());
        if (index >= values.size()) {
            return Error{pointer, "expected a value of a tower"};
        }
        return projects::fieldEdit(project, pointer, values[index]);
    };
}

/// Returns the property of the names of the trained towers.
Property trainsProperty(const Project& project, const LossPlace& place)
{
    const std::string pointer = pointerOf(place) + "/trains";
    Property property = propertyFor(projects::findField(project, pointer).value().field);
    property.key = property.pointer = pointer;
    property.value = QString::fromStdString(joinedText(project.losses[place.loss].trains));
    property.defaultValue = QString();
    property.edit = [place](const Project& before, const QVariant& given) -> Result<projects::Edit> {
        std::vector<projects::Loss> losses = before.losses;
        std::vector<std::string>& trains = losses.at(place.loss).trains;
        trains.clear();
        for (const QString& name : given.toString().split(QLatin1Char(','), Qt::SkipEmptyParts)) {
            trains.push_back(name.trimmed().toStdString());
        }
        return projects::Edit{projects::SetLosses{std::move(losses)}};
    };
    return property;
}

} // namespace

bool isOfTowers(std::string_view pointer)
{
    constexpr std::string_view kOfTowers[] = {"/network/name",     "/network/input",       "/network/frozen",
                                              "/network/own_loss", "/network/loss_weight", kJudgedBy};
    return std::ranges::find(kOfTowers, pointer) != std::end(kOfTowers);
}

bool needsTowers(const Project& project, std::string_view pointer)
{
    return isOfTowers(pointer) && project.towers.empty() && project.losses.empty();
}

std::vector<Property> lossProperties(const Project& project, const LossPlace& place)
{
    const std::string pointer = pointerOf(place);
    Property name = propertyFor(projects::findField(project, pointer + "/name").value().field);
    name.key = name.pointer = pointer + "/name"; // required, and therefore not among fieldProperties()
    name.value = QString::fromStdString(project.losses[place.loss].name);
    name.edit = [pointer](const Project& before, const QVariant& given) {
        return projects::fieldEdit(before, pointer + "/name", given.toString().toStdString());
    };
    std::vector<Property> properties{std::move(name)};
    const std::map<std::string, projects::Shape> values = projects::valuesOf(project);
    const auto known = std::views::keys(values);
    std::vector<std::string> names(known.begin(), known.end());
    std::ranges::move(projects::exitNames(project), std::back_inserter(names));
    for (Property& property : fieldProperties(project, pointer)) {
        property.group.clear(); // the place is the loss
        if (property.key == pointer + "/output") {
            chooseAmong(property, names);
        } else if (property.key == pointer + "/target") {
            chooseAmong(property, names, Text::tr("The examples' target"));
        }
        properties.push_back(std::move(property));
    }
    properties.push_back(trainsProperty(project, place));
    return properties;
}

std::vector<Property> trainingProperties(const Project& project)
{
    std::vector<Property> properties = fieldProperties(project, "/training");
    const auto judge = std::ranges::find(properties, kJudgedBy, &Property::key);
    if (judge == properties.end()) {
        return properties;
    }
    if (needsTowers(project, kJudgedBy) && judge->isDefault()) {
        properties.erase(judge);
        return properties;
    }
    std::vector<std::string> names;
    for (std::size_t index = 0; index < projects::towerCount(project); ++index) {
        if (projects::towerAt(project, index).ownLoss != projects::OwnLoss::None) {
            names.push_back(projects::towerAt(project, index).name);
        }
    }
    chooseAmong(*judge, std::move(names), Text::tr("The first tower"));
    return properties;
}

std::vector<Property> networkProperties(const Project& project)
{
    const std::vector<StackSegment>& stack = project.stack().segments;
    std::vector<Property> properties = fieldProperties(project, "/network");
    std::erase_if(properties, [](const Property& property) { return property.key.starts_with("/network/loops/"); });
    std::erase_if(properties,
                  [&](const Property& property) { return needsTowers(project, property.key) && property.isDefault(); });
    for (Property& property : properties) {
        property.group.clear();
        if (property.key == "/network/name") {
            property.edit = [](const Project& view, const QVariant& given) -> Result<projects::Edit> {
                return projects::renameTower(view, given.toString().toStdString());
            };
        } else if (property.key == "/network/input") {
            chooseAmong(property, projects::readableValues(project), Text::tr("Examples"));
        }
    }
    for (std::size_t i = 0; i < stack.size(); ++i) {
        const auto repeat =
            std::ranges::find(properties, "/network/stack/" + std::to_string(i) + "/repeat", &Property::key);
        if (repeat != properties.end()) {
            repeat->title = stack.size() == 1 ? Text::tr("Depth")
                                              : Text::tr("Layers of “%1”").arg(QString::fromStdString(stack[i].block));
        }
    }
    return properties;
}

std::vector<Property> graphProperties(const Project&, const projects::GraphRef& graph)
{
    if (!graph.isBlock()) {
        return {};
    }
    const std::string name = graph.blockName();
    return {nameProperty(name, Text::tr("What layers call this block."), [name](std::string to) {
        return projects::RenameBlock{name, std::move(to)};
    })};
}

std::vector<Property> nodeProperties(const Project& project, const NodePlace& place)
{
    std::vector<Property> properties;
    const projects::Graph* graph = findGraph(project, place.graph);
    const Node* found = graph != nullptr ? graph->find(place.node) : nullptr;
    if (found == nullptr) {
        return properties;
    }
    const Node& node = *found;
    properties.push_back(nameProperty(node.name, Text::tr("Unique within the graph."), [place](std::string to) {
        return projects::RenameNode{place.graph, place.node, std::move(to)};
    }));
    if (const projects::NodeKind* kind = projects::findNodeKind(node.kind)) {
        const auto sizes = projects::sizesOf(project);
        for (const ParamSpec& spec : kind->params) {
            // A parameter without effect is shown only if the node sets it, because that may be the error.
            if (projects::appliesTo(spec, node) || node.params.contains(spec.name())) {
                properties.push_back(paramProperty(project, place, node, spec, sizes));
            }
        }
    }
    for (Property& wire : wireProperties(project, place)) {
        properties.push_back(std::move(wire));
    }
    return properties;
}

std::vector<Property> loopProperties(const Project& project, const LoopPlace& place)
{
    std::vector<Property> properties;
    for (const char* const end : {"/first", "/last"}) { // required, and therefore not among fieldProperties()
        const std::string pointer = pointerOf(place) + end;
        const projects::FieldEntry entry = projects::findField(project, pointer).value();
        Property& property = properties.emplace_back(propertyFor(entry.field));
        property.key = property.pointer = pointer;
        property.kind = PropertyKind::Integer;
        property.value = static_cast<qlonglong>(std::get<std::int64_t>(entry.value));
        property.range = projects::Range::within(1, static_cast<double>(project.stack().stored()));
        property.edit = [pointer](const Project& p, const QVariant& given) {
            return projects::fieldEdit(p, pointer, static_cast<std::int64_t>(given.toLongLong()));
        };
    }
    for (Property& property : fieldProperties(project, pointerOf(place))) {
        property.group.clear(); // the place is the loop
        properties.push_back(std::move(property));
    }
    return properties;
}

std::vector<Property> layersProperties(const Project& project, const LayersPlace& place)
{
    std::set<const projects::Block*> used;
    for (const std::int64_t layer : place.layers) {
        used.insert(project.network.blockOfLayer(layer));
    }
    Property property;
    property.key = "block";
    property.pointer = "/network/stack";
    property.title = Text::tr("Block");
    property.kind = PropertyKind::Choice;
    property.help = Text::tr("What the layer is made of.");
    property.value = -1;
    std::vector<std::string> names;
    for (const projects::Block& block : project.network.blocks) {
        if (used.size() == 1 && &block == *used.begin()) {
            property.value = static_cast<int>(names.size());
        }
        names.push_back(block.name);
        property.choices << QString::fromStdString(block.name);
    }
    property.edit = [names, layers = place.layers](const Project& p, const QVariant& given) -> Result<projects::Edit> {
        const auto index = static_cast<std::size_t>(given.toInt());
        if (index >= names.size()) {
            return Error{"layer", "expected a block"};
        }
        return projects::Edit{projects::stackWith(p.network, layers, names[index])};
    };
    std::vector<Property> properties{std::move(property)};
    if (place.layers.size() == 1) {
        for (Property& reads : readsProperty(project, place.layers.front())) {
            properties.push_back(std::move(reads));
        }
    }
    return properties;
}

} // namespace residua::app
