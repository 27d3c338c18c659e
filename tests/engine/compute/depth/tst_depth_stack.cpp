// SPDX-License-Identifier: GPL-3.0-or-later
// The one mixing path: every kind of weight against a composition in double precision (values and gradients by
// autograd), and what the deferred backward promises.
#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/depth/depth_stack.h"
#include "engine/compute/ops/mix_kernels.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
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

namespace {

constexpr std::int64_t kStackBatch = 2;
constexpr std::int64_t kStackTime = 3;
constexpr std::int64_t kStackWidth = 5;
constexpr std::int64_t kTokens = kStackBatch * kStackTime;

Compute doubles()
{
    Compute compute;
    compute.parameterType = at::kDouble;
    compute.activationType = at::kDouble;
    compute.residualType = at::kDouble;
    return compute;
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
        leaves.entries.push_back(leaf({kStackBatch, kStackTime, kStackWidth}, 100 + static_cast<std::uint64_t>(s)));
    }
    for (int o = 0; o < outputs && base; ++o) {
        leaves.bases.push_back(leaf({kStackBatch, kStackTime, kStackWidth}, 200 + static_cast<std::uint64_t>(o)));
    }
    leaves.weights.weightKind = kind.weight;
    leaves.weights.gateKind = kind.gate;
    leaves.weights.gateInput = kind.input;
    if (kind.weight == WeightKind::scalar) {
        leaves.weights.weights = leaf({outputs, t}, 1);
    } else if (kind.weight == WeightKind::perFeature) {
        leaves.weights.weights = leaf({outputs, t, kStackWidth}, 2);
    }
    if (kind.gate == GateKind::token) {
        leaves.weights.tokenWeights = leaf({outputs, t, kTokens}, 3);
    } else if (kind.gate != GateKind::none) {
        leaves.weights.gateVectors = leaf({outputs, kStackWidth}, 4);
    }
    return leaves;
}

