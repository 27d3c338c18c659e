// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/bundle/bundle_dialog.h"

namespace residua::app {

/// Says what a bundle holds, asks where it goes, and unpacks it there.
class BringBackDialog : public BundleDialog {
    Q_OBJECT
public:
    enum class Into { NewFolder, SameProject };

    /// `proposal`: the folder to unpack into, which a person may change; for SameProject the folder of the project that
    /// the bundle's runs come from.
    BringBackDialog(std::filesystem::path file, const engine::BundleContents& contents,
                    const std::filesystem::path& proposal, Into into, QWidget* parent = nullptr);

private:
    [[nodiscard]] QString askForPlace() override;
    void begin() override;

    std::filesystem::path m_file;
};

} // namespace residua::app
