// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/runs/store/database.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// Rows to be written to a run's store.
struct StoreRows {
    std::vector<MetricRow> metrics;
    std::vector<Matrix> matrices;
    std::vector<RunEvent> events;
    [[nodiscard]] bool empty() const { return metrics.empty() && matrices.empty() && events.empty(); }
};

enum class Stored {
    Yes,
    NotNow, ///< another process holds the store; nothing was written
};

/// Writes a run's store.sqlite. A damaged store is renamed to store.sqlite.damaged and replaced by a new one, because
/// unreadable numbers must not stop the training. One thread.
class StoreWriter {
public:
    /// Opens the store. With `goOnFrom`, drops rows after that step. Adds notes for the user to `notes`.
    [[nodiscard]] static Result<StoreWriter> open(const std::filesystem::path& runDirectory,
                                                  std::optional<std::int64_t> goOnFrom,
                                                  std::vector<std::string>& notes);

    /// Writes all rows or none.
    [[nodiscard]] Result<Stored> write(const StoreRows& rows, std::vector<std::string>& notes);

private:
    /// A connection with the statements of write(), prepared once.
    struct Connection {
        Database database;
        SqlStatement addName; // after the database: finalised before it closes
        SqlStatement findName;
        SqlStatement metric;
        SqlStatement matrix;
        SqlStatement event;
    };

    explicit StoreWriter(std::filesystem::path path) : m_path(std::move(path)) {}
    [[nodiscard]] Status connect(std::optional<std::int64_t> goOnFrom, StoreTrouble& trouble);
    [[nodiscard]] Status connectAnew(const std::string& reason, std::vector<std::string>& notes);
    [[nodiscard]] Result<Stored> tryWrite(const StoreRows& rows, StoreTrouble& trouble);
    [[nodiscard]] bool insertAll(const StoreRows& rows);
    [[nodiscard]] bool idOf(const std::string& name, std::int64_t& id);
    [[nodiscard]] bool hasNumbers() const;

    std::filesystem::path m_path;
    std::optional<Connection> m_connection;
    std::map<std::string, std::int64_t> m_ids;
};

} // namespace residua::engine
