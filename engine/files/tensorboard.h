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

/// One record of an event file: length, masked CRC-32C of the length, data, masked CRC-32C of the data.
[[nodiscard]] std::string tensorBoardRecord(std::string_view event);

/// Scalars as TensorBoard's events, in a file of its own for each process that writes the run.
class TensorBoardWriter {
public:
    /// Creates events.out.tfevents.<time>.residua.<process>[.n] in `directory`. With `purgeFrom`, a reader forgets what
    /// earlier files say of steps from there on.
    [[nodiscard]] static Result<TensorBoardWriter> create(const std::filesystem::path& directory,
                                                          std::optional<std::int64_t> purgeFrom);

    /// Buffered until flush().
    void scalar(std::string_view name, std::int64_t step, double value);
    /// Appends what was buffered; on error the file is as before and the buffer stays.
    [[nodiscard]] Status flush();

private:
    explicit TensorBoardWriter(OutputFile file) : m_file(std::move(file)) {}

    OutputFile m_file;
    std::string m_buffer;
};

} // namespace residua::engine
