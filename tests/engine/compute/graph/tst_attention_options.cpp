// SPDX-License-Identifier: GPL-3.0-or-later
// The parameters of an attention node beside its sizes, against plain operators in double precision that are written
// here on their own: windows, biases, norms of queries and keys, rotary positions in part and slowed down.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/ops/part_selection.h"
#include "projects/cost/cost.h"
#include "projects/nodes/ffn_site.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace residua;
using namespace residua::tests;
using engine::Pass;
using projects::Project;

namespace {

constexpr std::int64_t kWidth = 8;

/// The attention that the composition computes; by default that of the node.
struct Attention {
    std::int64_t heads = 4;
    std::int64_t kvHeads = 4;
    std::int64_t headDim = 2;
    std::int64_t window = 1 << 20;
    std::int64_t rotating = -1; ///< features of a head; -1: all
    double base = 10000;
    std::vector<double> frequencies = {}; ///< of each pair; empty: of the base
    bool normsAll = false;
    double epsilon = 1e-6;
};

/// x / √(mean x² + ε) · w over the last dimension.
at::Tensor normed(const at::Tensor& x, const at::Tensor& weight, double epsilon)
{
    return x * at::rsqrt((x * x).mean(-1, true) + epsilon) * weight;
}

/// One position after the other, one pair after the other: x [batch, time, heads, headDim].
at::Tensor turned(const at::Tensor& x, const Attention& of)
{
    const std::int64_t rotating = of.rotating < 0 ? of.headDim : of.rotating;
    const std::int64_t half = rotating / 2;
    std::vector<at::Tensor> times;
    for (std::int64_t t = 0; t < x.size(1); ++t) {
        const at::Tensor here = x.select(1, t);
        std::vector<at::Tensor> features(static_cast<std::size_t>(of.headDim));
        for (std::int64_t i = 0; i < of.headDim; ++i) {
            features[static_cast<std::size_t>(i)] = here.select(2, i);
        }
        for (std::int64_t i = 0; i < half; ++i) {
            const double frequency =
                of.frequencies.empty()
                    ? std::pow(of.base, -2.0 * static_cast<double>(i) / static_cast<double>(rotating))
                    : of.frequencies[static_cast<std::size_t>(i)];
            const double angle = static_cast<double>(t) * frequency;
            const at::Tensor a = here.select(2, i);
            const at::Tensor b = here.select(2, i + half);
            features[static_cast<std::size_t>(i)] = a * std::cos(angle) - b * std::sin(angle);
            features[static_cast<std::size_t>(i + half)] = b * std::cos(angle) + a * std::sin(angle);
        }
        times.push_back(at::stack(features, 2));
    }
    return at::stack(times, 1);
}

/// Attention of x [batch, time, width], one query after the other.
at::Tensor composed(engine::CompiledNetwork& net, const std::string& prefix, const at::Tensor& x, const Attention& of)
{
    const auto find = [&](const std::string& name) {
        const auto& all = net.parameters();
        const auto found = std::ranges::find(all, prefix + name, &engine::NamedParameter::name);
        return found == all.end() ? at::Tensor() : found->tensor;
    };
    const auto projected = [&](const at::Tensor& in, const std::string& name) {
        const at::Tensor weight = find(name + ".weight");
        const at::Tensor y =
            at::matmul(in, (weight.defined() ? weight : at::matmul(find(name + ".u"), find(name + ".v"))).t());
        return find(name + ".bias").defined() ? y + find(name + ".bias") : y;
    };
    const auto made = [&](const std::string& name, std::int64_t heads) {
        at::Tensor y = projected(x, name);
        const at::Tensor norm = find(name + "_norm.weight");
        y = norm.defined() && of.normsAll ? normed(y, norm, of.epsilon) : y;
        y = y.view({x.size(0), x.size(1), heads, of.headDim});
        return norm.defined() && !of.normsAll ? normed(y, norm, of.epsilon) : y;
    };
    const at::Tensor q = turned(made("q", of.heads), of);
    const at::Tensor k = turned(made("k", of.kvHeads), of);
    const at::Tensor v = made("v", of.kvHeads);
    std::vector<at::Tensor> times;
    for (std::int64_t t = 0; t < x.size(1); ++t) {
        const std::int64_t first = std::max<std::int64_t>(0, t - of.window + 1);
        std::vector<at::Tensor> heads;
        for (std::int64_t head = 0; head < of.heads; ++head) {
            const std::int64_t shared = head / (of.heads / of.kvHeads);
            const at::Tensor keys = k.narrow(1, first, t - first + 1).select(2, shared);
            const at::Tensor values = v.narrow(1, first, t - first + 1).select(2, shared);
            const at::Tensor query = q.select(1, t).select(1, head).unsqueeze(1);
            const at::Tensor scores =
                at::matmul(query, keys.transpose(1, 2)) / std::sqrt(static_cast<double>(of.headDim));
            heads.push_back(at::matmul(at::softmax(scores, -1), values).squeeze(1));
        }
        times.push_back(at::cat(heads, -1));
    }
    return projected(at::stack(times, 1), "out");
}

/// A language model whose block is one attention node with parameters as in "heads=4 window=3".
Project ofAttention(const std::string& params)
{
    Project project = tinyLanguage("transformer", "plain", 2);
    project.network.blocks[0].graph =
        graphFrom("input input; attention attention heads=4 " + params +
                  "; output output; input > attention.q; input > attention.k; input > attention.v; attention > output");
    project.training.sequenceLength = 160;
    return project;
}

at::Tensor embedded(engine::CompiledNetwork& net, const at::Tensor& tokens)
{
    return parameter(net, "stem.embed.weight")
        .index_select(0, tokens.flatten())
        .view({tokens.size(0), tokens.size(1), kWidth});
}

at::Tensor logits(engine::CompiledNetwork& net, const at::Tensor& h)
{
    const at::Tensor x = normed(h, parameter(net, "head.norm.weight"), 1e-6);
    return at::matmul(x, parameter(net, "head.logits.weight").t());
}

at::Tensor composedNetwork(engine::CompiledNetwork& net, const at::Tensor& tokens, const Attention& of)
{
    at::Tensor h = embedded(net, tokens);
    for (const char* const layer : {"layers.1.attention.", "layers.2.attention."}) {
        h = h + composed(net, layer, h, of);
    }
    return logits(net, h);
}

struct Case {
    const char* name;
    const char* params;
    Attention attention;
    std::int64_t time = 5;
};

/// The frequencies under Llama 3.1's scaling with these numbers, pair by pair as its three cases say.
std::vector<double> slowed(std::int64_t features, double base, double factor, double low, double high, double original)
{
    std::vector<double> result;
    for (std::int64_t i = 0; i < features / 2; ++i) {
        const double frequency = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(features));
        const double wavelength = 2 * std::numbers::pi / frequency;
        if (wavelength < original / high) {
            result.push_back(frequency);
        } else if (wavelength > original / low) {
            result.push_back(frequency / factor);
        } else {
            const double smooth = (original / wavelength - low) / (high - low);
            result.push_back((1 - smooth) * frequency / factor + smooth * frequency);
        }
    }
    return result;
}

