// SPDX-License-Identifier: GPL-3.0-or-later
// Several texts in one: shares of draws, held-out windows in proportion, and what of the parts is seen in errors,
// notes, fingerprints and the cache.
#include "dataset_harness.h"
#include "tests/engine/runs/store/run_files_harness.h"

#include "engine/base/machine/preparation.h"
#include "engine/data/sets/fingerprint.h"
#include "engine/data/sets/mixture_order.h"
#include "projects/base/random.h"
#include "tests/support/test_program.h"

#include <QScopeGuard>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;
using projects::MixtureData;
using projects::Tokeniser;
using projects::TokeniserKind;

namespace {

/// Ten letters from `first` on at random: what is of a part is seen from its letters, and where from a few of them.
std::string lettersFrom(char first, std::size_t count)
{
    std::string text(count, ' ');
    for (std::size_t i = 0; i < count; ++i) {
        text[i] = static_cast<char>(first + static_cast<char>(drawBits(1, 2, i) % 10));
    }
    return text;
}

/// "a", "b" or "c": the part that each row is of, all its tokens alike.
std::vector<char> partsOf(const Batch& batch)
{
    std::vector<char> parts;
    for (std::size_t row = 0; row < static_cast<std::size_t>(batch.batch); ++row) {
        const std::int64_t first = tokensIn(batch)[row * kTime];
        const char part = first < 'K' ? 'a' : first < 'a' ? 'b' : 'c';
        for (std::size_t t = 0; t < kTime; ++t) {
            for (const auto& tokens : {tokensIn(batch), targetsIn(batch)}) {
                const std::int64_t token = tokens[row * kTime + t];
                const char same = token < 'K' ? 'a' : token < 'a' ? 'b' : 'c';
                QTEST_ASSERT(same == part);
            }
        }
        parts.push_back(part);
    }
    return parts;
}

} // namespace