/// out_o = base_o + Σ_s weight·x_s, term by term.
std::vector<at::Tensor> composed(const Leaves& leaves, int outputs)
{
    const MixWeights& w = leaves.weights;
    std::vector<at::Tensor> result;
    for (int o = 0; o < outputs; ++o) {
        at::Tensor sum = leaves.bases.empty()
                             ? at::zeros({kTokens, kStackWidth}, at::kDouble)
                             : leaves.bases[static_cast<std::size_t>(o)].reshape({kTokens, kStackWidth});
        for (std::size_t s = 0; s < leaves.entries.size(); ++s) {
            const at::Tensor x = leaves.entries[s].reshape({kTokens, kStackWidth});
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
        result.push_back(sum.reshape({kStackBatch, kStackTime, kStackWidth}));
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
double largestDistance(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b)
{
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].defined() || b[i].defined()) {
            const at::Tensor zeros = at::zeros((a[i].defined() ? a[i] : b[i]).sizes(), at::kDouble);
            worst = std::max(worst, distance(a[i].defined() ? a[i] : zeros, b[i].defined() ? b[i] : zeros));
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
        QVERIFY(largestDistance(got, expected) < 1e-12);
        // The entries are read beside the mix too, so that their own gradient joins the mixes'.
        const at::Tensor own = stack.entry(1) * 3.0;
        const at::Tensor ownExpected = leaves.entries[1] * 3.0;
        const auto inputs = leaves.all();
        const auto gradGot = gradients(probe(got) + probe({own}), inputs);
        const auto gradExpected = gradients(probe(expected) + probe({ownExpected}), inputs);
        QVERIFY(largestDistance(gradGot, gradExpected) < 1e-11);
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
        QVERIFY(largestDistance(forward.outputs, composedForward.outputs) < 1e-12);
        const auto grads = engine::mixWeightGrad(doubles(), call, forward.outputs, forward.gateLogits, forward.rstd,
                                                 engine::WeightGrads::All);
        const auto composedGrads =
            engine::composeMixWeightGrad(doubles(), call, forward.outputs, forward.gateLogits, forward.rstd);
        QVERIFY(largestDistance({grads.weights, grads.token, grads.gateVectors},
                                {composedGrads.weights, composedGrads.token, composedGrads.gateVectors}) < 1e-11);
        std::vector<engine::MixReading> readings;
        for (int o = 0; o < outputs; ++o) {
            readings.push_back(
                {forward.outputs[static_cast<std::size_t>(o)], &call, forward.gateLogits, grads.token, o, 2});
        }
        const at::Tensor rstd = forward.rstd.defined() ? forward.rstd[2] : at::Tensor();
        const at::Tensor own = randomTensor({kStackBatch, kStackTime, kStackWidth}, 77);
        const at::Tensor gathered = engine::mixGather(doubles(), readings, own.clone(), leaves.entries[2], rstd);
        QVERIFY(distance(gathered, engine::composeMixGather(readings, own, leaves.entries[2], rstd)) < 1e-11);
    }

    /// Three for each layer of a deep stack whose queries, keys and values read mixes of their own.
    void anEntryMayHaveMoreReadersThanAKernelTakesAtOnce()
    {
        const at::NoGradGuard noGrad;
        const KindCase& normalised = kKinds[6];
        const Leaves leaves = makeLeaves(normalised, 4, 3, false);
        const engine::MixCall call{leaves.entries, leaves.weights, 3};
        const auto forward = engine::mixForward(doubles(), call, {});
        const auto grads = engine::mixWeightGrad(doubles(), call, forward.outputs, forward.gateLogits, forward.rstd,
                                                 engine::WeightGrads::All);
        std::vector<engine::MixReading> readings;
        for (int reader = 0; reader < 3 * 180; ++reader) {
            const int o = reader % 3;
            readings.push_back(
                {forward.outputs[static_cast<std::size_t>(o)], &call, forward.gateLogits, grads.token, o, 2});
        }
        for (const at::Tensor& own : {at::Tensor(), randomTensor({kStackBatch, kStackTime, kStackWidth}, 77)}) {
            const at::Tensor gathered = engine::mixGather(doubles(), readings, own.defined() ? own.clone() : own,
                                                          leaves.entries[2], forward.rstd[2]);
            const at::Tensor composed = engine::composeMixGather(readings, own, leaves.entries[2], forward.rstd[2]);
            QVERIFY(distance(gathered, composed) < 1e-9);
        }
    }

    void chainedReadersEqualComposition()
    {
        const std::vector<at::Tensor> weights{leaf({1, 1}, 1), leaf({1, 2}, 2), leaf({1, 3}, 3)};
        const at::Tensor input = leaf({kStackBatch, kStackTime, kStackWidth}, 4);
        std::vector<at::Tensor> inputs = weights;
        inputs.push_back(input);
        DepthStack stack(doubles());
        stack.push(input);
        std::vector<at::Tensor> plain{input};
        for (std::size_t l = 0; l < 3; ++l) {
            MixWeights w;
            w.weights = weights[l];
            stack.push(stack.mix(firstEntries(l + 1), w, 1)[0].tanh());
            at::Tensor sum = at::zeros({kStackBatch, kStackTime, kStackWidth}, at::kDouble);
            for (std::size_t s = 0; s <= l; ++s) {
                sum = sum + weights[l][0][static_cast<std::int64_t>(s)] * plain[s];
            }
            plain.push_back(sum.tanh());
        }
        const auto got = gradients(probe({stack.entry(3)}), inputs);
        QVERIFY(largestDistance(got, gradients(probe({plain[3]}), inputs)) < 1e-12);
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
        QVERIFY(distance(only({leaves.weights.weights})[0], expected[3]) < 1e-12);
        QVERIFY(distance(only({leaves.entries[1]})[0], expected[1]) < 1e-12);
        QVERIFY(largestDistance(only(leaves.all()), expected) < 1e-12);
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
            QVERIFY(distance(inputs[i].grad(), expected[i] * 2.0) < 1e-11);
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
        QVERIFY(largestDistance({out}, composed(leaves, 1)) < 1e-12);
    }
};

RESIDUA_TEST(TestDepthStack)
#include "tst_depth_stack.moc"
