// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/pytorch/topology_code.h"

#include "projects/base/text.h"
#include "projects/depth/depth_parameters.h"
#include "projects/nodes/towers.h"

#include <variant>

namespace residua::projects {
namespace {

/// Returns a start that is drawn, or one number everywhere.
std::string startOf(const WiringParameter& parameter)
{
    const std::string shape = joinedText(parameter.shape, ", ", [](std::int64_t size) { return written(size); });
    if (parameter.is == ParameterClass::Matrix) {
        return pythonReal(parameter.deviation) + " * torch.randn(" + shape + ")";
    }
    const double start = parameter.values.empty() ? 0 : parameter.values.front();
    return start == 0 ? "torch.zeros(" + shape + ")"
           : start == 1
               ? "torch.ones(" + shape + ")"
               : "torch.full((" + shape + (parameter.shape.size() == 1 ? ",), " : "), ") + pythonReal(start) + ")";
}

/// Returns the loops that change the residual, by their index in the stack.
std::vector<std::size_t> changingLoops(const Stack& stack)
{
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        if (stack.isSound(i) && changesState(stack.loops[i])) {
            indices.push_back(i);
        }
    }
    return indices;
}

/// Returns the table of visits by their first modules, or by their last ones.
std::string visitsBy(const TopologySetting& setting, bool ends)
{
    const Stack& stack = setting.project.stack();
    const std::int64_t perLayer = modulesIn(stack.topology.wiring, 1);
    return joinedText(changingLoops(stack), " | ", [&](std::size_t index) {
        const Loop& loop = stack.loops[index];
        const auto of = [&](std::int64_t visit) {
            return ends ? perLayer * stack.numberOf({loop.last, visit})
                        : perLayer * (stack.numberOf({loop.first, visit}) - 1) + 1;
        };
        const std::int64_t made = setting.visits.at(index);
        const std::int64_t length = perLayer * (loop.last - loop.first + 1);
        const std::string name = "(\"" + std::to_string(index + 1) + "\", ";
        std::string text = "{" + written(of(1)) + " + " + written(length) + " * v: " + name + "v + 1) for v in range(" +
                           written(made) + ")}";
        const bool hasExit =
            loop.norm == LoopNorm::Exit || loop.norm == LoopNorm::Head || loop.streams != LoopStreams::None;
        if (ends && hasExit && made < loop.visits) {
            text += " | {" + written(of(loop.visits)) + ": " + name + written(loop.visits) + ")}";
        }
        return text;
    });
}

/// Returns the code's name of the parameter `name` of a module or reader: "gates.2.weight" for "gate.weight" of 3.
std::string listed(std::int64_t row, const std::string& name)
{
    const std::string owner(ownerOf(name));
    if (owner.empty() && name != "weight") {
        return "readers." + written(row) + "." + name;
    }
    const std::string list = owner.empty() ? "project" : owner == "gate" || owner == "norm" ? owner + "s" : owner;
    return list + "." + written(row - 1) + "." + std::string(lastOf(name));
}

} // namespace

TopologyCode codeOf(const TopologySetting& setting)
{
    return std::visit([&](const auto& wiring) { return codeOf(setting, wiring); },
                      setting.project.stack().topology.wiring);
}

void TopologyCode::beginInit()
{
    text.define("__init__(self)");
    text.line("super().__init__()");
}

void TopologyCode::parameters(const TopologySetting& setting, const std::map<std::string, std::string>& starts)
{
    for (const WiringParameter& parameter : wiringParametersOf(setting.project.stack())) {
        const std::string name(parameterNameFrom(parameter.name).rest);
        if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
            names[parameter.name] = topologyParameter(listed(std::stoll(name), name.substr(dot + 1)));
            continue;
        }
        const auto start = starts.find(name);
        const bool hasOwn = start != starts.end() && !start->second.empty();
        text.line("self." + name + " = nn.Parameter(" + (hasOwn ? start->second : startOf(parameter)) + ")");
        names[parameter.name] = parameter.name;
    }
    loops(setting);
}

namespace {

/// Returns the argument of a Loop for its streams.
std::string streamsOf(const TopologySetting& setting, const Loop& loop)
{
    if (loop.streams == LoopStreams::None) {
        return {};
    }
    const bool isGated = loop.streams == LoopStreams::Gated;
    setting.helpers.use(isGated ? Helper::Streams : Helper::Lanes);
    return (isGated ? ", streams=Streams(" : ", lanes=Lanes(") + written(setting.width()) + ", " +
           written(loop.visits) + ", " + written(loop.streamCount) + ")";
}

} // namespace

