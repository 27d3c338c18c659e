// SPDX-License-Identifier: GPL-3.0-or-later
// The table of objectives: what every entry of it must have, and that a document can choose it.
#include "projects/check/validate.h"
#include "projects/commands/commands.h"
#include "projects/commands/new_project.h"
#include "projects/file/json.h"
#include "projects/model/objective.h"
#include "projects/nodes/example_schema.h"
#include "projects/pytorch/pytorch_code.h"
#include "projects/schema/method_keys.h"
#include "projects/shipped/examples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace residua::projects;

namespace {

/// An example whose data the objective is for, or whose data it is not for.
Project exampleWith(const ObjectiveTraits& objective, bool fitting)
{
    const bool tokens = (objective.target == Element::Token) == fitting;
    Project project = findExample(tokens ? "plain-language" : "linear-ancre")->project;
    if (fitting && tokens && objective.targetOf == TargetOf::Example) {
        project = *projectFrom(
            proposalFor(LabelledTextData{.path = "a.csv", .validationPath = {}, .second = "other", .tokeniser = {}}));
    }
    if (fitting && objective.diffuses) {
        project = findExample("small-vit")->project;
        project.data.diffusion.learnsVariance = false; // whose loss reads the step too
    }
    if (fitting && objective.acts) {
        const std::int64_t features = project.stack().width;
        project.data.source =
            WorldData{.kind = WorldKind::Mujoco, .path = "model", .states = features, .actions = features, .goals = 1};
        project.network.ownLoss = OwnLoss::Measured;
        project.training.batching = BatchKind::Random;
    }
    project.network.objective = objective.objective;
    if (auto* const language = std::get_if<SyntheticLanguage>(&project.data.source); language && objective.denoises) {
        language->vocabulary += tokensAdded(project.data.denoising);
    }
    return project;
}

std::vector<Problem> errorsOf(const Project& project)
{
    std::vector<Problem> problems = validate(project);
    std::erase_if(problems, [](const Problem& problem) { return problem.severity != Severity::Error; });
    return problems;
}

} // namespace

class TestObjectives : public QObject {
    Q_OBJECT

private slots:
    /// Files of any age have these.
    void theKeysOfFilesStay()
    {
        QCOMPARE(keyOf(Objective::NextToken), std::string("next_token"));
        QCOMPARE(keyOf(Objective::HalfSquaredError), std::string("half_squared_error"));
        QCOMPARE(keyOf(Objective::MeanSquaredError), std::string("mean_squared_error"));
        QCOMPARE(keyOf(Objective::Classification), std::string("classification"));
        QCOMPARE(keyOf(Objective::MaskedToken), std::string("masked_token"));
        QCOMPARE(keyOf(Objective::Denoising), std::string("mixture_of_denoisers"));
        QCOMPARE(keyOf(Objective::Diffusion), std::string("denoising_diffusion"));
        QCOMPARE(keyOf(Objective::TimeAtGoal), std::string("time_at_goal"));
    }

    void keysAndTitlesAreUnique()
    {
        std::set<std::string_view> keys;
        std::set<std::string_view> titles;
        for (const ObjectiveTraits& objective : kObjectives) {
            QVERIFY(keys.insert(objective.key).second);
            QVERIFY(titles.insert(objective.title).second);
        }
    }

    void everyEntry_data()
    {
        QTest::addColumn<int>("index");
        for (const ObjectiveTraits& objective : kObjectives) {
            QTest::newRow(std::string(objective.key).c_str()) << static_cast<int>(objective.objective);
        }
    }
    void everyEntry()
    {
        QFETCH(int, index);
        const ObjectiveTraits& objective = traitsOf(static_cast<Objective>(index));
        QCOMPARE(static_cast<int>(objective.objective), index);
        QVERIFY(!objective.key.empty() && !objective.title.empty() && !objective.predicts.empty());
        QVERIFY(!objective.words.empty() && objective.words.back() != '.');
        hasPyTorch(objective);
        isReadAsItIsWritten(objective);
        fitsItsData(objective);
    }

    /// Attention that hides later tokens is a warning for an objective that hides some of all.
    void hiddenTokensWantBothDirections()
    {
        Project project = exampleWith(traitsOf(Objective::MaskedToken), true);
        const auto warns = [&] {
            return std::ranges::any_of(validate(project), [](const Problem& problem) {
                return problem.path == "/network/objective" && problem.message.ends_with("is causal");
            });
        };
        QVERIFY(warns());
        for (Node& node : project.network.blocks[0].graph.nodes) {
            if (node.kind == "attention") {
                node.params["causal"] = false;
            }
        }
        QVERIFY(!warns());
    }

private:
    static void hasPyTorch(const ObjectiveTraits& objective)
    {
        const auto sound = soundProject(exampleWith(objective, true));
        QVERIFY(sound.ok());
        const auto code = pyTorchCodeOf(*sound, {});
        QVERIFY(code.ok());
        const QString model = QString::fromStdString(code->model).simplified(); // long words fill several lines
        const auto says = [&](std::string_view text) {
            return model.contains(QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())));
        };
        QVERIFY(objective.pyTorch.find("output") != std::string_view::npos);
        QVERIFY(says(objective.pyTorch) && says(objective.words));
        const bool tokens = objective.target == Element::Token;
        QCOMPARE(says("def loss(self, tokens, targets"), tokens);
        QCOMPARE(says("def loss(self, x, target):"), !tokens);
    }

    static void isReadAsItIsWritten(const ObjectiveTraits& objective)
    {
        const Project project = exampleWith(objective, true);
        const std::string text = toJson(project);
        QVERIFY(text.find("\"objective\": \"" + std::string(objective.key) + "\"") != std::string::npos);
        const auto read = projectFromJson(text);
        QVERIFY(read.ok());
        QVERIFY(*read == project);
    }

    /// A project on data of the other element says so, and is cured.
    static void fitsItsData(const ObjectiveTraits& objective)
    {
        const Project fitting = exampleWith(objective, true);
        QVERIFY(fits(objective, examplesOf(fitting)));
        QVERIFY(errorsOf(fitting).empty());

        const Project other = exampleWith(objective, false);
        const std::vector<Problem> errors = errorsOf(other);
        QCOMPARE(errors.size(), std::size_t{1});
        QCOMPARE(errors.front().path, std::string("/network/objective"));
        QVERIFY(errors.front().message.starts_with(objective.title));
        const auto cure = cureOf(other, errors.front());
        QVERIFY(cure.has_value());
        Document document{other, {}};
        QVERIFY(applyEdit(document, cure->edit).ok());
        QVERIFY(errorsOf(document.project).empty());
        const ObjectiveTraits& chosen = traitsOf(document.project.network.objective);
        QCOMPARE(cure->title, "Set the objective to " + std::string(chosen.title));
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestObjectives)
#include "tst_objectives.moc"
