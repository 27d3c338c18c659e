// SPDX-License-Identifier: GPL-3.0-or-later
// The layers of a DepthMix: every reader's mix goes through DepthStack::mix.
#include "engine/depth/depth_stack.h"
#include "engine/depth/depth_weights.h"
#include "engine/depth/layer_wiring.h"
#include "projects/depth/depth_names.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <optional>
#include <string>

namespace residua::engine {

using projects::DepthMix;
using projects::DepthReader;
using projects::MixFeeds;
using projects::MixPorts;
using projects::StackEntry;

namespace {

/// The entries of one pass by their number in the document: 0 is the input, b belongs to the b-th layer or group of
/// layers. The entry of a layer that the pass leaves out is absent.
class Entries {
public:
    Entries(DepthStack& stack, const DepthMix& mix) : m_stack(stack), m_mix(mix) {}

    /// Adds the output of module `module` (0: the input) to the entry of its group. Does nothing if `value` is
    /// undefined.
    void put(std::int64_t module, const at::Tensor& value)
    {
        const auto number = static_cast<std::size_t>(projects::entryOf(m_mix, module));
        m_index.resize(std::max(m_index.size(), number + 1));
        if (value.defined()) {
            std::optional<std::size_t>& index = m_index[number];
            index = m_stack.push(index ? m_stack.entry(*index) + value : value);
            m_newest = *index;
        }
    }

    [[nodiscard]] const at::Tensor& newest() const { return m_stack.entry(m_newest); }

    /// The sources of a reader that this pass has.
    struct Present {
        std::vector<std::size_t> places;  ///< in DepthReader::sources
        std::vector<std::size_t> indices; ///< in the DepthStack
    };
    /// Returns the present sources; adds new entries to a summed middle first.
    [[nodiscard]] Present of(const DepthReader& reader)
    {
        Present present;
        for (std::size_t place = 0; place < reader.sources.size(); ++place) {
            const std::int64_t source = reader.sources[place];
            const bool middle = reader.middle && source == reader.middle->first;
            const auto index = middle ? sumOf(*reader.middle) : m_index[static_cast<std::size_t>(source)];
            if (index) {
                present.places.push_back(place);
                present.indices.push_back(*index);
            }
        }
        return present;
    }

private:
    std::optional<std::size_t> sumOf(const projects::EntryRange& range)
    {
        if (m_summed < range.first) {
            m_sum = m_index[static_cast<std::size_t>(range.first)];
            m_summed = range.first;
        }
        while (m_summed < range.last) {
            const std::optional<std::size_t> next = m_index[static_cast<std::size_t>(++m_summed)];
            if (next) {
                m_sum = m_sum ? m_stack.push(m_stack.entry(*m_sum) + m_stack.entry(*next)) : *next;
            }
        }
        return m_sum;
    }

    DepthStack& m_stack;
    const DepthMix& m_mix;
    std::vector<std::optional<std::size_t>> m_index; ///< the index of each entry in m_stack
    std::size_t m_newest = 0;
    std::optional<std::size_t> m_sum; ///< the summed middle's index; m_summed is the last entry in it
    std::int64_t m_summed = 0;
};

class MixWiring final : public LayerWiring {
public:
    MixWiring(const DepthMix& mix, LayerStack layers, const Compute& compute)
        : m_mix(mix),
          m_layers(std::move(layers)),
          m_depth(projects::planOf(mix, static_cast<std::int64_t>(m_layers.layers()))),
          m_modules(static_cast<std::size_t>(m_depth.modules)),
          m_twoFamilies(projects::hasTwoFamilies(mix)),
          m_compute(compute)
    {
    }

    /// Matches ports with mixes and makes the weights.
    [[nodiscard]] Status prepare(std::int64_t width, InitPlan& plan)
    {
        for (std::size_t layer = 0; layer < m_modules; ++layer) {
            const DepthReader& reader = m_depth.readers[layer];
            const std::string place = projects::readerName(m_mix, m_depth.layers, reader.target);
            Result<std::vector<std::size_t>> ports = matchPorts(m_layers.inputPorts(layer), place);
            if (!ports) {
                return ports.error();
            }
            m_ports.push_back(std::move(*ports));
            if (m_mix.feeds == MixFeeds::LayerInput && reader.sources.empty() && !reader.passes) {
                return Error{"topology · " + place, "reads no entry of the stack; it needs at least one"};
            }
        }
        Result<std::unique_ptr<DepthWeights>> weights = DepthWeights::create(m_mix, m_depth, width, plan);
        if (!weights) {
            return weights.error();
        }
        m_weights = std::move(*weights);
        return Done{};
    }

    [[nodiscard]] at::Tensor run(const at::Tensor& input, const Pass& pass) override
    {
        m_weights->begin();
        DepthStack stack(m_compute);
        Entries entries(stack, m_mix);
        entries.put(0, m_layers.enter(input, pass));
        at::Tensor output = entries.newest(); // x_{j-1}: the full output of the previous layer
        for (std::size_t layer = 0; layer < m_modules; ++layer) {
            const at::Tensor branch = m_mix.feeds == MixFeeds::LayerInput
                                          ? runOnMix(stack, entries, layer, pass, output)
                                          : runBeside(stack, entries, layer, pass, output);
            const bool full = m_mix.entry == StackEntry::Full;
            entries.put(static_cast<std::int64_t>(layer) + 1, full ? output : branch);
            output = full ? entries.newest() : output;
        }
        if (m_depth.readers.size() > m_modules && !m_depth.readers.back().passes) {
            output = mixOf(stack, entries, m_modules).front();
        }
        m_weights->end();
        m_before.reset();
        return output;
    }

