// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokens/text_corpus.h"

#include "projects/base/utf8.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

namespace residua::engine {
namespace {

constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 20;
constexpr std::size_t kSearched = std::size_t{32} << 10; ///< bytes before the end of a part where it may be cut
constexpr std::size_t kBeside = std::size_t{2} << 10;    ///< bytes on each side of a cut that are encoded to test it
constexpr int kTries = 32;

Status readStretch(const Document& document, std::uint64_t offset, std::uint64_t size, std::string& text)
{
    text.resize(size);
    return document.source->read(document.begin + offset, std::as_writable_bytes(std::span(text)));
}

bool isInside(std::string_view text, std::size_t at)
{
    return at < text.size() && !beginsCodePoint(text[at]);
}

std::size_t wholeCharacter(std::string_view text, std::size_t at)
{
    while (isInside(text, at)) {
        ++at;
    }
    return at;
}

/// True if the tokens of the two sides are those of both together.
bool cutsWell(std::string_view text, std::size_t at, const TextCodec& codec)
{
    const std::size_t begin = wholeCharacter(text, at > kBeside ? at - kBeside : 0);
    const std::size_t end = wholeCharacter(text, std::min(at + kBeside, text.size()));
    std::vector<std::uint32_t> whole;
    std::vector<std::uint32_t> sides;
    return codec.encode(text.substr(begin, end - begin), TextStart::GoesOn, whole) &&
           codec.encode(text.substr(begin, at - begin), TextStart::GoesOn, sides) &&
           codec.encode(text.substr(at, end - at), TextStart::GoesOn, sides) && whole == sides;
}

bool mayCut(std::string_view text, std::size_t at)
{
    const bool blank = text[at] == ' ' || text[at] == '\n';
    return text[at - 1] == '\n' ? !blank : text[at] == ' ' && text[at - 1] != ' ';
}

/// Returns the best position to cut `text`, at most `most`.
std::size_t cutIn(std::string_view text, std::size_t most, const TextCodec& codec)
{
    int tries = 0;
    std::size_t fallback = 0;
    for (std::size_t at = most; at > most - kSearched && tries < kTries; --at) {
        if (mayCut(text, at)) {
            fallback = fallback == 0 ? at : fallback;
            ++tries;
            if (cutsWell(text, at, codec)) {
                return at;
            }
        }
    }
    while (fallback == 0 && isInside(text, most)) {
        --most;
    }
    return fallback == 0 ? most : fallback;
}

Status addParts(const Document& document, const TextCodec& codec, const PreparationWatch& watch,
                std::vector<TextPart>& parts)
{
    std::string text;
    std::uint64_t done = 0;
    while (document.size - done > kPartBytes + kSearched) {
        const std::uint64_t from = done + kPartBytes - 2 * kSearched;
        RESIDUA_TRY(stillWanted(watch, 0));
        RESIDUA_TRY(readStretch(document, from, 3 * kSearched, text));
        const std::size_t skipped = wholeCharacter(text, 0);
        const std::string_view whole = std::string_view(text).substr(skipped, wholeCodePoints(text) - skipped);
        const std::uint64_t end = from + skipped + cutIn(whole, 2 * kSearched, codec);
        const TextStart start = done == 0 ? TextStart::Begins : TextStart::GoesOn;
        parts.push_back({{document.source, document.begin + done, end - done}, start, false});
        done = end;
    }
    const TextStart start = done == 0 ? TextStart::Begins : TextStart::GoesOn;
    parts.push_back({{document.source, document.begin + done, document.size - done}, start, true});
    return Done{};
}

/// Consecutive parts that one thread encodes.
struct Job {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<std::uint32_t> ids;
    std::vector<std::size_t> ends; ///< in ids, after each document that ends here
};

/// The state that the threads share.
class Encoding {
public:
    Encoding(const std::vector<TextPart>& parts, const TextCodec& codec, const DocumentMarks& marks,
             const PreparationWatch& watch)
        : m_parts(parts), m_codec(codec), m_marks(marks), m_watch(watch)
    {
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (m_jobs.empty() || bytes >= kPartBytes) {
                m_jobs.push_back({i, i, {}, {}});
                bytes = 0;
            }
            m_jobs.back().end = i + 1;
            bytes += parts[i].text.size;
            m_bytes += parts[i].text.size;
        }
    }

