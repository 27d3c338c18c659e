// SPDX-License-Identifier: GPL-3.0-or-later
// Families of networks beside decoders: transformers of pictures, hidden tokens, noise and hidden spans, and networks
// of convolutions, under everything that changes their depth.
#include "engine/compute/train/evaluation.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/check/validate.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/train/trainer_harness.h"
#include "tests/engine/compute/train/wiring_cases.h"
#include "tests/support/test_program.h"

#include <ATen/ops/equal.h>

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <vector>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr int kFamilySteps = 10;

/// Gives each tower the schedule for the steps of the project.
void follow(projects::Project& project, const std::string& schedule)
{
    tests::forEachTower(project, [&](projects::Network& network) {
        network.stack().schedule = projects::scheduleFrom(schedule, network.depth(), project.training.steps).value();
    });
}

std::vector<StepRecord> stepped(Trainer& trainer, int steps)
{
    for (int step = 0; step < steps; ++step) {
        if (const Status done = trainer.step(); !done) {
            throw std::runtime_error(done.error().text());
        }
    }
    return trainer.takeRecords();
}

} // namespace

class TestFamilies : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyTopologyTrains_data()
    {
        QTest::addColumn<QString>("family");
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("schedule");
        for (const char* const family : tests::kFamilies) {
            for (const std::string& topology : tests::topologiesOf(family)) {
                QTest::addRow("%s, %s", family, topology.c_str())
                    << family << QString::fromStdString(topology) << QStringLiteral("none");
            }
            const bool convolves = !tests::familyUnder(family, "plain").towers.empty();
            for (const projects::SchedulePreset& preset : projects::schedulePresets()) {
                if (convolves && preset.name != "raptr" && preset.name != "stacking") {
                    continue; // a convolution has no halves, and the rest would train as these
                }
                QTest::addRow("%s, %s", family, preset.name.c_str())
                    << family << QStringLiteral("plain") << QString::fromStdString(preset.name);
            }
        }
    }

    /// In ten steps on sixteen pictures or hidden words, or thirty on noise, the loss falls; all numbers stay finite.
    void everyTopologyTrains()
    {
        QFETCH(QString, family);
        QFETCH(QString, topology);
        QFETCH(QString, schedule);
        projects::Project project = tests::familyUnder(family.toStdString(), topology.toStdString());
        const int steps = family == QStringLiteral("small-dit") ? 3 * kFamilySteps : kFamilySteps; // noise varies
        project.training.steps = steps;
        follow(project, schedule.toStdString());
        QCOMPARE(tests::errorsOf(project), std::string());
        Trainer trainer = tests::trainerOf(project);
        const std::vector<StepRecord> records = stepped(trainer, steps);
        QCOMPARE(records.size(), static_cast<std::size_t>(steps));
        for (const StepRecord& record : records) {
            QVERIFY(std::isfinite(record.loss));
        }
        const double fell = records.front().loss - records.back().loss;
        QVERIFY2(fell > 0.02,
                 qPrintable(QStringLiteral("%1 to %2").arg(records.front().loss).arg(records.back().loss)));
    }

    /// A validation records images that depend on the weights alone, and the following steps do not depend on it.
    void imagesOfADiffusionModelAreRecorded()
    {
        projects::Project project = tests::familyUnder("small-dit", "plain");
        project.training.steps = 3;
        Trainer trainer = tests::trainerOf(project);
        Trainer alone = tests::trainerOf(project);
        const Measure& samples = tests::measureOf(matrix::kSamples);
        std::vector<std::vector<float>> seen;
        for (int step = 0; step < 3; ++step) {
            QVERIFY(trainer.step().ok() && alone.step().ok());
            for (int again = 0; again < 2; ++again) {
                const Result<Measured> measured = trainer.measure(samples);
                QVERIFY(measured.ok() && measured->rows.empty() && measured->matrices.size() == 1);
                const Matrix& images = measured->matrices.front();
                constexpr std::int64_t kSide = 4 * 16 + 3 * FedBatch::kGap;
                QVERIFY(images.step == step + 1 && images.rows == kSide && images.columns == kSide);
                QCOMPARE(images.at(0, 16), 16777215.0F); // white between two images
                seen.push_back(images.values);
            }
        }
        QVERIFY(seen[0] == seen[1] && seen[4] == seen[5] && seen[0] != seen[5]);
        const std::vector<StepRecord> records = trainer.takeRecords();
        const std::vector<StepRecord> without = alone.takeRecords();
        QVERIFY(std::ranges::equal(records, without, {}, &StepRecord::loss, &StepRecord::loss));

        Trainer classifier = tests::trainerOf(tests::familyUnder("small-vit", "plain"));
        QVERIFY(classifier.measure(samples)->matrices.empty());
    }

    /// Each pixel is a colour as one number; grey has three equal parts, and large images are shrunk.
    void recordedImagesArePixels()
    {
        projects::DataSource data;
        data.source = projects::DrawnPictures{.size = 2};
        std::vector<float> values;
        for (const float channel : {1.0F, 0.0F, -1.0F}) { // of a mean and a deviation of 0.5
            values.insert(values.end(), 4, channel);
        }
        const Matrix small = recordedImages(values, 1, data, 7);
        QVERIFY(small.step == 7 && small.rows == 2 && small.columns == 2);
        QCOMPARE(small.values, std::vector<float>(4, static_cast<float>(0xFF8000)));

        data.source = projects::DrawnPictures{.size = 300};
        const Matrix large = recordedImages(std::vector<float>(3 * 300 * 300, 1), 1, data, 7);
        QVERIFY(large.rows == 150 && large.columns == 150);
        QCOMPARE(large.values, std::vector<float>(150 * 150, static_cast<float>(0xFFFFFF)));
    }

    void resumesToTheBit_data()
    {
        QTest::addColumn<QString>("family");
        for (const char* const family : tests::kFamilies) {
            QTest::newRow(family) << family;
        }
    }
    /// With layers that are drawn, and weights in two factors.
    void resumesToTheBit()
    {
        QFETCH(QString, family);
        constexpr int kHalf = 4; // four stages of two steps
        projects::Project project = tests::familyUnder(family.toStdString(), "ancre-ingoing");
        project.training.steps = 2 * kHalf;
        project.initialisation.lowRankEpochs = 1;
        tests::forEachTower(project, [](projects::Network& network) { network.rank = projects::RankScale{0.5}; });
        follow(project, "raptr");
        QCOMPARE(tests::errorsOf(project), std::string());
        Trainer whole = tests::trainerOf(project);
        std::vector<StepRecord> expected = stepped(whole, 2 * kHalf);
        expected.erase(expected.begin(), expected.begin() + kHalf);
        const QTemporaryDir folder;
        const std::filesystem::path run = folder.path().toStdString();
        {
            Trainer first = tests::trainerOf(project);
            (void)stepped(first, kHalf);
            QVERIFY(first.writeCheckpoint(run).ok());
        }
        const auto checkpoint = findCheckpoint(run, std::nullopt, nullptr);
        QVERIFY2(checkpoint.ok(), checkpoint ? "" : checkpoint.error().text().c_str());
        Trainer resumed = tests::trainerOf(project);
        QVERIFY(resumed.restore(*checkpoint).ok());
        const std::vector<StepRecord> records = stepped(resumed, kHalf);
        QCOMPARE(records.size(), expected.size());
        for (std::size_t step = 0; step < records.size(); ++step) {
            QCOMPARE(records[step].loss, expected[step].loss);
        }
        bool isFactored = false;
        for (std::size_t i = 0; i < whole.network().parameters().size(); ++i) {
            const NamedParameter& parameter = whole.network().parameters()[i];
            isFactored = isFactored || parameter.name.ends_with(".u");
            QVERIFY2(at::equal(parameter.tensor, resumed.network().parameters()[i].tensor), parameter.name.c_str());
        }
        QVERIFY(isFactored);
    }

    /// The next sentence adds its cross-entropy to the loss, is measured, and its weights learn.
    void nextSentenceIsLearned()
    {
        projects::Project project = tests::familyUnder("small-bert", "plain");
        project.training.steps = kFamilySteps;
        projects::Project paired = project;
        paired.data.masking.nextSentence = true;
        paired.network = projects::withNextSentence(std::move(paired.network), true);
        for (const projects::Problem& problem : projects::validate(paired)) {
            QVERIFY2(problem.severity != projects::Severity::Error, problem.text().c_str());
        }
        Trainer trainer = tests::trainerOf(paired);
        Evaluation evaluation(trainer.network(), trainer.dataset(), Split::Validation, paired.training, c10::kCPU, 2);
        while (!evaluation.atEnd()) {
            QVERIFY(evaluation.advance(passAfter(0)).ok());
        }
        const std::map<std::string, double> measured = evaluation.means();
        QVERIFY(measured.contains("next_sentence_accuracy") && measured.contains("accuracy"));
        QVERIFY(measured.at("next_sentence_accuracy") > 0.1 && measured.at("next_sentence_accuracy") < 0.9);
        for (int step = 0; step < kFamilySteps; ++step) {
            QVERIFY(trainer.step().ok());
        }
        const std::vector<StepRecord> records = trainer.takeRecords();
        Trainer alone = tests::trainerOf(project);
        QVERIFY(alone.step().ok());
        const double more = records.front().loss - alone.takeRecords().front().loss;
        QVERIFY2(std::abs(more - std::log(2.0)) < 0.35, qPrintable(QString::number(more)));
        QVERIFY(records.back().loss < records.front().loss);
    }
};

RESIDUA_TEST(TestFamilies)
#include "tst_families.moc"
