// SPDX-License-Identifier: GPL-3.0-or-later
// The cost of training a run that continues from weights that other projects trained.
#include "engine/runs/results/run_branch.h"
#include "engine/runs/results/spent_flops.h"
#include "engine/runs/store/run_writer.h"
#include "projects/library/schedule_presets.h"
#include "projects/shipped/examples.h"
#include "tests/engine/runs/store/run_files_harness.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kUnitsPerStep = 64;

projects::Project projectOf(std::int64_t layers)
{
    projects::Project project = projects::findExample("plain-language")->project;
    project.stack().segments.front().repeat = layers;
    project.training.steps = 100;
    return project;
}

double priceOf(const projects::Project& project)
{
    return projects::costOf(project)->total.trainFlops * static_cast<double>(kUnitsPerStep);
}

void train(const fs::path& run, std::int64_t from, std::int64_t to)
{
    auto writer = RunWriter::reopen(run, from);
    QVERIFY2(writer, writer ? "" : writer.error().text().c_str());
    for (std::int64_t step = from + 1; step <= to; ++step) {
        writer->step({step, 1.0 / static_cast<double>(step), 1e-3, 1, step * kUnitsPerStep, 0.5});
    }
    QVERIFY(writer->flush());
}

double spentAt(const fs::path& run, std::int64_t step)
{
    const auto reader = RunReader::open(run);
    const auto project = *reader->project();
    const SpentFlops spent = spentFlopsOf(*reader, project, *projects::costOf(project));
    return spent.at(static_cast<double>(step), static_cast<double>(step * kUnitsPerStep));
}

bool isWhole(const fs::path& run)
{
    const auto reader = RunReader::open(run);
    const auto project = *reader->project();
    return spentFlopsOf(*reader, project, *projects::costOf(project)).isWhole;
}

bool isNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::abs(b);
}

} // namespace

class TestSpentFlops : public RunFilesHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    /// Steps before a branch are priced by the project that trained them, however often a run branches.
    void everyStepHasThePriceThatWasPaid()
    {
        const projects::Project small = projectOf(2);
        const projects::Project middle = projectOf(4);
        const projects::Project large = projectOf(8);
        const fs::path first = begin("first", small, {});
        train(first, 0, 20);
        QVERIFY(isNear(spentAt(first, 20), 20 * priceOf(small)));
        const fs::path second = branch(first, middle, 10);
        train(second, 10, 30);
        QVERIFY(isNear(spentAt(second, 5), 5 * priceOf(small)));
        QVERIFY(isNear(spentAt(second, 30), 10 * priceOf(small) + 20 * priceOf(middle)));
        const fs::path third = branch(second, large, 30);
        train(third, 30, 40);
        fs::remove_all(first); // what was spent is recorded
        fs::remove_all(second);
        QVERIFY(isNear(spentAt(third, 20), 10 * priceOf(small) + 10 * priceOf(middle)));
        QVERIFY(isNear(spentAt(third, 40), 10 * priceOf(small) + 20 * priceOf(middle) + 10 * priceOf(large)));
        QVERIFY(isWhole(third));
    }

    /// A copy of the same project continues at the same price, stages included.
    void aForkCostsWhatItsRunWouldHave()
    {
        projects::Project staged = projectOf(4);
        staged.stack().schedule.stages = {{0, 1, {}}, {50, 2, {}}};
        const fs::path run = begin("staged", staged, {});
        train(run, 0, 100);
        const fs::path fork = branch(run, staged, 60);
        train(fork, 60, 100);
        for (const std::int64_t step : {20, 60, 80, 100}) {
            QVERIFY2(std::abs(spentAt(fork, step) - spentAt(run, step)) <= 0.02 * spentAt(run, 100),
                     qPrintable(QString::number(step)));
        }
        QVERIFY(isNear(spentAt(fork, 100), spentAt(run, 100)));
    }

    /// Earlier versions did not record the cost. It is computed from the parent run while that exists.
    void unrecordedFlopsAreReadFromTheParentRun()
    {
        const projects::Project small = projectOf(2);
        const projects::Project large = projectOf(8);
        const fs::path first = begin("first", small, {});
        train(first, 0, 20);
        const fs::path second = begin("second", large, first, 20);
        train(second, 0, 20); // the copy of the numbers
        train(second, 20, 30);
        QVERIFY(isNear(spentAt(second, 30), 20 * priceOf(small) + 10 * priceOf(large)));
        QVERIFY(isWhole(second));
        const fs::path third = branch(second, small, 30);
        train(third, 30, 31);
        fs::remove_all(first);
        QVERIFY(!isWhole(second));
        QVERIFY(isNear(spentAt(second, 30), 10 * priceOf(large)));                      // what is known of it
        QVERIFY(isNear(spentAt(third, 30), 20 * priceOf(small) + 10 * priceOf(large))); // recorded in time
    }

    /// The cost of imported weights is unknown, also for the runs that continue from them.
    void importedWeightsHaveAnUnknownCost()
    {
        const projects::Project project = projectOf(2);
        const fs::path run = begin("imported", project, {});
        {
            auto writer = RunWriter::reopen(run, 0);
            writer->event({0, RunEventKind::Imported, "llama from elsewhere"});
            QVERIFY(writer->flush());
        }
        train(run, 0, 10);
        QVERIFY(!isWhole(run));
        QVERIFY(isNear(spentAt(run, 10), 10 * priceOf(project)));
        QVERIFY(!isWhole(branch(run, projectOf(4), 10)));
    }

    /// The parents form a cycle that was written by hand.
    void runsThatGoOnFromEachOtherHaveAnEnd()
    {
        const fs::path first = begin("first", projectOf(2), m_folder / "second", 5);
        const fs::path second = begin("second", projectOf(4), m_folder / "first", 5);
        train(first, 0, 10);
        train(second, 0, 10);
        QVERIFY(!isWhole(first));
    }

private:
    fs::path begin(const char* name, const projects::Project& project, const fs::path& parent, std::int64_t step = 0)
    {
        RunInfo info = exampleInfo();
        info.parent = parent.string();
        info.parentStep = step;
        const auto writer = RunWriter::create(m_folder / name, info, project, m_folder.parent_path());
        return writer ? m_folder / name : fs::path();
    }

    fs::path branch(const fs::path& parent, const projects::Project& project, std::int64_t step)
    {
        RunBranch branch;
        branch.parent = parent;
        branch.project = project;
        branch.step = step;
        const auto made = makeBranch(branch, [](const fs::path&) -> Status { return Done{}; });
        return made ? *made : fs::path();
    }
};

RESIDUA_TEST(TestSpentFlops)
#include "tst_spent_flops.moc"
