// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/record/database.h"

#include <sqlite3.h>

#include <limits>

namespace residua::engine {
namespace {

constexpr int kBusyMilliseconds = 5000;

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

StoreTrouble troubleOf(int code)
{
    switch (code & 0xff) { // the rest says more of the same
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
    sqlite3_close(connection);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const
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
    return database;
}

Result<Database> Database::openForWriting(const std::filesystem::path& path, StoreTrouble* trouble)
{
    auto database = open(path, path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!database) {
        return database;
    }
    if (auto status = database->execute(kSetUp); !status) {
        if (trouble != nullptr) {
            *trouble = database->trouble();
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
    constexpr const char* kProbe = "SELECT count(*) FROM names, metrics, matrices, events WHERE 0";
    auto database = open(path, path.string(), SQLITE_OPEN_READONLY);
    if (database && database->execute(kProbe)) {
        return database;
    }
    // On read-only media a WAL cannot be shared, and nobody writes either.
    auto frozen = open(path, "file:" + path.string() + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    if (frozen && frozen->execute(kProbe)) {
        return frozen;
    }
    return database ? database->failure("cannot read the store") : database.error();
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

Result<Statement> Database::prepare(std::string_view sql) const
{
    sqlite3_stmt* statement = nullptr;
    const int size = static_cast<int>(sql.size());
    if (sqlite3_prepare_v3(m_connection.get(), sql.data(), size, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
        SQLITE_OK) {
        return failure("cannot read the store");
    }
    return Statement(statement);
}

Error Database::failure(const std::string& what) const
{
    m_trouble = troubleOf(sqlite3_extended_errcode(m_connection.get()));
    return {m_path, what + ": " + sqlite3_errmsg(m_connection.get())};
}

Statement& Statement::bind(int index, std::int64_t value)
{
    sqlite3_bind_int64(m_statement.get(), index, value);
    return *this;
}

Statement& Statement::bind(int index, double value)
{
    sqlite3_bind_double(m_statement.get(), index, value);
    return *this;
}

Statement& Statement::bind(int index, std::string_view text)
{
    sqlite3_bind_text64(m_statement.get(), index, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    return *this;
}

Statement& Statement::bind(int index, std::span<const std::byte> bytes)
{
    // A null pointer would be stored as NULL rather than as no bytes.
    const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
    sqlite3_bind_blob64(m_statement.get(), index, data, bytes.size(), SQLITE_STATIC);
    return *this;
}

bool Statement::run()
{
    const int code = sqlite3_step(m_statement.get());
    sqlite3_reset(m_statement.get());
    return code == SQLITE_DONE;
}

bool Statement::next()
{
    return sqlite3_step(m_statement.get()) == SQLITE_ROW;
}

void Statement::reset()
{
    sqlite3_reset(m_statement.get());
}

std::int64_t Statement::integer(int column) const
{
    return sqlite3_column_int64(m_statement.get(), column);
}

double Statement::real(int column) const
{
    if (sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return sqlite3_column_double(m_statement.get(), column);
}

std::string Statement::text(int column) const
{
    const auto* characters = reinterpret_cast<const char*>(sqlite3_column_text(m_statement.get(), column));
    return characters == nullptr
               ? std::string()
               : std::string(characters, static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column)));
}

std::span<const std::byte> Statement::bytes(int column) const
{
    const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(m_statement.get(), column));
    return {data, static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column))};
}

} // namespace residua::engine
