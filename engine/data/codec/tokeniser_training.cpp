// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/api/tokeniser_training.h"

#include "engine/base/machine/machine.h"
#include "engine/data/codec/sentence_piece_table.h"
#include "engine/data/codec/text_codec.h"
#include "engine/data/codec/trainer_log.h"
#include "engine/data/text/text_files.h"
#include "projects/base/child_process.h"
#include "projects/base/files.h"
#include "projects/base/utf8.h"
#include "projects/base/whole_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrainer = "residua-train-tokeniser";
constexpr int kLookMilliseconds = 100;
constexpr std::uint64_t kTriedBytes = std::uint64_t{1} << 20;
constexpr std::size_t kExamplePieces = 24;
constexpr std::size_t kLongestExample = 200; ///< bytes
constexpr std::size_t kExampleBytes = 20;    ///< the minimum length of an example line, if any line has it

/// The process of the program kTrainer. It reads from our socket and writes its log there. The destructor ends it.
class TrainerProcess {
public:
    explicit TrainerProcess(const TokeniserTraining& training) : m_log(training) {}

    Status start(const fs::path& program, std::vector<std::string> words)
    {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            return systemError(program, "cannot be talked to", errno);
        }
        m_socket = FileDescriptor(ends[0]);
        const FileDescriptor theirs(ends[1]);
        words.insert(words.begin(), program.string());
        m_process = RESIDUA_TRY(
            ChildProcess::start({std::move(words), ChildKind::Ours, theirs.get(), theirs.get(), theirs.get()}));
        return Done{};
    }

    /// Sends what the socket accepts within a short wait, and removes that from the front of `text`. Also reads from
    /// the socket, because the process stops reading if its own output is not read. Returns false if the process has
    /// closed the socket.
    bool send(std::string_view& text)
    {
        const int ready = awaited(POLLIN | POLLOUT);
        if ((ready & POLLIN) != 0 && !take()) {
            return false;
        }
        if ((ready & ~POLLIN) == 0) {
            return true;
        }
        const ssize_t sent = ::send(m_socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        text.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
        return sent >= 0 || passes(errno);
    }
    void endText() { ::shutdown(m_socket.get(), SHUT_WR); }

    /// Waits briefly for output; returns false once the output has ended.
    bool listen() { return awaited(POLLIN) == 0 || take(); }

    /// Waits for the process to end; true if it succeeded.
    bool wait() { return m_process->wait() == 0; }
    [[nodiscard]] const TrainerLog& log() const { return m_log; }

private:
    /// Returns the members of `events` that occur within a short wait; 0 if none.
    [[nodiscard]] int awaited(short events) const
    {
        pollfd ready{m_socket.get(), events, 0};
        return ::poll(&ready, 1, kLookMilliseconds) > 0 ? ready.revents : 0;
    }
    /// Passes new output to the log; returns false once the output has ended.
    bool take()
    {
        std::array<char, 4096> bytes{};
        const ssize_t got = ::recv(m_socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got > 0) {
            m_log.add({bytes.data(), static_cast<std::size_t>(got)});
        }
        return got > 0 || (got < 0 && passes(errno));
    }
    /// True if the error is temporary.
    static bool passes(int code) { return code == EINTR || code == EAGAIN; }

    std::optional<ChildProcess> m_process;
    FileDescriptor m_socket;
    TrainerLog m_log;
};

using Watch = std::function<bool(const TokeniserProgress& progress)>;

/// Returns a watch that reports the progress of reading the text to `watch`.
PreparationWatch watchOfReading(const Watch& watch)
{
    return [&watch](double share) { return !watch || watch({.read = share}); };
}

Status stillLearning(const Watch& watch, double share)
{
    return stillWanted([&watch](double learned) { return !watch || watch({.read = 1, .learned = learned}); }, share);
}

Status feed(TrainerProcess& trainer, const std::vector<Document>& documents, const PreparationWatch& watch)
{
    std::uint64_t all = 1;
    std::uint64_t done = 0;
    for (const Document& document : documents) {
        all += document.size;
    }
    for (const Document& document : documents) {
        bool listens = true;
        const auto wanted = [&] { return stillWanted(watch, static_cast<double>(done) / static_cast<double>(all)); };
        const auto send = [&](std::string_view text) {
            Status status = Done{};
            while (status && listens && !text.empty()) {
                listens = trainer.send(text);
                status = wanted();
            }
            return status;
        };
        const Status sent = forEachPart(document, {}, [&](std::string_view part) {
            Status status = send(part);
            status = status ? send(part.ends_with('\n') ? "" : "\n") : status;
            done += part.size();
            return status ? wanted() : status;
        });
        if (!sent || !listens) {
            return sent;
        }
    }
    trainer.endText();
    return Done{};
}

/// Checks that the model can be written before the text is read and learned from, which may take long.
Status checkOutput(const fs::path& output, const fs::path& temporary)
{
    if (isFolder(output)) {
        return Error{output.string(), "is a folder; expected the name of the model's file"};
    }
    const auto file = OutputFile::create(temporary);
    return file ? Status(Done{})
                : Status(Error{output.string(), file.error().message + ": expected a folder that is there and may be "
                                                                       "written to"});
}

