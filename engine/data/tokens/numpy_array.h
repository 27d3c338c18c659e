// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from token_files.h, because files of latents have the same format.

#include "engine/data/text/byte_source.h"
#include "projects/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace residua::engine {

/// The header of a file that numpy.save wrote.
struct NumpyArray {
    std::string type; ///< as the header has it: "<f4"; empty if it has none
    std::vector<std::int64_t> shape;
    bool isColumnMajor = false; ///< in Fortran's order, with more than one dimension
    ByteRange bytes;            ///< of the elements: the rest of the file
};

/// True if the file begins as a NumPy array.
[[nodiscard]] Result<bool> isNumpy(const Bytes& file);
/// Reads the header. `place` is the place of errors.
[[nodiscard]] Result<NumpyArray> readNumpy(const Bytes& file, const std::string& place);

} // namespace residua::engine
