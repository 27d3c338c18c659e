// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/depth/unrolled_depth.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::projects {

namespace {

/// A value of the program: one sum, or one for each part of a value that is split. Each part of a branch then counts as
/// a branch.
using Parts = std::vector<BranchSum>;

Parts plus(Parts a, const Parts& b)
{
    for (std::size_t part = 0; part < a.size(); ++part) {
        std::ranges::transform(a[part], b[part], a[part].begin(), std::plus<>());
    }
    return a;
}

class Walk {
public:
    Walk(const DepthProgram& program, std::int64_t features, Granularity granularity, const UnrolledDepth* wanted,
         const Mixer& mixer)
        : m_program(program),
          m_isHalf(granularity == Granularity::Half),
          m_features(static_cast<std::size_t>(features)),
          m_branches(static_cast<std::size_t>(m_isHalf                            ? 2 * program.layers
                                              : granularity == Granularity::Layer ? program.layers
                                                                                  : program.modules)),
          m_wanted(wanted),
          m_mixer(mixer),
          m_values(program.values),
          m_wantedSums(program.values)
    {
        m_result.granularity = granularity;
        m_result.features = features;
        m_result.inputs.resize(m_branches);
    }

    Result<UnrolledDepth> run()
    {
        if (m_wanted != nullptr) {
            findWanted();
        }
        for (const DepthStep& step : m_program.steps) {
            RESIDUA_TRY(apply(step));
        }
        m_result.output = folded(m_values[m_program.result]);
        return std::move(m_result);
    }

private:
    /// True between FFN inputs, where a module is the FFN of one layer and the attention of the next.
    [[nodiscard]] bool isShifted() const { return m_isHalf && m_program.sites == MixSites::Ffn; }
    [[nodiscard]] bool joinsHalves() const { return m_isHalf && m_program.sites == MixSites::Mhsa; }
    /// Returns the number of a module's first branch.
    [[nodiscard]] std::size_t firstBranch(std::int64_t module) const
    {
        const auto number = static_cast<std::size_t>(module);
        return isShifted() ? 2 * number : joinsHalves() ? 2 * number - 1 : number;
    }

    /// Finds for each value the sum that is wanted of it: of the first module that reads it, or of the output.
    void findWanted()
    {
        std::vector<std::size_t> origins(m_program.values); // the value that a stored value was before
        for (const DepthStep& step : m_program.steps) {
            for (std::size_t o = 0; o < step.outputs; ++o) {
                const bool isStored = step.kind == DepthStepKind::Store;
                origins[step.output + o] = isStored ? origins[step.inputs.front()] : step.output + o;
            }
            for (std::size_t port = 0; port < step.inputs.size() && step.kind == DepthStepKind::Run; ++port) {
                const BranchSum*& sum = m_wantedSums[origins[step.inputs[port]]];
                sum = sum != nullptr ? sum : &m_wanted->inputs[firstBranch(step.module) - 1][port];
            }
        }
        std::ranges::replace(m_wantedSums, nullptr, &m_wanted->output);
    }

    Status apply(const DepthStep& step)
    {
        const auto input = [&](std::size_t number) -> const Parts& { return m_values[step.inputs[number]]; };
        Parts& output = m_values[step.output];
        switch (step.kind) {
        case DepthStepKind::Enter:
            output = enter();
            break;
        case DepthStepKind::Store:
            output = input(0);
            break;
        case DepthStepKind::Add:
            output = plus(input(0), input(1));
            break;
        case DepthStepKind::Newest:
            output = input(1);
            break;
        case DepthStepKind::Split:
            for (std::size_t part = 0; part < step.outputs; ++part) {
                m_values[step.output + part] = {input(0)[part]};
            }
            break;
        case DepthStepKind::Merge:
            for (std::size_t part = 0; part < step.inputs.size(); ++part) {
                output.push_back(input(part).front());
            }
            break;
        case DepthStepKind::Run:
            output = branchOf(step);
            break;
        case DepthStepKind::Mix:
        case DepthStepKind::Join:
            return mix(step);
        case DepthStepKind::Visit:
        case DepthStepKind::Leave:
            return Error{"network · loops", "a residual that changes between visits is no sum of branches"};
        }
        return Done{};
    }

    Parts enter()
    {
        const Parts sum = branch(0);
        if (!isShifted()) {
            return sum;
        }
        m_result.inputs[0].fill(folded(sum));
        return plus(sum, branch(1));
    }

    /// Returns the branch of a module, and records what it reads.
    Parts branchOf(const DepthStep& step)
    {
        const auto read = [&](MixPort port) -> const Parts& {
            return m_values[step.inputs[mixFor(m_program.ports, port).value_or(0)]];
        };
        const std::size_t first = firstBranch(step.module);
        const std::vector<MixPort> ports = portsOf(MixPorts::QkvResidual);
        std::ranges::transform(ports, m_result.inputs[first - 1].begin(),
                               [&](MixPort port) { return folded(read(port)); });
        const Parts own = branch(first);
        if (!joinsHalves() && !(isShifted() && step.module < m_program.modules)) {
            return own;
        }
        m_result.inputs[first].fill(folded(plus(read(MixPort::Residual), own)));
        return plus(own, branch(first + 1));
    }