/// Trains with the program kTrainer, which writes `path`.
Status run(const TokeniserTraining& training, const std::vector<Document>& documents, const fs::path& path,
           const Watch& watch)
{
    const fs::path program = findOwnLibrary(kTrainer, "RESIDUA_TOKENISER_TRAINER", "bin");
    if (program.empty()) {
        return Error{kTrainer, "is not installed beside the program, so that no tokeniser can be trained: install it "
                               "again"};
    }
    TrainerProcess trainer(training);
    Status status = trainer.start(program, {path.string(), nameOf(training.model), std::to_string(training.pieces),
                                            std::to_string(std::max(1u, std::thread::hardware_concurrency()))});
    if (status) {
        status = feed(trainer, documents, watchOfReading(watch));
    }
    if (status) {
        status = stillLearning(watch, 0);
    }
    while (status && trainer.listen()) {
        status = stillLearning(watch, trainer.log().share());
    }
    if (status && !trainer.wait()) {
        return trainer.log().reason();
    }
    return status;
}

/// Returns the beginnings of the documents, one text each, at most kTriedBytes in total.
Result<std::vector<std::string>> beginningOf(const std::vector<Document>& documents)
{
    std::vector<std::string> texts;
    std::uint64_t left = kTriedBytes;
    for (const Document& document : documents) {
        if (left == 0) {
            break;
        }
        std::string text(std::min(left, document.size), '\0');
        RESIDUA_TRY(document.source->read(document.begin, std::as_writable_bytes(std::span(text))));
        left -= text.size();
        text.resize(wholeCodePoints(text));
        texts.push_back(std::move(text));
    }
    return texts;
}

/// Returns the first line of at least kExampleBytes bytes, or the first line that is not empty if all are shorter.
std::string_view exampleIn(const std::vector<std::string>& texts)
{
    std::string_view found;
    for (const std::string_view text : texts) {
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            const std::string_view line = text.substr(begin, end - begin);
            begin = end + 1;
            if (found.empty() || line.size() >= kExampleBytes) {
                found = line;
            }
            if (found.size() >= kExampleBytes) {
                return found;
            }
        }
    }
    return found;
}

Result<TrainedTokeniser> tried(const TextCodec& codec, const std::vector<Document>& documents)
{
    const auto texts = RESIDUA_TRY(beginningOf(documents));
    TrainedTokeniser tokeniser;
    tokeniser.pieces = codec.vocabulary();
    std::vector<std::uint32_t> tokens;
    for (const std::string& text : texts) {
        RESIDUA_TRY(codec.encode(text, TextStart::Begins, tokens));
        tokeniser.triedBytes += static_cast<std::int64_t>(text.size());
        tokeniser.triedCharacters += static_cast<std::int64_t>(codePoints(text));
        tokeniser.triedTokens += static_cast<std::int64_t>(std::exchange(tokens, {}).size());
    }
    const auto whole = [](std::int64_t sum, const Document& document) {
        return sum + static_cast<std::int64_t>(document.size);
    };
    tokeniser.triedAll =
        tokeniser.triedBytes == std::accumulate(documents.begin(), documents.end(), std::int64_t{0}, whole);
    std::string_view line = exampleIn(texts);
    line = line.substr(0, wholeCodePoints(line.substr(0, kLongestExample)));
    RESIDUA_TRY(codec.encode(line, TextStart::Begins, tokens));
    for (std::size_t i = 0; i < std::min(tokens.size(), kExamplePieces); ++i) {
        tokeniser.example += (i == 0 ? "" : " ") + codec.piece(tokens[i]);
    }
    return tokeniser;
}

} // namespace

std::string nameOf(PieceModel model)
{
    return model == PieceModel::Bpe ? "bpe" : "unigram";
}

Result<TrainedTokeniser> trainTokeniser(const TokeniserTraining& training, const Watch& watch)
{
    const fs::path path = temporaryBeside(training.output);
    RESIDUA_TRY(checkOutput(training.output, path));
    const auto documents = readTexts(training.text, training.field, watchOfReading(watch));
    Status status = documents ? run(training, *documents, path, watch) : Status(documents.error());
    Result<TrainedTokeniser> tokeniser = TrainedTokeniser{};
    if (status) {
        const auto codec = sentencePieceCodec(path);
        tokeniser = codec ? tried(**codec, *documents) : Result<TrainedTokeniser>(codec.error());
        status = tokeniser ? stillLearning(watch, 1) : Status(tokeniser.error());
    }
    if (status) {
        const auto bytes = readSentencePieceModel(path);
        status = bytes ? writeFileAtomically(training.output, *bytes) : Status(bytes.error());
    }
    discard(path);
    return status ? tokeniser : Result<TrainedTokeniser>(status.error());
}

} // namespace residua::engine
