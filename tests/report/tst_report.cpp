// SPDX-License-Identifier: GPL-3.0-or-later
#include "report_harness.h"

#include "app/report/html_text.h"
#include "app/report/report.h"
#include "app/report/svg_plot.h"
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"
#include "resources/axis.h"
#include "resources/colours.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

using namespace residua;
using namespace residua::tests;
using engine::MetricPoint;

class TestReport : public QObject {
    Q_OBJECT
private slots:
    void pageStandsAlone()
    {
        const QTemporaryDir dir;
        const auto run = writeRun(dir, "a <run> & more");
        const std::filesystem::path file = std::filesystem::path(dir.path().toStdString()) / "report.html";
        const Status written = report::writeReport(run, file);
        QVERIFY2(written.ok(), written.ok() ? "" : written.error().text().c_str());
        const auto bytes = readFile(file);
        QVERIFY(bytes.ok());
        const QString html = QString::fromStdString(*bytes);

        QVERIFY(html.contains("a &lt;run&gt; &amp; more"));
        QVERIFY(!html.contains("<run>"));
        for (const char* reference : {"src=", "href=", "@import", "url("}) {
            QVERIFY2(!html.contains(reference), reference);
        }
        const auto svgs = svgsOf(html);
        QCOMPARE(svgs.size(), std::size_t{6}); // loss, rate, gradient norm, throughput, memory, one heatmap
        for (const QString& svg : svgs) {
            QXmlStreamReader reader(svg);
            while (!reader.atEnd()) {
                reader.readNext();
            }
            QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
        }
        QVERIFY(svgs.front().contains("class='broken'"));
        QCOMPARE(svgs.back().count("data-cell"), 3);
        QVERIFY(html.contains("\"values\":[[1,null,0.5,0.5],[1,null,0.125,0.875]]"));
    }

    /// Covers paths of the data, of the run and in its error message.
    void pagesTellNoPlacesOfTheMachine()
    {
        const QTemporaryDir dir;
        projects::Project project = projects::examples().front().project;
        project.data.source = projects::TextData{"/home/somebody/texts/mine.txt", {}};
        const auto run = writeRun(dir, "first", project);
        QVERIFY(writeFileAtomically(run / "gap.json", "{"));
        {
            auto writer = engine::RunWriter::reopen(run, 40);
            engine::RunInfo info = writer->info();
            info.status = engine::RunStatus::Failed;
            info.message = "[" + (run / "store.sqlite").string() + "] is full";
            QVERIFY(writer->update(info));
        }
        const auto reader = engine::RunReader::open(run);
        const auto page = report::reportHtml(*reader);
        const auto comparison = comparisonOf(dir.path().toStdString());
        QVERIFY(page && comparison);
        for (const std::string& html : {*page, *comparison}) {
            QVERIFY(html.find("/home/somebody") == std::string::npos);
            const std::size_t told = html.find(dir.path().toStdString());
            QVERIFY2(told == std::string::npos, html.substr(std::min(told, html.size())).substr(0, 200).c_str());
        }
        QVERIFY(page->find("mine.txt") != std::string::npos);
        QVERIFY(page->find("[store.sqlite] is full") != std::string::npos);
    }

    /// Shows the recorded start of each factored weight. A damaged record is named.
    void aPageTellsTheGapOfFactoredWeights()
    {
        const QTemporaryDir dir;
        const auto run = writeRun(dir, "thin");
        const auto page = [&run] { return QString::fromStdString(*report::reportHtml(*engine::RunReader::open(run))); };
        QVERIFY(!page().contains("Gap of the factored weights"));
        engine::Gap gap;
        gap.methods = {projects::LowRankMethod::LfaiWs};
        gap.outputs = {std::nullopt};
        gap.weights = {{"layers.1.up.weight", engine::GapFactors{64, 32, 8, "relu"}},
                       {"layers.<2>.up.weight", engine::GapFactors{64, 32, 8}}};
        gap.fits.resize(2);
        gap.fits[0].functionError = 1;
        gap.fits[0].fullFunction = 4;
        gap.fits[0].weightError = 7.5;
        gap.fits[0].meanCorrelation = 0.875;
        gap.fits[0].spectralGapBound = 0.5;
        gap.fits[0].seconds = 3.25;
        gap.fits[1].functionError = 3;
        gap.fits[1].fullFunction = 4;
        gap.fits[1].converged = false;
        gap.fits[1].note = "did not converge";
        for (engine::GapFit& fit : gap.fits) {
            fit.state = engine::GapFit::State::Fitted; // what is recorded is there
        }
        QVERIFY(engine::writeGap(run, gap).ok());
        const QString html = page();
        QVERIFY(html.contains("Gap of the factored weights"));
        QVERIFY(html.contains("LFAI-WS") && html.contains("layers.1.up.weight") && html.contains("64 × 32"));
        for (const char* const number : {">0.25<", ">7.5<", ">0.875<", ">0.125<", ">3.25<", ">0.75<"}) {
            QVERIFY2(html.contains(QString::fromUtf8(number)), number);
        }
        QVERIFY(html.contains("did not converge") && html.contains("layers.&lt;2&gt;.up.weight"));
        std::ofstream(run / "gap.json") << "[]";
        QVERIFY(!page().contains("Gap of the factored weights"));
        QVERIFY(page().contains("Left out") && page().contains("gap.json"));
    }

