// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/stages/stages.h"

namespace residua::engine {
namespace {

void append(Span span, std::vector<Span>& pieces)
{
    if (span.size() > 0) {
        pieces.push_back(span);
    }
}

/// Joins a delimiter with the stretch before or after it, unless that is a delimiter too.
void appendMerged(const std::vector<Stretch>& stretches, Delimiters delimiters, std::vector<Span>& pieces)
{
    const bool next = delimiters == Delimiters::MergedWithNext;
    for (std::size_t i = 0; i < stretches.size();) {
        const Stretch& first = stretches[i];
        const bool joins = i + 1 < stretches.size() && first.delimiter == next && stretches[i + 1].delimiter != next;
        append({first.span.begin, stretches[joins ? i + 1 : i].span.end}, pieces);
        i += joins ? 2 : 1;
    }
}

void appendContiguous(const std::vector<Stretch>& stretches, std::vector<Span>& pieces)
{
    for (std::size_t i = 0; i < stretches.size();) {
        std::size_t last = i;
        while (last + 1 < stretches.size() && stretches[last + 1].delimiter == stretches[i].delimiter) {
            ++last;
        }
        append({stretches[i].span.begin, stretches[last].span.end}, pieces);
        i = last + 1;
    }
}

} // namespace

std::optional<Delimiters> delimitersOf(std::string_view name)
{
    constexpr struct {
        std::string_view name;
        Delimiters value;
    } kNames[] = {{"Removed", Delimiters::Removed},
                  {"Isolated", Delimiters::Isolated},
                  {"MergedWithPrevious", Delimiters::MergedWithPrevious},
                  {"MergedWithNext", Delimiters::MergedWithNext},
                  {"Contiguous", Delimiters::Contiguous}};
    for (const auto& known : kNames) {
        if (known.name == name) {
            return known.value;
        }
    }
    return std::nullopt;
}

void appendPieces(const std::vector<Stretch>& stretches, Delimiters delimiters, std::vector<Span>& pieces)
{
    switch (delimiters) {
    case Delimiters::MergedWithPrevious:
    case Delimiters::MergedWithNext:
        return appendMerged(stretches, delimiters, pieces);
    case Delimiters::Contiguous:
        return appendContiguous(stretches, pieces);
    case Delimiters::Removed:
    case Delimiters::Isolated:
        break;
    }
    for (const Stretch& stretch : stretches) {
        if (!stretch.delimiter || delimiters == Delimiters::Isolated) {
            append(stretch.span, pieces);
        }
    }
}

} // namespace residua::engine
