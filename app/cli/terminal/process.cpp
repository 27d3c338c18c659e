// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/process.h"

#include "app/cli/terminal/console.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace residua::cli {
namespace {

volatile std::sig_atomic_t asJson = 0; ///< read by the signal handler

void put(int descriptor, std::string_view text)
{
    [[maybe_unused]] const ssize_t written = write(descriptor, text.data(), text.size());
}

/// Uses only functions that are safe in a signal handler.
void quit(int)
{
    put(STDERR_FILENO, "error: interrupted; stopped at once\n");
    if (asJson != 0) {
        put(STDOUT_FILENO, R"({"error":{"code":131,"message":"interrupted; stopped at once","place":""}})"
                           "\n");
    }
    _exit(static_cast<int>(Exit::Quit));
}

volatile std::sig_atomic_t hasInterrupted = 0;

void noteInterrupt(int)
{
    hasInterrupted = 1;
}

void handle(int signal, void (*handler)(int))
{
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

/// Sets the handler of signals that ask for the end. A hang-up is included unless it is ignored (nohup).
void handleEnds(void (*handler)(int))
{
    handle(SIGINT, handler);
    handle(SIGTERM, handler);
    struct sigaction hangUp {};
    if (sigaction(SIGHUP, nullptr, &hangUp) == 0 && hangUp.sa_handler != SIG_IGN) {
        handle(SIGHUP, handler);
    }
}

/// Opens /dev/null in the wrong direction for each closed standard descriptor: no later file gets its number.
void openStandardDescriptors()
{
    constexpr int kDirections[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
        if (fcntl(descriptor, F_GETFD) < 0) {
            // This is the lowest free number.
            [[maybe_unused]] const int opened = open("/dev/null", kDirections[descriptor]);
        }
    }
}

} // namespace

void prepareProcess()
{
    openStandardDescriptors();
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2}) {
        handle(signal, SIG_IGN);
    }
    handleEnds(&quit);
}

Interruptible::Interruptible()
{
    hasInterrupted = 0;
    handleEnds(&noteInterrupt);
}

Interruptible::~Interruptible()
{
    handleEnds(&quit);
}

bool Interruptible::interrupted() const
{
    return hasInterrupted != 0;
}

void tellQuitAsJson()
{
    asJson = 1;
}

Result<ScratchFolder> scratchDirectory(const std::string& prefix)
{
    std::error_code code;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(code);
    if (code) {
        const char* const named = std::getenv("TMPDIR");
        return Error{named != nullptr ? named : "/tmp",
                     "is no folder for temporary files: " + code.message() + "; set TMPDIR to one, or unset it"};
    }
    constexpr std::uint32_t kForUs = 0700;
    auto scratch = ScratchFolder::make(folder, prefix, kForUs);
    return scratch ? std::move(scratch)
                   : Error{folder.string(), scratch.error().message + "; set TMPDIR to another folder"};
}

} // namespace residua::cli
