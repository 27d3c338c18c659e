// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweeps/sweep_fields.h"

#include "app/palette/palette_model.h"
#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/schema/fields.h"
#include "projects/studies/sweep_grid.h"
#include "projects/transfer/retrofit.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace residua::app {

namespace {

using projects::JsonValue;
using projects::SweepAxis;
using projects::SweepValue;

constexpr std::int64_t kLongestHop = 4; ///< maximum k of the proposed i:i+k
constexpr int kProposedSeeds = 10;
constexpr int kDigits = 6;                                         ///< of a proposed number
constexpr double kTickedFactors[] = {0.1, 0.25, 0.5, 1, 2, 4, 10}; ///< of the present value

struct Text {
    Q_DECLARE_TR_FUNCTIONS(Sweeps)
};

/// Returns the document after `value` was set; nullopt if that fails.
std::optional<projects::Project> projectWith(const projects::Project& project, const Property& property,
                                             const QVariant& value)
{
    const auto edit = property.edit(project, value);
    projects::Document document{project, {}};
    if (!edit || !projects::applyEdit(document, *edit)) {
        return std::nullopt;
    }
    return std::move(document.project);
}

/// Returns other values of a property, including the current one for numbers.
std::vector<QVariant> alternativesOf(const Property& property)
{
    std::vector<QVariant> values;
    switch (property.kind) {
    case PropertyKind::Toggle:
        return {false, true};
    case PropertyKind::Choice:
        for (int i = 0; i < property.choices.size(); ++i) {
            values.emplace_back(i);
        }
        return values;
    case PropertyKind::Integer:
    case PropertyKind::Real:
        for (const double factor : {0.5, 1.0, 2.0}) {
            const double present = property.value.toDouble();
            const double value = present == 0 ? factor - 0.5 : present * factor;
            values.emplace_back(property.kind == PropertyKind::Integer ? QVariant(qlonglong(std::llround(value)))
                                                                       : QVariant(value));
        }
        return values;
    case PropertyKind::Size:
        for (const int factor : {1, 2}) {
            values.emplace_back(factor == 1 ? property.value.toString()
                                            : QStringLiteral("2*(%1)").arg(property.value.toString()));
        }
        return values;
    case PropertyKind::Text:
    case PropertyKind::File:
        return {property.value, property.value.toString() + QStringLiteral("2")};
    }
    return values;
}

template <class T>
SweepValue sweepValue(const T& value, std::string label = {})
{
    return {std::move(label), {lineOf(JsonValue{.data = value})}};
}

/// Returns the value of a JSON text, or null if it is not JSON.
JsonValue valueOf(const std::string& text)
{
    Result<JsonValue> value = projects::parseJson(text);
    return value ? *std::move(value) : JsonValue{};
}

std::vector<ValueProposal> topologyProposals(const projects::Project& project)
{
    const std::int64_t depth = project.network.depth();
    ValueProposal presets{Text::tr("Every topology preset"), {}};
    for (const projects::TopologyPreset& preset : projects::topologyChoices(depth)) {
        presets.values.push_back(sweepValue(preset.name));
    }
    ValueProposal hops{Text::tr("All shortcuts i:i+k, for k = 1, 2, …"), {}};
    for (std::int64_t k = 1; k <= std::min(kLongestHop, depth); ++k) {
        std::string shortcuts;
        for (std::int64_t i = 0; i + k <= depth; ++i) {
            shortcuts += (i == 0 ? "" : "+") + nameOf(projects::Shortcut{i, i + k});
        }
        hops.values.push_back(sweepValue(shortcuts, "i:i+" + std::to_string(k)));
    }
    ValueProposal single{Text::tr("One shortcut from the input, 0:j, for each j"), {}};
    for (std::int64_t j = 1; j <= depth && j <= 32; ++j) {
        single.values.push_back(sweepValue(nameOf(projects::Shortcut{0, j})));
    }
    return {presets, hops, single};
}

SweepValue scaledValue(double scaled, bool isWhole)
{
    const double rounded = numberFrom<double>(numberText(scaled, kDigits)).value_or(scaled);
    return isWhole ? sweepValue(std::int64_t{std::llround(scaled)}) : sweepValue(rounded);
}

std::optional<double> numberOf(const SweepValue& value)
{
    const JsonValue parsed = valueOf(value.value.json);
    if (const auto* const whole = std::get_if<std::int64_t>(&parsed.data)) {
        return static_cast<double>(*whole);
    }
    const auto* const real = std::get_if<double>(&parsed.data);
    return real != nullptr ? std::optional(*real) : std::nullopt;
}

/// `whole` is the current value if it is an integer, else null.
std::vector<ValueProposal> numberProposals(double present, const std::int64_t* whole)
{
    const double base = present == 0 ? 1 : present;
    const auto around = [&](QString title, std::initializer_list<double> factors) {
        ValueProposal proposal{std::move(title), {}};
        for (const double factor : factors) {
            const SweepValue value = scaledValue(base * factor, whole != nullptr);
            if (std::ranges::find(proposal.values, value) == proposal.values.end()) {
                proposal.values.push_back(value);
            }
        }
        return proposal;
    };
    std::vector<ValueProposal> proposals{
        around(Text::tr("½, 1 and 2 times the present value"), {0.5, 1, 2}),
        around(Text::tr("⅟₄ to 4 times, five values"), {0.25, 0.5, 1, 2, 4}),
        around(Text::tr("A tenth to ten times, five values"), {0.1, 0.316227766, 1, 3.16227766, 10})};
    if (whole != nullptr) {
        ValueProposal following{Text::tr("Five whole numbers from the present one"), {}};
        for (std::int64_t i = 0; i < 5; ++i) {
            following.values.push_back(sweepValue(*whole + i));
        }
        proposals.push_back(std::move(following));
    }
    return proposals;
}

std::vector<ValueTick> ticksOf(const std::vector<SweepValue>& values)
{
    std::vector<ValueTick> ticks;
    for (const SweepValue& value : values) {
        ticks.push_back({value, QString::fromStdString(labelOf(value)), {}, {}});
    }
    return ticks;
}

std::vector<ValueTick> topologyTicks(const projects::Project& project, const PaletteModel& palette)
{
    std::vector<ValueTick> ticks;
    const QModelIndex topologies = palette.index(0, 0);
    for (int row = 0; row < palette.rowCount(topologies); ++row) {
        const QModelIndex topology = palette.index(row, PaletteModel::Name, topologies);
        const PaletteItem& item = *palette.itemAt(topology);
        ticks.push_back({sweepValue(item.key), item.title,
                         topology.siblingAtColumn(PaletteModel::Added).data().toString(),
                         topology.data(Qt::ToolTipRole).toString()});
    }
    if (std::ranges::any_of(ticks, [](const ValueTick& tick) { return !tick.price.isEmpty(); })) {
        for (ValueTick& tick : ticks) { // the prices are known
            tick.price = tick.price.isEmpty() ? Text::tr("does not fit") : tick.price;
        }
    }
    const SweepValue present = presentTopology(project);
    if (std::ranges::find(ticks, present, &ValueTick::value) == ticks.end()) {
        ticks.insert(ticks.begin(), {present, QString::fromStdString(labelOf(present)), {}, {}});
    }
    return ticks;
}

} // namespace

