// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace residua::engine {

/// The file with a run's recorded numbers.
inline constexpr const char* kStoreFile = "store.sqlite";

class SqlStatement;

/// The kind of a failure of the store.
enum class StoreTrouble {
    None,
    Busy,    ///< another process holds it
    Damaged, ///< its contents are not what this program writes
    Other,   ///< the disk is full, the file cannot be opened, …
};

/// An SQLite connection. One thread.
class Database {
public:
    /// Opens the store for writing (WAL, synchronous NORMAL) and creates missing tables:
    ///   names(id, name)   metrics(name, step, value; NULL is NaN)
    ///   matrices(name, step, rows, columns, data: fp32)   events(id, step, kind, text)
    /// On failure, sets `trouble` (may be null) to its kind.
    [[nodiscard]] static Result<Database> openForWriting(const std::filesystem::path& path,
                                                         StoreTrouble* trouble = nullptr);
    /// Opens an existing store that another process may be writing. Refuses a store that another program has changed: a
    /// view instead of a table, because it may never end, or other columns or keys. Each query is limited to the work
    /// that a valid store can need between two rows, so that none hangs.
    [[nodiscard]] static Result<Database> openForReading(const std::filesystem::path& path);

    /// Replaces the contents by those of the store at `source`, under SQLite's locks, because others may have this one
    /// open. Refuses a source that openForReading() refuses.
    [[nodiscard]] Status replaceBy(const std::filesystem::path& source);

    [[nodiscard]] Status execute(const char* sql);
    [[nodiscard]] Result<SqlStatement> prepare(std::string_view sql) const;
    /// Returns an error with `what` and the reason of the last failure.
    [[nodiscard]] Error failure(const std::string& what) const;
    /// Returns the kind of the last failure that an error was returned for.
    [[nodiscard]] StoreTrouble trouble() const { return m_trouble; }
    /// Sets how long a statement waits for another process that holds the store.
    void setPatience(std::chrono::milliseconds patience);

private:
    struct Close {
        void operator()(sqlite3* connection) const;
    };
    [[nodiscard]] static Result<Database> open(const std::filesystem::path& path, const std::string& name, int flags);
    [[nodiscard]] static Result<Database> openRead(const std::filesystem::path& path, const std::string& name,
                                                   int flags, StoreTrouble& trouble);
    [[nodiscard]] Status checkTables() const;

    std::unique_ptr<int> m_work; ///< pieces of work since the last row; declared before the connection, which counts it
    std::unique_ptr<sqlite3, Close> m_connection;
    std::string m_path;
    mutable StoreTrouble m_trouble = StoreTrouble::None;
};

/// A prepared statement. Parameters are numbered from 1, columns from 0. Bound text and bytes must outlive run().
class SqlStatement {
public:
    SqlStatement& bind(int index, std::int64_t value);
    SqlStatement& bind(int index, double value); ///< NaN is stored as NULL
    SqlStatement& bind(int index, std::string_view text);
    SqlStatement& bind(int index, std::span<const std::byte> bytes);

    /// Runs a statement that returns no rows, and resets it for the next use.
    [[nodiscard]] bool run();
    /// Advances to the next row; returns false at the end, or on failure.
    [[nodiscard]] bool next();
    /// True if the last next() failed; Database::failure gives the reason.
    [[nodiscard]] bool failed() const { return m_failed; }
    /// Rewinds the statement to before its first row.
    void reset();

    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] double real(int column) const; ///< NaN for NULL
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::span<const std::byte> bytes(int column) const; ///< valid until the next call

    /// True if the value of a column in this row has this type, whatever the declared type: another program may have
    /// written it.
    [[nodiscard]] bool isInteger(int column) const;
    [[nodiscard]] bool isNumberOrNull(int column) const;
    [[nodiscard]] bool isText(int column) const;
    [[nodiscard]] bool isBytes(int column) const;

private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    SqlStatement(sqlite3_stmt* statement, int* work) : m_statement(statement), m_work(work) {}

    std::unique_ptr<sqlite3_stmt, Finalize> m_statement;
    int* m_work; ///< the database's; null if the work is not counted
    bool m_failed = false;
};

} // namespace residua::engine
