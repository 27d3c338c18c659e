// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweeps/sweep_fields.h"

#include "projects/depth/depth_names.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/schema/fields.h"
#include "projects/studies/sweep_grid.h"

#include <QCoreApplication>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace residua::app {

namespace {

using nlohmann::json;
using projects::SweepAxis;
using projects::SweepValue;

constexpr const char* kTopology = "/topology";
constexpr std::int64_t kLongestHop = 4; ///< of the proposed i:i+k

struct Text {
    Q_DECLARE_TR_FUNCTIONS(Sweeps)
};

/// The document after `value` was set; nullopt where it is refused.
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

/// Other values of a property, the present one among them where it is a number.
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

SweepValue number(double value)
{
    return {{}, {json(value).dump()}};
}

std::vector<ValueProposal> topologyProposals(const projects::Project& project)
{
    const std::int64_t depth = project.network.depth();
    ValueProposal presets{Text::tr("Every topology preset"), {}};
    for (const projects::TopologyPreset& preset : projects::topologyChoices(depth)) {
        presets.values.push_back({{}, {json(preset.name).dump()}});
    }
    ValueProposal hops{Text::tr("All shortcuts i:i+k, for k = 1, 2, …"), {}};
    for (std::int64_t k = 1; k <= std::min(kLongestHop, depth); ++k) {
        std::string shortcuts;
        for (std::int64_t i = 0; i + k <= depth; ++i) {
            shortcuts += (i == 0 ? "" : "+") + nameOf(projects::Shortcut{i, i + k});
        }
        hops.values.push_back({"i:i+" + std::to_string(k), {json(shortcuts).dump()}});
    }
    ValueProposal single{Text::tr("One shortcut from the input, 0:j, for each j"), {}};
    for (std::int64_t j = 1; j <= depth && j <= 32; ++j) {
        single.values.push_back({{}, {json(nameOf(projects::Shortcut{0, j})).dump()}});
    }
    return {presets, hops, single};
}

std::vector<ValueProposal> numberProposals(const json& present)
{
    const bool whole = present.is_number_integer();
    const double base = present.get<double>() == 0 ? 1 : present.get<double>();
    const auto around = [&](QString title, std::initializer_list<double> factors) {
        ValueProposal proposal{std::move(title), {}};
        for (const double factor : factors) {
            const SweepValue value =
                whole ? SweepValue{{}, {json(std::llround(base * factor)).dump()}} : number(base * factor);
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
    if (whole) {
        ValueProposal following{Text::tr("Five whole numbers from the present one"), {}};
        for (std::int64_t i = 0; i < 5; ++i) {
            following.values.push_back({{}, {json(present.get<std::int64_t>() + i).dump()}});
        }
        proposals.push_back(std::move(following));
    }
    return proposals;
}

} // namespace

QStringList sweepableFields(const projects::Project& project)
{
    QStringList fields{QString::fromLatin1(kTopology)};
    for (const projects::FieldEntry& entry : projects::fieldsOf(project)) {
        if (isSweepable(entry)) {
            fields << QString::fromStdString(wholeOf(entry));
        }
    }
    return fields;
}

std::string valueAt(const projects::Project& project, const std::string& pointer)
{
    const auto held = projects::fieldAt(project, pointer);
    return held ? json::parse(held->json, nullptr, false).dump() : std::string(); // in the form of what is typed
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
    if (pointer == kTopology) {
        return topologyProposals(project);
    }
    const json present = json::parse(valueAt(project, pointer), nullptr, false);
    if (present.is_number()) {
        return numberProposals(present);
    }
    if (present.is_boolean()) {
        return {{Text::tr("Both"), {{{}, {"false"}}, {{}, {"true"}}}}};
    }
    return {};
}

QString textOf(const std::vector<SweepValue>& values)
{
    QStringList texts;
    for (const SweepValue& value : values) {
        const json parsed = json::parse(value.value.json, nullptr, false);
        const bool plain =
            parsed.is_string() && parsed.get<std::string>().find_first_of(",[]{}\" ") == std::string::npos;
        texts << QString::fromStdString(plain ? parsed.get<std::string>() : value.value.json);
    }
    return texts.join(QStringLiteral(", "));
}

std::vector<SweepValue> valuesFrom(const QString& text, const std::vector<SweepValue>& known)
{
    std::vector<SweepValue> values = projects::axisFrom("/=" + text.toStdString()).values;
    for (SweepValue& value : values) {
        const std::string typed = QString::fromStdString(value.value.json).trimmed().toStdString();
        const json parsed = json::parse(typed, nullptr, false);
        value.value.json = parsed.is_discarded() ? json(typed).dump() : parsed.dump();
        const auto before = std::ranges::find(known, value.value, &SweepValue::value);
        value.label = before == known.end() ? std::string() : before->label;
    }
    std::erase_if(values, [](const SweepValue& value) { return value.value.json == "\"\""; });
    return values;
}

} // namespace residua::app
