// SPDX-License-Identifier: GPL-3.0-or-later
// The running mean of weights, clipping by loss, and what frozen towers have no part in.
#include "tests/engine/compute/session/run_harness.h"
#include "trainer_harness.h"

#include "engine/compute/train/loss_clipping.h"
#include "engine/compute/train/tensor_io.h"
#include "engine/compute/train/weight_average.h"
#include "projects/nodes/graph_builder.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <vector>

using namespace residua;
using namespace residua::engine;
using residua::tests::quickLanguage;
using residua::tests::trainerOf;

namespace {

std::vector<double> lossesOf(Trainer& trainer, int steps)
{
    for (int i = 0; i < steps; ++i) {
        if (const Status stepped = trainer.step(); !stepped) {
            throw std::runtime_error(stepped.error().text());
        }
    }
    std::vector<double> losses;
    for (const StepRecord& record : trainer.takeRecords()) {
        losses.push_back(record.loss);
    }
    return losses;
}

} // namespace

class TestWeightAverage : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// The mean follows its formula, is validated in the place of the weights, which it leaves as they are, and resumes
    /// to the bit, as buffers do.
    void theRunningMeanOfWeights()
    {
        const QTemporaryDir folder;
        const std::filesystem::path directory = folder.path().toStdString();
        projects::Project project = quickLanguage(20);
        const auto read = std::ranges::find_if(project.network.blocks.front().graph.nodes,
                                               [](const auto& node) { return node.kind == "attention"; });
        projects::insertAfter(project.network.blocks.front().graph, read->id, "normed", "batch_norm", {});
        project.training.weightAverage = 0.75;
        Trainer plain = trainerOf(project);
        project.training.evaluatedWeights = projects::EvaluatedWeights::Averaged;
        Trainer averaged = trainerOf(project);
        const auto weights = [](Trainer& trainer) {
            std::vector<at::Tensor> values;
            for (const NamedParameter& each : trainer.network().parameters()) {
                values.push_back(each.tensor.detach().clone());
            }
            return values;
        };
        std::vector<at::Tensor> means = weights(averaged);
        for (int step = 0; step < 5; ++step) {
            lossesOf(averaged, 1);
            lossesOf(plain, 1);
            const std::vector<at::Tensor> now = weights(averaged);
            for (std::size_t i = 0; i < means.size(); ++i) {
                means[i] = averaged.network().parameters()[i].isBuffer ? now[i] : means[i] * 0.75 + now[i] * 0.25;
            }
        }
        const double ofMean = tests::measured(averaged, metric::kValidationLoss);
        QVERIFY(ofMean != tests::measured(plain, metric::kValidationLoss));
        const std::vector<at::Tensor> trained = weights(plain);
        for (std::size_t i = 0; i < trained.size(); ++i) {
            QVERIFY(at::equal(weights(averaged)[i], trained[i]));
        }
        QVERIFY(averaged.writeCheckpoint(directory).ok());
        Result<CheckpointFiles> checkpoint = findCheckpoint(directory, std::nullopt, nullptr);
        QVERIFY2(checkpoint.ok(), checkpoint ? "" : checkpoint.error().text().c_str());

        Trainer resumed = trainerOf(project);
        lossesOf(resumed, 2); // whatever it did before is gone
        QVERIFY(resumed.restore(*checkpoint).ok());
        QCOMPARE(tests::measured(resumed, metric::kValidationLoss), ofMean);
        QCOMPARE(lossesOf(resumed, 3), lossesOf(averaged, 3));
        QCOMPARE(tests::measured(resumed, metric::kValidationLoss), tests::measured(averaged, metric::kValidationLoss));

        takeEvaluatedWeights(*checkpoint, plain.project().training); // evaluates the weights as trained
        Trainer other = trainerOf(plain.project());
        QVERIFY(other.restore(*checkpoint).ok());
        QVERIFY(std::abs(tests::measured(other, metric::kValidationLoss) - ofMean) > 0);
        takeEvaluatedWeights(*checkpoint, project.training);
        QVERIFY(loadParameters(checkpoint->model, other.network().parameters()).ok());
        QCOMPARE(tests::measured(other, metric::kValidationLoss), ofMean);
        for (std::size_t i = 0; i < means.size(); ++i) {
            const NamedParameter& each = other.network().parameters()[i];
            QVERIFY2((each.tensor.detach() - means[i]).abs().max().item<double>() < 1e-6, each.name.c_str());
        }
        QVERIFY(!other.restore(*checkpoint).ok()); // without the means and moments
    }

    /// Each group of losses is clipped by its own norm; with one group, or without clipping, nothing differs.
    void lossesAreClippedByThemselves()
    {
        std::vector<NamedParameter> parameters = {
            {"w", at::tensor({1.0, 2.0}, at::kDouble).requires_grad_(true), Decay::Yes, {}, {}}};
        parameters.push_back({"v", at::zeros({1}, at::kDouble).requires_grad_(true), Decay::Yes, {}, {}});
        LossClipping clipping(2.0, parameters, 2);
        const std::vector<std::vector<double>> gradients{{3.0, 4.0}, {0.5, -0.5}};
        for (int micro = 0; micro < 2; ++micro) {
            for (std::size_t group = 0; group < 2; ++group) {
                clipping.exchange(group);
                at::Tensor& sum = parameters[0].tensor.mutable_grad();
                const at::Tensor own = at::tensor(gradients[group], at::kDouble) * 0.5;
                sum = sum.defined() ? sum + own : own;
                clipping.exchange(group);
                QVERIFY(!parameters[0].tensor.grad().defined());
            }
        }
        clipping.finish();
        QVERIFY((parameters[0].tensor.grad() - at::tensor({3.0 * 2 / 5 + 0.5, 4.0 * 2 / 5 - 0.5}, at::kDouble))
                    .abs()
                    .max()
                    .item<double>() < 1e-12);
        QVERIFY(!parameters[1].tensor.grad().defined());

        projects::Project project = quickLanguage(4);
        const auto lossesIn = [&](projects::ClipScope scope, double norm) {
            project.training.clipScope = scope;
            project.training.clipNorm = norm;
            Trainer trainer = trainerOf(project);
            return lossesOf(trainer, 4);
        };
        using enum projects::ClipScope;
        QCOMPARE(lossesIn(Losses, 0.1), lossesIn(Step, 0.1));
        project.towers = {{project.network}};
        project.towers[0].network.name = "other";
        project.losses = {{.name = "close", .target = "other.output", .weight = 20, .trains = {"network"}}};
        QCOMPARE(lossesIn(Losses, 1e9), lossesIn(Step, 1e9));
        QVERIFY(lossesIn(Losses, 0.1) != lossesIn(Step, 0.1));
    }

    /// Frozen towers have no optimiser states and no running mean.
    void frozenTowersHaveNoStates()
    {
        const QTemporaryDir folder;
        projects::Project project = quickLanguage(4);
        project.training.weightAverage = 0.5;
        project.towers = {{project.network}};
        project.towers[0].network.name = "teacher";
        project.towers[0].network.frozen = true;
        project.towers[0].network.ownLoss = projects::OwnLoss::None;
        project.losses = {{.name = "soft", .target = "teacher.output", .trains = {}}};
        Trainer trainer = trainerOf(project);
        lossesOf(trainer, 2);
        QVERIFY(trainer.writeCheckpoint(folder.path().toStdString()).ok());
        const Result<CheckpointFiles> checkpoint = findCheckpoint(folder.path().toStdString(), std::nullopt, nullptr);
        const auto isOfTeacher = [](const auto& tensor) { return tensor.first.starts_with("teacher."); };
        QVERIFY(std::ranges::any_of(checkpoint->model.tensors(), isOfTeacher));
        QVERIFY(std::ranges::none_of(checkpoint->optimiser.tensors(), isOfTeacher));
        QVERIFY(!checkpoint->optimiser.tensors().empty());
    }
};

RESIDUA_TEST(TestWeightAverage)
#include "tst_weight_average.moc"