    [[nodiscard]] std::vector<Regulariser> regularisers() const override { return m_weights->regularisers(); }
    [[nodiscard]] std::vector<Matrix> coefficients(std::int64_t step) override { return m_weights->matrices(step); }

private:
    /// Returns for each input port of a block the index of its mix.
    [[nodiscard]] Result<std::vector<std::size_t>> matchPorts(const std::vector<std::string>& ports,
                                                              const std::string& place) const
    {
        std::vector<std::size_t> result;
        for (const std::string& name : ports) {
            const projects::MixPort port = projects::mixPortFrom(name).value_or(projects::MixPort::Input);
            const std::optional<std::size_t> mix = projects::mixFor(m_depth.ports, port);
            if (!mix) {
                return Error{place, "the topology feeds q, k and v apart, but the block has the port " + name};
            }
            result.push_back(*mix);
        }
        return result;
    }

    /// Returns the reader's mixes of the present entries, added to `base` unless it is empty.
    std::vector<at::Tensor> mixOf(DepthStack& stack, Entries& entries, std::size_t reader,
                                  std::span<const at::Tensor> base = {})
    {
        const Entries::Present present = entries.of(m_depth.readers[reader]);
        std::vector<at::Tensor> mixes(base.begin(), base.end());
        if (!present.places.empty()) {
            for (const WeighedSources& part :
                 m_weights->of(reader, {stack, present.places, present.indices, entries.newest()})) {
                mixes = stack.mix(part.sources, part.weights, m_depth.readers[reader].outputs, mixes);
            }
        }
        if (mixes.empty()) {
            mixes.assign(static_cast<std::size_t>(m_depth.readers[reader].outputs), at::zeros_like(entries.newest()));
        }
        return mixes;
    }

    at::Tensor runLayer(std::size_t layer, const std::vector<at::Tensor>& mixes, const Pass& pass)
    {
        std::vector<at::Tensor> inputs;
        for (const std::size_t mix : m_ports[layer]) {
            inputs.push_back(mixes[mix]);
        }
        return m_layers.run(layer, inputs, pass);
    }

    /// Runs a layer that reads mixes (DCA §3.1, DenseFormer). Returns its branch, undefined if the pass leaves the
    /// layer out. Sets `output` to residual + branch if it is needed.
    at::Tensor runOnMix(DepthStack& stack, Entries& entries, std::size_t layer, const Pass& pass, at::Tensor& output)
    {
        const bool runs = m_layers.runs(layer, pass);
        const bool last = layer + 1 == m_modules && !m_mix.finalMix;
        const bool continues = m_mix.entry == StackEntry::Full || last;
        if (!runs && !continues) {
            return {};
        }
        const DepthReader& reader = m_depth.readers[layer];
        const std::vector<at::Tensor> mixes =
            reader.passes ? std::vector<at::Tensor>(static_cast<std::size_t>(reader.outputs), entries.newest())
                          : mixOf(stack, entries, layer);
        const at::Tensor branch = runs ? runLayer(layer, mixes, pass) : at::Tensor();
        if (continues) {
            const at::Tensor& residual =
                mixes[projects::mixFor(m_depth.ports, projects::MixPort::Residual).value_or(0)];
            output = runs ? residual + branch : residual;
        }
        return branch;
    }

    /// Returns a + b; if one is undefined, the other.
    static at::Tensor sumOf(const at::Tensor& a, const at::Tensor& b)
    {
        return !a.defined() ? b : !b.defined() ? a : a + b;
    }

    /// Adds the mix to the layer's branch (ANCRe eq. 5): the layer reads x_{j-1}, and x_j = F_j(x_{j-1}) + Σ p_ij·x_i.
    /// With two families, F_j is the sum of both branches since the previous site of the same kind. If the pass leaves
    /// the layer out, F_j is 0 and the result is undefined.
    at::Tensor runBeside(DepthStack& stack, Entries& entries, std::size_t layer, const Pass& pass, at::Tensor& output)
    {
        const bool runs = m_layers.runs(layer, pass);
        const at::Tensor branch = runs ? runLayer(layer, {output}, pass) : at::Tensor();
        if (m_depth.readers[layer].passes) {
            output = sumOf(entries.newest(), branch);
        } else {
            const at::Tensor arriving = m_twoFamilies && layer > 0 ? sumOf(m_before, branch) : branch;
            const std::vector<at::Tensor> base(arriving.defined() ? 1 : 0, arriving);
            output = mixOf(stack, entries, layer, base).front();
        }
        if (m_twoFamilies) {
            m_before = branch;
        }
        return branch;
    }

    const DepthMix m_mix;
    LayerStack m_layers;
    const projects::DepthPlan m_depth;
    const std::size_t m_modules; ///< K, the number of modules
    const bool m_twoFamilies;
    const Compute m_compute;
    at::Tensor m_before;                           ///< for two families: the branch of the previous module in this pass
    std::vector<std::vector<std::size_t>> m_ports; ///< of each module
    std::unique_ptr<DepthWeights> m_weights;
};

} // namespace

LayerWiringResult makeMixWiring(const DepthMix& mix, LayerStack layers, std::int64_t width, InitPlan& plan)
{
    if (mix.feeds == MixFeeds::ResidualBesideBranch && mix.ports != MixPorts::Input) {
        return Error{"topology · ports", "a mix beside the branch feeds no port; expected one mix"};
    }
    Compute compute = plan.compute();
    if (projects::keepsFullEntries(mix)) {
        compute.residualType = compute.parameterType;
    }
    auto wiring = std::make_unique<MixWiring>(mix, std::move(layers), compute);
    if (const Status ready = wiring->prepare(width, plan); !ready) {
        return ready.error();
    }
    return std::unique_ptr<LayerWiring>(std::move(wiring));
}

} // namespace residua::engine
