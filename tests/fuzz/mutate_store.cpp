// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/mutate_store.h"

#include "tests/fuzz/fuzz.h"

#include <sqlite3.h>

#include <array>
#include <fstream>
#include <iterator>

#include <sys/stat.h>

namespace residua::fuzz {
namespace {

namespace fs = std::filesystem;

/// Numbers that a store may claim.
constexpr std::array kNumbers{"0",
                              "-1",
                              "1",
                              "3",
                              "65536",
                              "65537",
                              "2147483648",
                              "3037000500", // its square is just beyond 64 bits
                              "4294967296",
                              "9007199254740993",
                              "9223372036854775807",
                              "-9223372036854775808",
                              "9e999",
                              "-9e999",
                              "1e300",
                              "4.9e-324",
                              "0.5",
                              "NULL",
                              "'seven'",
                              "'7'",
                              "x'00ff'",
                              "zeroblob(40)",
                              "randomblob(1000000)"};

/// Changes that another program may make to the rows and the schema; a # is one of the numbers.
constexpr std::array kStatements{
    "UPDATE matrices SET rows = #, columns = #",
    "UPDATE matrices SET rows = # WHERE step = 20",
    "UPDATE matrices SET rows = rows * columns, columns = 1 WHERE step % 20 = 0",
    "UPDATE matrices SET rows = 0, columns = #, data = x''",
    "UPDATE matrices SET data = #",
    "UPDATE matrices SET data = randomblob(length(data))",
    "UPDATE matrices SET data = x'0000807f000080ff0000c07fffffff7f', rows = 2, columns = 2 WHERE step > 10",
    "UPDATE matrices SET rows = 200, columns = 200, data = randomblob(160000) WHERE step = 40",
    "UPDATE OR IGNORE matrices SET step = # WHERE step = 20",
    "UPDATE OR REPLACE matrices SET name = (SELECT id FROM names WHERE name = 'norms')",
    "UPDATE OR IGNORE metrics SET step = # WHERE step = 20",
    "UPDATE metrics SET value = #",
    "UPDATE metrics SET value = # WHERE step % 3 = 0",
    "UPDATE metrics SET value = 10834 + step * 1e-13",
    "UPDATE metrics SET value = random() * 1e290",
    "DELETE FROM metrics WHERE step > 1",
    "DELETE FROM metrics",
    "DELETE FROM names",
    "DELETE FROM matrices WHERE step <> 20",
    "UPDATE names SET name = char(27) || '[2J' || char(7) || name || char(10)",
    "UPDATE names SET name = CAST(x'c328ff00' AS TEXT) || name",
    "UPDATE names SET name = '<script>' || name || ',\"&'",
    "UPDATE names SET name = printf('%.*c', 100000, 'n') || id",
    "UPDATE OR IGNORE names SET name = #",
    "UPDATE names SET name = 'mix/' || name",
    "WITH RECURSIVE c(x) AS (SELECT 1000 UNION ALL SELECT x + 1 FROM c LIMIT 20000) INSERT INTO names SELECT x, 'n' || "
    "x FROM c; INSERT INTO matrices SELECT id, 5, 1, 1, x'0000803f' FROM names WHERE id >= 1000; INSERT INTO metrics "
    "SELECT id, 5, 1 FROM names WHERE id >= 1000",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20000) INSERT INTO events SELECT x + 100, x, "
    "'stage', 'stage ' || x FROM c",
    "INSERT INTO events SELECT NULL, #, 'stage', printf('%.*c', 3000000, '<')",
    "UPDATE events SET kind = 'stage', text = char(0, 1, 27, 8232) || text",
    "UPDATE events SET step = #, text = #",
    "DROP TABLE metrics; CREATE VIEW metrics AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT "
    "1 AS name, x AS step, x AS value FROM c",
    "DROP TABLE names; CREATE VIEW names AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x "
    "AS "
    "id, 'n' || x AS name FROM c",
    "DROP TABLE events; CREATE VIEW Events AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x "
    "AS id, x AS step, 'stage' AS kind, 'x' AS text FROM c",
    "DROP TABLE matrices; CREATE VIEW matrices AS SELECT 1 AS name, 1 AS step, 1 AS rows, 1 AS columns, "
    "zeroblob(2000000000) AS data",
    "DROP TABLE metrics; CREATE TABLE metrics(name, step, value AS (length(hex(zeroblob(100000000)))), PRIMARY "
    "KEY(name, "
    "step))",
    "DROP TABLE metrics; CREATE TABLE metrics(name, step, value)",
    "DROP TABLE metrics; CREATE TABLE metrics(name TEXT, step TEXT, value TEXT, PRIMARY KEY(name, step)); INSERT INTO "
    "metrics SELECT id, 'x' || id, 'y' FROM names",
    "DROP TABLE metrics; CREATE VIRTUAL TABLE metrics USING fts5(name, step, value)",
    "DROP TABLE matrices; CREATE VIRTUAL TABLE matrices USING rtree(name, step, rows, columns, data)",
    "ALTER TABLE metrics ADD COLUMN more",
    "DROP TABLE events",
    "CREATE TRIGGER t AFTER INSERT ON metrics BEGIN INSERT INTO events SELECT NULL, 1, 'x', 'y' FROM metrics a, "
    "metrics b, "
    "metrics c, metrics d; END",
    "CREATE INDEX i ON metrics(step, value); CREATE INDEX j ON matrices(length(data))",
    "PRAGMA user_version = 99",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = abs(random()) % 12 WHERE name = 'metrics'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = "
    "'matrices')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') || ' '",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'view' WHERE name = 'events'",
    "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'names'",
    "VACUUM"};

std::string bytesOf(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& bytes)
{
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

std::string inSql(const fs::path& store, std::mt19937_64& random)
{
    std::string sql;
    for (const char c : std::string(oneOf(random, kStatements))) {
        sql += c == '#' ? oneOf(random, kNumbers) : std::string(1, c);
    }
    sqlite3* connection = nullptr;
    if (sqlite3_open(store.c_str(), &connection) == SQLITE_OK) {
        sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
        sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr); // what it refuses is not done
        sqlite3_exec(connection, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
    }
    sqlite3_close(connection);
    return sql;
}

/// One page in the place of another, so that trees meet or lead back to themselves.
std::string pageOverPage(const fs::path& store, std::mt19937_64& random)
{
    constexpr std::size_t kPage = 4096;
    std::string bytes = bytesOf(store);
    const std::size_t pages = bytes.size() / kPage;
    if (pages < 2) {
        return "too few pages";
    }
    const std::size_t from = 1 + below(random, pages - 1);
    const std::size_t to = 1 + below(random, pages - 1);
    bytes.replace(to * kPage, kPage, bytes.substr(from * kPage, kPage));
    write(store, bytes);
    return "page " + std::to_string(from) + " over page " + std::to_string(to);
}

/// A page that is the root of nothing but itself: as many rows as there are paths.
std::string pageIntoItself(const fs::path& store, std::mt19937_64& random)
{
    constexpr std::size_t kPage = 4096;
    std::string bytes = bytesOf(store);
    const std::size_t pages = bytes.size() / kPage;
    if (pages < 2) {
        return "too few pages";
    }
    const std::size_t page = 1 + below(random, pages - 1);
    bytes[page * kPage] = below(random, 2) == 0 ? '\x05' : '\x02'; // an inner page of a table, or of an index
    const std::size_t child = 1 + below(random, pages - 1);
    for (std::size_t byte = 0; byte < 4; ++byte) {
        bytes[page * kPage + 8 + byte] = static_cast<char>((child + 1) >> (8 * (3 - byte)) & 0xff);
    }
    write(store, bytes);
    return "page " + std::to_string(page) + " leads to " + std::to_string(child);
}

/// Something else under the store's name, or beside it.
std::string anotherFile(const fs::path& store, std::mt19937_64& random)
{
    const std::array<const char*, 3> names{"", "-wal", "-shm"};
    const fs::path file = store.string() + oneOf(random, names);
    std::error_code ignored;
    fs::remove_all(file, ignored);
    switch (below(random, 6)) {
    case 0:
        ::mkfifo(file.c_str(), 0600);
        return file.filename().string() + " is a FIFO";
    case 1:
        fs::create_directory(file, ignored);
        return file.filename().string() + " is a folder";
    case 2:
        fs::create_symlink(file.filename(), file, ignored);
        return file.filename().string() + " is a link to itself";
    case 3:
        fs::create_symlink("/dev/zero", file, ignored);
        return file.filename().string() + " is /dev/zero";
    case 4:
        write(file, {});
        return file.filename().string() + " is empty";
    default:
        write(file, std::string(20'000, static_cast<char>(below(random, 256))));
        return file.filename().string() + " is one byte, often";
    }
}

} // namespace

std::string mutateStore(const fs::path& store, std::mt19937_64& random)
{
    switch (below(random, 10)) {
    case 0:
        write(store, withRandomBytes(bytesOf(store), random));
        return "random bytes";
    case 1:
        return pageOverPage(store, random);
    case 2:
        return pageIntoItself(store, random);
    case 3:
        return anotherFile(store, random);
    case 4:
        return inSql(store, random) + "; then " + pageOverPage(store, random);
    case 5:
        return inSql(store, random) + "; " + inSql(store, random);
    default:
        return inSql(store, random);
    }
}

} // namespace residua::fuzz