std::vector<SweepField> sweepableFields(const projects::Project& project)
{
    std::vector<SweepField> fields;
    for (const char* const whole : {kTopologyField, kSeedsField}) {
        fields.push_back({QString::fromLatin1(whole), titleOfField(project, whole)});
    }
    for (const projects::FieldEntry& entry : projects::fieldsOf(project)) {
        if (isSweepable(entry)) {
            fields.push_back({QString::fromStdString(wholeOf(entry)), QString::fromStdString(entry.place)});
        }
    }
    return fields;
}

std::string valueAt(const projects::Project& project, const std::string& pointer)
{
    const auto held = projects::fieldAt(project, pointer);
    return held ? held->json : std::string();
}

QString titleOfField(const projects::Project& project, const std::string& pointer)
{
    if (pointer == kTopologyField || pointer == kSeedsField) {
        return pointer == kTopologyField ? Text::tr("Topology") : Text::tr("Seeds");
    }
    const auto entry = projects::findField(project, pointer);
    const auto part = entry ? entry : projects::findField(project, pointer + "/kind");
    return QString::fromStdString(part ? part->place : pointer);
}

SweepValue presentTopology(const projects::Project& project)
{
    const auto presets = projects::topologyChoices(project.network);
    const auto at = projects::presetIndexOf(project, presets);
    if (at && (presets[*at].wiring == project.stack().topology.wiring || !presets[*at].schedule.empty())) {
        return sweepValue(presets[*at].name);
    }
    return {Text::tr("this project's").toStdString(), {valueAt(project, kTopologyField)}};
}

SweepAxis seedAxis(int count)
{
    SweepAxis axis{kSeedsField, {}, {}};
    for (std::int64_t seed = 1; seed <= count; ++seed) {
        axis.values.push_back(sweepValue(seed));
    }
    return axis;
}

