// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/console.h"

#include <nlohmann/json.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace residua::cli {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), pattern, values...);
    return text.data();
}

/// `number` with three significant digits and the largest unit that leaves it at least 1.
std::string withUnit(double number, double step, const std::vector<std::string>& units)
{
    std::size_t unit = 0;
    while (std::abs(number) >= step && unit + 1 < units.size()) {
        number /= step;
        ++unit;
    }
    const bool whole = unit == 0 && number == std::floor(number);
    const int digits = whole || std::abs(number) >= 100 ? 0 : std::abs(number) >= 10 ? 1 : 2;
    return format("%.*f", digits, number) + units[unit];
}

} // namespace

std::size_t columnsOf(const std::string& text)
{
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

Console::Console(Output output) : m_output(output), m_terminal(isatty(STDOUT_FILENO) == 1) {}

Console Console::about(const std::string& subject) const
{
    Console other = *this;
    other.m_terminal = false;
    other.m_subject = subject;
    return other;
}

std::string Console::withSubject(const std::string& text) const
{
    return m_subject.empty() ? text : "[" + m_subject + "] " + text;
}

std::size_t Console::width() const
{
    winsize size{};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

void Console::line(const std::string& text) const
{
    if (!json()) {
        std::printf("%s%s\n", m_terminal ? "\r\x1b[K" : "", withSubject(text).c_str());
        std::fflush(stdout);
    }
}

void Console::value(const nlohmann::json& value) const
{
    if (json() && !m_subject.empty() && value.is_object()) {
        nlohmann::json told = value;
        told["member"] = m_subject;
        std::printf("%s\n", told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
        std::fflush(stdout);
    } else if (json()) {
        std::printf("%s\n", value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
        std::fflush(stdout);
    }
}

void Console::remark(const std::string& text) const
{
    status({});
    std::fprintf(stderr, "%s\n", withSubject(text).c_str());
}

Exit Console::fail(Exit code, const Error& error) const
{
    remark("error: " + error.text());
    value({{"error", {{"place", error.place}, {"message", error.message}}}});
    return code;
}

void Console::status(const std::string& text) const
{
    if (m_terminal && !json()) {
        std::printf("\r%s\x1b[K", text.c_str());
        std::fflush(stdout);
    }
}

std::string table(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::size_t> widths;
    for (const std::vector<std::string>& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], columnsOf(row[column]));
        }
    }
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            const std::string padding(widths[column] - columnsOf(row[column]), ' ');
            line += column == 0 ? row[column] + padding : "  " + padding + row[column];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    if (!text.empty()) {
        text.pop_back();
    }
    return text;
}

std::string grouped(std::int64_t number)
{
    std::string text = std::to_string(number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > first + 3;) {
        at -= 3;
        text.insert(at, ",");
    }
    return text;
}

std::string scaled(double number)
{
    return withUnit(number, 1000, {"", " k", " M", " G", " T", " P"});
}

std::string bytesText(double bytes)
{
    return withUnit(bytes, 1024, {" B", " KiB", " MiB", " GiB", " TiB"});
}

std::string durationText(double seconds)
{
    const auto whole = static_cast<long>(std::max(0.0, std::round(seconds)));
    if (whole >= 3600) {
        return format("%ld h %02ld min", whole / 3600, whole % 3600 / 60);
    }
    return whole >= 60 ? format("%ld min %02ld s", whole / 60, whole % 60) : format("%ld s", whole);
}

std::string lossText(double loss)
{
    if (!std::isfinite(loss)) {
        return "–";
    }
    return std::abs(loss) >= 0.01 && std::abs(loss) < 1000 ? format("%.4f", loss) : format("%.3e", loss);
}

} // namespace residua::cli
