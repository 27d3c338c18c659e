// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace residua::cli {

/// The output and the exit code of residua-cli.
struct Forked {
    int code = -1;  ///< of the exit; −1 where a signal ended it
    int signal = 0; ///< that ended it; SIGALRM where it took too long
    std::string output;
    std::string errors;

    /// Returns the objection to how it ended, whatever it was asked: a crash, a hang, a fault of its own, a code that
    /// is none of the table, a failure without a message, or, where `json`, a line of output that is no JSON. Empty:
    /// nothing.
    [[nodiscard]] std::string objection(bool json) const;
};

/// residua-cli in a copy of this process, which starts in a hundredth of the time of a new one: thousands of command
/// lines fit into a test. Starts in `folder`; is sent SIGTERM after three seconds. Never runs as root, who could
/// replace the system's own files: see giveAway(). Opens the engine, which this process must not have used before.
[[nodiscard]] Forked runForked(const std::vector<std::string>& words, const std::filesystem::path& folder,
                               unsigned seconds = 120);

/// Makes what hostile words name in `folder`: a FIFO, links that lead nowhere, files of no sense, a read-only folder.
void makeHostileFiles(const std::filesystem::path& folder);
/// Where the test runs as root: `folder` and all in it belong to the user that runForked() becomes.
void giveAway(const std::filesystem::path& folder);
/// Words that nobody types on purpose: numbers out of range, what is no UTF-8, escape sequences, paths of ten thousand
/// characters, and the names of makeHostileFiles. None names a file outside of the folder that could be written.
[[nodiscard]] const std::vector<std::string>& hostileWords();

/// The words as a person can paste them into a shell.
[[nodiscard]] std::string asShellLine(const std::vector<std::string>& words);

} // namespace residua::cli