std::vector<Case> cases()
{
    const Attention shared{.kvHeads = 2};
    const Attention windowed{.window = 3};
    std::vector<double> linear = {1.0 / 3, std::pow(500.0, -0.5) / 3};
    return {
        {"as it was", "", {}},
        {"window", "window=3", windowed},
        {"window of one", "window=1", {.window = 1}},
        {"window as long as the text", "window=5", {.window = 5}},
        {"window over many blocks", "window=7", {.window = 7}, 150},
        {"long window", "window=100 kv_heads=2", {.kvHeads = 2, .window = 100}, 150},
        {"window of factors", "window=3 q_rank=2 out_rank=3", windowed},
        {"biases of q, k, v", "bias=qkv", {}},
        {"biases, shared heads", "bias=all kv_heads=2", shared},
        {"norms of heads", "qk_norm=head kv_heads=2 norm_eps=0.01", {.kvHeads = 2, .epsilon = 0.01}},
        {"norms over all heads", "qk_norm=all", {.normsAll = true}},
        {"norms over all shared heads",
         "qk_norm=all kv_heads=2 head_dim=4 norm_eps=0.1 bias=qkv",
         {.kvHeads = 2, .headDim = 4, .normsAll = true, .epsilon = 0.1}},
        {"partly rotated", "rotary_share=0.5 head_dim=8", {.headDim = 8, .rotating = 4}},
        {"partly rotated, cut off",
         "rotary_share=0.3 head_dim=8 rope_base=50",
         {.headDim = 8, .rotating = 2, .base = 50}},
        {"partly rotated, with biases", "rotary_share=0.25 head_dim=8 bias=all", {.headDim = 8, .rotating = 2}},
        {"slowed alike",
         "rope_scaling=linear rope_factor=3 head_dim=4 rope_base=500",
         {.headDim = 4, .frequencies = linear}},
        {"slowed as Llama 3.1",
         "rope_scaling=llama3 rope_factor=4 rope_low_frequency=1 rope_high_frequency=3 rope_original_length=64 "
         "head_dim=16 "
         "rope_base=30",
         {.headDim = 16, .frequencies = slowed(16, 30, 4, 1, 3, 64)},
         20},
        {"all at once",
         "kv_heads=2 head_dim=8 window=4 qk_norm=all bias=all rotary_share=0.5 rope_scaling=linear rope_factor=2",
         {.kvHeads = 2, .headDim = 8, .window = 4, .rotating = 4, .frequencies = {0.5, 0.005}, .normsAll = true},
         9},
    };
}

} // namespace

