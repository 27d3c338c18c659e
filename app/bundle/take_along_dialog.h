// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/bundle/bundle_dialog.h"

#include <cstdint>

class QComboBox;

namespace residua::app {

/// Asks for the parts of a project or of one of its runs to pack into one file, and for the file's place. Shows the
/// size and writes the file.
class TakeAlongDialog : public BundleDialog {
    Q_OBJECT
public:
    /// `source` is the project's folder or a run's directory; `name` is its name.
    TakeAlongDialog(std::filesystem::path source, const QString& name, const std::filesystem::path& proposal,
                    QWidget* parent = nullptr);

private:
    [[nodiscard]] QString askForPlace() override;
    void start() override;
    void weigh();
    [[nodiscard]] engine::PackRequest request() const;

    std::filesystem::path m_source;
    QComboBox* m_checkpoints;
    QComboBox* m_data;
    std::uint64_t m_weighed = 0; ///< answers about older choices are dropped
};

} // namespace residua::app
