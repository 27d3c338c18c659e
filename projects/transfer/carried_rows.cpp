// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/transfer/retrofit.h"

#include "projects/depth/depth_names.h"
#include "projects/depth/depth_parameters.h"
#include "projects/depth/depth_plan.h"
#include "projects/depth/shared_mix.h"
#include "projects/model/parameter_name.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace residua::projects {
namespace {

/// The meaning of a row of a parameter: its part, such as "coefficient", and the module, the stack entry and the mix
/// that it is about.
struct RowOf {
    std::string part;
    std::int64_t module = 0;
    std::int64_t entry = 0;
    std::int64_t number = 0; ///< of the mix, or of the feature

    auto operator<=>(const RowOf&) const = default;
};

/// The meanings of the rows of one parameter.
struct RowsOf {
    std::vector<RowOf> rows;
    std::int64_t dimension = 0;
    bool whole = false; ///< its one row is the tensor
};
using RowTable = std::map<std::string, RowsOf>;

/// Lists the rows of the parameters of one alternative of Wiring per call operator (depth_parameters.cpp).
struct RowLister {
    const Wiring& wiring;
    std::int64_t layers;
    std::int64_t width;
    RowTable& table;

    void operator()(const DepthMix& mix) const
    {
        const std::int64_t modules = mixedModules(mix, layers);
        for (std::int64_t target = 1; target <= lastReader(mix, modules); ++target) {
            const DepthReader reader = readerOf(mix, target, modules);
            for (int output = 0; output < reader.outputs; ++output) {
                mixOf(mix, reader, output);
            }
            if (mix.weight == WeightKind::PerToken && reader.terms() > 0) {
                addWhole("hidden", topologyParameter(target, "hidden"), target);
            }
        }
    }

    void operator()(const MultiStream&) const
    {
        const std::int64_t modules = modulesIn(wiring, layers);
        for (const WiringParameter& parameter : parametersOf(wiring, layers, width)) {
            const std::string_view part = partOf(parameter.name);
            if (part.starts_with("exit")) {
                addWhole(part, parameter.name, 0);
                continue;
            }
            for (std::int64_t module = 1; module <= modules; ++module) {
                add(parameter.name, {std::string(part), module});
            }
        }
    }

    void operator()(const BranchGate& gate) const
    {
        const std::int64_t each = modulesIn(wiring, 1);
        for (std::int64_t module = 1; module <= modulesIn(wiring, layers); ++module) {
            const bool isLast = module % each == 0;
            const auto own = [&](std::string_view name, bool has) {
                if (has) {
                    add(topologyParameter(name), {std::string(name), module});
                }
            };
            own("alpha", isLast && gate.gate == BranchGateKind::ReZero);
            own("values", module > 1 && gate.gate == BranchGateKind::ValueResidual);
            own("factor", traitsOf(gate.gate).factors == 2);
            const bool mixesPrevious = traitsOf(gate.gate).maps == LaurelMaps::Previous;
            for (std::int64_t k = 0; mixesPrevious && k < std::min(gate.window, module); ++k) {
                add(kTopologyCoefficient, {"coefficient", module, 0, k});
            }
            for (const std::string_view part :
                 {"gate.weight", "gate.bias", "norm.weight", "norm.bias", "down.weight", "up.weight"}) {
                addWhole(part, topologyParameter(module, part), module);
            }
        }
    }

