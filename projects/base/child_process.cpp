// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/child_process.h"

#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace residua {
namespace {

constexpr int kBySignal = 128;
constexpr std::string_view kLibraries = "LD_LIBRARY_PATH=";
constexpr std::string_view kOtherLibraries = "RESIDUA_FOREIGN_LIBRARY_PATH=";

/// The environment of the child as "NAME=value" entries.
std::vector<std::string> environmentFor(ChildKind kind)
{
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        all.emplace_back(*entry);
    }
    std::string theirs;
    const auto others = [&](const std::string& entry) { return entry.starts_with(kOtherLibraries); };
    for (const std::string& entry : all) {
        theirs = others(entry) ? entry : theirs;
    }
    if (kind == ChildKind::Ours || theirs.empty()) {
        return all;
    }
    std::erase_if(all, [&](const std::string& entry) { return entry.starts_with(kLibraries) || others(entry); });
    if (const std::string path = theirs.substr(kOtherLibraries.size()); !path.empty()) {
        all.push_back(std::string(kLibraries) + path);
    }
    return all;
}

/// Pointers to the texts, followed by a null pointer. They are valid as long as `texts`.
std::vector<char*> pointersTo(std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

Result<ChildProcess> ChildProcess::start(const ChildCommand& command)
{
    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    const std::pair<int, int> streams[] = {
        {command.input, STDIN_FILENO}, {command.output, STDOUT_FILENO}, {command.errors, STDERR_FILENO}};
    for (const auto& [ours, theirs] : streams) {
        if (ours >= 0) {
            ::posix_spawn_file_actions_adddup2(&files, ours, theirs);
        } else {
            ::posix_spawn_file_actions_addopen(&files, theirs, "/dev/null",
                                               theirs == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
        }
    }
    sigset_t none{};
    ::sigemptyset(&none); // a signal that is blocked here must still be able to end the child
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    std::vector<std::string> words = command.words;
    std::vector<std::string> environment = environmentFor(command.kind);
    pid_t process = -1;
    const int failed = ::posix_spawnp(&process, words.front().c_str(), &files, &attributes, pointersTo(words).data(),
                                      pointersTo(environment).data());
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) {
        return Error{words.front(), "cannot be started: " + std::generic_category().message(failed)};
    }
    return ChildProcess(process);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : m_process(std::exchange(other.m_process, -1)), m_status(other.m_status)
{
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept
{
    if (this != &other) {
        end();
        m_process = std::exchange(other.m_process, -1);
        m_status = other.m_status;
    }
    return *this;
}

ChildProcess::~ChildProcess()
{
    end();
}

void ChildProcess::end()
{
    if (m_process > 0) {
        ::kill(-m_process, SIGKILL);
        wait();
    }
}

void ChildProcess::take(int state)
{
    m_status = WIFEXITED(state) ? WEXITSTATUS(state) : kBySignal + WTERMSIG(state);
    m_process = -1;
}

std::optional<int> ChildProcess::ended()
{
    int state = 0;
    if (m_process > 0 && ::waitpid(m_process, &state, WNOHANG) == m_process) {
        take(state);
    }
    return m_status;
}

int ChildProcess::wait()
{
    int state = 0;
    while (m_process > 0) {
        if (::waitpid(m_process, &state, 0) == m_process) {
            take(state);
        } else if (errno != EINTR) {
            m_process = -1; // other code in this process has waited for the child
        }
    }
    return m_status.value_or(kBySignal);
}

} // namespace residua
