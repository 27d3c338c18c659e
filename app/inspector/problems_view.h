// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/validate.h"

#include <QWidget>

#include <string>
#include <vector>

class QLabel;
class QListWidget;

namespace residua::app {

class Look;

/// What stands in the way of training, each line a link to its place.
class ProblemsView : public QWidget {
    Q_OBJECT
public:
    explicit ProblemsView(const Look& look, QWidget* parent = nullptr);

    void setProblems(const std::vector<projects::Problem>& problems);

signals:
    /// A JSON pointer into project.json.
    void jumpRequested(const std::string& pointer);

private:
    void fill();

    const Look& m_look;
    std::vector<projects::Problem> m_problems;
    QLabel* m_heading;
    QLabel* m_none;
    QListWidget* m_list;
};

} // namespace residua::app
