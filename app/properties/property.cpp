// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/property.h"

#include "app/look/format.h"

#include <algorithm>
#include <utility>

namespace residua::app {
namespace {

QString textOf(const Property& property, const QVariant& value)
{
    switch (property.kind) {
    case PropertyKind::Toggle:
        return value.toBool() ? PropertyText::tr("on") : PropertyText::tr("off");
    case PropertyKind::Integer:
        return formatWhole(value.toLongLong());
    case PropertyKind::Real:
        return formatReal(value.toDouble());
    case PropertyKind::Choice:
        return property.choices.value(value.toInt());
    case PropertyKind::Size:
    case PropertyKind::Text:
    case PropertyKind::File:
        return value.toString();
    }
    return {};
}

QString withUnit(const QString& text, const QString& unit)
{
    return unit.isEmpty() || text.isEmpty() ? text : text + QLatin1Char(' ') + unit;
}

std::vector<Property> dataProperties(const projects::Project& project)
{
    std::vector<Property> properties = fieldProperties(project, "/data");
    const auto kind = std::ranges::find(properties, "/data/source/tokeniser/kind", &Property::key);
    // A tokeniser is trained on a single text.
    const bool mixture = std::holds_alternative<projects::MixtureData>(project.data.source);
    if (kind != properties.end() && !mixture) {
        kind->offer = PropertyText::tr("Train one…");
    }
    return properties;
}

std::vector<Property> sectionProperties(const projects::Project& project, Section section)
{
    switch (section) {
    case Section::Data:
        return dataProperties(project);
    case Section::Network:
        return networkProperties(project);
    case Section::Topology:
        return topologyProperties(project);
    case Section::Runs:
        return {};
    case Section::Training:
        return trainingProperties(project);
    case Section::Schedule:
    case Section::Initialisation:
    case Section::Seeds:
        break;
    }
    return fieldProperties(project, "/" + keyOf(section));
}

} // namespace

QString Property::valueText() const
{
    return withUnit(textOf(*this, value), unit);
}

QString Property::toolTip() const
{
    QStringList lines;
    if (!help.isEmpty()) {
        lines << help;
    }
    if (const QString text = textOf(*this, defaultValue); defaultValue.isValid() && !text.isEmpty()) {
        lines << PropertyText::tr("Default: %1").arg(withUnit(text, unit));
    }
    if (!paper.isEmpty()) {
        lines << PropertyText::tr("In the papers: %1").arg(paper);
    }
    return lines.join(QLatin1Char('\n'));
}

std::vector<Property> propertiesOf(const projects::Project& project, const Place& place)
{
    if (!exists(project, place)) {
        return {};
    }
    if (const auto* section = std::get_if<SectionPlace>(&place)) {
        return sectionProperties(project, section->section);
    }
    if (const auto* graph = std::get_if<GraphPlace>(&place)) {
        return graphProperties(project, graph->graph);
    }
    if (const auto* node = std::get_if<NodePlace>(&place)) {
        return nodeProperties(project, *node);
    }
    if (const auto* loop = std::get_if<LoopPlace>(&place)) {
        return loopProperties(project, *loop);
    }
    if (const auto* loss = std::get_if<LossPlace>(&place)) {
        return lossProperties(project, *loss);
    }
    if (std::holds_alternative<TowerPlace>(place)) {
        std::vector<Property> ofTower = networkProperties(project);
        std::erase_if(ofTower, [](const Property& property) { return !isOfTowers(property.key); });
        return ofTower;
    }
    if (const auto* layers = std::get_if<LayersPlace>(&place)) {
        return layersProperties(project, *layers);
    }
    if (const auto* shortcuts = std::get_if<ShortcutsPlace>(&place)) {
        return shortcutsProperties(project, *shortcuts);
    }
    std::vector<Property> properties;
    for (const char* const field : {"/name", "/description"}) {
        for (Property& property : fieldProperties(project, field)) {
            property.defaultValue = QVariant();
            properties.push_back(std::move(property));
        }
    }
    return properties;
}

} // namespace residua::app
