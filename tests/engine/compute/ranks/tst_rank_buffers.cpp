// SPDX-License-Identifier: GPL-3.0-or-later
// Buffers, running means of weights, growing towers and weights exchanged as copies in networks that several ranks
// train.
#include "engine/compute/ranks/parameter_shares.h"
#include "engine/compute/train/trainer.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/recipes.h"
#include "rank_harness.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/engine/compute/train/trainer_harness.h"
#include "tests/engine/compute/train/wiring_cases.h"
#include "tests/support/graph_text.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include <QTest>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::Project;

Q_DECLARE_METATYPE(residua::projects::Project)

namespace {

constexpr int kSteps = 4;

TrainerParts partsOf(const Project& project)
{
    Result<TrainerParts> parts = openParts(project, {}, "cpu");
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    return std::move(*parts);
}

/// Returns copies of the values of the parameters.
std::vector<at::Tensor> valuesOf(Trainer& trainer)
{
    std::vector<at::Tensor> values;
    std::ranges::transform(trainer.network().parameters(), std::back_inserter(values),
                           [](const NamedParameter& parameter) { return parameter.tensor.detach().clone(); });
    return values;
}

/// Returns the running mean of the first layer.
at::Tensor firstBuffer(Trainer& trainer)
{
    return std::ranges::find(trainer.network().parameters(), true, &NamedParameter::isBuffer)->tensor;
}

void train(Trainer& trainer, Ranks* ranks, int steps)
{
    for (int step = 0; step < steps; ++step) {
        if (ranks != nullptr && ranks->rank() > 0) {
            (void)ranks->share({}); // rank 0's word before each step
        }
        if (const Status stepped = trainer.step(); !stepped) {
            throw std::runtime_error(stepped.error().text());
        }
    }
}

/// A language model with batch norms, in micro-batches of 8 examples.
Project batchNormed(const std::string& moments)
{
    Project project = tests::quickLanguage(kSteps);
    project.training.batch = 8;
    project.training.precision = projects::Precision::Fp64;
    project.network.blocks.front().graph =
        tests::graphFrom("x input; n batch_norm moments=" + moments + "; l linear; y output; x > n; n > l; l > y");
    return project;
}

/// Returns the weights and buffers after the steps.
std::vector<at::Tensor> trainedBy(const Project& project, Ranks* ranks)
{
    Trainer trainer(partsOf(project), ranks);
    train(trainer, ranks, kSteps);
    return valuesOf(trainer);
}

double largestDifference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b)
{
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, (a[i] - b.at(i)).abs().max().item<double>());
    }
    return largest;
}

} // namespace

