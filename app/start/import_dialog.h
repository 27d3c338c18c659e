// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"

#include <QDialog>

#include <filesystem>
#include <initializer_list>
#include <optional>

class QFormLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace residua::app {

class EngineBridge;

/// Asks for the folder of a model that transformers has saved and for what the project is called, and has the engine
/// make the project. While it does it shows how far it is; Cancel then gives it up, and the dialog says whether that
/// came in time, when nothing is left. Not modal. GUI thread.
class ImportDialog : public QDialog {
    Q_OBJECT
public:
    /// New projects are made in `projects`. The bridge outlives the dialog.
    ImportDialog(EngineBridge& engine, std::filesystem::path projects, QWidget* parent = nullptr);
    ~ImportDialog() override;

    /// What its first line says.
    void setFolder(const QString& folder);

signals:
    /// There is a project.
    void imported(const residua::engine::ImportReady& made);

public slots:
    void reject() override;

private:
    [[nodiscard]] QFormLayout* makeForm();
    void browseModel();
    void browseData();
    void browseDataFolder();
    void update();
    void begin();
    void end(const QString& problem);
    void take(const engine::ImportReady& made);
    [[nodiscard]] std::optional<projects::Source> data() const;
    [[nodiscard]] bool asks(engine::QueryTag tag) const { return m_question == tag; }

    EngineBridge& m_engine;
    std::filesystem::path m_projects;
    QLineEdit* m_folder;
    QLineEdit* m_name;
    QLineEdit* m_data;
    QLabel* m_place;
    QProgressBar* m_progress;
    QLabel* m_problem;
    QPushButton* m_begin = nullptr;
    QPushButton* m_cancel = nullptr;
    bool m_named = false; ///< by the user: the folder's name is not proposed any more
    std::optional<engine::QueryTag> m_question;
    bool m_givenUp = false; ///< the question; the engine has not answered yet
};

} // namespace residua::app
