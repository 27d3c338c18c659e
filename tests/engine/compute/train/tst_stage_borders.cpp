// SPDX-License-Identifier: GPL-3.0-or-later
// Borders between stages: the losses on both sides, whether growth keeps the function, and what is recorded.
#include "stage_harness.h"

#include "engine/compute/train/batches.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/recorder.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "tests/support/test_program.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

using namespace residua;
using namespace residua::engine;
using projects::GrowthSource;
using projects::GrowthWrites;
using projects::StageSchedule;
using tests::growing;
using tests::kRun;
using tests::SessionProbe;
using tests::staged;
using tests::train;
using tests::trainerOf;

class TestStageBorders : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

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
        // With one batch alone, trainAfter is the loss of the next step itself: the same batch through the same layers,
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
            QVERIFY(keeps || stages[i].note.find("; the function is not kept") != std::string::npos);
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
        project.stack().schedule.stages[1].start = 6;
        const auto presets = projects::topologyPresets(project.network);
        const auto preset = std::ranges::find(presets, topology.toStdString(), &projects::TopologyPreset::name);
        project.stack().topology = {preset->name, preset->wiring};
        project.training.learningRate = {.peak = 0.01, .warmupSteps = 0, .curve = projects::RateCurve::Constant};
        Trainer trainer = trainerOf(project);
        const std::vector<StageRecord> stages = train(trainer, 7);
        QCOMPARE(stages.size(), std::size_t{2});
        const std::string note = stages[1].note;
        QVERIFY2((note.find("the function is kept") != std::string::npos) == keeps, note.c_str());
        QVERIFY2(keeps || note.find("counts nothing at first") != std::string::npos, note.c_str());
        const bool layers = schedule == "lemon" || schedule == "msg";
        QVERIFY2(note.starts_with(layers                    ? "new layers 3, 4 as copies"
                                  : schedule == "msg-heads" ? "heads from 50 % to 100 %"
                                                            : "MLP parts from 50 % to 100 %") ||
                     schedule == "lemon",
                 note.c_str());
    }

    /// A step draws once for all of its micro-batches: two of 4 sequences train what one of 8 does.
    void aStepDrawsOnceForItsMicroBatches()
    {
        StageSchedule schedule;
        schedule.stages = {{0, 2, {1}}};
        schedule.axis = projects::DropAxis::All;
        projects::Project whole = staged(6, schedule);
        for (projects::Node& node : whole.network.blocks.front().graph.nodes) {
            node.params.erase("dropout");
        }
        whole.training.batch = 8;
        projects::Project parts = whole;
        parts.training.batch = 4;
        parts.training.accumulate = 2;
        Trainer ofWhole = trainerOf(whole);
        Trainer ofParts = trainerOf(parts);
        train(ofWhole, 3);
        train(ofParts, 3);
        const auto& expected = ofWhole.network().parameters();
        const auto& got = ofParts.network().parameters();
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double apart = (expected[i].tensor - got[i].tensor).abs().max().item<double>();
            QVERIFY2(apart < 1e-8, qPrintable(QString("%1 %2").arg(expected[i].name.c_str()).arg(apart)));
        }
    }

    /// A run that is made longer keeps the T of its curve, and says so; what the added steps train goes on from there.
    void aLongerRunKeepsItsCurve()
    {
        StageSchedule schedule;
        schedule.course = projects::DropCourse::Curve;
        schedule.sampling = projects::DropSampling::DeeperSeldomer;
        schedule.curveFloor = 0.1;
        schedule.curveRate = 1;
        projects::Project project = staged(12, schedule);
        project.training.learningRate.curve = projects::RateCurve::Constant;
        project.training.checkpointEvery = 6;
        project.training.observeEvery = 1;
        const auto run = directory("longer");
        const auto losses = tests::lossesOf(project, run);
        SessionProbe probe;
        ResumeRun command;
        command.run = kRun;
        command.of.runDirectory = run;
        command.of.step = 6;
        command.steps = 300;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        const auto notices = probe.all<Notice>();
        QVERIFY(std::ranges::any_of(notices, [](const Notice& notice) {
            return notice.text ==
                   "the share of kept layers goes on along the curve of 12 steps that it began with; the run has "
                   "300 steps now";
        }));
        const auto recorded = tests::recordedLosses(run);
        QCOMPARE(recorded.size(), std::size_t{300});
        for (std::int64_t step = 7; step <= 12; ++step) {
            QCOMPARE(recorded.at(step), losses.at(step));
        }
        // At the end of T α is 0.1 + 0.9/e = 0.43, far beyond it 0.1: with T = 300 it would be 0.96 at step 12.
        double runs = 0;
        const auto reader = RunReader::open(run);
        for (std::int64_t step = 100; step < 300; ++step) {
            runs += reader->matrix("active", step)->values.back();
        }
        QVERIFY2(runs / 200 < 0.45, qPrintable(QString::number(runs / 200))); // layer 4 of 4: 1 − 3/4·0.9 = 0.33
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
        command.of.runDirectory = run;
        command.of.step = 4;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        QCOMPARE(borders(), (std::vector<std::int64_t>{0, 4, 8}));
        QCOMPARE(tests::recordedLosses(run), losses);
    }

    /// The losses at a border and their difference are numbers of the run; before the first stage there are none.
    void aBorderIsRecordedWithItsJump()
    {
        const std::filesystem::path run = directory("border");
        auto writer = RunWriter::create(run, {}, tests::quickLanguage(8), run.parent_path().string());
        QVERIFY(writer.ok());
        Recorder recorder(std::move(*writer), "cpu", 1, 8);
        StageRecord first;
        first.name = "2 layers";
        StageRecord second;
        second.step = 4;
        second.name = "4 layers";
        second.trainBefore = 2.5;
        second.trainAfter = 2.25;
        Progress progress;
        progress.stages = {first, second};
        recorder.add(progress);
        QVERIFY(recorder.flush().ok());
        const Result<RunReader> reader = RunReader::open(run);
        QVERIFY(reader.ok());
        QCOMPARE(reader->metric(metric::kStageJump), (std::vector<MetricPoint>{{4, -0.25}}));
        QCOMPARE(reader->metric(metric::kStageTrainBefore), (std::vector<MetricPoint>{{4, 2.5}}));
    }

private:
    [[nodiscard]] std::filesystem::path directory(const QString& name) const
    {
        return m_folder.filePath(name).toStdString();
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST(TestStageBorders)
#include "tst_stage_borders.moc"