    /// Figure 2 of the paper on low-rank starts, for any sweep over them. Each run that recorded its start has a point.
    void aComparisonSetsLossesAgainstTheirStarts()
    {
        const QTemporaryDir dir;
        const std::filesystem::path folder = std::filesystem::path(dir.path().toStdString()) / "starts";
        engine::Gap gap;
        gap.outputs = {std::nullopt};
        gap.weights = {{"layers.1.up.weight", engine::GapFactors{64, 32, 8, "relu"}}};
        gap.fits.resize(1);
        gap.fits[0].state = engine::GapFit::State::Fitted;
        gap.fits[0].fullFunction = 4;
        int number = 0;
        for (const auto method : {projects::LowRankMethod::Exact, projects::LowRankMethod::LfaiWs,
                                  projects::LowRankMethod::LfaiWs, projects::LowRankMethod::Baseline}) {
            engine::RunInfo info;
            info.name = std::to_string(++number);
            info.steps = info.step = 12;
            info.status = engine::RunStatus::Finished;
            info.values[engine::metric::kValidationLoss] = 0.1 * number;
            auto writer = engine::RunWriter::create(
                folder / info.name, info, projects::findExample("wide-relu")->project, dir.path().toStdString());
            QVERIFY(writer.ok());
            writer->step({12, 0.5, 1e-3, 0.5, 64, 1});
            QVERIFY(writer->flush().ok());
            gap.methods = {method};
            gap.fits[0].functionError = 0.5 * number;
            if (method != projects::LowRankMethod::Baseline) {
                QVERIFY(engine::writeGap(folder / info.name, gap).ok());
            }
        }
        const QString html = QString::fromStdString(*comparisonOf(folder));
        const QString section = html.section("What a closer start is worth</h2>", 1, 1).section("</figure>", 0, 0);
        QVERIFY(section.contains(">exact gradient<") && section.contains(">LFAI-WS<"));
        QVERIFY(!section.contains(">baseline<"));
        QVERIFY(section.contains("per mille"));
        std::filesystem::remove(folder / "1" / "gap.json");
        std::filesystem::remove(folder / "2" / "gap.json");
        std::filesystem::remove(folder / "3" / "gap.json");
        QVERIFY(!QString::fromStdString(*comparisonOf(folder)).contains("What a closer start is worth"));
    }

    /// Name, description and sweeps do not affect training, so they are no difference between two runs.
    void aComparisonTellsWhatWasTrainedOtherwise()
    {
        const QTemporaryDir dir;
        const std::filesystem::path folder = std::filesystem::path(dir.path().toStdString()) / "pair";
        projects::Project project = projects::findExample("ancre-language")->project;
        for (const char* const name : {"a", "b"}) {
            engine::RunInfo info;
            info.name = name;
            info.steps = info.step = 12;
            info.status = engine::RunStatus::Finished;
            auto writer = engine::RunWriter::create(folder / name, info, project, dir.path().toStdString());
            QVERIFY(writer.ok());
            writer->step({12, 0.5, 1e-3, 0.5, 64, 1});
            QVERIFY(writer->flush().ok());
            project.name = "renamed";
            project.description = "described anew";
            project.sweeps.push_back({"depths", {}});
            project.training.learningRate.peak = 0.125;
        }
        const auto page = comparisonOf(folder);
        QVERIFY(page.ok());
        const QString told =
            QString::fromStdString(*page).section("<h2>Differences</h2>", 1, 1).section("</table>", 0, 0);
        QVERIFY(told.contains("training · learning rate · peak"));
        for (const char* const remark : {"renamed", "described anew", "depths"}) {
            QVERIFY2(!told.contains(QLatin1String(remark)), remark);
        }
    }

