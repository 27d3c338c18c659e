// SPDX-License-Identifier: GPL-3.0-or-later
#include "network_harness.h"

#include "engine/api/layer_norms.h"
#include "projects/model/training_plan.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>

#include <QtTest>

#include <cmath>

using namespace residua;
using namespace residua::tests;
using engine::LayerNorm;
using projects::Project;

namespace {

float rootMeanSquare(const at::Tensor& x)
{
    return static_cast<float>(std::sqrt((x * x).mean().item<double>()));
}

float normOf(const engine::Matrix& norms, LayerNorm kind, std::int64_t layer)
{
    return norms.at(static_cast<std::int64_t>(kind), layer - 1);
}

} // namespace

class TestLayerNorms : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Linear layers: x_j = x_{j−1} + W_j x_{j−1}, written out.
    void areThoseOfTheValuesOfThePass()
    {
        const Project project = tinyVectors("linear", "plain", 3);
        const auto network = compiled(project);
        shake(*network, 0.3, 4);
        const engine::DeviceBatch batch = randomBatch(project, 6, 1, 2);
        network->watchNorms(true);
        network->loss(batch).backward();
        const auto norms = network->norms(7);
        QVERIFY(norms.has_value());
        QCOMPARE(norms->name, std::string(engine::kLayerNorms));
        QCOMPARE(norms->step, std::int64_t{7});
        QCOMPARE(norms->rows, engine::kLayerNormKinds);
        QCOMPARE(norms->columns, std::int64_t{3});
        const at::NoGradGuard noGrad;
        at::Tensor x = batch.input;
        for (std::int64_t layer = 1; layer <= 3; ++layer) {
            const at::Tensor branch =
                at::matmul(x, parameter(*network, "layers." + std::to_string(layer) + ".weight.weight").t());
            QCOMPARE(normOf(*norms, LayerNorm::Stream, layer), rootMeanSquare(x));
            QCOMPARE(normOf(*norms, LayerNorm::Branch, layer), rootMeanSquare(branch));
            x = x + branch;
        }
    }

    void onlyWatchedPassesAreSeen()
    {
        const Project project = tinyVectors("linear", "grn-v1", 2);
        const auto network = compiled(project);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 2);
        (void)network->loss(batch);
        QVERIFY(!network->norms(1).has_value());
        network->watchNorms(true);
        (void)network->loss(batch);
        QVERIFY(network->norms(1).has_value());
        network->watchNorms(false);
        QVERIFY(!network->norms(1).has_value());
        (void)network->loss(batch);
        QVERIFY(!network->norms(1).has_value());
    }

    /// Looking changes no gradient, whether activations are kept or computed again.
    void lookingChangesNothing()
    {
        for (const auto activations : {projects::Activations::Keep, projects::Activations::Recompute}) {
            Project project = tinyLanguage("transformer-qkv", "dca", 2);
            project.training.activations = activations;
            const engine::DeviceBatch batch = randomBatch(project, 2, 5, 3);
            const auto seen = compiled(project);
            const auto unseen = compiled(project);
            seen->watchNorms(true);
            seen->loss(batch).backward();
            unseen->loss(batch).backward();
            for (std::size_t i = 0; i < seen->parameters().size(); ++i) {
                const at::Tensor& a = seen->parameters()[i].tensor.grad();
                const at::Tensor& b = unseen->parameters()[i].tensor.grad();
                QCOMPARE(a.defined(), b.defined());
                QVERIFY(!a.defined() || distance(a, b) == 0);
            }
            const auto norms = seen->norms(1);
            QVERIFY(norms.has_value());
            for (const float norm : norms->values) {
                QVERIFY(norm > 0);
            }
        }
    }
};

RESIDUA_TEST(TestLayerNorms)
#include "tst_layer_norms.moc"
