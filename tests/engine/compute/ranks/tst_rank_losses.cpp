// SPDX-License-Identifier: GPL-3.0-or-later
// Several losses, clipped by themselves or together, at exits and over hidden tokens: two ranks train as one process.
#include "engine/compute/train/trainer.h"
#include "projects/shipped/examples.h"
#include "rank_harness.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/engine/compute/train/trainer_harness.h"
#include "tests/support/test_program.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>

#include <QTest>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::LossKind;
using projects::Project;

Q_DECLARE_METATYPE(residua::projects::Project)

namespace {

constexpr int kSteps = 3;

/// The weights after the steps, and their losses.
struct Trained {
    std::vector<double> losses;
    std::vector<std::pair<std::string, at::Tensor>> weights;
};

Trained trained(const Project& project, Ranks* ranks)
{
    Result<TrainerParts> parts = openParts(project, {}, "cpu");
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    Trainer trainer(std::move(*parts), ranks);
    Trained result;
    for (int step = 0; step < kSteps; ++step) {
        if (ranks != nullptr && ranks->rank() > 0) {
            (void)ranks->share({}); // rank 0's word before each step
        }
        if (const Status stepped = trainer.step(); !stepped) {
            throw std::runtime_error(stepped.error().text());
        }
        for (const StepRecord& record : trainer.takeRecords()) {
            result.losses.push_back(record.loss);
        }
    }
    for (const NamedParameter& each : trainer.network().parameters()) {
        result.weights.emplace_back(each.name, each.tensor.detach().clone());
    }
    return result;
}

Project language()
{
    Project project = tests::quickLanguage(kSteps);
    project.training.batch = 4;
    project.training.accumulate = 2;
    project.training.precision = projects::Precision::Fp64;
    project.training.optimiser = projects::Sgd{}; // whose step is proportional to the gradient
    project.training.learningRate.warmupSteps = 0;
    return project;
}

/// Two towers; a strong loss trains the first one alone.
Project twoGroups(projects::ClipScope scope)
{
    Project project = language();
    project.training.clipScope = scope;
    project.training.clipNorm = 0.1;
    project.towers = {{project.network}};
    project.towers[0].network.name = "other";
    project.losses = {
        {.name = "close", .target = "other.output", .weight = 20, .trains = {"network"}},
        {.name = "drawn", .kind = LossKind::Mean, .output = "other.states", .target = {}, .trains = {"other"}}};
    return project;
}

Project exits()
{
    Project project = language();
    project.stack().segments.front().repeat = 2;
    project.stack().loops = {{.first = 2, .last = 2, .visits = 2, .exitGate = true}};
    project.network.ownLoss = projects::OwnLoss::Measured;
    project.losses = {
        {.name = "exits", .kind = LossKind::ExpectedExit, .target = {}, .trains = {}},
        {.name = "early", .kind = LossKind::CrossEntropy, .output = "network.output@1", .target = {}, .trains = {}}};
    return project;
}

/// Each micro-batch of a rank has another number of hidden tokens.
Project hiddenTokens()
{
    Project project = projects::findExample("small-bert")->project;
    const Project plain = language();
    std::get<projects::SyntheticLanguage>(project.data.source).tokens = 4000;
    project.stack().segments.front().repeat = 2;
    const std::int64_t length = project.training.sequenceLength;
    project.training = plain.training;
    project.training.sequenceLength = length;
    project.losses = {
        {.name = "early", .kind = LossKind::CrossEntropy, .output = "network.output@1", .target = {}, .trains = {}}};
    return project;
}

} // namespace

class TestRankLosses : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("RESIDUA_RANKS", RESIDUA_RANKS_LIBRARY);
        at::set_num_threads(1);
    }

    void ranksTrainAsOne_data()
    {
        QTest::addColumn<Project>("project");
        QTest::newRow("losses that name towers") << twoGroups(projects::ClipScope::Step);
        QTest::newRow("losses clipped by themselves") << twoGroups(projects::ClipScope::Losses);
        QTest::newRow("exits") << exits();
        QTest::newRow("an exit over hidden tokens") << hiddenTokens();
    }
    void ranksTrainAsOne()
    {
        QFETCH(Project, project);
        const Trained alone = trained(project, nullptr);
        std::vector<Trained> shared(2);
        tests::withRanks(
            2, [&](Ranks& ranks) { shared[static_cast<std::size_t>(ranks.rank())] = trained(project, &ranks); });
        Project first = project; // the losses change the weights
        first.losses.clear();
        first.network.ownLoss = projects::OwnLoss::Trained;
        std::ranges::for_each(first.stack().loops, [](projects::Loop& loop) { loop.exitGate = false; });
        QVERIFY(trained(first, nullptr).losses.back() != alone.losses.back());
        QCOMPARE(alone.losses.size(), std::size_t{kSteps});
        for (std::size_t step = 0; step < alone.losses.size(); ++step) {
            QVERIFY2(std::abs(alone.losses[step] - shared[0].losses.at(step)) < 1e-10, std::to_string(step).c_str());
        }
        for (std::size_t i = 0; i < alone.weights.size(); ++i) {
            const auto& [name, weight] = alone.weights[i];
            QVERIFY2((weight - shared[0].weights[i].second).abs().max().item<double>() < 1e-10, name.c_str());
            QVERIFY2(weight.sizes() == shared[1].weights[i].second.sizes() &&
                         (shared[0].weights[i].second - shared[1].weights[i].second).abs().max().item<double>() == 0,
                     name.c_str());
        }
    }
};

RESIDUA_TEST(TestRankLosses)
#include "tst_rank_losses.moc"
