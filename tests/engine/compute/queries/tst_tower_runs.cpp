// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that is made of a run, of two towers with shortcuts in both and a loop: each by the tower that is named.
#include "tests/engine/compute/session/run_harness.h"

#include "engine/runs/results/layer_table.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/towers.h"
#include "projects/schedule/kept_parts.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kTowerSteps = 4;
constexpr const char* kLower = "lower";

projects::Topology presetOf(const projects::Project& project, const std::string& topology)
{
    const auto presets = projects::topologyPresets(project.network);
    return {topology, std::ranges::find(presets, topology, &projects::TopologyPreset::name)->wiring};
}

/// An upper stack, which judges the run and reads the states of the lower one, with an objective of its own. The lower
/// one visits two of its three layers twice.
projects::Project twoTowerRun(const std::string& lowerTopology, const std::string& upperTopology = "denseformer")
{
    projects::Project project = tests::quickLanguage(kTowerSteps);
    project.training.precision = projects::Precision::Fp64;
    project.training.observeEvery = 2;
    project.data.validationFraction = 0.25;
    project.network.tieHead = false;
    projects::Project below = project;
    below.stack().width = 8;
    below.stack().segments.front().repeat = 3;
    below.stack().loops = {{.first = 2, .last = 3, .visits = 2}};
    below = *projects::rewired(below, presetOf(below, lowerTopology));
    below.network.name = kLower;
    below.network.lossWeight = 0.5;
    project = *projects::rewired(project, presetOf(project, upperTopology));
    project.towers = {{below.network}};
    project.network.input = "lower.states";
    project.network.stem = projects::GraphBuilder()
                               .node("input", "input")
                               .then("joint", "linear", {{"out", std::string("d")}, {"bias", false}})
                               .then("output", "output")
                               .build();
    return project;
}

template <class Request>
Result<AnswerOf<Request>> ask(const Request& request)
{
    using Ready = AnswerOf<Request>;
    tests::SessionProbe probe;
    probe.post(request);
    if (!probe.waitUntil([](const Event& event) {
            return std::holds_alternative<Ready>(event) || std::holds_alternative<QueryFailed>(event);
        })) {
        return Error{"test", "no answer"};
    }
    const auto failed = probe.all<QueryFailed>();
    return failed.empty() ? Result<Ready>(probe.all<Ready>().at(0)) : Result<Ready>(failed.front().error);
}

/// A request about the run and a tower; new runs and folders are `made`.
template <class Request>
Request about(const fs::path& run, const std::string& tower, const fs::path& made = {})
{
    Request request;
    request.tag = QueryTag{1};
    request.of.runDirectory = run;
    request.tower = tower;
    if constexpr (requires { request.newRun; }) {
        request.newRun = made;
        request.steps = kTowerSteps + 2;
    }
    if constexpr (requires { request.folder; }) {
        request.folder = made;
    }
    return request;
}

std::map<std::string, std::vector<std::byte>> weightsIn(const fs::path& run)
{
    std::map<std::string, std::vector<std::byte>> weights;
    const auto checkpoint = findCheckpoint(run, std::nullopt, nullptr);
    for (const auto& [name, tensor] : checkpoint->model.tensors()) {
        std::vector<std::byte>& bytes = weights[name];
        bytes.resize(tensor.place.bytes);
        (void)checkpoint->model.read(tensor, bytes);
    }
    return weights;
}

bool isOfLower(const std::string& name)
{
    return name.starts_with("lower.");
}

/// Returns the fault of a run made from `run`: other weights of the other tower, or an error of the training. Empty if
/// the run is right.
std::string faultOf(const fs::path& run, const fs::path& made, const std::string& tower)
{
    const auto before = weightsIn(run);
    for (const auto& [name, bytes] : weightsIn(made)) {
        const bool isOther = isOfLower(name) != (tower == kLower);
        if (isOther && (!before.contains(name) || before.at(name) != bytes)) {
            return name + " is of the other tower, and is not kept";
        }
    }
    return tests::resumeToEnd(made);
}

} // namespace

