// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/tokeniser_training.h"

#include "engine/data/sentence_piece_model.h"
#include "engine/data/text_codec.h"
#include "engine/data/text_files.h"
#include "engine/files/own_library.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrainer = "residua-train-tokeniser";
constexpr int kLookMilliseconds = 100;

/// The trainer's process: it reads from our socket, and writes there what it has to say. Ends with the object.
class Trainer {
public:
    ~Trainer()
    {
        if (m_process > 0) {
            ::kill(m_process, SIGKILL);
            wait();
        }
    }
    Trainer() = default;
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;

    Status start(const fs::path& program, const std::vector<std::string>& words)
    {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            return systemError(program, "cannot be talked to", errno);
        }
        m_socket = FileDescriptor(ends[0]);
        const FileDescriptor theirs(ends[1]);
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
            ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), standard);
        }
        std::vector<char*> arguments;
        for (const std::string& word : words) {
            arguments.push_back(const_cast<char*>(word.c_str()));
        }
        arguments.push_back(nullptr);
        const int code = ::posix_spawn(&m_process, program.c_str(), &actions, nullptr, arguments.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        if (code != 0) {
            m_process = 0;
            return systemError(program, "cannot be started", code);
        }
        return Done{};
    }

    /// False where it does not listen any more.
    bool send(std::string_view text)
    {
        while (!text.empty()) {
            const ssize_t sent = ::send(m_socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno != EINTR) {
                return false;
            }
            text.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
        }
        return true;
    }
    void endText() { ::shutdown(m_socket.get(), SHUT_WR); }

    /// Waits a moment for what it says; false once it has said everything.
    bool listen()
    {
        pollfd ready{m_socket.get(), POLLIN, 0};
        if (::poll(&ready, 1, kLookMilliseconds) <= 0) {
            return true;
        }
        std::array<char, 4096> bytes{};
        const ssize_t got = ::recv(m_socket.get(), bytes.data(), bytes.size(), 0);
        if (got > 0) {
            m_said.append(bytes.data(), static_cast<std::size_t>(got));
        }
        return got > 0 || (got < 0 && errno == EINTR);
    }

    /// Whether it has done its work.
    bool wait()
    {
        int state = 0;
        while (::waitpid(m_process, &state, 0) < 0 && errno == EINTR) {
        }
        m_process = 0;
        return WIFEXITED(state) && WEXITSTATUS(state) == 0;
    }
    [[nodiscard]] const std::string& said() const { return m_said; }

private:
    pid_t m_process = 0;
    FileDescriptor m_socket;
    std::string m_said;
};

/// What the trainer gave as its reason: the last line, from behind the place in its source.
std::string reasonIn(std::string said)
{
    while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) {
        said.pop_back();
    }
    said.erase(0, said.rfind('\n') == std::string::npos ? 0 : said.rfind('\n') + 1);
    const std::size_t place = said.rfind("] ");
    return place == std::string::npos ? said : said.substr(place + 2);
}

Result<std::vector<Document>> documentsOf(const TokeniserTraining& training, const PreparationWatch& watch)
{
    return holdsRecords(training.text) ? readRecords(training.text, training.field, watch)
                                       : readTextFiles(training.text, watch);
}

Status feed(Trainer& trainer, const std::vector<Document>& documents, const PreparationWatch& watch)
{
    std::uint64_t all = 1;
    std::uint64_t done = 0;
    for (const Document& document : documents) {
        all += document.size;
    }
    for (const Document& document : documents) {
        bool listens = true;
        const Status sent = forEachPart(document, {}, [&](std::string_view part) -> Status {
            listens = listens && trainer.send(part) && (part.ends_with('\n') || trainer.send("\n"));
            done += part.size();
            return stillWanted(watch, static_cast<double>(done) / static_cast<double>(all));
        });
        if (!sent || !listens) {
            return sent;
        }
    }
    trainer.endText();
    return Done{};
}

/// Lets the trainer write `path`.
Status run(const TokeniserTraining& training, const std::vector<Document>& documents, const fs::path& path,
           const PreparationWatch& watch)
{
    const fs::path program = findOwnLibrary(kTrainer, "RESIDUA_TOKENISER_TRAINER", "bin");
    if (program.empty()) {
        return Error{kTrainer, "is not installed beside the program, so that no tokeniser can be trained: install it "
                               "again"};
    }
    Trainer trainer;
    Status status = trainer.start(
        program, {kTrainer, path.string(), training.model == PieceModel::Bpe ? "bpe" : "unigram",
                  std::to_string(training.pieces), std::to_string(std::max(1u, std::thread::hardware_concurrency()))});
    if (status) {
        status = feed(trainer, documents, watch);
    }
    if (status) {
        status = stillWanted(watch, 1);
    }
    while (status && trainer.listen()) {
        status = stillWanted(watch, 1);
    }
    if (status && !trainer.wait()) {
        const std::string reason = reasonIn(trainer.said());
        return Error{training.text.string(), "SentencePiece makes no model of it: " +
                                                 (reason.empty() ? "its trainer ended without a word" : reason)};
    }
    return status;
}

} // namespace

Result<std::int64_t> trainTokeniser(const TokeniserTraining& training, const std::function<bool(double share)>& watch)
{
    const auto documents = documentsOf(training, watch);
    if (!documents) {
        return documents.error();
    }
    fs::path path = training.output;
    path += "." + std::to_string(::getpid()) + ".part";
    Status status = run(training, *documents, path, watch);
    Result<std::int64_t> pieces = std::int64_t{0};
    if (status) {
        const auto codec = sentencePieceCodec(path);
        pieces = codec ? Result<std::int64_t>((*codec)->vocabulary()) : Result<std::int64_t>(codec.error());
        const auto bytes = pieces ? readSentencePieceModel(path) : Result<std::string>(pieces.error());
        status = bytes ? writeFileAtomically(training.output, *bytes) : Status(bytes.error());
    }
    std::error_code ignored;
    fs::remove(path, ignored);
    return status ? pieces : Result<std::int64_t>(status.error());
}

} // namespace residua::engine
