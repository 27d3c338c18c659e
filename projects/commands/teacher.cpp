// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/commands/teacher.h"

#include "projects/check/validate.h"
#include "projects/commands/tower_edits.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <utility>

namespace residua::projects {
namespace {

/// Returns an error if the two documents' inputs mean different things.
Status checkInputs(const Project& student, const Project& teacher)
{
    const ExampleField mine = examplesOf(student.data).input();
    const ExampleField other = examplesOf(teacher.data).input();
    if (mine.shape != other.shape || mine.vocabulary != other.vocabulary) {
        const auto text = [](const ExampleField& field) {
            return field.shape.text() + (field.isTokens() ? " below " + std::to_string(field.vocabulary) : "");
        };
        return Error{"teacher", "reads " + text(other) + ", the student " + text(mine) +
                                    "; expected a teacher that was trained on the same kind of examples"};
    }
    const Tokeniser* const own = tokeniserOf(student.data.source);
    const Tokeniser* const its = tokeniserOf(teacher.data.source);
    if (own != nullptr && its != nullptr && own->kind != its->kind) {
        return Error{"teacher", "reads text by another kind of tokeniser; expected the student's"};
    }
    return Done{};
}

} // namespace

Result<Project> withTeacher(Project student, const Project& teacher, const Teaching& teaching)
{
    if (const Status one = checkOneTower(teacher, "a teacher"); !one) {
        return one.error();
    }
    if (const Status same = checkInputs(student, teacher); !same) {
        return same.error();
    }
    if (towerNamed(student, teaching.name) < towerCount(student)) {
        return Error{"teacher", "there is a tower " + teaching.name + " already; expected another name"};
    }
    Tower tower{renamed(teacher.network, teaching.name)};
    tower.network.frozen = true;
    tower.network.ownLoss = OwnLoss::None;
    Loss loss;
    loss.name = teaching.name;
    loss.kind = LossKind::SoftTargets;
    loss.output = outputOf(student.network);
    loss.target = outputOf(tower.network);
    loss.weight = teaching.weight;
    loss.temperature = teaching.temperature;
    student.towers.push_back(std::move(tower));
    student.losses.push_back(std::move(loss));
    const std::vector<Problem> problems = validate(student);
    const auto error = std::ranges::find(problems, Severity::Error, &Problem::severity);
    if (error != problems.end()) {
        return Error{error->place, error->message};
    }
    return student;
}

} // namespace residua::projects
