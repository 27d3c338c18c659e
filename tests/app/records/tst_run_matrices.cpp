// SPDX-License-Identifier: GPL-3.0-or-later
// The matrices of runs in memory: those that are drawn, within a limit.
#include "app/records/run_loader.h"
#include "app/views/run_follower.h"
#include "engine/base/api/row_curves.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"
#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/runs/shown_runs.h"

#include <QApplication>
#include <QSettings>

#include <algorithm>
#include <map>
#include <string>

using namespace residua;
using namespace residua::app;

class TestRunMatrices : public RunsHarness {
    Q_OBJECT

private slots:
    void init()
    {
        m_project = newProject(quickExample());
        for (const char* const name : {"a", "b", "c", "d"}) {
            writeLong(name);
        }
    }

    void cleanup() { m_window.reset(); }

    void aLoadedRunHasFewMatrices()
    {
        const std::string directory = (m_project / projects::kRunsFolder / "a").string();
        const auto all = loadRunRecord(directory, Matrices::All);
        QVERIFY(all.ok());
        QCOMPARE(stepsOf(*all).size(), kSteps);
        const std::size_t limit = bytesOf(*all) / 10;
        const auto some = loadRunRecord(directory, Matrices::All, {}, limit);
        QVERIFY(some.ok());
        QVERIFY(bytesOf(*some) <= limit + 2 * visualizers::bytesOf(matrix(0)));
        QCOMPARE(stepsOf(*some).front(), std::int64_t(0));
        QCOMPARE(stepsOf(*some).back(), std::int64_t(kSteps - 1));
        QVERIFY(stepsOf(*some).size() > 5);
        const auto curves = loadRunRecord(directory, Matrices::OfCurves);
        QVERIFY(curves.ok());
        QCOMPARE(stepsOf(*curves).size(), std::size_t{0});
        QCOMPARE(curves->numbers.matrices.size(), std::size_t{1}); // is drawn as curves
        QCOMPARE(curves->numbers.steps.size(), all->numbers.steps.size());
    }

    /// However many runs are overlaid, only those of two have matrices in memory.
    void onlyTheDrawnRunsHaveMatrices()
    {
        openWindow();
        visualizers::ShownRuns& shown = m_window->workspace().shownRuns();
        std::map<std::string, std::size_t> received;
        connect(&shown, &visualizers::ShownRuns::added, this,
                [&](const std::string& key, const engine::Progress& numbers) {
                    received[key] += static_cast<std::size_t>(std::ranges::count_if(
                        numbers.matrices, [](const auto& each) { return !engine::isDrawnAsCurves(each.name); }));
                });
        m_window->openProject(m_project);
        QTRY_COMPARE(model().rowCount(), 4);
        for (const engine::RunInfo& run : std::vector(model().runs())) {
            shown.overlay(run.directory);
        }
        const auto& frames = m_window->workspace().shownMatrices().frames();
        QTRY_VERIFY(!shown.compared().empty() && received[shown.compared()] >= kSteps);
        QTRY_VERIFY(frames.comparedBytes() >= kSteps * visualizers::bytesOf(matrix(0)));
        QCOMPARE(frames.count("mix"), kSteps);
        for (const engine::RunInfo& run : model().runs()) {
            const bool drawn = run.directory == shown.front() || run.directory == shown.compared();
            QCOMPARE(received[run.directory] >= kSteps, drawn);
            QVERIFY(drawn || received[run.directory] == 0);
        }
    }

    /// The run in front was overlaid before it came to the front, as every remembered run is after a restart.
    void aRunThatComesToTheFrontHasItsMatrices()
    {
        QSettings().clear();
        for (const char* const time : {"first", "again"}) {
            openWindow({1280, 800}, Memory::UserSettings);
            m_window->openProject(m_project);
            QTRY_COMPARE(model().rowCount(), 4);
            QTRY_VERIFY2(!m_window->runFollower().isReading(), time);
            QVERIFY(!m_window->workspace().shownRuns().front().empty());
            QCOMPARE(m_window->workspace().shownMatrices().frames().count("mix"), kSteps);
        }
        m_window.reset();
        QSettings().clear();
    }

    /// Its matrices are read once more for the comparison, but it does not begin anew.
    void aComparedRunWithoutStepsIsReadOnce()
    {
        auto writer = create("empty");
        QVERIFY(writer.has_value());
        engine::RunInfo info = writer->info();
        info.status = engine::RunStatus::Finished;
        QVERIFY(writer->update(info).ok());
        const std::string empty = writer->directory().string();
        openWindow();
        visualizers::ShownRuns& shown = m_window->workspace().shownRuns();
        m_window->openProject(m_project);
        QTRY_COMPARE(model().rowCount(), 5);
        const auto other =
            std::ranges::find_if(model().runs(), [&](const auto& run) { return run.directory != empty; });
        shown.bringToFront(other->directory);
        shown.removeOverlay(empty);
        QTRY_VERIFY(!m_window->runFollower().isReading());
        QSignalSpy begun(&shown, &visualizers::ShownRuns::begun);
        int added = 0;
        connect(&shown, &visualizers::ShownRuns::added, this,
                [&](const std::string& key, const engine::Progress&) { added += key == empty ? 1 : 0; });
        shown.overlay(empty);
        QTRY_COMPARE(shown.compared(), empty);
        QTRY_VERIFY(added >= 2); // its curves, then its matrices
        QCOMPARE(begun.count(), 1);
    }

private:
    static constexpr std::size_t kSteps = 100;

    static engine::Matrix matrix(std::int64_t step) { return {"mix", step, 2, 2, {0.5F, 0.5F, 0.5F, 0.5F}}; }

    void writeLong(const char* name)
    {
        auto writer = create(name);
        QVERIFY(writer.has_value());
        put(*writer, 1, 8);
        for (std::size_t step = 0; step < kSteps; ++step) {
            writer->matrix(matrix(static_cast<std::int64_t>(step)));
        }
        writer->matrix({engine::matrix::kReadRanks, 8, 1, 2, {1, 2}});
        QVERIFY(writer->flush().ok());
        engine::RunInfo info = writer->info();
        info.status = engine::RunStatus::Finished;
        info.step = 8; // otherwise it would be read again as one that was resumed from an earlier step
        QVERIFY(writer->update(info).ok());
    }

    static std::vector<std::int64_t> stepsOf(const RunRecord& record)
    {
        std::vector<std::int64_t> steps;
        for (const engine::Matrix& each : record.numbers.matrices) {
            if (each.name == engine::MatrixName("mix")) {
                steps.push_back(each.step);
            }
        }
        return steps;
    }

    static std::size_t bytesOf(const RunRecord& record)
    {
        std::size_t sum = 0;
        for (const engine::Matrix& each : record.numbers.matrices) {
            sum += engine::isDrawnAsCurves(each.name) ? 0 : visualizers::bytesOf(each);
        }
        return sum;
    }
};

RESIDUA_TEST_IN(QApplication, TestRunMatrices)
#include "tst_run_matrices.moc"
