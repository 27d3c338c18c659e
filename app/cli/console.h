// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace residua::cli {

/// What the program ends with; `residua-cli --help` documents it.
enum class Exit {
    Ok = 0,
    Usage = 1,          ///< the command line, or a file that cannot be written
    InvalidProject = 2, ///< it cannot be read, or it does not validate
    RunFailed = 3,      ///< training, or a question to a run
    Interrupted = 130,  ///< by a signal, after a checkpoint
};

enum class Output { Text, Json };

/// Where a command writes: text for people, or one JSON value a line. Errors go to stderr as text, and in JSON mode to
/// stdout as {"error": …} as well.
class Console {
public:
    explicit Console(Output output);
    /// The same for what is told of one of several things at once: each line begins with `subject`, each JSON object
    /// has it as "member", and no line is rewritten.
    [[nodiscard]] Console about(const std::string& subject) const;

    [[nodiscard]] bool json() const { return m_output == Output::Json; }
    /// Whether people watch stdout.
    [[nodiscard]] bool onTerminal() const { return m_terminal; }
    /// Columns of the terminal.
    [[nodiscard]] std::size_t width() const;

    /// A line of text; nothing in JSON mode.
    void line(const std::string& text) const;
    /// A JSON value on a line of its own; nothing in text mode. What is no UTF-8 is replaced.
    void value(const nlohmann::json& value) const;
    /// A message that is no result, to stderr.
    void remark(const std::string& text) const;
    Exit fail(Exit code, const Error& error) const;

    /// Rewrites the terminal's last line; with empty text it is cleared.
    void status(const std::string& text) const;

private:
    [[nodiscard]] std::string withSubject(const std::string& text) const;

    Output m_output;
    bool m_terminal;
    std::string m_subject; ///< empty: one thing alone
};

/// Characters on the screen: UTF-8's continuation bytes take no column.
[[nodiscard]] std::size_t columnsOf(const std::string& text);
/// Columns as wide as their widest cell; the first is flush left, the others right. The first row is the heading.
[[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows);

/// "1,234,567".
[[nodiscard]] std::string grouped(std::int64_t number);
/// Three significant digits and an SI prefix: "12.3 M".
[[nodiscard]] std::string scaled(double number);
/// "1.23 GiB".
[[nodiscard]] std::string bytesText(double bytes);
/// "1 h 02 min", "3 min 05 s", "12 s".
[[nodiscard]] std::string durationText(double seconds);
/// A loss: four significant digits, "–" for NaN.
[[nodiscard]] std::string lossText(double loss);

} // namespace residua::cli
