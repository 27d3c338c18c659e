// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include <functional>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace residua::app {

/// Asks under which name a block is to be kept, and where. Enter keeps it in the project, Esc gives up.
class SavePopup : public QFrame {
    Q_OBJECT
public:
    explicit SavePopup(QWidget* parent);

    /// What stands in the way of a name, for the project and for the library; empty where nothing does. A library's
    /// block of that name is replaced: then `libraryNote` says so.
    struct Names {
        std::function<QString(const QString&)> projectProblem;
        std::function<QString(const QString&)> libraryNote;
    };
    /// Opens with its top right corner at `corner` (global). `layer`: text of the choice to use it there; empty: none.
    void open(QPoint corner, const QString& name, const QString& layer, Names names);

signals:
    void saveToProject(const QString& name, bool useInLayer);
    void saveToLibrary(const QString& name);

private:
    void check();

    Names m_names;
    QLineEdit* m_name;
    QCheckBox* m_useInLayer;
    QLabel* m_message;
    QPushButton* m_project;
    QPushButton* m_library;
};

} // namespace residua::app