    /// An unfinished run is marked as such. It has no loss and is not on the front.
    void aComparisonTellsTheBestRateOfEachTopologyOfASweep()
    {
        const QTemporaryDir dir;
        const std::filesystem::path folder = std::filesystem::path(dir.path().toStdString()) / "study";
        const std::vector<std::tuple<std::string, std::string, double>> members{{"plain", "0.2", 0.75},
                                                                                {"plain", "0.1", 1},
                                                                                {"plain", "0.4", 1.5},
                                                                                {"<dca>", "0.1", 0.5},
                                                                                {"<dca>", "0.2", 2}};
        for (const auto& [topology, rate, loss] : members) {
            engine::RunInfo info;
            info.steps = info.step = 12;
            info.status = engine::RunStatus::Finished;
            info.membership = {"project",
                               "rates",
                               {{"/topology", "topology", topology}, {"/training/learning_rate/peak", "peak", rate}}};
            auto writer =
                engine::RunWriter::create(folder / std::to_string(loss), info,
                                          projects::findExample("ancre-language")->project, dir.path().toStdString());
            QVERIFY(writer.ok());
            writer->step({12, loss, 1e-3, 0.5, 64, 1});
            QVERIFY(writer->flush().ok());
        }
        const auto page = comparisonOf(folder);
        QVERIFY(page.ok());
        const QString html = QString::fromStdString(*page);
        QVERIFY(html.contains("<h2>Sweep rates</h2>"));
        QVERIFY(html.contains("<td>plain</td><td class='n'>0.2</td><td class='n'>0.75</td><td></td>"));
        QVERIFY(html.contains(
            "<td>&lt;dca&gt;</td><td class='n'>0.1</td><td class='n'>0.5</td><td>at the end of its range"));
        QVERIFY(html.contains("Share of the variance of 5 runs"));
    }

    void aComparisonTellsWhatHasFinished()
    {
        const QTemporaryDir dir;
        const std::filesystem::path folder = std::filesystem::path(dir.path().toStdString()) / "study";
        for (const auto& [name, status] : {std::pair{"done", engine::RunStatus::Finished},
                                           {"half", engine::RunStatus::Stopped},
                                           {"wild", engine::RunStatus::Failed}}) {
            engine::RunInfo info;
            info.name = name;
            info.steps = 40;
            info.step = 12;
            info.status = status;
            info.message = status == engine::RunStatus::Failed ? "the loss is NaN" : "";
            auto writer = engine::RunWriter::create(
                folder / name, info, projects::findExample("ancre-language")->project, dir.path().toStdString());
            QVERIFY(writer.ok());
            writer->step({12, status == engine::RunStatus::Finished ? 0.5 : 0.25, 1e-3, 0.5, 64, 1});
            QVERIFY(writer->flush().ok());
        }
        const auto page = comparisonOf(folder);
        QVERIFY(page.ok());
        const QString html = QString::fromStdString(*page);
        QVERIFY(html.contains("3 runs: 1 finished, 1 stopped, 1 failed"));
        const QString losses = html.section("aria-label='Training loss'", 1, 1).section("</svg>", 0, 0);
        for (const char* const run : {">done<", ">half<", ">wild<"}) {
            QVERIFY2(losses.contains(QLatin1String(run)), run); // the figure has its legend
        }
        QVERIFY(html.contains("stopped at step 12 of 40"));
        QVERIFY(html.contains("failed at step 12: the loss is NaN"));
        const QString table = html.section("<table>", 1, 1).section("</table>", 0, 0);
        QVERIFY(table.contains(">0.5<"));
        QVERIFY(!table.contains(">0.25<"));
        QCOMPARE(html.count("★"), 1);
    }

