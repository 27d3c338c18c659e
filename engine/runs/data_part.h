// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace residua::engine {

/// One thing that examples come from, as a run remembers it: files below a path, a tokeniser's model, or a generator.
struct DataPart {
    std::string name;       ///< the path as the project has it, or the generator's kind
    std::int64_t files = 0; ///< 0: a generator
    std::int64_t bytes = 0; ///< of all files
    std::string content;    ///< hash of the files in hexadecimal digits, or the generator's parameters and seed
    /// Of files whose `content` is of some blocks alone: a hash of every byte. May be empty.
    std::string everyByte = {};
    bool operator==(const DataPart&) const = default;
};

/// What tells the data of a run from other data (engine/data/fingerprint.h). Never empty for data that exist.
using DataFingerprint = std::vector<DataPart>;

} // namespace residua::engine
