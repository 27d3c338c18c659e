// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/store/database.h"

#include <sqlite3.h>

#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace residua::engine {
namespace {

constexpr int kBusyMilliseconds = 5000;
constexpr int kMostBytes = 1 << 28;       ///< of a text or a matrix
constexpr int kPieceOfWork = 1'000'000;   ///< SQLite operations per piece of work
constexpr int kMostWork = 100;            ///< the maximum number of pieces between two rows: about a second
constexpr std::size_t kMostColumns = 200; ///< the maximum length of the columns' names, in letters

constexpr const char* kSetUp = R"(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS names(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS metrics(name INTEGER NOT NULL, step INTEGER NOT NULL, value REAL,
    PRIMARY KEY(name, step)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS matrices(name INTEGER NOT NULL, step INTEGER NOT NULL, rows INTEGER NOT NULL,
    columns INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY(name, step));
CREATE TABLE IF NOT EXISTS events(id INTEGER PRIMARY KEY, step INTEGER NOT NULL, kind TEXT NOT NULL,
    text TEXT NOT NULL);
PRAGMA user_version = 1;
COMMIT;
)";

/// Restricts the connection, because the store is untrusted: runs nothing from its schema and limits the size of
/// values.
void distrust(sqlite3* connection)
{
    for (const auto& [option, on] :
         {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
          std::pair(SQLITE_DBCONFIG_ENABLE_VIEW, 0), std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)}) {
        sqlite3_db_config(connection, option, on, nullptr);
    }
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, kMostBytes);
}

int countWork(void* work)
{
    return ++*static_cast<int*>(work) > kMostWork ? 1 : 0; // 1 ends the query
}

/// Returns the reason in words for users; SQLite's messages are for programmers.
std::string reasonOf(sqlite3* connection)
{
    switch (sqlite3_errcode(connection)) {
    case SQLITE_CORRUPT:
        return "it is damaged";
    case SQLITE_NOTADB:
        return "it is not an SQLite database";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another process holds it locked";
    case SQLITE_FULL:
        return "the disk is full";
    case SQLITE_IOERR:
        return "the disk failed, or is full";
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return "it may not be written";
    case SQLITE_CANTOPEN:
        return "it cannot be opened";
    case SQLITE_TOOBIG:
        return "it holds more than " + std::to_string(kMostBytes >> 20) + " MiB in one place";
    case SQLITE_INTERRUPT:
        return "it takes longer than a run's store can; it is damaged";
    case SQLITE_NOMEM:
        return "there is not enough memory";
    default:
        return "it is not as a run writes it";
    }
}

/// Returns an error if a file of the store would block SQLite, such as a FIFO.
std::optional<Error> oddFile(const std::filesystem::path& path)
{
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
        const std::filesystem::path file = path.string() + suffix;
        std::error_code code;
        const auto status = std::filesystem::status(file, code);
        if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
            return Error{file.string(), "is not a plain file"};
        }
    }
    return std::nullopt;
}

/// Escapes a path for a URI.
std::string uriPath(const std::filesystem::path& path)
{
    std::string text;
    for (const char c : path.string()) {
        text += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
    }
    return text;
}

/// A table with its columns in order; a star marks those of the primary key.
struct ExpectedTable {
    const char* name;
    const char* columns;
};
constexpr std::array<ExpectedTable, 4> kTables{{{"names", "id* name"},
                                                {"metrics", "name* step* value"},
                                                {"matrices", "name* step* rows columns data"},
                                                {"events", "id* step kind text"}}};

StoreTrouble troubleOf(int code)
{
    switch (code & 0xff) { // the low byte is the kind of error; the other bits refine it
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return StoreTrouble::Busy;
    case SQLITE_ERROR: // a table is missing or has other columns
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
        return StoreTrouble::Damaged;
    default:
        return code == SQLITE_READONLY_DBMOVED ? StoreTrouble::Damaged : StoreTrouble::Other;
    }
}

} // namespace