    /// Nats per token are shown as perplexity, and as bits if each token is a byte.
    void lossesHaveTheMeasuresOfLanguageModels()
    {
        projects::Project project =
            projects::examples().front().project; // a synthetic language: its tokens are no bytes
        const auto synthetic = engine::measuresOf(project, std::log(8.0));
        QVERIFY(synthetic.has_value());
        QVERIFY(std::abs(synthetic->perplexity - 8) < 1e-12);
        QVERIFY(!synthetic->bitsPerByte);
        QCOMPARE(engine::measuresText(project, std::log(8.0)), std::string("perplexity 8"));
        project.data.source = projects::TextData{};
        QCOMPARE(engine::measuresText(project, std::log(8.0)), std::string("perplexity 8, 3.000 bits a byte"));
        QVERIFY(!engine::measuresOf(project, std::numeric_limits<double>::quiet_NaN()));
        project.network.objective = projects::Objective::MeanSquaredError;
        QVERIFY(!engine::measuresOf(project, 1.0));
    }

    void aLossIsFirstReachedAtAStepAndATime()
    {
        const std::vector<engine::MetricPoint> losses{{10, 3}, {20, 2}, {30, 2.5}, {40, 1}};
        const std::vector<engine::MetricPoint> seconds{{5, 1}, {15, 3}, {25, 4}, {40, 8}};
        QVERIFY((engine::firstReached(losses, 2, seconds) == engine::Reached{20, 3.0}));
        QVERIFY((engine::firstReached(losses, 1.5, seconds) == engine::Reached{40, 8.0}));
        QVERIFY((engine::firstReached(losses, 3, {}) == engine::Reached{10, std::nullopt}));
        QVERIFY(!engine::firstReached(losses, 0.5, seconds));
        const projects::Judge most{.quantity = "accuracy", .better = projects::Judge::Better::Greater};
        QVERIFY((engine::firstReached(losses, 1.5, {}, most) == engine::Reached{10, std::nullopt}));
    }

    /// The reference is the final loss of the plain run, not of another run with that name.
    void aComparisonTellsWhenALossWasReached()
    {
        const QTemporaryDir dir;
        const std::filesystem::path folder = std::filesystem::path(dir.path().toStdString()) / "runs";
        for (const auto& [name, losses] :
             {std::pair{"fast", std::vector{2.0, 1.0, 0.5}}, {"plain", std::vector{3.0, 2.0, 1.0}}}) {
            engine::RunInfo info;
            info.name = name;
            info.steps = 3;
            info.status = engine::RunStatus::Finished;
            projects::Project project = projects::findExample("plain-language")->project;
            project.stack().topology.preset = projects::kPlainPreset;
            if (name == std::string("fast")) {
                std::get<projects::DepthMix>(project.stack().topology.wiring).weight = projects::WeightKind::Scalar;
            }
            auto writer = engine::RunWriter::create(folder / name, info, project, dir.path().toStdString());
            QVERIFY(writer.ok());
            for (std::int64_t step = 1; step <= 3; ++step) {
                writer->step(
                    {step, losses[static_cast<std::size_t>(step - 1)], 1e-3, 0.5, 64, static_cast<double>(2 * step)});
            }
            QVERIFY(writer->flush().ok());
        }
        const auto page = comparisonOf(folder);
        QVERIFY2(page.ok(), page ? "" : page.error().text().c_str());
        const QString html = QString::fromStdString(*page);
        QVERIFY(html.contains("Until the loss of plain"));
        const QString rows = html.section("Until the loss of plain", 1, 1).section("</table>", 0, 0);
        QVERIFY2(rows.contains("fast</td><td class='n'>2</td><td class='n'>4</td><td class='n'>0.6667</td>"),
                 qPrintable(rows));
        QVERIFY(rows.contains("plain</td><td class='n'>3</td><td class='n'>6</td><td class='n'>1</td>"));
        QVERIFY(html.contains("<th>perplexity</th>"));
    }

