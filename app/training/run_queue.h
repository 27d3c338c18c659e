// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"

#include <QObject>
#include <QThreadPool>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::app {

/// Runs that wait to be trained, the next first. Until it begins, each run is stored in its project's folder
/// (runs/.queue), its project as a file with its membership beside it, so that it survives the program. GUI thread;
/// files are read and written on another thread, in order.
class RunQueue : public QObject {
    Q_OBJECT
public:
    explicit RunQueue(QObject* parent = nullptr);
    /// Waits until the files are written.
    ~RunQueue() override;

    [[nodiscard]] bool empty() const { return m_waiting.empty(); }
    [[nodiscard]] std::size_t size() const { return m_waiting.size(); }
    /// Returns the names of the projects.
    [[nodiscard]] std::vector<std::string> names() const;
    /// Returns the waiting runs, the next first.
    [[nodiscard]] std::vector<engine::StartRun> waiting() const;
    /// Returns the run that was popped last.
    [[nodiscard]] const engine::StartRun& popped() const { return m_popped.command; }
    void push(engine::StartRun command);
    /// Precondition: not empty.
    [[nodiscard]] engine::StartRun pop();
    /// Puts the run that was popped last back as the next. Precondition: there is one, and it was not put back yet.
    void putBack();
    void clear();
    /// Appends the runs that an earlier session left in that project's folder, to be trained on `device`. They are
    /// marked as taken up, and do not begin until release().
    void takeUp(const std::filesystem::path& projectDirectory, const std::string& device);
    /// True if the next run is marked as taken up. Precondition: not empty.
    [[nodiscard]] bool nextIsTakenUp() const { return m_waiting.front().begins == Begins::WhenAsked; }
    [[nodiscard]] bool hasTakenUp(const std::filesystem::path& projectDirectory) const;
    /// Removes the mark, so that these runs wait like any other.
    void release();
    /// Removes the marked runs of that project's folder.
    void forgetTakenUp(const std::filesystem::path& projectDirectory);

signals:
    /// Emitted when runs of an earlier session are queued again.
    void takenUp(int count, const std::filesystem::path& projectDirectory);
    /// Emitted when a run cannot be stored or read back.
    void failed(const residua::Error& error);

private:
    /// Runs of an earlier session begin only on request.
    enum class Begins { InTurn, WhenAsked };
    struct Waiting {
        engine::StartRun command;
        std::filesystem::path file;
        Begins begins = Begins::InTurn;

        [[nodiscard]] bool isTakenUpFrom(const std::filesystem::path& projectDirectory) const
        {
            return begins == Begins::WhenAsked && command.projectDirectory == projectDirectory;
        }
    };
    void keep(const Waiting& waiting);
    void forget(const std::filesystem::path& file);

    std::deque<Waiting> m_waiting;
    Waiting m_popped; ///< the last one
    QThreadPool m_files;
};

} // namespace residua::app
