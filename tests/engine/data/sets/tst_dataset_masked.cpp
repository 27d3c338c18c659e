// SPDX-License-Identifier: GPL-3.0-or-later
// Masked tokens: windows of text in which some tokens are hidden.
#include "dataset_harness.h"

#include "engine/base/api/data_summary.h"
#include "engine/data/sets/masked_dataset.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>

#include <algorithm>
#include <cmath>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

constexpr std::int64_t kMaskByte = 1; ///< a byte that the text lacks
constexpr std::int64_t kMaskedRows = 50;
constexpr std::int64_t kMaskedTime = 40;

/// Counts what became of the tokens of a batch.
struct Fates {
    std::int64_t chosen = 0;
    std::int64_t masked = 0;
    std::int64_t same = 0;
    std::int64_t random = 0;

    void add(const Batch& batch, const Batch& whole)
    {
        for (std::size_t i = 0; i < tokensIn(batch).size(); ++i) {
            const std::int64_t own = tokensIn(whole)[i];
            if (targetsIn(batch)[i] == projects::kIgnoredTarget) {
                QCOMPARE(tokensIn(batch)[i], own);
                continue;
            }
            QCOMPARE(targetsIn(batch)[i], own);
            ++chosen;
            ++(tokensIn(batch)[i] == kMaskByte ? masked : tokensIn(batch)[i] == own ? same : random);
        }
    }
};

} // namespace

