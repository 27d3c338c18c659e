// SPDX-License-Identifier: GPL-3.0-or-later
// The one mixing path: every kind of weight against a composition in double precision (values and gradients by
// autograd), every topology against a stack written out here, and what the deferred backward promises.
#include "network_harness.h"

#include "engine/compile/depth_stack.h"
#include "engine/compile/mix_composition.h"
#include "projects/cost.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using engine::Compute;
using engine::DepthStack;
using engine::MixWeights;
using kernels::GateInput;
using kernels::GateKind;
using kernels::WeightKind;
using projects::Project;

namespace {

constexpr std::int64_t kBatch = 2;
constexpr std::int64_t kTime = 3;
constexpr std::int64_t kWidth = 5;
constexpr std::int64_t kTokens = kBatch * kTime;

Compute doubles()
{
    Compute compute;
    compute.parameterType = at::kDouble;
    compute.activationType = at::kDouble;
    return compute;
}

at::Tensor leaf(at::IntArrayRef shape, std::uint64_t seed)
{
    return randomTensor(shape, seed).requires_grad_(true);
}

struct KindCase {
    const char* name;
    WeightKind weight;
    GateKind gate;
    GateInput input = GateInput::raw;
};

constexpr KindCase kKinds[] = {
    {"scalar", WeightKind::scalar, GateKind::none},
    {"per feature", WeightKind::perFeature, GateKind::none},
    {"per token", WeightKind::none, GateKind::token},
    {"scalar, gate outside", WeightKind::scalar, GateKind::reluOutside},
    {"per feature, gate outside", WeightKind::perFeature, GateKind::reluOutside},
    {"per feature, gate inside", WeightKind::perFeature, GateKind::reluInside},
    {"per feature, normalised gate", WeightKind::perFeature, GateKind::reluOutside, GateInput::normalised},
    {"scalar, normalised gate inside", WeightKind::scalar, GateKind::reluInside, GateInput::normalised},
};

/// Leaves of a mix of t entries.
struct Leaves {
    std::vector<at::Tensor> entries;
    std::vector<at::Tensor> bases;
    MixWeights weights;

    [[nodiscard]] std::vector<at::Tensor> all() const
    {
        std::vector<at::Tensor> result = entries;
        result.insert(result.end(), bases.begin(), bases.end());
        for (const at::Tensor& tensor : {weights.weights, weights.tokenWeights, weights.gateVectors}) {
            if (tensor.defined()) {
                result.push_back(tensor);
            }
        }
        return result;
    }
};

Leaves makeLeaves(const KindCase& kind, std::int64_t t, int outputs, bool base)
{
    Leaves leaves;
    for (std::int64_t s = 0; s < t; ++s) {
        leaves.entries.push_back(leaf({kBatch, kTime, kWidth}, 100 + static_cast<std::uint64_t>(s)));
    }
    for (int o = 0; o < outputs && base; ++o) {
        leaves.bases.push_back(leaf({kBatch, kTime, kWidth}, 200 + static_cast<std::uint64_t>(o)));
    }
    leaves.weights.weightKind = kind.weight;
    leaves.weights.gateKind = kind.gate;
    leaves.weights.gateInput = kind.input;
    if (kind.weight == WeightKind::scalar) {
        leaves.weights.weights = leaf({outputs, t}, 1);
    } else if (kind.weight == WeightKind::perFeature) {
        leaves.weights.weights = leaf({outputs, t, kWidth}, 2);
    }
    if (kind.gate == GateKind::token) {
        leaves.weights.tokenWeights = leaf({outputs, t, kTokens}, 3);
    } else if (kind.gate != GateKind::none) {
        leaves.weights.gateVectors = leaf({outputs, kWidth}, 4);
    }
    return leaves;
}

/// out_o = base_o + Σ_s weight·x_s, term by term.
std::vector<at::Tensor> composed(const Leaves& leaves, int outputs)
{
    const MixWeights& w = leaves.weights;
    std::vector<at::Tensor> result;
    for (int o = 0; o < outputs; ++o) {
        at::Tensor sum = leaves.bases.empty() ? at::zeros({kTokens, kWidth}, at::kDouble)
                                              : leaves.bases[static_cast<std::size_t>(o)].reshape({kTokens, kWidth});
        for (std::size_t s = 0; s < leaves.entries.size(); ++s) {
            const at::Tensor x = leaves.entries[s].reshape({kTokens, kWidth});
            const auto at = static_cast<std::int64_t>(s);
            const at::Tensor a = w.weights.defined() ? w.weights[o][at] : at::zeros({}, at::kDouble);
            at::Tensor weight = a;
            if (w.gateKind == GateKind::token) {
                weight = a + w.tokenWeights[o][at].unsqueeze(1);
            } else if (w.gateKind != GateKind::none) {
                at::Tensor z = at::matmul(x, w.gateVectors[o]).unsqueeze(1);
                if (w.gateInput == GateInput::normalised) {
                    z = z * at::rsqrt((x * x).mean(1, true) + 1e-6);
                }
                weight = w.gateKind == GateKind::reluOutside ? a + at::relu(z) : at::relu(a + z);
            }
            sum = sum + weight * x;
        }
        result.push_back(sum.reshape({kBatch, kTime, kWidth}));
    }
    return result;
}

/// A scalar that weighs every element of every tensor differently.
at::Tensor probe(const std::vector<at::Tensor>& tensors)
{
    at::Tensor sum = at::zeros({}, at::kDouble);
    std::uint64_t seed = 900;
    for (const at::Tensor& tensor : tensors) {
        sum = sum + (tensor * randomTensor(tensor.sizes(), seed++)).sum();
    }
    return sum;
}

std::vector<std::size_t> firstEntries(std::size_t count)
{
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < count; ++i) {
        result.push_back(i);
    }
    return result;
}

