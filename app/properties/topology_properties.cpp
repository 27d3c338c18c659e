// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/property.h"

#include "app/properties/customisation.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/commands/commands.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/stream_start.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/library/schedule_presets.h"
#include "projects/model/topology.h"
#include "projects/schema/fields.h"
#include "projects/transfer/retrofit.h"

#include <QRegularExpression>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace residua::app {

namespace {

using projects::DepthMix;
using projects::ExplicitSources;
using projects::MultiStream;
using projects::Project;
using Text = PropertyText;

/// A change to explicit sources starts with the current sources.
void keepSources(Property& property)
{
    property.edit = [edit = property.edit](const Project& project, const QVariant& given) -> Result<projects::Edit> {
        Result<projects::Edit> changed = edit(project, given);
        projects::Document after{project, {}};
        if (!changed || !applyEdit(after, *changed)) {
            return changed;
        }
        projects::Topology topology = std::move(after.project.stack().topology);
        auto* const mix = std::get_if<DepthMix>(&topology.wiring);
        if (mix == nullptr || !std::holds_alternative<ExplicitSources>(mix->sources)) {
            return changed;
        }
        const auto& before = std::get<DepthMix>(project.stack().topology.wiring);
        mix->sources = RESIDUA_TRY(listedSources(before, projects::modulesOf(project)));
        return projects::Edit{projects::SetTopology{std::move(topology)}};
    };
}

/// Returns the fields of the preset's own wiring, which a reset restores. Empty if the preset is of another kind.
std::vector<Property> presetFields(const Project& project)
{
    for (projects::TopologyPreset& preset : projects::topologyPresets(project.network)) {
        if (preset.name == project.stack().topology.preset &&
            preset.wiring.index() == project.stack().topology.wiring.index()) {
            Project original = project; // some fields have a meaning only with other fields of the document
            original.stack().topology.wiring = std::move(preset.wiring);
            return fieldProperties(original, "/topology/wiring");
        }
    }
    return {};
}

Property presetProperty(const Project& project)
{
    const std::vector<projects::TopologyPreset> presets = projects::topologyChoices(project.network);
    Property property;
    property.key = "preset";
    property.pointer = "/topology";
    property.title = Text::tr("Preset");
    property.kind = PropertyKind::Choice;
    property.help = Text::tr("A wiring that people know by name; every field below can be changed.");
    for (const projects::TopologyPreset& preset : presets) {
        property.choices << QString::fromStdString(preset.title);
    }
    const std::optional<std::size_t> current = projects::presetIndexOf(project, presets);
    property.value = current ? static_cast<int>(*current) : -1;
    if (current && presets[*current].wiring != project.stack().topology.wiring) {
        property.group = customTitle(QString::fromStdString(presets[*current].title));
    }
    property.edit = [](const Project& p, const QVariant& given) -> Result<projects::Edit> {
        const auto known = projects::topologyChoices(p.network);
        const auto index = static_cast<std::size_t>(given.toInt());
        if (index >= known.size()) {
            return Error{"topology", "expected a preset"};
        }
        return projects::Edit{projects::wireAs(p, known[index]).edit};
    };
    return property;
}

/// Describes the distance of the streams' initial mixing matrix from the identity, which the schema cannot compute.
QString streamsNote(MultiStream wiring)
{
    wiring.streams = std::max<std::int64_t>(wiring.streams, 2);
    if (wiring.constraint != projects::StreamConstraint::Permutations) {
        wiring.constraint = projects::StreamConstraint::DoublyStochastic;
    }
    return Text::tr("A doubly stochastic exp(…) has no zeros: it starts %1 from the identity (‖H − I‖ / ‖I‖).")
        .arg(projects::streamStart(wiring).distance, 0, 'g', 2);
}

/// Returns the part of a reader's sources without a weight of its own, in brackets: the sum of the middle as "(1–5)",
/// or the newest entry if it is passed through. Empty if there is neither.
QString bracketed(const DepthMix& mix, const projects::DepthReader& reader)
{
    if (reader.passes) {
        return QStringLiteral("(%1)").arg(newestEntryBefore(mix, reader.target));
    }
    const auto& middle = reader.middle;
    return middle && std::ranges::binary_search(reader.sources, middle->first)
               ? QStringLiteral("(%1–%2)").arg(middle->first).arg(middle->last)
               : QString();
}

/// Returns the sources of a module as text for setSources().
QString sourcesText(const Project& project, const projects::DepthReader& reader)
{
    const auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
    auto words = mapped<QStringList>(reader.sources, [&](const std::int64_t source) {
        const QString name = QString::fromStdString(projects::shortcutName(project, {source, reader.target}));
        return reader.readsAlone(source) ? name.section(QLatin1Char(':'), 0, 0) : bracketed(mix, reader);
    });
    if (reader.passes) {
        words << bracketed(mix, reader);
    }
    return words.join(QLatin1Char(' '));
}

/// Returns the edit after which `module` reads exactly the sources in `text`.
Result<projects::Edit> setSources(const Project& project, std::int64_t module, const QString& text)
{
    static const QRegularExpression kSeparators(QStringLiteral("[\\s,;]+"));
    const auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
    const projects::DepthReader reader = readerOf(mix, module, projects::modulesOf(project));
    const std::int64_t newest = newestEntryBefore(mix, module);
    const QString unweighed = bracketed(mix, reader);
    bool keepsMiddle = false;
    std::set<std::int64_t> wanted;
    for (const QString& word : text.split(kSeparators, Qt::SkipEmptyParts)) {
        if (word == unweighed) {
            keepsMiddle = true;
            continue;
        }
        const auto source = projects::sourceFrom(word.toStdString(), project.stack(), mix, module);
        if (!source) {
            return Error{"layer " + projects::moduleName(project, module),
                         "cannot read “" + word.toStdString() + "”: expected " +
                             (project.stack().loops.empty() ? "numbers from 0 to " + std::to_string(newest)
                                                            : "what runs before it, such as 0, 2 or 2@1")};
        }
        wanted.insert(*source);
    }
    const auto middle = keepsMiddle ? projects::SummedMiddle::Kept : projects::SummedMiddle::Dropped;
    return projects::readsEdit(project, module, wanted, middle).value_or(projects::EditGroup{});
}

} // namespace

