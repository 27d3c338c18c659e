// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/forked_program.h"

#include "app/cli/commands/commands.h"
#include "app/cli/terminal/process.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>

namespace residua::cli {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPatience = 3; ///< seconds

std::string contentOf(int descriptor)
{
    std::string text;
    std::array<char, 4096> part{};
    lseek(descriptor, 0, SEEK_SET);
    for (ssize_t got = 0; (got = read(descriptor, part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    close(descriptor);
    return text;
}

/// A training without end is asked to stop, as a scheduler asks.
void askToStopAfter(unsigned seconds)
{
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGTERM;
    timer_t timer{};
    itimerspec time{};
    time.it_value.tv_sec = static_cast<time_t>(seconds);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) {
        timer_settime(timer, 0, &time, nullptr);
    }
}

constexpr uid_t kNobody = 65534;

bool isNotRoot()
{
    return geteuid() != 0 || (setgid(kNobody) == 0 && setuid(kNobody) == 0 && geteuid() != 0);
}

[[noreturn]] void runAsChild(const std::vector<std::string>& words, const fs::path& folder, unsigned seconds,
                             int output, int errors)
{
    alarm(seconds);
    const int input = open("/dev/null", O_RDONLY);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    if (!isNotRoot() || chdir(folder.c_str()) != 0) {
        _exit(255);
    }
    prepareProcess();
    askToStopAfter(kPatience);
    const Exit code = runProgram(words);
    std::fflush(nullptr);
    _exit(static_cast<int>(code));
}

} // namespace

Forked runForked(const std::vector<std::string>& words, const fs::path& folder, unsigned seconds)
{
    const int output = memfd_create("output", MFD_CLOEXEC);
    const int errors = memfd_create("errors", MFD_CLOEXEC);
    std::fflush(nullptr); // what waits there would be written twice
    const pid_t child = fork();
    if (child == 0) {
        runAsChild(words, folder, seconds, output, errors);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    Forked forked;
    forked.code = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    forked.signal = child > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    forked.output = contentOf(output);
    forked.errors = contentOf(errors);
    return forked;
}

std::string Forked::objection(bool json) const
{
    if (signal != 0) {
        return signal == SIGALRM ? "it hangs" : "it was ended by signal " + std::to_string(signal);
    }
    const auto codes = exitCodes();
    if (std::ranges::none_of(codes, [this](const ExitCode& known) { return static_cast<int>(known.code) == code; })) {
        return "its exit code " + std::to_string(code) + " is none of the table";
    }
    if (code == static_cast<int>(Exit::Fault)) {
        return "it threw";
    }
    if (code != 0 && code != static_cast<int>(Exit::Complete) && errors.empty()) {
        return "it failed without a word";
    }
    if (std::ranges::any_of(errors + (json ? "" : output), [](char c) { return c == '\x1b' || c == '\a'; })) {
        return "it lets control characters through";
    }
    std::istringstream lines(output);
    for (std::string line; json && std::getline(lines, line);) {
        if (!nlohmann::json::accept(line)) {
            return "a line of its output is no JSON: " + line;
        }
    }
    return {};
}

void makeHostileFiles(const fs::path& folder)
{
    std::error_code ignored;
    mkfifo((folder / "fifo").c_str(), 0600);
    fs::create_symlink("nowhere", folder / "dangling", ignored);
    fs::create_symlink("loop", folder / "loop", ignored);
    fs::create_directory(folder / "empty-folder", ignored);
    fs::create_directory(folder / "read-only", ignored);
    fs::permissions(folder / "read-only", fs::perms::owner_read | fs::perms::owner_exec, ignored);
    std::ofstream(folder / "empty-file");
    std::ofstream(folder / "binary") << std::string("\0\xff\xfe\x80{\"a\":", 9) << std::string(300, '\x01');
    fs::create_directory(folder / "half-project", ignored);
    std::ofstream(folder / "half-project" / "project.json") << "{\"schema\": 1, \"network\": [";
    fs::create_directory(folder / "half-run", ignored);
    std::ofstream(folder / "half-run" / "run.json") << "{\"name\": 3}";
    std::ofstream(folder / "secret") << "x";
    fs::permissions(folder / "secret", fs::perms::none, ignored);
}

void giveAway(const fs::path& folder)
{
    if (geteuid() != 0) {
        return;
    }
    std::error_code code;
    std::vector<fs::path> all{folder};
    for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        all.push_back(entry->path());
    }
    for (const fs::path& path : all) {
        [[maybe_unused]] const int changed = lchown(path.c_str(), kNobody, kNobody); // else the child is told
    }
}

const std::vector<std::string>& hostileWords()
{
    static const std::vector<std::string> words{
        "",
        " ",
        "-",
        "--",
        "-1",
        "0",
        "1e300",
        "-1e300",
        "1e-300",
        "nan",
        "inf",
        "99999999999999999999",
        "0x10",
        "3.5",
        "1h99999999999999h",
        ".",
        "/proc",
        "fifo",
        "dangling",
        "loop",
        "empty-folder",
        "read-only",
        "read-only/new",
        "empty-file",
        "empty-file/below",
        "binary",
        "half-project",
        "half-run",
        "secret",
        std::string(10'000, 'a'),
        std::string(300, 'b'),
        [] {
            std::string path;
            for (int i = 0; i < 5'000; ++i) {
                path += "a/";
            }
            return path;
        }(),
        "\xff\xfe\xc3\x28",
        "\x1b[31mred\x1b]0;title\a",
        "two\nlines",
        std::string("zero\0byte", 9),
        "%s%n%99999d",
        "--json",
        "--help=yes",
        "cuda:99999999999",
        "=",
        "/a=1,2",
    };
    return words;
}

std::string asShellLine(const std::vector<std::string>& words)
{
    std::string line = "residua-cli";
    for (const std::string& word : words) {
        line += " $'";
        for (const char c : word.substr(0, 100)) {
            char text[8];
            const bool plain = c > ' ' && c < '\x7f' && c != '\'' && c != '\\';
            std::snprintf(text, sizeof text, plain ? "%c" : "\\x%02x", static_cast<unsigned char>(c));
            line += text;
        }
        line += word.size() > 100 ? "…'" : "'";
    }
    return line;
}

} // namespace residua::cli
