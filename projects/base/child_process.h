// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace residua {

/// Ours is started with the libraries that this program was started with; others with those that were set before its
/// launcher (packaging/debian/residua-launch) put LibTorch's folder in front.
enum class ChildKind { Ours, Other };

/// What is started.
struct ChildCommand {
    std::vector<std::string> words; ///< the program, looked for on the path where it has no slash, and what it is told
    ChildKind kind = ChildKind::Other;
    /// Open descriptors that become its standard ones, and stay the caller's; −1: /dev/null.
    int input = -1;
    int output = -1;
    int errors = -1;
};

/// A process that was started, in a group of its own and with no signal blocked. It is ended with this value, and with
/// it what it has started itself. Any thread, one at a time.
class ChildProcess {
public:
    [[nodiscard]] static Result<ChildProcess> start(const ChildCommand& command);
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess();

    /// Nothing while it works; then its exit status, or 128 + the signal that has ended it.
    [[nodiscard]] std::optional<int> ended();
    /// Waits for that.
    int wait();

private:
    explicit ChildProcess(pid_t process) : m_process(process) {}
    void take(int state);
    void end();

    pid_t m_process = -1; ///< leads the group; −1: it has ended
    std::optional<int> m_status;
};

} // namespace residua