std::vector<at::Tensor> gradients(const at::Tensor& loss, const std::vector<at::Tensor>& inputs)
{
    return torch::autograd::grad({loss}, inputs, {}, std::nullopt, false, /*allow_unused=*/true);
}

/// Largest difference of two lists of gradients; an undefined one counts as zeros.
double distance(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b)
{
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].defined() || b[i].defined()) {
            const at::Tensor zeros = at::zeros((a[i].defined() ? a[i] : b[i]).sizes(), at::kDouble);
            worst = std::max(worst, tests::distance(a[i].defined() ? a[i] : zeros, b[i].defined() ? b[i] : zeros));
        }
    }
    return worst;
}

} // namespace

class TestDepthStack : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void kindEqualsComposition_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("outputs");
        QTest::addColumn<bool>("base");
        for (int k = 0; k < static_cast<int>(std::size(kKinds)); ++k) {
            for (const int outputs : {1, 3}) {
                for (const bool base : {false, true}) {
                    QTest::addRow("%s, %d outputs%s", kKinds[k].name, outputs, base ? ", base" : "")
                        << k << outputs << base;
                }
            }
        }
    }
    void kindEqualsComposition()
    {
        QFETCH(int, kind);
        QFETCH(int, outputs);
        QFETCH(bool, base);
        const Leaves leaves = makeLeaves(kKinds[kind], 4, outputs, base);
        DepthStack stack(doubles());
        for (const at::Tensor& entry : leaves.entries) {
            stack.push(entry);
        }
        const auto got = stack.mix(firstEntries(4), leaves.weights, outputs, leaves.bases);
        const auto expected = composed(leaves, outputs);
        QVERIFY(distance(got, expected) < 1e-12);
        // The entries are read beside the mix too, so that their own gradient joins the mixes'.
        const at::Tensor own = stack.entry(1) * 3.0;
        const at::Tensor ownExpected = leaves.entries[1] * 3.0;
        const auto inputs = leaves.all();
        const auto gradGot = gradients(probe(got) + probe({own}), inputs);
        const auto gradExpected = gradients(probe(expected) + probe({ownExpected}), inputs);
        QVERIFY(distance(gradGot, gradExpected) < 1e-11);
    }

    void atenCompositionEqualsKernels_data() { kindEqualsComposition_data(); }
    void atenCompositionEqualsKernels()
    {
        QFETCH(int, kind);
        QFETCH(int, outputs);
        QFETCH(bool, base);
        const at::NoGradGuard noGrad;
        const Leaves leaves = makeLeaves(kKinds[kind], 4, outputs, base);
        const engine::MixCall call{leaves.entries, leaves.weights, outputs};
        const auto forward = engine::mixForward(doubles(), call, leaves.bases);
        const auto composedForward = engine::composeMix(doubles(), call, leaves.bases);
        QVERIFY(distance(forward.outputs, composedForward.outputs) < 1e-12);
        const auto grads = engine::mixWeightGrad(doubles(), call, forward.outputs, forward.gateLogits, forward.rstd,
                                                 engine::WeightGrads::All);
        const auto composedGrads =
            engine::composeMixWeightGrad(doubles(), call, forward.outputs, forward.gateLogits, forward.rstd);
        QVERIFY(distance({grads.weights, grads.token, grads.gateVectors},
                         {composedGrads.weights, composedGrads.token, composedGrads.gateVectors}) < 1e-11);
        std::vector<engine::MixReading> readings;
        for (int o = 0; o < outputs; ++o) {
            readings.push_back(
                {forward.outputs[static_cast<std::size_t>(o)], &call, forward.gateLogits, grads.token, o, 2});
        }
        const at::Tensor rstd = forward.rstd.defined() ? forward.rstd[2] : at::Tensor();
        const at::Tensor own = randomTensor({kBatch, kTime, kWidth}, 77);
        const at::Tensor gathered = engine::mixGather(doubles(), readings, own.clone(), leaves.entries[2], rstd);
        QVERIFY(tests::distance(gathered, engine::composeMixGather(readings, own, leaves.entries[2], rstd)) < 1e-11);
    }

    void chainedReadersEqualComposition()
    {
        const std::vector<at::Tensor> weights{leaf({1, 1}, 1), leaf({1, 2}, 2), leaf({1, 3}, 3)};
        const at::Tensor input = leaf({kBatch, kTime, kWidth}, 4);
        std::vector<at::Tensor> inputs = weights;
        inputs.push_back(input);
        DepthStack stack(doubles());
        stack.push(input);
        std::vector<at::Tensor> plain{input};
        for (std::size_t l = 0; l < 3; ++l) {
            MixWeights w;
            w.weights = weights[l];
            stack.push(stack.mix(firstEntries(l + 1), w, 1)[0].tanh());
            at::Tensor sum = at::zeros({kBatch, kTime, kWidth}, at::kDouble);
            for (std::size_t s = 0; s <= l; ++s) {
                sum = sum + weights[l][0][static_cast<std::int64_t>(s)] * plain[s];
            }
            plain.push_back(sum.tanh());
        }
        const auto got = gradients(probe({stack.entry(3)}), inputs);
        QVERIFY(distance(got, gradients(probe({plain[3]}), inputs)) < 1e-12);
    }

    void partialGradientsLeaveNothingBehind()
    {
        const Leaves leaves = makeLeaves(kKinds[0], 3, 1, false);
        DepthStack stack(doubles());
        for (const at::Tensor& entry : leaves.entries) {
            stack.push(entry);
        }
        const at::Tensor loss = probe(stack.mix(firstEntries(3), leaves.weights, 1));
        const auto expected = gradients(probe(composed(leaves, 1)), leaves.all());
        const auto only = [&](const std::vector<at::Tensor>& inputs) {
            return torch::autograd::grad({loss}, inputs, {}, /*retain_graph=*/true);
        };
        QVERIFY(tests::distance(only({leaves.weights.weights})[0], expected[3]) < 1e-12);
        QVERIFY(tests::distance(only({leaves.entries[1]})[0], expected[1]) < 1e-12);
        QVERIFY(distance(only(leaves.all()), expected) < 1e-12);
    }

    void repeatedBackwardAddsUp()
    {
        const Leaves leaves = makeLeaves(kKinds[4], 3, 3, true);
        const auto expected = gradients(probe(composed(leaves, 3)), leaves.all());
        DepthStack stack(doubles());
        for (const at::Tensor& entry : leaves.entries) {
            stack.push(entry);
        }
        const at::Tensor loss = probe(stack.mix(firstEntries(3), leaves.weights, 3, leaves.bases));
        loss.backward({}, /*retain_graph=*/true);
        loss.backward();
        const auto inputs = leaves.all();
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            QVERIFY(tests::distance(inputs[i].grad(), expected[i] * 2.0) < 1e-11);
        }
        QVERIFY_THROWS_EXCEPTION(c10::Error, loss.backward());
    }

    void secondDerivativeIsRefused()
    {
        const Leaves leaves = makeLeaves(kKinds[0], 2, 1, false);
        DepthStack stack(doubles());
        stack.push(leaves.entries[0]);
        stack.push(leaves.entries[1]);
        const at::Tensor loss = probe(stack.mix(firstEntries(2), leaves.weights, 1));
        QVERIFY_THROWS_EXCEPTION(c10::Error,
                                 torch::autograd::grad({loss}, {leaves.entries[0]}, {}, true, /*create_graph=*/true));
    }

    void nothingIsKeptAfterTheBackward()
    {
        std::weak_ptr<const engine::DepthStackState> state;
        c10::weak_intrusive_ptr<at::TensorImpl> middle(at::zeros({1}).getIntrusivePtr());
        {
            const Leaves leaves = makeLeaves(kKinds[6], 2, 1, false);
            at::Tensor loss;
            {
                DepthStack stack(doubles());
                state = stack.state();
                stack.push(leaves.entries[0]);
                stack.push(leaves.entries[1].tanh());
                const at::Tensor mixed = stack.mix(firstEntries(2), leaves.weights, 1)[0];
                middle = c10::weak_intrusive_ptr<at::TensorImpl>(mixed.getIntrusivePtr());
                loss = probe({mixed});
            }
            QVERIFY(!state.expired());
            loss.backward();
            QVERIFY(state.expired()); // Freed by the backward itself, while the loss is still held.
        }
        QVERIFY(middle.expired());
    }

    void nothingIsKeptWithoutABackward()
    {
        std::weak_ptr<const engine::DepthStackState> state;
        {
            const Leaves leaves = makeLeaves(kKinds[4], 2, 3, false);
            DepthStack stack(doubles());
            state = stack.state();
            stack.push(leaves.entries[0]);
            stack.push(stack.mix(firstEntries(1), makeLeaves(kKinds[0], 1, 1, false).weights, 1)[0]);
            const auto outputs = stack.mix(firstEntries(2), leaves.weights, 3);
        }
        QVERIFY(state.expired());
    }

    void evaluationRecordsNothing()
    {
        const Leaves leaves = makeLeaves(kKinds[4], 2, 1, false);
        const at::NoGradGuard noGrad;
        DepthStack stack(doubles());
        stack.push(leaves.entries[0]);
        stack.push(leaves.entries[1]);
        const at::Tensor out = stack.mix(firstEntries(2), leaves.weights, 1)[0];
        QVERIFY(!out.requires_grad());
        QVERIFY(distance({out}, composed(leaves, 1)) < 1e-12);
    }

    // ---- Topologies ----

    void startsAsThePlainNetwork_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("exact");
        for (const char* const name : {"grn-v1", "grn-v2", "grn-v3", "dca"}) {
            QTest::newRow(name) << QString(name) << true;
        }
        QTest::newRow("k-dca") << QString("k-dca") << false; // sums the middle first, so rounds in another order
    }
    void startsAsThePlainNetwork()
    {
        QFETCH(QString, topology);
        QFETCH(bool, exact);
        for (const auto precision : {projects::Precision::Fp64, projects::Precision::Fp32}) {
            Project mixed = tinyLanguage("transformer-qkv", topology.toStdString(), 6);
            mixed.training.precision = precision;
            Project plain = mixed;
            plain.topology = topologyNamed("plain", 6);
            const engine::DeviceBatch batch = randomBatch(plain, 3, 5, 1);
            const at::Tensor expected = compiled(plain)->forward(batch.input);
            const at::Tensor got = compiled(mixed)->forward(batch.input);
            QVERIFY(exact ? at::equal(got, expected)
                          : tests::distance(got, expected) < (precision == projects::Precision::Fp64 ? 1e-13 : 1e-5));
        }
    }

    void gatesLearnUnlessToldNotTo()
    {
        Project project = tinyLanguage("transformer-qkv", "dca", 2);
        auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 2, 5, 1);
        network->loss(batch).backward();
        QVERIFY(parameter(*network, "topology.gate").grad().abs().max().item<double>() > 0);
        std::get<projects::DepthMix>(project.topology.wiring).gate.reluGradAtZero = projects::ReluGradAtZero::Zero;
        network = compiled(project);
        network->loss(batch).backward();
        QCOMPARE(parameter(*network, "topology.gate").grad().abs().max().item<double>(), 0.0);
    }

    /// Linear layers: x_j = W_j x_{j−1} + Σ p_ij x_i, or y_j = Σ b_ij (stack), f_j = W_j y_j, written out.
    void topologyEqualsComposition_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<int>("depth");
        for (const char* const name : {"none", "grn-v1", "grn-v2", "ancre-ingoing", "ancre-outgoing", "ancre-none",
                                       "ancre-fixed", "ancre-cascaded", "denseformer"}) {
            for (const int depth : {1, 2, 5}) {
                QTest::addRow("%s, %d layers", name, depth) << QString(name) << depth;
            }
        }
    }
    void topologyEqualsComposition()
    {
        QFETCH(QString, topology);
        QFETCH(int, depth);
        const Project project = tinyVectors("linear", topology.toStdString(), depth);
        const auto network = compiled(project);
        shake(*network, 0.2, 3);
        QCOMPARE(parameterCount(*network), projects::costOf(project)->total.parameters);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const at::Tensor expected = reference(project, *network, batch.input);
        const at::Tensor got = network->forward(batch.input);
        QVERIFY(tests::distance(got, expected) < 1e-12);
        std::vector<at::Tensor> inputs;
        for (const engine::NamedParameter& p : network->parameters()) {
            inputs.push_back(p.tensor);
        }
        QVERIFY(distance(gradients(probe({got}), inputs), gradients(probe({expected}), inputs)) < 1e-11);
    }

    void explicitShortcutsPrunedAndFrozen()
    {
        Project project = tinyVectors("linear", "ancre-ingoing", 3);
        auto& mix = std::get<projects::DepthMix>(project.topology.wiring);
        mix.states[{0, 2}] = projects::ShortcutState::Pruned;
        mix.states[{1, 3}] = projects::ShortcutState::Frozen;
        const auto network = compiled(project);
        QCOMPARE(parameter(*network, "topology.coefficient").numel(), std::int64_t{5}); // 0:1 1:2 0:3 1:3 2:3
        shake(*network, 0.2, 3);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        network->loss(batch).backward();
        const at::Tensor gradient = parameter(*network, "topology.coefficient").grad();
        QCOMPARE(gradient[3].item<double>(), 0.0);
        QVERIFY(gradient[2].item<double>() != 0.0);
        const auto matrices = network->coefficients(9);
        QCOMPARE(matrices.size(), std::size_t{2});
        QCOMPARE(matrices[0].name, std::string("mix"));
        QCOMPARE(matrices[0].step, std::int64_t{9});
        QCOMPARE(matrices[0].rows, std::int64_t{3});
        QVERIFY(std::isnan(matrices[0].at(1, 0)));
        QCOMPARE(matrices[0].at(1, 1), 1.0F); // The only source of its row.
        const float row = matrices[0].at(2, 0) + matrices[0].at(2, 1) + matrices[0].at(2, 2);
        QVERIFY(std::abs(row - 1) < 1e-6F);
        QCOMPARE(matrices[1].at(2, 1), parameter(*network, "topology.coefficient")[3].item<float>());
    }

    void fixedWeightsHaveNoCoefficients()
    {
        QVERIFY(compiled(tinyVectors("linear", "ancre-fixed", 3))->coefficients(1).empty());
        QVERIFY(compiled(tinyVectors("linear", "plain", 3))->coefficients(1).empty());
    }

    void tsallisEqualsItsFormula()
    {
        Project project = tinyVectors("linear", "ancre-ingoing", 3);
        auto& mix = std::get<projects::DepthMix>(project.topology.wiring);
        const auto plainNetwork = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 5);
        const double plain = plainNetwork->loss(batch).item<double>();
        mix.tsallis = {.q = 2, .weight = 0.5};
        const auto network = compiled(project);
        // Uniform rows of 1, 2 and 3: S_2 = 1 − 1/n.
        QVERIFY(std::abs(network->loss(batch).item<double>() - plain - 0.5 * (0.0 + 0.5 + 2.0 / 3.0)) < 1e-12);
        network->setTraining(false);
        QVERIFY(std::abs(network->loss(batch).item<double>() - plain) < 1e-12);
    }

    void accumulatedStepsAddUp()
    {
        const Project project = tinyLanguage("transformer", "ancre-ingoing", 3);
        const auto network = compiled(project);
        const engine::DeviceBatch first = randomBatch(project, 2, 5, 1);
        const engine::DeviceBatch second = randomBatch(project, 2, 5, 2);
        const auto gradientOf = [&](const engine::DeviceBatch& batch) {
            parameter(*network, "topology.coefficient").mutable_grad().reset();
            network->loss(batch).backward();
            return parameter(*network, "topology.coefficient").grad().clone();
        };
        const at::Tensor sum = gradientOf(first) + gradientOf(second);
        const at::Tensor coefficient = parameter(*network, "topology.coefficient");
        coefficient.mutable_grad().reset();
        network->loss(first).backward();
        network->loss(second).backward();
        QVERIFY(tests::distance(coefficient.grad(), sum) < 1e-14);
    }