void Database::Close::operator()(sqlite3* connection) const
{
    if (sqlite3_db_readonly(connection, "main") == 0) {
        // SQLite does this for the last connection only, and one that only reads may still be open.
        sqlite3_wal_checkpoint_v2(connection, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    }
    sqlite3_close(connection);
}

void SqlStatement::Finalize::operator()(sqlite3_stmt* statement) const
{
    sqlite3_finalize(statement);
}

Result<Database> Database::open(const std::filesystem::path& path, const std::string& name, int flags)
{
    sqlite3* connection = nullptr;
    const int code = sqlite3_open_v2(name.c_str(), &connection, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    Database database;
    database.m_connection.reset(connection);
    database.m_path = path.string();
    if (code != SQLITE_OK) {
        return database.failure("cannot open the store");
    }
    sqlite3_busy_timeout(connection, kBusyMilliseconds);
    distrust(connection);
    return database;
}

Result<Database> Database::openForWriting(const std::filesystem::path& path, StoreTrouble* trouble)
{
    auto database = RESIDUA_TRY(open(path, path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    if (auto status = database.execute(kSetUp); !status) {
        if (trouble != nullptr) {
            *trouble = database.trouble();
        }
        return status.error();
    }
    return database;
}

void Database::setPatience(std::chrono::milliseconds patience)
{
    sqlite3_busy_timeout(m_connection.get(), static_cast<int>(patience.count()));
}

Result<Database> Database::openForReading(const std::filesystem::path& path)
{
    std::error_code code;
    if (!std::filesystem::exists(path, code)) {
        return Error{path.string(), "there is no store"};
    }
    if (const auto odd = oddFile(path)) {
        return *odd;
    }
    StoreTrouble trouble = StoreTrouble::None;
    auto database = openRead(path, path.string(), SQLITE_OPEN_READONLY, trouble);
    if (database || trouble != StoreTrouble::Other) {
        return database;
    }
    // Read-only media cannot hold the shared file that a WAL needs. No process writes there, so a WAL's index is kept
    // in memory, which requires a connection without locks. Without a WAL, the database is opened as immutable.
    const std::uintmax_t rows = std::filesystem::file_size(path.string() + "-wal", code);
    const std::string how = !code && rows > 0 ? "?vfs=unix-none" : "?immutable=1";
    auto frozen = openRead(path, "file:" + uriPath(path) + how, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, trouble);
    return frozen ? std::move(frozen) : std::move(database);
}

Result<Database> Database::openRead(const std::filesystem::path& path, const std::string& name, int flags,
                                    StoreTrouble& trouble)
{
    auto database = open(path, name, flags);
    if (!database) {
        trouble = StoreTrouble::Other;
        return database;
    }
    if ((flags & SQLITE_OPEN_URI) != 0) {
        if (const Status alone = database->execute("PRAGMA locking_mode = EXCLUSIVE"); !alone) {
            trouble = database->trouble();
            return alone.error();
        }
    }
    database->m_work = std::make_unique<int>(0);
    sqlite3_progress_handler(database->m_connection.get(), kPieceOfWork, &countWork, database->m_work.get());
    if (const Status checked = database->checkTables(); !checked) {
        trouble = database->trouble();
        return checked.error();
    }
    return database;
}

Status Database::replaceBy(const std::filesystem::path& source)
{
    const auto other = RESIDUA_TRY(openForReading(source));
    constexpr int kAllPages = -1;
    sqlite3_backup* const copy = sqlite3_backup_init(m_connection.get(), "main", other.m_connection.get(), "main");
    if (copy == nullptr) {
        return failure("cannot replace the store");
    }
    const int code = sqlite3_backup_step(copy, kAllPages);
    sqlite3_backup_finish(copy);
    return code == SQLITE_DONE ? Status(Done{}) : Status(failure("cannot replace the store"));
}

Status Database::checkTables() const
{
    for (const ExpectedTable& table : kTables) {
        const std::string name = table.name;
        // Views and virtual tables have no page of their own.
        auto stored = RESIDUA_TRY(
            prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type <> 'index'"));
        const bool any = stored.bind(1, std::string_view(name)).next();
        if (stored.failed()) {
            return failure("cannot read the store");
        }
        if (!any || stored.integer(0) <= 0) {
            return Error{m_path, "cannot read the store: " + name +
                                     (any ? " is no table but a view" : ", a table of every run's store, is missing")};
        }
        auto columns = RESIDUA_TRY(prepare("SELECT name, pk, hidden FROM pragma_table_xinfo(?1)"));
        columns.bind(1, std::string_view(name));
        std::string found;
        while (columns.next() && found.size() < kMostColumns) {
            found += (found.empty() ? "" : " ") + columns.text(0) + (columns.integer(1) > 0 ? "*" : "") +
                     (columns.integer(2) != 0 ? " (made up)" : "");
        }
        if (found != table.columns) {
            return Error{m_path, "cannot read the store: its table " + name +
                                     " has other columns than a run's: " + table.columns + " are expected"};
        }
    }
    return Done{};
}

Status Database::execute(const char* sql)
{
    if (sqlite3_exec(m_connection.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
        const Error error = failure("the store refused");
        if (sqlite3_get_autocommit(m_connection.get()) == 0) {
            sqlite3_exec(m_connection.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        }
        return error;
    }
    return Done{};
}

Result<SqlStatement> Database::prepare(std::string_view sql) const
{
    sqlite3_stmt* statement = nullptr;
    const int size = static_cast<int>(sql.size());
    if (sqlite3_prepare_v3(m_connection.get(), sql.data(), size, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
        SQLITE_OK) {
        return failure("cannot read the store");
    }
    return SqlStatement(statement, m_work.get());
}

Error Database::failure(const std::string& what) const
{
    m_trouble = troubleOf(sqlite3_extended_errcode(m_connection.get()));
    return {m_path, what + ": " + reasonOf(m_connection.get())};
}

SqlStatement& SqlStatement::bind(int index, std::int64_t value)
{
    sqlite3_bind_int64(m_statement.get(), index, value);
    return *this;
}

SqlStatement& SqlStatement::bind(int index, double value)
{
    sqlite3_bind_double(m_statement.get(), index, value);
    return *this;
}

SqlStatement& SqlStatement::bind(int index, std::string_view text)
{
    sqlite3_bind_text64(m_statement.get(), index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}

SqlStatement& SqlStatement::bind(int index, std::span<const std::byte> bytes)
{
    // A null pointer would be stored as NULL instead of as zero bytes.
    const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
    sqlite3_bind_blob64(m_statement.get(), index, data, bytes.size(), SQLITE_STATIC);
    return *this;
}

bool SqlStatement::run()
{
    const int code = sqlite3_step(m_statement.get());
    sqlite3_reset(m_statement.get());
    return code == SQLITE_DONE;
}

bool SqlStatement::next()
{
    if (m_work != nullptr) {
        *m_work = 0;
    }
    const int code = sqlite3_step(m_statement.get());
    m_failed = code != SQLITE_ROW && code != SQLITE_DONE;
    return code == SQLITE_ROW;
}

void SqlStatement::reset()
{
    sqlite3_reset(m_statement.get());
}

std::int64_t SqlStatement::integer(int column) const
{
    return sqlite3_column_int64(m_statement.get(), column);
}

double SqlStatement::real(int column) const
{
    if (sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return sqlite3_column_double(m_statement.get(), column);
}

std::string SqlStatement::text(int column) const
{
    const auto* characters = reinterpret_cast<const char*>(sqlite3_column_text(m_statement.get(), column));
    return characters == nullptr
               ? std::string()
               : std::string(characters, static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column)));
}

bool SqlStatement::isInteger(int column) const
{
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_INTEGER;
}

bool SqlStatement::isNumberOrNull(int column) const
{
    const int type = sqlite3_column_type(m_statement.get(), column);
    return type == SQLITE_FLOAT || type == SQLITE_INTEGER || type == SQLITE_NULL;
}

bool SqlStatement::isText(int column) const
{
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_TEXT;
}

bool SqlStatement::isBytes(int column) const
{
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_BLOB;
}

std::span<const std::byte> SqlStatement::bytes(int column) const
{
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(m_statement.get(), column));
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column))};
}

} // namespace residua::engine