class TestDatasetMixture : public DatasetHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    // ---- draws

    void drawsKeepToTheShares()
    {
        const auto dataset = opened(threeParts({9, 57, 34}));
        QVERIFY(dataset);
        std::map<char, double> counts;
        Batch batch;
        constexpr int kBatches = 400;
        constexpr int kRows = 50;
        for (int index = 0; index < kBatches; ++index) {
            QVERIFY(dataset->fill(batch, Split::Train, 7, index, kRows));
            for (const char part : partsOf(batch)) {
                counts[part] += 1.0 / (kBatches * kRows);
            }
        }
        // 20,000 draws: their standard deviation is at most 0.0035.
        QVERIFY(std::abs(counts['a'] - 0.09) < 0.012);
        QVERIFY(std::abs(counts['b'] - 0.57) < 0.012);
        QVERIFY(std::abs(counts['c'] - 0.34) < 0.012);
    }

    /// Weights are in proportion, and where a window begins in its part is not tied to which part is drawn.
    void weightsAreInProportion()
    {
        const auto one = opened(threeParts({9, 57, 34}));
        const auto other = opened(threeParts({0.0009, 0.0057, 0.0034}));
        QVERIFY(one && other);
        Batch left;
        Batch right;
        std::vector<int> begins(4);
        for (std::int64_t index = 0; index < 100; ++index) {
            QVERIFY(one->fill(left, Split::Train, 7, index, 16) && other->fill(right, Split::Train, 7, index, 16));
            QCOMPARE(tokensIn(left), tokensIn(right));
        }
        const auto lopsided = opened(threeParts({1e-9, 1, 1e-9})); // all but certainly b
        QVERIFY(lopsided);
        for (std::int64_t index = 0; index < 100; ++index) {
            QVERIFY(lopsided->fill(left, Split::Train, 7, index, 16));
            const std::string text = lopsided->decode(tokensIn(left));
            for (std::size_t row = 0; row < 16; ++row) {
                const std::size_t at = m_texts[1].find(text.substr(row * kTime, kTime));
                QVERIFY(at < 1050); // of the training split
                ++begins[at * 4 / 1050];
            }
        }
        QVERIFY(*std::ranges::min_element(begins) > 250); // 1600 draws over four quarters
    }

    void cursorIsTheIndex()
    {
        const auto dataset = opened(threeParts({1, 2, 3}));
        const auto again = opened(threeParts({1, 2, 3}));
        Batch later;
        Batch resumed;
        for (std::int64_t index = 0; index < 12; ++index) {
            QVERIFY(dataset->fill(later, Split::Train, 4, index, 4));
        }
        QVERIFY(again->fill(resumed, Split::Train, 4, 11, 4));
        QCOMPARE(tokensIn(resumed), tokensIn(later));
        QVERIFY(dataset->fill(resumed, Split::Train, 4, 23, 2)); // in other micro-batches
        QVERIFY(std::equal(tokensIn(resumed).begin(), tokensIn(resumed).end(), tokensIn(later).end() - 2 * kTime));
        QVERIFY(dataset->fill(resumed, Split::Train, 5, 11, 4));
        QVERIFY(tokensIn(resumed) != tokensIn(later));
    }

    /// A mixture of one text is that text: the same splits, draws and windows.
    void oneTextAloneIsThatText()
    {
        writeAll(m_folder / "b.txt", lettersFrom('K', 1500));
        const auto mixture = opened(MixtureData{{{.path = "b.txt", .weight = 3}}, {}});
        const auto text = open(projects::TextData{"b.txt", {}});
        QVERIFY(mixture && text);
        Batch left;
        Batch right;
        for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
            QCOMPARE(mixture->size(split), (*text)->size(split));
            QCOMPARE(tokensOf(*mixture, split), tokensOf(**text, split));
            QVERIFY(mixture->fill(left, split, 3, 17, 5) && (*text)->fill(right, split, 3, 17, 5));
            QCOMPARE(tokensIn(left), tokensIn(right));
        }
        QVERIFY(mixture->parts().empty());
    }

    // ---- held-out splits

    void evaluationIsInProportion()
    {
        const auto dataset = opened(threeParts({1, 2, 1}));
        QVERIFY(dataset);
        // Windows of 8 for validation: of 120, 300 and 600 tokens. The shares take 14 of a, 28 or 29 of b, 14 of c.
        std::map<char, int> counts;
        std::string seen;
        Batch batch;
        for (std::int64_t index = 0;; ++index) {
            QVERIFY(dataset->fillSequential(batch, Split::Validation, index, 4));
            const std::vector<char> parts = partsOf(batch);
            for (const char part : parts) {
                ++counts[part];
            }
            if (parts.size() == 4) { // every batch has the mixture's shares
                QCOMPARE(std::ranges::count(parts, 'b'), 2);
                QCOMPARE(std::ranges::count(parts, 'c'), 1);
            }
            seen += dataset->decode(tokensIn(batch));
            if (batch.batch == 0) {
                break;
            }
        }
        QCOMPARE(counts['a'], 14); // all that it has
        QVERIFY(counts['b'] == 28 || counts['b'] == 29);
        QVERIFY(counts['c'] == 14 || counts['c'] == 15);
        // The windows of each part come from its first on, one after another.
        std::string ofB;
        std::ranges::copy_if(seen, std::back_inserter(ofB), [](char c) { return c >= 'K' && c < 'a'; });
        QCOMPARE(ofB, m_texts[1].substr(1050, ofB.size()));
        QCOMPARE(dataset->size(Split::Validation), 120 + 300 + 600); // what is set apart, all of it
        const auto notes = dataset->notes();
        const auto told = std::ranges::find_if(notes, [](const std::string& note) {
            return isIn(note, "validation goes through ") && isIn(note, " of the 125 windows") &&
                   isIn(note, "part 1 (a.txt)");
        });
        QVERIFY(told != notes.end());
    }

    void partsAreReported()
    {
        projects::Project project = projectOf(threeParts({1, 2, 1}));
        project.training.steps = 100;
        project.training.batch = 7;
        project.training.accumulate = 3;
        const auto dataset = Dataset::open(project, m_folder);
        QVERIFY(dataset);
        const auto parts = (*dataset)->parts();
        QCOMPARE(parts.size(), std::size_t{3});
        QCOMPARE(parts[1].name, std::string("b.txt"));
        QCOMPARE(parts[1].share, 0.5);
        QVERIFY(parts[1].sizes == (std::array<std::int64_t, 3>{1050, 300, 150}));
        QCOMPARE(parts[0].evaluated[1], 14 * static_cast<std::int64_t>(kTime)); // of 120
        QCOMPARE(passesOf(parts[1], project.training), 100.0 * 7 * 3 * kTime * 0.5 / 1050);
        QCOMPARE((*dataset)->size(Split::Train), 420 + 1050 + 2100);
        QCOMPARE(textOf(parts[1], 1, project.training),
                 std::string("part 2 (b.txt): 50 % of the examples, 1050 tokens to train on, gone through 8 times"));
        const auto tells = [](const Dataset& data) {
            const std::vector<std::string> notes = data.notes();
            return std::ranges::any_of(notes, [](const std::string& note) {
                return isIn(note, "part 2 (b.txt) is gone through 8 times") && isIn(note, "about 4");
            });
        };
        QVERIFY(tells(**dataset));
        project.training.steps = 40; // 3.2 times
        const auto shorter = Dataset::open(project, m_folder);
        QVERIFY(shorter);
        const auto notes = (*shorter)->notes();
        QVERIFY(std::ranges::none_of(notes, [](const std::string& note) { return isIn(note, "part 2 (b.txt) is"); }));
    }

    void aShareThatIsTooSmallForValidationIsReported()
    {
        const auto dataset = opened(threeParts({1, 1, 1e-6}));
        QVERIFY(dataset);
        const auto notes = dataset->notes();
        QVERIFY(std::ranges::any_of(notes, [](const std::string& note) {
            return isIn(note, "part 3 (c.txt) has none of the ") && isIn(note, "windows of validation");
        }));
    }

    // ---- what parts are

    void kindsByNameAndByWhatAFolderHolds()
    {
        writeAll(m_folder / "plain/x.txt", lettersFrom('A', 500));
        writeAll(m_folder / "shards/00.jsonl", "{\"code\": \"" + lettersFrom('K', 250) + "\"}\n");
        writeAll(m_folder / "shards/deep/01.jsonl", "{\"code\": \"" + lettersFrom('K', 250) + "\"}\n");
        writeAll(m_folder / "shards/readme.md", "not this");
        writeAll(m_folder / "plain/y.jsonl", "nor this: the folder has texts");
        writeAll(m_folder / "one.ndjson", "{\"text\": \"" + lettersFrom('a', 500) + "\"}\n");
        const auto dataset =
            opened(MixtureData{{{"plain"}, {"shards", "code"}, {.path = "one.ndjson", .weight = 2}}, {}});
        QVERIFY(dataset);
        const auto parts = dataset->parts();
        const auto allOf = [&](std::size_t part) {
            return parts[part].sizes[0] + parts[part].sizes[1] + parts[part].sizes[2];
        };
        QCOMPARE(allOf(0), 500);
        QCOMPARE(allOf(1), 502); // with a newline each
        QCOMPARE(allOf(2), 501);
        QCOMPARE(parts[2].share, 0.5);
    }

    void charactersAreThoseOfAllParts()
    {
        writeAll(m_folder / "a.txt", std::string(300, 'x') + "ä");
        writeAll(m_folder / "b.jsonl", "{\"text\": \"" + std::string(300, 'y') + "世\"}\n");
        const MixtureData mixture{{{"a.txt"}, {"b.jsonl"}}, {TokeniserKind::Characters, {}, 5}};
        const auto dataset = opened(mixture);
        QVERIFY(dataset);
        const auto ids = dataset->encode("\nxyä世");
        QVERIFY(ids);
        QCOMPARE(*ids, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
        MixtureData small = mixture;
        small.tokeniser.vocabulary = 4;
        const auto refused = open(small);
        QVERIFY(!refused);
        QVERIFY(isIn(refused.error().text(), "5 distinct characters"));
        QVERIFY(isIn(refused.error().text(), "data.source.tokeniser.vocabulary"));
    }

    /// Bytes are read where they lie: what is written into the file afterwards is what a window holds.
    void bytesAreNotCopied()
    {
        const MixtureData mixture = threeParts({1, 1, 1});
        const auto dataset = opened(mixture);
        QVERIFY(dataset);
        fs::resize_file(m_folder / "b.txt", 900);
        Batch batch;
        bool refused = false;
        for (std::int64_t index = 0; index < 50; ++index) {
            const Status filled = dataset->fill(batch, Split::Train, 1, index, 8);
            refused = refused || (!filled && isIn(filled.error().text(), "b.txt"));
        }
        QVERIFY(refused);
    }

    // ---- errors

    void errorsNameThePart()
    {
        const auto refusal = [&](const MixtureData& mixture) {
            const auto dataset = open(mixture);
            return dataset ? std::string("none") : dataset.error().text();
        };
        MixtureData mixture = threeParts({1, 1, 1});
        mixture.parts[2].path = "none.txt";
        QVERIFY(refusal(mixture).starts_with("[data · part 3 · " + (m_folder / "none.txt").string() + "] "));
        writeAll(m_folder / "short.txt", "too short");
        mixture.parts[2].path = "short.txt";
        QVERIFY(isIn(refusal(mixture), "data · part 3 · " + (m_folder / "short.txt").string()));
        QVERIFY(isIn(refusal(mixture), "expected at least 9"));
        writeAll(m_folder / "short.txt", std::string(50, 'c')); // 10 to validate on, 5 to test
        QVERIFY2(isIn(refusal(mixture), "part 3") && isIn(refusal(mixture), "the test split has 5"),
                 refusal(mixture).c_str());
        writeAll(m_folder / "bad.jsonl", "{\"text\": 3}\n");
        mixture.parts[2].path = "bad.jsonl";
        QVERIFY(isIn(refusal(mixture), "part 3 · " + (m_folder / "bad.jsonl").string() + ":1"));
        QVERIFY(isIn(refusal({}), "expected at least one text"));
        for (const double weight : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
            mixture = threeParts({1, weight, 1});
            QVERIFY2(isIn(refusal(mixture), "data · part 2 · weight"), refusal(mixture).c_str());
        }
    }

    /// Nothing of a part is in a split that the others have.
    void aPartWithoutASplitIsRefused()
    {
        projects::Project project = projectOf(threeParts({1, 1, 1}));
        writeAll(m_folder / "c.txt", lettersFrom('a', 20));
        project.data.validationFraction = 0.04; // of 20 tokens none
        project.data.testFraction = 0;
        const auto refused = Dataset::open(project, m_folder);
        QVERIFY(!refused);
        QVERIFY2(isIn(refused.error().text(), "part 3") && isIn(refused.error().text(), "validation"),
                 refused.error().text().c_str());
    }

    void itsPreparationIsWatchedAndGivenUp()
    {
        projects::Project project = projectOf(threeParts({1, 1, 1}));
        std::get<MixtureData>(project.data.source).tokeniser = {TokeniserKind::Characters, {}, 100};
        std::vector<double> shares;
        const auto whole = Dataset::open(project, m_folder, [&](double share) {
            shares.push_back(share);
            return true;
        });
        QVERIFY(whole);
        QVERIFY(std::ranges::is_sorted(shares));
        QCOMPARE(shares.back(), 1.0);
        const auto givenUp = Dataset::open(project, m_folder, [](double share) { return share < 0.5; });
        QVERIFY(!givenUp);
        QVERIFY(givenUp.error() == preparationGivenUp());
    }

    // ---- fingerprint and cache

    void fingerprintHasEveryPart()
    {
        projects::Project project = projectOf(threeParts({1, 2, 1}));
        const auto whole = fingerprintOf(project, m_folder);
        QVERIFY(whole);
        QCOMPARE(whole->size(), std::size_t{3});
        writeAll(m_folder / "b.txt", m_texts[1] + "K");
        const auto changed = fingerprintOf(project, m_folder);
        QVERIFY(whole->at(0) == changed->at(0));
        QCOMPARE(differenceOf(*whole, *changed)->place, std::string("data · b.txt"));
        fs::remove(m_folder / "b.txt");
        QVERIFY(!fingerprintOf(project, m_folder));
    }

    /// Where one of two parts changes, the other is taken from the cache and not tokenised again.
    void theCacheIsByPart()
    {
        const auto before = qgetenv("XDG_CACHE_HOME");
        const auto restore = qScopeGuard([&] { qputenv("XDG_CACHE_HOME", before); });
        qputenv("XDG_CACHE_HOME", QByteArray::fromStdString((m_folder / "cache").string()));
        writeAll(m_folder / "tokenizer.json",
                 R"({"model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "c": 3}},
                     "pre_tokenizer": {"type": "Whitespace"}, "normalizer": null, "post_processor": null,
                     "decoder": null, "added_tokens": []})");
        const auto words = [](const char* word) {
            std::string text;
            while (text.size() < (std::size_t{4} << 20) + 1000) {
                text += word;
            }
            return text;
        };
        writeAll(m_folder / "a.txt", words("a b "));
        writeAll(m_folder / "b.txt", words("b c "));
        const MixtureData mixture{{{"a.txt"}, {"b.txt"}}, {TokeniserKind::TokenizerJson, "tokenizer.json", 10}};
        const auto kept = [&] {
            std::map<fs::path, fs::file_time_type> files;
            for (const auto& entry : fs::directory_iterator(m_folder / "cache/residua/tokens")) {
                files[entry.path()] = entry.last_write_time();
            }
            return files;
        };
        const auto first = opened(mixture);
        QVERIFY(first);
        const auto files = kept();
        QCOMPARE(files.size(), std::size_t{2});
        writeAll(m_folder / "b.txt", words("c b "));
        const auto second = opened(mixture);
        QVERIFY(second);
        const auto after = kept();
        QCOMPARE(after.size(), std::size_t{3}); // one new
        for (const auto& [path, time] : files) {
            QVERIFY(after.at(path) == time);
        }
        QVERIFY(tokensOf(*first, Split::Test) != tokensOf(*second, Split::Test));
    }

