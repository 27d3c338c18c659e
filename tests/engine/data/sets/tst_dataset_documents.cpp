// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of documents of every source, and texts with hidden spans.
#include "dataset_harness.h"

#include "engine/base/api/data_summary.h"
#include "engine/data/sets/denoising_dataset.h"
#include "engine/data/sets/row_plan.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
using projects::DocumentRows;
using projects::Project;

namespace {

using Numbers = std::vector<std::int64_t>;

/// The rows of a plan as {begin, inputs} of each document.
std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> rowsOf(const RowPlan& plan)
{
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> rows;
    for (std::int64_t row = 0; row < plan.size(); ++row) {
        rows.emplace_back();
        for (const RowPlan::Segment& segment : plan.row(row)) {
            rows.back().emplace_back(segment.begin, segment.inputs);
        }
    }
    return rows;
}

/// Lines of different lengths.
std::string numberedLines(int count)
{
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += "line " + std::to_string(i) + " " + std::string(static_cast<std::size_t>(i * 7 % 10), 'x') + "\n";
    }
    return text;
}

} // namespace

class TestDatasetDocuments : public DatasetHarness {
    Q_OBJECT

private Q_SLOTS:
    void init() { newFolder(); }

    void plansHaveEveryDocument()
    {
        const Numbers ends{6, 7, 10, 21}; // of 6, 1, 3 and 11 tokens
        using Rows = std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>>;
        const RowPlan single(ends, 0, DocumentRows::Single, 4, true);
        QCOMPARE(rowsOf(single), (Rows{{{0, 4}}, {{7, 2}}, {{10, 4}}}));
        QCOMPARE(single.longer(), 2);
        QCOMPARE(single.inputs(), 10);
        const RowPlan packed(ends, 0, DocumentRows::Packed, 4, true);
        QCOMPARE(rowsOf(packed), (Rows{{{0, 4}}, {{4, 1}, {7, 2}}, {{10, 4}}, {{14, 4}}, {{18, 2}}}));
        QCOMPARE(packed.inputs(), 5 + 2 + 10);
        const RowPlan whole(ends, 0, DocumentRows::Packed, 8, false); // the targets are the tokens themselves
        QCOMPARE(rowsOf(whole), (Rows{{{0, 6}, {6, 1}}, {{7, 3}}, {{10, 8}}, {{18, 3}}}));
    }

    /// Each line is a document of bytes; its newline is its last target.
    void linesAreDocuments()
    {
        Project project = projectOn("ab\n\ncdef\ng\nhijklmnopqr\nst", {});
        project.data.validationFraction = 0.2;
        project.data.testFraction = 0;
        project.data.documents = {.rows = DocumentRows::Packed, .lines = true};
        const auto dataset = Dataset::open(project, m_folder);
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        QVERIFY((*dataset)->schema() == projects::examplesOf(project.data));
        QCOMPARE((*dataset)->size(Split::Validation), 8); // one line of five
        Batch batch;
        QVERIFY((*dataset)->fillSequential(batch, Split::Train, 0, 8).ok());
        QCOMPARE(batch.batch, 3);
        const auto text = [&](std::size_t field) {
            std::string all;
            for (const std::int64_t token : batch.values<std::int64_t>(field)) {
                all += token == projects::kIgnoredTarget ? '-'
                       : token == 0                      ? '_'
                       : token == '\n'                   ? '/'
                                                         : static_cast<char>(token);
            }
            return all;
        };
        QCOMPARE(text(0), std::string("abcdefg_hijklmnopqr_____"));
        QCOMPARE(text(1), std::string("b/def//-ijklmnopqr/-----").replace(5, 2, "//"));
        QCOMPARE(batch.values<std::int64_t>(2), (Numbers{7, 8, 3}));
        QCOMPARE(batch.values<std::int64_t>(3),
                 (Numbers{0, 1, 0, 1, 2, 3, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 0, 1, 2, 3, 4}));
        const FedBatch fed = fedBatch(**dataset, batch, project.data, 3);
        QCOMPARE(fed.examples.front().input, std::string("ab ‖ cdef ‖ g"));
        QCOMPARE(fed.examples.back().input, std::string("pqr"));

        project.data.documents.rows = DocumentRows::Single;
        const auto single = Dataset::open(project, m_folder);
        QVERIFY(single.ok() && (*single)->fillSequential(batch, Split::Train, 0, 8).ok());
        QCOMPARE(text(0), std::string("ab______cdef____g_______hijklmno"));
        QCOMPARE(batch.values<std::int64_t>(2), (Numbers{2, 4, 1, 8}));
        QVERIFY(std::ranges::any_of((*single)->notes(), [](const std::string& note) {
            return note.find("their ends are left out") != std::string::npos;
        }));
    }

