// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace residua {

/// Selects the child's library path. Ours gets the path that this program was started with; Other gets the path from
/// before the launcher (packaging/debian/residua-launch) put LibTorch's folder in front.
enum class ChildKind { Ours, Other };

/// The program, its arguments and its standard streams.
struct ChildCommand {
    std::vector<std::string> words; ///< the program, found on the path if it has no slash, and its arguments
    ChildKind kind = ChildKind::Other;
    /// Open descriptors for the child's standard streams. The caller keeps ownership. −1: /dev/null.
    int input = -1;
    int output = -1;
    int errors = -1;
};

/// A child process in a process group of its own, with no signal blocked. The destructor ends it and the processes that
/// it has started. Any thread, one at a time.
class ChildProcess {
public:
    [[nodiscard]] static Result<ChildProcess> start(const ChildCommand& command);
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess();

    /// Returns the exit status, 128 + the signal that ended the process, or nullopt while it runs.
    [[nodiscard]] std::optional<int> ended();
    /// Waits for the end of the process and returns its status as ended() does.
    int wait();

private:
    explicit ChildProcess(pid_t process) : m_process(process) {}
    void take(int state);
    void end();

    pid_t m_process = -1; ///< the leader of the group; −1 once it has ended
    std::optional<int> m_status;
};

} // namespace residua
