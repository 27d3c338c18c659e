// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/document/data_check.h"
#include "projects/check/validate.h"

#include <QLabel>
#include <QListWidget>
#include <QString>
#include <QWidget>

#include <string>
#include <vector>

namespace residua::app {

class Look;

/// The problems that prevent training, each line a link to its place, with a button below it if there is a cure.
class ProblemsView : public QWidget {
    Q_OBJECT
public:
    explicit ProblemsView(const Look& look, QWidget* parent = nullptr);

    /// Shows the problems of `project`, which must be all that validate() finds, with those of its data so far.
    void setProblems(const projects::Project& project, const std::vector<projects::Problem>& problems,
                     DataCheck::State ofData);

signals:
    /// Emitted to go to this JSON pointer into project.json.
    void jumpRequested(const std::string& pointer);
    /// Emitted when the button of a problem is pressed. The cure is that of cureOf() for the current project.
    void cureRequested(const residua::projects::Problem& problem);

private:
    void fill();
    [[nodiscard]] QWidget* cureCell(const projects::Problem& problem, const QString& title);

    const Look& m_look;
    std::vector<projects::Problem> m_problems;
    std::vector<QString> m_cures; ///< titles of the buttons of the first problems; empty: no cure
    QLabel* m_heading = new QLabel(tr("Problems"), this);
    QLabel* m_none = new QLabel(this);
    QListWidget* m_list = new QListWidget(this);
};

} // namespace residua::app
