// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/command_groups.h"
#include "projects/base/result.h"

#include <filesystem>

namespace residua::app {

/// Saves the open document, reloads it from its files, and asks about changes that were recovered, that another program
/// made, or that cannot be kept anywhere. GUI thread.
class SaveCommands : public CommandGroup {
    Q_OBJECT
public:
    explicit SaveCommands(const WindowParts& parts);

    /// Shows in the banner that the document just opened is recovered unsaved work, if it is.
    void tellRecovered();
    /// Saves the document if it has changed. Returns true if its files then equal it.
    [[nodiscard]] bool saveChanges();
    /// Keeps unsaved changes for the next start. Returns false if that fails; the banner then asks the user.
    [[nodiscard]] bool mayClose();

private:
    void connectSession();
    void save();
    void saveAs();
    void saveTo(const std::filesystem::path& folder);
    void revert();
    void load(const QString& title);
    void offerReload();
    void askBeforeReplacing();
    void askBeforeClosing(const Status& kept);

    bool m_filesChanged = false; ///< by another program, and the user has not decided yet
    bool m_closes = false;       ///< closes whatever happens to the changes
};

} // namespace residua::app
