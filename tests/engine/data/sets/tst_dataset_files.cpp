// SPDX-License-Identifier: GPL-3.0-or-later
// Files as the world has them: other kinds than regular ones, other encodings, other widths of tokens; cut off or
// rewritten while they are read; more of them than a process may have open.
#include "dataset_harness.h"

#include "engine/base/machine/preparation.h"
#include "engine/data/text/text_files.h"
#include "engine/data/tokens/token_cache.h"
#include "tests/support/test_program.h"
#include "tests/support/text.h"

#include <QTest>

#include <atomic>
#include <cstring>
#include <iterator>
#include <numeric>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;
using projects::TokeniserKind;
using projects::TokenWidth;

namespace {

/// `count` tokens below 500, none of them zero.
template <class T>
std::string tokens(std::size_t count)
{
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<T>(1 + i * 37 % 499);
    }
    return packed(values);
}

std::string sentences(std::size_t count)
{
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += "line " + std::to_string(i) + " grüßt die 世界\n";
    }
    return text;
}

/// The same with two or four bytes a character, ASCII alone.
std::string widened(const std::string& text, std::size_t zeros, bool bigEndian)
{
    std::string wide;
    for (const char c : text) {
        wide += bigEndian ? std::string(zeros, '\0') + c : c + std::string(zeros, '\0');
    }
    return wide;
}

} // namespace

