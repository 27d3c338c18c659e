// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace residua::engine {

/// Returns one record of an event file: length, masked CRC-32C of the length, data, masked CRC-32C of the data.
[[nodiscard]] std::string tensorBoardRecord(std::string_view event);

/// Writes scalars as TensorBoard events, with one file for each process that writes the run.
class TensorBoardWriter {
public:
    /// Creates events.out.tfevents.<time>.residua.<process>[.n] in `directory`. With `purgeFrom`, readers discard what
    /// earlier files record from that step on.
    [[nodiscard]] static Result<TensorBoardWriter> create(const std::filesystem::path& directory,
                                                          std::optional<std::int64_t> purgeFrom);

    /// Adds a scalar to the buffer, which flush() writes.
    void scalar(std::string_view name, std::int64_t step, double value);
    /// Appends the buffer to the file. On error the file is unchanged and the buffer is kept.
    [[nodiscard]] Status flush();

private:
    explicit TensorBoardWriter(OutputFile file) : m_file(std::move(file)) {}

    OutputFile m_file;
    std::string m_buffer;
};

} // namespace residua::engine