class TestTowerRuns : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        for (const char* const topology : {"ancre-ingoing", "plain"}) {
            QCOMPARE(std::ssize(tests::lossesOf(twoTowerRun(topology), runOf(topology))), kTowerSteps);
        }
    }

    void everyTowerIsMeasured_data() { towers(); }
    /// A tower is measured without each of its layers, and a run is made without one.
    void everyTowerIsMeasured()
    {
        const auto [run, tower, project] = fetched();
        auto request = about<KnockoutRequest>(run, tower);
        request.by = projects::KnockoutBy::Layer;
        const auto measured = ask(request);
        QVERIFY2(measured, measured ? "" : measured.error().text().c_str());
        QCOMPARE(std::ssize(measured->rows), project.network.depth());
        const auto again = ask(request); // the run keeps the result of each tower
        QVERIFY(again && again->notes.size() == measured->notes.size() + 1);
        for (std::size_t i = 0; i < measured->rows.size(); ++i) {
            QCOMPARE(again->rows[i].rise, measured->rows[i].rise);
        }
        const fs::path to = made();
        auto fork = about<RetrofitRequest>(run, tower, to);
        fork.prune = "layer 1";
        const auto pruned = ask(fork);
        QVERIFY2(pruned, pruned ? "" : pruned.error().text().c_str());
        QVERIFY(std::abs(pruned->lossBefore - measured->loss) < 1e-12);
        QVERIFY(pruned->lossAfter != pruned->lossBefore);
        QCOMPARE(faultOf(run, to, tower), std::string());
        const auto stability = ask(about<StabilityRequest>(run, tower));
        QVERIFY(stability);
        QCOMPARE(stability->matrices.front().columns, project.network.depth());
        request.by = projects::KnockoutBy::Term;
        const auto terms = ask(request);
        QVERIFY(terms && !std::isnan(terms->rows.front().weight));
        std::vector<LayerRow> layers = layersOf(project);
        readLayers(layers, run, std::nullopt, tower);
        std::vector<LayerRow> others = layersOf(project); // with as many layers, their own norms
        readLayers(others, run, std::nullopt, tower.empty() ? kLower : "");
        for (std::size_t i = 0; i < layers.size(); ++i) {
            QVERIFY(layers[i].output > 0 && layers[i].gradient > 0);
            QVERIFY(layers[i].output != others[i].output && layers[i].gradient != others[i].gradient);
        }
    }

    /// The losses before and after are those of the running mean of the weights, which evaluations use.
    void lossesAreOfTheEvaluatedWeights()
    {
        projects::Project project = twoTowerRun("ancre-ingoing");
        project.training.weightAverage = 0.9;
        project.training.evaluatedWeights = projects::EvaluatedWeights::Averaged;
        const fs::path run = made();
        QCOMPARE(std::ssize(tests::lossesOf(project, run)), kTowerSteps);
        const auto lossOf = [](const fs::path& of) {
            auto request = about<KnockoutRequest>(of, "");
            request.by = projects::KnockoutBy::Layer;
            const auto measured = ask(request);
            return measured ? measured->loss : std::nan("");
        };
        const fs::path fork = made();
        auto pruning = about<RetrofitRequest>(run, kLower, fork);
        pruning.prune = "layer 1";
        const auto pruned = ask(pruning);
        QVERIFY2(pruned, pruned ? "" : pruned.error().text().c_str());
        QVERIFY(std::abs(pruned->lossBefore - lossOf(run)) < 1e-12);
        QVERIFY(std::abs(pruned->lossAfter - lossOf(fork)) < 1e-12);
        const fs::path factors = made();
        auto factoring = about<FactoriseRequest>(run, kLower, factors);
        factoring.rank = projects::RankScale{1};
        const auto factored = ask(factoring);
        QVERIFY2(factored, factored ? "" : factored.error().text().c_str());
        QVERIFY(std::abs(factored->lossBefore - lossOf(run)) < 1e-12);
        QVERIFY(std::abs(factored->lossAfter - factored->lossBefore) < 1e-10);
        QVERIFY(std::abs(factored->lossAfter - lossOf(factors)) < 1e-10);
        QCOMPARE(faultOf(run, fork, kLower), std::string());
        QCOMPARE(faultOf(run, factors, kLower), std::string());
    }

    void layersOfASumLeaveAsTheyArePruned_data()
    {
        QTest::addColumn<QString>("lower");
        QTest::addColumn<QString>("tower");
        QTest::addRow("first") << "ancre-ingoing"
                               << "";
        QTest::addRow("lower") << "plain" << kLower;
    }
    /// The rise of the loss without a layer of a plain sum is that of the run that is made without it. A mix differs,
    /// because a knock-out keeps the layer's place in it.
    void layersOfASumLeaveAsTheyArePruned()
    {
        QFETCH(const QString, lower);
        QFETCH(const QString, tower);
        projects::Project project = twoTowerRun(lower.toStdString(), "plain");
        project.towers[0].network.stack().loops.clear();
        const fs::path run = made();
        QCOMPARE(std::ssize(tests::lossesOf(project, run)), kTowerSteps);
        auto request = about<KnockoutRequest>(run, tower.toStdString());
        request.by = projects::KnockoutBy::Layer;
        const auto measured = ask(request);
        QVERIFY2(measured, measured ? "" : measured.error().text().c_str());
        auto fork = about<RetrofitRequest>(run, tower.toStdString(), made());
        fork.prune = "layer 1";
        const auto pruned = ask(fork);
        QVERIFY2(pruned, pruned ? "" : pruned.error().text().c_str());
        QVERIFY(std::abs(measured->rows[0].rise) > 1e-9);
        QVERIFY(std::abs(pruned->lossAfter - pruned->lossBefore - measured->rows[0].rise) < 1e-12);
        // The first tower's own name means the same as none.
        request.tower = tower.isEmpty() ? project.network.name : tower.toStdString();
        const auto kept = ask(request);
        QVERIFY(kept && kept->notes.size() == measured->notes.size() + 1);
        request.by = projects::KnockoutBy::Term;
        const auto terms = ask(request);
        QVERIFY(terms && !std::isnan(terms->rows.front().weight));
    }

    void everyTowerIsContinued_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("tower");
        QTest::addColumn<QString>("how");
        for (const char* const tower : {"", kLower}) {
            for (const char* const how : {"measured", "factors", "untie"}) {
                if (how != std::string("untie") || tower == std::string(kLower)) {
                    QTest::addRow("%s %s", how, tower) << "ancre-ingoing" << tower << how;
                }
            }
        }
        QTest::addRow("exact lower") << "plain" << kLower << "exact";
        QTest::addRow("tie") << "ancre-ingoing"
                             << ""
                             << "1:2,2";
    }
    /// A retrofit, factors, untied and tied layers change the named tower alone, and train on.
    void everyTowerIsContinued()
    {
        const auto [run, tower, project] = fetched();
        QFETCH(const QString, how);
        const fs::path to = made();
        if (how == "factors") {
            auto request = about<FactoriseRequest>(run, tower, to);
            request.rank = projects::FixedRank{2};
            const auto ready = ask(request);
            QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
            for (const auto& weight : ready->weights) {
                QCOMPARE(isOfLower(weight.name), tower == kLower);
            }
            QVERIFY(ready->parametersAfter < ready->parametersBefore);
        } else {
            auto request = about<RetrofitRequest>(run, tower, to);
            request.measured = how == "measured";
            const bool ties = how == "untie" || how.contains(":");
            request.measured = request.measured || how.contains(":");
            if (ties) {
                request.ties = how.toStdString();
            } else {
                request.topology = presetOf(project, how == "exact" ? "ancre-cascaded" : "grn-v1");
            }
            const auto ready = ask(request);
            QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
            QVERIFY(how != "untie" || std::abs(ready->lossAfter - ready->lossBefore) < 1e-12);
            QVERIFY(how != "exact" || ready->differenceInDouble < 1e-10);
            QVERIFY(std::ranges::all_of(ready->added,
                                        [&](const auto& name) { return isOfLower(name) == (tower == kLower); }));
        }
        QCOMPARE(faultOf(run, to, tower), std::string());
        const auto after = RunReader::open(to)->project();
        const std::size_t other = tower == kLower ? 0 : 1;
        QVERIFY(projects::towerAt(*after, other) == projects::towerAt(twoTowerRun("ancre-ingoing"), other) ||
                how == "exact");
    }

    /// An evaluation is of the tower that judges, and continues a text with it.
    void runsAreEvaluatedAndSampled()
    {
        auto knockout = about<KnockoutRequest>(runOf("ancre-ingoing"), "");
        knockout.by = projects::KnockoutBy::Layer;
        const auto measured = ask(knockout);
        QVERIFY2(measured, measured ? "" : measured.error().text().c_str());
        EvaluateRequest evaluate;
        evaluate.tag = QueryTag{1};
        evaluate.of.runDirectory = runOf("ancre-ingoing");
        evaluate.batches = measured->batches;
        const auto loss = ask(evaluate);
        QVERIFY2(loss, loss ? "" : loss.error().text().c_str());
        QVERIFY(std::abs(loss->means.at("loss") - measured->loss) < 1e-12);
        SampleRequest sample;
        sample.tag = QueryTag{1};
        sample.of.runDirectory = evaluate.of.runDirectory;
        sample.prompt = "w2 w13";
        sample.tokens = 3;
        const auto text = ask(sample);
        QVERIFY2(text, text ? "" : text.error().text().c_str());
    }

    /// The streams of the named tower are altered; a tower without streams is refused.
    void streamsOfATowerAreAltered()
    {
        const fs::path run = made();
        QCOMPARE(std::ssize(tests::lossesOf(twoTowerRun("hyper-static"), run)), kTowerSteps);
        auto request = about<InterventionRequest>(run, kLower);
        request.streams = "1";
        request.after = "2";
        const auto measured = ask(request);
        QVERIFY2(measured, measured ? "" : measured.error().text().c_str());
        QVERIFY(!measured->rows.empty());
        QVERIFY(std::ranges::any_of(measured->rows, [](const InterventionRow& row) { return row.rise != 0; }));
        request.tower.clear();
        const auto refused = ask(request);
        QVERIFY(!refused && refused.error().text().find("streams") != std::string::npos);
    }

    /// Weights that a tower had alone are loaded into it, and the run trains on.
    void weightsOfATowerAreLoaded()
    {
        const projects::Project project = twoTowerRun("ancre-ingoing");
        const auto single = projects::aloneOf(project, 1);
        QVERIFY2(single, single ? "" : single.error().text().c_str());
        const fs::path alone = made();
        QCOMPARE(std::ssize(tests::lossesOf(*single, alone)), kTowerSteps);
        LoadWeightsRequest request;
        request.tag = QueryTag{1};
        for (const auto& entry : fs::recursive_directory_iterator(alone)) {
            request.file = entry.path().filename() == kModelTensors ? entry.path() : request.file;
        }
        request.tower = kLower;
        request.project = project;
        request.projectDirectory = fs::path(m_folder.path().toStdString());
        request.runDirectory = made();
        const auto loaded = ask(request);
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        const auto weights = weightsIn(loaded->runDirectory);
        for (const auto& [name, bytes] : weightsIn(alone)) {
            QVERIFY2(weights.at("lower." + name) == bytes, name.c_str());
        }
        QCOMPARE(tests::resumeToEnd(loaded->runDirectory), std::string());
    }

    /// Code has every tower, also a part of them; a model of transformers is one that reads no other.
    void towersAreExported()
    {
        const fs::path run = runOf("ancre-ingoing");
        fs::path to = made();
        auto request = about<ExportRequest>(run, "", to);
        request.format = ExportFormat::HuggingFace;
        const auto refused = ask(request);
        QVERIFY(!refused && refused.error().text().find("--tower NAME") != std::string::npos);
        request.tower = "network";
        const auto reads = ask(request);
        QVERIFY(!reads && reads.error().text().find("lower.states") != std::string::npos);
        request.tower = "none";
        QVERIFY(ask(request).error().text().find("network or lower") != std::string::npos);
        request.tower = kLower;
        const auto model = ask(request);
        QVERIFY2(model, model ? "" : model.error().text().c_str());
        QVERIFY(fs::exists(to / "model.safetensors"));
        to = made();
        request = about<ExportRequest>(run, "", to);
        const auto code = ask(request);
        QVERIFY2(code, code ? "" : code.error().text().c_str());
        QVERIFY(fs::exists(to / "tower_lower.py") && fs::exists(to / "tower_network.py"));
        QCOMPARE(code->leftOut, std::int64_t{0});
        to = made();
        request = about<ExportRequest>(run, kLower, to);
        const auto alone = ask(request);
        QVERIFY2(alone, alone ? "" : alone.error().text().c_str());
        QVERIFY(alone->parameters < code->parameters && !fs::exists(to / "tower_lower.py"));
    }

    /// A tower beside the first one grows, tells what is new, and goes on from a checkpoint as if it was never stopped.
    void towersGrow()
    {
        projects::Project project = twoTowerRun("plain");
        project.towers[0].network.stack().loops.clear();
        project.towers[0].network.stack().schedule = *projects::scheduleFrom("stacking 2-3", 3, kTowerSteps);
        const fs::path whole = made();
        const auto losses = tests::lossesOf(project, whole);
        QCOMPARE(std::ssize(losses), kTowerSteps);
        const auto events = RunReader::open(whole)->events();
        QVERIFY(std::ranges::any_of(
            events, [](const RunEvent& event) { return event.text.find("tower lower: ") != std::string::npos; }));
        const fs::path parted = made();
        QVERIFY(tests::trainTo(project, parted, kTowerSteps - 1));
        QCOMPARE(tests::resumeToEnd(parted), std::string());
        QVERIFY(weightsIn(parted) == weightsIn(whole));
        projects::Project all = project;
        all.towers[0].network.stack().schedule = {};
        QVERIFY(tests::lossesOf(all, made()).at(1) != losses.at(1)); // fewer layers at first
    }

    /// A tower that nothing measures is refused with the reason and the way on.
    void refusesATowerThatNothingMeasures()
    {
        projects::Project project = twoTowerRun("plain");
        project.network = tests::quickLanguage(kTowerSteps).network;
        project.towers[0].network.ownLoss = projects::OwnLoss::None;
        project.towers[0].network.frozen = true;
        projects::Loss loss;
        loss.name = "soft";
        loss.target = "lower.output";
        project.losses = {loss};
        const fs::path run = made();
        QVERIFY(tests::trainTo(project, run, 1));
        const auto refused = ask(about<KnockoutRequest>(run, kLower));
        QVERIFY(!refused && refused.error().text().find("own_loss measured") != std::string::npos);
    }

private:
    struct Row {
        fs::path run;
        std::string tower;
        projects::Project project; ///< the view of the tower
    };

    static void towers()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("tower");
        QTest::addRow("first") << "ancre-ingoing"
                               << "";
        QTest::addRow("lower") << "ancre-ingoing" << kLower;
    }

    Row fetched()
    {
        QFETCH(const QString, topology);
        QFETCH(const QString, tower);
        const projects::Project project = twoTowerRun(topology.toStdString());
        const std::string name = tower.toStdString();
        return {runOf(topology.toStdString()), name, projects::viewOf(project, *projects::chosenTower(project, name))};
    }

    [[nodiscard]] fs::path runOf(const std::string& name) const
    {
        return fs::path(m_folder.path().toStdString()) / name;
    }
    /// Returns a path that nothing is at yet.
    [[nodiscard]] fs::path made()
    {
        return fs::path(m_folder.path().toStdString()) / ("made " + std::to_string(++m_made));
    }

    QTemporaryDir m_folder;
    int m_made = 0;
};

RESIDUA_TEST_IN(QCoreApplication, TestTowerRuns)
#include "tst_tower_runs.moc"
