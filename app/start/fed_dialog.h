// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A dialog of its own, apart from new_project_dialog.h: it is for a document that exists.

#include "engine/base/api/data_summary.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <QDialog>

#include <atomic>
#include <filesystem>
#include <memory>

class QTextBrowser;

namespace residua::app {

/// Shows the first batch that a project's training feeds to the network: pictures after their random changes with their
/// labels, or texts with their hidden tokens. Reads the data on another thread. GUI thread.
class FedDialog : public QDialog {
    Q_OBJECT
public:
    FedDialog(const projects::Project& project, const std::filesystem::path& directory, QWidget* parent);
    ~FedDialog() override;

private:
    void showBatch(const Result<engine::FedBatch>& fed);

    QTextBrowser* m_examples;
    std::shared_ptr<std::atomic<bool>> m_wanted; ///< false once the dialog is gone
};

} // namespace residua::app
