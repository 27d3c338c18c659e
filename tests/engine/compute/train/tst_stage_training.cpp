// SPDX-License-Identifier: GPL-3.0-or-later
// Training in stages: what a border does to weights and moments, what becomes of what is left out, and that a run goes
// over a border the same whether or not it was interrupted there.
#include "stage_harness.h"

#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/stages.h"
#include "engine/runs/store/checkpoint.h"
#include "tests/support/test_program.h"

#include <ATen/ops/equal.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <map>

using namespace residua;
using namespace residua::engine;
using projects::AbsentWeights;
using projects::DropAxis;
using projects::DropSampling;
using projects::GrowthMoments;
using projects::GrowthSource;
using projects::GrowthWrites;
using projects::StageSchedule;
using tests::growing;
using tests::measured;
using tests::SessionProbe;
using tests::staged;
using tests::train;
using tests::trainerOf;

namespace {

std::map<std::string, at::Tensor> weightsOf(Trainer& trainer)
{
    std::map<std::string, at::Tensor> weights;
    for (const NamedParameter& parameter : trainer.network().parameters()) {
        weights[parameter.name] = parameter.tensor.detach().clone();
    }
    return weights;
}

bool sameLayer(const std::map<std::string, at::Tensor>& a, int layerA, const std::map<std::string, at::Tensor>& b,
               int layerB)
{
    const std::string prefix = "layers." + std::to_string(layerA) + ".";
    return std::ranges::all_of(a, [&](const auto& entry) {
        return !entry.first.starts_with(prefix) ||
               at::equal(entry.second,
                         b.at("layers." + std::to_string(layerB) + "." + entry.first.substr(prefix.size())));
    });
}

/// Each with its note.
std::vector<std::pair<std::int64_t, std::string>> recordedStages(const std::filesystem::path& run)
{
    std::vector<std::pair<std::int64_t, std::string>> stages;
    for (const StageRecord& stage : stageRecords(*RunReader::open(run))) {
        stages.emplace_back(stage.step, stageText(stage));
    }
    return stages;
}

} // namespace

