// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"

#include <QObject>
#include <QThreadPool>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::app {

/// Runs that wait to be trained, the next first. Until it begins each is kept in its project's folder (runs/.queue),
/// its project as a file and its membership beside it, so that it outlives the program. GUI thread; files are read and
/// written on another, in order.
class RunQueue : public QObject {
    Q_OBJECT
public:
    explicit RunQueue(QObject* parent = nullptr);
    /// Waits until the files are written.
    ~RunQueue() override;

    [[nodiscard]] bool empty() const { return m_waiting.empty(); }
    [[nodiscard]] std::size_t size() const { return m_waiting.size(); }
    /// The projects' names.
    [[nodiscard]] std::vector<std::string> names() const;
    void push(engine::StartRun command);
    /// Precondition: not empty.
    [[nodiscard]] engine::StartRun pop();
    /// The one that was popped last waits again, as the next. Precondition: there is one, and it was not put back yet.
    void putBack();
    void clear();
    /// Puts what an earlier session left in that project's folder at the end, to be trained on `device`. It counts as
    /// taken up, and waits to be asked for, until release().
    void takeUp(const std::filesystem::path& projectDirectory, const std::string& device);
    /// Whether the next is one that was taken up. Precondition: not empty.
    [[nodiscard]] bool nextIsTakenUp() const { return m_waiting.front().begins == Begins::WhenAsked; }
    [[nodiscard]] bool hasTakenUp(const std::filesystem::path& projectDirectory) const;
    /// What was taken up waits as any other from now on.
    void release();
    /// Forgets what was taken up from that project's folder.
    void forgetTakenUp(const std::filesystem::path& projectDirectory);

signals:
    /// So many runs of an earlier session wait again.
    void takenUp(int count, const std::filesystem::path& projectDirectory);
    /// A run cannot be kept, or not be read back.
    void failed(const residua::Error& error);

private:
    /// Runs that an earlier session left do not begin unasked.
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
    Waiting m_popped; ///< the last
    QThreadPool m_files;
};

} // namespace residua::app
