// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/properties/property_list.h"

#include "projects/depth/depth_names.h"
#include "projects/depth/stream_start.h"
#include "projects/model/topology.h"

#include <QRegularExpression>

#include <algorithm>
#include <set>

namespace residua::app {

namespace {

using projects::BranchGate;
using projects::DepthMix;
using projects::Dilated;
using projects::ExplicitSources;
using projects::FirstAndLast;
using projects::MultiStream;
using projects::Project;
using projects::SourceSet;
using projects::Wiring;
using Text = PropertyText;

/// Every pair that the rule lets through now, so that a change of rule to "explicit" changes nothing else.
ExplicitSources explicitFrom(const DepthMix& mix, std::int64_t depth)
{
    ExplicitSources sources;
    for (std::int64_t target = 1; target <= depth + 1; ++target) {
        for (const std::int64_t source : sourcesOf(mix, target, depth)) {
            sources.shortcuts.push_back({source, target});
        }
    }
    return sources;
}

SourceSet sourcesOfKind(const DepthMix& mix, int kind, std::int64_t depth)
{
    switch (kind) {
    case 0:
        return projects::AllSources{};
    case 1:
        return FirstAndLast{};
    case 2:
        return Dilated{};
    default:
        return explicitFrom(mix, depth);
    }
}

void addSources(PropertyList<Wiring>& list, const Project& project)
{
    const auto& mix = std::get<DepthMix>(list.current());
    list.group(Text::tr("What is read"));
    list.add("entry", Text::tr("Layers put on the stack"),
             [](auto& w) -> auto& { return alternative<DepthMix>(w).entry; },
             {.help = Text::tr("Their branch f(x) alone, or their full output."),
              .paper = Text::tr("branch: GRN, DCA; full output: ANCRe, DenseFormer, MUDD"),
              .choices = {Text::tr("Branch"), Text::tr("Full output")}});
    list.addChoice(
        "sources", Text::tr("Sources"), static_cast<int>(mix.sources.index()), 0,
        {.help = Text::tr("Which earlier entries a layer may read."),
         .choices = {Text::tr("All"), Text::tr("First and last k"), Text::tr("Dilated"), Text::tr("Chosen i:j")}},
        [depth = project.network.depth()](Wiring& wiring, int kind) {
            auto& changed = alternative<DepthMix>(wiring);
            changed.sources = sourcesOfKind(changed, kind, depth);
        });
    if (std::holds_alternative<FirstAndLast>(mix.sources)) {
        list.add("sources.k", Text::tr("Last k"),
                 [](auto& w) -> auto& { return alternative<FirstAndLast>(alternative<DepthMix>(w).sources).k; },
                 {.unit = Text::tr("entries"),
                  .help = Text::tr("Entries read singly; the middle is read as one sum."),
                  .paper = QStringLiteral("2 (k-DCA)"),
                  .minimum = 1});
    } else if (std::holds_alternative<Dilated>(mix.sources)) {
        list.add("sources.dilation", Text::tr("Dilation"),
                 [](auto& w) -> auto& { return alternative<Dilated>(alternative<DepthMix>(w).sources).dilation; },
                 {.paper = QStringLiteral("4 (DenseFormer)"), .minimum = 1});
        list.add("sources.period", Text::tr("Period"),
                 [](auto& w) -> auto& { return alternative<Dilated>(alternative<DepthMix>(w).sources).period; },
                 {.paper = QStringLiteral("5 (DenseFormer)"), .minimum = 1});
    }
    list.add("ports", Text::tr("Who reads"), [](auto& w) -> auto& { return alternative<DepthMix>(w).ports; },
             {.help = Text::tr("Which ports of a layer have a mix of their own."),
              .paper = Text::tr("q, k, v: DCA; with residual: MUDD"),
              .choices = {Text::tr("Input"), QStringLiteral("q, k, v"), Text::tr("q, k, v, residual")}});
    list.add("feeds", Text::tr("Mix feeds"), [](auto& w) -> auto& { return alternative<DepthMix>(w).feeds; },
             {.help = Text::tr("The layer's input, or the residual beside its branch."),
              .paper = Text::tr("beside the branch: ANCRe eq. 5"),
              .choices = {Text::tr("Layer input"), Text::tr("Residual")}});
    list.add("sites", Text::tr("Sites"), [](auto& w) -> auto& { return alternative<DepthMix>(w).sites; },
             {.help = Text::tr("Where inside a transformer block the mix bridges."),
              .paper = Text::tr("MHSA (ANCRe, table 1)"),
              .choices = {QStringLiteral("MHSA"), QStringLiteral("FFN"), Text::tr("Both")}});
    list.add(
        "final", Text::tr("Final mix"), [](auto& w) -> auto& { return alternative<DepthMix>(w).finalMix; },
        {.help = Text::tr("The final output reads a mix of its own over all entries; else it is the last layer's.")});
    list.add("block", Text::tr("Layers per entry"),
             [](auto& w) -> auto& { return alternative<DepthMix>(w).blockLayers; },
             {.unit = Text::tr("layers"),
              .help = Text::tr("Neighbouring layers that share one stack entry."),
              .minimum = 1});
}

void addWeights(PropertyList<Wiring>& list)
{
    const auto& mix = std::get<DepthMix>(list.current());
    list.group(Text::tr("How it is weighed"));
    list.add("weight", Text::tr("Weight"), [](auto& w) -> auto& { return alternative<DepthMix>(w).weight; },
             {.help = Text::tr("What is learned for each shortcut."),
              .paper = Text::tr("one number: GRN-v1, ANCRe; per feature: GRN-v2, -v3; per token: MUDD"),
              .choices = {Text::tr("Fixed"), Text::tr("One number"), Text::tr("Per feature"),
                          Text::tr("Attention over depth"), Text::tr("Per token")}});
    list.add("gate", Text::tr("Gate"), [](auto& w) -> auto& { return alternative<DepthMix>(w).gate.kind; },
             {.help = Text::tr("An input-dependent part: outside b + ReLU(wᵀG), inside ReLU(b + wᵀG)."),
              .paper = Text::tr("outside (GRN-v3, §3.1)"),
              .choices = {Text::tr("None"), Text::tr("Outside"), Text::tr("Inside")}});
    if (mix.gate.kind != projects::GateKind::None) {
        list.add("gate.input", Text::tr("Gate reads"),
                 [](auto& w) -> auto& { return alternative<DepthMix>(w).gate.input; },
                 {.paper = Text::tr("raw"), .choices = {Text::tr("Raw entries"), Text::tr("Normalised entries")}});
        list.add("gate.zero", Text::tr("ReLU slope at 0"),
                 [](auto& w) -> auto& { return alternative<DepthMix>(w).gate.reluGradAtZero; },
                 {.help = Text::tr("With 0, a gate that starts at w = 0 never learns."),
                  .choices = {QStringLiteral("1"), QStringLiteral("0")}});
    }
    list.add("normalise", Text::tr("Normalise"), [](auto& w) -> auto& { return alternative<DepthMix>(w).normalise; },
             {.help = Text::tr("A softmax over the sources of a target, or over the targets of a source."),
              .paper = Text::tr("over sources: ANCRe ingoing, eq. 7"),
              .choices = {Text::tr("No"), Text::tr("Over sources"), Text::tr("Over targets")}});
    if (mix.normalise != projects::NormaliseOver::None) {
        list.add("temperature", Text::tr("Temperature τ"),
                 [](auto& w) -> auto& { return alternative<DepthMix>(w).temperature; },
                 {.help = Text::tr("Of the softmax; small values choose sharply."),
                  .paper = Text::tr("0.1; 0.01 (LLaMA)"),
                  .minimum = 1e-9,
                  .maximum = 1e6});
    }
    list.add("init", Text::tr("Starts at"), [](auto& w) -> auto& { return alternative<DepthMix>(w).init; },
             {.help = Text::tr("Initial weights. Zero under a softmax is uniform."),
              .paper = Text::tr("ones: GRN; uniform: ANCRe"),
              .choices = {Text::tr("Ones"), Text::tr("Zero (uniform)"), Text::tr("Cascaded"), QStringLiteral("1/j")}});
    list.add("tsallis.weight", Text::tr("Tsallis entropy"),
             [](auto& w) -> auto& { return alternative<DepthMix>(w).tsallis.weight; },
             {.help = Text::tr("Weight of the regulariser; 0 turns it off.")});
    list.add("tsallis.q", Text::tr("Tsallis q"), [](auto& w) -> auto& { return alternative<DepthMix>(w).tsallis.q; },
             {});
    list.add("decay", Text::tr("Weight decay"), [](auto& w) -> auto& { return alternative<DepthMix>(w).weightDecay; },
             {.help = Text::tr("Whether mixing weights decay like any other.")});
    list.add("norms", Text::tr("Norm per port"),
             [](auto& w) -> auto& { return alternative<DepthMix>(w).separateNorms; },
             {.help = Text::tr("A norm of its own for q, k and v.")});
}

void addStreams(PropertyList<Wiring>& list)
{
    const std::int64_t streams = std::get<MultiStream>(list.current()).streams;
    list.add("streams", Text::tr("Streams"), [](auto& w) -> auto& { return alternative<MultiStream>(w).streams; },
             {.paper = QStringLiteral("4 (Hyper-Connections)"), .minimum = 1});
    list.add("streams.weights", Text::tr("Weights"),
             [](auto& w) -> auto& { return alternative<MultiStream>(w).weights; },
             {.choices = {Text::tr("Static"), Text::tr("Dynamic")}});
    list.add(
        "streams.constraint", Text::tr("Mixing matrix"),
        [](auto& w) -> auto& { return alternative<MultiStream>(w).constraint; },
        {.help = Text::tr("How streams mix. A doubly stochastic exp(…) has no zeros: it starts %1 from the identity "
                          "(‖H − I‖ / ‖I‖).")
                     .arg(projects::streamStart(std::max<std::int64_t>(streams, 2)).distance, 0, 'g', 2),
         .paper = Text::tr("doubly stochastic: mHC"),
         .choices = {Text::tr("Free"), Text::tr("Doubly stochastic")}});
    list.add("streams.sinkhorn", Text::tr("Sinkhorn steps"),
             [](auto& w) -> auto& { return alternative<MultiStream>(w).sinkhornIterations; }, {.minimum = 1});
    list.add("streams.scale", Text::tr("Dynamic scale"),
             [](auto& w) -> auto& { return alternative<MultiStream>(w).dynamicScale; },
             {.paper = QStringLiteral("0.01")});
}

void addBranchGate(PropertyList<Wiring>& list)
{
    list.add("branch", Text::tr("Gate"), [](auto& w) -> auto& { return alternative<BranchGate>(w).kind; },
             {.choices = {QStringLiteral("Highway"), QStringLiteral("ReZero"), QStringLiteral("LAuReL-RW"),
                          QStringLiteral("LAuReL-LR"), QStringLiteral("LAuReL-PA"), Text::tr("Stochastic depth"),
                          Text::tr("Value residual")}});
    list.add("branch.bias", Text::tr("Gate bias"), [](auto& w) -> auto& { return alternative<BranchGate>(w).bias; },
             {.help = Text::tr("Where Highway's gate starts, before its sigmoid; below 0 it carries its input."),
              .paper = Text::tr("−2 (Highway)")});
    list.add("branch.rank", Text::tr("Rank"), [](auto& w) -> auto& { return alternative<BranchGate>(w).rank; },
             {.minimum = 1});
    list.add("branch.window", Text::tr("Window"), [](auto& w) -> auto& { return alternative<BranchGate>(w).window; },
             {.minimum = 1});
    list.add("branch.keep", Text::tr("Keep probability"),
             [](auto& w) -> auto& { return alternative<BranchGate>(w).keepProbability; }, {.maximum = 1});
}

/// What a reset goes back to: the preset's own value, where the preset still is of this kind.
Wiring defaultsFor(const Project& project)
{
    for (projects::TopologyPreset& preset : projects::topologyPresets(project.network.depth())) {
        if (preset.name == project.topology.preset && preset.wiring.index() == project.topology.wiring.index()) {
            return std::move(preset.wiring);
        }
    }
    return DepthMix{};
}

void addPreset(PropertyList<Wiring>& list, const Project& project)
{
    const std::vector<projects::TopologyPreset> presets = projects::topologyPresets(project.network.depth());
    PropertyDetails details{.help = Text::tr("A wiring that people know by name; every field below can be changed.")};
    int current = -1;
    for (std::size_t i = 0; i < presets.size(); ++i) {
        details.choices << QString::fromStdString(presets[i].title);
        if (presets[i].name == project.topology.preset) {
            current = static_cast<int>(i);
        }
    }
    if (current >= 0 && presets[static_cast<std::size_t>(current)].wiring != project.topology.wiring) {
        list.group(Text::tr("Custom, from “%1”").arg(details.choices.at(current)));
    }
    list.addChoice("preset", Text::tr("Preset"), current, QVariant(), std::move(details), [](Wiring&, int) {});
}

/// The shortcuts to add and to remove so that `module` reads just what `text` lists.
Result<projects::Edit> setSources(const Project& project, std::int64_t module, const QString& text)
{
    static const QRegularExpression kSeparators(QStringLiteral("[\\s,;]+"));
    std::set<std::int64_t> wanted;
    for (const QString& word : text.split(kSeparators, Qt::SkipEmptyParts)) {
        bool whole = false;
        const qlonglong source = word.toLongLong(&whole);
        if (!whole || source < 0 || source >= module) {
            return Error{"layer " + projects::moduleName(project, module), "cannot read “" + word.toStdString() +
                                                                               "”: expected numbers from 0 to " +
                                                                               std::to_string(module - 1)};
        }
        wanted.insert(source);
    }
    const auto& mix = std::get<DepthMix>(project.topology.wiring);
    const auto now = sourcesOf(mix, module, projects::modulesOf(project));
    const std::set<std::int64_t> present(now.begin(), now.end());
    projects::EditGroup group{Text::tr("Set what layer %1 reads")
                                  .arg(QString::fromStdString(projects::moduleName(project, module)))
                                  .toStdString(),
                              {}};
    for (const std::int64_t source : wanted) {
        if (!present.contains(source)) {
            group.edits.emplace_back(projects::AddShortcut{{source, module}});
        }
    }
    for (const std::int64_t source : present) {
        if (!wanted.contains(source)) {
            group.edits.emplace_back(projects::RemoveShortcut{{source, module}});
        }
    }
    return projects::Edit{std::move(group)};
}

} // namespace

std::vector<Property> topologyProperties(const Project& project)
{
    PropertyList<Wiring> list(
        project, defaultsFor(project), [](const Project& p) { return p.topology.wiring; },
        [](const Project& p, Wiring wiring) {
            return projects::SetTopology{{p.topology.preset, std::move(wiring)}};
        });
    addPreset(list, project);
    if (std::holds_alternative<DepthMix>(list.current())) {
        addSources(list, project);
        addWeights(list);
    } else if (std::holds_alternative<MultiStream>(list.current())) {
        addStreams(list);
    } else if (std::holds_alternative<BranchGate>(list.current())) {
        addBranchGate(list);
    }
    std::vector<Property> properties = list.take();
    properties.front().edit = [](const Project& p, const QVariant& given) -> Result<projects::Edit> {
        const auto presets = projects::topologyPresets(p.network.depth());
        const auto index = static_cast<std::size_t>(given.toInt());
        if (index >= presets.size()) {
            return Error{"topology", "expected a preset"};
        }
        return projects::Edit{projects::SetTopology{{presets[index].name, presets[index].wiring}}};
    };
    return properties;
}

std::vector<Property> readsProperty(const Project& project, std::int64_t layer)
{
    const auto* mix = std::get_if<DepthMix>(&project.topology.wiring);
    if (!mix) {
        return {};
    }
    const std::int64_t each = projects::modulesPerLayer(project);
    std::vector<Property> properties;
    for (std::int64_t module = (layer - 1) * each + 1; module <= layer * each; ++module) {
        QStringList sources;
        for (const std::int64_t source : sourcesOf(*mix, module, projects::modulesOf(project))) {
            sources << QString::number(source);
        }
        Property property;
        property.key = each == 1 ? "reads" : "reads." + std::to_string(module);
        property.title = each == 1         ? Text::tr("Reads")
                         : module % 2 == 1 ? Text::tr("Attention reads")
                                           : Text::tr("FFN reads");
        property.value = sources.join(QLatin1Char(' '));
        property.help = each == 1
                            ? Text::tr("The stack entries that reach this layer: 0 is the stack's input, 1 what layer "
                                       "1 puts there. Add or take away numbers to add or remove shortcuts.")
                            : Text::tr("The stack entries that reach this half of the layer: 0 is the stack's input, "
                                       "2j − 1 what follows the attention of layer j, 2j its output. Add or take away "
                                       "numbers to add or remove shortcuts.");
        property.edit = [module](const Project& p, const QVariant& given) {
            return setSources(p, module, given.toString());
        };
        properties.push_back(std::move(property));
    }
    return properties;
}

std::vector<Property> shortcutsProperties(const Project& project, const ShortcutsPlace& place)
{
    const auto* mix = std::get_if<DepthMix>(&project.topology.wiring);
    if (!mix || place.shortcuts.empty()) {
        return {};
    }
    const auto stateOf = [](const DepthMix& m, const projects::Shortcut& shortcut) {
        const auto found = m.states.find(shortcut);
        return found == m.states.end() ? 0 : found->second == projects::ShortcutState::Frozen ? 1 : 2;
    };
    std::set<int> states;
    for (const projects::Shortcut& shortcut : place.shortcuts) {
        states.insert(stateOf(*mix, shortcut));
    }
    Property property;
    property.key = "state";
    property.title = Text::tr("State");
    property.kind = PropertyKind::Choice;
    property.value = states.size() == 1 ? *states.begin() : -1;
    property.defaultValue = 0;
    property.help = Text::tr("Learned like the rest, frozen at its value (F), or pruned (Delete).");
    property.choices = {Text::tr("Like the rest"), Text::tr("Frozen"), Text::tr("Pruned")};
    property.edit = [shortcuts = place.shortcuts](const Project&, const QVariant& given) -> Result<projects::Edit> {
        std::optional<projects::ShortcutState> state;
        if (given.toInt() > 0) {
            state = given.toInt() == 1 ? projects::ShortcutState::Frozen : projects::ShortcutState::Pruned;
        }
        std::vector<projects::Edit> edits;
        for (const projects::Shortcut& shortcut : shortcuts) {
            edits.emplace_back(projects::SetShortcutState{shortcut, state});
        }
        return edits.size() == 1
                   ? std::move(edits.front())
                   : projects::Edit{projects::EditGroup{
                         Text::tr("Set the state of %1 shortcuts").arg(edits.size()).toStdString(), std::move(edits)}};
    };
    return {std::move(property)};
}

} // namespace residua::app
