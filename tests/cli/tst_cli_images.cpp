// SPDX-License-Identifier: GPL-3.0-or-later
// Images from the terminal: made by a diffusion run, compared by the features of a classifier, recorded and reported.
#include "engine/base/api/matrix_name.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/whole_file.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace residua;
using namespace residua::cli;

namespace {

/// The words that shrink an example to a network on generated pictures of 16 × 16 that trains in a second.
const QStringList kTiny{"--set", "data.source.samples=64",    "--set", "data.source.noise=0",
                        "--set", "network.width=16",          "--set", "network.stack.0.repeat=1",
                        "--set", "training.batch=8",          "--set", "training.validation_batches=1",
                        "--set", "training.validate_every=2", "--set", "data.validation_fraction=0.5"};
const QStringList kSmallImages{"--set", "data.source.size=16",
                               "--set", "network.stem.nodes.1.params.height=16",
                               "--set", "network.stem.nodes.1.params.width=16",
                               "--set", "network.stem.nodes.2.params.patch=2"};

class TestCliImages : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        const auto train = [this](const QString& example, const QString& name, const QStringList& more) {
            return run(QStringList{"train", "example:" + example, "--run", path(name), "--steps", "4"} + kTiny + more);
        };
        for (const Ran& trained : {train("small-dit", "made", {"--set", "data.diffusion.label_dropout=0"}),
                                   train("small-vit", "classifier", kSmallImages), train("small-vit", "larger", {})}) {
            QVERIFY2(trained.code == 0, qPrintable(trained.errors));
        }
    }

    /// The comparison is of the images that `sample` writes: the same seed gives the same figures, another one others.
    void imagesAreComparedByFeatures()
    {
        const auto compared = [this](const QStringList& more) {
            return run(QStringList{"eval", path("made"), "--features", path("classifier"), "--steps", "3"} + more);
        };
        const Ran ran = compared({"--samples", "24", "--json"});
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        const QJsonObject told = ran.json().object();
        QCOMPARE(told["images"].toInt(), 24);
        QCOMPARE(told["split"].toString(), QString("validation"));
        QCOMPARE(told["features"].toString(), QString("16 features of the run classifier at step 4"));
        QVERIFY(told["notes"].toArray().isEmpty());
        const QJsonObject figures = told["quantities"].toObject();
        QVERIFY(figures["frechet_distance"].toDouble() > 0);
        for (const char* const share : {"precision", "recall"}) {
            const double shared = figures[share].toDouble(-1) * 24; // counted images
            QVERIFY2(shared >= 0 && shared <= 24 && std::abs(shared - std::round(shared)) < 1e-9, share);
        }
        QCOMPARE(compared({"--samples", "24", "--json"}).output, ran.output);
        QVERIFY(compared({"--samples", "24", "--seed", "2", "--json"}).json().object()["quantities"].toObject() !=
                figures);
        const Ran text = compared({"--samples", "8"});
        QVERIFY2(text.output.startsWith("Fréchet distance ") && text.output.contains(" % of 8 images"),
                 qPrintable(text.output));
        QVERIFY2(text.errors.contains("8 images are few for 16 features"), qPrintable(text.errors));
        QCOMPARE(compared({"--json"}).json().object()["images"].toInt(), 32); // the part's
    }

    /// Recorded figures are metrics of the checkpoint's step, of tables and of the report, which names the network.
    void comparisonsAreRecordedWithTheRun()
    {
        const auto reader = [this] { return engine::RunReader::open(path("made").toStdString()); };
        const std::vector<engine::MetricPoint> losses = reader()->metric(engine::metric::kLoss);
        const QStringList words{"eval",    path("made"), "--features", path("classifier"),
                                "--steps", "3",          "--record",   "--json"};
        const Ran ran = run(words);
        QVERIFY2(ran.code == 0, qPrintable(ran.errors));
        QVERIFY(ran.json().object()["notes"].toArray().isEmpty());
        const QJsonObject figures = ran.json().object()["quantities"].toObject();
        QCOMPARE(figures.size(), 3);
        for (const QString& quantity : figures.keys()) {
            const std::string metric = quantity.toStdString() + "/validation";
            const std::vector<engine::MetricPoint> points = reader()->metric(metric);
            QCOMPARE(points.size(), std::size_t{1});
            QVERIFY(points[0].step == 4 && points[0].value == figures[quantity].toDouble());
            QCOMPARE(reader()->info()->last(metric), figures[quantity].toDouble());
        }
        QVERIFY(std::ranges::equal(reader()->metric(engine::metric::kLoss), losses, {}, &engine::MetricPoint::value,
                                   &engine::MetricPoint::value));
        QVERIFY(run({"runs", m_folder.path()}).output.section('\n', 0, 0).contains("validation Fréchet distance"));

        QCOMPARE(run({"report", path("made"), "-o", path("page.html")}).code, 0);
        const QString page = QString::fromStdString(*readFile(path("page.html").toStdString(), 1 << 24));
        QVERIFY(page.contains("by 16 features of the run classifier at step 4"));
        QCOMPARE(page.section("<h2>Images</h2>", 1).section("<h2>", 0, 0).count("<img "), 2); // of two validations
    }

    /// A resumed run keeps the figures of earlier steps, and records further images.
    void resumedRunsKeepTheirFigures()
    {
        const Ran resumed = run({"resume", path("made"), "--steps", "6"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.errors));
        const auto reader = engine::RunReader::open(path("made").toStdString());
        QCOMPARE(reader->matrixSteps(engine::matrix::kSamples), (std::vector<std::int64_t>{2, 4, 6}));
        QCOMPARE(reader->metric("frechet_distance/validation").size(), std::size_t{1}); // of step 4, which is kept
    }

    void refusedComparisons_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("problem");
        const auto row = [](const char* name, const QStringList& words, const char* problem) {
            QTest::newRow(name) << words << QString(problem);
        };
        row("another size", {"--features", "larger"}, "classifies images of 3 × 32 × 32, expected 3 × 16 × 16");
        row("no classifier", {"--features", "made"}, "classifies no images");
        row("no run", {"--features", "."}, "has no run.json");
        row("few", {"--features", "classifier", "--samples", "3"}, "got 3, expected 4 to 32");
        row("more than the part", {"--features", "classifier", "--samples", "33"}, "got 33, expected 4 to 32");
        row("class", {"--features", "classifier", "--class", "10"}, "got 10, expected 0 to 9");
        row("steps", {"--features", "classifier", "--steps", "1001"}, "got 1001, expected at most 1000");
        row("guidance", {"--features", "classifier", "--guidance", "2"}, "trained without label dropout");
        row("nothing to compare", {"--samples", "8"}, "expected --features RUN");
        row("nothing to record", {"--record"}, "expected --features RUN");
    }
    void refusedComparisons()
    {
        QFETCH(QStringList, words);
        QFETCH(QString, problem);
        const Ran ran = run(QStringList{"eval", path("made")} + words);
        QVERIFY2(ran.code != 0 && ran.errors.contains(problem), qPrintable(ran.output + ran.errors));
        const Ran other = run({"eval", path("classifier"), "--features", path("classifier")});
        QVERIFY2(other.code != 0 && other.errors.contains("makes no images"), qPrintable(other.errors));
    }

private:
    [[nodiscard]] QString path(const QString& name) const { return m_folder.filePath(name); }
    [[nodiscard]] Ran run(const QStringList& words) const { return runProcess(words, m_folder.path()); }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestCliImages)
#include "tst_cli_images.moc"
