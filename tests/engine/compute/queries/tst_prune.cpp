// SPDX-License-Identifier: GPL-3.0-or-later
// Going on without shortcuts and layers: the loss is that of the knock-out, and weights and moments of the rest stay.
#include "tests/engine/compute/session/run_harness.h"

#include "engine/runs/results/run_reader.h"
#include "engine/runs/store/checkpoint.h"
#include "projects/depth/depth_names.h"
#include "projects/depth/depth_plan.h"
#include "projects/library/presets.h"
#include "projects/nodes/alteration.h"
#include "projects/shipped/examples.h"
#include "projects/transfer/prune.h"
#include "projects/transfer/retrofit.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kPrunedRunDepth = 3;
constexpr std::int64_t kPrunedRunSteps = 3;

/// The rows of a table: one for each wiring under each of these.
enum class TrainedUnder { Double, Recomputation, Bf16, Bf16Residual };

projects::Project wiredBy(const projects::Project& project, const std::string& topology)
{
    const auto presets = projects::topologyPresets(project.network);
    const auto preset = std::ranges::find(presets, topology, &projects::TopologyPreset::name);
    const auto wired = projects::rewired(project, {topology, preset->wiring});
    return wired ? *wired : project;
}

projects::Project prunedRunProject(const std::string& topology)
{
    projects::Project project = tests::quickLanguage(kPrunedRunSteps);
    // DenseFormer, 4×5 has its first mix after layer 5.
    project.stack().segments.front().repeat = topology == "denseformer-dilated" ? 6 : kPrunedRunDepth;
    project.stack().width = 8;
    project.training.precision = projects::Precision::Fp64;
    project.training.learningRate = {.peak = 0.02, .warmupSteps = 0};
    return wiredBy(project, topology);
}

/// An example of another family than the decoders, made small.
projects::Project familyProject(const std::string& example, const std::string& topology)
{
    constexpr std::int64_t kSide = 16;
    projects::Project project = projects::findExample(example)->project;
    project.stack().segments = {{project.stack().segments.front().block, kPrunedRunDepth}};
    project.stack().schedule = {};
    if (auto* const pictures = std::get_if<projects::DrawnPictures>(&project.data.source)) {
        *pictures = {.size = kSide, .samples = 64};
        project.network.stem = projects::patchStem(3, kSide, kSide);
    } else if (auto* const language = std::get_if<projects::SyntheticLanguage>(&project.data.source)) {
        language->tokens = 4000;
        project.training.sequenceLength = 16;
    }
    project.data.validationFraction = 0.25;
    project.training.steps = kPrunedRunSteps;
    project.training.batching = projects::BatchKind::Random;
    project.training.batch = 4;
    project.training.precision = projects::Precision::Fp64;
    project.training.learningRate = {.peak = 0.002, .warmupSteps = 0};
    project.training.validateEvery = 0;
    project.training.validationBatches = 2;
    project.training.checkpointEvery = 0;
    return wiredBy(project, topology);
}

/// Returns the shortcuts of the wiring that can be left out one at a time.
std::vector<projects::Shortcut> removable(const projects::Project& project)
{
    std::vector<projects::Shortcut> found;
    const auto all = projects::pruningFrom("*:*", project);
    for (const projects::Shortcut& shortcut : all ? all->shortcuts : std::vector<projects::Shortcut>()) {
        if (projects::pruned(project, {{shortcut}, {}})) {
            found.push_back(shortcut);
        }
    }
    return found;
}

template <class Request>
Result<AnswerOf<Request>> answerTo(const Request& request)
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

/// Returns every optimiser, with settings under which it keeps states of small weights in shapes of its own.
std::vector<projects::Optimiser> optimisersOfRuns()
{
    return {projects::AdamW{},
            projects::Sgd{.momentum = 0.9},
            projects::Adafactor{.factoredFrom = 2},
            projects::Galore{.rank = 2},
            projects::Muon{},
            projects::Lion{}};
}