    Status mix(const DepthStep& step)
    {
        constexpr std::array kOne{1.0};
        for (std::size_t o = 0; o < step.outputs; ++o) {
            const BranchSum base = step.base ? m_values[*step.base].front() : none();
            MixSite site{step.firstTerm + o * step.inputs.size(), {}, {}};
            for (const std::size_t input : step.inputs) {
                site.entries.push_back(m_values[input].front());
            }
            if (m_wanted != nullptr) {
                site.wanted = *m_wantedSums[step.output + o];
                addTo(site.wanted, base, kOne, -1);
            }
            BranchSum mixed = RESIDUA_TRY(site.entries.empty() ? Result<BranchSum>(none()) : m_mixer(site));
            addTo(mixed, base, kOne);
            m_values[step.output + o] = {std::move(mixed)};
        }
        return Done{};
    }

    [[nodiscard]] BranchSum none() const { return BranchSum((m_branches + 1) * m_program.parts * m_features, 0.0); }
    /// Returns branch `number` alone.
    [[nodiscard]] Parts branch(std::size_t number) const
    {
        const std::size_t parts = m_program.parts;
        Parts result(parts, none());
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t first = (number * parts + part) * m_features;
            std::fill_n(result[part].begin() + static_cast<std::ptrdiff_t>(first), m_features, 1.0);
        }
        return result;
    }
    /// Returns the mean over the parts of the weights with which each reaches itself.
    [[nodiscard]] BranchSum folded(const Parts& value) const
    {
        if (value.size() == 1) {
            return value.front();
        }
        BranchSum sum(m_branches + 1, 0.0);
        for (std::size_t part = 0; part < value.size(); ++part) {
            for (std::size_t b = 0; b < sum.size(); ++b) {
                sum[b] += value[part][b * value.size() + part] / static_cast<double>(value.size());
            }
        }
        return sum;
    }

    const DepthProgram& m_program;
    const bool m_isHalf;
    const std::size_t m_features;
    const std::size_t m_branches;
    const UnrolledDepth* m_wanted;
    const Mixer& m_mixer;
    std::vector<Parts> m_values;
    std::vector<const BranchSum*> m_wantedSums; ///< of each value
    UnrolledDepth m_result;
};

} // namespace

Result<UnrolledDepth> walk(const DepthProgram& program, std::int64_t features, Granularity granularity,
                           const UnrolledDepth* wanted, const Mixer& mixer)
{
    return Walk(program, features, granularity, wanted, mixer).run();
}

void addTo(BranchSum& to, const BranchSum& sum, std::span<const double> weight, double factor)
{
    for (std::size_t i = 0; i < sum.size(); ++i) {
        to[i] += factor * weight[i % weight.size()] * sum[i];
    }
}

bool same(double a, double b)
{
    constexpr double kSame = 1e-9;
    return std::abs(a - b) <= kSame * std::max({1.0, std::abs(a), std::abs(b)});
}

Granularity granularityFor(const Wiring& a, const Wiring& b)
{
    return splitsLayers(a) || splitsLayers(b) ? Granularity::Half : Granularity::Layer;
}

MixNumbers startingWeights(const DepthMix& mix, std::int64_t layers)
{
    const DepthPlan plan = planOf(mix, layers);
    return appliedWeights(mix, plan, {1, plan.start});
}

DepthProgram factorProgram(std::size_t modules, Granularity granularity)
{
    const bool halves = granularity == Granularity::Half;
    BranchGate gate;
    gate.sites = halves ? MixSites::Both : MixSites::Mhsa;
    return programOf(gate, static_cast<std::int64_t>(modules) / (halves ? 2 : 1));
}

UnrolledDepth unrolled(const DepthProgram& program, const MixNumbers& weights, Granularity granularity)
{
    const auto features = static_cast<std::size_t>(weights.features);
    const std::span<const double> values = weights.values;
    const Mixer mixer = [&](const MixSite& site) -> Result<BranchSum> {
        BranchSum mixed(site.entries.front().size(), 0.0);
        for (std::size_t e = 0; e < site.entries.size(); ++e) {
            addTo(mixed, site.entries[e], values.subspan((site.firstTerm + e) * features, features));
        }
        return mixed;
    };
    return *walk(program, weights.features, granularity, nullptr, mixer); // this mixer returns no error
}

UnrolledDepth unrolled(const DepthMix& mix, std::int64_t layers, const MixNumbers& applied, Granularity granularity)
{
    const DepthProgram program = programOf(mix, layers);
    if (!isRunningSum(mix)) {
        return unrolled(program, applied, granularity);
    }
    MixNumbers beside; // the running sum has each entry once
    for (const std::size_t term : learnedTerms(mix, planOf(mix, layers))) {
        beside.values.push_back(applied.values[term] - 1);
    }
    return unrolled(program, beside, granularity);
}

} // namespace residua::projects
