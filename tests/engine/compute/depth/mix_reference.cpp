// SPDX-License-Identifier: GPL-3.0-or-later
#include "mix_reference.h"

#include "projects/nodes/graph_builder.h"
#include "tests/engine/compute/network/network_harness.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

namespace residua::tests {

using engine::CompiledNetwork;
using projects::GraphBuilder;
using projects::Project;
using Tensors = std::vector<at::Tensor>;

namespace {

bool isDca(const std::string& name)
{
    return name == "dca" || name == "k-dca" || name == "dca-table";
}

/// A gate vector for each entry, not for each mix.
bool gatesEntries(const std::string& name)
{
    return name == "grn-v3-table" || name == "dca-table";
}

std::int64_t portsOf(const std::string& name)
{
    return isDca(name) ? 3 : name == "mudd" ? 4 : 1;
}

/// One network under one preset. Layers and readers count from 1; reader L + 1 is the final output.
class Reference {
public:
    Reference(const Project& project, CompiledNetwork& network, const std::vector<double>& factors)
        : m_name(project.stack().topology.preset),
          m_network(network),
          m_depth(project.network.depth()),
          m_factors(factors)
    {
        if (const auto* const mix = std::get_if<projects::DepthMix>(&project.stack().topology.wiring)) {
            m_temperature = mix->temperature;
        }
    }

    at::Tensor run(const at::Tensor& input)
    {
        if (m_name == "none" || m_name.starts_with("ancre")) {
            return runBeside(input);
        }
        const bool full = m_name.starts_with("denseformer") || m_name == "mudd";
        m_entries = {input};
        for (std::int64_t j = 1; j <= m_depth; ++j) {
            const Tensors mixes = read(j, portsOf(m_name));
            const at::Tensor f = branch(j, mixes);
            m_entries.push_back(full ? mixes.back() + f : f);
            if (m_name == "grn-v2-table" && j == m_depth) {
                return mixes[0] + f; // no final mix
            }
        }
        return read(m_depth + 1, 1)[0];
    }

private:
    at::Tensor weight(const std::string& name) { return parameter(m_network, name); }
    at::Tensor layer(std::int64_t j, const std::string& node, const at::Tensor& x)
    {
        return at::matmul(x, weight("layers." + std::to_string(j) + "." + node + ".weight").t());
    }

    at::Tensor branch(std::int64_t j, const Tensors& mixes)
    {
        return m_factors.empty() ? unscaled(j, mixes)
                                 : m_factors.at(static_cast<std::size_t>(j - 1)) * unscaled(j, mixes);
    }

    /// The block of portedVectors.
    at::Tensor unscaled(std::int64_t j, const Tensors& mixes)
    {
        if (mixes.size() == 1) {
            return layer(j, "weight", mixes[0]);
        }
        const at::Tensor& residual = mixes.size() == 4 ? mixes[3] : mixes[0];
        return layer(j, "a", mixes[0]).tanh() * layer(j, "b", mixes[1]) + layer(j, "c", mixes[2]) +
               layer(j, "e", residual);
    }

    /// ANCRe eq. 5 with the weights of eq. 6 to 8: x_j = F_j(x_{j-1}) + Σ p_ij x_i.
    at::Tensor runBeside(const at::Tensor& input)
    {
        Tensors x{input};
        for (std::int64_t j = 1; j <= m_depth; ++j) {
            at::Tensor sum = branch(j, {x.back()});
            for (std::int64_t i = 0; i < j && m_name != "none"; ++i) {
                if (m_name != "ancre-cascaded" || i == j - 1) {
                    sum = sum + shortcut(i, j) * x[static_cast<std::size_t>(i)];
                }
            }
            x.push_back(sum);
        }
        return x.back();
    }

    at::Tensor shortcut(std::int64_t i, std::int64_t j)
    {
        if (m_name == "ancre-fixed") {
            return at::zeros_like(m_network.parameters()[0].tensor).flatten()[0].detach() +
                   1.0 / static_cast<double>(j);
        }
        const at::Tensor c = weight("topology.coefficient");
        const auto at = [&](std::int64_t source, std::int64_t target) {
            return m_name == "ancre-cascaded" ? c[target - 1] : c[target * (target - 1) / 2 + source];
        };
        if (m_name == "ancre-none" || m_name == "ancre-cascaded") {
            return at(i, j);
        }
        const bool ingoing = m_name == "ancre-ingoing";
        at::Tensor sum = at::zeros_like(c[0]);
        for (std::int64_t k = ingoing ? 0 : i + 1; k <= (ingoing ? j - 1 : m_depth); ++k) {
            sum = sum + at::exp((ingoing ? at(k, j) : at(i, k)) / m_temperature);
        }
        return at::exp(at(i, j) / m_temperature) / sum;
    }

