// SPDX-License-Identifier: GPL-3.0-or-later
// A trained plain run under another topology: the same outputs, the same optimiser state, and training goes on.
#include "tests/engine/compute/session/run_harness.h"

#include "engine/runs/results/coefficients.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/depth/depth_plan.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/node_kinds.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

using namespace residua;
using namespace residua::engine;
using projects::Precision;
using residua::tests::kRun;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kDone = 12; ///< steps of the trained run
constexpr std::int64_t kDepth = 4;
constexpr std::int64_t kShallow = 3; ///< of the runs of every wiring

projects::Topology topologyNamed(const std::string& name, std::int64_t depth = kDepth)
{
    const auto presets = projects::topologyPresets(depth);
    projects::Topology topology{name, std::ranges::find(presets, name, &projects::TopologyPreset::name)->wiring};
    std::visit(
        [](auto& wiring) {
            if constexpr (requires { wiring.sites; }) {
                wiring.sites = projects::MixSites::Mhsa; // what acts at halves of layers computes other sums
            }
        },
        topology.wiring);
    return topology;
}

projects::Project plainProject(Precision precision)
{
    projects::Project project = tests::quickLanguage(kDone);
    project.stack().segments.front().repeat = kDepth;
    project.stack().topology = topologyNamed("plain");
    project.training.precision = precision;
    return project;
}

bool sameBytes(const StoredTensor& a, const StoredTensor& b)
{
    return a.type == b.type && a.shape == b.shape && a.bytes.size() == b.bytes.size() &&
           std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

bool sameCells(const Matrix& a, const Matrix& b)
{
    return a.name == b.name && std::ranges::equal(a.values, b.values, [](float x, float y) {
               return std::isnan(x) == std::isnan(y) && !(std::abs(x - y) > 1e-6F);
           });
}

/// Pairs in which the learned weights can be said by the new ones, among those that must not be refused.
bool canKeep(const std::string& from, const std::string& to)
{
    static const std::set<std::string> alike{"ancre-ingoing", "ancre-outgoing", "ancre-none",  "ancre-cascaded",
                                             "ancre-fixed",   "none",           "grn-v1",      "denseformer",
                                             "laurel-rw",     "rezero",         "hyper-static"};
    static const std::set<std::string> free{"grn-v1", "grn-v2", "grn-v3", "dca", "denseformer", "mudd"};
    const bool passesInput = to == "denseformer" || to == "mudd"; // layer 1 reads it as it is
    if (passesInput && (from == "grn-v1" || from == "hyper-static")) {
        return false;
    }
    return free.contains(to) && (alike.contains(from) || (from == "grn-v2" && (to == "grn-v3" || to == "dca")));
}

bool isZero(const StoredTensor& tensor)
{
    return std::ranges::all_of(tensor.bytes, [](std::byte byte) { return byte == std::byte{}; });
}

} // namespace

