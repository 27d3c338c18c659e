// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/bundle/bundle_dialog.h"

#include <cstdint>

class QComboBox;

namespace residua::app {

/// Asks what of a project, or of one of its runs, is written as one file, and where; says how large it is, and writes
/// it.
class TakeAlongDialog : public BundleDialog {
    Q_OBJECT
public:
    /// `source`: the project's folder or a run's directory; `name`: what it is called.
    TakeAlongDialog(std::filesystem::path source, const QString& name, const std::filesystem::path& proposal,
                    QWidget* parent = nullptr);

private:
    [[nodiscard]] QString askForPlace() override;
    void begin() override;
    void weigh();
    [[nodiscard]] engine::PackRequest request() const;

    std::filesystem::path m_source;
    QComboBox* m_checkpoints;
    QComboBox* m_data;
    std::uint64_t m_weighed = 0; ///< an answer about an older choice is dropped
};

} // namespace residua::app
