// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace residua::cli {

/// The exit codes of the program. exitCodes() describes each one.
enum class Exit {
    Ok = 0,
    Usage = 1,
    InvalidProject = 2,
    RunFailed = 3,
    Complete = 4,
    TimeLimit = 5,
    Unrecorded = 6,
    Fault = 70, ///< the number of an internal software error in sysexits.h
    Interrupted = 130,
    Quit = 131,
};

struct ExitCode {
    Exit code{};
    const char* meaning = "";
};

/// Returns every exit code, ascending. `residua-cli --help` prints them. No other code is returned.
[[nodiscard]] std::span<const ExitCode> exitCodes();

/// A value or the reason for its absence. RESIDUA_TRY evaluates it like a Result.
template <class T, class Reason>
struct [[nodiscard]] ValueOr : std::variant<T, Reason> {
    using std::variant<T, Reason>::variant;

    explicit operator bool() const { return this->index() == 0; }
    [[nodiscard]] T& operator*() & { return std::get<0>(*this); }
    [[nodiscard]] const T& operator*() const& { return std::get<0>(*this); }
    [[nodiscard]] T&& operator*() && { return std::get<0>(std::move(*this)); }
    [[nodiscard]] T* operator->() { return &**this; }
    [[nodiscard]] const Reason& error() const { return std::get<1>(*this); }
};

enum class Output { Text, Json };

/// Writes the output of a command: results to stdout, as text or as one JSON value per line; progress, notes and errors
/// to stderr. In JSON mode errors also go to stdout as {"error": …}, and there is no progress. Text that would act on a
/// terminal is escaped (see terminal_text.h). If stdout cannot be written any more (the reader has closed it, the disk
/// is full), later output is dropped, so that a run is not affected. A full disk is reported once on stderr; a closed
/// pipe is what its reader wants, as in `| head`.
class Console {
public:
    explicit Console(Output output);
    /// Returns a console for the output of one of several things at once. Each line begins with `subject`, each JSON
    /// object has it as "member", and no line is rewritten.
    [[nodiscard]] Console about(const std::string& subject) const;

    [[nodiscard]] bool json() const { return m_output == Output::Json; }
    /// True if progress is shown on a terminal that rewrites lines.
    [[nodiscard]] bool rewritesProgress() const { return m_rewrites; }
    /// Returns the columns of the terminal, or 80 without a terminal. Never 0.
    [[nodiscard]] std::size_t width() const;

    /// True if some output could not be written to stdout.
    [[nodiscard]] bool outputLost() const;
    /// Writes the note on lost output if the reader closed the pipe. For commands that do more than print.
    void noteLostReader() const;

    /// Writes text and a line end; nothing in JSON mode.
    void line(const std::string& text) const;
    /// Writes the same unescaped unless stdout is a terminal, for data that another program reads.
    void data(const std::string& text) const;
    /// Writes a JSON value on a line of its own; nothing in text mode. Invalid UTF-8 is replaced.
    void value(const nlohmann::json& value) const;
    /// Writes a message that is not a result to stderr.
    void remark(const std::string& text) const;
    Exit fail(Exit code, const Error& error) const;

    /// Replaces the progress in the terminal's last line; an empty text clears it. Without a terminal, writes a line
    /// from time to time.
    void status(const std::string& text) const;
    /// Writes a line of progress.
    void progress(const std::string& text) const;
    /// Returns the table (see below). Columns that do not fit the terminal are below, after the first one.
    [[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows) const;

private:
    [[nodiscard]] std::string withSubject(const std::string& text) const;
    void print(const std::string& text) const;
    void remarkLost(int why) const;
    [[nodiscard]] static bool hasNoReader(); ///< stdout is a pipe whose reader has closed it

    using Clock = std::chrono::steady_clock;
    Output m_output;
    bool m_terminal;                           ///< stdout is a terminal
    bool m_rewrites;                           ///< stderr is a terminal that supports control codes
    bool m_clears;                             ///< stdout is a terminal that supports control codes
    std::shared_ptr<Clock::time_point> m_told; ///< when progress was last written as a line
    std::string m_subject;                     ///< empty if there is a single subject
};

/// Formats a table with columns as wide as their widest cell. The first column is left-aligned, the others
/// right-aligned. The first row is the heading. A cell stays on its line. Columns beyond `width` follow in further
/// blocks, each with the first column.
[[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t width = SIZE_MAX);

/// Formats a number with three significant digits and an SI prefix: "12.3 M".
[[nodiscard]] std::string scaled(double number);
/// Formats a size for a column: "1.23 GiB".
[[nodiscard]] std::string scaledBytes(double bytes);
/// Formats a loss with four significant digits; "–" for NaN.
[[nodiscard]] std::string lossText(double loss);

/// Evaluates a Result to its value, as RESIDUA_TRY does. If it has none, reports the error to the command's `console`
/// and returns `code` from the function.
#define RESIDUA_TRY_OR_FAIL(code, ...)                                                                                 \
    __extension__({                                                                                                    \
        auto&& residuaTried = (__VA_ARGS__);                                                                           \
        if (!residuaTried) {                                                                                           \
            return console.fail(code, residuaTried.error());                                                           \
        }                                                                                                              \
        *std::forward<decltype(residuaTried)>(residuaTried);                                                           \
    })

/// True if a command's output file is standard output: "-", or a name of it such as /dev/stdout.
[[nodiscard]] bool isStandardOutput(const std::filesystem::path& path);

/// An output file of a command.
struct ResultFile {
    std::filesystem::path path;
    std::string bytes;
    std::string member; ///< name of `bytes` in JSON on standard output
};

/// Writes the file and reports it, with `said` as text or `told` as JSON. On standard output, the file is the only
/// content; in JSON mode it is `member` of an object, so that every line is JSON.
[[nodiscard]] Exit deliver(const ResultFile& file, const std::string& said, const nlohmann::json& told,
                           const Console& console);

} // namespace residua::cli
