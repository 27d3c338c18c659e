// SPDX-License-Identifier: GPL-3.0-or-later
#include "dataset_harness.h"

#include "engine/base/machine/preparation.h"
#include "engine/data/tokens/text_corpus.h"
#include "projects/base/utf8.h"
#include "tests/support/random_seed.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include <unistd.h>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;
using namespace residua::tests;
using projects::Tokeniser;
using projects::TokeniserKind;

namespace {

/// An llm.c header that claims `tokens`.
std::string header(std::int32_t magic, std::int32_t version, std::size_t tokens)
{
    std::vector<std::int32_t> words(256);
    words[0] = magic;
    words[1] = version;
    words[2] = static_cast<std::int32_t>(tokens);
    return packed(words);
}

std::string letters(std::size_t count)
{
    std::string text(count, ' ');
    for (std::size_t i = 0; i < count; ++i) {
        text[i] = static_cast<char>('a' + (i * i + i / 7) % 23);
    }
    return text;
}

} // namespace

class TestDatasetText : public DatasetHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    // ---- UTF-8

    void utf8()
    {
        const auto flaw = [](std::string_view text) { return firstInvalidUtf8(text).value_or(999); };
        QCOMPARE(flaw("plain text of more than eight bytes"), 999u);
        QCOMPARE(flaw("grüße, 世界 🌍 \xf4\x8f\xbf\xbf"), 999u);
        QCOMPARE(flaw("12345678\xff"), 8u);
        QCOMPARE(flaw("ab\xc3"), 2u);           // cut off
        QCOMPARE(flaw("ab\xc0\xaf"), 2u);       // longer than needed
        QCOMPARE(flaw("\xe0\x80\xaf"), 0u);     // likewise
        QCOMPARE(flaw("\xed\xa0\x80"), 0u);     // a surrogate
        QCOMPARE(flaw("\xf4\x90\x80\x80"), 0u); // beyond U+10FFFF
        QCOMPARE(flaw("\x80"), 0u);             // no lead
        QCOMPARE(flaw("a\xe4\xb8"
                      "b"),
                 1u);
        QCOMPARE(asUtf8("a\xe4\xb8"
                        "b"),
                 std::string("a\uFFFD\uFFFDb"));
    }

    void codePointsAreCounted()
    {
        QCOMPARE(codePoints(""), 0u);
        QCOMPARE(codePoints("plain"), 5u);
        QCOMPARE(codePoints("grüße, 世界 🌍"), 11u);
    }

    void utf8RoundTrip()
    {
        for (char32_t codePoint = 0; codePoint <= 0x10ffff; codePoint += codePoint < 0x3000 ? 1 : 97) {
            if (codePoint >= 0xd800 && codePoint < 0xe000) {
                continue;
            }
            std::string text;
            appendUtf8(text, codePoint);
            QVERIFY(!firstInvalidUtf8(text));
            std::size_t at = 0;
            QVERIFY(nextCodePoint(text, at) == codePoint);
            QCOMPARE(at, text.size());
        }
    }

    // ---- bytes, splits, draws

    void bytesSplitInOrder()
    {
        const std::string text = letters(1000);
        const auto dataset = openText(text, {});
        QVERIFY(dataset);
        QCOMPARE(dataset->schema(), projects::ExampleSchema::nextToken(256));
        QCOMPARE(dataset->size(Split::Train), 700);
        QCOMPARE(dataset->size(Split::Validation), 200);
        QCOMPARE(dataset->size(Split::Test), 100);
        // Windows of 8 that have a next token: 87 of 700, 24 of 200, 12 of 100.
        QCOMPARE(dataset->decode(tokensOf(*dataset, Split::Train)), text.substr(0, 87 * kTime));
        QCOMPARE(dataset->decode(tokensOf(*dataset, Split::Validation)), text.substr(700, 24 * kTime));
        QCOMPARE(dataset->decode(tokensOf(*dataset, Split::Test)), text.substr(900, 12 * kTime));
    }

    void targetsAreTheNextToken()
    {
        const std::string text = letters(1000);
        const auto dataset = openText(text, {});
        Batch batch;
        for (std::int64_t index = 0; index < 50; ++index) {
            QVERIFY(dataset->fill(batch, Split::Validation, 4, index, 5));
            QCOMPARE(tokensIn(batch).size(), 5 * kTime);
            for (std::size_t row = 0; row < 5; ++row) {
                for (std::size_t t = 0; t + 1 < kTime; ++t) {
                    QCOMPARE(targetsIn(batch)[row * kTime + t], tokensIn(batch)[row * kTime + t + 1]);
                }
                const auto window =
                    std::vector(tokensIn(batch).begin() + static_cast<std::ptrdiff_t>(row * kTime),
                                tokensIn(batch).begin() + static_cast<std::ptrdiff_t>((row + 1) * kTime));
                const std::string seen =
                    dataset->decode(window) + static_cast<char>(targetsIn(batch)[(row + 1) * kTime - 1]);
                QVERIFY(text.substr(700, 200).find(seen) != std::string::npos);
            }
        }
    }

    /// Every window of a split is drawn, including the last, with about the same frequency.
    void drawsReachEveryWindow()
    {
        std::string text(256, ' ');
        std::iota(text.begin(), text.end(), '\0');
        text.resize(64 + kTime); // 64 windows, told apart by their first byte
        auto project = projectOn(text, {});
        project.data.validationFraction = 0;
        project.data.testFraction = 0;
        const auto dataset = Dataset::open(project, m_folder);
        QVERIFY2(dataset, dataset ? "" : dataset.error().text().c_str());
        std::vector<int> counts(64);
        Batch batch;
        for (std::int64_t index = 0; index < 100; ++index) {
            QVERIFY((*dataset)->fill(batch, Split::Train, 1, index, 64));
            for (std::size_t row = 0; row < 64; ++row) {
                ++counts[static_cast<std::size_t>(tokensIn(batch)[row * kTime])];
            }
        }
        QVERIFY(*std::min_element(counts.begin(), counts.end()) > 60);
        QVERIFY(*std::max_element(counts.begin(), counts.end()) < 150);
        Batch none;
        QVERIFY((*dataset)->fillSequential(none, Split::Test, 0, 4));
        QCOMPARE(none.batch, 0);
    }

    /// The index alone determines a draw: the order, the opening and the micro-batches make no difference.
    void cursorIsTheIndex()
    {
        const std::string text = letters(5000);
        const auto dataset = openText(text, {});
        const auto again = openText(text, {});
        Batch later;
        Batch resumed;
        for (std::int64_t index = 0; index < 12; ++index) {
            QVERIFY(dataset->fill(later, Split::Train, 4, index, 4));
        }
        QVERIFY(again->fill(resumed, Split::Train, 4, 11, 4));
        QCOMPARE(tokensIn(resumed), tokensIn(later));
        Batch half;
        QVERIFY(dataset->fill(half, Split::Train, 4, 23, 2));
        QVERIFY(std::equal(tokensIn(half).begin(), tokensIn(half).end(), tokensIn(later).end() - 2 * kTime));
        QVERIFY(dataset->fill(half, Split::Train, 5, 11, 4));
        QVERIFY(tokensIn(half) != tokensIn(later));
        QVERIFY(dataset->fill(half, Split::Validation, 4, 11, 4));
        QVERIFY(tokensIn(half) != tokensIn(later));
    }

    void folderInOrderOfPaths()
    {
        writeAll(m_folder / "corpus/b.txt", letters(300));
        writeAll(m_folder / "corpus/a/z.txt", "first ");
        writeAll(m_folder / "corpus/a.md", "not this");
        writeAll(m_folder / "corpus/empty.txt", "");
        const auto dataset = open(projects::TextData{"corpus", {}});
        QVERIFY(dataset);
        QVERIFY((*dataset)->decode(tokensOf(**dataset, Split::Train)).starts_with("first " + letters(180)));
        QCOMPARE((*dataset)->size(Split::Train) + (*dataset)->size(Split::Validation) + (*dataset)->size(Split::Test),
                 306);
    }

    // ---- characters

    void itsPreparationIsWatchedAndGivenUp()
    {
        for (const char* name : {"a.txt", "b.txt", "c.txt", "d.txt"}) {
            writeAll(m_folder / "many" / name, letters(1000));
        }
        projects::Project project = projectOn("", {TokeniserKind::Characters, {}, 256});
        std::get<projects::TextData>(project.data.source).path = "many";
        std::vector<double> shares;
        const auto whole = Dataset::open(project, m_folder, [&](double share) {
            shares.push_back(share);
            return true;
        });
        QVERIFY(whole.ok());
        QCOMPARE(shares, (std::vector<double>{0.25, 0.5, 0.75, 1}));
        const auto givenUp = Dataset::open(project, m_folder, [](double share) { return share < 0.5; });
        QVERIFY(!givenUp.ok());
        QVERIFY(givenUp.error() == preparationGivenUp());
    }

    /// A cancelled preparation is recognised by its kind of error, not by its place.
    void encodingErrorNamesTheCorpus()
    {
        class Refusing : public TextCodec {
        public:
            std::int64_t vocabulary() const override { return 1; }
            Status encode(std::string_view, TextStart, std::vector<std::uint32_t>&) const override
            {
                return Error{"data", "has no token"};
            }
            std::string decode(std::span<const std::int64_t>) const override { return {}; }
        };
        writeAll(m_folder / "t.txt", letters(100));
        const auto documents = readTextFiles(m_folder / "t.txt");
        const auto parts = partsOf(*documents, Refusing(), {});
        const auto refused = encodeParts(*parts, Refusing(), {}, "corpus", {});
        QVERIFY(!refused);
        QCOMPARE(refused.error().place, std::string("corpus"));
        const auto givenUp = encodeParts(*parts, *byteCodec(), {}, "corpus", [](double) { return false; });
        QVERIFY(givenUp.error() == preparationGivenUp());
    }

    void charactersAreSorted()
    {
        std::string text;
        while (text.size() < 2000) {
            text += "zebra, grüße an 世界 🌍.\n";
        }
        const auto dataset = openText(text, {TokeniserKind::Characters, {}, 64});
        QVERIFY(dataset);
        QCOMPARE(dataset->schema().input().vocabulary, 64);
        const auto ids = dataset->encode("\n ,.abegrzßü世界🌍");
        QVERIFY2(ids, ids ? "" : ids.error().text().c_str());
        for (std::size_t i = 1; i < ids->size(); ++i) {
            QVERIFY((*ids)[i] > (*ids)[i - 1]);
        }
        QCOMPARE((*ids)[0], 0);
        QCOMPARE(dataset->decode(*ids), std::string("\n ,.abegrzßü世界🌍"));
        QVERIFY(dataset->decode(tokensOf(*dataset, Split::Train)).starts_with("zebra, grüße an 世界 🌍.\n"));
        const auto wrong = dataset->encode("zebra Y");
        QVERIFY(tests::isRefusedAt(wrong, "character 6", "U+0059 'Y'"));
        QCOMPARE(dataset->decode({63}), std::string("\uFFFD"));
        QVERIFY(!dataset->encode("\xff"));
    }

    // ---- JSON Lines

    void jsonLines()
    {
        std::string file;
        for (int i = 0; i < 100; ++i) {
            file +=
                R"({"id": )" + std::to_string(i) + R"(, "body": "line \"é\" number )" + std::to_string(i) + "\"}\r\n";
        }
        writeAll(m_folder / "d.jsonl", file + "\n  \n");
        const auto dataset = open(projects::JsonLinesData{"d.jsonl", "body", {}});
        QVERIFY2(dataset, dataset ? "" : dataset.error().text().c_str());
        QVERIFY((*dataset)
                    ->decode(tokensOf(**dataset, Split::Train))
                    .starts_with("line \"é\" number 0\nline \"é\" number 1\nline"));
    }

    // ---- token files

    void tokenFiles_data()
    {
        QTest::addColumn<int>("vocabulary");
        QTest::addColumn<int>("width");
        QTest::addColumn<QByteArray>("file");
        std::vector<std::uint16_t> narrow(500);
        std::vector<std::uint32_t> wide(500);
        for (std::size_t i = 0; i < 500; ++i) {
            narrow[i] = static_cast<std::uint16_t>(i * 37 % 501);
            wide[i] = narrow[i];
        }
        const auto row = [](const char* name, int vocabulary, projects::TokenWidth width, const std::string& file) {
            QTest::newRow(name) << vocabulary << static_cast<int>(width) << QByteArray::fromStdString(file);
        };
        using projects::TokenWidth;
        row("bare uint16", 501, TokenWidth::Detect, packed(narrow));
        row("bare uint16, said", 501, TokenWidth::Uint16, packed(narrow));
        row("bare uint32, said", 501, TokenWidth::Uint32, packed(wide));
        row("bare uint32, by vocabulary", 128256, TokenWidth::Detect, packed(wide));
        row("llm.c GPT-2", 501, TokenWidth::Detect, header(20240520, 1, 500) + packed(narrow));
        row("llm.c GPT-2, large vocabulary", 70000, TokenWidth::Detect, header(20240520, 1, 500) + packed(narrow));
        row("llm.c Llama 3", 128256, TokenWidth::Uint32, header(20240801, 7, 500) + packed(wide));
    }
    void tokenFiles()
    {
        QFETCH(int, vocabulary);
        QFETCH(int, width);
        QFETCH(QByteArray, file);
        writeAll(m_folder / "t.bin", file.toStdString());
        const auto dataset =
            open(projects::TokenFileData{"t.bin", {}, static_cast<projects::TokenWidth>(width), vocabulary});
        QVERIFY2(dataset, dataset ? "" : dataset.error().text().c_str());
        QCOMPARE((*dataset)->schema().input().vocabulary, vocabulary);
        QCOMPARE((*dataset)->size(Split::Train), 350);
        const auto tokens = tokensOf(**dataset, Split::Train);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            QCOMPARE(tokens[i], static_cast<std::int64_t>(i * 37 % 501));
        }
        QCOMPARE(*(*dataset)->encode("5 0 500"), (std::vector<std::int64_t>{5, 0, 500}));
        QVERIFY(!(*dataset)->encode("5 " + std::to_string(vocabulary)));
        QVERIFY(!(*dataset)->encode("5 x"));
        QCOMPARE((*dataset)->decode({5, 0}), std::string("5 0"));
    }

    void validationFileIsTheValidationSplit()
    {
        writeAll(m_folder / "train.bin", packed(std::vector<std::uint16_t>(100, 1)));
        writeAll(m_folder / "val.bin", packed(std::vector<std::uint16_t>(60, 2)));
        const auto dataset = open(projects::TokenFileData{"train.bin", "val.bin", projects::TokenWidth::Detect, 3});
        QVERIFY(dataset);
        QCOMPARE((*dataset)->size(Split::Train), 90);
        QCOMPARE((*dataset)->size(Split::Validation), 60);
        QCOMPARE((*dataset)->size(Split::Test), 10);
        QCOMPARE(tokensOf(**dataset, Split::Validation), std::vector<std::int64_t>(7 * kTime, 2));
        QCOMPARE(tokensOf(**dataset, Split::Test), std::vector<std::int64_t>(kTime, 1));
    }

    void shardsMakeOneSequence()
    {
        std::vector<std::int64_t> expected;
        for (int shard = 0; shard < 5; ++shard) {
            std::vector<std::uint16_t> tokens(static_cast<std::size_t>(31 + shard));
            std::iota(tokens.begin(), tokens.end(), static_cast<std::uint16_t>(100 * shard));
            expected.insert(expected.end(), tokens.begin(), tokens.end());
            writeAll(m_folder / "shards" / ("s" + std::to_string(shard) + ".bin"),
                     header(20240520, 1, tokens.size()) + packed(tokens));
        }
        auto project = projectOn({}, {});
        project.data = {projects::TokenFileData{"shards", {}, projects::TokenWidth::Detect, 1000}, 0, 0};
        const auto dataset = Dataset::open(project, m_folder);
        QVERIFY(dataset);
        QCOMPARE((*dataset)->size(Split::Train), static_cast<std::int64_t>(expected.size()));
        const auto tokens = tokensOf(**dataset, Split::Train); // windows of 8 straddle every seam
        QVERIFY(std::equal(tokens.begin(), tokens.end(), expected.begin()));
        QCOMPARE(tokens.size(), (expected.size() - 1) / kTime * kTime);
    }

    // ---- errors

    void errors_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* title, const char* name, const std::string& file, const char* says) {
            QTest::newRow(title) << QString(name) << QByteArray::fromStdString(file) << QByteArray(says);
        };
        row("empty text", "t.txt", "", "t.txt] is empty, expected text");
        row("invalid", "t.txt", "one\ntwo\nthr\xff" + letters(500),
            "t.txt:3] byte 0xff at offset 11 is not valid UTF-8");
        row("short", "t.txt", letters(11),
            "t.txt] the training split has 8 of 11 tokens, expected at least 9: one "
            "sequence of 8 and the token after it");
        row("short validation", "t.txt", letters(40), "the validation split has 8 of 40 tokens, expected at least 9");
        row("short test", "t.txt", letters(80), "the test split has 8 of 80 tokens");
        row("empty lines", "t.jsonl", "", "t.jsonl] is empty");
        row("blank lines", "t.jsonl", "\n \n", "t.jsonl] is empty");
        row("no JSON", "t.jsonl", "{\"text\": \"a\"}\n{\"text\": \n", "t.jsonl:2] is not valid JSON, column");
        row("NaN", "t.jsonl", "{\"score\": NaN, \"text\": \"a\"}\n",
            "t.jsonl:1] is not valid JSON, column 11: got \"NaN\", expected");
        row("half a surrogate", "t.jsonl", "{\"text\": \"\\ud83d a\"}\n{\"text\": \"b\"}\n{\"text\": 1}\n[1]\n",
            "; so are other lines, 3 of 4 in all");
        row("no object", "t.jsonl", "{\"text\": \"a\"}\n\n[1]\n", "t.jsonl:3] is a JSON array, expected an object");
        row("no field", "t.jsonl", "{\"body\": \"a\", \"id\": 1}",
            "t.jsonl:1] has no field \"text\"; its fields are: "
            "body, id");
        row("no fields", "t.jsonl", "{}", "its fields are: none");
        row("no string", "t.jsonl", "{\"text\": 5}", "t.jsonl:1] field \"text\" is a JSON number, expected a string");
        row("invalid line", "t.jsonl", "{\"text\": \"a\"}\n{\"text\": \"\xc3\"}", "t.jsonl:2] byte 0xc3 at offset 24");
        row("empty tokens", "t.bin", "", "t.bin] is empty, expected tokens");
        row("odd tokens", "t.bin", "123", "t.bin] 3 bytes are not a whole number of uint16 tokens");
        std::vector<std::uint16_t> tokens(400, 7);
        tokens[123] = 100;
        row("token beyond", "t.bin", packed(tokens),
            "t.bin] token 123 is 100, expected one below the vocabulary of 100");
        row("beyond, headed", "t.bin", header(20240520, 1, 400) + packed(tokens), "token 123 is 100");
        row("version", "t.bin", header(20240520, 2, 400) + packed(tokens), "its header has version 2, expected 1");
        row("truncated", "t.bin", header(20240520, 1, 900) + packed(tokens),
            "its header says 900 tokens of uint16, the file holds 800 bytes");
    }
    void errors()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, file);
        QFETCH(QByteArray, says);
        writeAll(m_folder / name.toStdString(), file.toStdString());
        const auto dataset = open(sourceFor(name.toStdString()));
        QVERIFY(!dataset);
        QVERIFY2(dataset.error().text().find(says.toStdString()) != std::string::npos, dataset.error().text().c_str());
        QVERIFY(dataset.error().place.starts_with((m_folder / name.toStdString()).string()));
    }

    void missing()
    {
        for (const char* name : {"t.txt", "t.jsonl", "t.bin"}) {
            const auto dataset = open(sourceFor(name));
            QVERIFY(!dataset);
            QVERIFY2(dataset.error().text().find("No such file") != std::string::npos, dataset.error().text().c_str());
            QVERIFY(dataset.error().place == (m_folder / name).string());
        }
        fs::create_directories(m_folder / "t.txt");
        const auto empty = open(sourceFor("t.txt"));
        QVERIFY(!empty);
        QVERIFY(empty.error().text().find("holds no file") != std::string::npos);
        fs::create_directories(m_folder / "t.jsonl");
        QVERIFY(!open(sourceFor("t.jsonl")));
    }

    void vocabularyTooSmall()
    {
        const std::string text = letters(1000);
        const auto says = [&](const Tokeniser& tokeniser) {
            return tests::errorOf(Dataset::open(projectOn(text, tokeniser), m_folder));
        };
        QVERIFY(says({TokeniserKind::Characters, {}, 5}).find("the text has ") != std::string::npos);
        QVERIFY(says({TokeniserKind::Characters, {}, 5}).find(" distinct characters, the project's vocabulary is 5") !=
                std::string::npos);
        QVERIFY(says({TokeniserKind::Bytes, {}, 128}).find("got 128, expected 256") != std::string::npos);
    }

    void widthAgainstHeader()
    {
        writeAll(m_folder / "t.bin", header(20240520, 1, 400) + packed(std::vector<std::uint16_t>(400)));
        const auto dataset = open(projects::TokenFileData{"t.bin", {}, projects::TokenWidth::Uint32, 100});
        QVERIFY(tests::isRefusedAt(dataset, "", "uint16"));
    }

    void anyBytesGetAnAnswer()
    {
        std::mt19937 random(tests::randomSeed());
        const std::string seeds[] = {"{\"text\": \"grüße\"}\n", letters(40), header(20240520, 1, 3) + "abcdef"};
        for (int round = 0; round < 600; ++round) {
            std::string bytes = seeds[random() % 3] + seeds[random() % 2];
            for (std::uint32_t change = random() % 8; change > 0; --change) {
                bytes[random() % bytes.size()] = static_cast<char>(random());
            }
            const char* name = std::array{"t.txt", "t.jsonl", "t.bin"}[random() % 3];
            writeAll(m_folder / name, bytes);
            const auto dataset = open(sourceFor(name));
            QVERIFY(dataset.ok() || dataset.error().place.starts_with((m_folder / name).string()));
        }
    }

private:
    [[nodiscard]] static projects::Source sourceFor(const std::string& name)
    {
        if (name.ends_with(".txt")) {
            return projects::TextData{name, {}};
        }
        if (name.ends_with(".jsonl")) {
            return projects::JsonLinesData{name, "text", {}};
        }
        return projects::TokenFileData{name, {}, projects::TokenWidth::Detect, 100};
    }
};

RESIDUA_TEST(TestDatasetText)
#include "tst_dataset_text.moc"
