// SPDX-License-Identifier: GPL-3.0-or-later
// Training in stages: what a border does to weights, moments, losses and the record, and that a run goes over it the
// same whether or not it was interrupted there.
#include "run_harness.h"
#include "trainer_harness.h"

#include "engine/api/row_curves.h"
#include "engine/results/run_reader.h"
#include "engine/results/stages.h"
#include "engine/runs/checkpoint.h"
#include "engine/train/batches.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

using namespace residua;
using namespace residua::engine;
using projects::AbsentWeights;
using projects::DropAxis;
using projects::DropSampling;
using projects::GrowthMoments;
using projects::GrowthSource;
using projects::GrowthWrites;
using projects::StageSchedule;
using tests::kRun;
using tests::quickLanguage;
using tests::SessionProbe;
using tests::trainerOf;

namespace {

/// Four plain layers of quickLanguage in double precision.
projects::Project staged(std::int64_t steps, StageSchedule schedule)
{
    projects::Project project = quickLanguage(steps);
    project.network.stack.front().repeat = 4;
    for (const projects::TopologyPreset& preset : projects::topologyPresets(4)) {
        if (preset.name == "plain") {
            project.topology = {preset.name, preset.wiring};
        }
    }
    project.training.precision = projects::Precision::Fp64;
    project.schedule = std::move(schedule);
    return project;
}

StageSchedule growing(GrowthSource source, GrowthWrites writes = GrowthWrites::Copied, std::int64_t warmup = 0)
{
    StageSchedule schedule;
    schedule.stages = {{0, 2, {}}, {4, 3, {}}, {8, 4, {}}};
    schedule.sampling = DropSampling::First;
    schedule.growth = source;
    schedule.growthWrites = writes;
    schedule.growthWarmup = warmup;
    return schedule;
}

/// Steps with the borders before them; the stages that began.
std::vector<StageRecord> train(Trainer& trainer, int steps)
{
    std::vector<StageRecord> stages;
    for (int i = 0; i < steps; ++i) {
        const Result<std::optional<StageRecord>> stage = trainer.beginStage();
        if (!stage) {
            throw std::runtime_error(stage.error().text());
        }
        if (*stage) {
            stages.push_back(**stage);
        }
        if (const Status stepped = trainer.step(); !stepped) {
            throw std::runtime_error(stepped.error().text());
        }
    }
    return stages;
}

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

    /// At a border the same weights and batches are seen by what trained before it and by what trains after it.
    void lossesAreTakenOnBothSides()
    {
        StageSchedule schedule;
        schedule.stages = {{0, 2, {1, 4}}, {3, 4, {1, 4}}};
        Trainer trainer = trainerOf(staged(8, schedule));
        const std::vector<StageRecord> stages = train(trainer, 4);
        QCOMPARE(stages.size(), std::size_t{2});
        QCOMPARE(stages[0].step, std::int64_t{0});
        QCOMPARE(stages[0].name, std::string("2 of 4 layers"));
        QVERIFY(std::isnan(stages[0].trainBefore));
        QCOMPARE(stages[1].step, std::int64_t{3});
        QCOMPARE(stages[1].name, std::string("every layer"));
        for (const double loss :
             {stages[1].trainBefore, stages[1].trainAfter, stages[1].validationBefore, stages[1].validationAfter}) {
            QVERIFY(std::isfinite(loss) && loss > 0);
        }
        QVERIFY(stages[1].trainBefore != stages[1].trainAfter);
        // Of one batch alone the last is the loss of the next step itself: the same batch through the same layers,
        // without dropout.
        projects::Project plain = staged(8, schedule);
        for (projects::Node& node : plain.network.blocks.front().graph.nodes) {
            node.params.erase("dropout");
        }
        plain.training.validationBatches = 1;
        Trainer again = trainerOf(plain);
        const StageRecord border = train(again, 4).back();
        QCOMPARE(border.trainAfter, again.takeRecords().back().loss);
    }

