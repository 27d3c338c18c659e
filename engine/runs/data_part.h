// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace residua::engine {

/// A source of a run's examples, as the run records it: files below a path, a tokeniser's model, or a generator.
struct DataPart {
    std::string name;       ///< the path in the project, or the generator's kind
    std::int64_t files = 0; ///< 0: a generator
    std::int64_t bytes = 0; ///< of all files
    std::string content;    ///< the hexadecimal hash of the files, or the generator's parameters and seed
    /// A hash of every byte, for files with a `content` that covers only some blocks. May be empty.
    std::string everyByte = {};
    bool operator==(const DataPart&) const = default;
};

/// Identifies the data of a run (engine/data/fingerprint.h). Never empty for existing data.
using DataFingerprint = std::vector<DataPart>;

} // namespace residua::engine