private:
    [[nodiscard]] projects::Project projectOf(projects::Source source) const
    {
        projects::Project project;
        project.data = {std::move(source), 0.2, 0.1};
        project.training.sequenceLength = kTime;
        return project;
    }

    [[nodiscard]] std::unique_ptr<Dataset> opened(const MixtureData& mixture) const
    {
        auto dataset = open(mixture);
        if (!dataset) {
            qWarning("%s", dataset.error().text().c_str());
            return nullptr;
        }
        return std::move(*dataset);
    }

    /// a.txt, b.txt and c.txt of 600, 1500 and 3000 bytes.
    MixtureData threeParts(const std::vector<double>& weights)
    {
        m_texts = {lettersFrom('A', 600), lettersFrom('K', 1500), lettersFrom('a', 3000)};
        MixtureData mixture;
        for (std::size_t i = 0; i < m_texts.size(); ++i) {
            const std::string name = std::string(1, static_cast<char>('a' + static_cast<char>(i))) + ".txt";
            writeAll(m_folder / name, m_texts[i]);
            mixture.parts.push_back({.path = name, .weight = weights[i]});
        }
        return mixture;
    }

    std::vector<std::string> m_texts;
};

RESIDUA_TEST(TestDatasetMixture)
#include "tst_dataset_mixture.moc"
