// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that go on with untied loops or with tied layers: what their weights are, and the loss before and after.
#include "tests/engine/compute/queries/import_harness.h"
#include "tests/engine/compute/session/run_harness.h"

#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/depth/shared_mix.h"
#include "projects/depth/visit_shortcuts.h"
#include "projects/file/json.h"
#include "projects/library/presets.h"
#include "projects/model/parameter_name.h"
#include "projects/transfer/ties.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kTiedRunSteps = 3;

projects::Project tiedRunProject(const std::string& topology, std::vector<projects::Loop> loops, std::int64_t layers)
{
    projects::Project project = tests::quickLanguage(kTiedRunSteps);
    project.stack().width = 8;
    project.stack().segments.front().repeat = layers;
    project.stack().loops = std::move(loops);
    project.training.precision = projects::Precision::Fp64;
    project.training.learningRate = {.peak = 0.02, .warmupSteps = 0};
    const auto presets = projects::topologyPresets(project.network);
    const auto preset = std::ranges::find(presets, topology, &projects::TopologyPreset::name);
    project.stack().topology = {topology, preset->wiring};
    return project;
}

/// Lets the visits of the first loop share the weights of the mix.
void shareByDistance(projects::Project& project)
{
    auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
    mix.sources = projects::FirstAndLast{2, projects::EarlierEntries::Input};
    mix.sites = projects::MixSites::Mhsa;
    project.stack().loops.front().rows = projects::VisitRows::Layer;
}

std::vector<double> storedValues(const StoredTensor& tensor)
{
    std::vector<double> numbers(tensor.bytes.size() / sizeof(double));
    std::memcpy(numbers.data(), tensor.bytes.data(), numbers.size() * sizeof(double));
    return numbers;
}

} // namespace

