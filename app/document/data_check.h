// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/check/validate.h"
#include "projects/model/project.h"

#include <QObject>
#include <QTimer>

#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

namespace residua::app {

/// Reads the data of a project as training would, on another thread, and keeps what would stop it. Large data are not
/// read before a run reads them. GUI thread.
class DataCheck : public QObject {
    Q_OBJECT
public:
    enum class State {
        Idle,    ///< there is nothing to read, or it has not been asked for
        Reading, ///< problems() may follow
        Done,
        TooLarge ///< the data are read when a run starts
    };

    explicit DataCheck(QObject* parent = nullptr);
    ~DataCheck() override;

    /// Checks the data of this project, unless they were. The project must have no errors of its own.
    void check(const projects::Project& project, const std::filesystem::path& directory);
    /// Forgets the result, because no project is open or it has other errors.
    void clear();
    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] const std::vector<projects::Problem>& problems() const { return m_problems; }

signals:
    void changed();

private:
    /// The parts of a project that decide how its data are read.
    struct Subject {
        projects::DataSource data;
        projects::Objective objective{};
        std::int64_t sequenceLength = 0;
        std::int64_t batch = 0;
        std::filesystem::path directory;
        bool operator==(const Subject&) const = default;
    };

    void read();

    std::shared_ptr<std::atomic<bool>> m_wanted; ///< false once the running reading is outdated
    projects::Project m_project;
    Subject m_subject;
    bool m_known = false; ///< m_subject was asked for
    State m_state = State::Idle;
    std::vector<projects::Problem> m_problems;
    QTimer m_soon;
};

} // namespace residua::app