    void operator()(const Concatenation&) const
    {
        for (std::int64_t reader = 1; reader <= modulesIn(wiring, layers) + 1; ++reader) {
            const std::string name = topologyParameter(reader, "weight");
            for (std::int64_t column = 0; column < reader * width; ++column) {
                add(name, {"weight", reader, column / width, column % width});
            }
            table[name].dimension = 1;
        }
    }

private:
    [[nodiscard]] static std::string_view partOf(std::string_view name)
    {
        return name.substr(std::string_view(kTopologyPrefix).size());
    }
    void add(const std::string& name, const RowOf& row) const { table[name].rows.push_back(row); }
    void addWhole(std::string_view part, const std::string& name, std::int64_t module) const
    {
        table[name] = {{{std::string(part), module}}, 0, true};
    }
    void mixOf(const DepthMix& mix, const DepthReader& reader, int output) const
    {
        const bool gated = mix.gate.kind != GateKind::None;
        if (mix.weight == WeightKind::DepthAttention) {
            add(topologyParameter("query"), {"query", reader.target, 0, output});
            add(topologyParameter("norm"), {"norm", reader.target, 0, output});
        }
        if (gated && mix.gate.vectors == GateVectors::PerMix) {
            add(kTopologyGate, {"gate", reader.target, 0, output});
        }
        for (const std::int64_t source : reader.sources) {
            const RowOf row{"", reader.target, source, output};
            const auto as = [&row](std::string_view part) {
                return RowOf{std::string(part), row.module, row.entry, row.number};
            };
            if (mix.weight == WeightKind::PerToken) {
                add(topologyParameter(reader.target, "mix"), as("mix"));
                add(topologyParameter(reader.target, "bias"), as("bias"));
            } else if (mix.weight != WeightKind::DepthAttention && hasOwnWeight(mix, {source, reader.target})) {
                add(kTopologyCoefficient, as("coefficient"));
            }
            if (gated && mix.gate.vectors == GateVectors::PerEntry) {
                add(kTopologyGate, as("gate"));
            }
        }
    }
};

RowTable rowsOf(const Project& project)
{
    RowTable table;
    const Wiring& wiring = project.stack().topology.wiring;
    if (sharesCoefficients(project.stack())) {
        const bool lists = !sharesByDistance(std::get<DepthMix>(wiring));
        for (const SharedTerm& term : sharedTerms(project.stack())) {
            table[kTopologyCoefficient].rows.push_back({lists ? "shared" : "shared " + std::to_string(term.source),
                                                        term.target, lists ? term.source : 0, term.output});
        }
        return table;
    }
    std::visit(RowLister{wiring, rowStackOf(project.stack()).depth(), project.stack().width, table}, wiring);
    return table;
}

/// Returns the rows of shared coefficients by the executed readers and entries that they are for.
std::map<RowOf, std::pair<std::string_view, std::int64_t>> placesOfVisits(const Stack& stack)
{
    std::map<RowOf, std::pair<std::string_view, std::int64_t>> places;
    const auto& mix = std::get<DepthMix>(stack.topology.wiring);
    const DepthPlan plan = planOf(mix, stack.depth());
    const std::vector<std::int64_t> rows = sharedRows(stack);
    for (auto row = rows.begin(); const std::size_t index : learnedTerms(mix, plan)) {
        const DepthTerm& term = plan.terms[index];
        places.emplace(RowOf{"coefficient", plan.readers[term.reader].target, term.source, term.output},
                       std::pair(kTopologyCoefficient, *row++));
    }
    return places;
}

/// Translates the numbers of the new document to those of the old one.
struct OldNumbers {
    const Wiring& before;
    const Wiring& after;
    std::int64_t layersBefore;
    const std::vector<std::int64_t>& layers;

    [[nodiscard]] std::int64_t module(std::int64_t number) const
    {
        const std::int64_t each = modulesIn(after, 1);
        const std::int64_t layer = layerOf(number, each);
        if (layer < 1) {
            return number;
        }
        return layer > std::ssize(layers) ? modulesIn(before, layersBefore) + 1
                                          : number + (layers[static_cast<std::size_t>(layer - 1)] - layer) * each;
    }
    [[nodiscard]] std::int64_t entry(std::int64_t number) const
    {
        const auto* const mix = std::get_if<DepthMix>(&after);
        if (mix == nullptr || number == 0) {
            return module(number);
        }
        const std::int64_t last =
            std::min(number * std::max<std::int64_t>(mix->blockLayers, 1), modulesIn(after, std::ssize(layers)));
        return stackEntryOf(std::get<DepthMix>(before), module(last));
    }
};

bool isWhole(const std::vector<std::int64_t>& rows, std::size_t of)
{
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] != static_cast<std::int64_t>(i)) {
            return false;
        }
    }
    return rows.size() == of;
}

bool areComparable(const Wiring& before, const Wiring& after)
{
    return before.index() == after.index() && sitesOf(before) == sitesOf(after);
}

/// Returns the old layer of each new one among those with weights of the wiring (rowStackOf); `layers` has those of the
/// executed layers.
std::vector<std::int64_t> rowLayersFrom(const Stack& before, const Stack& after,
                                        const std::vector<std::int64_t>& layers)
{
    const std::vector<std::int64_t> old = rowLayersOf(before);
    const std::vector<std::int64_t> rows = rowLayersOf(after);
    std::vector<std::int64_t> from(static_cast<std::size_t>(rowStackOf(after).depth()), 0);
    for (std::size_t i = 0; i < rows.size() && i < layers.size(); ++i) {
        std::int64_t& source = from.at(static_cast<std::size_t>(rows[i] - 1));
        const std::int64_t number = layers[i];
        source = source > 0 ? source : old.at(static_cast<std::size_t>(number - 1));
    }
    return from;
}