std::vector<Property> topologyProperties(const Project& project)
{
    const std::vector<Property> original = presetFields(project);
    std::vector<Property> properties{presetProperty(project)};
    for (Property& property : fieldProperties(project, "/topology/wiring")) {
        if (property.key == "/topology/wiring/kind") {
            continue; // it is set by the preset
        }
        if (const auto own = std::ranges::find(original, property.key, &Property::key); own != original.end()) {
            property.defaultValue = own->value;
        }
        if (property.key == "/topology/wiring/sources/kind") {
            keepSources(property);
        } else if (property.key == "/topology/wiring/constraint") {
            property.help += QLatin1Char(' ') + streamsNote(std::get<MultiStream>(project.stack().topology.wiring));
        }
        properties.push_back(std::move(property));
    }
    return properties;
}

std::vector<Property> readsProperty(const Project& project, std::int64_t layer)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (!mix) {
        return {};
    }
    const std::int64_t each = projects::modulesPerLayer(project);
    std::vector<Property> properties;
    for (std::int64_t module = projects::firstModule(layer, each); module <= projects::lastModule(layer, each);
         ++module) {
        const projects::LayerPart part = projects::partOf(module, each);
        Property property;
        property.key = each == 1 ? "reads" : "reads." + std::to_string(module);
        property.pointer = "/topology/wiring/sources";
        property.title = part == projects::LayerPart::Whole       ? Text::tr("Reads")
                         : part == projects::LayerPart::Attention ? Text::tr("Attention reads")
                                                                  : Text::tr("FFN reads");
        property.value = sourcesText(project, readerOf(*mix, module, projects::modulesOf(project)));
        property.help = each == 1
                            ? Text::tr("The stack entries that reach this layer: 0 is the stack's input, 1 what layer "
                                       "1 puts there. Add or take away numbers to add or remove shortcuts.")
                            : Text::tr("The stack entries that reach this half of the layer: 0 is the stack's input, "
                                       "2j − 1 what follows the attention of layer j, 2j its output. Add or take away "
                                       "numbers to add or remove shortcuts.");
        if (mix->blockLayers > 1) {
            property.help +=
                QLatin1Char(' ') + Text::tr("Here %1 of these share an entry, and b stands for the b-th %1 of them.")
                                       .arg(mix->blockLayers);
        }
        if (!project.stack().loops.empty()) {
            property.help +=
                QLatin1Char(' ') + Text::tr("In a loop, 2@1 is the first visit of 2, and 2 the latest one.");
        }
        property.help += QLatin1Char(' ') + Text::tr("In brackets stands what has no shortcut of its own: the sum of "
                                                     "several, or the newest entry read as it is, without a weight.");
        property.edit = [module](const Project& p, const QVariant& given) {
            return setSources(p, module, given.toString());
        };
        properties.push_back(std::move(property));
    }
    return properties;
}

