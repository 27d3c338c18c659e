// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/codec/trainer_log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace residua::engine {
namespace {

constexpr double kPrunedTo = 1.1;              ///< Unigram prunes to this multiple of the requested pieces
constexpr std::size_t kLongestLogLine = 65536; ///< bytes of a line that are parsed

/// Returns the number after `words`, searching from `from`.
std::optional<std::int64_t> numberAfter(std::string_view text, std::string_view words, std::size_t from = 0)
{
    const std::size_t at = text.find(words, from);
    std::int64_t number = 0;
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const char* const begin = text.data() + at + words.size();
    const auto read = std::from_chars(begin, text.data() + text.size(), number);
    return read.ec == std::errc{} && read.ptr != begin ? std::optional(number) : std::nullopt;
}

} // namespace

TrainerLog::TrainerLog(TokeniserTraining training) : m_training(std::move(training)) {}

void TrainerLog::add(std::string_view text)
{
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        m_line += text.substr(0, end);
        text.remove_prefix(end + 1);
        takeLine();
    }
    m_line += text.substr(0, kLongestLogLine - std::min(kLongestLogLine, m_line.size()));
}

void TrainerLog::takeLine()
{
    const std::string_view line = m_line;
    if (const auto letters = numberAfter(line, "LOG(INFO) Alphabet size=")) {
        m_alphabet = *letters;
    } else if (const auto seeds = numberAfter(line, "LOG(INFO) Initialized ")) {
        m_seeds = *seeds;
    } else if (line.find("LOG(INFO) Added: freq=") != std::string_view::npos) {
        const auto joined = static_cast<double>(numberAfter(line, " size=").value_or(0));
        const auto all = static_cast<double>(m_training.pieces - kFixedPieces - m_alphabet);
        m_share = std::clamp(joined / std::max(all, 1.0), m_share, 1.0);
    } else if (line.find("LOG(INFO) EM sub_iter=") != std::string_view::npos && m_seeds > 0) {
        const auto left = static_cast<double>(std::max<std::int64_t>(numberAfter(line, " size=").value_or(m_seeds), 1));
        const double all = std::log(static_cast<double>(m_seeds) / (kPrunedTo * double(m_training.pieces)));
        m_share = all > 0 ? std::clamp(std::log(static_cast<double>(m_seeds) / left) / all, m_share, 1.0) : m_share;
    }
    m_last = std::exchange(m_line, {});
}

Error TrainerLog::reason() const
{
    const std::string& line = m_line.empty() ? m_last : m_line;
    const std::string place = m_training.text.string();
    const std::string got = "got " + std::to_string(m_training.pieces) + " pieces, expected ";
    if (const auto most = numberAfter(line, "Please set it to a value <= ")) {
        return {place, "is too small for so many pieces: " + got + "at most " + std::to_string(*most) +
                           ": ask for fewer, or learn from more text"};
    }
    const std::size_t few = line.find("Vocabulary size is smaller than required_chars. ");
    if (const auto least = few == std::string::npos ? std::nullopt : numberAfter(line, " vs ", few)) {
        return {place, "has more characters than so few pieces can hold: " + got + "at least " +
                           std::to_string(*least) + ", one for each common character and each byte: ask for more"};
    }
    if (line.find("!sentences_.empty()") != std::string::npos) {
        return {place, "has no line of text to learn pieces from"};
    }
    const std::size_t words = line.rfind("] ");
    const std::string said = words == std::string::npos ? line : line.substr(words + 2);
    return {place, "SentencePiece makes no model of it: " +
                       (said.empty() ? "its trainer ended without a word, which it does where memory is short" : said)};
}

} // namespace residua::engine
