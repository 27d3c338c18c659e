// SPDX-License-Identifier: GPL-3.0-or-later
// Rare turns of tokenizer.json, with the ids that the library `tokenizers` 0.23 gives; and what is refused of it.
#include "engine/data/tokeniser/json_tokeniser.h"
#include "tests/engine/data/tokeniser/tokenizer_files.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QTest>

#include <cstdint>
#include <map>
#include <numeric>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
using nlohmann::json;
using Ids = std::vector<std::uint32_t>;

namespace {

/// SentencePiece's table: a block of 256 units for the children of each node.
class Charsmap {
public:
    void add(const std::string& sequence, const std::string& replacement)
    {
        std::size_t block = 0; // of the root's children
        std::size_t unit = 0;
        for (const char byte : sequence) {
            const std::size_t parent = block;
            unit = 256 * (1 + parent) + static_cast<unsigned char>(byte);
            const auto [child, isNew] = m_blocks.emplace(unit, m_blocks.size() + 1);
            block = child->second;
        }
        m_values[unit] = m_texts.size();
        m_texts += replacement + '\0';
    }
    [[nodiscard]] std::string text() const
    {
        std::vector<std::uint32_t> units(256 * (m_blocks.size() + 2));
        units[0] = 256 << 10;
        for (const auto& [unit, block] : m_blocks) {
            const std::size_t children = 256 * (1 + block);
            units[unit] = static_cast<std::uint32_t>((unit ^ children) << 10 | unit % 256);
            if (const auto value = m_values.find(unit); value != m_values.end()) {
                units[unit] |= 0x100;
                units[children] = static_cast<std::uint32_t>(value->second) | 0x80000000;
            }
        }
        const auto bytes = static_cast<std::uint32_t>(4 * units.size());
        QByteArray all(reinterpret_cast<const char*>(&bytes), 4);
        all.append(reinterpret_cast<const char*>(units.data()), bytes);
        return all.append(m_texts.data(), static_cast<qsizetype>(m_texts.size())).toBase64().toStdString();
    }
    /// Where the next replacement begins.
    [[nodiscard]] std::size_t end() const { return m_texts.size(); }
    /// Lets a sequence that is there end at another place among the replacements.
    void pointTo(std::size_t place) { m_values.begin()->second = place; }

private:
    std::map<std::size_t, std::size_t> m_blocks; ///< of the children of a unit
    std::map<std::size_t, std::size_t> m_values; ///< of units that end a sequence
    std::string m_texts;
};

/// Each word of `words` is a token, the first the unknown one.
json wordFile(const std::vector<std::string>& words)
{
    return fileOf({{"type", "WordLevel"}, {"unk_token", words.front()}, {"vocab", vocabularyOf(words)}});
}

json mapFile(const std::string& map, const std::vector<std::string>& words)
{
    json file = wordFile(words);
    file["normalizer"] = {{"type", "Precompiled"}, {"precompiled_charsmap", map}};
    return file;
}

json splitFile(const std::string& pattern, const std::vector<std::string>& words)
{
    json file = wordFile(words);
    file["pre_tokenizer"] = {
        {"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
    return file;
}

/// Characters, and of the bytes only two.
json someBytesFile(const json& changes)
{
    json model{{"type", "BPE"},
               {"byte_fallback", true},
               {"vocab", vocabularyOf({"<unk>", "a", "<0xC3>", "<0xA9>", "b", "ab"})},
               {"merges", json::array({json::array({"a", "b"})})}};
    model.update(changes);
    return fileOf(model);
}

json unigramOf(const std::vector<std::pair<std::string, double>>& pieces)
{
    json vocabulary = json::array();
    for (const auto& [piece, score] : pieces) {
        vocabulary.push_back(json::array({piece, score}));
    }
    return fileOf({{"type", "Unigram"}, {"vocab", vocabulary}});
}

json withAdded(const std::vector<json>& tokens)
{
    json file = wordFile({"?", "a", "b"});
    file["added_tokens"] = tokens;
    return file;
}

} // namespace

class TestTokenizerEdges : public QObject {
    Q_OBJECT

private slots:
    void textBecomesTheseIds_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<Ids>("ids");
        const auto row = [](const char* name, const json& file, const std::string& text, const Ids& ids) {
            QTest::newRow(name) << QByteArray::fromStdString(file.dump()) << QByteArray::fromStdString(text) << ids;
        };
        const json plain = someBytesFile(json::object());
        const json unknown = someBytesFile({{"unk_token", "<unk>"}});
        const json fused = someBytesFile({{"unk_token", "<unk>"}, {"fuse_unk", true}});
        row("some bytes: a character that has all of its", plain, "a\u00e9b", {1, 2, 3, 4});
        row("some bytes: one that has not is left out", plain, "\u00ea\u00e9\u00ea\u00ea", {2, 3});
        row("some bytes: or unknown", unknown, "\u00ea\u00e9\u00ea\u00ea", {2, 3, 0, 0, 0});
        row("some bytes: or unknown with those beside it", fused, "\u00ea\u00e9\u00ea\u00ea", {2, 3, 0});
        std::string text;
        Ids ids{2, 3};
        for (int i = 0; i < 20; ++i) {
            text += "\u00e9\u00ea";
            const Ids next = i < 19 ? Ids{2, 3, 0} : Ids{0};
            ids.insert(ids.end(), next.begin(), next.end());
        }
        row("some bytes: a long piece", unknown, text, ids);

        row("unigram without an unknown token", unigramOf({{"a", -1}, {"ab", -2}}), "aba", {1, 0});
        row("unigram: a character that only a longer token has", unigramOf({{"a", -1}, {"ab", -2}, {"bc", -2}}),
            "aabcab", {0, 0, 2, 1});

        Charsmap map;
        map.add("\uFB01", "fi");
        map.add("e\u0301", "\u00e9");
        map.add("\u3000", " ");
        // A sequence that a reader takes for one character is replaced as a whole, if only its beginning is in the
        // table.
        row("precompiled: of three entries", mapFile(map.text(), {"?", "x\u00e9 fi e"}), "xe\u0301\u3000\uFB01\u0301 e",
            {1});
        row("precompiled: nothing to replace", mapFile(map.text(), {"?", "e\u00e9"}), "e\u00e9", {1});

        row("an added token that the model has", withAdded({addedToken(1, "a")}), "a", {1});
        row("an added token that is there twice", withAdded({addedToken(3, "<x>"), addedToken(3, "<x>")}), "<x>", {3});
    }
    void textBecomesTheseIds()
    {
        QFETCH(QByteArray, file);
        QFETCH(QByteArray, text);
        QFETCH(Ids, ids);
        const auto tokeniser = JsonTokeniser::parse(file.toStdString(), "t.json");
        QVERIFY2(tokeniser, tokeniser ? "" : tokeniser.error().text().c_str());
        Ids got;
        const Status status = (*tokeniser)->encode(text.toStdString(), TextStart::Begins, got);
        QVERIFY2(status, status ? "" : status.error().text().c_str());
        QCOMPARE(got, ids);
    }

    void aCharacterWithoutATokenIsAnError()
    {
        const std::vector<std::pair<json, const char*>> cases{
            {unigramOf({{"a", -1}, {"ab", -2}}), "abb"},
            {unigramOf({{"abc", -1}}), "abc"},
            {unigramOf({{"a", 20}, {"ab", -5}}), "ab"}}; // a, and then the unknown, would be better than ab
        for (const auto& [file, text] : cases) {
            const auto tokeniser = JsonTokeniser::parse(file.dump(), "t.json");
            QVERIFY(tokeniser);
            Ids ids;
            const Status status = (*tokeniser)->encode(text, TextStart::Begins, ids);
            QVERIFY(!status);
            QVERIFY(status.error().text().find("and none for what is unknown") != std::string::npos);
        }
    }

    /// The expected words are those of Oniguruma, which `tokenizers` uses.
    void patternsMeanWhatTheyDoThere_data()
    {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<QStringList>("words");
        QTest::newRow("a vertical tab") << R"(\v)" << QStringList{"a\nb", "\v", "c\u0085\u2028"};
        QTest::newRow("a vertical tab of a class") << R"([\v])" << QStringList{"a\nb", "\v", "c"};
        QTest::newRow("boundaries") << R"(\b)"
                                    << QStringList{"a\u0345b\u2160\u00b2", " ", "c", "-", "d_", "\u200c\u2070", "e"};
        QTest::newRow("no boundaries") << R"(x\B)" << QStringList{"x", "\u00b2 x-"};
        QTest::newRow("word characters") << R"(\w+)" << QStringList{"a\u00b2b", "\u2070"};
        QTest::newRow("word characters of a class") << R"([\w]+)" << QStringList{"a", "\u00b2", "b", "\u2070"};
        QTest::newRow("letters") << R"([[:alpha:]]+)"
                                 << QStringList{"ab\u0345c", "\u0300", "d", "1\u0661", "\u2160", "_"};
        QTest::newRow("letters and digits") << R"([[:alnum:]]+)" << QStringList{"ab1\u0661\u2160", "_\u00b2", "c"};
        QTest::newRow("no letters") << R"([[:^alpha:]]+)" << QStringList{"a", "1_", "b"};
        QTest::newRow("punctuation") << R"([[:punct:]]+)" << QStringList{"a", "!\u00a2+", "b"};
        QTest::newRow("a hyphen at the end") << R"([\s-])" << QStringList{"a", "-", "b", " ", "c"};
        QTest::newRow("a hyphen behind a range") << "[a-c-1]+" << QStringList{"a-b1", " ", "c"};
        QTest::newRow("a code point") << R"(\u00e9)" << QStringList{"a", "\u00e9", "b"};
        QTest::newRow("braces that repeat nothing") << "a{,}" << QStringList{"aa", "a{,}", "a"};
        QTest::newRow("a space in braces") << "a{ 2}" << QStringList{"aa", "a{ 2}", "a"};
    }
    void patternsMeanWhatTheyDoThere()
    {
        QFETCH(QString, pattern);
        QFETCH(QStringList, words);
        std::vector<std::string> tokens{"?"};
        for (const QString& word : words) {
            tokens.push_back(word.toStdString());
        }
        const auto tokeniser = JsonTokeniser::parse(splitFile(pattern.toStdString(), tokens).dump(), "t.json");
        QVERIFY2(tokeniser, tokeniser ? "" : tokeniser.error().text().c_str());
        Ids expected(tokens.size() - 1);
        std::iota(expected.begin(), expected.end(), 1U);
        Ids got;
        QVERIFY((*tokeniser)->encode(words.join(QString()).toStdString(), TextStart::Begins, got));
        QCOMPARE(got, expected);
    }

    /// The library numbers added tokens after the model's count and the largest id so far, whatever the file says.
    void addedTokensHaveTheLibrarysIds()
    {
        const auto idsIn = [](const json& file) {
            const auto tokeniser = JsonTokeniser::parse(file.dump(), "t.json");
            return tokeniser ? Ids{*(*tokeniser)->id("<x>"), *(*tokeniser)->id("<y>"),
                                   static_cast<std::uint32_t>((*tokeniser)->vocabulary())}
                             : Ids();
        };
        QCOMPARE(idsIn(withAdded({addedToken(9000, "<x>"), addedToken(9001, "<y>")})), (Ids{3, 4, 5}));
        QCOMPARE(idsIn(withAdded({addedToken(3, "<x>"), addedToken(3, "<y>")})), (Ids{3, 4, 5}));
        QCOMPARE(idsIn(withAdded({addedToken(1, "a"), addedToken(7, "<x>"), addedToken(0, "<y>")})), (Ids{3, 4, 5}));
        json holes = withAdded({addedToken(9, "<x>"), addedToken(10, "<y>")});
        holes["model"]["vocab"] = {{"?", 0}, {"a", 1}, {"b", 6}};
        QCOMPARE(idsIn(holes), (Ids{3, 4, 7}));
    }

    void invalidTokenisersAreErrors_data()
    {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const json& file, const char* message) {
            QTest::newRow(name) << QByteArray::fromStdString(file.dump()) << QString(message);
        };
        json spaces = wordFile({"?"});
        spaces["decoder"] = {{"type", "Metaspace"}, {"prepend_scheme", "sometimes"}};
        row("a decoder's scheme", spaces, "[t.json · decoder · prepend_scheme] \"sometimes\" is unknown");

        const char* const damaged = "[t.json · normalizer] its precompiled_charsmap is damaged";
        row("a first unit that leads outside", mapFile("BAAAAAACAIAA", {"?"}), damaged);
        Charsmap noText;
        noText.add("a", "\xe4\xb8");
        row("a replacement that is no UTF-8", mapFile(noText.text(), {"?"}), damaged);
        Charsmap within;
        within.add("a", "\u00e9");
        within.pointTo(1);
        row("a replacement within a character", mapFile(within.text(), {"?"}), damaged);
        Charsmap outside;
        outside.add("a", "b");
        outside.pointTo(outside.end());
        row("a replacement behind the last", mapFile(outside.text(), {"?"}), damaged);

        const auto refused = [&](const char* pattern, const char* message) {
            row(pattern, splitFile(pattern, {"?"}), message);
        };
        refused("a{2}?", "has a question mark behind the repetition {2}, which is not supported here");
        refused("a{2}+", "has a plus behind the repetition {2}");
        refused(R"(\V)", R"(has the escape \V)");
        refused(R"(\Qa.b\E)", R"(has the escape \Q)");
        refused(R"([\B])", R"(has \B in a character class)");
        refused(R"([\W])", R"(has \W in a character class)");
        refused("[[:^alnum:]]", "has [:^alnum:] in a character class");
        refused("[[:foo:]]", "has the set [:foo:]");
        refused("[\\s-\u4e00]", "has a range of characters that begins with a set of them");
        refused("[[:alpha:]-1]", "has a range of characters that begins with a set of them");
        refused(R"([#-\d])", R"(has a range of characters that ends with the set \d)");
        refused(R"([#-\p{L}])", R"(has a range of characters that ends with the set \p{L})");
        refused(R"(\uZZZZ)", R"(has a \u without its four hexadecimal digits)");
        refused(R"(\u12)", R"(has a \u without its four hexadecimal digits)");
        refused(R"(\xE9)", R"(has the byte \xE9)");
    }
    void invalidTokenisersAreErrors()
    {
        QFETCH(QByteArray, file);
        QFETCH(QString, message);
        const auto tokeniser = JsonTokeniser::parse(file.toStdString(), "t.json");
        QVERIFY(!tokeniser);
        QVERIFY2(QString::fromStdString(tokeniser.error().text()).contains(message), tokeniser.error().text().c_str());
    }
};

RESIDUA_TEST(TestTokenizerEdges)
#include "tst_tokenizer_edges.moc"