    /// Each epoch has every row once, in an order of its own; equal numbers give equal batches, also by parts of ranks.
    void epochsHaveEveryRowOnce()
    {
        Project project = projectOn(numberedLines(40), {});
        project.training.sequenceLength = 16;
        project.data.documents = {.rows = DocumentRows::Packed, .lines = true};
        const auto dataset = Dataset::open(project, m_folder);
        QVERIFY(dataset.ok());
        const std::int64_t rows = (*dataset)->size(Split::Train) / 16;
        QVERIFY(rows > 8);
        std::set<Numbers> seen;
        std::vector<Numbers> order;
        Batch batch;
        for (std::int64_t i = 0; i < 2 * rows; ++i) {
            QVERIFY((*dataset)->fill(batch, Split::Train, 3, i, 1).ok());
            order.push_back(tokensIn(batch));
            seen.insert(order.back());
            QCOMPARE(std::ssize(seen), std::min(i + 1, rows));
        }
        QVERIFY(!std::equal(order.begin(), order.begin() + rows, order.begin() + rows));
        QVERIFY((*dataset)->fill(batch, Split::Train, 3, 1, 4).ok());
        for (std::size_t i = 0; i < 4; ++i) {
            QVERIFY(std::equal(order[4 + i].begin(), order[4 + i].end(),
                               tokensIn(batch).begin() + static_cast<std::ptrdiff_t>(16 * i)));
        }
    }

    void everySourceHasDocuments()
    {
        writeAll(m_folder / "a.txt", numberedLines(30));
        writeAll(m_folder / "b.jsonl", "{\"text\":\"first\"}\n{\"text\":\"second one\"}\n{\"text\":\"third\"}\n"
                                       "{\"text\":\"fourth\"}\n{\"text\":\"fifth\"}\n");
        std::vector<std::uint16_t> ids;
        for (std::uint16_t i = 0; i < 200; ++i) {
            ids.push_back(i % 9 == 8 ? 7 : i % 5);
        }
        writeAll(m_folder / "ids.bin", packed(ids));
        const projects::MixtureData mixture{{{.path = "a.txt", .weight = 3}, {.path = "b.jsonl"}}, {}};
        const projects::Source sources[] = {
            projects::JsonLinesData{.path = "b.jsonl", .tokeniser = {}}, mixture,
            projects::TokenFileData{.path = "ids.bin", .validationPath = {}, .vocabulary = 8},
            projects::TokenFileData{.path = "ids.bin", .validationPath = "ids.bin", .vocabulary = 8},
            projects::SyntheticLanguage{.vocabulary = 32, .levels = 2, .tokens = 2000}};
        for (const projects::Source& source : sources) {
            Project project;
            project.data = {source, 0.2, 0.0};
            project.training.sequenceLength = 12;
            project.data.documents = {.rows = DocumentRows::Packed, .lines = true, .end = 7};
            const auto opened = Dataset::open(project, m_folder, {}, {.version = ReadingVersion::First, .classes = {}});
            QVERIFY2(opened.ok(), opened ? "" : opened.error().text().c_str());
            const Dataset& dataset = **opened;
            QVERIFY(dataset.schema() == projects::examplesOf(project.data));
            for (const Split split : {Split::Train, Split::Validation}) {
                Batch batch;
                QVERIFY(dataset.size(split) > 0);
                QVERIFY(dataset.fillSequential(batch, split, 0, 4).ok());
                QVERIFY(batch.batch > 0);
                QVERIFY(std::ranges::count(batch.values<std::int64_t>(3), 0) >= batch.batch);
            }
        }
        // The tokens of a file's documents end with their mark, which is never read as an input.
        Project project;
        project.data = {sources[2], 0.2, 0.0};
        project.training.sequenceLength = 12;
        project.data.documents = {.rows = DocumentRows::Single, .end = 7};
        const auto opened = Dataset::open(project, m_folder);
        QVERIFY(opened.ok());
        Batch batch;
        QVERIFY((*opened)->fillSequential(batch, Split::Train, 0, 4).ok());
        QCOMPARE(batch.values<std::int64_t>(2), Numbers(4, 8));
        QCOMPARE(std::ranges::count(tokensIn(batch), 7), 0);
        QCOMPARE(std::ranges::count(targetsIn(batch), 7), 4);
    }

