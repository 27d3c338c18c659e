// SPDX-License-Identifier: GPL-3.0-or-later
// Batch norm and its running moments, against the same written in elementary operations.
#include "tests/engine/compute/network/network_harness.h"

#include "projects/check/validate.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/sqrt.h>

#include <QtTest>

#include <stdexcept>

using namespace residua;
using namespace residua::tests;
using projects::Activations;
using projects::Project;

namespace {

constexpr double kMomentum = 0.3;
constexpr double kEpsilon = 0.01;

/// Vectors, or texts, through layers that are batch norms: each returns x + norm(x).
Project batchNormed(bool texts, std::int64_t depth)
{
    Project project = texts ? tinyLanguage("mlp", "plain", depth) : tinyVectors("linear", "plain", depth);
    project.network.blocks.front().graph =
        graphFrom("x input; n batch_norm momentum=0.3 epsilon=0.01; y output; x > n; n > y");
    project.training.batch = 4;
    return project;
}

/// The norm of the rows by given moments.
at::Tensor normedBy(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& variance,
                    engine::CompiledNetwork& network)
{
    return (x - mean) / at::sqrt(variance + kEpsilon) * parameter(network, "layers.1.n.weight") +
           parameter(network, "layers.1.n.bias");
}

struct RowMoments {
    at::Tensor mean;
    at::Tensor variance; ///< of the rows, by their number
};

RowMoments rowMoments(const at::Tensor& x)
{
    const at::Tensor rows = x.reshape({-1, x.size(-1)});
    const at::Tensor mean = rows.mean(0);
    return {mean, ((rows - mean) * (rows - mean)).mean(0)};
}

} // namespace

class TestBatchNorm : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    void followsItsFormula_data()
    {
        QTest::addColumn<bool>("texts");
        QTest::newRow("vectors") << false;
        QTest::newRow("texts") << true;
    }
    /// Output and running moments of a training pass, then the output of an evaluation, which changes no moment.
    void followsItsFormula()
    {
        QFETCH(bool, texts);
        const auto network = compiled(batchNormed(texts, 1));
        shake(*network, 0.2, 1);
        const engine::DeviceBatch batch = randomBatch(batchNormed(texts, 1), 4, 5, 3);
        const at::NoGradGuard noGrad;
        const at::Tensor x = texts ? parameter(*network, "stem.embed.weight")
                                         .index_select(0, batch.input.reshape({-1}))
                                         .reshape({4, 5, -1})
                                   : batch.input;
        const at::Tensor mean = parameter(*network, "layers.1.n.running_mean");
        const at::Tensor variance = parameter(*network, "layers.1.n.running_var");
        const at::Tensor meanBefore = mean.clone();
        const at::Tensor varianceBefore = variance.clone();
        const RowMoments moments = rowMoments(x);
        const at::Tensor trained = network->stackOutput(batch, kTraining);
        QVERIFY(distance(trained, x + normedBy(x, moments.mean, moments.variance, *network)) < 1e-12);
        const double rows = static_cast<double>(x.numel() / x.size(-1));
        QVERIFY(distance(mean, meanBefore * (1 - kMomentum) + moments.mean * kMomentum) < 1e-12);
        QVERIFY(distance(variance, varianceBefore * (1 - kMomentum) +
                                       moments.variance * (rows / (rows - 1)) * kMomentum) < 1e-12);
        const at::Tensor held = mean.clone();
        const at::Tensor evaluated = network->stackOutput(batch, kEvaluation);
        QVERIFY(distance(evaluated, x + normedBy(x, mean, variance, *network)) < 1e-12);
        QVERIFY(at::equal(mean, held));
    }

    /// In training, through the moments of the batch, and in evaluation.
    void gradientsAreThoseOfDifferences()
    {
        const Project project = batchNormed(false, 2);
        const engine::DeviceBatch batch = randomBatch(project, 4, 1, 3);
        for (const engine::Pass& pass : {kTraining, kEvaluation}) {
            const auto network = compiled(project);
            shake(*network, 0.2, 1);
            network->loss(batch, pass).backward();
            const GradientCheck check = checkGradients(*network, batch, 3, pass);
            QVERIFY2(check.worst < 1e-6, check.name.c_str());
            QVERIFY(!parameter(*network, "layers.1.n.running_mean").requires_grad());
        }
    }

    /// Recomputation runs a layer twice, and a second group of losses the whole network: the moments move once.
    void momentsMoveOnceAStep()
    {
        Project project = batchNormed(true, 2);
        const engine::DeviceBatch batch = randomBatch(project, 4, 5, 3);
        const auto momentsAfter = [&](const Project& of) {
            const auto network = compiled(of);
            for (std::size_t group = 0; group < network->lossGroups(); ++group) {
                network->lossOfGroup(group, batch, kTraining).trained.backward();
            }
            return parameter(*network, "layers.2.n.running_var").clone();
        };
        const at::Tensor once = momentsAfter(project);
        project.training.activations = Activations::Recompute;
        QVERIFY(at::equal(momentsAfter(project), once));
        project.towers = {{project.network}};
        project.towers[0].network.name = "other";
        project.losses = {{.name = "close",
                           .kind = projects::LossKind::SquaredError,
                           .target = "other.output",
                           .trains = {"network"}}};
        QCOMPARE(compiled(project)->lossGroups(), std::size_t{2});
        QVERIFY(at::equal(momentsAfter(project), once));
    }

    /// A frozen tower is evaluated, so its moments stay.
    void frozenTowersKeepTheirMoments()
    {
        Project project = batchNormed(true, 1);
        project.towers = {{project.network}};
        project.towers[0].network.name = "teacher";
        project.towers[0].network.frozen = true;
        project.towers[0].network.ownLoss = projects::OwnLoss::None;
        project.losses = {{.name = "soft", .target = "teacher.output", .trains = {}}};
        const auto network = compiled(project);
        const at::Tensor before = parameter(*network, "teacher.layers.1.n.running_mean").clone();
        network->loss(randomBatch(project, 4, 5, 3), kTraining).backward();
        QVERIFY(at::equal(parameter(*network, "teacher.layers.1.n.running_mean"), before));
        QVERIFY(!at::equal(parameter(*network, "layers.1.n.running_mean"), before));
    }

    /// One row has no variance: the document says so, and a pass with fewer examples, as on a rank.
    void oneRowIsRefused()
    {
        Project project = batchNormed(false, 1);
        const auto network = compiled(project);
        const engine::DeviceBatch one = randomBatch(project, 1, 1, 3);
        QVERIFY(network->loss(one, kEvaluation).defined());
        try {
            (void)network->loss(one, kTraining);
            QFAIL("a batch of one row is normalised");
        } catch (const std::exception& error) {
            QVERIFY2(std::string(error.what()).find("block linear · node n normalises over the rows") !=
                         std::string::npos,
                     error.what());
        }
        project.training.batch = 1;
        project.training.batching = projects::BatchKind::Random;
        const std::vector<projects::Problem> problems = projects::validate(project);
        const auto found = std::ranges::find_if(problems, [](const projects::Problem& problem) {
            return problem.message.find("expected a batch of at least 2") != std::string::npos;
        });
        QVERIFY(found != problems.end());
        QCOMPARE(found->path, std::string("/network/blocks/0/graph/nodes/1"));
        project.training.batch = 2;
        QVERIFY(!projects::hasErrors(projects::validate(project)));
    }
};

RESIDUA_TEST(TestBatchNorm)
#include "tst_batch_norm.moc"