private:
    /// A network of square linear layers under a DepthMix, term by term.
    static at::Tensor reference(const Project& project, engine::CompiledNetwork& network, const at::Tensor& input)
    {
        const auto& mix = std::get<projects::DepthMix>(project.topology.wiring);
        const std::int64_t depth = project.network.depth();
        const at::Tensor weights = appliedTerms(mix, network, depth);
        std::int64_t next = 0;
        std::vector<at::Tensor> entries{input};
        at::Tensor x = input;
        const auto mixOf = [&](std::int64_t target) {
            at::Tensor sum = at::zeros(input.sizes(), at::kDouble);
            for (const std::int64_t source : projects::sourcesOf(mix, target, depth)) {
                sum = sum + weights[next++] * entries[static_cast<std::size_t>(source)];
            }
            return sum;
        };
        for (std::int64_t j = 1; j <= depth; ++j) {
            const at::Tensor w = parameter(network, "layers." + std::to_string(j) + ".weight.weight");
            const bool beside = mix.feeds == projects::MixFeeds::ResidualBesideBranch;
            const at::Tensor in = beside ? x : mixOf(j);
            const at::Tensor branch = at::matmul(in, w.t());
            x = beside ? branch + mixOf(j) : in + branch;
            entries.push_back(mix.entry == projects::StackEntry::Full ? x : branch);
        }
        return mix.finalMix ? mixOf(depth + 1) : x;
    }

    /// The applied weight of every (target, source) in order, from the definitions of ANCRe eq. 6 to 8.
    static at::Tensor appliedTerms(const projects::DepthMix& mix, engine::CompiledNetwork& network, std::int64_t depth)
    {
        std::vector<projects::Shortcut> terms;
        for (std::int64_t j = 1; j <= depth + 1; ++j) {
            for (const std::int64_t i : projects::sourcesOf(mix, j, depth)) {
                terms.push_back({i, j});
            }
        }
        if (mix.weight == projects::WeightKind::Fixed) {
            std::vector<double> values;
            for (const projects::Shortcut& term : terms) {
                values.push_back(mix.init == projects::MixInit::Reciprocal ? 1.0 / static_cast<double>(term.target)
                                                                           : 1.0);
            }
            return at::tensor(values, at::kDouble);
        }
        const at::Tensor c = parameter(network, "topology.coefficient");
        if (mix.normalise == projects::NormaliseOver::None) {
            return c;
        }
        const bool ingoing = mix.normalise == projects::NormaliseOver::Sources;
        std::vector<at::Tensor> result;
        const at::Tensor e = at::exp(c / mix.temperature);
        for (std::size_t t = 0; t < terms.size(); ++t) {
            at::Tensor sum = at::zeros({}, at::kDouble);
            for (std::size_t u = 0; u < terms.size(); ++u) {
                if (ingoing ? terms[u].target == terms[t].target : terms[u].source == terms[t].source) {
                    sum = sum + e[static_cast<std::int64_t>(u)];
                }
            }
            result.push_back(e[static_cast<std::int64_t>(t)] / sum);
        }
        return at::stack(result);
    }
};

QTEST_APPLESS_MAIN(TestDepthStack)
#include "tst_depth_stack.moc"
