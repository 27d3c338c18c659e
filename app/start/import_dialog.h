// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/ask_dialog.h"
#include "engine/base/api/session.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

class QLineEdit;
class QTreeWidget;

namespace residua::app {

class EngineBridge;

/// Asks for the folder of a model saved by transformers and the name of the project, and has the engine make the
/// project. Shows the progress; Cancel stops the import, and the dialog reports whether this was in time, in which case
/// nothing is left. A single safetensors file is for the open project, in another dialog (fileChosen). Not modal. GUI
/// thread.
class ImportDialog : public AskDialog {
    Q_OBJECT
public:
    /// New projects are made in `projects`. `engine` must outlive the dialog.
    ImportDialog(EngineBridge& engine, std::filesystem::path projects, QWidget* parent = nullptr);

    /// Sets the path in the first line.
    void setFolder(const QString& folder);

signals:
    /// Emitted when a project was made.
    void imported(const residua::engine::ImportReady& made);
    /// Emitted with a file of tensors, in place of an import.
    void fileChosen(const std::filesystem::path& file);

public slots:
    void reject() override;

private:
    void addRows();
    [[nodiscard]] QTreeWidget* makeTable();
    void ask(engine::ImportRequest request);
    void browseModel();
    void browseFile();
    void browseData();
    void browseDataFolder();
    void update();
    [[nodiscard]] QString place(const QString& model, const QString& name) const;
    void begin() override;
    void lookAtData(const std::filesystem::path& path, engine::ImportRequest request);
    [[nodiscard]] static QString givenUpText();
    void showDetails(const std::vector<std::string>& details);
    void end(const QString& problem);
    void take(const engine::ImportReady& made);
    /// True if the first line names a file of tensors.
    [[nodiscard]] bool namesFile() const;

    EngineBridge& m_engine;
    std::filesystem::path m_projects;
    QLineEdit* m_folder;
    QLineEdit* m_name;
    QLineEdit* m_data;
    QLabel* m_place;
    QTreeWidget* m_table; ///< the tensors that do not fit
    QPushButton* m_cancel;
    bool m_named = false; ///< true if the user has changed the name, so that the folder's name is not proposed any more
    std::optional<engine::QueryTag> m_question;
    bool m_looks = false;   ///< true while another thread finds out what the data are
    bool m_givenUp = false; ///< true if the import was cancelled and has not ended yet
};

} // namespace residua::app
