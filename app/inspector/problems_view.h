// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/validate.h"

#include <QString>
#include <QWidget>

#include <string>
#include <vector>

class QLabel;
class QListWidget;

namespace residua::app {

class Look;

/// What stands in the way of training, each line a link to its place; below it a button, where there is a cure.
class ProblemsView : public QWidget {
    Q_OBJECT
public:
    explicit ProblemsView(const Look& look, QWidget* parent = nullptr);

    /// Shows the problems of `project`: all that validate() finds.
    void setProblems(const projects::Project& project, const std::vector<projects::Problem>& problems);

signals:
    /// The user wants to go to this JSON pointer into project.json.
    void jumpRequested(const std::string& pointer);
    /// The button of a problem was pressed: what cures it is cureOf the project as it now is.
    void cureRequested(const residua::projects::Problem& problem);

private:
    void fill();
    [[nodiscard]] QWidget* cureCell(const projects::Problem& problem, const QString& title);

    const Look& m_look;
    std::vector<projects::Problem> m_problems;
    std::vector<QString> m_cures; ///< the titles of the first problems' buttons; empty: no cure
    QLabel* m_heading;
    QLabel* m_none;
    QListWidget* m_list;
};

} // namespace residua::app
