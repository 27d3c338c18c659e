// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include <functional>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace residua::app {

/// Asks for the name and place under which a block is saved. Enter saves it to the project, Esc cancels.
class SavePopup : public QFrame {
    Q_OBJECT
public:
    explicit SavePopup(QWidget* parent);

    /// The reasons why a name cannot be used, for the project and for the library; empty if it can. A library's block
    /// with this name is replaced, and `libraryNote` tells that.
    struct Names {
        std::function<QString(const QString&)> projectProblem;
        std::function<QString(const QString&)> libraryNote;
    };
    /// Opens with its top right corner at `corner` (global). `layer` is the text of the choice to use it there; may be
    /// empty.
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