class TestRetrofit : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        QCOMPARE(tests::lossesOf(plainProject(Precision::Fp64), directory("plain64")).size(), std::size_t{kDone});
        QCOMPARE(tests::lossesOf(plainProject(Precision::Fp32), directory("plain32")).size(), std::size_t{kDone});
        projects::Project grn = plainProject(Precision::Fp64);
        grn.stack().topology = topologyNamed("grn-v2");
        QCOMPARE(tests::lossesOf(grn, directory("grn64")).size(), std::size_t{kDone});
    }

    void computesTheSame_data()
    {
        QTest::addColumn<QString>("run");
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("exact");
        for (const char* const run : {"plain64", "plain32"}) {
            QTest::addRow("%s to denseformer", run) << run << "denseformer" << true;
            // Other orders of the same sums: the plain residual adds attention before FFN, these the whole branch.
            for (const char* const name :
                 {"grn-v1", "grn-v2", "grn-v3", "dca", "ancre-none", "k-dca", "mudd", "laurel-pa"}) {
                QTest::addRow("%s to %s", run, name) << run << name << false;
            }
        }
        QTest::newRow("learned weights go on") << "grn64"
                                               << "grn-v3" << true;
    }
    void computesTheSame()
    {
        QFETCH(QString, run);
        QFETCH(QString, topology);
        QFETCH(bool, exact);
        const std::string name = (run + "-" + topology).toStdString();
        const auto ready = retrofit(run.toStdString(), topologyNamed(topology.toStdString()), name);
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QVERIFY2(exact ? ready->differenceInDouble == 0 : ready->differenceInDouble < 1e-12,
                 qPrintable(QString::number(ready->differenceInDouble)));
        QVERIFY2(ready->difference <= 1e-6, qPrintable(QString::number(ready->difference)));
        QVERIFY(ready->dropped.empty());
        // The engine's own validation loss, computed from the two run directories, tells the same.
        const double before = lossOf(directory(run.toStdString()));
        const double after = lossOf(directory(name));
        QVERIFY(std::isfinite(before));
        QVERIFY2(exact ? before == after : std::abs(before - after) < 1e-6 * before,
                 qPrintable(QString("%1 and %2").arg(before, 0, 'g', 17).arg(after, 0, 'g', 17)));
    }

    void keepsWeightsAndOptimiserStateBitForBit()
    {
        const auto ready = retrofit("plain32", topologyNamed("dca"), "kept");
        QVERIFY(ready.ok());
        QCOMPARE(ready->added, (std::vector<std::string>{"topology.coefficient", "topology.gate"}));
        const auto before = loadCheckpoint(directory("plain32"), std::nullopt, nullptr);
        const auto after = loadCheckpoint(directory("kept"), std::nullopt, nullptr);
        QVERIFY(before.ok() && after.ok());
        QVERIFY(before->state == after->state);
        QCOMPARE(ready->kept.size(), before->model.tensors().size());
        for (const auto& [name, tensor] : before->model.tensors()) {
            QVERIFY2(sameBytes(tensor, after->model.tensors().at(name)), name.c_str());
        }
        std::size_t learned = 0;
        for (const auto& [name, tensor] : before->optimiser.tensors()) {
            QVERIFY2(sameBytes(tensor, after->optimiser.tensors().at(name)), name.c_str());
            learned += isZero(tensor) ? 0 : 1;
        }
        QVERIFY(learned > before->optimiser.tensors().size() / 2);
        for (const char* const moment : {".mean", ".square", ".step"}) {
            QVERIFY(isZero(after->optimiser.tensors().at(std::string("topology.gate") + moment)));
        }
    }

    void trainingGoesOn()
    {
        RetrofitRequest request = requestOf("plain32", topologyNamed("dca"), "on");
        request.steps = kDone + 8;
        QVERIFY(ask(request).ok());
        const auto reader = RunReader::open(directory("on"));
        QVERIFY(reader.ok());
        const auto info = reader->info();
        QVERIFY(info.ok());
        QCOMPARE(info->parent, directory("plain32").string());
        QCOMPARE(info->parentStep, kDone);
        QVERIFY(info->status == RunStatus::Stopped);
        QCOMPARE(reader->project()->stack().topology.preset, std::string("dca"));
        QCOMPARE(reader->matrix("mix/q", kDone)->at(2, 1), 1.0F); // as it starts
        tests::SessionProbe probe;
        ResumeRun command;
        command.run = kRun;
        command.of.runDirectory = directory("on");
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        QVERIFY2(probe.all<RunEnded>()[0].status == RunStatus::Finished, probe.all<RunEnded>()[0].error.text().c_str());
        const auto losses = tests::recordedLosses(directory("on"));
        QCOMPARE(losses.size(), std::size_t(kDone + 8));
        const auto parent = tests::recordedLosses(directory("plain32"));
        QVERIFY(std::equal(parent.begin(), parent.end(), losses.begin()));
        // Both parts of the new topology learn, the weights and the gate that starts at 0.
        const auto trained = loadCheckpoint(directory("on"), std::nullopt, nullptr);
        QVERIFY(!isZero(trained->model.tensors().at("topology.gate")));
        QVERIFY(reader->matrix("mix/q", kDone + 8)->at(2, 1) != 1.0F);
        // The features' values in a checkpoint equal the recorded ones.
        const auto tensors = checkpointCoefficients(directory("on"), kDone + 8);
        QVERIFY(tensors.ok());
        for (const CoefficientTensor& tensor : *tensors) {
            QCOMPARE(tensor.features, 16);
            QVERIFY(sameCells(tensor.mean(), *reader->matrix(tensor.name, kDone + 8)));
            if (tensor.name == "mix/v") {
                const Matrix spread = tensor.spread();
                QVERIFY(sameCells(spread, *reader->matrix("spread/v", kDone + 8)));
                QVERIFY(spread.at(2, 1) > 0);
                QVERIFY(tensor.feature(3).at(2, 1) != tensor.feature(4).at(2, 1));
            }
        }
    }

    /// The share that a curve keeps depends only on γ_f/T. A longer run continues the curve as it began.
    void aCurveKeepsItsCourse()
    {
        projects::Project project = plainProject(Precision::Fp32);
        project.stack().schedule = *projects::scheduleFrom("pld", kDepth, kDone);
        QCOMPARE(tests::lossesOf(project, directory("curve")).size(), std::size_t{kDone});
        RetrofitRequest request = requestOf("curve", topologyNamed("dca"), "longer curve");
        request.steps = 2 * kDone;
        QVERIFY(ask(request).ok());
        const auto after = RunReader::open(directory("longer curve"))->project();
        QCOMPARE(after->training.steps, 2 * kDone);
        QCOMPARE(after->stack().schedule.curveRate, 2 * project.stack().schedule.curveRate);
    }

    /// With a softmax over sources and over targets, the weights from the checkpoint equal those that the network
    /// applied.
    void checkpointsTellTheWeightsThatAreApplied()
    {
        for (const char* const name : {"ancre-ingoing", "ancre-outgoing"}) {
            projects::Project project = plainProject(Precision::Fp32);
            project.stack().topology = topologyNamed(name);
            QCOMPARE(tests::lossesOf(project, directory(name)).size(), std::size_t{kDone});
            const auto tensors = checkpointCoefficients(directory(name), std::nullopt);
            QVERIFY(tensors.ok());
            QCOMPARE(tensors->size(), std::size_t{2});
            QVERIFY(sameCells(tensors->front().mean(), *RunReader::open(directory(name))->matrix("mix", kDone)));
        }
    }

    /// Separate norms start with the weights of the shared norm.
    void separateNormsStartAsTheSharedOne()
    {
        projects::Topology topology = topologyNamed("dca");
        std::get<projects::DepthMix>(topology.wiring).separateNorms = true;
        const auto ready = retrofit("plain64", topology, "norms");
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QCOMPARE(ready->differenceInDouble, 0.0);
        QCOMPARE(ready->added.size(), std::size_t(2 * kDepth + 2));
        const auto after = loadCheckpoint(directory("norms"), std::nullopt, nullptr);
        QVERIFY(sameBytes(after->model.tensors().at("layers.2.norm_attention_k.weight"),
                          after->model.tensors().at("layers.2.norm_attention.weight")));
        QVERIFY(isZero(after->optimiser.tensors().at("layers.2.norm_attention_k.weight.mean")));
    }

    /// The norm of the attention shares another norm's weights in the second block. It has its own in the first.
    void aSharedNormIsThatOfItsBlock()
    {
        projects::Project project = plainProject(Precision::Fp64);
        projects::Block other = project.network.blocks.front();
        other.name = "other";
        for (projects::Node& node : other.graph.nodes) {
            if (node.name == "norm_attention") {
                node.params[projects::kShareParam] = std::string("norm_ffn");
            }
        }
        project.network.blocks.push_back(other);
        project.stack().segments = {{project.stack().segments.front().block, 1}, {other.name, 2}};
        QCOMPARE(tests::lossesOf(project, directory("two blocks")).size(), std::size_t{kDone});
        projects::Topology topology = topologyNamed("dca", kShallow);
        std::get<projects::DepthMix>(topology.wiring).separateNorms = true;
        const auto ready = retrofit("two blocks", topology, "norms of two blocks");
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QCOMPARE(ready->differenceInDouble, 0.0);
        const auto after = loadCheckpoint(directory("norms of two blocks"), std::nullopt, nullptr);
        const auto& tensors = after->model.tensors();
        const StoredTensor& first = tensors.at("layers.1.norm_attention.weight");
        QVERIFY(sameBytes(tensors.at("layers.1.norm_attention_k.weight"), first));
        for (const char* const norm : {"norm_attention", "norm_attention_k", "norm_attention_v"}) {
            QVERIFY(sameBytes(tensors.at(std::string("layers.2.") + norm + ".weight"),
                              tensors.at("layers.2.norm_ffn.weight")));
        }
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("run");
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("said");
        QTest::newRow("a softmax") << "plain64"
                                   << "ancre-ingoing"
                                   << "through a softmax. These do: plain, grn-v1";
        QTest::newRow("no shortcuts") << "plain64"
                                      << "none"
                                      << "layer 1 does not read entry 0";
        QTest::newRow("streams that are summed") << "plain64"
                                                 << "hyper-static"
                                                 << "its 4 streams are summed";
        QTest::newRow("the same") << "plain64"
                                  << "plain"
                                  << "is the run's own already";
        QTest::newRow("features apart") << "grn64"
                                        << "grn-v1"
                                        << "[topology] weighs all features alike, but the run's own has learned";
        QTest::newRow("what was learned would go") << "grn64"
                                                   << "plain"
                                                   << "times the input, this one 1 times, whatever it learns";
        QTest::newRow("no such run") << "nowhere"
                                     << "dca"
                                     << "nowhere";
    }
    void refuses()
    {
        QFETCH(QString, run);
        QFETCH(QString, topology);
        QFETCH(QString, said);
        const auto ready = retrofit(run.toStdString(), topologyNamed(topology.toStdString()), "refused");
        QVERIFY(!ready.ok());
        QVERIFY2(QString::fromStdString(ready.error().text()).contains(said), ready.error().text().c_str());
        QVERIFY(!fs::exists(directory("refused")));
    }

    void everyWiringToEveryOther_data()
    {
        QTest::addColumn<QString>("from");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kShallow)) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }
    /// Converts a trained network from each wiring to each other. The result computes the same and can be inspected and
    /// trained on, or an error says why not.
    void everyWiringToEveryOther()
    {
        QFETCH(QString, from);
        const std::string name = from.toStdString();
        projects::Project project = plainProject(Precision::Fp64);
        project.stack().segments.front().repeat = kShallow;
        project.stack().width = 8;
        project.training.steps = 3;
        project.training.learningRate = {.peak = 0.02, .warmupSteps = 0};
        const auto wired = projects::rewired(project, topologyNamed(name, kShallow));
        QVERIFY2(wired.ok(), wired ? "" : wired.error().text().c_str());
        const std::string run = "from-" + name;
        QCOMPARE(tests::lossesOf(*wired, directory(run)).size(), std::size_t{3});
        const bool goesOn = name == "ancre-ingoing" || name == "grn-v2" || name == "laurel-rw" || name == "plain";
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kShallow)) {
            if (preset.name == name) {
                continue;
            }
            const std::string made = run + "-" + preset.name;
            const auto ready = retrofit(run, topologyNamed(preset.name, kShallow), made);
            const std::string why = made + ": " + (ready ? "" : ready.error().text());
            QVERIFY2(ready.ok() == fs::exists(directory(made)), why.c_str());
            if (canKeep(name, preset.name)) {
                QVERIFY2(ready.ok(), why.c_str());
            }
            if (!ready) {
                QVERIFY2(ready.error().message.size() > 20 && !why.ends_with("."), why.c_str());
                QVERIFY2(why.find("got [") == std::string::npos, why.c_str()); // no reason, but a shape
                continue;
            }
            QVERIFY2(ready->differenceInDouble < 1e-9, why.c_str());
            lookAt(directory(made), 3);
            if (goesOn) {
                QVERIFY2(std::abs(lossOf(directory(run)) - lossOf(directory(made))) < 1e-9, why.c_str());
                trainOn(directory(made), 4);
            }
            if (QTest::currentTestFailed()) {
                qWarning("failed: %s", made.c_str());
                return;
            }
            fs::remove_all(directory(made));
        }
    }

    void frozenShortcutsKeepWhatWasLearned_data()
    {
        QTest::addColumn<QString>("wiring");
        QTest::addColumn<bool>("number");
        for (const char* const wiring : {"ancre-ingoing", "ancre-none", "grn-v1", "plain"}) {
            QTest::addRow("%s as learned", wiring) << wiring << false;
            QTest::addRow("%s at a number", wiring) << wiring << true;
        }
        QTest::newRow("features as learned") << "grn-v2" << false;
    }
    /// A frozen shortcut keeps the checkpoint's coefficient, bit for bit, in the retrofit and in the training
    /// after it. A new run has no such value.
    void frozenShortcutsKeepWhatWasLearned()
    {
        QFETCH(QString, wiring);
        QFETCH(bool, number);
        const projects::Shortcut shortcut{1, 3};
        const std::string run = std::string("freeze ") + QTest::currentDataTag();
        projects::Project project = plainProject(Precision::Fp64);
        project.stack().topology = topologyNamed(wiring.toStdString());
        project.training.learningRate = {.peak = 0.02, .warmupSteps = 0};
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        if (wiring == "plain") {
            mix.states = {{{0, 2}, projects::ShortcutState::Learned}, {shortcut, projects::ShortcutState::Learned}};
        }
        QCOMPARE(tests::lossesOf(project, directory(run)).size(), std::size_t{kDone});
        const std::vector<double> learned = coefficientsOf(directory(run));

        mix.states[shortcut] = projects::ShortcutState::frozenAsLearned();
        const projects::DepthPlan plan = projects::planOf(mix, kDepth);
        const std::size_t place = heldTerms(mix, plan).at(0).place;
        const std::size_t each = learned.size() / learnedTerms(mix, plan).size();
        const auto first = static_cast<std::ptrdiff_t>(place * each);
        const std::vector<double> own(learned.begin() + first,
                                      learned.begin() + first + static_cast<std::ptrdiff_t>(each));
        QVERIFY(own.front() != plan.start.at(learnedTerms(mix, plan).at(place)));
        if (number) {
            mix.states[shortcut] = projects::ShortcutState::frozenAt(own.front());
        } else {
            tests::SessionProbe probe;
            StartRun fresh;
            fresh.run = kRun;
            fresh.project = project;
            fresh.runDirectory = directory(run + " anew");
            probe.post(fresh);
            QVERIFY(probe.waitFor<RunEnded>());
            const std::string refusal = probe.all<RunEnded>().front().error.text();
            QVERIFY2(refusal.find("shortcut 1:3") != std::string::npos &&
                         refusal.find("retrofit a run to this wiring") != std::string::npos,
                     refusal.c_str());
        }
        const std::string made = run + " frozen";
        const auto ready = retrofit(run, project.stack().topology, made);
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QCOMPARE(ready->differenceInDouble, 0.0);
        QVERIFY(coefficientsOf(directory(made)) == learned);
        trainOn(directory(made), kDone + 5);
        const std::vector<double> after = coefficientsOf(directory(made));
        QVERIFY(std::equal(own.begin(), own.end(), after.begin() + first));
        QVERIFY(after != learned);
    }

    void inputDependentWeightsAreRefused_data()
    {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("said");
        QTest::newRow("gates of GRN-v3") << "grn-v3"
                                         << "its gates depend on the input";
        QTest::newRow("highway") << "highway"
                                 << "its gates depend on the input";
        QTest::newRow("attention over depth") << "attention-residuals"
                                              << "made from the input, for each token";
        QTest::newRow("MUDD") << "mudd"
                              << "made from the input, for each token";
        QTest::newRow("streams") << "hyper-dynamic"
                                 << "made from the input, for each token";
        QTest::newRow("maps of low rank") << "laurel-lr"
                                          << "mix the features";
    }
    void inputDependentWeightsAreRefused()
    {
        QFETCH(QString, from);
        QFETCH(QString, said);
        const auto ready = retrofit("from-" + from.toStdString(), topologyNamed("grn-v2", kShallow), "refused");
        QVERIFY(!ready.ok());
        QVERIFY2(QString::fromStdString(ready.error().text()).contains(said), ready.error().text().c_str());
    }

    void refusesPlacesAndSteps()
    {
        QVERIFY(!retrofit("plain64", topologyNamed("dca"), "plain32").ok()); // exists
        QVERIFY(fs::exists(directory("plain32") / "run.json"));
        RetrofitRequest request = requestOf("plain64", topologyNamed("dca"), "refused");
        request.steps = kDone;
        QVERIFY(tests::isRefusedAt(ask(request), "", "12"));
        request.steps.reset();
        request.of.step = 3;
        QVERIFY(!ask(request).ok());
        QVERIFY(!fs::exists(directory("refused")));
    }

