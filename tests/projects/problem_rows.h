// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of mistakes: a change of a project, and the problems that validate() names then.
#pragma once

#include "projects/check/validate.h"

#include <QTest>

#include <functional>

namespace residua::tests {
using ProjectChange = std::function<void(projects::Project&)>;

inline constexpr const char* kPlainBlock = "x input; a linear; y output; x > a; a > y";

/// "E /path [place] message", one a line; W for a warning.
inline QString problemsOf(const projects::Project& project)
{
    QStringList lines;
    for (const projects::Problem& problem : projects::validate(project)) {
        const QString kind = problem.severity == projects::Severity::Error ? "E " : "W ";
        lines << kind + QString::fromStdString(problem.path + " " + problem.text());
    }
    return lines.join('\n');
}

/// The columns of a table of changes and what is said of them.
inline void rows()
{
    QTest::addColumn<ProjectChange>("change");
    QTest::addColumn<QString>("expected");
}

/// Compares the problems of `project` with the row's expected ones.
inline void check(projects::Project project)
{
    QFETCH(ProjectChange, change);
    QFETCH(QString, expected);
    QCOMPARE(problemsOf(project), "");
    change(project);
    QCOMPARE(problemsOf(project), expected);
}

} // namespace residua::tests