class TestDatasetFiles : public DatasetHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    // ---- other kinds of files

    void onlyRegularFilesAreOpened_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("says");
        QTest::newRow("FIFO") << "fifo"
                              << "is a FIFO; expected a file";
        QTest::newRow("socket") << "socket"
                                << "is a socket; expected a file";
        QTest::newRow("device") << "device"
                                << "is a device; expected a file";
    }
    void onlyRegularFilesAreOpened()
    {
        QFETCH(QString, what);
        QFETCH(QString, says);
        const fs::path odd = m_folder / "odd";
        if (what == "fifo") {
            QCOMPARE(::mkfifo(odd.c_str(), 0600), 0);
        } else if (what == "socket") {
            sockaddr_un address{};
            address.sun_family = AF_UNIX;
            std::strncpy(address.sun_path, odd.c_str(), sizeof(address.sun_path) - 1);
            const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
            QCOMPARE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
            ::close(socket);
        } else {
            fs::create_symlink("/dev/zero", odd);
        }
        writeAll(m_folder / "t.bin", tokens<std::uint16_t>(200));
        writeAll(m_folder / "t.txt", sentences(20));
        const std::vector<projects::Source> sources{
            projects::TextData{"odd", {}},
            projects::JsonLinesData{"odd", "text", {}},
            projects::TokenFileData{"odd", {}, TokenWidth::Detect, 500},
            projects::TokenFileData{"t.bin", "odd", TokenWidth::Detect, 500},
            projects::TextData{"t.txt", {TokeniserKind::SentencePiece, "odd", 300}},
        };
        for (const projects::Source& source : sources) {
            const auto dataset = open(source);
            QVERIFY(!dataset);
            QCOMPARE(QString::fromStdString(dataset.error().place), QString::fromStdString(odd.string()));
            QCOMPARE(QString::fromStdString(dataset.error().message), says);
        }
    }

    void foldersSkipWhatIsNoFile()
    {
        writeAll(m_folder / "corpus/a.txt", sentences(20));
        QCOMPARE(::mkfifo((m_folder / "corpus/b.txt").c_str(), 0600), 0);
        QVERIFY(open(projects::TextData{"corpus", {}}).ok());
    }

    // ---- files that change while they are used

    void changesAreErrors_data()
    {
        QTest::addColumn<QString>("change");
        QTest::addColumn<QString>("says");
        QTest::newRow("cut off") << "cut"
                                 << "was changed while it was in use: it has 100 bytes, and had ";
        QTest::newRow("emptied") << "empty"
                                 << "was changed while it was in use: it has 0 bytes, and had ";
        QTest::newRow("grown") << "grow"
                               << "was changed while it was in use: it has ";
        QTest::newRow("rewritten") << "rewrite"
                                   << "was rewritten while it was in use";
    }
    void changesAreErrors()
    {
        QFETCH(QString, change);
        QFETCH(QString, says);
        for (const char* name : {"t.txt", "t.bin"}) {
            const bool isText = std::string(name) == "t.txt";
            const fs::path file = m_folder / name;
            const std::string bytes = isText ? sentences(5000) : tokens<std::uint16_t>(60000);
            writeAll(file, bytes);
            setTime(file, 1'000'000); // long ago, so that the clock's coarseness hides no change
            const auto dataset = isText ? open(projects::TextData{name, {}})
                                        : open(projects::TokenFileData{name, {}, TokenWidth::Detect, 500});
            QVERIFY2(dataset, dataset ? "" : dataset.error().text().c_str());
            Batch batch;
            QVERIFY((*dataset)->fill(batch, Split::Train, 1, 0, 4));
            if (change == "rewrite") {
                const int descriptor = ::open(file.c_str(), O_WRONLY);
                QCOMPARE(::pwrite(descriptor, "zzzzzzzz", 8, 64), 8);
                ::close(descriptor);
            } else {
                fs::resize_file(file, change == "cut" ? 100 : change == "grow" ? bytes.size() + 100 : 0);
            }
            for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
                const Status filled = (*dataset)->fill(batch, split, 1, 1, 4);
                QVERIFY(!filled);
                QCOMPARE(filled.error().place, file.string());
                QVERIFY2(filled.error().message.starts_with(says.toStdString()), filled.error().message.c_str());
                QVERIFY(!(*dataset)->fillSequential(batch, split, 0, 4));
            }
        }
    }

    void aReplacedFileStaysWhatItWas()
    {
        writeAll(m_folder / "t.txt", sentences(100));
        const auto dataset = open(projects::TextData{"t.txt", {}});
        QVERIFY(dataset);
        const auto before = tokensOf(**dataset, Split::Train);
        writeAll(m_folder / "new", std::string(5000, 'x'));
        fs::rename(m_folder / "new", m_folder / "t.txt");
        QVERIFY(tokensOf(**dataset, Split::Train) == before);
    }

    void tokenisedTextNeedsItsFileNoMore()
    {
        writeAll(m_folder / "t.txt", sentences(100));
        const auto dataset = open(projects::TextData{"t.txt", {TokeniserKind::Characters, {}, 64}});
        QVERIFY(dataset);
        const auto before = tokensOf(**dataset, Split::Train);
        fs::resize_file(m_folder / "t.txt", 0);
        QVERIFY(tokensOf(**dataset, Split::Train) == before);
    }

    void moreFilesThanDescriptors()
    {
        constexpr int kFiles = 400;
        std::vector<std::int64_t> expected;
        for (int i = 0; i < kFiles; ++i) {
            const std::string number = std::to_string(1000 + i);
            writeAll(m_folder / "many" / (number + ".txt"), number + "\n");
            writeAll(m_folder / "shards" / (number + ".bin"), packed(std::vector<std::uint16_t>(5, 7)));
            expected.insert(expected.end(), number.begin(), number.end());
            expected.push_back('\n');
        }
        rlimit before{};
        QCOMPARE(::getrlimit(RLIMIT_NOFILE, &before), 0);
        rlimit few = before;
        few.rlim_cur = 200;
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &few), 0);
        auto project = projectOn({}, {});
        project.data = {projects::TextData{"many", {}}, 0, 0};
        const auto texts = Dataset::open(project, m_folder);
        std::vector<std::int64_t> read;
        Status replaced = Done{};
        if (texts) {
            read = tokensOf(**texts, Split::Train);
            // One that is opened anew for each read is known again, or not.
            writeAll(m_folder / "new", "gone\n");
            fs::rename(m_folder / "new", m_folder / "many" / "1390.txt");
            Batch batch;
            replaced = (*texts)->fillSequential(batch, Split::Train, 0, (5 * kFiles - 1) / static_cast<int>(kTime));
        }
        const bool shards = open(projects::TokenFileData{"shards", {}, TokenWidth::Detect, 500}).ok();
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &before), 0);
        QVERIFY2(texts, texts ? "" : texts.error().text().c_str());
        expected.resize(read.size());
        QVERIFY(read.size() > 5 * kFiles - 2 * kTime);
        QVERIFY(read == expected);
        QVERIFY(!replaced);
        QVERIFY(contains(replaced.error().text(), "1390.txt] was rewritten"));
        QVERIFY(shards);
    }

    // ---- encodings

    void otherEncodingsAreNamed_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        const std::string ascii = "{\"text\": \"plain ASCII\"}\n";
        using namespace std::string_literals;
        const auto row = [](const char* name, const std::string& bytes, const char* says) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << says;
        };
        row("UTF-16LE", "\xff\xfe" + widened(ascii, 1, false), "is UTF-16LE; expected UTF-8: convert it with iconv");
        row("UTF-16BE", "\xfe\xff" + widened(ascii, 1, true), "is UTF-16BE; expected UTF-8: convert it with iconv");
        row("UTF-32LE", "\xff\xfe\0\0"s + widened(ascii, 3, false), "is UTF-32LE; expected UTF-8");
        row("UTF-32BE", "\0\0\xfe\xff"s + widened(ascii, 3, true), "is UTF-32BE; expected UTF-8");
        row("UTF-16LE without a mark", widened(ascii, 1, false), "looks like UTF-16LE; expected UTF-8");
        row("UTF-16BE without a mark", widened(ascii, 1, true), "looks like UTF-16BE; expected UTF-8");
        row("zeros", std::string(5000, '\0'), "4096 of its first 4096 bytes are zero; expected UTF-8 text");
        row("Latin-1", ascii + "{\"text\": \"gr\xfc\xdf"s + "e\"}\n", ":2] byte 0xfc at offset 36 is not valid UTF-8");
        row("Latin-1 after a mark", "\xef\xbb\xbfgr\xfc\xdf"s + "e", ":1] byte 0xfc at offset 5 is not valid UTF-8");
    }
    void otherEncodingsAreNamed()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        writeAll(m_folder / "corpus/a.txt", sentences(50));
        for (const char* name : {"t.txt", "t.jsonl", "corpus/b.txt"}) {
            writeAll(m_folder / name, bytes.toStdString());
            const bool lines = std::string(name) == "t.jsonl";
            const std::string source = std::string(name).starts_with("corpus") ? "corpus" : name;
            const auto dataset =
                lines ? open(projects::JsonLinesData{source, "text", {}}) : open(projects::TextData{source, {}});
            QVERIFY(!dataset);
            QVERIFY(dataset.error().place.starts_with((m_folder / name).string()));
            QVERIFY2(contains(dataset.error().text(), says.toStdString()), dataset.error().text().c_str());
        }
    }

    void aByteOrderMarkIsNoText()
    {
        const std::string mark = "\xef\xbb\xbf";
        const std::string text = sentences(50);
        writeAll(m_folder / "t.txt", mark + text);
        writeAll(m_folder / "corpus/a.txt", mark + text);
        writeAll(m_folder / "corpus/b.txt", mark + text);
        writeAll(m_folder / "t.jsonl", mark + "{\"text\": \"" + std::string(300, 'a') + "\"}\n");
        for (const auto kind : {TokeniserKind::Bytes, TokeniserKind::Characters}) {
            const auto one = open(projects::TextData{"t.txt", {kind, {}, 256}});
            QVERIFY(one);
            QVERIFY((*one)->decode(tokensOf(**one, Split::Train)).starts_with("line 0 grüßt"));
            const auto two = open(projects::TextData{"corpus", {kind, {}, 256}});
            QVERIFY(two);
            QVERIFY(!contains((*two)->decode(tokensOf(**two, Split::Train)), mark));
            const auto lines = open(projects::JsonLinesData{"t.jsonl", "text", {kind, {}, 256}});
            QVERIFY2(lines, lines ? "" : lines.error().text().c_str());
        }
    }

    void linesWithoutText()
    {
        writeAll(m_folder / "t.jsonl", "\n{\"text\": \"\"}\n{\"text\": \"\"}\n\n{\"text\": \"\"}");
        const auto empty = open(projects::JsonLinesData{"t.jsonl", "text", {}});
        QVERIFY(!empty);
        QCOMPARE(empty.error().place, (m_folder / "t.jsonl").string() + ":2");
        QVERIFY2(contains(empty.error().message, "(3 in all)"), empty.error().message.c_str());
        writeAll(m_folder / "t.jsonl", "{\"text\": \"\"}\n{\"text\": \"" + std::string(200, 'a') + "\"}\n");
        QVERIFY(open(projects::JsonLinesData{"t.jsonl", "text", {}}).ok());
    }

    void linesAreBounded()
    {
        writeAll(m_folder / "t.jsonl", "{}\n{\"text\": \"" + std::string((std::size_t{64} << 20) + 1, 'a'));
        const auto dataset = open(projects::JsonLinesData{"t.jsonl", "text", {}});
        QVERIFY(!dataset); // the first line is found first
        writeAll(m_folder / "t.jsonl", "{\"text\": \"" + std::string((std::size_t{64} << 20) + 1, 'a'));
        const auto huge = open(projects::JsonLinesData{"t.jsonl", "text", {}});
        QVERIFY(!huge);
        QVERIFY2(contains(huge.error().text(), "the line has more than 64 MiB"), huge.error().text().c_str());
    }

    /// Parts are cut where nothing is cut apart, and make the text again.
    void partsMakeTheText_data()
    {
        QTest::addColumn<QByteArray>("unit");
        QTest::newRow("lines") << QByteArray("a line of text, 世界\n");
        QTest::newRow("words") << QByteArray("words and no lines ");
        QTest::newRow("neither") << QByteArray("世");
        QTest::newRow("four bytes") << QByteArray("🌍");
    }
    void partsMakeTheText()
    {
        QFETCH(QByteArray, unit);
        std::string text = "a"; // so that no unit begins at a multiple of its length
        while (text.size() < (std::size_t{5} << 19)) {
            text += unit.toStdString();
        }
        std::string whole;
        int parts = 0;
        const Bytes bytes = bytesInMemory(text);
        const Status read = forEachPart({bytes, 0, bytes->size()}, {}, [&](std::string_view part) -> Status {
            ++parts;
            whole += part;
            const bool ends = part.ends_with(unit.toStdString());
            return ends ? Status(Done{}) : Status(Error{"part", std::to_string(parts)});
        });
        QVERIFY2(read, read ? "" : read.error().text().c_str());
        QVERIFY(whole == text);
        QCOMPARE(parts, 3);
    }

    // ---- widths of tokens

    void widthsAreDetected_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<int>("width");
        QTest::addColumn<int>("vocabulary");
        QTest::addColumn<int>("size"); ///< tokens found; 0: an error
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const std::string& bytes, TokenWidth width, int vocabulary, int size,
                            const char* says) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << static_cast<int>(width) << vocabulary << size
                                << says;
        };
        const std::string narrow = tokens<std::uint16_t>(1000);
        const std::string wide = tokens<std::uint32_t>(1000);
        row("uint16", narrow, TokenWidth::Detect, 500, 1000, "");
        row("uint32", wide, TokenWidth::Detect, 500, 1000,
            "t.bin: read as uint32 tokens: every second 16-bit word that was looked at is zero; if that is wrong, give "
            "the data's token width in the project");
        row("uint32, at the largest narrow vocabulary", wide, TokenWidth::Detect, 65536, 1000, "read as uint32 tokens");
        row("uint32, said", wide, TokenWidth::Uint32, 500, 1000, "");
        row("uint32, said to be uint16", wide, TokenWidth::Uint16, 500, 2000,
            "read as uint16 tokens, as the project says, though every second one is 0");
        row("uint32, large vocabulary", wide, TokenWidth::Detect, 128256, 1000, "");
        row("uint16, large vocabulary", narrow, TokenWidth::Detect, 128256, 1000,
            "read as uint16 tokens: as uint32, 499 of 500 looked at would be beyond the vocabulary");
        row("uint64", tokens<std::uint64_t>(1000), TokenWidth::Detect, 500, 0, "looks like 64-bit tokens");
        row("uint64, large vocabulary", tokens<std::uint64_t>(1000), TokenWidth::Detect, 128256, 0,
            "looks like 64-bit tokens");
        row("zeros", std::string(2000, '\0'), TokenWidth::Detect, 500, 1000, "every token that was looked at is 0");
        std::string mixed = wide;
        mixed.replace(100, 8, "\1\0\1\0\1\0\1\0", 8);
        row("nearly uint32", mixed, TokenWidth::Detect, 500, 2000,
            "read as uint16 tokens, though 998 of 1000 second words are zero");
        row("uint32, cut off", wide.substr(0, 3999), TokenWidth::Detect, 500, 0, "are not a whole number of uint16");
    }
    void widthsAreDetected()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(int, width);
        QFETCH(int, vocabulary);
        QFETCH(int, size);
        QFETCH(QString, says);
        writeAll(m_folder / "t.bin", bytes.toStdString());
        const auto dataset = open(projects::TokenFileData{"t.bin", {}, static_cast<TokenWidth>(width), vocabulary});
        QCOMPARE(dataset.ok(), size > 0);
        if (!dataset) {
            QVERIFY2(contains(dataset.error().text(), says.toStdString()), dataset.error().text().c_str());
            return;
        }
        std::int64_t all = 0;
        for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
            all += (*dataset)->size(split);
        }
        QCOMPARE(all, size);
        const std::vector<std::string> notes = (*dataset)->notes();
        QCOMPARE(notes.size(), says.isEmpty() ? 0u : 1u);
        QVERIFY2(says.isEmpty() || contains(notes.front(), says.toStdString()),
                 notes.empty() ? "" : notes.front().c_str());
    }

    /// A difference far inside a large file is found: samples come from all of it.
    void samplesReachAllOfTheFile()
    {
        std::vector<std::uint16_t> values(4'000'000, 0);
        for (std::size_t i = 0; i < values.size(); i += 2) {
            values[i] = 7;
        }
        std::fill(values.begin() + 2'000'000, values.end(), std::uint16_t{9});
        writeAll(m_folder / "t.bin", packed(values));
        const auto dataset = open(projects::TokenFileData{"t.bin", {}, TokenWidth::Detect, 500});
        QVERIFY(dataset);
        QVERIFY((*dataset)->notes().empty());
        QCOMPARE((*dataset)->size(Split::Train), 2'800'000);
    }

    void manyFilesAreOneNote()
    {
        for (const char* name : {"a", "b", "c"}) {
            writeAll(m_folder / "shards" / (std::string(name) + ".bin"), tokens<std::uint32_t>(100));
        }
        const auto dataset = open(projects::TokenFileData{"shards", {}, TokenWidth::Detect, 500});
        QVERIFY(dataset);
        QCOMPARE((*dataset)->notes().size(), 1u);
        QVERIFY((*dataset)->notes().front().starts_with((m_folder / "shards/a.bin").string() +
                                                        " (and 2 more files): read as uint32"));
    }

    /// Each has a temporary file of its own.
    void threadsKeepTheSameTokensAtOnce()
    {
        TokenSequence tokens;
        tokens.append(std::vector<std::uint32_t>(100'000, 7), 100);
        const UserCache cache{m_folder / "cache"};
        std::atomic<int> failed = 0;
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 4; ++i) {
                threads.emplace_back([&] {
                    for (int turn = 0; turn < 20; ++turn) {
                        failed += keepTokens(cache, "a.tokens", tokens, 100) ? 0 : 1;
                    }
                });
            }
        }
        QCOMPARE(failed.load(), 0);
        const auto kept = keptTokens(m_folder / "cache/a.tokens", {});
        QVERIFY(kept.has_value());
        QCOMPARE(kept->size(), tokens.size());
        QCOMPARE(std::distance(fs::directory_iterator(m_folder / "cache"), {}), std::ptrdiff_t{1});
    }

    void longPreparationsCanBeGivenUp()
    {
        writeAll(m_folder / "t.bin", tokens<std::uint16_t>(std::size_t{1} << 20));
        writeAll(m_folder / "t.txt", sentences(std::size_t{1} << 17));
        auto project = projectOn({}, {});
        for (const projects::Source& source : std::vector<projects::Source>{
                 projects::TokenFileData{"t.bin", {}, TokenWidth::Detect, 500}, projects::TextData{"t.txt", {}}}) {
            project.data.source = source;
            int asked = 0;
            const auto dataset = Dataset::open(project, m_folder, [&](double) { return ++asked < 2; });
            QVERIFY(!dataset);
            QVERIFY(dataset.error() == preparationGivenUp());
            QCOMPARE(asked, 2);
        }
    }

private:
    static void setTime(const fs::path& file, std::time_t seconds)
    {
        const timespec times[2] = {{seconds, 0}, {seconds, 0}};
        QCOMPARE(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
    }
};

RESIDUA_TEST(TestDatasetFiles)
#include "tst_dataset_files.moc"