class TestRankBuffers : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qputenv("RESIDUA_RANKS", RESIDUA_RANKS_LIBRARY); }

    /// The buffers of all ranks are the means of their own moments, and the running means of their weights are equal.
    void buffersAreMeansOverRanks()
    {
        Project project = batchNormed("rank");
        project.training.weightAverage = 0.5;
        project.training.evaluatedWeights = projects::EvaluatedWeights::Averaged;
        std::vector<std::vector<at::Tensor>> buffers(2);
        std::vector<double> validation(2);
        std::vector<at::Tensor> afterFirst(2);
        tests::withRanks(2, [&](Ranks& ranks) {
            Trainer trainer(partsOf(project), &ranks);
            const auto rank = static_cast<std::size_t>(ranks.rank());
            train(trainer, &ranks, 1);
            afterFirst[rank] = firstBuffer(trainer).clone();
            train(trainer, &ranks, kSteps - 1);
            for (const NamedParameter& each : trainer.network().parameters()) {
                if (each.isBuffer) {
                    buffers[rank].push_back(each.tensor.clone());
                }
            }
            validation[rank] = tests::measured(trainer, metric::kValidationLoss);
        });
        QCOMPARE(buffers[0].size(), static_cast<std::size_t>(2 * project.network.depth()));
        for (std::size_t i = 0; i < buffers[0].size(); ++i) {
            QVERIFY(at::equal(buffers[0][i], buffers[1][i]));
        }
        QCOMPARE(validation[0], validation[1]);
        Trainer alone(partsOf(project));
        train(alone, nullptr, 1); // the mean of the whole batch is that of its parts
        QVERIFY(firstBuffer(alone).abs().max().item<double>() > 1e-6);
        QVERIFY((firstBuffer(alone) - afterFirst[0]).abs().max().item<double>() < 1e-12);
    }

    void familiesTrainAsOne_data()
    {
        QTest::addColumn<Project>("project");
        QTest::newRow("batch norm") << batchNormed("batch");
        Project recomputed = batchNormed("batch");
        recomputed.training.activations = projects::Activations::Recompute;
        QTest::newRow("batch norm, computed again") << recomputed;
        Project rows = tests::quickVectors(kSteps);
        rows.training.batching = projects::BatchKind::Random;
        rows.training.batch = 2;
        rows.network.blocks.front().graph = batchNormed("batch").network.blocks.front().graph;
        // Of two rows, moments divide by half their difference, which amplifies errors where it is small.
        projects::setParam(rows.network.blocks.front().graph, "batch_norm", "epsilon", 1.0);
        QTest::newRow("batch norm of one row a rank") << rows;
        for (const char* const family : {"small-resnet", "small-efficientnet", "small-dit", "small-ul2"}) {
            Project project = tests::familyUnder(family, "ancre-ingoing");
            project.training.batch = 8;
            for (projects::Graph* const graph : projects::graphsOf(project)) {
                projects::setParam(*graph, "batch_norm", projects::kMomentsParam, std::string("batch"));
            }
            QTest::newRow(family) << project;
        }
    }
    /// Two ranks train as one process, if batch norms have moments of the whole micro-batch.
    void familiesTrainAsOne()
    {
        QFETCH(Project, project);
        project.training.precision = projects::Precision::Fp64;
        project.training.accumulate = 2;
        project.training.optimiser = projects::Sgd{}; // whose step is proportional to the gradient
        project.training.learningRate.warmupSteps = 0;
        std::vector<std::vector<at::Tensor>> shared(2);
        tests::withRanks(
            2, [&](Ranks& ranks) { shared[static_cast<std::size_t>(ranks.rank())] = trainedBy(project, &ranks); });
        QCOMPARE(largestDifference(shared[0], shared[1]), 0.0);
        const double difference = largestDifference(trainedBy(project, nullptr), shared[0]);
        QVERIFY2(difference < 1e-10, qPrintable(QString::number(difference)));
    }

    /// With moments of a rank, they do not.
    void momentsOfARankAreOthers()
    {
        std::vector<at::Tensor> shared;
        tests::withRanks(2, [&](Ranks& ranks) {
            std::vector<at::Tensor> own = trainedBy(batchNormed("rank"), &ranks);
            if (ranks.rank() == 0) {
                shared = std::move(own);
            }
        });
        QVERIFY(largestDifference(trainedBy(batchNormed("rank"), nullptr), shared) > 1e-6);
    }

    void copiesTrainAsValues_data()
    {
        QTest::addColumn<Project>("project");
        for (const char* const topology : {"plain", "dca", "mhc", "mudd", "densenet", "highway", "laurel-lr"}) {
            QTest::newRow(topology) << tests::wiredLanguage(topology, kSteps);
        }
        for (const char* const family : {"small-vit", "small-bert", "small-dit"}) {
            QTest::newRow(family) << tests::familyUnder(family, "plain");
        }
        Project language = tests::wiredLanguage("plain", kSteps);
        language.training.activations = projects::Activations::Recompute;
        QTest::newRow("recomputed") << language;
        language = tests::wiredLanguage("plain", kSteps);
        language.network.tieHead = true;
        QTest::newRow("tied head") << language;
    }
    /// Ranks that divide the states and exchange copies of weights have the bits of ranks that do not, in their losses
    /// and, once the values are complete, in their parameters.
    void copiesTrainAsValues()
    {
        QFETCH(Project, project);
        project.training.steps = kSteps;
        project.training.batch = 4;
        project.training.precision = projects::Precision::Bf16;
        std::array<std::vector<double>, 2> losses;
        std::array<std::array<std::vector<at::Tensor>, 2>, 2> values; // by division and rank
        std::array<std::vector<at::Tensor>, 2> between;
        for (const std::size_t divided : {0, 1}) {
            project.training.rankStates = static_cast<projects::RankStates>(divided);
            std::array<std::vector<double>, 2> lossesOf;
            tests::withRanks(2, [&](Ranks& ranks) {
                Trainer trainer(partsOf(project), &ranks);
                train(trainer, &ranks, kSteps);
                const auto rank = static_cast<std::size_t>(ranks.rank());
                between[rank] = valuesOf(trainer);
                trainer.sendStates();
                values[divided][rank] = valuesOf(trainer);
                for (const StepRecord& record : trainer.takeRecords()) {
                    lossesOf[rank].push_back(record.loss);
                }
            });
            losses[divided] = lossesOf[0];
        }
        QCOMPARE(losses[0].size(), std::size_t{kSteps});
        QCOMPARE(losses[1], losses[0]);
        std::size_t rounded = 0;
        for (std::size_t i = 0; i < between[0].size(); ++i) {
            rounded += at::equal(between[0][i], between[1][i]) ? 0 : 1;
            for (const auto& ofRanks : values) {
                QVERIFY(at::equal(ofRanks[0][i], values[0][0][i]) && at::equal(ofRanks[1][i], values[0][0][i]));
            }
        }
        QCOMPARE(rounded > 0, project.training.weightAverage == 0); // a running mean reads all values in full
    }

    /// The layers of a tower that grows copy states from each other, so one rank has those of each name.
    void siblingsHaveOneOwner()
    {
        constexpr std::int64_t kLayers = 3;
        std::vector<NamedParameter> parameters;
        for (const std::string tower : {"", "teacher."}) {
            for (const std::string rest : {"up.weight", "down.weight"}) {
                for (std::int64_t layer = 1; layer <= kLayers; ++layer) {
                    parameters.push_back({tower + projects::layerPrefix(layer) + rest, at::zeros({4, 4})});
                }
            }
        }
        std::array<std::vector<bool>, 2> owned;
        tests::withRanks(2, [&](Ranks& ranks) {
            const ParameterShares shares(ranks, parameters, ParameterShares::Together::Siblings);
            for (std::size_t i = 0; i < parameters.size(); ++i) {
                owned[static_cast<std::size_t>(ranks.rank())].push_back(shares.isOwn(i));
            }
        });
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const std::size_t sibling = i - i % kLayers;
            QVERIFY2(owned[0][i] != owned[1][i], parameters[i].name.c_str());
            QVERIFY2(owned[0][i] == owned[0][sibling], parameters[i].name.c_str());
        }
        QCOMPARE(std::ranges::count(owned[0], true), std::ranges::count(owned[1], true));
    }
};

RESIDUA_TEST(TestRankBuffers)
#include "tst_rank_buffers.moc"
