// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/content_hash.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/fingerprint.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <fstream>
#include <vector>

#include <sys/stat.h>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

projects::Project projectOf(projects::Source source)
{
    projects::Project project;
    project.data.source = std::move(source);
    return project;
}

void writeText(const fs::path& path, const std::string& text)
{
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

/// One byte, at `offset` of a file that is there.
void writeAt(const fs::path& path, std::int64_t offset, char byte)
{
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(offset);
    file.put(byte);
}

class TestFingerprint : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_project = m_temporary->path().toStdString();
        qputenv("XDG_CACHE_HOME", m_temporary->filePath("cache").toUtf8());
    }

    void theSameFilesElsewhereAreTheSame()
    {
        const auto project = projectOf(projects::TextData{.path = "text.txt", .tokeniser = {}});
        writeText(m_project / "text.txt", "once upon a time");
        writeText(m_project / "copy" / "text.txt", "once upon a time");
        const auto here = fingerprintOf(project, m_project);
        QVERIFY(here);
        QCOMPARE(here->size(), std::size_t{1});
        QCOMPARE(here->front().files, 1);
        QCOMPARE(here->front().bytes, 16);
        QCOMPARE(here->front().content.size(), std::size_t{16});
        QVERIFY(*here == *fingerprintOf(project, m_project / "copy"));
        QVERIFY(!differenceOf(*here, *here));
    }

    void everyChangedByteIsSeen()
    {
        const auto project = projectOf(projects::TextData{.path = "text.txt", .tokeniser = {}});
        const std::string text = "0123456789abcdefghi";
        writeText(m_project / "text.txt", text);
        const auto whole = fingerprintOf(project, m_project);
        for (std::size_t i = 0; i < text.size(); ++i) {
            std::string changed = text;
            changed[i] = 'X';
            writeText(m_project / "text.txt", changed);
            QVERIFY(*whole != *fingerprintOf(project, m_project));
            changed = text;
            writeText(m_project / "text.txt", changed.erase(i, 1));
            QVERIFY(*whole != *fingerprintOf(project, m_project));
        }
        writeText(m_project / "text.txt", "zero");
        const auto difference = differenceOf(*whole, *fingerprintOf(project, m_project));
        QVERIFY(difference.has_value());
        const std::string said = difference->text();
        QVERIFY2(said.find("[data · text.txt] expected 1 file of 19 bytes, hash ") != std::string::npos, said.c_str());
        QVERIFY2(said.find("; got 1 file of 4 bytes, hash ") != std::string::npos, said.c_str());
    }

    void aFoldersFilesCountWithTheirNames()
    {
        const auto project = projectOf(projects::TextData{.path = "texts", .tokeniser = {}});
        writeText(m_project / "texts" / "a.txt", "one");
        writeText(m_project / "texts" / "b" / "c.txt", "two");
        writeText(m_project / "texts" / "other.bin", "not read");
        const auto whole = fingerprintOf(project, m_project);
        QCOMPARE(whole->front().files, 2);
        QCOMPARE(whole->front().bytes, 6);
        writeText(m_project / "texts" / "other.bin", "changed");
        QVERIFY(*whole == *fingerprintOf(project, m_project));
        fs::rename(m_project / "texts" / "a.txt", m_project / "texts" / "z.txt");
        QVERIFY(*whole != *fingerprintOf(project, m_project));
        fs::rename(m_project / "texts" / "z.txt", m_project / "texts" / "a.txt");
        QVERIFY(*whole == *fingerprintOf(project, m_project));
        writeText(m_project / "texts" / "d.txt", "");
        QVERIFY(*whole != *fingerprintOf(project, m_project));
    }

    /// The sizes alone do not tell where one file ends and the next begins.
    void fingerprintSeesTextMovedBetweenFiles()
    {
        const auto project = projectOf(projects::TextData{.path = "texts", .tokeniser = {}});
        writeText(m_project / "texts" / "a.txt", "onetwo");
        writeText(m_project / "texts" / "b.txt", "three");
        const auto whole = fingerprintOf(project, m_project);
        writeText(m_project / "texts" / "a.txt", "onetwot");
        writeText(m_project / "texts" / "b.txt", "hree");
        QVERIFY(*whole != *fingerprintOf(project, m_project));
    }

    /// Data over 256 MiB are covered by their sizes, 256 blocks from the first byte to the last, and every byte.
    void everyByteOfLargeFilesCounts()
    {
        const auto project = projectOf(projects::TokenFileData{.path = "tokens", .validationPath = ""});
        const fs::path first = m_project / "tokens" / "a.bin";
        const fs::path second = m_project / "tokens" / "b.bin";
        writeText(first, "");
        writeText(second, "");
        fs::resize_file(first, 200 * kMebibyte); // sparse
        fs::resize_file(second, 100 * kMebibyte);
        const auto whole = fingerprintOf(project, m_project);
        QVERIFY(whole);
        const auto changed = [&](const fs::path& file, std::int64_t offset) {
            const auto written = fs::last_write_time(file);
            writeAt(file, offset, 'x');
            fs::last_write_time(file, written); // as a copy that keeps times has it
            auto found = fingerprintOf(project, m_project);
            writeAt(file, offset, '\0');
            return *std::move(found);
        };
        QVERIFY(changed(first, 0) != *whole);
        const DataFingerprint between = changed(first, kMebibyte + 1000); // the first two blocks
        QVERIFY(between != *whole);
        QVERIFY(differenceOf(*whole, between).has_value());
        QVERIFY(*whole == *fingerprintOf(project, m_project));
        // A run of an earlier version has the hash of the blocks alone: it still finds its data.
        DataFingerprint earlier = *whole;
        QVERIFY(!earlier.front().everyByte.empty());
        earlier.front().everyByte.clear();
        QVERIFY(!differenceOf(earlier, *whole));
        QVERIFY(!differenceOf(earlier, between));
        QVERIFY(differenceOf(earlier, changed(second, 100 * kMebibyte - 1)).has_value());
        fs::resize_file(second, 100 * kMebibyte + 1);
        QVERIFY(*whole != *fingerprintOf(project, m_project));
    }

    /// An unchanged file is read once. A file that was written to is read again, whatever its modification time.
    void aDigestIsKeptAsLongAsTheFileRests()
    {
        const fs::path file = m_project / "data.bin";
        writeText(file, "data");
        const auto watch = PreparationWatch();
        const auto young = digestOfFile(file, watch);
        QVERIFY(young);
        QVERIFY(kept().empty()); // it may be written to within the same tick of the clock
        const auto longAgo = fs::file_time_type::clock::now() - std::chrono::hours(1);
        fs::last_write_time(file, longAgo);
        QCOMPARE(*digestOfFile(file, watch), *young);
        QCOMPARE(kept().size(), std::size_t{1});
        writeText(kept().front(), "0123456789abcdef");
        QCOMPARE(*digestOfFile(file, watch), std::string("0123456789abcdef"));
        writeText(kept().front(), "no digest at all");
        QCOMPARE(*digestOfFile(file, watch), *young);
        const auto changed = [&] { // again until the file system's clock has gone on
            writeText(file, "date");
            fs::last_write_time(file, longAgo);
            return *digestOfFile(file, watch) != *young;
        };
        QTRY_VERIFY(changed());
    }

    void theTokenisersModelCounts()
    {
        projects::TextData source{.path = "text.txt", .tokeniser = {}};
        source.tokeniser.kind = projects::TokeniserKind::SentencePiece;
        source.tokeniser.model = "pieces.model";
        const auto project = projectOf(source);
        writeText(m_project / "text.txt", "text");
        QVERIFY(!fingerprintOf(project, m_project));
        writeText(m_project / "pieces.model", "pieces");
        const auto whole = fingerprintOf(project, m_project);
        QVERIFY(whole);
        QCOMPARE(whole->size(), std::size_t{2});
        writeText(m_project / "pieces.model", "others");
        const auto difference = differenceOf(*whole, *fingerprintOf(project, m_project));
        QVERIFY(difference.has_value());
        QCOMPARE(difference->place, std::string("data · pieces.model"));
    }

    void aFolderIsNoModel()
    {
        projects::TextData source{.path = "text.txt", .tokeniser = {}};
        source.tokeniser.kind = projects::TokeniserKind::TokenizerJson;
        source.tokeniser.model = "llama";
        writeText(m_project / "text.txt", "text");
        writeText(m_project / "llama/tokenizer.json", "{}");
        const auto refused = fingerprintOf(projectOf(source), m_project);
        QVERIFY2(tests::isRefusedAt(refused, "llama", "folder"), refused ? "" : refused.error().text().c_str());
    }

    void theValidationFilesCount()
    {
        const auto project = projectOf(projects::TokenFileData{.path = "train.bin", .validationPath = "val.bin"});
        writeText(m_project / "train.bin", "tttt");
        writeText(m_project / "val.bin", "vvvv");
        const auto whole = fingerprintOf(project, m_project);
        writeText(m_project / "val.bin", "vvvw");
        QCOMPARE(differenceOf(*whole, *fingerprintOf(project, m_project))->place, std::string("data · val.bin"));
    }

    /// The first reading, the data that it opens and their fingerprint do not enter links to folders.
    void linkedFoldersAreThoseOfTheReading()
    {
        const std::string text(2000, 'a');
        std::string records;
        for (int i = 0; i < 100; ++i) {
            records += "{\"text\": \"once upon a time\"}\n";
        }
        for (const auto& [name, content] :
             {std::pair("a.txt", text), std::pair("a.jsonl", records), std::pair("a.bin", text)}) {
            const fs::path folder = m_project / "d";
            fs::remove_all(folder);
            fs::remove_all(m_project / "more");
            writeText(folder / name, content);
            writeText(m_project / "more" / ("more" + fs::path(name).extension().string()), content + content);
            const std::vector<projects::Source> sources =
                name == std::string("a.bin")
                    ? std::vector<projects::Source>{projects::TokenFileData{
                          .path = "d", .validationPath = {}, .vocabulary = 60'000}}
                    : std::vector<projects::Source>{
                          name == std::string("a.txt")
                              ? projects::Source(projects::TextData{.path = "d", .tokeniser = {}})
                              : projects::Source(projects::JsonLinesData{.path = "d", .tokeniser = {}}),
                          projects::MixtureData{{{"d", "text", 1.0}}, {}}};
            for (const projects::Source& source : sources) {
                projects::Project project = projectOf(source);
                project.training.sequenceLength = 8;
                fs::remove(folder / "link");
                const auto sizeIn = [&](ReadingVersion reading) {
                    const auto dataset = Dataset::open(project, m_project, {}, {reading, {}});
                    return dataset ? (*dataset)->size(Split::Train) : -1;
                };
                const auto in = [&](ReadingVersion reading) {
                    return *fingerprintOf(project, m_project, {}, LargeFiles::EveryByte, reading);
                };
                const DataFingerprint before = in(ReadingVersion::First);
                const std::int64_t size = sizeIn(ReadingVersion::First);
                QVERIFY(size > 0);
                fs::create_directory_symlink("../more", folder / "link");
                QVERIFY(in(ReadingVersion::First) == before);
                QCOMPARE(sizeIn(ReadingVersion::First), size);
                QCOMPARE(in(kNewestReading).front().files, 2);
                QVERIFY(sizeIn(kNewestReading) > 2 * size);
            }
        }
    }

    void generatorsAreTheirParametersAndSeed()
    {
        const projects::Source sources[] = {projects::SyntheticLanguage{}, projects::LinearRegression{},
                                            projects::LowRankRegression{}, projects::BooleanPolynomial{}};
        for (const projects::Source& source : sources) {
            projects::Project project = projectOf(source);
            const auto whole = fingerprintOf(project, m_project);
            QVERIFY(whole);
            QCOMPARE(whole->front().files, 0);
            project.seeds.data += 1;
            QVERIFY(*whole != *fingerprintOf(project, m_project));
            project.seeds.data -= 1;
            project.data.validationFraction += 0.01;
            QVERIFY(*whole != *fingerprintOf(project, m_project));
        }
        const auto one = fingerprintOf(projectOf(projects::LowRankRegression{.noise = 0.1}), m_project);
        const auto two = fingerprintOf(projectOf(projects::LowRankRegression{.noise = 0.2}), m_project);
        const auto difference = differenceOf(*one, *two);
        QVERIFY(difference.has_value());
        QVERIFY2(difference->message.find("noise 0.2") != std::string::npos, difference->message.c_str());
    }

    void unreadableDataIsAnError()
    {
        const auto project = projectOf(projects::TextData{.path = "text.txt", .tokeniser = {}});
        const auto missing = fingerprintOf(project, m_project);
        QVERIFY(!missing);
        QVERIFY(missing.error().text().find("text.txt") != std::string::npos);
        QCOMPARE(::mkfifo((m_project / "text.txt").c_str(), 0600), 0);
        QVERIFY(!fingerprintOf(project, m_project)); // and it does not wait for a writer
    }

    void aWatchGivesItUp()
    {
        const auto project = projectOf(projects::TextData{.path = "text.txt", .tokeniser = {}});
        writeText(m_project / "text.txt", "text");
        const auto given = fingerprintOf(project, m_project, [](double) { return false; });
        QVERIFY(!given);
        QVERIFY(given.error().message.find("given up") != std::string::npos);
    }

private:
    /// The files of digests in the user's cache.
    [[nodiscard]] std::vector<fs::path> kept() const
    {
        std::vector<fs::path> files;
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(m_project / "cache" / "residua" / "digests", none)) {
            files.push_back(entry.path());
        }
        return files;
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_project;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestFingerprint)
#include "tst_fingerprint.moc"
