// SPDX-License-Identifier: GPL-3.0-or-later
// The shipped case study (ANCRe section 3), trained by the engine in double precision, beside the simulator in plain
// C++ that shares nothing with it: the same losses, step by step.
#include "tests/engine/compute/session/run_harness.h"

#include "engine/data/sets/dataset.h"
#include "projects/shipped/examples.h"
#include "projects/studies/sweep_grid.h"
#include "tests/support/linear_network.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace residua;
using residua::engine::DenseMatrix;

namespace {

constexpr std::int64_t kSteps = 50;

const std::vector<projects::SweepMember>& members()
{
    static const std::vector<projects::SweepMember> all = [] {
        projects::Project project = projects::findExample("ancre-case-study")->project;
        project.training.steps = kSteps;
        return *projects::expand(project, project.sweeps.front());
    }();
    return all;
}

/// [features, samples] from the engine's rows.
DenseMatrix columnsOf(const std::vector<double>& rows, std::int64_t samples, std::int64_t features)
{
    return Eigen::Map<const DenseMatrix>(rows.data(), samples, features).transpose();
}

/// The simulator's network for a member: every layer starts as a multiple of the identity, the first as nothing.
tests::LinearNetwork networkOf(const projects::SweepMember& member)
{
    tests::LinearNetwork network;
    const std::int64_t width = member.project.stack().width;
    for (std::int64_t layer = 1; layer <= member.project.network.depth(); ++layer) {
        const double start = layer == 1 ? 0.0 : member.project.initialisation.scale;
        network.weights.emplace_back(start * DenseMatrix::Identity(width, width));
    }
    const std::string topology = member.values.back();
    const bool learned = topology == "ancre-ingoing";
    network.shortcuts = tests::studyShortcuts(learned ? "all" : topology, member.project.network.depth());
    network.coefficients.assign(network.shortcuts.size(), learned ? 0.0 : 1.0);
    network.mode = learned ? tests::ShortcutWeights::Ingoing : tests::ShortcutWeights::Fixed;
    return network;
}

} // namespace

class TestCaseStudyTraining : public QObject {
    Q_OBJECT

private slots:
    void everyMemberFollowsTheSimulator_data()
    {
        QTest::addColumn<int>("index");
        QCOMPARE(members().size(), std::size_t{14});
        for (std::size_t i = 0; i < members().size(); ++i) {
            QTest::newRow(members()[i].label.c_str()) << static_cast<int>(i);
        }
    }
    void everyMemberFollowsTheSimulator()
    {
        QFETCH(int, index);
        const projects::SweepMember& member = members()[static_cast<std::size_t>(index)];
        QVERIFY(!member.error);
        const auto trained = tests::lossesOf(member.project, m_folder.filePath(QString::number(index)).toStdString());
        QCOMPARE(trained.size(), std::size_t{kSteps});

        const auto data = engine::Dataset::open(member.project, {});
        QVERIFY(data.ok());
        engine::Batch all;
        (*data)->fillAll(all, engine::Split::Train);
        const DenseMatrix x = columnsOf(all.values<double>(0), all.batch, (*data)->schema().input().shape.features());
        const DenseMatrix y = columnsOf(all.values<double>(1), all.batch, (*data)->schema().target().shape.features());
        tests::LinearNetwork network = networkOf(member);
        // The engine's loss is the paper's over the samples, and so is its gradient.
        const auto samples = static_cast<double>(all.batch);
        const auto simulated =
            tests::descend(network, x, y, member.project.training.learningRate.peak / samples, kSteps);
        QVERIFY2(simulated.ok(), simulated ? "" : simulated.error().text().c_str());
        double worst = 0;
        for (const auto& [step, loss] : trained) {
            const double expected = (*simulated)[static_cast<std::size_t>(step - 1)] / samples;
            worst = std::max(worst, std::abs(loss - expected) / expected);
        }
        QVERIFY2(worst < 1e-8, qPrintable(QString::number(worst)));
        // The compared values change. They hardly do from a small start, or if no shortcut lets anything through.
        if (member.values.front() == "half" && member.values.back() != "none") {
            QVERIFY(trained.at(kSteps) < 0.99 * trained.at(1));
        }
    }

private:
    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestCaseStudyTraining)
#include "tst_case_study_training.moc"