void TopologyCode::loops(const TopologySetting& setting)
{
    if (!setting.changesState()) {
        return;
    }
    setting.helpers.use(Helper::Loop);
    const Stack& stack = setting.project.stack();
    visitLoopParameters(stack, [&](const WiringParameter& parameter) { names[parameter.name] = parameter.name; });
    const auto made = [&](std::size_t index) {
        const Loop& loop = stack.loops[index];
        return "\"" + std::to_string(index + 1) + "\": Loop(" + written(setting.width()) + ", " + written(loop.visits) +
               ", " + written(setting.visits.at(index)) +
               (loop.injection == LoopInjection::None  ? ""
                : loop.injection == LoopInjection::Add ? ", injection=\"add\""
                                                       : ", injection=\"linear\"") +
               (loop.embedding ? ", embedding=True" : "") + (loop.gate ? ", gate=True" : "") +
               (loop.norm == LoopNorm::None     ? ""
                : loop.norm == LoopNorm::Visits ? ", norm=\"visits\""
                : loop.norm == LoopNorm::Exit   ? ", norm=\"exit\""
                                                : ", norm=\"head\"") +
               streamsOf(setting, loop) + (loop.exitGate ? ", exit=True" : "") + ")";
    };
    text.line("self.loop = nn.ModuleDict({" + joinedText(changingLoops(stack), ", ", made) + "})");
}

void beginVisit(const TopologySetting& setting, PythonText& text, const std::string& changed)
{
    if (setting.changesState()) {
        text.lines(R"(
if j in BEGINS:
    loop, visit = BEGINS[j]
    if visit == 1:
        entry = x
    states = self.loop[loop].states(x, entry)
    x = begun = self.loop[loop].begin(visit, states, entry)
    %1)",
                   {changed});
    }
}

void endVisit(const TopologySetting& setting, PythonText& text, const std::string& changed)
{
    if (setting.changesState()) {
        text.lines(R"(
if j in ENDS:
    loop, visit = ENDS[j]
    x = self.loop[loop].end(visit, x, begun, states)
    %1)",
                   {changed});
        if (gatedLoop(setting.project.stack())) {
            text.lines(R"(
    if exits is not None and self.loop[loop].exit is not None:
        left = x if visit == self.loop[loop].visits else self.loop[loop].left(x)
        exits.append((left, torch.sigmoid(self.loop[loop].exit(left)))))",
                       {});
        }
    }
}

void beginTopology(const TopologySetting& setting, PythonText& text, const std::vector<std::string>& words)
{
    const Topology& topology = setting.project.stack().topology;
    const std::vector<TopologyPreset> presets = topologyPresets(setting.project.network);
    const auto preset = std::ranges::find(presets, topology.preset, &TopologyPreset::name);
    std::string title = "A wiring of its own.";
    if (preset != presets.end()) {
        title = preset->wiring == topology.wiring ? plainText(preset->title) + ": " + plainText(preset->summary) +
                                                        " (" + plainText(preset->source) + ")."
                                                  : "A wiring of its own, from " + plainText(preset->title) + ".";
    }
    std::vector<std::string> paragraphs{title};
    paragraphs.insert(paragraphs.end(), words.begin(), words.end());
    switch (sitesOf(topology.wiring)) {
    case MixSites::Mhsa:
        break;
    case MixSites::Both:
        paragraphs.emplace_back("What is called a layer here is half of one: 2j - 1 is the attention of layer j, 2j "
                                "its feed-forward half.");
        break;
    case MixSites::Ffn:
        paragraphs.emplace_back("What is called a layer here goes from one feed-forward input to the next: the "
                                "feed-forward half of layer j and the attention of layer j + 1.");
        break;
    }
    if (setting.lacksLayers()) {
        paragraphs.push_back("Of " + std::to_string(setting.layers) + " layers the first " +
                             std::to_string(setting.present) + " are there; the others had not begun to train.");
    }
    if (setting.changesState()) {
        text.comment("The loop and the number of each visit, by the first layer that it runs and by the last.");
        text.lines("BEGINS = %1\nENDS = %2\n\n\n", {visitsBy(setting, false), visitsBy(setting, true)});
    }
    if (setting.sharesRows()) {
        const std::int64_t perLayer = modulesIn(topology.wiring, 1);
        std::vector<std::int64_t> rows;
        for (const std::int64_t layer : rowLayersOf(setting.project.stack())) {
            for (std::int64_t part = 0; part < perLayer; ++part) {
                rows.push_back((layer - 1) * perLayer + part);
            }
        }
        text.comment("The number of each layer's weights, which visits share.");
        text.lines("ROWS = %1\n\n\n", {repeatingText(rows)});
    }
    text.beginClass("Topology", paragraphs);
}

void beginForward(const TopologySetting& setting, PythonText& text)
{
    text.define(gatedLoop(setting.project.stack()) ? "forward(self, x, layers, exits=None)"
                                                   : "forward(self, x, layers)");
    if (sitesOf(setting.project.stack().topology.wiring) == MixSites::Ffn) {
        text.line("x = x + layers[0].attend(x)");
        text.line("layers = between_feed_forwards(layers)");
        setting.helpers.use(Helper::BetweenFeedForwards);
    }
}

} // namespace residua::projects
