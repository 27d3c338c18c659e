// SPDX-License-Identifier: GPL-3.0-or-later
// Small tokenizer.json files of our own making, whose ids are worked out by hand, as tokenisers of data; and broken
// ones.
#include "engine/data/tokeniser/json_tokeniser.h"
#include "tests/engine/data/sets/dataset_harness.h"
#include "tests/engine/data/tokeniser/tokenizer_files.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QScopeGuard>

#include <array>
#include <cstdio>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
using nlohmann::json;
using projects::TokeniserKind;
using Ids = std::vector<std::uint32_t>;

namespace {

/// The bytes of "low lower é" and what is merged of them.
json byteLevelFile()
{
    const std::vector<std::string> tokens{"l",      "o",      "w",         "e",  "r",
                                          "\u0120", "\u00c3", "\u00a9", // é is the bytes c3 a9
                                          "lo",     "low",    "\u0120low", "er", "<|endoftext|>"};
    json file =
        fileOf({{"type", "BPE"}, {"vocab", vocabularyOf(tokens)}, {"merges", {"l o", "lo w", "\u0120 low", "e r"}}});
    file["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
    file["decoder"] = {{"type", "ByteLevel"}};
    file["added_tokens"] = {addedToken(12, "<|endoftext|>")};
    return file;
}

/// Characters and bytes as SentencePiece's BPE has them.
json sentencePieceFile()
{
    std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
    for (int byte = 0; byte < 256; ++byte) {
        std::array<char, 8> text{};
        std::snprintf(text.data(), text.size(), "<0x%02X>", byte);
        tokens.emplace_back(text.data());
    }
    for (const char* token : {"\u2581", "a", "b", "\u2581a", "ab", "\u2581ab"}) {
        tokens.emplace_back(token); // 259 to 264
    }
    json file =
        fileOf({{"type", "BPE"},
                {"unk_token", "<unk>"},
                {"byte_fallback", true},
                {"fuse_unk", true},
                {"vocab", vocabularyOf(tokens)},
                {"merges",
                 json::array({json::array({"\u2581", "a"}), json::array({"a", "b"}), json::array({"\u2581a", "b"})})}});
    file["normalizer"] = {{"type", "Sequence"},
                          {"normalizers",
                           {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                            {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}};
    file["decoder"] = {{"type", "Sequence"},
                       {"decoders",
                        {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
                         {{"type", "ByteFallback"}},
                         {{"type", "Fuse"}},
                         {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
    file["added_tokens"] = {addedToken(0, "<unk>"), addedToken(1, "<s>"), addedToken(2, "</s>")};
    file["post_processor"] = {
        {"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}};
    return file;
}

json wordPieceFile()
{
    json file =
        fileOf({{"type", "WordPiece"},
                {"unk_token", "[UNK]"},
                {"continuing_subword_prefix", "##"},
                {"max_input_chars_per_word", 100},
                {"vocab", vocabularyOf({"[UNK]", "[CLS]", "[SEP]", "un", "##want", "##ed", "cafe", "!", "\u4e2d"})}});
    file["normalizer"] = {{"type", "BertNormalizer"}, {"lowercase", true}};
    file["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
    file["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
    file["post_processor"] = {{"type", "BertProcessing"}, {"sep", {"[SEP]", 2}}, {"cls", {"[CLS]", 1}}};
    return file;
}

json unigramFile()
{
    json vocabulary = json::array();
    const std::vector<std::pair<std::string, double>> pieces{{"<unk>", 0.0}, {"\u2581", -3.0}, {"a", -2.0},
                                                             {"b", -2.0},    {"ab", -3.5},     {"\u2581ab", -4.0}};
    for (const auto& [piece, score] : pieces) {
        vocabulary.push_back(json::array({piece, score}));
    }
    json file = fileOf({{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}});
    file["normalizer"] = {{"type", "NFKC"}};
    file["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
    file["decoder"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
    return file;
}

} // namespace

class TestTokenizerJson : public DatasetHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    void textBecomesTheseIds_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<Ids>("ids");
        QTest::addColumn<QByteArray>("decoded");
        const auto row = [](const char* name, const json& file, const char* text, const Ids& ids,
                            const char* decoded = nullptr) {
            QTest::newRow(name) << QByteArray::fromStdString(file.dump()) << QByteArray(text) << ids
                                << QByteArray(decoded != nullptr ? decoded : text);
        };
        const json bytes = byteLevelFile();
        row("bytes: merges in the order of their ranks", bytes, "low lower", {9, 10, 11});
        row("bytes: a character of two", bytes, "\u00e9", {6, 7});
        row("bytes: half a character decodes to its substitute", bytes, "\u00e9<|endoftext|>", {6, 7, 12}, "\u00e9");
        row("bytes: a special token in the text", bytes, "low<|endoftext|>low", {9, 12, 9}, "lowlow");
        row("bytes: a run", bytes, "looooow", {8, 1, 1, 1, 1, 2});
        json whole = bytes;
        whole["model"]["ignore_merges"] = true;
        whole["model"]["merges"] = json::array({"l o"});
        row("bytes: a word that is a token needs no merges", whole, "low lo", {9, 5, 8});
        json left = bytes;
        left["added_tokens"][0]["lstrip"] = true;
        row("an added token takes the space before it", left, "low <|endoftext|> low", {9, 12, 10}, "low low");
        json alone = bytes;
        alone["added_tokens"].push_back(addedToken(13, "ow", {{"single_word", true}, {"special", false}}));
        row("an added token that is no part of a word", alone, "low ow", {9, 5, 13});

        const json pieces = sentencePieceFile();
        row("pieces: a space before the text", pieces, "ab ab", {264, 264});
        row("pieces: nothing before nothing", pieces, "", {});
        row("pieces: a character without a token is its bytes", pieces, "a\u00e9", {262, 3 + 0xc3, 3 + 0xa9});
        row("pieces: spaces in a row", pieces, "a  b", {262, 259, 259, 261});
        row("pieces: each text between special tokens has one", pieces, "a</s>b", {262, 2, 259, 261}, "a b");

        const json words = wordPieceFile();
        row("words: the longest from the left", words, "Unwanted!", {3, 4, 5, 7}, "unwanted!");
        row("words: accents go, and one unknown letter spoils a word", words, "Caf\u00e9 unx", {6, 0}, "cafe [UNK]");
        row("words: an ideograph stands alone", words, "un\u4e2dun", {3, 8, 3}, "un \u4e2d un");

        const json unigram = unigramFile();
        row("unigram: the best sum", unigram, "ab", {5}, "ab");
        row("unigram: another one", unigram, "aab", {1, 2, 4}, "aab");
        row("unigram: what is unknown in a row is one", unigram, "axyb", {1, 2, 0, 3}, "a<unk>b");
        row("unigram: a wide letter is a letter", unigram, "\uff41\uff42", {5}, "ab");
    }
    void textBecomesTheseIds()
    {
        QFETCH(QByteArray, file);
        QFETCH(QByteArray, text);
        QFETCH(Ids, ids);
        QFETCH(QByteArray, decoded);
        const auto tokeniser = JsonTokeniser::parse(file.toStdString(), "t.json");
        QVERIFY2(tokeniser, tokeniser ? "" : tokeniser.error().text().c_str());
        for (int time = 0; time < 2; ++time) { // the second time from its cache
            Ids got;
            QVERIFY((*tokeniser)->encode(text.toStdString(), TextStart::Begins, got));
            QCOMPARE(got, ids);
        }
        const std::vector<std::int64_t> wide(ids.begin(), ids.end());
        QCOMPARE(QByteArray::fromStdString((*tokeniser)->decode(wide)), decoded);
    }

    void bytesThatAreNoTextAreRepaired()
    {
        const auto tokeniser = JsonTokeniser::parse(byteLevelFile().dump(), "t.json");
        QVERIFY(tokeniser);
        QCOMPARE((*tokeniser)->decode(std::vector<std::int64_t>{6, 0}), std::string("\uFFFDl"));
        QCOMPARE((*tokeniser)->decode(std::vector<std::int64_t>{-1, 0, 4000}), std::string("\uFFFDl\uFFFD"));
    }

    void splittingPatternsOfOthers_data()
    {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<QString>("behaviour");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("words");
        const QString llama =
            R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
            R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
        QTest::newRow("Llama 3") << llama << "Isolated"
                                 << "It'S  12345 caf\u00e9!\n\n x"
                                 << QStringList{"It", "'S", " ", " ", "123", "45", " caf\u00e9", "!\n\n", " x"};
        QTest::newRow("white space is Unicode's") << R"(\s+)"
                                                  << "Removed"
                                                  << "a\u3000b\u0085c\u180ed" << QStringList{"a", "b", "c\u180ed"};
        QTest::newRow("merged with what follows") << "-"
                                                  << "MergedWithNext"
                                                  << "the-final--end" << QStringList{"the", "-final", "-", "-end"};
        QTest::newRow("merged with what precedes") << "-"
                                                   << "MergedWithPrevious"
                                                   << "the-final--end" << QStringList{"the-", "final-", "-", "end"};
        QTest::newRow("contiguous") << "-"
                                    << "Contiguous"
                                    << "the-final--end" << QStringList{"the", "-", "final", "--", "end"};
        QTest::newRow("possessive") << R"( ?\p{L}++|.)"
                                    << "Isolated"
                                    << "ab cd1" << QStringList{"ab", " cd", "1"};
    }
    void splittingPatternsOfOthers()
    {
        QFETCH(QString, pattern);
        QFETCH(QString, behaviour);
        QFETCH(QString, text);
        QFETCH(QStringList, words);
        json vocabulary{{"?", 0}};
        for (const QString& word : words) {
            vocabulary.emplace(word.toStdString(), vocabulary.size());
        }
        json file = fileOf({{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", vocabulary}});
        file["pre_tokenizer"] = {{"type", "Split"},
                                 {"pattern", {{"Regex", pattern.toStdString()}}},
                                 {"behavior", behaviour.toStdString()},
                                 {"invert", false}};
        const auto tokeniser = JsonTokeniser::parse(file.dump(), "t.json");
        QVERIFY2(tokeniser, tokeniser ? "" : tokeniser.error().text().c_str());
        Ids expected;
        for (const QString& word : words) {
            expected.push_back(vocabulary[word.toStdString()]);
        }
        Ids got;
        QVERIFY((*tokeniser)->encode(text.toStdString(), TextStart::Begins, got));
        QCOMPARE(got, expected);
    }

    void invalidTokenisersAreErrors_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QString>("message");
        const auto row = [](const json& file, const char* message) {
            QTest::newRow(message) << QByteArray::fromStdString(file.dump()) << QString(message);
        };
        const auto changed = [](const char* pointer, const json& value) {
            json file = byteLevelFile();
            file[json::json_pointer(pointer)] = value;
            return file;
        };
        row(json{{"version", "1.0"}}, "[t.json · model] is missing: the file has no vocabulary");
        row(changed("/model/vocab", json::object()), "[t.json · model · vocab] is missing or empty: the file has no");
        row(changed("/model/merges/1", "lo x"),
            "[t.json · model · merges[1]] joins \"lo\" and \"x\", but \"x\" is not in the vocabulary");
        row(changed("/model/merges/1", "l w"), "but \"lw\" is not in the vocabulary");
        row(changed("/model/merges/1", "l o"), "merges[1]] joins \"l\" and \"o\", as one before it does");
        row(changed("/model/merges/1", "low"), "merges[1]] is \"low\", expected two tokens");
        row(changed("/model/vocab/lo", 3), "tokens \"e\" and \"lo\" have the same id 3");
        row(changed("/model/vocab/lo", -3), "token \"lo\" has the id -3, expected 0 to 9999999");
        row(changed("/model/vocab/lo", 4000000000), "token \"lo\" has the id 4000000000");
        row(changed("/model/type", "Neural"),
            "[t.json · model] \"Neural\" is not supported here; supported are BPE, Unigram, WordPiece, WordLevel");
        row(changed("/model/dropout", 0.1), "[t.json · model · dropout] leaves out merges by chance");
        row(changed("/model/unk_token", "<unk>"), "[t.json · model · unk_token] \"<unk>\" is not in the vocabulary");
        row(changed("/pre_tokenizer/type", "Magic"), "[t.json · pre_tokenizer] \"Magic\" is not supported here");
        row(changed("/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "Rot13"}}}}}),
            "[t.json · normalizer · normalizers[0]] \"Rot13\" is not supported here; supported are NFC");
        row(changed("/decoder/type", "Magic"), "[t.json · decoder] \"Magic\" is not supported here");
        row(changed("/post_processor", {{"type", "Magic"}}), "[t.json · post_processor] \"Magic\" is not supported");
        row(changed("/post_processor", {{"type", "BertProcessing"}, {"sep", {"x", 99}}, {"cls", {"y", 1}}}),
            "[t.json · post_processor] adds the token 99, which is not in the vocabulary");
        row(changed("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "a("}}}, {"behavior", "Removed"}}),
            "[t.json · pre_tokenizer · pattern] the regular expression a( is not understood");
        row(changed("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "[a&&b]"}}}, {"behavior", "Removed"}}),
            "has the intersection && of character classes, which is not supported here");
        row(changed("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "////AAAA"}}),
            "[t.json · normalizer] its precompiled_charsmap is damaged");
        const std::string sound = byteLevelFile().dump();
        QTest::newRow("cut off") << QByteArray::fromStdString(sound.substr(0, sound.size() / 2))
                                 << "[t.json] is no valid JSON: cut off, damaged";
        std::string twice = sound;
        twice.replace(twice.find("\"vocab\":{"), 9, "\"vocab\":{\"l\":0,");
        QTest::newRow("a token twice") << QByteArray::fromStdString(twice)
                                       << "[t.json] names \"l\" twice in one object";
        QTest::newRow("deep") << QByteArray::fromStdString("{\"model\":" + std::string(100'000, '['))
                              << "[t.json] is nested deeper than 64 levels";
    }
    void invalidTokenisersAreErrors()
    {
        QFETCH(QByteArray, file);
        QFETCH(QString, message);
        const auto tokeniser = JsonTokeniser::parse(file.toStdString(), "t.json");
        QVERIFY(!tokeniser);
        QVERIFY2(QString::fromStdString(tokeniser.error().text()).contains(message), tokeniser.error().text().c_str());
    }

    void documentsHaveTheirMarks()
    {
        writeAll(m_folder / "tokenizer.json", sentencePieceFile().dump());
        std::string lines;
        for (int i = 0; i < 40; ++i) {
            lines += "{\"text\": \"ab\"}\n";
        }
        writeAll(m_folder / "d.jsonl", lines);
        const auto dataset =
            open(projects::JsonLinesData{"d.jsonl", "text", {TokeniserKind::TokenizerJson, "tokenizer.json", 265}});
        QVERIFY2(dataset, dataset ? "" : dataset.error().text().c_str());
        const std::vector<std::int64_t> one{1, 264, 2}; // <s> ab </s>
        const auto tokens = tokensOf(**dataset, Split::Train);
        QVERIFY(tokens.size() > 20);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            QCOMPARE(tokens[i], one[i % one.size()]);
        }
        QCOMPARE(*(*dataset)->encode("ab"), (std::vector<std::int64_t>{1, 264})); // a prompt goes on
        QCOMPARE((*dataset)->decode({1, 264, 2}), std::string("ab"));
    }

    void theSettingsBesideItNameTheEnd()
    {
        writeAll(m_folder / "tokenizer.json", byteLevelFile().dump());
        std::string lines;
        for (int i = 0; i < 100; ++i) {
            lines += "{\"text\": \"low\"}\n";
        }
        writeAll(m_folder / "d.jsonl", lines);
        const projects::JsonLinesData source{"d.jsonl", "text", {TokeniserKind::TokenizerJson, "tokenizer.json", 13}};
        const auto end = [&](const char* settings) -> std::int64_t {
            writeAll(m_folder / "tokenizer_config.json", settings);
            const auto dataset = open(source);
            return dataset ? tokensOf(**dataset, Split::Train)[1] : -1;
        };
        QCOMPARE(end("{}"), 12); // <|endoftext|> is a usual name
        QCOMPARE(end(R"({"eos_token": "er"})"), 11);
        QCOMPARE(end(R"({"eos_token": {"content": "w"}})"), 2);
        QCOMPARE(end(R"({"eos_token": {"content": 7}})"), 12);
    }

    void damagedSettingsAreNamed_data()
    {
        QTest::addColumn<QByteArray>("settings");
        QTest::addColumn<QString>("message");
        QTest::newRow("no JSON") << QByteArray("no JSON") << "is no valid JSON";
        QTest::newRow("no object") << QByteArray("7") << "is a JSON number, expected an object";
        QTest::newRow("a key twice") << QByteArray("{\"eos_token\": \"er\", \"eos_token\": \"w\"}")
                                     << "names \"eos_token\" twice in one object";
        QTest::newRow("deep") << "{\"eos_token\":" + QByteArray(1'000'000, '[') << "is nested deeper than 64 levels";
        QTest::newRow("deep and whole") << "{\"eos_token\":" + QByteArray(1'000'000, '[') + QByteArray(1'000'000, ']') +
                                               "}"
                                        << "is nested deeper than 64 levels";
    }
    void damagedSettingsAreNamed()
    {
        QFETCH(QByteArray, settings);
        QFETCH(QString, message);
        writeAll(m_folder / "tokenizer.json", byteLevelFile().dump());
        writeAll(m_folder / "tokenizer_config.json", settings.toStdString());
        const auto dataset =
            Dataset::open(projectOn("low lower", {TokeniserKind::TokenizerJson, "tokenizer.json", 13}), m_folder);
        QVERIFY(!dataset);
        const QString said = QString::fromStdString(dataset.error().text());
        QVERIFY2(said.contains("tokenizer_config.json] " + message), qPrintable(said));
        QVERIFY2(said.endsWith("mend or remove it"), qPrintable(said));
    }

    void aVocabularyThatIsTooSmallIsAnError()
    {
        writeAll(m_folder / "tokenizer.json", byteLevelFile().dump());
        const auto dataset =
            Dataset::open(projectOn("low lower", {TokeniserKind::TokenizerJson, "tokenizer.json", 12}), m_folder);
        QVERIFY(!dataset);
        QVERIFY2(dataset.error().text().find("the tokeniser has 13 tokens") != std::string::npos,
                 dataset.error().text().c_str());
    }

    void largeTextsAreTokenisedOnce()
    {
        const auto before = qgetenv("XDG_CACHE_HOME");
        const auto restore = qScopeGuard([&] { qputenv("XDG_CACHE_HOME", before); });
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((m_folder / "cache").string()));
        writeAll(m_folder / "tokenizer.json", byteLevelFile().dump());
        std::string text;
        while (text.size() < (5u << 20)) {
            text += "low lower low\n";
        }
        const projects::Tokeniser tokeniser{TokeniserKind::TokenizerJson, "tokenizer.json", 13};
        const auto files = [&] {
            std::vector<std::filesystem::path> found;
            for (const auto& entry : std::filesystem::directory_iterator(m_folder / "cache/residua/tokens")) {
                found.push_back(entry.path());
            }
            return found;
        };
        const auto first = openText(text, tokeniser);
        QVERIFY(first);
        QCOMPARE(files().size(), std::size_t{1});
        const auto tokens = tokensOf(*first, Split::Validation);
        const auto again = openText(text, tokeniser);
        QVERIFY(again);
        QCOMPARE(files().size(), std::size_t{1});
        QVERIFY(tokensOf(*again, Split::Validation) == tokens);
        text[7] = 'w'; // another content, another file
        QVERIFY(openText(text, tokeniser));
        QCOMPARE(files().size(), std::size_t{2});
        text[7] = 'e';
        for (const auto& path : files()) { // damage is found, and the text tokenised again
            std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(5000);
            file << "XXXX";
        }
        const auto repaired = openText(text, tokeniser);
        QVERIFY(repaired);
        QVERIFY(tokensOf(*repaired, Split::Validation) == tokens);
    }

    void aMissingFileIsNamed()
    {
        const auto dataset =
            Dataset::open(projectOn("low lower", {TokeniserKind::TokenizerJson, "none.json", 13}), m_folder);
        QVERIFY(!dataset);
        QVERIFY(dataset.error().text().find("none.json") != std::string::npos);
    }

    void longTextsAreCutWithoutATrace_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::newRow("byte-level") << QByteArray::fromStdString(byteLevelFile().dump());
        QTest::newRow("SentencePiece-like") << QByteArray::fromStdString(sentencePieceFile().dump());
        json words = unigramFile();
        words["pre_tokenizer"] = {{"type", "Sequence"},
                                  {"pretokenizers", {{{"type", "WhitespaceSplit"}}, words["pre_tokenizer"]}}};
        words["model"]["vocab"].push_back(json::array({"</s>", -9.0}));
        QTest::newRow("each word with a mark") << QByteArray::fromStdString(words.dump());
    }
    void longTextsAreCutWithoutATrace()
    {
        QFETCH(QByteArray, file);
        writeAll(m_folder / "tokenizer.json", file.toStdString());
        std::string text;
        for (int i = 0; text.size() < (3u << 20); ++i) {
            text += i % 7 == 0 ? "abab \n" : i % 3 == 0 ? "low  er\n\n" : "lower ab ";
        }
        const auto codec = JsonTokeniser::parse(file.toStdString(), "t.json");
        QVERIFY(codec);
        Ids whole = (*codec)->marks().before;
        QVERIFY(
            (*codec)->encode(text.substr(0, text.size() - (text.ends_with('\n') ? 1 : 0)), TextStart::Begins, whole));
        const auto dataset = openText(text, {TokeniserKind::TokenizerJson, "tokenizer.json", 300});
        QVERIFY(dataset);
        const auto train = tokensOf(*dataset, Split::Train);
        QVERIFY(train.size() > whole.size() / 2);
        QVERIFY(std::equal(train.begin(), train.end(), whole.begin()));
        const std::int64_t all =
            dataset->size(Split::Train) + dataset->size(Split::Validation) + dataset->size(Split::Test);
        QCOMPARE(all, static_cast<std::int64_t>(whole.size()) + 1);
    }
};

RESIDUA_TEST(TestTokenizerJson)
#include "tst_tokenizer_json.moc"
