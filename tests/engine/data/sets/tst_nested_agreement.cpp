// SPDX-License-Identifier: GPL-3.0-or-later
// The synthetic language, read as a person would.
#include "dataset_harness.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/nested_agreement.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;

namespace {

projects::Project languageOf(std::int64_t seed)
{
    projects::Project project;
    project.data = {projects::SyntheticLanguage{64, 4, 10'000}, 0.1, 0.1};
    project.training.sequenceLength = 32;
    project.seeds.data = seed;
    return project;
}

std::unique_ptr<Dataset> openedLanguage(const projects::Project& project)
{
    auto dataset = Dataset::open(project, ".");
    return dataset ? std::move(*dataset) : nullptr;
}

/// Reads the language by its words, as a person would from the header: counts, and checks every closer.
struct LanguageReader {
    std::vector<std::pair<char, int>> open;
    std::map<std::size_t, std::int64_t> closers; ///< by level
    std::int64_t choices = 0;
    double nats = 0; ///< of the words read, under the true probabilities
    std::size_t levels = 0;
    double forms = 0;
    double plainWords = 0;

    bool read(const std::string& word)
    {
        const bool deepest = open.size() == levels;
        const double stop = deepest ? 0.88 : 0.44;
        if (word == ".") {
            return open.empty();
        }
        if (word.back() == '(') {
            nats -= open.empty() ? std::log(1 / forms) : std::log(0.44 / forms);
            open.emplace_back(word[0], word[1] - '0');
            return open.size() <= levels;
        }
        if (word.front() == 'w') {
            nats -= std::log(0.12 / plainWords);
            return !open.empty();
        }
        if (word.size() != 3 || word.front() != ')' || open.empty()) {
            return false;
        }
        nats -= std::log(stop);
        ++closers[open.size()];
        int point = 0;
        for (auto phrase = open.rbegin(); phrase != open.rend(); ++phrase) {
            std::string order = "012"; // the turn's number counts the permutations in lexicographic order
            for (int n = 0; n < phrase->second; ++n) {
                std::next_permutation(order.begin(), order.end());
            }
            point = order[static_cast<std::size_t>(point)] - '0';
        }
        const bool agrees = word[1] == open.back().first && word[2] - '0' == point;
        open.pop_back();
        return agrees;
    }
};

/// What the language's probabilities say about its text.
struct LanguageTheory {
    double entropy = 0;          ///< nats of a token, given all tokens before it
    std::vector<double> closers; ///< shares of tokens that are closers of a phrase, by level from 1
};

LanguageTheory theoryOf(const LanguageReader& reader)
{
    const auto plogp = [](double probability) { return probability > 0 ? -probability * std::log(probability) : 0; };
    LanguageTheory theory;
    double tokens = 2; // the first opener and the full stop
    double nats = std::log(reader.forms);
    double entered = 1;
    for (std::size_t level = 1; level <= reader.levels; ++level) {
        const double open = level < reader.levels ? 0.44 : 0;
        const double close = level < reader.levels ? 0.44 : 0.88;
        const double visits = entered / close; // a level is left, by closing, as often as it is entered
        nats += visits * (plogp(open) + plogp(0.12) + plogp(close) + open * std::log(reader.forms) +
                          0.12 * std::log(reader.plainWords));
        tokens += visits;
        theory.closers.push_back(visits * close);
        entered = visits * open;
    }
    theory.entropy = nats / tokens;
    std::ranges::for_each(theory.closers, [tokens](double& share) { share /= tokens; });
    return theory;
}

} // namespace

class TestNestedAgreement : public QObject {
    Q_OBJECT

private slots:
    void languageAgrees_data()
    {
        QTest::addColumn<int>("vocabulary");
        QTest::addColumn<int>("levels");
        QTest::newRow("smallest") << 11 << 1;
        QTest::newRow("default") << 64 << 4;
        QTest::newRow("deep") << 64 << 9;
        QTest::newRow("wide") << 1000 << 3;
    }
    void languageAgrees()
    {
        QFETCH(int, vocabulary);
        QFETCH(int, levels);
        constexpr std::int64_t kTokens = 200'000;
        const NestedAgreement language({vocabulary, levels, kTokens});
        const auto words = language.words();
        QCOMPARE(static_cast<int>(words.size()), vocabulary);
        QCOMPARE(std::set<std::string>(words.begin(), words.end()).size(), words.size());
        LanguageReader reader;
        reader.levels = static_cast<std::size_t>(levels);
        reader.forms = 6.0 * static_cast<double>(language.kinds());
        reader.plainWords = vocabulary - 1 - 9.0 * static_cast<double>(language.kinds());
        std::vector<std::int64_t> counts(words.size());
        for (const std::uint32_t token : language.generate(3, kTokens)) {
            QVERIFY(token < words.size());
            ++counts[token];
            QVERIFY2(reader.read(words[token]), words[token].c_str());
        }
        QVERIFY(std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count > 0; }));
        const LanguageTheory theory = theoryOf(reader);
        const double measured = reader.nats / kTokens;
        QVERIFY2(std::abs(measured - theory.entropy) < 0.01,
                 qPrintable(QStringLiteral("%1 %2").arg(measured).arg(theory.entropy)));
        for (int level = 1; level <= levels; ++level) {
            const double share = static_cast<double>(reader.closers[static_cast<std::size_t>(level)]) / kTokens;
            QVERIFY2(std::abs(share - theory.closers[static_cast<std::size_t>(level) - 1]) < 0.01,
                     qPrintable(QString::number(share)));
        }
    }