/// Adds the sources of the parameters of loops. A loop continues the one in which its first visit was.
void carryLoops(const Stack& before, const Stack& after, const std::vector<std::int64_t>& layers,
                std::map<std::string, CarriedRows>& sources)
{
    const auto namesOf = [](const Stack& stack) {
        std::set<std::string> names;
        visitLoopParameters(stack, [&](WiringParameter&& parameter) { names.insert(std::move(parameter.name)); });
        return names;
    };
    const std::set<std::string> there = namesOf(before);
    const std::set<std::string> wanted = namesOf(after);
    for (std::size_t i = 0; i < after.loops.size() && !there.empty(); ++i) {
        const Loop& loop = after.loops[i];
        std::vector<std::int64_t> visits;
        std::optional<std::size_t> from;
        for (std::int64_t visit = 1; after.isSound(i) && visit <= loop.visits; ++visit) {
            const auto number = static_cast<std::size_t>(after.numberOf({loop.first, visit}) - 1);
            const LayerVisit at = before.visitAt(layers.at(number));
            const Loop* const old = before.loopOf(at.layer);
            const auto index = old == nullptr ? std::optional<std::size_t>() : old - before.loops.data();
            from = visit == 1 ? index : from;
            visits.push_back(index && index == from ? at.visit - 1 : -1);
        }
        const std::string prefix = topologyParameter(loopParameter(i, ""));
        for (auto name = wanted.lower_bound(prefix); name != wanted.end() && name->starts_with(prefix); ++name) {
            const std::string rest = name->substr(prefix.size());
            const std::string source = from ? topologyParameter(loopParameter(*from, rest)) : "";
            if (there.contains(source)) {
                const bool byVisit = rest != "injection.weight" && rest != "norm.weight";
                const bool whole = !byVisit || isWhole(visits, static_cast<std::size_t>(before.loops[*from].visits));
                sources[*name] = {source, whole ? std::vector<std::int64_t>() : visits, 0};
            }
        }
    }
}

} // namespace

std::map<std::string, CarriedRows> carriedRows(const Project& before, const Project& after,
                                               const std::vector<std::int64_t>& layers)
{
    const Wiring& wiring = after.stack().topology.wiring;
    std::map<std::string, CarriedRows> sources;
    carryLoops(before.stack(), after.stack(), layers, sources);
    if (!areComparable(before.stack().topology.wiring, wiring)) {
        return sources;
    }
    const RowTable old = rowsOf(before);
    const bool unshares = sharesCoefficients(before.stack()) && !sharesCoefficients(after.stack());
    std::map<RowOf, std::pair<std::string_view, std::int64_t>> places =
        unshares ? placesOfVisits(before.stack()) : std::map<RowOf, std::pair<std::string_view, std::int64_t>>();
    for (const auto& [name, has] : old) {
        for (std::size_t row = 0; row < has.rows.size(); ++row) {
            places.emplace(has.rows[row], std::pair<std::string_view, std::int64_t>(name, row));
        }
    }
    const std::vector<std::int64_t> rowLayers =
        unshares ? layers : rowLayersFrom(before.stack(), after.stack(), layers);
    const OldNumbers numbers{before.stack().topology.wiring, wiring,
                             unshares ? before.stack().depth() : rowStackOf(before.stack()).depth(), rowLayers};
    const RowTable wanted = rowsOf(after);
    for (const auto& [name, has] : wanted) {
        CarriedRows carried{{}, {}, has.dimension};
        for (const RowOf& row : has.rows) {
            const auto found =
                places.find({row.part, numbers.module(row.module), numbers.entry(row.entry), row.number});
            carried.rows.push_back(found == places.end() ? -1 : found->second.second);
            carried.from = found == places.end() ? carried.from : std::string(found->second.first);
        }
        if (carried.from.empty()) {
            continue;
        }
        if (has.whole || isWhole(carried.rows, old.at(carried.from).rows.size())) {
            carried.rows.clear();
        }
        sources.emplace(name, std::move(carried));
    }
    return sources;
}

} // namespace residua::projects