private:
    [[nodiscard]] fs::path directory(const std::string& name) const
    {
        return fs::path(m_folder.path().toStdString()) / name;
    }

    /// Returns the newest coefficients of a run that trains in double precision.
    static std::vector<double> coefficientsOf(const fs::path& run)
    {
        const auto checkpoint = loadCheckpoint(run, std::nullopt, nullptr);
        const StoredTensor& stored = checkpoint->model.tensors().at("topology.coefficient");
        std::vector<double> values(stored.bytes.size() / sizeof(double));
        std::memcpy(values.data(), stored.bytes.data(), stored.bytes.size());
        return values;
    }

    [[nodiscard]] RetrofitRequest requestOf(const std::string& run, const projects::Topology& topology,
                                            const std::string& newRun) const
    {
        RetrofitRequest request;
        request.tag = QueryTag{7};
        request.of.runDirectory = directory(run);
        request.topology = topology;
        request.newRun = directory(newRun);
        return request;
    }

    static Result<RetrofitReady> ask(const RetrofitRequest& request)
    {
        tests::SessionProbe probe;
        probe.post(request);
        if (!probe.waitUntil([](const Event& event) {
                return std::holds_alternative<RetrofitReady>(event) || std::holds_alternative<QueryFailed>(event);
            })) {
            return Error{"test", "no answer"};
        }
        const auto failed = probe.all<QueryFailed>();
        return failed.empty() ? Result<RetrofitReady>(probe.all<RetrofitReady>().at(0))
                              : Result<RetrofitReady>(failed.front().error);
    }

    [[nodiscard]] Result<RetrofitReady> retrofit(const std::string& run, const projects::Topology& topology,
                                                 const std::string& newRun) const
    {
        return ask(requestOf(run, topology, newRun));
    }

    /// As analyze shows it: the last weights, and the first less than none.
    static void lookAt(const fs::path& run, std::int64_t step)
    {
        const auto first = firstCoefficients(run);
        if (!first) {
            QVERIFY2(first.error().text().find("has recorded no coefficients") != std::string::npos,
                     first.error().text().c_str());
            return;
        }
        const auto last = coefficientsAt(run, std::nullopt);
        QVERIFY(last.ok());
        QCOMPARE(first->size(), last->size());
        for (std::size_t i = 0; i < first->size(); ++i) {
            QCOMPARE((*first)[i].step, step);
            QVERIFY(sameCells((*first)[i], (*last)[i]));
        }
    }

    static void trainOn(const fs::path& run, std::int64_t steps)
    {
        tests::SessionProbe probe;
        ResumeRun command;
        command.run = kRun;
        command.of.runDirectory = run;
        command.steps = steps;
        probe.post(command);
        QVERIFY(probe.waitFor<RunEnded>());
        const RunEnded ended = probe.all<RunEnded>()[0];
        QVERIFY2(ended.status == RunStatus::Finished, ended.error.text().c_str());
        if (const auto first = firstCoefficients(run)) {
            const auto last = coefficientsAt(run, std::nullopt);
            QVERIFY(last.ok());
            QVERIFY(difference(last->front(), first->front()).ok());
        }
    }

    static double lossOf(const fs::path& run)
    {
        tests::SessionProbe probe;
        EvaluateRequest request;
        request.of.runDirectory = run;
        probe.post(request);
        probe.waitFor<EvaluationReady>();
        const auto ready = probe.all<EvaluationReady>();
        return ready.empty() ? std::nan("") : ready.front().means.at("loss");
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestRetrofit)
#include "tst_retrofit.moc"