std::vector<double> numbersOf(const StoredTensor& tensor)
{
    std::vector<double> numbers(tensor.bytes.size() / sizeof(double));
    std::memcpy(numbers.data(), tensor.bytes.data(), numbers.size() * sizeof(double));
    return numbers;
}

} // namespace

Q_DECLARE_METATYPE(TrainedUnder)

class TestPrunedRuns : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QVERIFY(m_folder.isValid()); }

    void theLossIsThatOfTheKnockOut_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<TrainedUnder>("under");
        QTest::addColumn<QString>("example"); ///< empty for a decoder
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kPrunedRunDepth)) {
            const QString name = QString::fromStdString(preset.name);
            if (!removable(prunedRunProject(preset.name)).empty()) {
                QTest::newRow(qPrintable(name)) << name << TrainedUnder::Double << "";
                QTest::newRow(qPrintable(name + ", recomputed")) << name << TrainedUnder::Recomputation << "";
                QTest::newRow(qPrintable(name + ", bf16")) << name << TrainedUnder::Bf16 << "";
                if (!traitsOf(std::get<projects::DepthMix>(preset.wiring).weight).attends) {
                    QTest::newRow(qPrintable(name + ", bf16 residual")) << name << TrainedUnder::Bf16Residual << "";
                }
            }
        }
        for (const char* const example : {"small-vit", "small-bert", "boolean-polynomial"}) {
            for (const char* const topology : {"plain", "ancre-ingoing"}) {
                QTest::newRow((std::string(topology) + ", " + example).c_str())
                    << topology << TrainedUnder::Double << example;
            }
        }
    }
    /// Under bf16 too: a weight of 0 adds nothing to a sum, so both networks round the same numbers. The exception is a
    /// running sum under bf16: it adds attention and FFN one after the other, and its mix of ones their sum.
    void theLossIsThatOfTheKnockOut()
    {
        QFETCH(QString, topology);
        QFETCH(TrainedUnder, under);
        QFETCH(QString, example);
        const bool isBf16 = under == TrainedUnder::Bf16 || under == TrainedUnder::Bf16Residual;
        const double allowed = isBf16 && topology == "plain" ? 1.0 / 256 : 1e-6;
        const std::string name = QTest::currentDataTag();
        projects::Project project = example.isEmpty() ? prunedRunProject(topology.toStdString())
                                                      : familyProject(example.toStdString(), topology.toStdString());
        if (isBf16) {
            project.training.precision = projects::Precision::Bf16;
            project.training.residualPrecision = under == TrainedUnder::Bf16Residual
                                                     ? projects::ResidualPrecision::Bf16
                                                     : projects::ResidualPrecision::Fp32;
        } else if (under == TrainedUnder::Recomputation) {
            project.training.activations = projects::Activations::Recompute;
        }
        QCOMPARE(tests::lossesOf(project, directory(name)).size(), std::size_t{kPrunedRunSteps});
        const auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        KnockoutRequest knockout;
        knockout.of.runDirectory = directory(name);
        knockout.renormalise = mix.normalise != projects::NormaliseOver::None || traitsOf(mix.weight).attends;
        const auto effects = answerTo(knockout);
        QVERIFY2(effects.ok(), effects ? "" : effects.error().text().c_str());
        const std::vector<projects::Shortcut> shortcuts = removable(project);
        for (const projects::Shortcut& shortcut : {shortcuts.front(), shortcuts.back()}) {
            const std::string part = projects::nameOf(shortcut);
            const auto made = prune(name, part, name + "-without");
            QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
            QVERIFY2(made->added.empty(), made->added.empty() ? "" : made->added.front().c_str());
            QCOMPARE(made->batches, effects->batches);
            const auto row = std::ranges::find(effects->rows, part, &KnockoutRow::name);
            QVERIFY2(row != effects->rows.end(), part.c_str());
            const double off = made->lossAfter - made->lossBefore - row->rise;
            QVERIFY2(std::abs(off) < allowed, qPrintable(QString("%1: %2").arg(part.c_str()).arg(off)));
            QVERIFY(std::abs(made->lossBefore - effects->loss) < allowed);
            fs::remove_all(directory(name + "-without"));
        }
    }

    /// These are refused by name, and all other wirings have rows in the table above.
    void wiringsWithoutShortcutsAreRefused()
    {
        const std::vector<std::string> expected{"none",      "hyper-static", "hyper-dynamic", "mhc",
                                                "ihc",       "mhc-lite",     "frac-static",   "frac-dynamic",
                                                "highway",   "densenet",     "rezero",        "laurel-rw",
                                                "laurel-lr", "laurel-pa",    "laurel-rw-lr",  "laurel-rw-lr-pa",
                                                "post-norm", "deep-norm",    "deep-loop",     "value-residual"};
        std::vector<std::string> without;
        for (const projects::TopologyPreset& preset : projects::topologyPresets(kPrunedRunDepth)) {
            const projects::Project project = prunedRunProject(preset.name);
            if (!removable(project).empty()) {
                continue;
            }
            without.push_back(preset.name);
            const auto wiring = projects::withTerms(project.stack().topology.wiring, kPrunedRunDepth);
            QVERIFY(wiring.ok());
            projects::Project opened = project;
            opened.stack().topology.wiring = *wiring;
            const auto subjects = projects::knockoutSubjects(opened, projects::KnockoutBy::Term, false);
            QVERIFY2(!subjects.ok(), preset.name.c_str());
            const std::string text = subjects.error().text();
            QVERIFY2(text.find("the wiring " + preset.name + " has no") != std::string::npos &&
                         text.find("expected ") != std::string::npos,
                     text.c_str());
        }
        QCOMPARE(without, expected);
    }

    void momentsAreCarriedByRow_data()
    {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("parameter");
        QTest::addColumn<std::size_t>("optimiser"); // of optimisersOfRuns()
        QTest::newRow("scalars") << "ancre-ingoing"
                                 << "topology.coefficient" << std::size_t{0};
        QTest::newRow("networks per token") << "mudd"
                                            << "topology.3.mix" << std::size_t{0};
        for (std::size_t i = 0; i < optimisersOfRuns().size(); ++i) {
            const std::string name = "vectors, optimiser " + std::to_string(i);
            QTest::newRow(name.c_str()) << "dca"
                                        << "topology.coefficient" << i;
        }
    }
    /// The weight and each state of the optimiser are, of each term that stays, those of the run, byte for byte. States
    /// of the layers' weights, which may have other shapes, stay whole.
    void momentsAreCarriedByRow()
    {
        QFETCH(QString, topology);
        QFETCH(QString, parameter);
        QFETCH(std::size_t, optimiser);
        const std::string name = topology.toStdString() + "-moments-" + std::to_string(optimiser);
        const std::string tensor = parameter.toStdString();
        projects::Project project = prunedRunProject(topology.toStdString());
        project.training.optimiser = optimisersOfRuns()[optimiser];
        QCOMPARE(tests::lossesOf(project, directory(name)).size(), std::size_t{kPrunedRunSteps});
        const auto made = prune(name, "1:3", name + "-without");
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        const auto before = loadCheckpoint(directory(name), std::nullopt, nullptr);
        const auto after = loadCheckpoint(directory(name + "-without"), std::nullopt, nullptr);
        QVERIFY(before.ok() && after.ok());
        QVERIFY(std::ranges::find(made->kept, tensor) != made->kept.end());
        const auto plan =
            projects::planOf(std::get<projects::DepthMix>(project.stack().topology.wiring), kPrunedRunDepth);
        const auto withoutTheTerm = [&](const StoredTensor& had) {
            std::vector<double> expected;
            const std::vector<double> all = numbersOf(had);
            const std::size_t each = all.size() / static_cast<std::size_t>(had.shape.front());
            std::size_t row = 0;
            for (const projects::DepthTerm& term : plan.terms) {
                const std::int64_t target = plan.readers[term.reader].target;
                if (topology == "mudd" && target != 3) {
                    continue;
                }
                const auto from = all.begin() + static_cast<std::ptrdiff_t>(row++ * each);
                if (term.source != 1 || target != 3) {
                    expected.insert(expected.end(), from, from + static_cast<std::ptrdiff_t>(each));
                }
            }
            return expected;
        };
        const StoredTensor& weight = before->model.tensors().at(tensor);
        QCOMPARE(numbersOf(after->model.tensors().at(tensor)), withoutTheTerm(weight));
        std::size_t byRow = 0;
        for (const auto& [state, had] : before->optimiser.tensors()) {
            const auto found = after->optimiser.tensors().find(state);
            QVERIFY2(found != after->optimiser.tensors().end(), state.c_str());
            if (state.starts_with(tensor + ".") && had.shape == weight.shape) {
                QCOMPARE(numbersOf(found->second), withoutTheTerm(had));
                ++byRow;
            } else if (!state.starts_with("topology.")) {
                QVERIFY2(std::ranges::equal(found->second.bytes, had.bytes), state.c_str());
            }
        }
        QVERIFY(byRow > 0);
    }

    void layersLeaveWithTheirWeights()
    {
        QCOMPARE(tests::lossesOf(prunedRunProject("dca"), directory("layers")).size(), std::size_t{kPrunedRunSteps});
        const auto made = prune("layers", "layer 2", "short");
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QVERIFY(made->added.empty());
        const auto before = loadCheckpoint(directory("layers"), std::nullopt, nullptr);
        const auto after = loadCheckpoint(directory("short"), std::nullopt, nullptr);
        QVERIFY(before.ok() && after.ok());
        std::size_t compared = 0;
        for (const auto& [name, tensor] : after->model.tensors()) {
            std::string old = name;
            if (name.starts_with("layers.2.")) {
                old[7] = '3';
                ++compared;
            } else if (name.starts_with("topology.")) {
                continue;
            }
            QCOMPARE(numbersOf(tensor), numbersOf(before->model.tensors().at(old)));
        }
        QVERIFY(compared > 0);
        const auto reader = RunReader::open(directory("short"));
        QCOMPARE(reader->project()->network.depth(), kPrunedRunDepth - 1);
        QCOMPARE(tests::resumeToEnd(directory("short")), std::string());
    }

    void theEventSaysWhatWasPruned()
    {
        QCOMPARE(tests::lossesOf(prunedRunProject("dca"), directory("told")).size(), std::size_t{kPrunedRunSteps});
        QVERIFY(prune("told", "1:3", "told-less").ok());
        const auto reader = RunReader::open(directory("told-less"));
        QVERIFY(reader.ok());
        const auto events = reader->events();
        QVERIFY(std::ranges::any_of(events, [](const RunEvent& event) {
            return event.kind == RunEventKind::Forked && event.text.find("without 1:3; loss ") != std::string::npos;
        }));
    }

    void aRetrofitOffersTheMeasuredWay()
    {
        const projects::Project project = prunedRunProject("dca");
        QCOMPARE(tests::lossesOf(project, directory("offer")).size(), std::size_t{kPrunedRunSteps});
        const auto less = projects::pruned(project, {{{1, 3}}, {}});
        QVERIFY(less.ok());
        RetrofitRequest request;
        request.tag = QueryTag{7};
        request.of.runDirectory = directory("offer");
        request.topology = less->project.stack().topology;
        request.newRun = directory("offered");
        const auto refused = answerTo(request);
        QVERIFY(!refused.ok());
        const QString said = QString::fromStdString(refused.error().text());
        QVERIFY2(said.endsWith("; --measured goes on anyway"), qPrintable(said));
        QVERIFY2(!said.contains(QRegularExpression("\\d\\.\\d{6}")), qPrintable(said));
        QVERIFY(!fs::exists(directory("offered")));
        request.measured = true;
        const auto made = answerTo(request);
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QVERIFY(made->batches > 0 && made->lossAfter != made->lossBefore && made->added.empty());
    }

    /// No gate acts on a frozen shortcut, so freezing a gated one changes the function: refused with the way on, and
    /// measured the checkpoint's coefficient is held.
    void aFrozenGatedShortcutIsMeasured()
    {
        projects::Project project = prunedRunProject("grn-v3");
        QCOMPARE(tests::lossesOf(project, directory("gated")).size(), std::size_t{kPrunedRunSteps});
        auto& mix = std::get<projects::DepthMix>(project.stack().topology.wiring);
        mix.states[{1, 3}] = projects::ShortcutState::frozenAsLearned();
        RetrofitRequest request;
        request.tag = QueryTag{7};
        request.of.runDirectory = directory("gated");
        request.topology = project.stack().topology;
        request.newRun = directory("held");
        const auto refused = answerTo(request);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().text().ends_with(kGoOnMeasured), refused.error().text().c_str());
        request.measured = true;
        request.steps = kPrunedRunSteps + 2;
        const auto made = answerTo(request);
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QVERIFY(made->lossAfter != made->lossBefore);
        const std::vector<double> learned = coefficientsOf("gated");
        QVERIFY(coefficientsOf("held") == learned);
        QCOMPARE(tests::resumeToEnd(directory("held")), std::string());
        const std::vector<double> after = coefficientsOf("held");
        const auto plan = projects::planOf(mix, kPrunedRunDepth);
        const std::size_t each = learned.size() / learnedTerms(mix, plan).size();
        const auto first = static_cast<std::ptrdiff_t>(heldTerms(mix, plan).at(0).place * each);
        QVERIFY(std::equal(learned.begin() + first, learned.begin() + first + static_cast<std::ptrdiff_t>(each),
                           after.begin() + first));
        QVERIFY(after != learned);
    }

    /// The loss after is the validation of the step that the new run goes on from, in place of its parent's.
    void theLossAfterIsRecorded()
    {
        QCOMPARE(tests::lossesOf(prunedRunProject("dca"), directory("whole")).size(), std::size_t{kPrunedRunSteps});
        const auto made = prune("whole", "1:3", "less");
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        const auto reader = RunReader::open(directory("less"));
        QVERIFY(reader.ok() && reader->info().ok());
        const std::vector<MetricPoint> points = reader->metric(metric::kValidationLoss);
        QVERIFY(!points.empty());
        QCOMPARE(points.back().step, kPrunedRunSteps);
        QCOMPARE(points.back().value, made->lossAfter);
        QCOMPARE(reader->info()->validationLoss(), made->lossAfter);
    }

    void partsThatAreNotThereAreRefused()
    {
        QCOMPARE(tests::lossesOf(prunedRunProject("dca"), directory("bad")).size(), std::size_t{kPrunedRunSteps});
        for (const char* const parts : {"7:9", "*:*", "layer 9", "words"}) {
            const auto refused = prune("bad", parts, "never");
            QVERIFY(!refused.ok());
            QCOMPARE(refused.error().place, std::string("prune"));
            QVERIFY(!fs::exists(directory("never")));
        }
        fs::rename(directory("bad") / "checkpoints", directory("elsewhere"));
        const auto away = prune("bad", "1:3", "never");
        QVERIFY(!away.ok() && away.error().text().find("checkpoint") != std::string::npos);
        QVERIFY(!fs::exists(directory("never")));
    }

private:
    [[nodiscard]] std::vector<double> coefficientsOf(const std::string& run) const
    {
        const auto checkpoint = loadCheckpoint(directory(run), std::nullopt, nullptr);
        return numbersOf(checkpoint->model.tensors().at("topology.coefficient"));
    }
    [[nodiscard]] fs::path directory(const std::string& name) const
    {
        return fs::path(m_folder.path().toStdString()) / name;
    }
    [[nodiscard]] Result<RetrofitReady> prune(const std::string& run, const std::string& parts,
                                              const std::string& newRun) const
    {
        RetrofitRequest request;
        request.tag = QueryTag{7};
        request.of.runDirectory = directory(run);
        request.prune = parts;
        request.newRun = directory(newRun);
        return answerTo(request);
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestPrunedRuns)
#include "tst_prune.moc"
