// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/environment.h"
#include "engine/runs/results/run_branch.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/run_files.h"
#include "engine/runs/store/run_writer.h"
#include "projects/model/topology.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

class TestRunUpkeep : public QObject {
    Q_OBJECT

private slots:
    /// Makes a run of 20 steps with checkpoints at 10 and 20.
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_runs = m_folder->filePath("runs").toStdString();
        m_run = m_runs / "first";
        RunInfo info;
        info.name = "first";
        info.device = "cpu";
        info.steps = 100;
        info.notes = "kept";
        auto writer = RunWriter::create(m_run, info, {}, m_folder->path().toStdString());
        QVERIFY(writer.ok());
        for (std::int64_t step = 1; step <= 20; ++step) {
            const auto x = static_cast<double>(step);
            writer->step({step, 10 / x, 1e-3, 1, step * 8, x});
            if (step % 10 == 0) {
                writer->matrix({"mix", step, 1, 1, {static_cast<float>(step)}});
                QVERIFY(writeCheckpoint(m_run, {step, step * 8, x, {}, {}}, {}, {}, {}).ok());
            }
        }
        QVERIFY(writer->flush().ok());
    }

    void aForkHoldsWhatWasUpToItsCheckpoint()
    {
        const fs::path fork = m_runs / "fork";
        QVERIFY(forkRun(m_run, 10, fork).ok());
        const auto reader = RunReader::open(fork);
        QVERIFY(reader.ok());
        const auto info = reader->info();
        QVERIFY(info.ok());
        QCOMPARE(info->parent, m_run.string());
        QCOMPARE(info->parentStep, std::int64_t(10));
        QCOMPARE(info->step, std::int64_t(10));
        QVERIFY(info->status == RunStatus::Stopped);
        QCOMPARE(info->steps, std::int64_t(100));
        QCOMPARE(reader->checkpoints(), std::vector<std::int64_t>{10});
        QVERIFY(loadCheckpoint(fork, std::nullopt, nullptr).ok());
        const auto losses = reader->metric(metric::kLoss);
        QCOMPARE(losses.size(), std::size_t(10));
        QCOMPARE(losses.back().value, 1.0);
        QCOMPARE(reader->matrixSteps("mix"), std::vector<std::int64_t>{10});
        QVERIFY(RunWriter::reopen(fork, 10).ok());
        QCOMPARE(listRuns(m_runs).size(), std::size_t(2));
    }

    void aForkMayTrainWithOtherSettings()
    {
        projects::Project wanted = *RunReader::open(m_run)->project();
        wanted.training.learningRate.peak *= 0.5;
        const auto fork = forkRun(m_run, 10, {}, &wanted);
        QVERIFY2(fork.ok(), fork ? "" : fork.error().text().c_str());
        QVERIFY(*RunReader::open(*fork)->project() == wanted);
        QCOMPARE(RunReader::open(*fork)->metric(metric::kLoss).size(), std::size_t(10));
        wanted.network.stack().width += 8;
        const auto refused = forkRun(m_run, 10, {}, &wanted);
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().text().find("width") != std::string::npos);
    }

    /// A fork trains the same point of the grid as its parent. A branch of another project is not a member.
    void aForkOfAMemberIsOneToo()
    {
        RunInfo info;
        info.name = "study · 5";
        info.steps = 1;
        info.membership = projects::Membership{"study", "seeds", {{"/seeds/init", "seed", "5"}}};
        projects::Project project;
        project.name = info.name;
        const fs::path run = m_runs / "member";
        {
            auto writer = RunWriter::create(run, info, project, m_folder->path().toStdString());
            QVERIFY(writer.ok());
            QVERIFY(writeCheckpoint(run, {1, 8, 0.1, {}, {}}, {}, {}, {}).ok());
        }
        const auto fork = forkRun(run, 1);
        QVERIFY2(fork.ok(), fork ? "" : fork.error().text().c_str());
        QVERIFY(RunReader::open(*fork)->info()->membership == info.membership);
        RunBranch branch;
        branch.parent = run;
        branch.step = 1;
        branch.project = project;
        branch.project.stack().width += 1;
        const auto other = makeBranch(branch, [](const fs::path&) -> Status { return Done{}; });
        QVERIFY2(other.ok(), other ? "" : other.error().text().c_str());
        QVERIFY(!RunReader::open(*other)->info()->membership);
    }

    /// The name has no more than what it adds, because a legend has little room.
    void aPrunedBranchAddsItsWordsToTheName()
    {
        projects::Project project;
        const auto presets = projects::topologyPresets(project.network);
        const auto ancre = std::ranges::find(presets, "ancre-ingoing", &projects::TopologyPreset::name);
        project.stack().topology = {ancre->name, ancre->wiring};
        RunInfo info;
        info.name = "ANCRe, ingoing";
        info.steps = 1;
        const fs::path run = m_runs / "ancre";
        {
            QVERIFY(RunWriter::create(run, info, project, m_folder->path().toStdString()).ok());
            QVERIFY(writeCheckpoint(run, {1, 8, 0.1, {}, {}}, {}, {}, {}).ok());
        }
        RunBranch branch;
        branch.parent = run;
        branch.step = 1;
        branch.project = project;
        auto& mix = std::get<projects::DepthMix>(branch.project.stack().topology.wiring);
        mix.states[{0, 2}] = projects::ShortcutState::Pruned;
        const auto made = makeBranch(branch, [](const fs::path&) -> Status { return Done{}; });
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QCOMPARE(RunReader::open(*made)->info()->name, std::string("ANCRe, ingoing, 1 pruned"));
    }

    void failedForkLeavesNoFiles()
    {
        const fs::path fork = m_runs / "fork";
        QVERIFY(!forkRun(m_run, 11, fork).ok());
        QVERIFY(!forkRun(m_runs / "none", 10, fork).ok());
        QVERIFY(!fs::exists(fork));
        QVERIFY(!forkRun(m_run, 10, m_run).ok());
        QCOMPARE(RunReader::open(m_run)->checkpoints().size(), std::size_t(2));
    }

    /// A branch that was interrupted at any point is not taken for a run like its parent.
    void aBranchIsNoFinishedRunBeforeItIsWhole()
    {
        {
            auto writer = RunWriter::reopen(m_run, 20);
            RunInfo info = writer->info();
            info.status = RunStatus::Finished;
            QVERIFY(writer->update(info).ok());
        }
        RunBranch branch;
        branch.parent = m_run;
        branch.step = 10;
        branch.directory = m_runs / "branch";
        std::optional<RunStatus> meanwhile;
        std::size_t rows = 0;
        const auto made = makeBranch(branch, [&](const fs::path& directory) -> Status {
            meanwhile = readRunFile(directory)->info.status;
            rows = RunReader::open(directory)->metric(metric::kLoss).size();
            return Done{};
        });
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QVERIFY(meanwhile == RunStatus::Running);
        QCOMPARE(rows, std::size_t{10}); // before its checkpoint, with which it could go on
        QVERIFY(readRunFile(*made)->info.status == RunStatus::Stopped);
        branch.directory = m_runs / "thrown";
        const auto throws = [](const fs::path&) -> Status { throw std::runtime_error("no memory"); };
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, static_cast<void>(makeBranch(branch, throws)));
        QVERIFY(!fs::exists(branch.directory));
    }

    /// Repeating the command makes the branch and removes all files of the first attempt.
    void aBranchThatWasKilledIsMadeAgain_data()
    {
        QTest::addColumn<bool>("named");
        QTest::newRow("in a directory of its own") << true;
        QTest::newRow("beside its parent") << false;
    }
    void aBranchThatWasKilledIsMadeAgain()
    {
        QFETCH(const bool, named);
        RunBranch branch;
        branch.parent = m_run;
        branch.step = 10;
        branch.directory = named ? m_runs / "branch" : fs::path();
        const pid_t child = ::fork();
        if (child == 0) {
            static_cast<void>(makeBranch(branch, [](const fs::path&) -> Status { ::_exit(0); }));
            ::_exit(1);
        }
        int result = -1;
        QVERIFY(::waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == 0);
        QCOMPARE(listRuns(m_runs).size(), std::size_t{1});
        branch.directory = named ? branch.directory : m_runs / "other";
        const auto made = makeBranch(branch, [](const fs::path&) -> Status { return Done{}; });
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        branch.directory.clear();
        QVERIFY(makeBranch(branch, [](const fs::path&) -> Status { return Done{}; }));
        QCOMPARE(listRuns(m_runs).size(), std::size_t{3});
        for (const auto& entry : fs::directory_iterator(m_runs)) {
            QVERIFY2(fs::exists(entry.path() / kRunFile), entry.path().c_str());
        }
    }

    /// A running run removes an older checkpoint while its weights are converted to another network.
    void aBranchIsMadeWhereItsCheckpointIsGone()
    {
        RunBranch branch;
        branch.parent = m_run;
        branch.step = 10;
        branch.directory = m_runs / "branch";
        fs::remove_all(m_run / "checkpoints");
        const auto made = makeBranch(branch, [](const fs::path&) -> Status { return Done{}; });
        QVERIFY2(made.ok(), made ? "" : made.error().text().c_str());
        QVERIFY(!forkRun(m_run, 10).ok()); // which copies it
    }

    /// Parent and fork are moved together with their project.
    void aParentIsFoundAgainWhereItWasMoved()
    {
        const auto fork = forkRun(m_run, 10);
        QVERIFY(fork.ok());
        const fs::path moved = m_folder->filePath("moved").toStdString();
        fs::create_directory(moved);
        fs::rename(m_runs, moved / "runs");
        const auto info = RunReader::open(moved / "runs" / fork->filename())->info();
        QVERIFY(info.ok());
        QCOMPARE(fs::weakly_canonical(info->parent), fs::weakly_canonical(moved / "runs" / "first"));
    }

    void aForkWithoutAPlaceLiesBesideItsParent()
    {
        const auto fork = forkRun(m_run, 10);
        QVERIFY2(fork.ok(), fork ? "" : fork.error().text().c_str());
        QCOMPARE(fork->parent_path(), m_runs);
        QVERIFY(*fork != *forkRun(m_run, 10));
        QCOMPARE(*projectDirectoryOf(*fork), *projectDirectoryOf(m_run));
        const auto slash = forkRun(m_run / "", 20);
        QVERIFY(slash.ok());
        QCOMPARE(slash->parent_path(), m_runs);
    }

    void aForkTakesNoDamageAndNoLinksAlong()
    {
        const fs::path state = checkpointDirectory(m_run, 20) / "state.json";
        fs::create_directory_symlink("/", checkpointDirectory(m_run, 10) / "everything");
        const auto fork = forkRun(m_run, 10);
        QVERIFY(fork.ok());
        QVERIFY(!fs::exists(fs::symlink_status(checkpointDirectory(*fork, 10) / "everything")));
        fs::resize_file(state, 10);
        QVERIFY(!forkRun(m_run, 20, m_runs / "fork").ok());
        QVERIFY(!fs::exists(m_runs / "fork"));
    }

    void aForkKnowsTheDataOfItsParent()
    {
        const DataFingerprint data{{"text.txt", 1, 3, "00"}};
        {
            auto writer = RunWriter::reopen(m_run, 20);
            writer->setSource(m_folder->path().toStdString(), data);
            QVERIFY(writer->update(writer->info()).ok());
        }
        const auto fork = forkRun(m_run, 20);
        QVERIFY(readRunFile(*fork)->data == std::optional(data));
    }

    void aForkOfARunWithoutAStoreHasTheCheckpoint()
    {
        fs::remove(m_run / "store.sqlite");
        const auto fork = forkRun(m_run, 10);
        QVERIFY2(fork.ok(), fork ? "" : fork.error().text().c_str());
        QCOMPARE(RunReader::open(*fork)->checkpoints(), std::vector<std::int64_t>{10});
        QVERIFY(std::isnan(RunReader::open(*fork)->info()->loss()));
    }

    void onlyRunsAreTrashed()
    {
        const fs::path other = m_runs / "other";
        fs::create_directories(other);
        QVERIFY(!trashRun(other).ok());
        QVERIFY(fs::exists(other));
        const auto trashed = trashRun(m_run / ""); // with a slash at its end
        QVERIFY(trashed.ok());
        QCOMPARE(*trashed, m_runs / ".trash" / "first");
    }

    void theTrashGivesBack()
    {
        const auto trashed = trashRun(m_run);
        QVERIFY(trashed.ok());
        QVERIFY(listRuns(m_runs).empty());
        const auto back = restoreRun(*trashed);
        QVERIFY(back.ok());
        QCOMPARE(*back, m_run);
        QCOMPARE(listRuns(m_runs).size(), std::size_t(1));
    }

    void aRunThatIsWrittenIsNotTrashed()
    {
        const auto writer = RunWriter::reopen(m_run, 20);
        QVERIFY(writer.ok());
        QVERIFY(!trashRun(m_run).ok());
        QVERIFY(fs::exists(m_run));
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_runs;
    fs::path m_run;
};

RESIDUA_TEST_IN(QCoreApplication, TestRunUpkeep)
#include "tst_run_upkeep.moc"
