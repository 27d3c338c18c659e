// SPDX-License-Identifier: GPL-3.0-or-later
#include "wiring_cases.h"

#include "projects/library/presets.h"
#include "projects/shipped/examples.h"
#include "projects/shipped/recipes.h"
#include "projects/transfer/retrofit.h"
#include "tests/engine/compute/network/network_harness.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <variant>

namespace residua::tests {
namespace {

using projects::BranchGate;
using projects::DepthMix;
using projects::MixSites;
using projects::MultiStream;
using projects::Project;

/// Four layers: k-DCA then has a middle that it sums.
constexpr std::int64_t kDepth = 4;
constexpr std::int64_t kWidth = 32;

Project small(const std::string& block, const std::string& topology, std::int64_t depth)
{
    Project project = tinyLanguage(block, topology, depth);
    project.stack().width = kWidth;
    project.initialisation.scale = 0.15; // larger weights multiply the rounding of bf16
    project.training.sequenceLength = 20;
    project.training.precision = projects::Precision::Fp32;
    return project;
}

/// A change of a topology preset's wiring.
template <class Kind>
struct Variant {
    const char* topology;
    const char* name;
    void (*change)(Kind& wiring);
};

template <class Kind>
WiringCase changed(const Variant<Kind>& variant)
{
    WiringCase made{std::string(variant.topology) + ", " + variant.name, wiredLanguage(variant.topology, kDepth)};
    variant.change(std::get<Kind>(made.project.stack().topology.wiring));
    return made;
}

const Variant<DepthMix> kMixes[] = {
    {"plain", "a learned shortcut",
     [](DepthMix& mix) {
         mix.states[{1, 3}] = projects::ShortcutState::Learned;
     }},
    {"grn-v1", "a frozen and a pruned shortcut",
     [](DepthMix& mix) {
         mix.states = {{{0, 3}, projects::ShortcutState::Frozen}, {{1, 4}, projects::ShortcutState::Pruned}};
     }},
    {"grn-v2", "entries of two layers", [](DepthMix& mix) { mix.blockLayers = 2; }},
    {"grn-v3", "both sites", [](DepthMix& mix) { mix.sites = MixSites::Both; }},
    {"grn-v3", "the FFNs' inputs", [](DepthMix& mix) { mix.sites = MixSites::Ffn; }},
    {"grn-v3", "gate inside", [](DepthMix& mix) { mix.gate.kind = projects::GateKind::Inside; }},
    {"grn-v3", "gate reads a normalised input",
     [](DepthMix& mix) { mix.gate.input = projects::GateInput::Normalised; }},
    {"grn-v1", "gated", [](DepthMix& mix) { mix.gate.kind = projects::GateKind::Outside; }},
    {"dca", "norms apart", [](DepthMix& mix) { mix.separateNorms = true; }},
    {"k-dca", "one entry apart", [](DepthMix& mix) { mix.sources = projects::FirstAndLast{1}; }},
    {"ancre-ingoing", "two families", [](DepthMix& mix) { mix.sites = MixSites::Both; }},
    {"ancre-ingoing", "one family at both sites",
     [](DepthMix& mix) {
         mix.sites = MixSites::Both;
         mix.sitePairs = projects::SitePairs::Any;
     }},
    {"ancre-outgoing", "two families", [](DepthMix& mix) { mix.sites = MixSites::Both; }},
    {"ancre-ingoing", "Tsallis entropy", [](DepthMix& mix) { mix.tsallis.weight = 0.1; }},
    {"ancre-ingoing", "no last mix", [](DepthMix& mix) { mix.lastMix = false; }},
    {"denseformer", "2×2",
     [](DepthMix& mix) {
         mix.sources = projects::Dilated{2, 2};
     }},
    {"mudd", "a softmax over the sources", [](DepthMix& mix) { mix.normalise = projects::NormaliseOver::Sources; }},
    {"attention-residuals", "one site", [](DepthMix& mix) { mix.sites = MixSites::Mhsa; }},
};

const Variant<MultiStream> kStreams[] = {
    {"hyper-static", "one stream", [](MultiStream& streams) { streams.streams = 1; }},
    {"hyper-dynamic", "RMS norm", [](MultiStream& streams) { streams.norm = projects::NormKind::Rms; }},
    {"hyper-dynamic", "one site", [](MultiStream& streams) { streams.sites = MixSites::Mhsa; }},
    {"hyper-static", "mean", [](MultiStream& streams) { streams.exit = projects::StreamExit::Mean; }},
    {"hyper-dynamic", "learned exit", [](MultiStream& streams) { streams.exit = projects::StreamExit::Head; }},
    {"frac-dynamic", "4 fractions", [](MultiStream& streams) { streams.streams = 4; }},
    {"mhc", "static", [](MultiStream& streams) { streams.weights = projects::StreamWeights::Static; }},
};

const Variant<BranchGate> kGates[] = {
    {"highway", "one site", [](BranchGate& gate) { gate.sites = MixSites::Mhsa; }},
    {"post-norm", "RMS norm, one site",
     [](BranchGate& gate) {
         gate.norm = projects::NormKind::Rms;
         gate.sites = MixSites::Mhsa;
     }},
    {"laurel-rw", "no bound", [](BranchGate& gate) { gate.bound = projects::LaurelBound::None; }},
    {"laurel-rw", "softmax", [](BranchGate& gate) { gate.bound = projects::LaurelBound::Softmax; }},
};

/// Two of the layers visited three times.
std::vector<WiringCase> loops()
{
    std::vector<WiringCase> cases;
    for (const char* const topology : {"plain", "ancre-ingoing", "dca", "mhc", "post-norm"}) {
        WiringCase made{std::string(topology) + ", looped", wiredLanguage(topology, kDepth)};
        projects::Stack& stack = made.project.stack();
        stack.loops = {{.first = 2, .last = 3, .visits = 3}};
        stack.topology = topologyNamed(topology, made.project.network);
        stack.loops.front().injection =
            topology == std::string("plain") ? projects::LoopInjection::Linear : projects::LoopInjection::None;
        stack.loops.front().embedding = topology == std::string("plain");
        cases.push_back(std::move(made));
    }
    return cases;
}

/// More readers of one entry than one launch of the gather kernel takes: 3 of each layer.
WiringCase manyReaders()
{
    return {"dca, 12 layers", wiredLanguage("dca", 12)};
}

} // namespace

void setAttention(Project& project, const std::string& name, const projects::ParamValue& value)
{
    for (projects::Block& block : project.network.blocks) {
        for (projects::Node& node : block.graph.nodes) {
            if (node.kind == "attention") {
                node.params[name] = value;
            }
        }
    }
}

Project wiredLanguage(const std::string& topology, std::int64_t depth)
{
    const std::string block = blockPresetFor(topologyNamed(topology, depth).wiring).name;
    return small(block, topology, depth);
}

void forEachTower(Project& project, const std::function<void(projects::Network&)>& use)
{
    use(project.network);
    for (projects::Tower& tower : project.towers) {
        use(tower.network);
    }
}

std::vector<std::string> topologiesOf(const std::string& family)
{
    const bool convolves = !projects::findExample(family)->project.towers.empty();
    std::vector<std::string> names;
    for (const projects::TopologyPreset& preset : projects::topologyPresets(kDepth)) {
        const auto* const gate = std::get_if<BranchGate>(&preset.wiring);
        const bool readsValues = gate != nullptr && gate->gate == projects::BranchGateKind::ValueResidual;
        if (!convolves || (!readsValues && projects::sitesOf(preset.wiring) == MixSites::Mhsa)) {
            names.push_back(preset.name);
        }
    }
    return names;
}

Project familyUnder(const std::string& family, const std::string& topology)
{
    constexpr std::int64_t kSide = 16;
    Project project = projects::findExample(family)->project;
    const bool convolves = !project.towers.empty();
    project.data.augmentation = {};
    if (auto* const pictures = std::get_if<projects::DrawnPictures>(&project.data.source)) {
        *pictures = {.size = kSide, .samples = 16};
    } else {
        std::get<projects::SyntheticLanguage>(project.data.source).tokens = 20'000;
        project.training.sequenceLength = 32;
    }
    project.training.batch = 16;
    project.training.learningRate = {3e-3, 0, projects::RateCurve::Constant, 1};
    forEachTower(project, [](projects::Network& network) { network.stack().segments.front().repeat = kDepth; });
    if (!convolves) {
        project.stack().width = kWidth;
        setAttention(project, "heads", std::int64_t{4});
        if (project.network.objective == projects::Objective::Classification) {
            project.network.stem = projects::patchStem(3, kSide, kSide);
        }
        return projects::rewired(project, topologyNamed(topology, project.network)).value();
    }
    project.training.optimiser = projects::AdamW{};
    for (projects::Graph* const graph : projects::graphsOf(project)) {
        projects::setParam(*graph, "image", "height", kSide);
        projects::setParam(*graph, "image", "width", kSide);
    }
    forEachTower(project, [&](projects::Network& stage) {
        stage.stack().topology = topologyNamed(topology, stage);
        if (auto* const mix = std::get_if<DepthMix>(&stage.stack().topology.wiring)) {
            mix->ports = projects::MixPorts::Input; // a convolution has no queries, keys and values
        }
    });
    return project;
}

std::vector<WiringCase> wiringCases()
{
    std::vector<WiringCase> cases;
    for (const projects::TopologyPreset& preset : projects::topologyPresets(kDepth)) {
        cases.push_back({preset.name, wiredLanguage(preset.name, kDepth)});
    }
    std::ranges::transform(kMixes, std::back_inserter(cases), changed<DepthMix>);
    std::ranges::transform(kStreams, std::back_inserter(cases), changed<MultiStream>);
    std::ranges::transform(kGates, std::back_inserter(cases), changed<BranchGate>);
    std::ranges::move(loops(), std::back_inserter(cases));
    cases.push_back(manyReaders());
    for (const projects::BlockPreset& block : projects::blockPresets()) {
        if (block.name == projects::kFirstMuddBlock || block.readsImages) {
            continue; // is for layer 1 of one wiring alone, or for images
        }
        cases.push_back({"block " + block.name, small(block.name, "plain", 2)});
    }
    return cases;
}

} // namespace residua::tests
