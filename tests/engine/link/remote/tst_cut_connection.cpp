// SPDX-License-Identifier: GPL-3.0-or-later
// Connections to a place that are cut after a random number of bytes, in either direction.
#include "engine/runs/results/run_reader.h"
#include "tests/engine/link/remote/remote_harness.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <random>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

namespace {

constexpr int kCuts = 20; ///< RESIDUA_FUZZ_ROUNDS by hand
constexpr int kTextBytes = 300'000;
constexpr double kFewestBytes = 20;
constexpr double kMostInput = 320'000; ///< a little more than a run sends
constexpr double kMostOutput = 15'000;

/// Command lines of an engine whose input or output ends after so many bytes.
std::string cutInput(std::int64_t bytes)
{
    return "stdbuf -o0 head -c " + std::to_string(bytes) + " | " RESIDUA_ENGINE_PROGRAM " --stdio";
}
std::string cutOutput(std::int64_t bytes)
{
    return "exec 3<&0; " RESIDUA_ENGINE_PROGRAM " --stdio <&3 | stdbuf -o0 head -c " + std::to_string(bytes) +
           " & exec 3<&- <&- >&-; wait $!";
}

class TestCutConnection : public QObject {
    Q_OBJECT

private slots:
    void nothingIsHalfWrittenAndTheRunGoesOn()
    {
        const QTemporaryDir temporary;
        const fs::path here = fs::path(temporary.path().toStdString()) / "here";
        const projects::Project project = textProject(here, 40, kTextBytes);
        const StartRun own = startIn(here, kRun, project);
        train(own, {}, "here");
        const auto expected = recordedLosses(own.runDirectory);
        QCOMPARE(expected.size(), std::size_t{40});

        std::mt19937 random(randomSeed());
        int begun = 0;
        const int cuts = fuzz::rounds(kCuts);
        for (int cut = 0; cut < cuts; ++cut) {
            const double most = cut % 2 == 0 ? kMostInput : kMostOutput;
            std::uniform_real_distribution<double> magnitude(std::log(kFewestBytes), std::log(most));
            const auto bytes = static_cast<std::int64_t>(std::exp(magnitude(random)));
            const fs::path there = fs::path(temporary.path().toStdString()) / ("there-" + std::to_string(cut % 4));
            const std::string where = std::to_string(bytes) + " bytes of " + (cut % 2 == 0 ? "input" : "output");
            StartRun start = startIn(here, kRun, project);
            start.runDirectory = here / "runs" / std::to_string(cut);
            train(start, placeIn(there, cut % 2 == 0 ? cutInput(bytes) : cutOutput(bytes)), where);
            QVERIFY2(holdsWholeFiles(there / "place"), where.c_str());
            if (!fs::exists(start.runDirectory)) {
                continue;
            }
            const auto reader = RunReader::open(start.runDirectory);
            QVERIFY2(reader && reader->info() && reader->project(), where.c_str());
            QVERIFY2(reader->faults().empty(), where.c_str());
            const auto losses = recordedLosses(start.runDirectory);
            QVERIFY2(std::ranges::includes(expected, losses), where.c_str());
            begun += reader->info()->status == RunStatus::Interrupted ? 1 : 0;
            if (reader->info()->status == RunStatus::Interrupted && begun <= 3) {
                resumeThrough(start.runDirectory, placeIn(there), where);
                QVERIFY2(recordedLosses(start.runDirectory) == expected, where.c_str());
            }
        }
        qInfo("%d of %d cuts within a run", begun, cuts);
    }

private:
    static void train(const StartRun& start, const EngineRemote& place, const std::string& where)
    {
        SessionProbe probe(place);
        probe.post(start);
        QVERIFY2(probe.waitFor<RunEnded>(), where.c_str());
    }

    /// Resumes by a place of the same name without a cut, which replaces that in the run's record.
    static void resumeThrough(const fs::path& run, const EngineRemote& place, const std::string& where)
    {
        SessionProbe probe(place);
        ResumeRun resume;
        resume.run = kRun;
        resume.of.runDirectory = run;
        probe.post(resume);
        QVERIFY2(probe.waitFor<RunEnded>(), where.c_str());
        const RunEnded ended = probe.all<RunEnded>()[0];
        QVERIFY2(ended.status == RunStatus::Finished, (where + ": " + ended.error.text()).c_str());
    }
};

} // namespace

RESIDUA_TEST(TestCutConnection)
#include "tst_cut_connection.moc"
