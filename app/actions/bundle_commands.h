// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/command_groups.h"
#include "engine/link/bundle/pack.h"
#include "engine/link/bundle/unpack.h"

#include <filesystem>

namespace residua::app {

class BringBackDialog;
class SaveCommands;

/// Packs the open project, or one of its runs, into one file, and unpacks such files. GUI thread.
class BundleCommands : public CommandGroup {
    Q_OBJECT
public:
    BundleCommands(const WindowParts& parts, SaveCommands& saving);

    void bringBack(const std::filesystem::path& file);

signals:
    void projectCame(const std::filesystem::path& folder);

private:
    void takeAlong();
    void chooseAndBringBack();
    void take(const std::filesystem::path& source, const QString& name);
    void askWhere(const std::filesystem::path& file, const engine::BundleContents& contents);
    void tellPacked(const engine::PackedBundle& bundle, const QString& file);
    void tellUnpacked(const engine::UnpackedBundle& bundle);
    void tellNotes(const std::vector<std::string>& notes);

    SaveCommands& m_saving;
};

} // namespace residua::app
