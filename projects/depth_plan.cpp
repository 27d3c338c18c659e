// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth_plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace residua::projects {
namespace {

constexpr std::array<std::pair<MixPort, std::string_view>, 6> kPortNames{{{MixPort::Input, "input"},
                                                                          {MixPort::Query, "q"},
                                                                          {MixPort::Key, "k"},
                                                                          {MixPort::Value, "v"},
                                                                          {MixPort::Residual, "residual"},
                                                                          {MixPort::Final, "final"}}};

bool isPruned(const DepthMix& mix, const Shortcut& shortcut)
{
    const auto state = mix.states.find(shortcut);
    return state != mix.states.end() && state->second == ShortcutState::Pruned;
}

DepthReader readerOf(const DepthMix& mix, std::int64_t target, std::int64_t modules)
{
    DepthReader reader{target, sourcesOf(mix, target, modules), summedMiddleOf(mix, target, modules), {}};
    if (reader.middle && !isPruned(mix, {reader.middle->first, target})) {
        reader.sources.push_back(reader.middle->first);
        std::ranges::sort(reader.sources);
    }
    reader.ports = target <= modules ? portsOf(mix.ports) : std::vector{MixPort::Final};
    return reader;
}

} // namespace

std::string_view nameOf(MixPort port)
{
    return std::ranges::find(kPortNames, port, &std::pair<MixPort, std::string_view>::first)->second;
}

std::optional<MixPort> mixPortNamed(std::string_view name)
{
    const auto found = std::ranges::find(kPortNames, name, &std::pair<MixPort, std::string_view>::second);
    return found == kPortNames.end() ? std::nullopt : std::optional(found->first);
}

const std::vector<MixPort>& portsOf(MixPorts ports)
{
    static const std::vector<MixPort> kInput{MixPort::Input};
    static const std::vector<MixPort> kQkv{MixPort::Query, MixPort::Key, MixPort::Value};
    static const std::vector<MixPort> kQkvResidual{MixPort::Query, MixPort::Key, MixPort::Value, MixPort::Residual};
    return ports == MixPorts::Input ? kInput : ports == MixPorts::Qkv ? kQkv : kQkvResidual;
}

DepthPlan::DepthPlan(const DepthMix& mix, std::int64_t layers)
    : m_layers(layers),
      m_modules(mixedModules(mix, layers)),
      m_ports(mix.ports),
      m_init(mix.init),
      m_runningSum(projects::isRunningSum(mix))
{
    for (std::int64_t target = 1; target <= m_modules + (mix.finalMix ? 1 : 0); ++target) {
        m_readers.push_back(readerOf(mix, target, m_modules));
    }
    for (std::size_t reader = 0; reader < m_readers.size(); ++reader) {
        for (std::size_t output = 0; output < m_readers[reader].outputs(); ++output) {
            for (const std::int64_t source : m_readers[reader].sources) {
                m_terms.push_back({reader, output, source});
            }
        }
    }
}

double DepthPlan::startOf(const DepthTerm& term) const
{
    const DepthReader& reader = m_readers[term.reader];
    switch (m_init) {
    case MixInit::Ones:
        return 1;
    case MixInit::Zero:
        return 0;
    case MixInit::Cascaded:
        return term.source == reader.sources.back() ? 1 : 0;
    case MixInit::Reciprocal:
        return 1.0 / static_cast<double>(reader.target);
    }
    return 1;
}

std::string DepthPlan::matrixName(std::string_view kind, MixPort port) const
{
    const bool apart = m_ports != MixPorts::Input;
    return std::string(kind) + (apart ? "/" + std::string(nameOf(port)) : std::string());
}

bool isRunningSum(const DepthMix& mix)
{
    return mix.weight == WeightKind::Fixed && mix.init == MixInit::Ones && mix.entry == StackEntry::Branch &&
           mix.feeds == MixFeeds::LayerInput && mix.normalise == NormaliseOver::None && mix.states.empty() &&
           mix.gate.kind == GateKind::None && std::holds_alternative<AllSources>(mix.sources);
}

std::optional<double> centreOfWeights(const Wiring& wiring)
{
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    if (mix == nullptr || mix->normalise != NormaliseOver::None) {
        return std::nullopt;
    }
    return mix->init == MixInit::Ones ? 1.0 : 0.0;
}

} // namespace residua::projects
