// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/bundle/bundle_dialog.h"

namespace residua::app {

/// Describes the contents of a bundle, asks for a folder, and unpacks it there.
class BringBackDialog : public BundleDialog {
    Q_OBJECT
public:
    enum class Into { NewFolder, SameProject };

    /// `proposal` is the initial folder to unpack into; for SameProject, the folder of the project that the bundle's
    /// runs belong to.
    BringBackDialog(std::filesystem::path file, const engine::BundleContents& contents,
                    const std::filesystem::path& proposal, Into into, QWidget* parent = nullptr);

private:
    [[nodiscard]] QString askForPlace() override;
    void start() override;

    std::filesystem::path m_file;
};

} // namespace residua::app