namespace {

/// Returns the row of the value that frozen shortcuts keep; nullopt if one of them is not frozen.
std::optional<Property> heldProperty(const DepthMix& mix, const std::vector<projects::Shortcut>& shortcuts)
{
    using projects::ShortcutState;
    const auto textOf = [](const ShortcutState& state) {
        return state.hold == ShortcutState::Hold::Number    ? QString::fromStdString(numberText(state.number))
               : state.hold == ShortcutState::Hold::Learned ? Text::tr("learned")
                                                            : QString();
    };
    std::set<QString> texts;
    for (const projects::Shortcut& shortcut : shortcuts) {
        const auto found = mix.states.find(shortcut);
        if (found == mix.states.end() || !(found->second == ShortcutState::Frozen)) {
            return std::nullopt;
        }
        texts.insert(textOf(found->second));
    }
    Property property;
    property.key = "held";
    property.pointer = "/topology/wiring/states";
    property.title = Text::tr("Held at");
    property.kind = PropertyKind::Text;
    property.value = texts.size() == 1 ? *texts.begin() : QString();
    property.defaultValue = QString();
    property.help = Text::tr("The coefficient, before a softmax: a number, “learned” for that of the checkpoint in a "
                             "fork or retrofit, or nothing for the value that training begins with.");
    property.edit = [shortcuts](const Project&, const QVariant& given) -> Result<projects::Edit> {
        const QString typed = given.toString().trimmed();
        bool isNumber = false;
        const double number = typed.toDouble(&isNumber);
        const bool isLearned = typed == Text::tr("learned") || typed == QLatin1String("learned");
        if (!typed.isEmpty() && !isLearned && !(isNumber && std::isfinite(number))) {
            return Error{"held at", "got \"" + typed.toStdString() + "\", expected a number, learned or nothing"};
        }
        projects::EditGroup group{"Set the value of " + std::to_string(shortcuts.size()) + " frozen shortcuts", {}};
        for (const projects::Shortcut& shortcut : shortcuts) {
            const ShortcutState state = isLearned  ? ShortcutState::frozenAsLearned()
                                        : isNumber ? ShortcutState::frozenAt(number)
                                                   : ShortcutState(ShortcutState::Frozen);
            group.edits.emplace_back(projects::SetShortcutState{shortcut, state});
        }
        return group.edits.size() == 1 ? group.edits.front() : projects::Edit(std::move(group));
    };
    return property;
}

} // namespace

std::vector<Property> shortcutsProperties(const Project& project, const ShortcutsPlace& place)
{
    const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (!mix || place.shortcuts.empty()) {
        return {};
    }
    const auto stateOf = [](const DepthMix& m, const projects::Shortcut& shortcut) {
        const auto found = m.states.find(shortcut);
        return found == m.states.end() ? 0 : static_cast<int>(found->second.kind) + 1;
    };
    auto states = mapped<std::set<int>>(place.shortcuts,
                                        [&](const projects::Shortcut& shortcut) { return stateOf(*mix, shortcut); });
    Property property;
    property.key = "state";
    property.pointer = "/topology/wiring/states";
    property.title = Text::tr("State");
    property.kind = PropertyKind::Choice;
    property.value = states.size() == 1 ? *states.begin() : -1;
    property.defaultValue = 0;
    property.help =
        Text::tr("As in the topology, frozen at its value (F), pruned (Delete), or learned where the rest is fixed.");
    property.choices = {Text::tr("As in the topology")};
    for (const projects::Choice& state : projects::shortcutStates()) {
        property.choices << schemaLine(state.title);
    }
    property.edit = [shortcuts = place.shortcuts](const Project& p, const QVariant& given) -> Result<projects::Edit> {
        std::optional<projects::ShortcutState> state;
        if (given.toInt() > 0) {
            state = static_cast<projects::ShortcutState::Kind>(given.toInt() - 1);
        }
        auto change = projects::setShortcutState(p, {.shortcuts = {shortcuts.begin(), shortcuts.end()}}, state);
        return change ? Result<projects::Edit>(std::move(change->edit)) : change.error();
    };
    std::vector<Property> properties{std::move(property)};
    if (auto held = heldProperty(*mix, place.shortcuts)) {
        properties.push_back(*std::move(held));
    }
    return properties;
}

} // namespace residua::app