    /// The losses at a border are means over as many draws as a validation has batches: the batches that come next,
    /// each through what another step trains.
    void lossesAtABorderAreMeansOverDraws()
    {
        StageSchedule schedule;
        schedule.stages = {{0, 2, {1}}, {6, 3, {1}}};
        projects::Project project = staged(12, schedule);
        project.training.validationBatches = 3;
        Trainer trainer = trainerOf(project);
        train(trainer, 6);
        const Dataset& data = trainer.dataset();
        const auto mean = [&](Split split, const std::function<std::int64_t(std::int64_t)>& stepOf) {
            const at::NoGradGuard noGrad;
            double sum = 0;
            for (std::int64_t i = 0; i < 3; ++i) {
                Pass pass;
                pass.mode = Mode::Training;
                pass.step = stepOf(i);
                pass.random = RandomStreams(project.seeds.stages, pass.step);
                pass.layers = trainer.network().layersOf(pass);
                pass.mode = Mode::Evaluation;
                Batch batch;
                if (!data.fill(batch, split, project.seeds.order, 6 + i, project.training.batch)) {
                    throw std::runtime_error("no batch");
                }
                const DeviceBatch uploaded = upload(batch, data.schema(), trainer.device(), at::kDouble);
                sum += trainer.network().loss(uploaded, pass).item<double>();
            }
            return sum / 3;
        };
        const double before = mean(Split::Train, [](std::int64_t i) { return 6 - i; });
        const double after = mean(Split::Train, [](std::int64_t i) { return 7 + i; });
        const auto border = trainer.beginStage();
        QVERIFY(border && *border);
        QCOMPARE((*border)->trainBefore, before);
        QCOMPARE((*border)->trainAfter, after);
        QVERIFY((*border)->note.empty());
    }

    /// LEMON (new layers write nothing) and MSG (new branches open from 0) compute exactly what the network computed
    /// before; stacking does not.
    void growthKeepsTheFunctionWherePromised_data()
    {
        QTest::addColumn<int>("source");
        QTest::addColumn<int>("writes");
        QTest::addColumn<qint64>("warmup");
        QTest::addColumn<bool>("keeps");
        const auto row = [](const char* name, GrowthSource source, GrowthWrites writes, qint64 warmup, bool keeps) {
            QTest::newRow(name) << static_cast<int>(source) << static_cast<int>(writes) << warmup << keeps;
        };
        row("LEMON", GrowthSource::Adjacent, GrowthWrites::Zero, 0, true);
        row("MSG", GrowthSource::Top, GrowthWrites::Copied, 3, true);
        row("MSG, layers between", GrowthSource::Adjacent, GrowthWrites::Copied, 3, true);
        row("fresh, silent", GrowthSource::Fresh, GrowthWrites::Zero, 0, true);
        row("stacking", GrowthSource::Top, GrowthWrites::Copied, 0, false);
    }
    void growthKeepsTheFunctionWherePromised()
    {
        QFETCH(int, source);
        QFETCH(int, writes);
        QFETCH(qint64, warmup);
        QFETCH(bool, keeps);
        Trainer trainer = trainerOf(
            staged(12, growing(static_cast<GrowthSource>(source), static_cast<GrowthWrites>(writes), warmup)));
        const std::vector<StageRecord> stages = train(trainer, 10);
        QCOMPARE(stages.size(), std::size_t{3});
        for (std::size_t i = 1; i < stages.size(); ++i) {
            QVERIFY2(stages[i].note.ends_with("; the function is kept") == keeps, stages[i].note.c_str());
            QVERIFY(keeps || stages[i].note.find("; the function is not kept: outputs differ by") != std::string::npos);
            QCOMPARE(stages[i].trainAfter == stages[i].trainBefore, keeps);
            QCOMPARE(stages[i].validationAfter == stages[i].validationBefore, keeps);
        }
    }