    /// Hidden tokens are never padding, and targets are the tokens themselves.
    void maskedTokensAreOfDocuments()
    {
        Project project = projectOn(numberedLines(40), {});
        project.training.sequenceLength = 32;
        project.network.objective = projects::Objective::MaskedToken;
        project.data.masking.token = 1;
        project.data.documents = {.rows = DocumentRows::Single, .lines = true};
        const auto dataset = Dataset::open(project, m_folder);
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        Batch batch;
        QVERIFY((*dataset)->fill(batch, Split::Train, 3, 0, 16).ok());
        for (std::size_t row = 0; row < 16; ++row) {
            const auto length = static_cast<std::size_t>(batch.values<std::int64_t>(2)[row]);
            const auto targets = std::span(targetsIn(batch)).subspan(row * 32, 32);
            QCOMPARE(std::ranges::count(targets.subspan(length), projects::kIgnoredTarget),
                     static_cast<std::ptrdiff_t>(32 - length));
            const auto hidden = std::ranges::count_if(targets, [](std::int64_t target) { return target >= 0; });
            QCOMPARE(hidden, std::max<std::ptrdiff_t>(1, std::lround(0.15 * static_cast<double>(length))));
        }
    }

    void wrongDocumentsAreRefused()
    {
        writeAll(m_folder / "ids.bin", packed(std::vector<std::uint16_t>(100, 3)));
        Project project;
        project.data = {projects::TokenFileData{.path = "ids.bin", .validationPath = {}, .vocabulary = 8}, 0.2, 0.0};
        project.training.sequenceLength = kTime;
        project.data.documents.rows = DocumentRows::Packed;
        QVERIFY(tests::isRefusedAt(Dataset::open(project, m_folder), "data · documents · end token", "got -1"));
        Project empty = projectOn("a", {});
        empty.data.documents.rows = DocumentRows::Single;
        QVERIFY(tests::isRefusedAt(Dataset::open(empty, m_folder), (m_folder / "text.txt").string(), "two tokens"));
    }

    /// The sizes that fill a row of 512 tokens, computed independently.
    void denoisersFillTheirRows()
    {
        const std::map<std::pair<double, double>, std::array<std::int64_t, 3>> expected{
            {{3, 0.15}, {464, 70, 23}}, {{8, 0.15}, {492, 74, 9}},  {{3, 0.5}, {382, 191, 64}},
            {{8, 0.5}, {454, 227, 28}}, {{64, 0.15}, {508, 76, 1}}, {{64, 0.5}, {502, 251, 4}}};
        for (const projects::Denoiser& denoiser : projects::kDenoisers) {
            const projects::SpanSizes sizes = projects::longestSpans(denoiser, 512, 512);
            if (denoiser.mode == projects::DenoiserMode::Sequential) {
                QCOMPARE(sizes.raw, 510);
                continue;
            }
            const auto& [raw, noise, spans] = expected.at({denoiser.mean, denoiser.share});
            QCOMPARE((Numbers{sizes.raw, sizes.noise, sizes.spans}), (Numbers{raw, noise, spans}));
        }
    }

