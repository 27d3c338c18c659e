// SPDX-License-Identifier: GPL-3.0-or-later
// residua-engine --stdio: a session that takes its commands as frames from standard input and writes its events to
// standard output. It runs nothing of what it is sent, and ends when its input ends. residua-engine --background:
// a process of its own that serves the programs of this user over a socket (background_server.h).
#include "engine/base/api/environment.h"
#include "engine/base/machine/failure.h"
#include "engine/compute/session/background_server.h"
#include "engine/link/remote/remote_paths.h"
#include "engine/link/remote/remote_store.h"
#include "engine/link/wire/messages.h"
#include "projects/base/text.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace residua::engine {
namespace {

constexpr const char* kUsage =
    "residua-engine --stdio, or --background: trains and computes for Residua, which starts it and speaks with it. For "
    "use in a terminal: residua-cli --help\n";
constexpr int kIdleSeconds = 300; ///< after which a background engine without a program and a run ends

int refused(const Error& error)
{
    dprintf(STDERR_FILENO, "residua-engine: %s\n", error.text().c_str());
    return 1;
}

/// Serves the files of a place's folder until the input ends. Returns the exit code.
int serveFiles(int input, int output, RemoteStore store)
{
    const FrameWait wait{.reverse = output};
    Result<std::optional<Frame>> frame = readFrame(input, wait);
    for (; frame && *frame; frame = readFrame(input, wait)) {
        const std::optional<Frame> answer = store.answer(**std::move(frame));
        if (const Status written = answer ? writeFrame(output, *answer) : Status(Done{}); !written) {
            return refused(written.error());
        }
    }
    return frame ? 0 : refused(frame.error());
}

/// Serves one program until its input ends. Returns the exit code.
int serve(int input, int output)
{
    if (!writeFrame(output, frameOf(Hello{buildIdentity(), 0, {}}))) {
        return 1;
    }
    const FrameWait wait{.reverse = output}; // a program that reads no more is not waited for
    Result<std::optional<Frame>> frame = readFrame(input, wait);
    if (frame && !*frame) {
        return 0;
    }
    const Result<Hello> hello = frame ? helloFrom(**frame) : frame.error();
    if (!hello || hello->build != buildIdentity()) {
        const std::string got = hello ? "a program of the build " + hello->build : hello.error().text();
        dprintf(STDERR_FILENO, "residua-engine: %s; expected one of the build %s\n", got.c_str(), buildIdentity());
        return 1;
    }
    const bool hasFolder = hello->serves != Serves::Session;
    if (Result<RemoteStore> store = hasFolder ? RemoteStore::open(hello->folder) : Error{}; hasFolder && !store) {
        return refused(store.error());
    } else if (hello->serves == Serves::Files) {
        return serveFiles(input, output, *std::move(store));
    }
    std::error_code ignored; // a program on another machine may be in a folder that is not here
    std::filesystem::current_path(hello->folder, ignored);
    EventWriter writer(output);
    Session session([&](Event event) { writer.take(std::move(event)); }, hello->threads);
    while ((frame = readFrame(input, wait)) && *frame) {
        Result<Command> command = commandFrom(**frame);
        if (!command) {
            return refused(command.error());
        }
        if (const Status taken = hasFolder ? checkAtPlace(".", *command) : Status(Done{}); !taken) {
            return refused(taken.error());
        }
        session.post(*std::move(command));
    }
    return frame ? 0 : refused(frame.error());
}

/// Leaves the program that started it, its terminal and its folder. Returns in a new process.
Status detach(const BackgroundFiles& files, const FileDescriptor& lock)
{
    const FileDescriptor log = RESIDUA_TRY(openBackgroundLog(files));
    const FileDescriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!nothing.isOpen()) {
        return systemError("/dev/null", "cannot be opened", errno);
    }
    const pid_t child = fork();
    if (child < 0) {
        return systemError(files.folder, "cannot start a process", errno);
    }
    if (child > 0) {
        _exit(0); // the socket listens
    }
    setsid();
    if (chdir("/") != 0) {
        return systemError("/", "cannot be entered", errno);
    }
    dup2(nothing.get(), STDIN_FILENO);
    dup2(log.get(), STDOUT_FILENO);
    dup2(log.get(), STDERR_FILENO);
    noteBackgroundOwner(lock);
    // A log that is not empty has a block of its disk, which later lines fill also if the disk has become full.
    dprintf(STDERR_FILENO, "residua-engine: process %d of the build %s\n", getpid(), buildIdentity());
    return Done{};
}

/// Serves the programs of this user, unless another process does. Returns the exit code.
int serveInBackground(std::chrono::seconds idle)
{
    closefrom(STDERR_FILENO + 1); // files of the program that started it, such as pipes that others read to their end
    const Result<BackgroundFiles> files = backgroundFiles();
    Result<FileDescriptor> lock = files ? lockBackground(*files) : files.error();
    if (lock && !lock->isOpen()) {
        return 0;
    }
    Result<FileDescriptor> listener = lock ? listenInBackground(*files) : lock.error();
    const Status detached = listener ? detach(*files, *lock) : listener.error();
    if (!detached) {
        return refused(detached.error());
    }
    BackgroundServer(*files, *std::move(lock), *std::move(listener), idle).serve();
    return 0;
}

/// Ends the process without the destructors of static objects: those of LibTorch take half as long as loading it, and a
/// program waits for the end. Under a sanitizer with them, because it reports leaks after them.
[[noreturn]] void end(int code)
{
#if !defined(__SANITIZE_ADDRESS__)
    std::fflush(nullptr);
    std::_Exit(code);
#else
    std::exit(code);
#endif
}

/// Returns the number in an argument such as "--idle=60"; nullopt if that argument is not given.
std::optional<int> numberOf(int argc, char** argv, std::string_view option)
{
    const std::string_view argument = argc > 2 ? argv[2] : "";
    return argument.starts_with(option) ? numberFrom<int>(argument.substr(option.size())) : std::nullopt;
}

} // namespace
} // namespace residua::engine

int main(int argc, char** argv)
{
    using namespace residua;
    const std::string_view mode = argc > 1 ? argv[1] : "";
    if (mode != "--stdio" && mode != "--background") {
        dprintf(argc < 2 ? STDERR_FILENO : STDOUT_FILENO, "%s", engine::kUsage);
        return argc < 2 ? 1 : 0;
    }
    if (const std::optional<int> parent = engine::numberOf(argc, argv, "--parent=")) {
        // Ends with the thread that started it, also where that is killed.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (*parent != getppid()) {
            return 1;
        }
    }
    engine::startPrepared(argv);
    for (const int signal : {SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGXFSZ}) {
        std::signal(signal, SIG_IGN); // the program that started it hears them, and says what is to be done
    }
    if (mode == "--background") {
        return engine::serveInBackground(
            std::chrono::seconds(engine::numberOf(argc, argv, "--idle=").value_or(engine::kIdleSeconds)));
    }
    std::signal(SIGTERM, SIG_IGN);
    const int output = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO); // what a library prints does not come between frames
    int code = 1;
    // A run is stopped with a checkpoint even if there is no memory for a message.
    const auto failure = engine::attemptStandard([&] { code = engine::serve(STDIN_FILENO, output); });
    engine::end(failure ? engine::refused(Error{"engine's connection", failure->text}) : code);
}