    Status run()
    {
        {
            const std::size_t most = std::max(1u, std::thread::hardware_concurrency());
            std::vector<std::jthread> helpers;
            for (std::size_t i = 1; i < std::min(most, m_jobs.size()); ++i) {
                helpers.emplace_back([this] { work({}); });
            }
            work(m_watch);
        }
        if (m_thrown) {
            std::rethrow_exception(m_thrown);
        }
        return m_error ? Status(*m_error) : Status(Done{});
    }

    [[nodiscard]] std::vector<Job>& jobs() { return m_jobs; }

private:
    /// Runs on each thread: takes the next part that no thread has taken, until all are taken.
    void work(const PreparationWatch& watch)
    {
        try {
            for (std::size_t i = m_next++; i < m_jobs.size() && !m_over; i = m_next++) {
                if (const Status status = encode(m_jobs[i], watch); !status) {
                    stop(i, status.error());
                }
            }
        } catch (...) { // such as too little memory, which must not terminate the program from a thread
            const std::scoped_lock lock(m_mutex);
            m_thrown = std::current_exception();
            m_over = true;
        }
    }

    Status encode(Job& job, const PreparationWatch& watch)
    {
        std::string text;
        for (std::size_t i = job.begin; i < job.end; ++i) {
            const TextPart& part = m_parts[i];
            RESIDUA_TRY(readStretch(part.text, 0, part.text.size, text));
            if (part.start == TextStart::Begins) {
                job.ids.insert(job.ids.end(), m_marks.before.begin(), m_marks.before.end());
            }
            RESIDUA_TRY(m_codec.encode(text, part.start, job.ids));
            if (part.ends) {
                job.ids.insert(job.ids.end(), m_marks.behind.begin(), m_marks.behind.end());
                job.ends.push_back(job.ids.size());
            }
            const std::uint64_t done = m_done += part.text.size;
            const double share = static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(m_bytes, 1));
            RESIDUA_TRY(stillWanted(watch, share));
        }
        return Done{};
    }

    /// Stops the work with this error. If there are several, the one of the first part is used.
    void stop(std::size_t job, const Error& error)
    {
        const std::scoped_lock lock(m_mutex);
        if (job < m_errorAt) {
            m_errorAt = job;
            m_error = error;
        }
        m_over = true;
    }

    const std::vector<TextPart>& m_parts;
    const TextCodec& m_codec;
    const DocumentMarks& m_marks;
    const PreparationWatch& m_watch;
    std::vector<Job> m_jobs;
    std::uint64_t m_bytes = 0; ///< of all parts
    std::atomic<std::uint64_t> m_done = 0;
    std::atomic<std::size_t> m_next = 0;
    std::atomic<bool> m_over = false;
    std::mutex m_mutex; ///< protects the members below
    std::size_t m_errorAt = std::numeric_limits<std::size_t>::max();
    std::optional<Error> m_error;
    std::exception_ptr m_thrown;
};

} // namespace

Result<std::vector<TextPart>> partsOf(const std::vector<Document>& documents, const TextCodec& codec,
                                      const PreparationWatch& watch)
{
    std::vector<TextPart> parts;
    parts.reserve(documents.size());
    for (const Document& document : documents) {
        RESIDUA_TRY(addParts(document, codec, watch, parts));
    }
    return parts;
}

Result<TokenSequence> encodeParts(const std::vector<TextPart>& parts, const TextCodec& codec,
                                  const DocumentMarks& marks, const std::string& place, const PreparationWatch& watch,
                                  std::vector<std::int64_t>* ends)
{
    Encoding encoding(parts, codec, marks, watch);
    if (const Status status = encoding.run(); !status) {
        return status.error() == preparationGivenUp() ? status.error() : Error{place, status.error().text()};
    }
    TokenSequence tokens;
    for (Job& job : encoding.jobs()) {
        for (const std::size_t end : job.ends) {
            if (ends != nullptr) {
                ends->push_back(tokens.size() + static_cast<std::int64_t>(end));
            }
        }
        tokens.append(job.ids, codec.vocabulary());
        job.ids = {};
    }
    return tokens;
}

} // namespace residua::engine