class TestTiedRuns : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    void untiedRunsComputeTheSame_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("changes");
        QTest::addColumn<bool>("shares");
        for (const char* const topology : {"plain", "ancre-ingoing", "grn-v3", "mhc", "highway", "densenet"}) {
            QTest::newRow(topology) << topology << false << false;
        }
        for (const char* const topology : {"plain", "denseformer", "rezero"}) {
            QTest::addRow("%s, changed between visits", topology) << topology << true << false;
        }
        for (const char* const topology : {"denseformer", "grn-v2", "attention-residuals"}) {
            QTest::addRow("%s, weights by distance", topology) << topology << false << true;
        }
    }
    void untiedRunsComputeTheSame()
    {
        QFETCH(QString, topology);
        QFETCH(bool, changes);
        QFETCH(bool, shares);
        const std::string name = QTest::currentDataTag();
        projects::Loop loop{.first = 2, .last = 3, .visits = 2};
        loop.embedding = changes;
        loop.gate = changes;
        loop.norm = changes ? projects::LoopNorm::Visits : projects::LoopNorm::None;
        loop.scale = changes ? 0.5 : 1;
        projects::Project project = tiedRunProject(topology.toStdString(), {loop}, 3);
        if (shares) {
            shareByDistance(project);
        }
        QCOMPARE(tests::lossesOf(project, directory(name)).size(), std::size_t{kTiedRunSteps});
        const auto made = retie(name, projects::kUntie, name + "-untied");
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QVERIFY(made->batches > 0);
        QVERIFY2(std::abs(made->lossAfter - made->lossBefore) < 1e-12,
                 qPrintable(QString::number(made->lossAfter - made->lossBefore)));
        QVERIFY(made->dropped.empty());
        const auto before = loadCheckpoint(directory(name), std::nullopt, nullptr);
        const auto after = loadCheckpoint(directory(name + "-untied"), std::nullopt, nullptr);
        QVERIFY(before.ok() && after.ok());
        for (const auto& [tensor, values] : after->model.tensors()) {
            projects::ParameterName from = projects::parameterNameFrom(tensor);
            if (from.layer > 0) {
                from.layer = project.stack().visitAt(from.layer).layer;
                QVERIFY2(storedValues(values) == storedValues(before->model.tensors().at(textOf(from))),
                         tensor.c_str());
            }
        }
        // The layer before the loop keeps its moments; a copy does not have those of the sum over visits.
        const auto kept = [&](const char* part) {
            return std::ranges::any_of(made->kept, [&](const std::string& each) { return each.starts_with(part); });
        };
        QVERIFY(kept("layers.1.") && !kept("layers.2.") && !kept("layers.4."));
        QCOMPARE(tests::resumeToEnd(directory(name + "-untied")), std::string());
    }

    void tiedWeightsAreMeans()
    {
        QCOMPARE(tests::lossesOf(tiedRunProject("ancre-ingoing", {}, 6), directory("six")).size(),
                 std::size_t{kTiedRunSteps});
        const auto before = loadCheckpoint(directory("six"), std::nullopt, nullptr);
        for (const bool average : {true, false}) {
            const std::string name = average ? "average" : "stepwise";
            const auto made = retie("six", "2:5,2," + name, name);
            QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
            QVERIFY(made->batches > 0 && std::isfinite(made->lossAfter) && made->lossAfter != made->lossBefore);
            const auto after = loadCheckpoint(directory(name), std::nullopt, nullptr);
            QVERIFY(after.ok());
            const auto of = [](const auto& files, std::int64_t layer) {
                return storedValues(files.model.tensors().at(projects::layerPrefix(layer) + "up.weight"));
            };
            const std::vector<double> tied = of(*after, 2);
            const std::vector<double> first = of(*before, 2);
            const std::vector<double> second = of(*before, 4);
            QVERIFY(first != second);
            for (std::size_t i = 0; i < tied.size(); ++i) {
                QVERIFY(std::abs(tied[i] - (average ? (first[i] + second[i]) / 2 : first[i])) < 1e-15);
            }
            if (!average) {
                QVERIFY(of(*after, 3) == of(*before, 5));
            }
            QVERIFY(of(*after, 4) == of(*before, 6));
            QVERIFY(storedValues(after->model.tensors().at("topology.coefficient")) ==
                    storedValues(before->model.tensors().at("topology.coefficient")));
            const auto reader = RunReader::open(directory(name));
            QCOMPARE(reader->project()->stack().stored(), std::int64_t{4});
            QCOMPARE(tests::resumeToEnd(directory(name)), std::string());
        }
        const auto refused = retie("six", "2:4,2", "never");
        QVERIFY(!refused.ok() && refused.error().text().find("no multiple") != std::string::npos);
        QVERIFY(!fs::exists(directory("never")));
    }

    /// The loss with another number of visits is that of the run's weights in a document with so many.
    void lossOverVisits()
    {
        projects::Project project = tiedRunProject("denseformer", {{.first = 2, .last = 3, .visits = 2}}, 4);
        shareByDistance(project);
        QCOMPARE(tests::lossesOf(project, directory("two")).size(), std::size_t{kTiedRunSteps});
        KnockoutRequest knockout;
        knockout.of.runDirectory = directory("two");
        knockout.by = projects::KnockoutBy::Visits;
        const auto effects = tests::answerTo<KnockoutReady>(knockout);
        QVERIFY2(effects.ok(), effects ? "" : effects.error().text().c_str());
        QCOMPARE(effects->rows.size(), std::size_t{3});
        for (const KnockoutRow& row : effects->rows) {
            const fs::path other = directory(row.name);
            fs::copy(directory("two"), other, fs::copy_options::recursive);
            for (const auto& entry : fs::recursive_directory_iterator(other)) {
                if (entry.path().filename() == "project.json") {
                    QFile file(QString::fromStdString(entry.path().string()));
                    QVERIFY(file.open(QIODevice::ReadWrite));
                    QByteArray text = file.readAll();
                    QCOMPARE(text.count("\"visits\": 2"), 1);
                    text.replace("\"visits\": 2", "\"visits\": " + QByteArray::number(qlonglong(row.first)));
                    QVERIFY(file.resize(0) && file.seek(0) && file.write(text) == text.size());
                }
            }
            EvaluateRequest evaluate;
            evaluate.of.runDirectory = other;
            evaluate.batches = effects->batches;
            const auto loss = tests::answerTo<EvaluationReady>(evaluate);
            QVERIFY2(loss.ok(), loss ? "" : loss.error().text().c_str());
            QVERIFY2(std::abs(loss->means.at("loss") - effects->loss - row.rise) < 1e-12, row.name.c_str());
            QVERIFY(row.rise != 0);
        }
    }

    /// Shortcuts at every visit have one weight each, so that they serve other numbers of visits; weights of single
    /// visits do not, and the refusals say what to type.
    void listedShortcutsOverVisits()
    {
        projects::Project project = tiedRunProject("ancre-none", {{.first = 2, .last = 3, .visits = 2}}, 4);
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        mix.init = projects::MixInit::Ones;
        mix.sites = projects::MixSites::Mhsa;
        mix.sources = projects::ExplicitSources{*projects::shortcutsFrom("0:1+0:2+3:2+1:3+2:3", project.stack(), mix)};
        QCOMPARE(tests::lossesOf(project, directory("own")).size(), std::size_t{kTiedRunSteps});
        project.stack().loops.front().rows = projects::VisitRows::Layer;
        QCOMPARE(tests::lossesOf(project, directory("shared")).size(), std::size_t{kTiedRunSteps});
        const auto knockout = [&](const std::string& name, std::vector<std::string> only) {
            KnockoutRequest request;
            request.of.runDirectory = directory(name);
            request.by = projects::KnockoutBy::Visits;
            request.only = std::move(only);
            return tests::answerTo<KnockoutReady>(request);
        };
        const auto evaluated = [&](const std::string& name, std::int64_t visits, std::int64_t batches) {
            const fs::path other = directory(name + "-" + std::to_string(visits));
            fs::copy(directory(name), other, fs::copy_options::recursive);
            const auto reader = RunReader::open(other);
            projects::Project changed = *reader->project();
            changed.stack() = projects::withVisits(changed.stack(), 0, visits);
            for (const auto& entry : fs::recursive_directory_iterator(other)) {
                if (entry.path().filename() == "project.json") {
                    [[maybe_unused]] const Status written =
                        writeFileAtomically(entry.path(), projects::toJson(changed));
                }
            }
            EvaluateRequest request;
            request.of.runDirectory = other;
            request.batches = batches;
            return tests::answerTo<EvaluationReady>(request);
        };
        const auto effects = knockout("shared", {});
        QVERIFY2(effects.ok(), effects ? "" : effects.error().text().c_str());
        QCOMPARE(effects->rows.size(), std::size_t{3}); // 1, 3 and 4 visits
        for (const KnockoutRow& row : effects->rows) {
            QVERIFY(std::isfinite(row.rise) && row.rise != 0);
            if (row.first > 1) { // one visit lacks the weight of 3:2, which is then not loaded
                const auto loss = evaluated("shared", row.first, effects->batches);
                QVERIFY2(loss.ok(), loss ? "" : loss.error().text().c_str());
                QVERIFY2(std::abs(loss->means.at("loss") - effects->loss - row.rise) < 1e-12, row.name.c_str());
            }
        }
        const auto more = knockout("own", {"4 visits"});
        QVERIFY(!more.ok() && more.error().text().find("--set /network/loops/0/rows=layer") != std::string::npos);
        const auto fewer = knockout("own", {"1 visit"});
        QVERIFY2(fewer.ok() && std::isfinite(fewer->rows.at(0).rise), fewer ? "" : fewer.error().text().c_str());
        const auto other = evaluated("own", 4, 1);
        QVERIFY(!other.ok());
        QVERIFY2(other.error().text().find("--set /network/loops/0/rows=layer") != std::string::npos,
                 other.error().text().c_str());
    }

    /// Products of full rank make the tied network the untied one. Products of a lower rank bring it closer. Untying
    /// keeps the function.
    void visitsAddWhatTheyDifferBy()
    {
        projects::Project project = tiedRunProject("ancre-ingoing", {}, 4);
        project.training.groups = {{.role = projects::ParameterRole::Vector, .rateScale = 0}}; // alike in all layers
        QCOMPARE(tests::lossesOf(project, directory("different")).size(), std::size_t{kTiedRunSteps});
        const auto change = [&](const std::string& ties, const std::string& made) {
            const auto ready = retie("different", ties, made);
            return ready ? std::abs(ready->lossAfter - ready->lossBefore) : std::nan("");
        };
        const double without = change("2:3,2", "without");
        const double thin = change("2:3,2,rank=2", "thin");
        QVERIFY(change("2:3,2,rank=64", "whole") < 1e-10);
        QVERIFY(change("2:3,2,stepwise,rank=64", "whole-stepwise") < 1e-10);
        QVERIFY2(thin > 1e-9 && thin < without, qPrintable(QString("%1 of %2").arg(thin).arg(without)));
        for (const std::string run : {"thin", "whole"}) {
            const auto untied = retie(run, projects::kUntie, run + "-untied");
            QVERIFY2(untied.ok(), untied ? "" : untied.error().text().c_str());
            QVERIFY(std::abs(untied->lossAfter - untied->lossBefore) < 1e-12);
            QCOMPARE(tests::resumeToEnd(directory(run)), std::string());
        }
        const auto reader = RunReader::open(directory("thin"));
        QCOMPARE(reader->project()->stack().loops.front().adapterRank, std::int64_t{2});
    }

    void layersOfALoopArePruned()
    {
        const projects::Project project = tiedRunProject("plain", {{.first = 2, .last = 3, .visits = 2}}, 4);
        QCOMPARE(tests::lossesOf(project, directory("looped")).size(), std::size_t{kTiedRunSteps});
        RetrofitRequest request;
        request.of.runDirectory = directory("looped");
        request.prune = "layer 2";
        request.newRun = directory("shorter");
        const auto made = tests::answerTo<RetrofitReady>(request);
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QVERIFY2(made->added.empty(), made->added.empty() ? "" : made->added.front().c_str());
        const auto before = loadCheckpoint(directory("looped"), std::nullopt, nullptr);
        const auto after = loadCheckpoint(directory("shorter"), std::nullopt, nullptr);
        for (const auto& [now, old] : {std::pair(1, 1), std::pair(2, 3), std::pair(3, 4)}) {
            QVERIFY(storedValues(after->model.tensors().at(projects::layerPrefix(now) + "up.weight")) ==
                    storedValues(before->model.tensors().at(projects::layerPrefix(old) + "up.weight")));
        }
        QVERIFY(!after->model.tensors().contains("layers.4.up.weight"));
        QCOMPARE(tests::resumeToEnd(directory("shorter")), std::string());
    }

    /// A retrofit of a looped network computes the same; one whose loop changes the residual is refused if its weights
    /// would have to be computed.
    void loopedRunsAreRewired()
    {
        const projects::Project project = tiedRunProject("plain", {{.first = 2, .last = 3, .visits = 2}}, 4);
        QCOMPARE(tests::lossesOf(project, directory("loop")).size(), std::size_t{kTiedRunSteps});
        const auto made = tests::rewired(directory("loop"), directory("rewired"));
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QVERIFY(made->differenceInDouble < 1e-10);
        projects::Loop loop{.first = 2, .last = 3, .visits = 2};
        loop.injection = projects::LoopInjection::Add;
        QCOMPARE(tests::lossesOf(tiedRunProject("ancre-none", {loop}, 4), directory("injected")).size(),
                 std::size_t{kTiedRunSteps});
        const auto refused = tests::rewired(directory("injected"), directory("never"), "denseformer");
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().text().find("between visits") != std::string::npos, refused.error().text().c_str());
        const auto tied = retie("injected", projects::kUntie, "never");
        QVERIFY(!tied.ok() && tied.error().text().find("without injection") != std::string::npos);
        QVERIFY(!fs::exists(directory("never")));
    }

    /// A note of the export says which architecture a network with loops has once it is untied.
    void exportsSayWhatUntyingGives()
    {
        const auto note = [&](const std::string& run, const projects::Loop& loop) {
            (void)tests::lossesOf(tiedRunProject("plain", {loop}, 3), directory(run));
            const auto out = tests::exported(directory(run), directory(run + "-code"));
            return !out                             ? out.error().text()
                   : out->architecture != "residua" ? out->architecture
                                                    : joinedText(out->notes);
        };
        const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
        const std::string twice = note("twice", {.first = 1, .last = 2, .visits = 2});
        QVERIFY2(has(twice, "untied, it is a llama: residua-cli untie RUN -o NEW"), twice.c_str());
        QVERIFY(retie("twice", projects::kUntie, "thrice").ok());
        const auto untied = tests::exported(directory("thrice"), directory("llama"));
        QVERIFY2(untied.ok(), untied ? "" : untied.error().text().c_str());
        QCOMPARE(untied->architecture, std::string("llama"));
        const std::string normed =
            note("normed", {.first = 1, .last = 2, .visits = 2, .norm = projects::LoopNorm::Visits});
        QVERIFY2(has(normed, "untied (residua-cli untie), it has none either"), normed.c_str());
        const std::string fed =
            note("fed", {.first = 1, .last = 2, .visits = 2, .injection = projects::LoopInjection::Add});
        QVERIFY2(has(fed, "it cannot be untied: the visits of loop 1"), fed.c_str());
    }

private:
    [[nodiscard]] fs::path directory(const std::string& name) const
    {
        return fs::path(m_folder.path().toStdString()) / name;
    }
    [[nodiscard]] Result<RetrofitReady> retie(const std::string& run, const std::string& ties,
                                              const std::string& newRun) const
    {
        RetrofitRequest request;
        request.of.runDirectory = directory(run);
        request.ties = ties;
        request.newRun = directory(newRun);
        return tests::answerTo<RetrofitReady>(request);
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestTiedRuns)
#include "tst_tied_runs.moc"