    /// In its first seconds a run has no record, or one step.
    void aRunThatHasJustBegunHasAPage()
    {
        for (const int steps : {0, 1}) {
            const QTemporaryDir dir;
            const std::filesystem::path path = std::filesystem::path(dir.path().toStdString()) / "run";
            engine::RunInfo info;
            info.name = "young";
            auto writer = engine::RunWriter::create(path, info, projects::findExample("ancre-language")->project,
                                                    dir.path().toStdString());
            QVERIFY(writer.ok());
            for (int step = 1; step <= steps; ++step) {
                writer->step({step, 10'834, 1e-3, 3456.7, 64, 0});
                writer->metric(engine::metric::kPeakBytes, step, 7e9);
            }
            QVERIFY(writer->flush().ok()); // and goes on
            const auto run = engine::RunReader::open(path);
            const auto page = run ? report::reportHtml(*run) : Result<std::string>(run.error());
            QVERIFY2(page.ok(), page ? "" : page.error().text().c_str());
            QCOMPARE(svgsOf(QString::fromStdString(*page)).size(), std::size_t(steps == 0 ? 0 : 4));
            const auto both = comparisonOf(path.parent_path());
            QVERIFY2(both.ok(), both ? "" : both.error().text().c_str());
            QVERIFY(steps > 0 || QString::fromStdString(*both).contains("<td class='n'>–</td>"));
        }
    }

    void runsThatCannotBeReadAreNamedInAComparison()
    {
        const QTemporaryDir dir;
        const std::filesystem::path whole = writeRun(dir, "whole");
        const std::filesystem::path broken = whole.parent_path() / "broken";
        std::filesystem::create_directories(broken / "project");
        std::filesystem::copy(whole / "run.json", broken / "run.json");
        const auto page = comparisonOf(whole.parent_path());
        QVERIFY2(page.ok(), page ? "" : page.error().text().c_str());
        QVERIFY(page->find("<li>broken: [") != std::string::npos);
        QVERIFY(page->find(">1 run") != std::string::npos);
        std::filesystem::remove_all(whole);
        const auto none = comparisonOf(broken.parent_path());
        QVERIFY(!none.ok() && none.error().message.find("broken: ") != std::string::npos);
    }

    /// The run has matrices of another shape or with too many numbers, and norms of the wrong size.
    void matricesThatAPageCannotShowAreNamed()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "odd");
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            writer->matrix({"mix", 30, 1, 4, {1, 2, 3, 4}});
            writer->matrix({engine::matrix::kLayerMagnitudes, 30, 1, 50, std::vector<float>(50, 1)});
            writer->matrix({"spread", 30, 600, 600, std::vector<float>(360'000, 1)});
            QVERIFY(writer->flush().ok());
        }
        const auto run = engine::RunReader::open(path);
        const auto page = report::reportHtml(*run);
        QVERIFY(page.ok());
        const QString html = QString::fromStdString(*page);
        QVERIFY(html.contains("<li>matrix mix: 2 of 3 frames are of another shape than the last</li>"));
        QVERIFY(html.contains("<li>matrix spread: 600 × 600 numbers are too many for a page"));
        QVERIFY(!html.contains("root mean square"));
        QCOMPARE(svgsOf(html).back().count("data-cell"), 4);
    }

    /// Weights that all start at 1 have a diverging scale around 1, shared by all ports, as in the window. Weights with
    /// different starts are coloured relative to their own start. Weights under a softmax are magnitudes.
    void heatmapsAreColouredAsInTheWindow()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "grn", projects::findExample("grn-language")->project);
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            writer->matrix({"mix", 0, 2, 2, {1, 1, 1, 1}});
            writer->matrix({"mix/q", 0, 2, 2, {1, 1, 1, 1}});
            writer->matrix({"mix/q", 20, 2, 2, {1, 1, 1.5F, 2}});
            QVERIFY(writer->flush().ok());
        }
        const auto page = [](const std::filesystem::path& run) {
            return QString::fromStdString(*report::reportHtml(*engine::RunReader::open(run)));
        };
        // The table of colours has the ground's in the middle, at the scale's centre.
        const auto middle = [](resources::Rgb colour) { return '"' + QString::fromStdString(colour.hex()) + '"'; };
        const QString grn = page(path);
        QCOMPARE(grn.count("data-low='0' data-high='2' data-digits='3'>"), 2);
        const QStringList colours = grn.section("class='colours'>[", 1, 1).section("]", 0, 0).split(",");
        QCOMPARE(colours[colours.size() / 2], middle(resources::diverging(0, resources::Theme::Light)));

        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            writer->matrix({"mix/q", 0, 2, 2, {0, 1, 1, 1}});
            QVERIFY(writer->flush().ok());
        }
        QCOMPARE(page(path).count("data-low='0' data-high='2' data-digits='3'>"), 2); // number and colour are one value

        const QTemporaryDir other;
        const QString softmax = page(writeRun(other, "ancre"));
        QVERIFY(softmax.contains("data-low='0' data-high='1'"));
        const QStringList magnitudes = softmax.section("class='colours'>[", 1, 1).section("]", 0, 0).split(",");
        QCOMPARE(magnitudes[magnitudes.size() / 2], middle(resources::magnitude(0.5, resources::Theme::Light)));
    }

    /// A confusion matrix has its own part of the report. Its classes have their names, or else numbers. Its scale
    /// begins at 0.
    void confusionIsOfClasses()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "labelled");
        auto file = engine::readRunFile(path);
        QVERIFY(file.ok());
        file->info.classes = {"cat<", "dog"};
        QVERIFY(engine::writeRunFile(path, *file).ok());
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            writer->matrix({engine::matrix::kConfusion, 40, 3, 3, {12345, 2, 0, 1, 20, 0, 0, 0, 4}});
            QVERIFY(writer->flush().ok());
        }
        const QString html = QString::fromStdString(*report::reportHtml(*engine::RunReader::open(path)));
        const QString part = html.section("<h2>Confusion matrix</h2>", 1).section("<h2>", 0, 0);
        QVERIFY(part.contains("data-low='0'") && part.contains("data-rows='0'") && part.contains("data-digits='0'"));
        QVERIFY(!part.contains("data-columns='1'")); // both sides are counted from 0
        QCOMPARE(part.count("<title>cat&lt;</title>"), 2);
        QCOMPARE(part.count("<title>2</title>2</text>"), 2);
        QVERIFY(part.contains("[12345,2,0,1,20,0,0,0,4]"));
        QVERIFY(part.contains(QString::fromUtf8("predicted class →, true class ↓")));
    }

    /// Images are bitmaps of the recorded pixels, one for each step, and only the last is shown.
    void imagesAreTheirPixels()
    {
        const QTemporaryDir dir;
        const auto path = writeRun(dir, "images");
        const auto page = [&] { return QString::fromStdString(*report::reportHtml(*engine::RunReader::open(path))); };
        QVERIFY(!page().contains("<h2>Images</h2>"));
        {
            auto writer = engine::RunWriter::reopen(path, 40);
            QVERIFY(writer.ok());
            writer->matrix({engine::matrix::kSamples, 20, 2, 3, {0, 0, 0, 0, 0, 0}});
            writer->matrix({engine::matrix::kSamples, 40, 2, 3, {0xFF0000, 0x010203, 0xFF, NAN, 1e9F, -1}});
            QVERIFY(writer->flush().ok());
        }
        const QString part = page().section("<h2>Images</h2>", 1).section("<h2>", 0, 0);
        QCOMPARE(part.count("<img "), 2);
        QCOMPARE(part.count(" hidden "), 1);
        QVERIFY(part.section("<img ", 2).contains("data-step='40'") && !part.section("<img ", 2).contains(" hidden "));
        const QByteArray bytes = QByteArray::fromBase64(part.section("base64,", 2).section('\'', 0, 0).toLatin1(),
                                                        QByteArray::Base64Encoding);
        QVERIFY(bytes.startsWith("BM"));
        QCOMPARE(bytes.size(), 54 + 2 * 12);
        QCOMPARE(bytes[2], static_cast<char>(bytes.size()));
        // Blue, green and red of each pixel, the lower row first; what is no colour is black or white.
        QCOMPARE(bytes.mid(54), QByteArray::fromHex("000000ffffff000000000000"
                                                    "0000ff030201ff0000000000"));
    }

    void lettersThatAreNoneAreReplaced()
    {
        using namespace std::string_literals;
        QCOMPARE(QString::fromStdString(report::escapeHtml("a\x1b[2J\0<b>\xff"s)),
                 QString("a\uFFFD[2J\uFFFD&lt;b&gt;\uFFFD"));
    }

    void missingRunIsAnError()
    {
        const QTemporaryDir dir;
        const std::filesystem::path nowhere = std::filesystem::path(dir.path().toStdString()) / "nowhere";
        const Status written = report::writeReport(nowhere, nowhere / "report.html");
        QVERIFY(!written.ok());
        QVERIFY(written.error().text().find("nowhere") != std::string::npos);
        QVERIFY(!std::filesystem::exists(nowhere));
    }
};

RESIDUA_TEST(TestReport)
#include "tst_report.moc"
