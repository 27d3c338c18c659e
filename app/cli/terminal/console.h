// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/terminal/exit_codes.h"
#include "projects/base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace residua::cli {

enum class Output { Text, Json };

/// Writes the output of a command: results to stdout, as text for people or one JSON value a line; progress, notes and
/// errors to stderr. In JSON mode errors go to stdout as {"error": …} as well, and no progress is written. What would
/// act on a terminal is spelt out in every text (see terminal_text.h). Where stdout cannot be written any more (its
/// reader has gone, the disk is full) that is told once on stderr, and what would follow is dropped: it harms no run.
class Console {
public:
    explicit Console(Output output);
    /// A console for what is told of one of several things at once: each line begins with `subject`, each JSON object
    /// has it as "member", and no line is rewritten.
    [[nodiscard]] Console about(const std::string& subject) const;

    [[nodiscard]] bool json() const { return m_output == Output::Json; }
    /// True if progress is shown on a terminal that rewrites lines.
    [[nodiscard]] bool rewritesProgress() const { return m_rewrites; }
    /// Columns of the terminal; 80 where that is none. Never 0.
    [[nodiscard]] std::size_t width() const;

    /// Whether something could not be written to stdout.
    [[nodiscard]] bool outputLost() const;

    /// Writes text and a line end; nothing in JSON mode.
    void line(const std::string& text) const;
    /// Writes the same, byte for byte where no terminal shows it: for data that another program reads.
    void data(const std::string& text) const;
    /// Writes a JSON value on a line of its own; nothing in text mode. What is no UTF-8 is replaced.
    void value(const nlohmann::json& value) const;
    /// Writes a message that is no result to stderr.
    void remark(const std::string& text) const;
    Exit fail(Exit code, const Error& error) const;

    /// Rewrites the terminal's last line with progress; with empty text it is cleared. Elsewhere writes a line of it
    /// now and then.
    void status(const std::string& text) const;
    /// Writes a line of progress.
    void progress(const std::string& text) const;
    /// Returns the table (see below). On a terminal that is narrower, columns that do not fit come below, with the
    /// first one repeated.
    [[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows) const;

private:
    [[nodiscard]] std::string withSubject(const std::string& text) const;
    void print(const std::string& text) const;

    using Clock = std::chrono::steady_clock;
    Output m_output;
    bool m_terminal;                           ///< people watch stdout
    bool m_rewrites;                           ///< people watch stderr on a terminal that takes control codes
    bool m_clears;                             ///< likewise stdout
    std::shared_ptr<Clock::time_point> m_told; ///< when progress was last written as a line
    std::string m_subject;                     ///< empty: one thing alone
};

/// Columns as wide as their widest cell; the first is flush left, the others right. The first row is the heading. A
/// cell stays on its line. Columns beyond `width` come in further blocks below, each with the first one.
[[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t width = SIZE_MAX);

/// Three significant digits and an SI prefix: "12.3 M".
[[nodiscard]] std::string scaled(double number);
/// "1.23 GiB", for a column of sizes.
[[nodiscard]] std::string scaledBytes(double bytes);
/// A loss: four significant digits, "–" for NaN.
[[nodiscard]] std::string lossText(double loss);

} // namespace residua::cli
