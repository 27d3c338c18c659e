// SPDX-License-Identifier: GPL-3.0-or-later
// A run as a stranger left it: whatever is done with it ends, and nothing outside of it changes.
#include "fuzz.h"
#include "mutate_run.h"

#include "tests/engine/compute/session/run_harness.h"

#include "engine/runs/results/coefficients.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/model/topology.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

constexpr int kFewRounds = 12;
constexpr std::int64_t kSteps = 6;

/// Every file below a folder with what is in it; a link with where it leads.
std::map<std::string, std::string> snapshotOf(const fs::path& folder)
{
    std::map<std::string, std::string> snapshot;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        std::ifstream file(entry.path(), std::ios::binary);
        snapshot[entry.path().string()] =
            entry.is_regular_file() ? std::string(std::istreambuf_iterator<char>(file), {}) : std::string();
    }
    return snapshot;
}

projects::Topology topologyNamed(const std::string& name)
{
    const auto presets = projects::topologyPresets(2);
    return {name, std::ranges::find(presets, name, &projects::TopologyPreset::name)->wiring};
}

} // namespace

class TestFuzzRun : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_root = m_temporary.path().toStdString();
        fs::create_directories(m_root / "outside" / "step-00000006");
        for (const char* name : {"precious.txt", "step-00000006/state.json", "model.safetensors"}) {
            std::ofstream(m_root / "outside" / name) << "theirs";
        }
        projects::Project project = tests::quickLanguage(kSteps);
        project.stack().topology = topologyNamed("plain"); // so that it can be retrofitted
        project.training.checkpointEvery = 2;
        project.training.validateEvery = 3;
        QCOMPARE(tests::lossesOf(project, m_root / "whole").size(), std::size_t{kSteps});
    }

    void damagedRunsAreUsedWithoutHarm()
    {
        const std::map<std::string, std::string> outside = snapshotOf(m_root / "outside");
        const std::uint64_t first = fuzz::seed();
        const int rounds = fuzz::rounds(kFewRounds);
        for (int round = 0; round < rounds; ++round) {
            const std::uint64_t seed = first + static_cast<std::uint64_t>(round);
            fuzz::watchRound(seed);
            const fs::path folder = m_root / ("round-" + std::to_string(round));
            const fs::path run = folder / "run";
            fs::create_directories(folder);
            fs::copy(m_root / "whole", run, fs::copy_options::recursive);
            const std::string done = fuzz::RunMutator(seed, m_root / "outside").mutate(run);
            QVERIFY2(use(run), qPrintable(QStringLiteral("seed %1: %2").arg(seed).arg(QString::fromStdString(done))));
            QVERIFY2(
                snapshotOf(m_root / "outside") == outside,
                qPrintable(
                    QStringLiteral("seed %1 changed what is outside: %2").arg(seed).arg(QString::fromStdString(done))));
            fs::remove_all(folder);
        }
    }

private:
    /// Does everything with the run; false where a question is not answered. Whatever else it says is right.
    bool use(const fs::path& run)
    {
        read(run);
        static_cast<void>(annotateRun(run, {"tag"}, "note"));
        tests::SessionProbe probe;
        const bool answered = ask(probe, run) && retrofit(probe, run) && resume(probe, run);
        read(run);
        if (const auto trashed = trashRun(run)) {
            static_cast<void>(restoreRun(*trashed));
        }
        return answered;
    }

    static void read(const fs::path& run)
    {
        static_cast<void>(listRuns(run.parent_path()));
        static_cast<void>(coefficientsAt(run, std::nullopt, std::nullopt));
        const auto reader = RunReader::open(run);
        if (!reader) {
            return;
        }
        static_cast<void>(reader->info());
        static_cast<void>(reader->project());
        static_cast<void>(reader->events());
        for (const std::string& name : reader->metricNames()) {
            static_cast<void>(reader->metric(name));
        }
        for (const engine::MatrixName& name : reader->matrixNames()) {
            for (const std::int64_t step : reader->matrixSteps(name)) {
                static_cast<void>(reader->matrix(name, step));
            }
        }
        for (const std::int64_t step : reader->checkpoints()) {
            static_cast<void>(forkRun(run, step, run.parent_path() / ("fork-" + std::to_string(step))));
        }
    }

    template <class Answer>
    static bool answered(tests::SessionProbe& probe, QueryTag tag)
    {
        return probe.waitUntil([tag](const Event& event) {
            const auto* const answer = std::get_if<Answer>(&event);
            const auto* const failed = std::get_if<QueryFailed>(&event);
            return (answer != nullptr && answer->tag == tag) || (failed != nullptr && failed->tag == tag);
        });
    }

    static bool ask(tests::SessionProbe& probe, const fs::path& run)
    {
        EvaluateRequest evaluate;
        evaluate.tag = QueryTag{1};
        evaluate.of.runDirectory = run;
        evaluate.of.otherData = OtherData::Accept;
        evaluate.batches = 1;
        probe.post(evaluate);
        SampleRequest sample;
        sample.tag = QueryTag{2};
        sample.of.runDirectory = run;
        sample.of.otherData = OtherData::Accept;
        sample.tokens = 2;
        probe.post(sample);
        return answered<EvaluationReady>(probe, QueryTag{1}) && answered<SampleReady>(probe, QueryTag{2});
    }

    static bool retrofit(tests::SessionProbe& probe, const fs::path& run)
    {
        RetrofitRequest request;
        request.tag = QueryTag{3};
        request.of.runDirectory = run;
        request.of.otherData = OtherData::Accept;
        request.topology = topologyNamed("denseformer");
        request.newRun = run.parent_path() / "retrofitted";
        probe.post(request);
        return answered<RetrofitReady>(probe, QueryTag{3});
    }

    static bool resume(tests::SessionProbe& probe, const fs::path& run)
    {
        ResumeRun command;
        command.run = RunId{1};
        command.of.runDirectory = run;
        command.of.otherData = OtherData::Accept;
        command.steps = kSteps + 2;
        probe.post(command);
        return probe.waitFor<RunEnded>();
    }

    QTemporaryDir m_temporary;
    fs::path m_root;
};

RESIDUA_TEST_IN(QCoreApplication, TestFuzzRun)
#include "tst_fuzz_run.moc"