    /// Returns the terms of reader j's mix.
    Tensors termsOf(std::int64_t j)
    {
        const auto newest = static_cast<std::size_t>(j) - 1;
        Tensors terms;
        if (m_name == "k-dca" && newest > 2) {
            at::Tensor middle = m_entries[1];
            for (std::size_t i = 2; i + 2 <= newest; ++i) {
                middle = middle + m_entries[i];
            }
            return {m_entries[0], middle, m_entries[newest - 1], m_entries[newest]};
        }
        if (newest > 3 && m_name == "grn-v3-last-4") {
            return {m_entries[newest - 3], m_entries[newest - 2], m_entries[newest - 1], m_entries[newest]};
        }
        if (newest > 3 && m_name == "grn-v3-input-last-3") {
            return {m_entries[0], m_entries[newest - 2], m_entries[newest - 1], m_entries[newest]};
        }
        if (m_name == "denseformer-dilated") {
            for (std::size_t i = newest % 4; i <= newest && newest % 5 == 0; i += 4) {
                terms.push_back(m_entries[i]);
            }
            return newest > 0 ? terms : Tensors();
        }
        if (newest == 0 && (m_name == "denseformer" || m_name == "mudd")) {
            return {};
        }
        if (m_name == "attention-residuals-block") {
            terms = {m_entries[0]};
            for (std::size_t i = 1; i <= newest; ++i) {
                if (i % 2 == 1) {
                    terms.push_back(m_entries[i]);
                } else {
                    terms.back() = terms.back() + m_entries[i];
                }
            }
            return terms;
        }
        return {m_entries.begin(), m_entries.begin() + j};
    }

    Tensors read(std::int64_t j, std::int64_t ports)
    {
        const Tensors terms = termsOf(j);
        const auto n = static_cast<std::int64_t>(terms.size());
        if (terms.empty()) { // what weighs nothing reads the newest entry
            return {static_cast<std::size_t>(ports), m_entries.back()};
        }
        Tensors mixes;
        for (std::int64_t o = 0; o < ports; ++o) {
            const Tensors weights = m_name == "mudd"                            ? mudd(j, o, ports, n)
                                    : m_name.starts_with("attention-residuals") ? attention(terms)
                                                                                : coefficients(terms);
            at::Tensor sum = at::zeros_like(terms[0]);
            for (std::size_t s = 0; s < terms.size(); ++s) {
                sum = sum + weights[s] * terms[s];
            }
            mixes.push_back(sum);
            ++m_mix;
        }
        return mixes;
    }

    /// GRN-v1 to v3 (DeepCrossAttention section 3.1) and DenseFormer: b, with ReLU(wᵀx) added where there is a gate.
    Tensors coefficients(const Tensors& terms)
    {
        Tensors result;
        for (const at::Tensor& term : terms) {
            const std::int64_t gate = gatesEntries(m_name) ? m_term : m_mix;
            at::Tensor b = m_name == "plain" ? at::zeros_like(term) + 1.0 : weight("topology.coefficient")[m_term++];
            if (m_name.starts_with("grn-v3") || isDca(m_name)) {
                b = b + at::relu(at::matmul(term, weight("topology.gate")[gate])).unsqueeze(1);
            }
            result.push_back(b);
        }
        return result;
    }

    static at::Tensor normalised(const at::Tensor& x) { return x * at::rsqrt((x * x).mean(1, true) + 1e-6); }

    /// MUDD: GELU(RMSNorm(x)W1)W2 + bias of the newest entry.
    Tensors mudd(std::int64_t j, std::int64_t o, std::int64_t ports, std::int64_t n)
    {
        const std::string prefix = "topology." + std::to_string(j) + ".";
        const at::Tensor hidden = at::gelu(at::matmul(normalised(m_entries.back()), weight(prefix + "hidden").t()));
        const at::Tensor all = at::matmul(hidden, weight(prefix + "mix").t()) + weight(prefix + "bias");
        Tensors result;
        for (std::int64_t s = 0; s < n; ++s) {
            result.push_back(all.view({-1, ports, n}).select(1, o).select(1, s).unsqueeze(1));
        }
        return result;
    }

    /// Attention Residuals: softmax over i of ⟨q, RMSNorm(x_i)w⟩.
    Tensors attention(const Tensors& terms)
    {
        Tensors logits;
        for (const at::Tensor& term : terms) {
            logits.push_back(
                at::matmul(normalised(term) * weight("topology.norm")[m_mix], weight("topology.query")[m_mix]));
        }
        const at::Tensor p = at::softmax(at::stack(logits), 0);
        Tensors result;
        for (std::int64_t s = 0; s < p.size(0); ++s) {
            result.push_back(p[s].unsqueeze(1));
        }
        return result;
    }