SweepAxis axisOver(const projects::Project& project, const std::string& pointer)
{
    const auto proposals = proposalsFor(project, pointer);
    return {pointer, projects::placeInSection(project, pointer),
            proposals.empty() ? std::vector<SweepValue>() : proposals.front().values};
}

std::vector<ValueTick> ticksFor(const projects::Project& project, const SweepAxis& axis, const PaletteModel& palette)
{
    if (axis.field == kTopologyField) {
        return topologyTicks(project, palette);
    }
    if (axis.field == kSeedsField) {
        return ticksOf(seedAxis(kProposedSeeds).values);
    }
    const SweepValue present{{}, {valueAt(project, axis.field)}};
    const std::optional<double> number = numberOf(present);
    if (!number) {
        const bool isFlag = present.value.json == "true" || present.value.json == "false";
        return isFlag ? ticksOf({{{}, {"false"}}, {{}, {"true"}}}) : std::vector<ValueTick>();
    }
    std::vector<SweepValue> values = axis.values;
    const bool isWhole = std::holds_alternative<std::int64_t>(valueOf(present.value.json).data);
    for (const double factor : kTickedFactors) {
        const SweepValue value = scaledValue((*number == 0 ? 1 : *number) * factor, isWhole);
        const bool isKnown = std::ranges::find(values, value.value, &SweepValue::value) != values.end();
        const bool isNothing = isWhole && *number > 0 && numberOf(value) < 1; // such as a tenth of a layer
        if (!isKnown && !isNothing) {
            values.push_back(value);
        }
    }
    std::ranges::stable_sort(values, {}, [](const SweepValue& value) { return numberOf(value).value_or(0); });
    return ticksOf(values);
}

std::optional<SweepAxis> sweepAxisOf(const projects::Project& project, const Property& property)
{
    if (property.pointer.empty()) {
        return std::nullopt;
    }
    SweepAxis axis{property.pointer, property.title.toStdString(), {}};
    for (const QVariant& value : alternativesOf(property)) {
        const std::optional<projects::Project> changed = projectWith(project, property, value);
        const std::string made = changed ? valueAt(*changed, axis.field) : std::string();
        const auto same = [&](const SweepValue& other) { return other.value.json == made; };
        if (made.empty() || std::ranges::any_of(axis.values, same)) {
            continue;
        }
        const bool named = property.kind == PropertyKind::Choice;
        axis.values.push_back({named ? property.choices.at(value.toInt()).toStdString() : std::string(), {made}});
    }
    return axis.values.empty() ? std::nullopt : std::optional(std::move(axis));
}

std::vector<ValueProposal> proposalsFor(const projects::Project& project, const std::string& pointer)
{
    if (pointer == kTopologyField) {
        return topologyProposals(project);
    }
    if (pointer == kSeedsField) {
        std::vector<ValueProposal> proposals;
        for (const int count : {3, 5, kProposedSeeds}) {
            proposals.push_back({Text::tr("%n seeds", nullptr, count), seedAxis(count).values});
        }
        return proposals;
    }
    const JsonValue present = valueOf(valueAt(project, pointer));
    if (const auto* const whole = std::get_if<std::int64_t>(&present.data)) {
        return numberProposals(static_cast<double>(*whole), whole);
    }
    if (const auto* const real = std::get_if<double>(&present.data)) {
        return numberProposals(*real, nullptr);
    }
    if (std::holds_alternative<bool>(present.data)) {
        return {{Text::tr("Both"), {{{}, {"false"}}, {{}, {"true"}}}}};
    }
    return {};
}

QString textOf(const std::vector<SweepValue>& values)
{
    QStringList texts;
    for (const SweepValue& value : values) {
        const JsonValue parsed = valueOf(value.value.json);
        const auto* const word = std::get_if<std::string>(&parsed.data);
        const bool plain = word != nullptr && word->find_first_of(",[]{}\" ") == std::string::npos;
        texts << QString::fromStdString(plain ? *word : value.value.json);
    }
    return texts.join(QStringLiteral(", "));
}

std::vector<SweepValue> valuesFrom(const QString& text, const std::vector<SweepValue>& known)
{
    std::vector<SweepValue> values = projects::sweepValuesFrom(text.toStdString());
    for (SweepValue& value : values) {
        const auto before = std::ranges::find(known, value.value, &SweepValue::value);
        value.label = before == known.end() ? std::string() : before->label;
    }
    return values;
}

} // namespace residua::app
