// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sweep/sweep_training.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <set>
#include <system_error>
#include <thread>

namespace residua::cli {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
constexpr const char* kThreads = "OMP_NUM_THREADS";
constexpr int kCannotStart = 127; // as in a shell

sigset_t awaited()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (const int signal : kPassedOn) {
        sigaddset(&set, signal);
    }
    return set;
}

/// Blocks signals during its lifetime, so that they stay pending until they are taken.
class HeldSignals {
public:
    HeldSignals()
    {
        const sigset_t set = awaited();
        pthread_sigmask(SIG_BLOCK, &set, &m_before);
    }
    ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;
    [[nodiscard]] const sigset_t& before() const { return m_before; }

private:
    sigset_t m_before{};
};

/// Returns the number of threads of each process, as OpenMP reads it; empty: given by the environment.
std::string threadsOfEach(const Jobs& jobs, std::size_t count)
{
    if (jobs.threads > 0) {
        return std::to_string(jobs.threads);
    }
    if (std::getenv(kThreads) != nullptr) {
        return {};
    }
    const std::size_t processors = std::max(std::thread::hardware_concurrency(), 1U);
    return std::to_string(std::max<std::size_t>(processors / count, 1));
}

/// In the child: executes this program with other words. The child has a process group of its own, so that Ctrl-C at a
/// terminal comes once, through the parent.
[[noreturn]] void become(std::vector<char*>& words, pid_t parent, const sigset_t& mask, Jobs::Output output)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        _exit(kCannotStart); // the parent died before it could be watched
    }
    if (output == Jobs::Output::Dropped) {
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    }
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    execv("/proc/self/exe", words.data());
    _exit(kCannotStart);
}

/// True if the signal asks a process to end, and the process died of it before it could end in order.
bool isAnEnd(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

/// Returns the exit code of this program for the status of a process.
Exit exitOf(int status, const Console& console)
{
    if (WIFSIGNALED(status) && isAnEnd(WTERMSIG(status))) {
        return Exit::Quit;
    }
    if (WIFSIGNALED(status)) {
        console.remark("error: a process of the sweep was ended by signal " + std::to_string(WTERMSIG(status)) +
                       "; what it trained goes on from its last checkpoint");
        return Exit::RunFailed;
    }
    const int code = WEXITSTATUS(status);
    if (code == kCannotStart) {
        console.remark("error: a process of the sweep could not be started");
    }
    for (const Exit known : {Exit::Ok, Exit::Interrupted, Exit::Quit, Exit::TimeLimit}) {
        if (code == static_cast<int>(known)) {
            return known;
        }
    }
    return Exit::RunFailed;
}

/// Returns the more severe exit code. A code that ends the whole sweep has priority over that of one member.
Exit worse(Exit a, Exit b)
{
    for (const Exit end : {Exit::Quit, Exit::Interrupted, Exit::TimeLimit}) {
        if (a == end || b == end) {
            return end;
        }
    }
    return a == Exit::Ok ? b : a;
}

/// Waits for all processes, and forwards signals to them.
Exit waitFor(std::set<pid_t> processes, const Console& console)
{
    Exit worst = Exit::Ok;
    const sigset_t set = awaited();
    while (!processes.empty()) {
        const int signal = sigwaitinfo(&set, nullptr);
        if (signal == SIGCHLD) {
            int status = 0;
            for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;) {
                if (processes.erase(ended) > 0) {
                    worst = worse(worst, exitOf(status, console));
                }
            }
        } else if (signal > 0) {
            for (const pid_t process : processes) {
                kill(process, signal);
            }
        }
    }
    return worst;
}

} // namespace

Exit runJobs(std::vector<std::vector<std::string>> words, const Jobs& jobs, const Console& console)
{
    const HeldSignals held;
    const pid_t parent = getpid();
    const std::string threads = threadsOfEach(jobs, words.size());
    if (!threads.empty()) {
        setenv(kThreads, threads.c_str(), 1); // the children inherit it; this process computes nothing
    }
    std::set<pid_t> processes;
    for (std::vector<std::string>& each : words) {
        std::string program = "residua-cli";
        std::vector<char*> pointers{program.data()};
        for (std::string& word : each) {
            pointers.push_back(word.data());
        }
        pointers.push_back(nullptr);
        const pid_t child = fork();
        if (child == 0) {
            become(pointers, parent, held.before(), jobs.output);
        }
        if (child < 0) {
            console.remark("error: only " + std::to_string(processes.size()) + " of " + std::to_string(words.size()) +
                           " processes could be started: " + std::generic_category().message(errno));
            break;
        }
        setpgid(child, child); // also done in the child, because either may come first
        processes.insert(child);
    }
    return processes.empty() ? Exit::RunFailed : waitFor(std::move(processes), console);
}

} // namespace residua::cli