class TestAttentionOptions : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Outputs, and the gradients of all parameters. The case of Llama 3.1 has pairs of all three kinds.
    void everyOption_data()
    {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Case& each : cases()) {
            QTest::newRow(each.name) << index++;
        }
        const std::vector<double> frequencies = slowed(16, 30, 4, 1, 3, 64);
        QCOMPARE(frequencies.front(), 1.0);
        QVERIFY(std::abs(frequencies.back() - std::pow(30.0, -14.0 / 16) / 4) < 1e-12);
        QVERIFY(frequencies[3] < std::pow(30.0, -6.0 / 16) && frequencies[3] > std::pow(30.0, -6.0 / 16) / 4);
    }
    void everyOption()
    {
        QFETCH(int, index);
        const Case each = cases()[static_cast<std::size_t>(index)];
        const Project project = ofAttention(each.params);
        const auto network = compiled(project);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        shake(*network, 0.4, 3);
        const at::Tensor tokens = randomBatch(project, 2, each.time, 5).input;
        const at::Tensor got = network->forward(tokens, kTraining);
        const at::Tensor expected = composedNetwork(*network, tokens, each.attention);
        QVERIFY2(distance(got, expected) < 1e-11, qPrintable(QString::number(distance(got, expected))));
        const double gradients = gradientDistance(*network, got, expected);
        QVERIFY2(gradients < 1e-10, qPrintable(QString::number(gradients)));
    }

    /// Each option makes a difference, so that none is compared with itself.
    void everyOptionCounts()
    {
        for (const char* const option :
             {"window=4", "qk_norm=head", "qk_norm=all", "rotary_share=0.5", "rope_scaling=linear",
              "rope_scaling=llama3 rope_original_length=16", "qk_norm=head norm_eps=0.5"}) {
            const Project plain = ofAttention("head_dim=8");
            const Project other = ofAttention(std::string("head_dim=8 ") + option);
            const auto one = compiled(plain);
            const auto two = compiled(other);
            const at::NoGradGuard noGrad;
            const at::Tensor tokens = randomBatch(plain, 1, 9, 5).input;
            QVERIFY2(distance(one->forward(tokens, kEvaluation), two->forward(tokens, kEvaluation)) > 1e-8, option);
        }
    }

    /// Without a gradient through weights that are dropped, those outside of the window stay out.
    void droppedWeightsKeepToTheWindow()
    {
        const Project project = ofAttention("window=3 dropout=0.3");
        const auto network = compiled(project);
        shake(*network, 0.4, 3);
        const at::NoGradGuard noGrad;
        const at::Tensor tokens = randomBatch(project, 1, 9, 5).input;
        Pass pass = kTraining;
        at::manual_seed(17);
        const at::Tensor before = network->forward(tokens, pass).clone();
        tokens[0][0] = (tokens[0][0] + 1) % 11;
        at::manual_seed(17);
        const at::Tensor after = network->forward(tokens, pass);
        QVERIFY(distance(before.narrow(1, 0, 1), after.narrow(1, 0, 1)) > 1e-9);
        // Two layers of three tokens reach five.
        QVERIFY(distance(before.narrow(1, 5, 4), after.narrow(1, 5, 4)) < 1e-12);
        QVERIFY(distance(network->forward(tokens, kEvaluation), composedNetwork(*network, tokens, {.window = 3})) <
                1e-11);
    }

    /// Where heads are left out, a norm over all heads is over those that run: two networks of half as many agree.
    void normsAreOverTheHeadsThatRun()
    {
        const Project project = ofAttention("kv_heads=2 head_dim=4 qk_norm=all bias=qkv");
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        Project halved = ofAttention("kv_heads=1 head_dim=4 qk_norm=all bias=qkv");
        halved.network.blocks[0].graph.nodes[1].params["heads"] = std::int64_t{2};
        Pass pass = kTraining;
        pass.layers.resize(2);
        for (engine::LayerUse& layer : pass.layers) {
            layer.heads = {.sampling = projects::DropSampling::FixedSize, .keep = 0.5, .key = 12};
        }
        const auto small = compiled(halved);
        const at::NoGradGuard noGrad;
        for (engine::NamedParameter& to : small->parameters()) {
            const at::Tensor from = parameter(*network, to.name);
            if (from.sizes() == to.tensor.sizes()) {
                to.tensor.copy_(from);
                continue;
            }
            const auto node = static_cast<std::uint64_t>(project.network.blocks[0].graph.nodes[1].id);
            const std::size_t layer = to.name.starts_with("layers.1") ? 0 : 1;
            const engine::KeptParts kept = engine::keptParts(pass.layers[layer].heads, 2, node);
            QCOMPARE(kept.parts.size(), std::size_t{1});
            const std::int64_t dimension = from.size(0) == to.tensor.size(0) ? 1 : 0;
            to.tensor.copy_(engine::atParts(from, dimension, 2, kept.parts));
        }
        const at::Tensor tokens = randomBatch(project, 2, 5, 5).input;
        QVERIFY(distance(network->forward(tokens, pass), small->forward(tokens, kTraining)) < 1e-12);
    }

    void precisions()
    {
        for (const char* const params : {"window=2", "qk_norm=all kv_heads=2", "rotary_share=0.5 head_dim=4",
                                         "bias=qkv rope_scaling=llama3 rope_original_length=8"}) {
            const std::string fault = precisionFault(ofAttention(params), 0.05);
            QVERIFY2(fault.empty(), (std::string(params) + ": " + fault).c_str());
        }
    }

    void activationsAreComputedAgain()
    {
        Project project = ofAttention("window=2 qk_norm=all bias=qkv rotary_share=0.5 head_dim=4");
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 7);
        std::vector<at::Tensor> gradients;
        for (const auto activations : {projects::Activations::Keep, projects::Activations::Recompute}) {
            project.training.activations = activations;
            const auto network = compiled(project);
            shake(*network, 0.3, 4);
            network->loss(batch, kTraining).backward();
            gradients.push_back(parameter(*network, "layers.1.attention.q_norm.weight").grad().clone());
        }
        QVERIFY(distance(gradients[0], gradients[1]) < 1e-14);
    }

    /// Both halves read the input: x + Attention(norm(x)) + MLP(norm(x)).
    void parallelHalves()
    {
        const Project project = tinyLanguage("transformer-parallel", "plain", 2);
        const auto network = compiled(project);
        shake(*network, 0.3, 3);
        const at::Tensor tokens = randomBatch(project, 2, 5, 5).input;
        const auto branch = [&](const std::string& layer, const at::Tensor& h) {
            const auto weight = [&](const char* name) { return parameter(*network, layer + name); };
            const auto layerNorm = [&](const std::string& name) {
                const at::Tensor centred = h - h.mean(-1, true);
                const at::Tensor scale = at::rsqrt((centred * centred).mean(-1, true) + 1e-5);
                return centred * scale * parameter(*network, layer + name + ".weight") +
                       parameter(*network, layer + name + ".bias");
            };
            const at::Tensor a = composed(*network, layer + "attention.", layerNorm("norm_attention"),
                                          {.heads = 2, .kvHeads = 2, .headDim = 4});
            const at::Tensor up = at::matmul(layerNorm("norm_ffn"), weight("up.weight").t()) + weight("up.bias");
            const at::Tensor hidden = 0.5 * up * (1 + at::erf(up / std::numbers::sqrt2));
            return a + at::matmul(hidden, weight("down.weight").t()) + weight("down.bias");
        };
        const at::Tensor first = embedded(*network, tokens);
        const at::Tensor second = first + branch("layers.1.", first);
        const at::Tensor expected = logits(*network, second + branch("layers.2.", second));
        const at::Tensor got = network->forward(tokens, kTraining);
        QVERIFY(distance(got, expected) < 1e-11);
        QVERIFY(gradientDistance(*network, got, expected) < 1e-10);
        QVERIFY(!projects::splitAtFfn(project.network.blocks[0]).ok());
    }

    /// u = x + norm(Attention(x)), then u + norm(FFN(u)); its feed-forward half is a site for shortcuts.
    void normsAfterTheHalves()
    {
        Project project = tinyLanguage("transformer-norms-after", "plain", 2);
        const auto network = compiled(project);
        shake(*network, 0.3, 3);
        const at::Tensor tokens = randomBatch(project, 2, 5, 5).input;
        at::Tensor h = embedded(*network, tokens);
        for (const std::string layer : {"layers.1.", "layers.2."}) {
            const auto weight = [&](const char* name) { return parameter(*network, layer + name); };
            const at::Tensor a =
                composed(*network, layer + "attention.", h, {.heads = 2, .kvHeads = 2, .headDim = 4, .normsAll = true});
            h = h + normed(a, weight("norm_attention.weight"), 1e-6);
            const at::Tensor gate = at::matmul(h, weight("gate.weight").t());
            const at::Tensor made = gate * at::sigmoid(gate) * at::matmul(h, weight("up.weight").t());
            h = h + normed(at::matmul(made, weight("down.weight").t()), weight("norm_ffn.weight"), 1e-6);
        }
        const at::Tensor expected = logits(*network, h);
        const at::Tensor got = network->forward(tokens, kTraining);
        QVERIFY(distance(got, expected) < 1e-11);
        QVERIFY(gradientDistance(*network, got, expected) < 1e-10);
        project.stack().topology = topologyNamed("ancre-ingoing", 2);
        std::get<projects::DepthMix>(project.stack().topology.wiring).sites = projects::MixSites::Both;
        QCOMPARE(compileError(project), std::string());
    }

    /// GELU in both forms, each by its formula.
    void gelus()
    {
        for (const char* const form : {"gelu", "gelu_tanh"}) {
            Project project = tinyLanguage("transformer", "plain", 1);
            project.network.blocks[0].graph = graphFrom(std::string("input input; act activation function=") + form +
                                                        "; output output; input > act; act > output");
            const auto network = compiled(project);
            shake(*network, 0.4, 3);
            const at::Tensor tokens = randomBatch(project, 2, 5, 5).input;
            const at::Tensor x = embedded(*network, tokens);
            const at::Tensor inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
            const at::Tensor share = std::string(form) == "gelu" ? at::erf(x / std::numbers::sqrt2) : at::tanh(inner);
            const at::Tensor expected = logits(*network, x + 0.5 * x * (1 + share));
            const at::Tensor got = network->forward(tokens, kTraining);
            QVERIFY(distance(got, expected) < 1e-12);
            QVERIFY(gradientDistance(*network, got, expected) < 1e-11);
        }
    }
};

RESIDUA_TEST(TestAttentionOptions)
#include "tst_attention_options.moc"