class TestStageTraining : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    /// A schedule that leaves out nothing is no schedule, bit for bit.
    void aScheduleOfAllLayersChangesNothing()
    {
        StageSchedule all;
        all.stages = {{0, 4, {1, 4}}};
        all.axis = DropAxis::All;
        const auto without = tests::lossesOf(staged(6, {}), directory("none"));
        QCOMPARE(tests::lossesOf(staged(6, all), directory("all")), without);
        all.stages.front().averageLength = 2;
        QVERIFY(tests::lossesOf(staged(6, all), directory("some")) != without);
    }

    void newLayersAreCopies()
    {
        Trainer trainer = trainerOf(staged(12, growing(GrowthSource::Top)));
        train(trainer, 4);
        const auto before = weightsOf(trainer);
        QVERIFY(!sameLayer(before, 3, before, 2));
        QVERIFY(trainer.beginStage()->has_value());
        const auto grown = weightsOf(trainer);
        QVERIFY(sameLayer(grown, 1, before, 1) && sameLayer(grown, 2, before, 2) && sameLayer(grown, 3, before, 2));
        QVERIFY(sameLayer(grown, 4, before, 4));

        Trainer between = trainerOf(staged(12, growing(GrowthSource::Adjacent)));
        train(between, 8); // three layers: the last of them is copied beside itself
        const auto three = weightsOf(between);
        QVERIFY(between.beginStage()->has_value());
        const auto four = weightsOf(between);
        QVERIFY(sameLayer(four, 1, three, 1) && sameLayer(four, 2, three, 2));
        QVERIFY(sameLayer(four, 3, three, 3) && sameLayer(four, 4, three, 3));
    }

    /// Copied moments step a copy as its source; empty ones as at the start of a run.
    void momentsFollowOrStartAnew()
    {
        for (const GrowthMoments moments : {GrowthMoments::Copied, GrowthMoments::Empty}) {
            StageSchedule schedule = growing(GrowthSource::Top);
            schedule.growthMoments = moments;
            Trainer trainer = trainerOf(staged(12, schedule));
            train(trainer, 4);
            QVERIFY(trainer.beginStage()->has_value());
            QVERIFY(trainer.writeCheckpoint(directory("moments")));
            const Result<LoadedCheckpoint> written = loadCheckpoint(directory("moments"), std::nullopt, nullptr);
            QVERIFY(written);
            const auto count = [&](const char* name) {
                const StoredTensor& stored = written->optimiser.tensors().at(name);
                return *reinterpret_cast<const float*>(stored.bytes.data());
            };
            QCOMPARE(count("layers.2.attention.q.weight.step"), 4.0F);
            QCOMPARE(count("layers.3.attention.q.weight.step"), moments == GrowthMoments::Copied ? 4.0F : 0.0F);
            QCOMPARE(count("layers.4.attention.q.weight.step"), 0.0F);
        }
    }

    /// Weights that a step leaves out decay under a gradient of zero, and keep their bits if nothing touches them.
    /// Layers that do not exist yet stay in either case.
    void absentWeights()
    {
        for (const AbsentWeights absent : {AbsentWeights::ZeroGradient, AbsentWeights::Untouched}) {
            StageSchedule schedule;
            schedule.stages = {{0, 2, {1, 4}}}; // layers 2 and 3 never train
            schedule.absentWeights = absent;
            Trainer trainer = trainerOf(staged(12, schedule));
            const auto before = weightsOf(trainer);
            train(trainer, 3);
            const auto after = weightsOf(trainer);
            QCOMPARE(sameLayer(before, 2, after, 2), absent == AbsentWeights::Untouched);
            QCOMPARE(sameLayer(before, 3, after, 3), absent == AbsentWeights::Untouched);
            QVERIFY(!sameLayer(before, 1, after, 1));

            // A layer that a loop visits is absent only if none of its visits runs: of 1 2@1 3@1 2@2 3@2 4, those of 3.
            schedule.stages = {{0, 3, {1, 2, 6}}};
            projects::Project looped = staged(12, schedule);
            looped.stack().loops = {{.first = 2, .last = 3, .visits = 2}};
            Trainer visits = trainerOf(looped);
            const auto first = weightsOf(visits);
            train(visits, 3);
            const auto last = weightsOf(visits);
            QVERIFY(!sameLayer(first, 2, last, 2));
            QCOMPARE(sameLayer(first, 3, last, 3), absent == AbsentWeights::Untouched);

            // One visit always runs as a whole, so that only the parameters of another visit can be absent.
            looped.stack().loops.front().adapterRank = 2;
            looped.stack().schedule = {.stages = {{0, 4, {2}}}, .unit = projects::DropUnit::Visit};
            looped.stack().schedule.absentWeights = absent;
            Trainer whole = trainerOf(looped);
            const auto begin = weightsOf(whole);
            train(whole, 3);
            const auto end = weightsOf(whole);
            int changed = 0;
            int unchanged = 0;
            for (const auto& [name, weight] : begin) {
                const bool isSame = at::equal(end.at(name), weight);
                const bool ofSecond = name.find("visit.2") != std::string::npos;
                (isSame ? unchanged : changed) += ofSecond ? 1 : 0;
                QVERIFY2(ofSecond || !isSame, name.c_str());
            }
            QVERIFY(absent == AbsentWeights::Untouched ? changed == 0 && unchanged > 0 : changed > 0);

            StageSchedule grows = growing(GrowthSource::Fresh);
            grows.absentWeights = absent;
            Trainer grown = trainerOf(staged(12, grows));
            const auto start = weightsOf(grown);
            train(grown, 3);
            QVERIFY(sameLayer(start, 4, weightsOf(grown), 4));
        }
    }

    /// Heads and MLP parts are slices of one parameter with those that train: what a step leaves out of them decays
    /// with the rest, but stays to the bit where nothing is to touch it, or while it does not exist yet.
    void absentSlices_data()
    {
        QTest::addColumn<int>("axis");
        QTest::addColumn<int>("sampling");
        QTest::addColumn<int>("absent");
        for (const DropAxis axis : {DropAxis::Heads, DropAxis::Mlp}) {
            const char* const name = axis == DropAxis::Heads ? "heads" : "MLP parts";
            const auto row = [&](const char* kind, DropSampling sampling, AbsentWeights absent) {
                QTest::addRow("%s, %s", name, kind)
                    << static_cast<int>(axis) << static_cast<int>(sampling) << static_cast<int>(absent);
            };
            row("a zero gradient", DropSampling::FixedSize, AbsentWeights::ZeroGradient);
            row("untouched", DropSampling::FixedSize, AbsentWeights::Untouched);
            row("not there yet", DropSampling::First, AbsentWeights::ZeroGradient);
        }
    }
    void absentSlices()
    {
        QFETCH(int, axis);
        QFETCH(int, sampling);
        QFETCH(int, absent);
        StageSchedule schedule;
        schedule.stages = {{0, 2, {}}};
        schedule.axis = static_cast<DropAxis>(axis);
        schedule.sampling = static_cast<DropSampling>(sampling);
        schedule.absentWeights = static_cast<AbsentWeights>(absent);
        const bool stay =
            schedule.sampling == DropSampling::First || schedule.absentWeights == AbsentWeights::Untouched;
        const projects::Project project = staged(12, schedule);
        Trainer trainer = trainerOf(project);
        const auto before = weightsOf(trainer);
        train(trainer, 1);
        Pass pass;
        pass.mode = Mode::Training;
        pass.step = 1;
        pass.random = RandomStreams(project.seeds.stages, 1);
        pass.layers = trainer.network().layersOf(pass);
        int slices = 0;
        for (const NamedParameter& parameter : trainer.network().parameters()) {
            if (!parameter.slices || !parameter.name.starts_with("layers.") || parameter.decay == Decay::No) {
                continue;
            }
            const LayerUse& layer = pass.layers.at(static_cast<std::size_t>(parameter.name[7] - '1'));
            const bool heads = parameter.slices->of == PartSlices::Of::Heads;
            const PartUse& use = heads ? layer.heads : layer.mlp;
            if (use.keep >= 1) {
                continue; // the other axis
            }
            const std::int64_t count = heads ? parameter.slices->count : layer.mlpParts;
            const auto kept = keptParts(use, count, parameter.slices->node).parts;
            const std::int64_t dimension = parameter.slices->dimension;
            const std::int64_t length = parameter.tensor.size(dimension) / count;
            for (std::int64_t part = 0; part < count; ++part) {
                const bool runs = std::ranges::count(kept, static_cast<std::size_t>(part)) > 0;
                const bool same = at::equal(parameter.tensor.narrow(dimension, part * length, length),
                                            before.at(parameter.name).narrow(dimension, part * length, length));
                QVERIFY2(same == (stay && !runs), parameter.name.c_str());
                slices += runs ? 0 : 1;
            }
        }
        QVERIFY(slices >= 4 * 3); // of three or four matrices in each layer
    }

    void tellsThatTheFunctionIsKept()
    {
        const projects::Project project = staged(11, growing(GrowthSource::Adjacent, GrowthWrites::Zero));
        const auto folder = directory("tells");
        QCOMPARE(tests::lossesOf(project, folder).size(), std::size_t{11});
        QCOMPARE(recordedStages(folder)[1].second,
                 std::string("3 layers; new layers 3 as copies of the layers before them; the function is kept"));
    }

    /// Stopped anywhere, at a border too, and resumed: every loss and every stage as if nothing had happened.
    void resumesOverBorders_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<qint64>("stop");
        for (const char* const kind : {"layers", "heads and MLP", "LEMON", "MSG", "curve"}) {
            for (const qint64 stop : {4, 6, 8}) {
                QTest::addRow("%s at %d", kind, static_cast<int>(stop)) << QString(kind) << stop;
            }
        }
    }
    void resumesOverBorders()
    {
        QFETCH(QString, kind);
        QFETCH(qint64, stop);
        projects::Project project = staged(11, scheduleOf(kind));
        project.training.validateEvery = 3;
        const auto folder = directory("resumes-" + kind + QString::number(stop));
        const auto whole = tests::lossesOf(project, folder / "whole");
        QCOMPARE(whole.size(), std::size_t{11});
        QVERIFY(tests::trainTo(project, folder / "stopped", stop));
        QCOMPARE(tests::resumeToEnd(folder / "stopped"), std::string());
        QCOMPARE(tests::recordedLosses(folder / "stopped"), whole);
        QVERIFY(recordedStages(folder / "stopped") == recordedStages(folder / "whole"));
        QCOMPARE(recordedStages(folder / "whole").size(), kind == "curve" ? std::size_t{0} : std::size_t{3});
        for (const char* const name : {metric::kValidationLoss, metric::kStageLoss, metric::kStageTrainBefore,
                                       metric::kStageTrainAfter, metric::kStageValidationAfter}) {
            const auto recorded = [&](const char* run) { return RunReader::open(folder / run)->metric(name); };
            QVERIFY2(recorded("stopped") == recorded("whole"), name);
        }
        // Whoever evaluates a checkpoint sees the network that the run validated there.
        const auto validated = RunReader::open(folder / "whole")->metric(metric::kValidationLoss);
        QVERIFY(!validated.empty());
        SessionProbe asking;
        EvaluateRequest request;
        request.tag = QueryTag{1};
        request.of.runDirectory = folder / "whole";
        request.split = Split::Validation;
        request.batches = project.training.validationBatches;
        asking.post(request);
        QVERIFY(asking.waitFor<EvaluationReady>());
        QCOMPARE(asking.all<EvaluationReady>()[0].means.at("loss"), validated.back().value);
    }

    /// A growing run's validation is of the network as grown so far, which its own stage loss would only repeat.
    void validationIsOfWhatIsThere()
    {
        Trainer grown = trainerOf(staged(12, growing(GrowthSource::Top)));
        train(grown, 2);
        QVERIFY(std::isfinite(measured(grown, metric::kValidationLoss)));
        QVERIFY(std::isnan(measured(grown, metric::kStageLoss)));
        StageSchedule schedule;
        schedule.stages = {{0, 2, {1, 4}}};
        Trainer dropped = trainerOf(staged(12, schedule));
        train(dropped, 2);
        const double whole = measured(dropped, metric::kValidationLoss);
        const double part = measured(dropped, metric::kStageLoss);
        QVERIFY(std::isfinite(whole) && std::isfinite(part) && whole != part);
    }

    /// A stage that happens to draw the whole network is still one that draws; one that trains all is not.
    void stageLossIsOfStagesThatDraw()
    {
        StageSchedule schedule;
        schedule.stages = {{0, 3.9, {}}, {4, 4, {}}};
        Trainer trainer = trainerOf(staged(12, schedule));
        train(trainer, 3);
        QVERIFY(std::isfinite(measured(trainer, metric::kStageLoss)));
        train(trainer, 2);
        QVERIFY(std::isnan(measured(trainer, metric::kStageLoss)));
    }

    /// At a cadence of its own, and of a checkpoint by a question: the same numbers. Training is not touched by it.
    void stabilityIsRecordedAndAskedFor()
    {
        StageSchedule schedule;
        schedule.stages = {{0, 2, {1, 4}}};
        projects::Project project = staged(6, schedule);
        const auto losses = tests::lossesOf(project, directory("unmeasured"));
        QVERIFY(RunReader::open(directory("unmeasured"))->matrixSteps(matrix::kStability).empty());
        project.training.stabilityEvery = 4;
        QVERIFY(tests::lossesOf(project, directory("measured")) == losses);
        const auto run = RunReader::open(directory("measured"));
        QCOMPARE(run->matrixSteps(matrix::kStability), (std::vector<std::int64_t>{4, 6}));
        QCOMPARE(run->matrixSteps(matrix::kStabilityGap), (std::vector<std::int64_t>{4, 6}));
        SessionProbe asking;
        StabilityRequest request;
        request.tag = QueryTag{1};
        request.of.runDirectory = directory("measured");
        asking.post(request);
        QVERIFY(asking.waitFor<StabilityReady>());
        const StabilityReady ready = asking.all<StabilityReady>()[0];
        QCOMPARE(ready.step, 6);
        QCOMPARE(ready.batches, project.training.validationBatches);
        QCOMPARE(ready.matrices.at(0).values, run->matrix(matrix::kStability, 6)->values);
        QCOMPARE(ready.matrices.at(1).values, run->matrix(matrix::kStabilityGap, 6)->values);
        QVERIFY(std::isfinite(ready.loss));
        request.of.runDirectory = directory("no such run");
        asking.post(request);
        QVERIFY(asking.waitFor<QueryFailed>());
    }

private:
    [[nodiscard]] static StageSchedule scheduleOf(const QString& kind)
    {
        StageSchedule schedule;
        schedule.stages = {{0, 2, {1}}, {4, 3, {1}}, {8, 4, {1}}};
        if (kind == "heads and MLP") {
            schedule.axis = DropAxis::HeadsAndMlp;
        } else if (kind == "LEMON") {
            schedule = growing(GrowthSource::Adjacent, GrowthWrites::Zero);
        } else if (kind == "MSG") {
            schedule = growing(GrowthSource::Top, GrowthWrites::Copied, 3);
        } else if (kind == "curve") {
            schedule = {};
            schedule.course = projects::DropCourse::Curve;
            schedule.sampling = DropSampling::DeeperSeldomer;
        }
        return schedule;
    }

    [[nodiscard]] std::filesystem::path directory(const QString& name) const
    {
        return m_folder.filePath(name).toStdString();
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST(TestStageTraining)
#include "tst_stage_training.moc"
