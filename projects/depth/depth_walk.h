// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/unrolled_depth.h"

#include <algorithm>
#include <functional>
#include <utility>

/// Computes and solves unrolled depths. Private to them.
namespace residua::projects {

using Ports = std::array<BranchSum, 4>;
/// The ports in the order of their mixes, if each port has a mix of its own (portsOf).
inline constexpr std::array kReadPorts{MixPort::Query, MixPort::Key, MixPort::Value, MixPort::Residual};
inline constexpr std::size_t kResidual = 3;

/// Sums over one network's branches.
class Sums {
public:
    Sums(std::int64_t branches, std::int64_t features)
        : m_branches(static_cast<std::size_t>(branches)), m_features(static_cast<std::size_t>(features))
    {
    }

    [[nodiscard]] std::size_t branches() const { return m_branches; }
    [[nodiscard]] std::size_t features() const { return m_features; }
    [[nodiscard]] BranchSum none() const { return BranchSum((m_branches + 1) * m_features, 0.0); }
    [[nodiscard]] BranchSum branch(std::size_t number) const
    {
        BranchSum sum = none();
        std::fill_n(sum.begin() + static_cast<std::ptrdiff_t>(number * m_features), m_features, 1.0);
        return sum;
    }
    [[nodiscard]] double& at(BranchSum& sum, std::size_t branch, std::size_t feature) const
    {
        return sum[branch * m_features + feature];
    }
    [[nodiscard]] double at(const BranchSum& sum, std::size_t branch, std::size_t feature) const
    {
        return sum[branch * m_features + feature];
    }
    /// Returns the newest branch in a sum.
    [[nodiscard]] std::size_t newest(const BranchSum& sum) const
    {
        const auto last = std::find_if(sum.rbegin(), sum.rend(), [](double weight) { return weight != 0; });
        return last == sum.rend() ? 0 : (static_cast<std::size_t>(sum.rend() - last) - 1) / m_features;
    }
    /// to += weight·sum, feature by feature.
    void add(BranchSum& to, const BranchSum& sum, const std::function<double(std::size_t)>& weight) const
    {
        for (std::size_t f = 0; f < m_features; ++f) {
            const double w = weight(f);
            for (std::size_t b = 0; b <= m_branches && w != 0; ++b) {
                at(to, b, f) += w * at(sum, b, f);
            }
        }
    }

private:
    std::size_t m_branches;
    std::size_t m_features;
};

[[nodiscard]] BranchSum operator+(BranchSum a, const BranchSum& b);

/// One mix to be computed.
struct MixSite {
    std::size_t firstTerm = 0;      ///< index of its first term; the others follow
    std::vector<BranchSum> entries; ///< entries that the terms weight
    const DepthReader* reader = nullptr;
    BranchSum wanted; ///< the wanted result; empty if not given
};

/// Computes a mix. An error ends the walk.
using Mixer = std::function<Result<BranchSum>(const MixSite& site)>;

/// Walks the layers as the engine runs them (engine/depth/mix_wiring.cpp), with sums in place of tensors.
class Walk {
public:
    Walk(const DepthMix& mix, std::int64_t layers, std::int64_t features, Granularity granularity,
         const UnrolledDepth* wanted, Mixer mixer)
        : m_mix(mix),
          m_granularity(granularity),
          m_plan(planOf(mix, layers)),
          m_modules(static_cast<std::size_t>(m_plan.modules)),
          m_sums(granularity == Granularity::Half ? 2 * layers : layers, features),
          m_wanted(wanted),
          m_mixer(std::move(mixer))
    {
        std::size_t terms = 0;
        for (const DepthReader& reader : m_plan.readers) {
            m_firstTerm.push_back(terms);
            terms += static_cast<std::size_t>(reader.terms());
        }
        m_result.granularity = granularity;
        m_result.features = features;
        m_result.inputs.resize(m_sums.branches());
    }

    Result<UnrolledDepth> run();

private:
    /// Between FFN inputs, a module is the FFN of one layer and the attention of the next.
    [[nodiscard]] bool shifted() const { return splitsLayers(m_mix) && m_mix.sites == MixSites::Ffn; }
    [[nodiscard]] bool joinsHalves() const { return m_granularity == Granularity::Half && !splitsLayers(m_mix); }
    /// Returns the number of a module's first branch.
    [[nodiscard]] std::size_t firstBranch(std::size_t module) const;
    BranchSum start();
    void put(std::size_t module, const BranchSum& value);
    /// Returns the branch of a module with the inputs `read`.
    BranchSum branchOf(std::size_t module, const Ports& read);
    Result<BranchSum> mixOf(std::size_t reader, int output, BranchSum wanted);
    /// The layer reads mixes (DCA §3.1, DenseFormer). Returns its full output.
    Result<BranchSum> onMix(std::size_t module);
    /// The layer reads the output of the layer before, and the mix is added to its branch (ANCRe eq. 5).
    Result<BranchSum> beside(std::size_t module, const BranchSum& before);

    const DepthMix& m_mix;
    Granularity m_granularity;
    DepthPlan m_plan;
    std::size_t m_modules;
    std::vector<std::size_t> m_firstTerm; ///< of each reader
    Sums m_sums;
    const UnrolledDepth* m_wanted;
    Mixer m_mixer;
    UnrolledDepth m_result;
    std::vector<BranchSum> m_entries;
    BranchSum m_before; ///< branch of the module before, added to the next one (SitePairs::Alike)
};

} // namespace residua::projects