    /// Whether a wiring keeps the function is measured at the border, and said where it was meant to be kept.
    void aRunSaysWhetherTheFunctionIsKept_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("schedule");
        QTest::addColumn<bool>("keeps");
        QTest::newRow("GRN, each beside itself") << QString("grn-v2") << QString("lemon") << false;
        QTest::newRow("GRN, on top") << QString("grn-v2") << QString("msg") << true;
        QTest::newRow("ANCRe, each beside itself") << QString("ancre-ingoing") << QString("lemon") << false;
        QTest::newRow("ANCRe, on top") << QString("ancre-ingoing") << QString("msg") << true;
        QTest::newRow("streams, on top") << QString("hyper-static") << QString("msg") << true;
        QTest::newRow("ReZero, on top") << QString("rezero") << QString("msg") << true;
        QTest::newRow("DenseNet, on top") << QString("densenet") << QString("msg") << true;
        QTest::newRow("Highway") << QString("highway") << QString("msg") << false;
        QTest::newRow("LAuReL-RW") << QString("laurel-rw") << QString("msg") << false;
        QTest::newRow("attention over depth") << QString("attention-residuals") << QString("msg") << false;
        QTest::newRow("heads") << QString("grn-v2") << QString("msg-heads") << true;
        QTest::newRow("MLP parts") << QString("ancre-ingoing") << QString("msg-mlp") << true;
    }
    void aRunSaysWhetherTheFunctionIsKept()
    {
        QFETCH(QString, topology);
        QFETCH(QString, schedule);
        QFETCH(bool, keeps);
        projects::Project project = staged(12, *projects::scheduleFrom((schedule + " 2-4").toStdString(), 4, 12));
        project.schedule.stages[1].start = 6;
        const auto presets = projects::topologyPresets(project.network);
        const auto preset = std::ranges::find(presets, topology.toStdString(), &projects::TopologyPreset::name);
        project.topology = {preset->name, preset->wiring};
        project.training.learningRate = {.peak = 0.01, .warmupSteps = 0, .curve = projects::RateCurve::Constant};
        Trainer trainer = trainerOf(project);
        const std::vector<StageRecord> stages = train(trainer, 7);
        QCOMPARE(stages.size(), std::size_t{2});
        const std::string note = stages[1].note;
        QVERIFY2((note.find("the function is kept") != std::string::npos) == keeps, note.c_str());
        QVERIFY2(keeps || note.find("is not kept, although what is new counts nothing at first: outputs differ by") !=
                              std::string::npos,
                 note.c_str());
        const bool layers = schedule == "lemon" || schedule == "msg";
        QVERIFY2(note.starts_with(layers                    ? "new layers 3, 4 as copies of the top layers"
                                  : schedule == "msg-heads" ? "heads from 50 % to 100 %, as initialised"
                                                            : "MLP parts from 50 % to 100 %, as initialised") ||
                     schedule == "lemon",
                 note.c_str());
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

    /// What a step leaves out decays under a gradient of zero, and stays to the bit where nothing touches it. Layers
    /// that do not exist yet stay in either case.
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
            if (!parameter.units || !parameter.name.starts_with("layers.") || parameter.decay == Decay::No) {
                continue;
            }
            const LayerUse& layer = pass.layers.at(static_cast<std::size_t>(parameter.name[7] - '1'));
            const bool heads = parameter.units->of == ParameterUnits::Of::Heads;
            const UnitUse& use = heads ? layer.heads : layer.mlp;
            if (use.keep >= 1) {
                continue; // the other axis
            }
            const std::int64_t count = heads ? parameter.units->count : layer.mlpParts;
            const auto kept = keptUnits(use, count, parameter.units->node).units;
            const std::int64_t dimension = parameter.units->dimension;
            const std::int64_t length = parameter.tensor.size(dimension) / count;
            for (std::int64_t unit = 0; unit < count; ++unit) {
                const bool runs = std::ranges::count(kept, static_cast<std::size_t>(unit)) > 0;
                const bool same = at::equal(parameter.tensor.narrow(dimension, unit * length, length),
                                            before.at(parameter.name).narrow(dimension, unit * length, length));
                QVERIFY2(same == (stay && !runs), parameter.name.c_str());
                slices += runs ? 0 : 1;
            }
        }
        QVERIFY(slices >= 4 * 3); // of three or four matrices in each layer
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
        projects::Project project = staged(11, schedule);
        project.training.validateEvery = 3;
        const auto folder = directory("resumes-" + kind + QString::number(stop));
        const auto whole = tests::lossesOf(project, folder / "whole");
        QCOMPARE(whole.size(), std::size_t{11});
        {
            SessionProbe probe;
            StartRun command;
            command.run = kRun;
            command.project = project;
            command.runDirectory = folder / "stopped";
            command.pauseAfter = stop;
            probe.post(command);
            QVERIFY(probe.waitFor<RunPaused>());
            probe.post(Stop{kRun});
            QVERIFY(probe.waitFor<RunEnded>());
        }
        SessionProbe probe;
        ResumeRun command;
        command.run = kRun;
        command.runDirectory = folder / "stopped";
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY2(probe.all<RunEnded>()[0].status == RunStatus::Finished, probe.all<RunEnded>()[0].error.text().c_str());
        QCOMPARE(tests::recordedLosses(folder / "stopped"), whole);
        QVERIFY(recordedStages(folder / "stopped") == recordedStages(folder / "whole"));
        QCOMPARE(recordedStages(folder / "whole").size(), kind == "curve" ? std::size_t{0} : std::size_t{3});
        if (kind == "LEMON") {
            QCOMPARE(recordedStages(folder / "whole")[1].second,
                     std::string("3 layers; new layers 3 as copies of the layers before them; the function is kept"));
        }
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
        request.runDirectory = folder / "whole";
        request.split = "validation";
        request.batches = project.training.validationBatches;
        asking.post(request);
        QVERIFY(asking.waitFor<EvaluationReady>());
        QCOMPARE(asking.all<EvaluationReady>()[0].loss, validated.back().value);
    }

    /// Gone over again from the checkpoint of before it, a border stands in the record once.
    void aBorderIsRecordedOnce()
    {
        projects::Project project = staged(9, growing(GrowthSource::Top));
        project.training.checkpointEvery = 4;
        project.training.keepCheckpoints = 0;
        const auto run = directory("twice");
        const auto losses = tests::lossesOf(project, run);
        const auto borders = [&] {
            std::vector<std::int64_t> steps;
            for (const RunEvent& event : RunReader::open(run)->events()) {
                if (event.kind == RunEventKind::Stage) {
                    steps.push_back(event.step);
                }
            }
            return steps;
        };
        QCOMPARE(borders(), (std::vector<std::int64_t>{0, 4, 8}));
        SessionProbe probe;
        ResumeRun command;
        command.run = kRun;
        command.runDirectory = run;
        command.step = 4;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(borders(), (std::vector<std::int64_t>{0, 4, 8}));
        QCOMPARE(tests::recordedLosses(run), losses);
    }

    /// A growing run's validation is of the network as grown so far, which its own stage loss would only repeat.
    void validationIsOfWhatIsThere()
    {
        Trainer grown = trainerOf(staged(12, growing(GrowthSource::Top)));
        train(grown, 2);
        QVERIFY(grown.validate()->has_value());
        QVERIFY(!grown.validateStage()->has_value());
        StageSchedule schedule;
        schedule.stages = {{0, 2, {1, 4}}};
        Trainer dropped = trainerOf(staged(12, schedule));
        train(dropped, 2);
        const double whole = **dropped.validate();
        const double part = **dropped.validateStage();
        QVERIFY(std::isfinite(whole) && std::isfinite(part) && whole != part);
    }

    /// A stage that happens to draw the whole network is still one that draws; one that trains all is not.
    void stageLossIsOfStagesThatDraw()
    {
        StageSchedule schedule;
        schedule.stages = {{0, 3.9, {}}, {4, 4, {}}};
        Trainer trainer = trainerOf(staged(12, schedule));
        train(trainer, 3);
        QVERIFY(trainer.validateStage()->has_value());
        train(trainer, 2);
        QVERIFY(!trainer.validateStage()->has_value());
    }

    /// At a cadence of its own, and of a checkpoint by a question: the same numbers. Training is not touched by it.
    void stabilityIsRecordedAndAskedFor()
    {
        StageSchedule schedule;
        schedule.stages = {{0, 2, {1, 4}}};
        projects::Project project = staged(6, schedule);
        const auto losses = tests::lossesOf(project, directory("unmeasured"));
        QVERIFY(RunReader::open(directory("unmeasured"))->matrixSteps(kStability).empty());
        project.training.stabilityEvery = 4;
        QVERIFY(tests::lossesOf(project, directory("measured")) == losses);
        const auto run = RunReader::open(directory("measured"));
        QCOMPARE(run->matrixSteps(kStability), (std::vector<std::int64_t>{4, 6}));
        QCOMPARE(run->matrixSteps(kStabilityGap), (std::vector<std::int64_t>{4, 6}));
        SessionProbe asking;
        StabilityRequest request;
        request.tag = QueryTag{1};
        request.runDirectory = directory("measured");
        asking.post(request);
        QVERIFY(asking.waitFor<StabilityReady>());
        const StabilityReady ready = asking.all<StabilityReady>()[0];
        QCOMPARE(ready.step, 6);
        QCOMPARE(ready.batches, project.training.validationBatches);
        QCOMPARE(ready.matrices.at(0).values, run->matrix(kStability, 6)->values);
        QCOMPARE(ready.matrices.at(1).values, run->matrix(kStabilityGap, 6)->values);
        QVERIFY(std::isfinite(ready.loss));
        request.runDirectory = directory("no such run");
        asking.post(request);
        QVERIFY(asking.waitFor<QueryFailed>());
    }

private:
    [[nodiscard]] std::filesystem::path directory(const QString& name) const
    {
        return m_folder.filePath(name).toStdString();
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST(TestStageTraining)
#include "tst_stage_training.moc"