class TestDatasetMasked : public DatasetHarness {
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        newFolder();
        m_project = projectOn(text(), {});
        m_project.training.sequenceLength = kMaskedTime;
        m_plain = opened(m_project);
        m_project.network.objective = projects::Objective::MaskedToken;
        m_project.data.masking.token = kMaskByte;
    }

    /// With any tokeniser, though the byte of the mask cannot be typed.
    void promptsMayHideTokens()
    {
        const auto dataset = opened(m_project);
        QVERIFY(dataset);
        QCOMPARE(dataset->maskToken(), std::optional<std::int64_t>(kMaskByte));
        const auto tokens = dataset->encode("[MASK]a[MASK][MASK]b");
        QVERIFY(tokens.ok());
        QCOMPARE(*tokens, (std::vector<std::int64_t>{kMaskByte, 'a', kMaskByte, kMaskByte, 'b'}));
        QVERIFY(!dataset->encode("a[MASK]\xff").ok());
        QVERIFY(!m_plain->maskToken());
    }

    /// 15 % of the tokens, of which 80 % are masked, 10 % stay and 10 % are random; all others stay as they are.
    void sharesAreKept()
    {
        const auto dataset = opened(m_project);
        QVERIFY(dataset);
        Fates fates;
        Batch batch;
        Batch whole;
        for (std::int64_t index = 0; index < 40; ++index) {
            QVERIFY(dataset->fill(batch, Split::Train, 5, index, kMaskedRows).ok());
            QVERIFY(m_plain->fill(whole, Split::Train, 5, index, kMaskedRows).ok());
            fates.add(batch, whole);
        }
        QCOMPARE(fates.chosen, 40 * kMaskedRows * 6); // 0.15 · 40
        const auto share = [&](std::int64_t count) {
            return static_cast<double>(count) / static_cast<double>(fates.chosen);
        };
        QVERIFY(std::abs(share(fates.masked) - 0.8) < 0.015);
        QVERIFY(std::abs(share(fates.same) - 0.1) < 0.015);
        QVERIFY(std::abs(share(fates.random) - 0.1) < 0.015);
    }

    /// Half of the second texts follow the first; the others begin elsewhere. The cut is that of the segments.
    void examplesMayBeTwoTexts()
    {
        m_project.data.masking.nextSentence = true;
        m_project.data.masking.share = 0.01; // one token
        const auto dataset = opened(m_project);
        QVERIFY(dataset);
        QVERIFY(dataset->schema() == projects::examplesOf(m_project.data));
        Batch batch;
        Batch whole;
        std::int64_t follow = 0;
        for (std::int64_t index = 0; index < 20; ++index) {
            QVERIFY(dataset->fill(batch, Split::Train, 5, index, kMaskedRows).ok());
            QVERIFY(m_plain->fill(whole, Split::Train, 5, index, kMaskedRows).ok());
            for (std::int64_t row = 0; row < kMaskedRows; ++row) {
                const auto isSecond = [&](std::int64_t at) {
                    return batch.values<std::int64_t>(2)[static_cast<std::size_t>(row * kMaskedTime + at)] == 1;
                };
                std::int64_t other = 0; // tokens of the second text that are not those that follow
                QVERIFY(!isSecond(0) && isSecond(kMaskedTime - 1));
                for (std::int64_t at = 0; at < kMaskedTime; ++at) {
                    const auto i = static_cast<std::size_t>(row * kMaskedTime + at);
                    QVERIFY(at == 0 || isSecond(at) || !isSecond(at - 1));
                    const bool isHidden = targetsIn(batch)[i] != projects::kIgnoredTarget;
                    const bool isSame =
                        isHidden ? targetsIn(batch)[i] == tokensIn(whole)[i] : tokensIn(batch)[i] == tokensIn(whole)[i];
                    QVERIFY(isSame || isSecond(at));
                    other += isSame ? 0 : 1;
                }
                const std::int64_t label = batch.values<std::int64_t>(3)[static_cast<std::size_t>(row)];
                QVERIFY(label == 1 || other == 0);
                follow += label == 0 ? 1 : 0;
            }
        }
        QVERIFY(std::abs(static_cast<double>(follow) / (20 * kMaskedRows) - 0.5) < 0.05);
        QVERIFY(dataset->fillSequential(batch, Split::Validation, 0, 4).ok());
        QVERIFY(opened(m_project)->fillSequential(whole, Split::Validation, 0, 4).ok());
        QVERIFY(batch.fields == whole.fields);
    }

    /// A batch depends on its number alone, and evaluation hides the same tokens every time.
    void drawsAreByCounter()
    {
        const auto one = opened(m_project);
        const auto two = opened(m_project);
        Batch later;
        Batch resumed;
        QVERIFY(one->fill(later, Split::Train, 5, 0, 4).ok());
        QVERIFY(one->fill(later, Split::Train, 5, 7, 4).ok());
        QVERIFY(two->fill(resumed, Split::Train, 5, 7, 4).ok());
        QVERIFY(later.fields == resumed.fields);
        QVERIFY(two->fill(resumed, Split::Train, 5, 14, 2).ok()); // the first half of it
        QVERIFY(std::equal(tokensIn(resumed).begin(), tokensIn(resumed).end(), tokensIn(later).begin()));
        QVERIFY(two->fill(resumed, Split::Train, 6, 7, 4).ok());
        QVERIFY(targetsIn(later) != targetsIn(resumed));
        QVERIFY(one->fillSequential(later, Split::Validation, 0, 4).ok());
        QVERIFY(two->fillSequential(resumed, Split::Validation, 0, 4).ok());
        QVERIFY(later.fields == resumed.fields);
        m_project.seeds.data += 1;
        QVERIFY(opened(m_project)->fillSequential(resumed, Split::Validation, 0, 4).ok());
        QVERIFY(targetsIn(later) != targetsIn(resumed));
    }

    void numbersAreLimited_data()
    {
        QTest::addColumn<double>("share");
        QTest::addColumn<qint64>("most");
        QTest::addColumn<qint64>("expected");
        QTest::newRow("share") << 0.25 << qint64{0} << qint64{10};
        QTest::newRow("most") << 0.25 << qint64{4} << qint64{4};
        QTest::newRow("at least one") << 0.001 << qint64{0} << qint64{1};
        QTest::newRow("all") << 1.0 << qint64{0} << qint64{40};
    }
    void numbersAreLimited()
    {
        QFETCH(double, share);
        QFETCH(qint64, most);
        QFETCH(qint64, expected);
        m_project.data.masking.share = share;
        m_project.data.masking.most = most;
        Batch batch;
        QVERIFY(opened(m_project)->fill(batch, Split::Train, 5, 0, kMaskedRows).ok());
        for (std::int64_t row = 0; row < kMaskedRows; ++row) {
            const auto first = targetsIn(batch).begin() + row * kMaskedTime;
            QCOMPARE(kMaskedTime - std::count(first, first + kMaskedTime, projects::kIgnoredTarget), expected);
        }
    }

    /// The synthetic language speaks with all tokens but the last, which is the mask.
    void syntheticLanguageHasAMask()
    {
        m_project.data = {.source = projects::SyntheticLanguage{.vocabulary = 12, .levels = 2, .tokens = 20'000}};
        const auto dataset = opened(m_project);
        QVERIFY(dataset);
        QCOMPARE(dataset->codec()->piece(11), std::string("[MASK]"));
        Batch batch;
        QVERIFY(dataset->fill(batch, Split::Train, 5, 0, kMaskedRows).ok());
        QVERIFY(std::ranges::count(tokensIn(batch), 11) > 4 * kMaskedRows / 2);
        QVERIFY(std::ranges::count(targetsIn(batch), 11) == 0);
        std::get<projects::SyntheticLanguage>(m_project.data.source).vocabulary = 11;
        const auto refused = Dataset::open(m_project, m_folder);
        QVERIFY(tests::isRefusedAt(refused, "", "the mask"));
    }

    /// All pieces of a word are predicted, or none; those of WordPiece after the first begin with "##".
    /// The first batch for people has each hidden token beside what is shown in its place: with that undone, it is the
    /// text.
    void theFirstBatchIsShown()
    {
        m_project.training.batch = 6;
        const auto fed = firstFedBatch(m_project, m_folder, 4);
        QVERIFY(fed.ok() && fed->sheet.empty());
        QCOMPARE(std::ssize(fed->examples), 4);
        Batch whole;
        QVERIFY(m_plain->fill(whole, Split::Train, m_project.seeds.order, 0, 6).ok());
        const QRegularExpression hidden(QString::fromUtf8("\\[[^→]*→(.)\\]"));
        for (std::size_t row = 0; row < 4; ++row) {
            QString text = QString::fromStdString(fed->examples[row].input);
            QCOMPARE(text.count(hidden), 6); // 15 % of 40
            const auto first = tokensIn(whole).begin() + static_cast<std::ptrdiff_t>(row) * kMaskedTime;
            QCOMPARE(text.replace(hidden, QStringLiteral("\\1")).replace(QChar(u'▁'), QChar(u' ')),
                     QString::fromStdString(m_plain->decode({first, first + kMaskedTime})));
            QVERIFY(fed->examples[row].target.empty());
        }
    }

    void wordsAreWhole()
    {
        writeAll(m_folder / "tokenizer.json", R"({"version": "1.0", "added_tokens": [
            {"id": 0, "content": "[MASK]", "special": true, "single_word": false, "lstrip": false, "rstrip": false,
             "normalized": false}, {"id": 1, "content": "[UNK]", "special": true, "single_word": false,
             "lstrip": false, "rstrip": false, "normalized": false}],
            "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 100, "vocab": {"[MASK]": 0, "[UNK]": 1, "a": 2, "##b": 3, "##c": 4}}})");
        std::string words;
        for (int i = 0; i < 2000; ++i) {
            words += i % 3 == 0 ? "abc " : i % 3 == 1 ? "a " : "ab ";
        }
        projects::Project project = projectOn(words, {projects::TokeniserKind::TokenizerJson, "tokenizer.json", 5});
        project.training.sequenceLength = kMaskedTime;
        project.network.objective = projects::Objective::MaskedToken;
        project.data.masking.wholeWords = true;
        const auto dataset = opened(project);
        QVERIFY(dataset);
        Batch batch;
        std::int64_t masked = 0;
        QVERIFY(dataset->fill(batch, Split::Train, 5, 0, kMaskedRows).ok());
        for (std::size_t i = 0; i < tokensIn(batch).size(); ++i) {
            masked += tokensIn(batch)[i] == 0 ? 1 : 0;
            const auto isHidden = [&](std::size_t at) { return targetsIn(batch)[at] != projects::kIgnoredTarget; };
            const std::int64_t own = isHidden(i) ? targetsIn(batch)[i] : tokensIn(batch)[i];
            if (i % kMaskedTime != 0 && own >= 3) {
                QCOMPARE(isHidden(i), isHidden(i - 1));
            }
        }
        QVERIFY(masked > kMaskedRows); // by the token [MASK] of the file
    }

    /// A mask that takes the space before it does so in either spelling.
    void masksTakeTheirSpaces()
    {
        for (const char* const own : {"<mask>", "[MASK]"}) {
            for (const bool left : {false, true}) {
                QString file = R"({"version": "1.0", "added_tokens": [
                    {"id": 0, "content": "OWN", "special": true, "single_word": false, "lstrip": LEFT, "rstrip": false,
                     "normalized": false}],
                    "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false,
                    "trim_offsets": true, "use_regex": true}, "post_processor": null, "decoder": null,
                    "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                    "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
                    "vocab": {"OWN": 0, "a": 1, "Ġ": 2, "b": 3}, "merges": []}})";
                file.replace("OWN", own).replace("LEFT", left ? "true" : "false");
                writeAll(m_folder / "tokenizer.json", file.toStdString());
                std::string words;
                for (int i = 0; i < 1000; ++i) {
                    words += i % 2 == 0 ? "a " : "b ";
                }
                projects::Project project =
                    projectOn(words, {projects::TokeniserKind::TokenizerJson, "tokenizer.json", 4});
                project.training.sequenceLength = kMaskedTime;
                project.network.objective = projects::Objective::MaskedToken;
                const auto dataset = opened(project);
                QVERIFY(dataset);
                const std::vector<std::int64_t> expected =
                    left ? std::vector<std::int64_t>{1, 0, 2, 3} : std::vector<std::int64_t>{1, 2, 0, 2, 3};
                for (const char* const spelling : {"<mask>", "[MASK]"}) {
                    const auto tokens = dataset->encode(std::string("a ") + spelling + " b");
                    QVERIFY(tokens.ok());
                    QCOMPARE(*tokens, expected);
                }
            }
        }
    }

    /// A mask that is a word of the text is not written into the text, where the tokeniser could join it to others.
    void masksThatAreWordsStayTokens()
    {
        writeAll(m_folder / "tokenizer.json", R"({"version": "1.0", "added_tokens": [], "normalizer": null,
            "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "a": 1, "b": 2, "hid": 3, "[MASK]": 4}}})");
        std::string words;
        for (int i = 0; i < 1000; ++i) {
            words += i % 2 == 0 ? "a " : "b ";
        }
        projects::Project project = projectOn(words, {projects::TokeniserKind::TokenizerJson, "tokenizer.json", 5});
        project.training.sequenceLength = kMaskedTime;
        project.network.objective = projects::Objective::MaskedToken;
        for (const std::int64_t mask : {3, 4}) {
            project.data.masking.token = mask;
            const auto dataset = opened(project);
            QVERIFY(dataset);
            for (const char* const text : {"a [MASK] b", "a[MASK]b", "a<mask> b"}) {
                const auto tokens = dataset->encode(text);
                QVERIFY(tokens.ok());
                QCOMPARE(*tokens, (std::vector<std::int64_t>{1, mask, 2}));
            }
        }
    }

    void tokensAreNeeded()
    {
        m_project.data.masking.token = -1;
        const auto bytes = Dataset::open(m_project, m_folder);
        QVERIFY2(bytes.ok(), bytes ? "" : bytes.error().text().c_str());
        QCOMPARE((*bytes)->maskToken(), 0xff); // no byte of UTF-8
        projects::Tokeniser& tokeniser = *projects::tokeniserOf(m_project.data.source);
        tokeniser = {projects::TokeniserKind::Characters, {}, 30};
        const auto characters = Dataset::open(m_project, m_folder);
        QVERIFY2(characters.ok(), characters ? "" : characters.error().text().c_str());
        QCOMPARE((*characters)->maskToken(), 29); // the last one, which is no character of the text
        tokeniser.vocabulary = (*characters)->codec()->vocabulary();
        const auto none = Dataset::open(m_project, m_folder);
        QVERIFY(tests::isRefusedAt(none, "data · masking · token", "[MASK]"));
        tokeniser = {};
        m_project.data.masking.token = 300;
        const auto large = Dataset::open(m_project, m_folder);
        QVERIFY(tests::isRefusedAt(large, "data · masking · token", "256"));
        m_project.data.masking = {.masked = 0.8, .random = 0.3, .token = kMaskByte};
        QVERIFY(!Dataset::open(m_project, m_folder).ok());
    }

private:
    static std::string text()
    {
        std::string text(4000, ' ');
        for (std::size_t i = 0; i < text.size(); ++i) {
            text[i] = static_cast<char>('a' + (i * i + i / 7) % 23);
        }
        return text;
    }

    [[nodiscard]] std::unique_ptr<Dataset> opened(const projects::Project& project) const
    {
        auto dataset = Dataset::open(project, m_folder);
        if (!dataset) {
            qWarning("%s", dataset.error().text().c_str());
            return nullptr;
        }
        return std::move(*dataset);
    }

    projects::Project m_project;
    std::unique_ptr<Dataset> m_plain;
};

RESIDUA_TEST(TestDatasetMasked)
#include "tst_dataset_masked.moc"