    std::string m_name;
    CompiledNetwork& m_network;
    std::int64_t m_depth;
    std::vector<double> m_factors;
    double m_temperature = 1;
    Tensors m_entries;
    std::int64_t m_term = 0; ///< coefficients read so far
    std::int64_t m_mix = 0;  ///< mixes made so far
};

/// ANCRe module level (Table 1): the attention and FFN halves one after the other.
class HalvedReference {
public:
    HalvedReference(const Project& project, CompiledNetwork& network)
        : m_mix(std::get<projects::DepthMix>(project.stack().topology.wiring)),
          m_network(network),
          m_depth(project.network.depth()),
          m_coefficient(parameter(network, "topology.coefficient"))
    {
    }

    at::Tensor run(const at::Tensor& input)
    {
        return projects::hasTwoFamilies(m_mix) ? runFamilies(input) : runBridges(input);
    }

private:
    /// Section 4.2: of each kind of input a learned sum of the earlier ones, beside both branches since.
    at::Tensor runFamilies(const at::Tensor& input)
    {
        const auto learned = [this](const Tensors& inputs) { return plusLearned(at::zeros_like(inputs[0]), inputs); };
        Tensors attentionInputs{input};
        Tensors ffnInputs;
        at::Tensor f;
        for (std::int64_t j = 1; j <= m_depth; ++j) {
            const at::Tensor a = times(j, "a", attentionInputs.back());
            ffnInputs.push_back(j == 1 ? input + a : f + a + learned(ffnInputs));
            f = ffn(j, ffnInputs.back());
            const bool plain = j == m_depth && !m_mix.lastMix;
            attentionInputs.push_back(plain ? ffnInputs.back() + f : a + f + learned(attentionInputs));
        }
        return attentionInputs.back();
    }

    /// Bridged at one or both of the halves' inputs; without a bridge at a site the plain sum stands there.
    at::Tensor runBridges(const at::Tensor& input)
    {
        const bool attentions = m_mix.sites != projects::MixSites::Ffn;
        const bool ffns = m_mix.sites != projects::MixSites::Mhsa;
        Tensors bridged;
        const auto arrive = [&](const at::Tensor& branches) {
            bridged.push_back(bridged.empty() ? branches : plusLearned(branches, bridged));
            return bridged.back();
        };
        at::Tensor x = input;
        at::Tensor since; // branches since the last bridged site
        if (attentions) {
            bridged.push_back(input);
        }
        for (std::int64_t j = 1; j <= m_depth; ++j) {
            const at::Tensor a = times(j, "a", x);
            since = since.defined() ? since + a : a;
            if (ffns) {
                x = bridged.empty() ? arrive(input + a) : arrive(since);
                since.reset();
            } else {
                x = x + a;
            }
            const at::Tensor f = ffn(j, x);
            since = since.defined() ? since + f : f;
            if (attentions || j == m_depth) {
                x = arrive(since);
                since.reset();
            } else {
                x = x + f;
            }
        }
        return x;
    }

    at::Tensor times(std::int64_t layer, const char* node, const at::Tensor& x)
    {
        return at::matmul(x, parameter(m_network, "layers." + std::to_string(layer) + "." + node + ".weight").t());
    }
    at::Tensor ffn(std::int64_t layer, const at::Tensor& x)
    {
        return times(layer, "down", at::relu(times(layer, "up", x)));
    }

    /// `value` and the next mix, of all of `inputs`.
    at::Tensor plusLearned(at::Tensor value, const Tensors& inputs)
    {
        const auto n = static_cast<std::int64_t>(inputs.size());
        const at::Tensor p = at::softmax(m_coefficient.narrow(0, m_term, n) / m_mix.temperature, 0);
        m_term += n;
        for (std::int64_t i = 0; i < n; ++i) {
            value = value + p[i] * inputs[static_cast<std::size_t>(i)];
        }
        return value;
    }

