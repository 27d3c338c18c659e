// SPDX-License-Identifier: GPL-3.0-or-later
// A single rank trains as a process without ranks does. It uses NCCL on a GPU, and Gloo on the CPU.
#include "engine/compute/train/trainer.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/retrofit.h"
#include "rank_harness.h"
#include "tests/engine/compute/network/network_harness.h"
#include "tests/engine/compute/session/run_harness.h"
#include "tests/engine/compute/train/test_device.h"
#include "tests/support/test_program.h"

#include "engine/base/api/environment.h"

#include <QFile>
#include <QtTest>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

using namespace residua;
using namespace residua::engine;
using projects::Project;

Q_DECLARE_METATYPE(residua::projects::Project)

namespace {

constexpr int kSteps = 6;

Project base()
{
    Project project = tests::quickLanguage(kSteps);
    project.stack().segments.front().repeat = 4;
    project.training.precision = projects::Precision::Fp64;
    project.training.accumulate = 2;
    return project;
}

std::vector<double> losses(const Project& project, const std::string& device, Ranks* ranks)
{
    Result<TrainerParts> parts = openParts(project, {}, device);
    if (!parts) {
        throw std::runtime_error(parts.error().text());
    }
    Trainer trainer(std::move(*parts), ranks);
    for (int step = 0; step < kSteps; ++step) {
        if (!trainer.beginStage() || !trainer.step()) {
            return {};
        }
    }
    std::vector<double> result;
    for (const StepRecord& record : trainer.takeRecords()) {
        result.push_back(record.loss);
    }
    return result;
}

} // namespace

class TestCudaRanks : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        prepareEnvironment();
        if (QFile::exists(RESIDUA_RANKS_LIBRARY)) { // on another machine it is beside the program
            qputenv("RESIDUA_RANKS", RESIDUA_RANKS_LIBRARY);
        }
        if (const std::string problem = tests::deviceProblem(m_device); !problem.empty()) {
            QSKIP(problem.c_str());
        }
    }

    void oneRankTrainsAsNone_data()
    {
        QTest::addColumn<Project>("project");
        const Project plain = base();
        QTest::newRow("plain") << plain;
        QTest::newRow("dca") << *projects::rewired(plain, tests::topologyNamed("dca", plain.network));
        Project raptr = plain;
        raptr.stack().schedule = *projects::scheduleFrom("raptr 2-3-4", 4, kSteps);
        QTest::newRow("raptr") << raptr;
        Project divided = plain;
        divided.training.rankStates = projects::RankStates::Divided;
        divided.training.optimiser = projects::Muon{};
        QTest::newRow("divided, muon") << divided;
    }
    void oneRankTrainsAsNone()
    {
        QFETCH(Project, project);
        const std::vector<double> expected = losses(project, m_device, nullptr);
        QCOMPARE(expected.size(), std::size_t{kSteps});
        std::vector<double> got;
        tests::withRanks(1, [&](Ranks& ranks) {
            got = losses(project, m_device, &ranks);
            QCOMPARE(ranks.takeTimes().steps, std::int64_t{kSteps - 1});
        });
        QCOMPARE(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            QVERIFY2(std::abs(got[i] - expected[i]) < 1e-12, qPrintable(QString::number(got[i] - expected[i])));
        }
    }

private:
    std::string m_device = tests::testDevice();
};

RESIDUA_TEST(TestCudaRanks)
#include "tst_cuda_ranks.moc"
