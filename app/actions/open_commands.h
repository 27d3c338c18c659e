// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/command_groups.h"
#include "app/document/document_session.h"

#include <filesystem>
#include <string>

class QMenu;

namespace residua::app {

/// Opens a document in the window: from a folder, an example, the dialog of a new project, an imported model, or the
/// unsaved work of an earlier session. GUI thread.
class OpenCommands : public CommandGroup {
    Q_OBJECT
public:
    explicit OpenCommands(const WindowParts& parts);

    /// Opens a project's folder, a run's folder (opens its project and shows the run, wherever it is), a page in a
    /// project's folder of runs, or a bundle, which is unpacked as the user chooses. The banner shows errors.
    void open(const std::filesystem::path& path);
    /// Opens the folder of a project or a run.
    [[nodiscard]] Status openFolder(const std::filesystem::path& folder);
    /// Opens a copy of an example as an unsaved project. The error for an unknown name lists the examples.
    [[nodiscard]] Status openExample(const std::string& name);
    /// Lists the recent projects in their menu. The menu does so itself only when it is opened.
    void fillRecent();
    /// Opens a thing that was dropped on the window. Also accepts the folder of a model or a file of tensors, which
    /// starts an import, and a text or another file or folder of data, which starts a new project.
    void takeDropped(const std::filesystem::path& path);

signals:
    /// Emitted with the name of a page of the open project that is to be shown.
    void pageGiven(const QString& name);
    void bundleGiven(const std::filesystem::path& file);
    /// Emitted with a file of tensors for the open project.
    void tensorsGiven(const std::filesystem::path& file);
    /// Emitted when the project of a run was opened through the run. `run` is absolute, without "..".
    void runOpened(const std::filesystem::path& run);

protected:
    /// Accepts drops of files on the window.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void connectStartPage();
    void fillExamples();
    void refuse(const Status& status);
    [[nodiscard]] Status openPage(const std::filesystem::path& file);
    [[nodiscard]] Status openRun(const std::filesystem::path& run);
    void chooseAndOpen();
    /// `data` is a proposed file or folder; may be empty.
    void askForNew(const QString& data);
    /// `model` is a proposed folder; may be empty.
    void askForModel(const QString& model);
    void takeUpDraft(const QString& folder);
    void moveDraftToTrash(const Draft& draft);

    StartPage& m_start;
    QMenu* m_examples;
    QMenu* m_recent;
};

} // namespace residua::app
