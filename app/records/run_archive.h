// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/records/run_comparison.h"

#include <QObject>
#include <QString>
#include <QThreadPool>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace residua::app {

/// A run in the trash.
struct TrashedRun {
    std::string directory;       ///< original directory
    std::filesystem::path place; ///< current place, for restoring it
};

/// The actions on whole runs: lists, notes, trash, comparison, report. Nothing here waits; requests are handled in
/// order. GUI thread.
class RunArchive : public QObject {
    Q_OBJECT
public:
    explicit RunArchive(QObject* parent = nullptr);

    /// Returns the archive's single thread, which runs work in the order in which it is started.
    [[nodiscard]] QThreadPool& thread() { return m_thread; }

    void rename(const std::string& run, const std::string& name);
    void annotate(const std::string& run, const std::vector<std::string>& tags, const std::string& notes);
    void compare(const std::string& first, const std::string& second);
    void writeReport(const std::string& run, const QString& path);
    void trash(const std::vector<std::string>& runs);
    void restore(const std::vector<TrashedRun>& runs);

signals:
    void refused(const QString& reason);
    void compared(const std::shared_ptr<const residua::app::RunComparison>& comparison);
    void reportWritten(const QString& path);
    void trashed(const std::vector<residua::app::TrashedRun>& runs);
    void restored();

private:
    void refuse(const Status& status);

    QThreadPool m_thread;
};

} // namespace residua::app
