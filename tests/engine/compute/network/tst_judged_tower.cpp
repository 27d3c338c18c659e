// SPDX-License-Identifier: GPL-3.0-or-later
// The tower whose objective judges a run, against that tower compiled alone.
#include "network_harness.h"

#include "projects/nodes/towers.h"
#include "tests/support/test_program.h"
#include "tests/support/text.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <QtTest>

#include <cmath>
#include <map>

using namespace residua;
using namespace residua::tests;
using projects::OwnLoss;
using projects::Project;

namespace {

/// Two language models that read nothing of each other. The second judges.
Project twoModels()
{
    Project project = tinyLanguage("transformer", "denseformer", 2);
    projects::Tower student{tinyLanguage("transformer", "plain", 3).network};
    student.network.name = "student";
    project.towers = {student};
    project.training.judgedBy = "student";
    return project;
}

std::map<std::string, double> recorded(engine::CompiledNetwork& network, const engine::DeviceBatch& batch)
{
    std::map<std::string, double> means;
    for (const engine::BatchMean& mean : network.quantities(batch, kEvaluation).means) {
        means[mean.name] += mean.mean.item<double>();
    }
    return means;
}

/// The path of the first error, with its text.
std::string errorOf(const Project& project)
{
    for (const projects::Problem& problem : projects::validate(project)) {
        if (problem.severity == projects::Severity::Error) {
            return problem.path + ": " + problem.message;
        }
    }
    return {};
}

} // namespace

class TestJudgedTower : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }

    /// The judged loss and its quantities are those of the tower alone, whether the first one has an objective or not.
    void theLossIsThatOfTheTowerAlone()
    {
        for (const OwnLoss ofFirst : {OwnLoss::Trained, OwnLoss::Measured, OwnLoss::None}) {
            Project project = twoModels();
            project.network.ownLoss = ofFirst;
            QCOMPARE(errorOf(project), std::string());
            const auto both = compiled(project);
            shake(*both, 0.2, 1);
            const auto alone = compiled(projects::aloneOf(project, 1).value());
            const at::NoGradGuard noGrad;
            for (engine::NamedParameter& each : alone->parameters()) {
                each.tensor.copy_(parameter(*both, "student." + each.name));
            }
            const engine::DeviceBatch batch = randomBatch(project, 3, 5, 2);
            const double loss = alone->loss(batch, kEvaluation).item<double>();
            QVERIFY(std::abs(both->lossOfGroup(0, batch, kEvaluation).judged.item<double>() - loss) < 1e-12);
            const auto means = recorded(*both, batch);
            const auto wanted = recorded(*alone, batch);
            QVERIFY(std::abs(means.at("loss") - loss) < 1e-12);
            QCOMPARE(means.at("accuracy"), wanted.at("accuracy"));
            QCOMPARE(means.contains("loss of network"), ofFirst != OwnLoss::None);
            QVERIFY(!means.contains("loss of student"));
            QCOMPARE(both->judge().name, std::string("student"));
        }
    }

    /// Without a name, and with that of the first tower, the first one judges.
    void theFirstTowerJudgesByItself()
    {
        Project project = twoModels();
        const engine::DeviceBatch batch = randomBatch(project, 3, 5, 2);
        const double ofStudent = recorded(*compiled(project), batch).at("loss");
        project.training.judgedBy.clear();
        const auto plain = recorded(*compiled(project), batch);
        QCOMPARE(plain.at("loss of student"), ofStudent);
        project.training.judgedBy = "network";
        QVERIFY(recorded(*compiled(project), batch) == plain);
        QVERIFY(plain.at("loss") != ofStudent);
    }

    /// An unknown tower and one without a loss are named, with the choices.
    void faultsSayWhichTowersCanJudge()
    {
        const auto fault = [](const auto& change) {
            Project project = twoModels();
            change(project);
            return errorOf(project);
        };
        const std::string unknown = fault([](Project& p) { p.training.judgedBy = "nobody"; });
        QVERIFY2(unknown == "/training/judged_by: there is no tower \"nobody\"; expected network or student",
                 unknown.c_str());
        const std::string none = fault([](Project& p) { p.towers[0].network.ownLoss = OwnLoss::None; });
        QVERIFY2(none.starts_with("/training/judged_by: ") && contains(none, "tower student, whose own_loss is none") &&
                     none.ends_with("expected network"),
                 none.c_str());
        const std::string first = fault([](Project& p) {
            p.network.ownLoss = OwnLoss::None;
            p.training.judgedBy.clear();
        });
        QVERIFY2(first.starts_with("/network/own_loss: ") && first.ends_with("or training.judged_by student"),
                 first.c_str());
        QVERIFY(contains(fault([](Project& p) { p.towers.clear(); }), "there is no tower \"student\""));
        QVERIFY(fault([](Project& p) { p.training.stabilityEvery = 2; }).starts_with("/training/stability_every: "));
        // The examples hide tokens by the objective of the first tower.
        const auto masks = [](projects::Network& network) { network.objective = projects::Objective::MaskedToken; };
        QVERIFY(fault([&](Project& p) { masks(p.towers[0].network); }).starts_with("/towers/0/objective: "));
        Project both = twoModels();
        masks(both.network);
        masks(both.towers[0].network);
        QVERIFY(!contains(errorsOf(both), "but examples are those of the first tower's objective"));
    }
};

RESIDUA_TEST(TestJudgedTower)
#include "tst_judged_tower.moc"