    /// The last opener alone must leave a closer's point open at every level but the first.
    void agreementNeedsTheOuterLevels()
    {
        const NestedAgreement language({64, 4, 0});
        const auto words = language.words();
        std::map<std::pair<std::size_t, std::string>, std::map<char, double>> points;
        std::set<std::size_t> levels;
        std::vector<std::string> open;
        for (const std::uint32_t token : language.generate(8, 400'000)) {
            const std::string& word = words[token];
            if (word.back() == '(') {
                open.push_back(word);
            } else if (word.front() == ')') {
                points[{open.size(), open.back()}][word[2]] += 1;
                levels.insert(open.size());
                open.pop_back();
            }
        }
        QCOMPARE(levels, (std::set<std::size_t>{1, 2, 3, 4}));
        for (const auto& [key, counts] : points) {
            double most = 0;
            double all = 0;
            for (const auto& [point, count] : counts) {
                most = std::max(most, count);
                all += count;
            }
            if (key.first == 1) {
                QCOMPARE(most, all);
            } else {
                QVERIFY2(most / all < 0.45, "a third, were it even");
            }
        }
    }

    void languageIsSeeded()
    {
        Batch a;
        Batch b;
        Batch c;
        QVERIFY(openedLanguage(languageOf(5))->fillSequential(a, Split::Train, 3, 4));
        QVERIFY(openedLanguage(languageOf(5))->fillSequential(b, Split::Train, 3, 4));
        QVERIFY(openedLanguage(languageOf(6))->fillSequential(c, Split::Train, 3, 4));
        QVERIFY(tokensIn(a) == tokensIn(b) && targetsIn(a) == targetsIn(b));
        QVERIFY(tokensIn(a) != tokensIn(c));
        QCOMPARE(openedLanguage(languageOf(5))->schema(), projects::ExampleSchema::nextToken(64));
    }

    void languageIsText()
    {
        const auto dataset = openedLanguage(languageOf(5));
        const auto ids = dataset->encode("a3( w5 b0(\n)b2 )a1 .");
        QVERIFY(ids);
        QCOMPARE(ids->size(), 6u);
        QCOMPARE(dataset->decode(*ids), std::string("a3( w5 b0( )b2 )a1 ."));
        const auto wrong = dataset->encode("a3( horse )a1");
        QVERIFY(!wrong);
        QVERIFY(wrong.error().text().find("[word 1] \"horse\"") != std::string::npos);
    }
};

RESIDUA_TEST(TestNestedAgreement)
#include "tst_nested_agreement.moc"
