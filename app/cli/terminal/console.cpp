// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/console.h"

#include "app/cli/terminal/terminal_text.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"

#include <nlohmann/json.hpp>

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace residua::cli {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), pattern, values...);
    return text.data();
}

constexpr std::chrono::seconds kBetweenLines{5}; ///< between lines of progress

bool takesControlCodes()
{
    const char* const terminal = std::getenv("TERM");
    return terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

/// Returns the columns of the terminal, or 0 if the descriptor is not a terminal.
std::size_t columnsAt(int descriptor)
{
    winsize size{};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

} // namespace

Console::Console(Output output)
    : m_output(output),
      m_terminal(isatty(STDOUT_FILENO) == 1),
      m_rewrites(isatty(STDERR_FILENO) == 1 && takesControlCodes()),
      m_clears(m_terminal && takesControlCodes()),
      m_told(std::make_shared<Clock::time_point>(Clock::now()))
{
}

Console Console::about(const std::string& subject) const
{
    Console other = *this;
    other.m_terminal = false;
    other.m_rewrites = false;
    other.m_clears = false;
    other.m_subject = subject;
    return other;
}

std::string Console::withSubject(const std::string& text) const
{
    return m_subject.empty() ? text : "[" + m_subject + "] " + text;
}

std::size_t Console::width() const
{
    const std::size_t out = columnsAt(STDOUT_FILENO);
    const std::size_t columns = out > 0 ? out : columnsAt(STDERR_FILENO);
    return columns > 0 ? columns : 80;
}

bool Console::hasNoReader()
{
    pollfd out{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

bool Console::outputLost() const
{
    return std::ferror(stdout) != 0;
}

void Console::print(const std::string& text) const
{
    if (outputLost()) {
        return;
    }
    errno = 0;
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (const int why = errno; !written && !hasNoReader()) {
        remarkLost(why);
    }
}

void Console::remarkLost(int why) const
{
    remark("note: standard output cannot be written (" + std::generic_category().message(why) +
           "): what would follow there is dropped");
}

void Console::noteLostReader() const
{
    if (outputLost() && hasNoReader()) {
        remarkLost(EPIPE);
    }
}

void Console::line(const std::string& text) const
{
    if (!json()) {
        print((m_clears ? "\r\x1b[K" : "") + printable(withSubject(text), LineEnds::Keep) + "\n");
    }
}

void Console::data(const std::string& text) const
{
    if (m_terminal) {
        line(text);
    } else if (!json()) {
        print(text + "\n");
    }
}

void Console::value(const nlohmann::json& value) const
{
    if (json() && !m_subject.empty() && value.is_object()) {
        nlohmann::json told = value;
        told["member"] = m_subject;
        print(told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    } else if (json()) {
        print(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    }
}

void Console::remark(const std::string& text) const
{
    status({});
    std::fprintf(stderr, "%s\n", printable(withSubject(text), LineEnds::Keep).c_str());
}

Exit Console::fail(Exit code, const Error& error) const
{
    remark("error: " + error.text());
    value({{"error", {{"code", static_cast<int>(code)}, {"place", error.place}, {"message", error.message}}}});
    return code;
}

void Console::status(const std::string& text) const
{
    if (json()) {
        return;
    }
    if (m_rewrites) {
        std::fprintf(stderr, "\r%s\x1b[K", printable(text, LineEnds::Escape).c_str());
    } else if (!text.empty() && Clock::now() - *m_told >= kBetweenLines) {
        progress(text);
    }
}

void Console::progress(const std::string& text) const
{
    if (!json()) {
        *m_told = Clock::now();
        remark(text);
    }
}

std::string Console::table(const std::vector<std::vector<std::string>>& rows) const
{
    return cli::table(rows, m_terminal ? width() : SIZE_MAX);
}

namespace {

/// Returns the first column and the columns from `begin` to before `end`.
std::string block(const std::vector<std::vector<std::string>>& cells, const std::vector<std::size_t>& widths,
                  std::size_t begin, std::size_t end)
{
    std::string text;
    for (const std::vector<std::string>& row : cells) {
        std::string line = row.empty() ? std::string() : row[0] + std::string(widths[0] - columnsOf(row[0]), ' ');
        for (std::size_t column = begin; column < std::min(end, row.size()); ++column) {
            line += "  " + std::string(widths[column] - columnsOf(row[column]), ' ') + row[column];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

} // namespace

std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t width)
{
    std::vector<std::vector<std::string>> cells = rows;
    std::vector<std::size_t> widths;
    for (std::vector<std::string>& row : cells) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t column = 0; column < row.size(); ++column) {
            row[column] = printable(row[column], LineEnds::Escape);
            widths[column] = std::max(widths[column], columnsOf(row[column]));
        }
    }
    std::string text;
    for (std::size_t begin = 1; begin == 1 || begin < widths.size();) {
        std::size_t end = begin;
        std::size_t filled = widths.empty() ? 0 : widths[0];
        while (end < widths.size() && (end == begin || filled + 2 + widths[end] <= width)) {
            filled += 2 + widths[end++];
        }
        text += (text.empty() ? "" : "\n") + block(cells, widths, begin, end);
        begin = std::max(end, std::size_t{2});
    }
    if (!text.empty()) {
        text.pop_back();
    }
    return text;
}

std::string scaled(double number)
{
    return scaledText(number, Prefixes::Decimal);
}

std::string scaledBytes(double bytes)
{
    return scaledText(bytes, Prefixes::Binary, "B");
}

std::string lossText(double loss)
{
    if (!std::isfinite(loss)) {
        return "–";
    }
    return std::abs(loss) >= 0.01 && std::abs(loss) < 1000 ? format("%.4f", loss) : format("%.3e", loss);
}

std::span<const ExitCode> exitCodes()
{
    static constexpr ExitCode kCodes[] = {
        {Exit::Ok, "done"},
        {Exit::Usage, "the command line is wrong, or a file or the output cannot be written"},
        {Exit::InvalidProject, "the project cannot be read, or is invalid"},
        {Exit::RunFailed, "a run, or a question to a run, failed"},
        {Exit::Complete, "resume or train --resume-or-start found the run complete: nothing was left to do"},
        {Exit::TimeLimit, "stopped by --time-limit, after a checkpoint: the run can be resumed"},
        {Exit::Unrecorded, "the run ended on another machine, but its record here is incomplete: resume completes it"},
        {Exit::Fault, "a fault of residua-cli itself"},
        {Exit::Interrupted, "stopped by a signal, or by the command stop, after a checkpoint: the run can be resumed"},
        {Exit::Quit, "stopped by a signal at once, without a checkpoint"},
    };
    return kCodes;
}

namespace {

Status writeStandardOutput(const std::string& bytes)
{
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0) {
        return Error{"standard output", "cannot be written: " + std::generic_category().message(errno)};
    }
    return Done{};
}

} // namespace

bool isStandardOutput(const std::filesystem::path& path)
{
    struct stat out {};
    struct stat file {};
    return path == "-" || (::fstat(STDOUT_FILENO, &out) == 0 && ::stat(path.c_str(), &file) == 0 &&
                           out.st_dev == file.st_dev && out.st_ino == file.st_ino && !S_ISCHR(file.st_mode));
}

Exit deliver(const ResultFile& file, const std::string& said, const nlohmann::json& told, const Console& console)
{
    const bool standard = isStandardOutput(file.path);
    if (standard && console.json()) {
        console.value({{file.member, file.bytes}});
        return Exit::Ok;
    }
    RESIDUA_TRY_OR_FAIL(Exit::Usage, standard ? writeStandardOutput(file.bytes) : writeOutput(file.path, file.bytes));
    if (!standard) {
        console.line(said);
        console.value(told);
    }
    return Exit::Ok;
}

} // namespace residua::cli