    /// No longer text fits, and the sizes of a row of any length are found at once.
    void longestTextsAreFoundInRowsOfAnyLength()
    {
        const auto rowLength = [](const projects::Denoiser& denoiser, std::int64_t raw) {
            const bool sequential = denoiser.mode == projects::DenoiserMode::Sequential;
            return raw + (sequential ? 0 : 2 * projects::spansOf(denoiser, raw).spans) + 2;
        };
        for (const projects::Denoiser& denoiser : projects::kDenoisers) {
            for (const std::int64_t time : {6L, 7L, 100L, 511L, 4'096L, 450'358'721'706'494L}) {
                const std::int64_t longest = projects::longestSpans(denoiser, time, time).raw;
                QVERIFY(longest == 2 || rowLength(denoiser, longest) <= time);
                QVERIFY(rowLength(denoiser, longest + 1) > time);
                QCOMPARE(projects::longestSpans(denoiser, time, 5).raw, std::min<std::int64_t>(longest, 5));
            }
        }
    }

    /// The text follows from a row: kept tokens and spans in turn. Modes come by their weights.
    void spansGiveTheTextBack()
    {
        Project project =
            projectOn(numberedLines(400), {.kind = projects::TokeniserKind::Characters, .model = {}, .vocabulary = 80});
        constexpr std::int64_t kLength = 64;
        project.training.sequenceLength = kLength;
        const auto plain = Dataset::open(project, m_folder);
        project.network.objective = projects::Objective::Denoising;
        project.data.denoising.sentinels = 16;
        const auto opened = Dataset::open(project, m_folder);
        QVERIFY2(opened.ok(), opened ? "" : opened.error().text().c_str());
        constexpr std::int64_t kRows = 400;
        Batch batch;
        Batch texts;
        QVERIFY((*opened)->fill(batch, Split::Train, 3, 2, kRows).ok());
        QVERIFY((*plain)->fill(texts, Split::Train, 3, 2, kRows).ok());
        const std::int64_t firstMode = 80 - 16 - 1;
        std::array<int, 3> modes{};
        for (std::int64_t row = 0; row < kRows; ++row) {
            const auto tokens = std::span(tokensIn(batch)).subspan(static_cast<std::size_t>(row * kLength), kLength);
            const auto targets = std::span(targetsIn(batch)).subspan(static_cast<std::size_t>(row * kLength), kLength);
            const std::int64_t mode = firstMode - tokens[0];
            QVERIFY(mode >= 0 && mode < 3);
            ++modes[static_cast<std::size_t>(mode)];
            const auto first = std::ranges::find_if(targets, [](std::int64_t t) { return t >= 0; }) - targets.begin();
            const auto prefix = static_cast<std::size_t>(first) + 1;
            std::map<std::int64_t, Numbers> spans;
            std::int64_t at = -1;
            std::size_t i = prefix;
            for (; i < tokens.size() && tokens[i] != firstMode - 3; ++i) { // up to the end token
                QCOMPARE(targets[i - 1], tokens[i]);
                if (tokens[i] > firstMode) {
                    at = tokens[i];
                } else {
                    spans[at].push_back(tokens[i]);
                }
            }
            QCOMPARE(targets[i - 1], firstMode - 3);
            QVERIFY(
                std::ranges::all_of(targets.subspan(i), [](std::int64_t t) { return t == projects::kIgnoredTarget; }));
            Numbers text;
            for (const std::int64_t token : tokens.subspan(1, prefix - 1)) {
                if (token > firstMode) {
                    QVERIFY(!spans[token].empty());
                    text.insert(text.end(), spans[token].begin(), spans[token].end());
                } else {
                    text.push_back(token);
                }
            }
            text.insert(text.end(), spans[-1].begin(), spans[-1].end()); // of the sequential mode
            QVERIFY(std::equal(text.begin(), text.end(), tokensIn(texts).begin() + row * kLength));
            QVERIFY(text.size() > 30);
        }
        QVERIFY(std::abs(modes[0] - 160) < 45 && std::abs(modes[1] - 160) < 45 && std::abs(modes[2] - 80) < 40);

        Batch part;
        QVERIFY((*opened)->fill(part, Split::Train, 3, 5, kRows / 2).ok()); // rows 200 to 399 of the batch after
        QVERIFY((*opened)->fill(batch, Split::Train, 3, 10, kRows / 4).ok());
        QVERIFY(std::equal(tokensIn(batch).begin(), tokensIn(batch).end(), tokensIn(part).begin()));
        QVERIFY((*opened)->fillSequential(batch, Split::Validation, 0, 4).ok());
        QVERIFY((*opened)->fillSequential(part, Split::Validation, 0, 4).ok());
        QCOMPARE(tokensIn(batch), tokensIn(part));
        const auto prompt = (*opened)->encode("line");
        QVERIFY(prompt.ok());
        QCOMPARE(prompt->front(), firstMode - 2);
        QCOMPARE((*opened)->decode(*prompt), std::string("[S]line"));
    }

    void tokensOfDenoisersNeedRoom()
    {
        Project project =
            projectOn(numberedLines(400), {.kind = projects::TokeniserKind::Characters, .model = {}, .vocabulary = 30});
        project.training.sequenceLength = 64;
        project.network.objective = projects::Objective::Denoising;
        project.data.denoising.sentinels = 16;
        QVERIFY(
            tests::isRefusedAt(Dataset::open(project, m_folder), "data · denoising · sentinels", "a vocabulary of"));
        project.data.denoising.sentinels = 3;
        QVERIFY(tests::isRefusedAt(Dataset::open(project, m_folder), "data · denoising · sentinels",
                                   "expected at least 8 for the spans of a row of 64"));
    }
};

RESIDUA_TEST_IN(QCoreApplication, TestDatasetDocuments)
#include "tst_dataset_documents.moc"
