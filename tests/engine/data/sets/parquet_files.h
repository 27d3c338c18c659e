// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::tests {

enum class TextType { String, LargeString, Dictionary };
enum class Packing { None, Snappy, Gzip, Zstd, Lz4, Brotli };
enum class Secrecy { Open, Columns, Whole }; ///< Columns: column text alone is encrypted

struct ParquetWriting {
    TextType type = TextType::String;
    Packing packing = Packing::Snappy;
    Secrecy secrecy = Secrecy::Open;
    std::int64_t rowsOfGroup = 1000;
};

/// The bytes of a file as Arrow writes it. Its columns: text, which has these; id, whole numbers; blob, bytes without a
/// type; tags, a list of two texts; origin, null in every second row, else with a title ("title 0", …).
[[nodiscard]] std::string parquetOf(const std::vector<std::optional<std::string>>& texts,
                                    const ParquetWriting& writing = {});

} // namespace residua::tests
