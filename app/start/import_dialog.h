// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"

#include <QDialog>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

class QFormLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QTreeWidget;

namespace residua::app {

class EngineBridge;

/// A project that tensors of a file can be put onto.
struct OntoProject {
    projects::Project project;
    std::filesystem::path directory;
};

/// Asks for the folder of a model that transformers has saved and for what the project is called, and has the engine
/// make the project. While it does it shows how far it is; Cancel then gives it up, and the dialog says whether that
/// came in time, when nothing is left. A single safetensors file becomes the first weights of a run of the open project
/// instead, and a table says what of it fits. Not modal. GUI thread.
class ImportDialog : public QDialog {
    Q_OBJECT
public:
    /// New projects are made in `projects`. The bridge outlives the dialog.
    ImportDialog(EngineBridge& engine, std::filesystem::path projects, QWidget* parent = nullptr);
    ~ImportDialog() override;

    /// Sets the path that its first line shows.
    void setFolder(const QString& folder);
    /// Sets the function that tells the open project, which is called when it is needed; nothing where none is open.
    void setOpenProject(std::function<std::optional<OntoProject>()> project);

signals:
    /// A project was made.
    void imported(const residua::engine::ImportReady& made);
    /// A run of the open project was made.
    void loaded(const residua::engine::LoadWeightsReady& made);

public slots:
    void reject() override;

private:
    [[nodiscard]] QFormLayout* makeForm();
    [[nodiscard]] QTreeWidget* makeTable();
    void connectEngine();
    void browseModel();
    void browseFile();
    void browseData();
    void browseDataFolder();
    void update();
    [[nodiscard]] QString place(const QString& model, const QString& name) const;
    void begin();
    void load();
    void showDetails(const std::vector<std::string>& details);
    void end(const QString& problem);
    void take(const engine::ImportReady& made);
    void take(const engine::LoadWeightsReady& made);
    /// Whether the first line names a file of tensors.
    [[nodiscard]] bool namesFile() const;
    [[nodiscard]] std::optional<OntoProject> openProject() const { return m_onto ? m_onto() : std::nullopt; }
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
    QTreeWidget* m_table; ///< what of a file fits
    QPushButton* m_begin = nullptr;
    QPushButton* m_cancel = nullptr;
    bool m_named = false; ///< by the user: the folder's name is not proposed any more
    std::function<std::optional<OntoProject>()> m_onto;
    std::optional<engine::QueryTag> m_question;
    bool m_givenUp = false; ///< the question; the engine has not answered yet
};

} // namespace residua::app