    const projects::DepthMix& m_mix;
    CompiledNetwork& m_network;
    std::int64_t m_depth;
    at::Tensor m_coefficient;
    std::int64_t m_term = 0; ///< coefficients read so far
};

} // namespace

Project portedVectors(const std::string& topology, std::int64_t depth)
{
    Project project = tinyVectors("linear", topology, depth);
    if (portsOf(topology) == 1) {
        return project;
    }
    GraphBuilder graph;
    for (const std::string port : {"q", "k", "v"}) {
        graph.node(port, "input", {{"port", port}});
    }
    if (topology == "mudd") {
        graph.node("residual", "input", {{"port", std::string("residual")}});
    }
    graph.node("a", "linear").node("b", "linear").node("c", "linear").node("e", "linear");
    graph.node("tanh", "activation", {{"function", std::string("tanh")}})
        .node("times", "multiply")
        .node("sum", "add")
        .node("all", "add")
        .node("output", "output")
        .wire("q", "a")
        .wire("k", "b")
        .wire("v", "c")
        .wire(topology == "mudd" ? "residual" : "q", "e")
        .wire("a", "tanh")
        .wire("tanh", "times.in1")
        .wire("b", "times.in2")
        .wire("times", "sum.in1")
        .wire("c", "sum.in2")
        .wire("sum", "all.in1")
        .wire("e", "all.in2")
        .wire("all", "output");
    project.network.blocks[0].graph = graph.build();
    return project;
}

Project halvedVectors(projects::MixSites sites, std::int64_t depth)
{
    Project project = tinyVectors("linear", "ancre-ingoing", depth);
    std::get<projects::DepthMix>(project.stack().topology.wiring).sites = sites;
    project.network.blocks[0].graph = GraphBuilder()
                                          .node("input", "input")
                                          .node("a", "linear")
                                          .node("site", "add")
                                          .node("up", "linear")
                                          .node("relu", "activation", {{"function", std::string("relu")}})
                                          .node("down", "linear")
                                          .node("branch", "add")
                                          .node("output", "output")
                                          .wire("input", "a")
                                          .wire("a", "site.in1")
                                          .wire("input", "site.in2")
                                          .wire("site", "up")
                                          .wire("up", "relu")
                                          .wire("relu", "down")
                                          .wire("down", "branch.in1")
                                          .wire("a", "branch.in2")
                                          .wire("branch", "output")
                                          .build();
    return project;
}

at::Tensor referenceOutput(const Project& project, CompiledNetwork& network, const at::Tensor& input,
                           const std::vector<double>& factors)
{
    if (projects::splitsLayers(std::get<projects::DepthMix>(project.stack().topology.wiring))) {
        return HalvedReference(project, network).run(input);
    }
    return Reference(project, network, factors).run(input);
}

std::int64_t referenceParameters(const std::string& topology, std::int64_t depth, std::int64_t width)
{
    const std::int64_t l = depth;
    const std::int64_t pairs = (l + 1) * (l + 2) / 2; // readers 1..L + 1, each of all before it
    if (topology == "grn-v1") {
        return pairs;
    }
    if (topology == "denseformer") {
        return pairs - 1; // layer 1 has none
    }
    if (topology == "grn-v2-table") {
        return l * (l + 1) / 2 * width;
    }
    if (topology == "grn-v3-table") {
        return 2 * pairs * width;
    }
    if (topology == "grn-v3-last-4" || topology == "grn-v3-input-last-3") {
        return (5 * l - 1) * width; // 4 entries a reader but for the first three, and a gate vector
    }
    if (topology == "grn-v2") {
        return pairs * width;
    }
    if (topology == "grn-v3" || topology == "grn-v3-literal") {
        return (pairs + l + 1) * width;
    }
    if (isDca(topology)) {
        std::int64_t mixes = 0;
        for (std::int64_t j = 1; j <= l + 1; ++j) {
            const std::int64_t entries = topology == "k-dca" ? std::min<std::int64_t>(j, 4) : j;
            mixes += (j <= l ? 3 : 1) * (entries + (gatesEntries(topology) ? entries : 1)); // b, and the gate's w
        }
        return mixes * width;
    }
    if (topology == "ancre-ingoing" || topology == "ancre-outgoing" || topology == "ancre-none") {
        return l * (l + 1) / 2;
    }
    if (topology == "ancre-cascaded") {
        return l;
    }
    if (topology == "denseformer-dilated") {
        std::int64_t weights = 0;
        for (std::int64_t n = 5; n <= l; n += 5) {
            weights += n / 4 + 1;
        }
        return weights;
    }
    if (topology == "mudd") {
        std::int64_t weights = 0;
        for (std::int64_t j = 2; j <= l + 1; ++j) {
            const std::int64_t n = j * (j <= l ? 4 : 1);
            const std::int64_t h = ((j <= l ? n : 4 * n) / 64 + 1) * 64;
            weights += width * h + h * n + n;
        }
        return weights;
    }
    return topology.starts_with("attention-residuals") ? 2 * width * (l + 1) : 0;
}

} // namespace residua::tests
