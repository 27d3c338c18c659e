// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace residua::app {

/// What is asked for data of a kind: those of these fields that its source has, so that a source that is new in the
/// schema is asked for without a line here. A generator without any of them begins as its example does. Pure; any
/// thread.
struct AskedData {
    bool path = false;
    bool key = false;   ///< of the text in files of records
    bool parts = false; ///< of a mixture
    bool tokeniser = false;
    bool vocabulary = false; ///< of files of tokens
};
[[nodiscard]] AskedData askedOf(const projects::Source& source);

/// What was answered, to all that may be asked.
struct AnsweredData {
    std::string path;
    std::string key = projects::JsonLinesData{}.field;
    std::vector<projects::MixturePart> parts;
    projects::Tokeniser tokeniser;
    std::int64_t vocabulary = 0;
};
/// The answers that give this source; of what is not asked for it, what the field begins as.
[[nodiscard]] AnsweredData answersIn(const projects::Source& source);
/// The source at `kind` among the alternatives, with the answers to what is asked for it. Precondition: there is one.
[[nodiscard]] projects::Source sourceFrom(std::size_t kind, const AnsweredData& answers);

/// What the vocabulary of such data begins as.
[[nodiscard]] std::int64_t proposedVocabulary(const projects::Source& source);
/// The endings of the files that are data of this kind.
[[nodiscard]] std::vector<std::string_view> endingsOf(const projects::Source& source);

} // namespace residua::app
