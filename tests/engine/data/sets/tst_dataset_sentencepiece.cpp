// SPDX-License-Identifier: GPL-3.0-or-later
// Text through SentencePiece models, whole and damaged.
#include "dataset_harness.h"

#include "engine/data/codec/text_codec.h"
#include "tests/support/random_seed.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <sentencepiece_trainer.h>

#include <random>

using namespace residua;
using namespace residua::engine;
using namespace residua::tests;
namespace fs = std::filesystem;
using projects::TokeniserKind;

class TestDatasetSentencePiece : public DatasetHarness {
    Q_OBJECT

private slots:
    void init() { newFolder(); }

    void wordsAreItsPieces()
    {
        const auto model = trainModel();
        std::string text;
        for (int i = 0; i < 200; ++i) {
            text += "the cat sat on mat number " + std::to_string(i % 10) + "\n";
        }
        const auto dataset = openText(text, {TokeniserKind::SentencePiece, model.filename().string(), 60});
        QVERIFY(dataset);
        QCOMPARE(dataset->schema().input().vocabulary, 60);
        QVERIFY(dataset->size(Split::Train) < 4000);
        const auto ids = dataset->encode("the cat sat");
        QVERIFY(ids);
        QCOMPARE(dataset->decode(*ids), std::string("the cat sat"));
        QVERIFY(dataset->decode(tokensOf(*dataset, Split::Train)).starts_with("the cat sat on mat number 0 the cat"));
        QCOMPARE(dataset->decode({59, -4}), dataset->decode({0, 0})); // rows beyond the model: unknown
    }

    /// Rows of an embedding table after the model's pieces have no piece. The last row is the mask.
    void rowsBeyondItHaveNoPiece()
    {
        const auto model = trainModel();
        std::string text;
        for (int i = 0; i < 200; ++i) {
            text += "the cat sat on mat number " + std::to_string(i % 10) + "\n";
        }
        for (const std::int64_t rows : {41, 60, 100'000}) {
            projects::Project project = projectOn(text, {TokeniserKind::SentencePiece, model.string(), rows});
            project.network.objective = projects::Objective::MaskedToken;
            const auto dataset = Dataset::open(project, m_folder);
            QVERIFY(dataset);
            QCOMPARE((*dataset)->maskToken(), std::optional(rows - 1));
            const TextCodec& codec = *(*dataset)->codec();
            for (const std::int64_t token : {std::int64_t{-1}, std::int64_t{40}, rows - 1, rows}) {
                QCOMPARE(codec.piece(token), std::string("\xef\xbf\xbd"));
            }
            QVERIFY(codec.piece(39) != codec.piece(40));
            const auto ids = (*dataset)->encode("the cat[MASK]");
            QVERIFY(ids);
            QCOMPARE(ids->back(), 2); // the mark of an end
            QCOMPARE(ids->at(ids->size() - 2), rows - 1);
        }
    }

    void documentsEndWithItsEnd()
    {
        const auto model = trainModel();
        std::string file;
        for (int i = 0; i < 100; ++i) {
            file += "{\"text\": \"the cat sat\"}\n";
        }
        writeAll(m_folder / "d.jsonl", file);
        const auto dataset =
            open(projects::JsonLinesData{"d.jsonl", "text", {TokeniserKind::SentencePiece, model.string(), 60}});
        QVERIFY(dataset);
        auto one = *(*dataset)->encode("the cat sat");
        one.push_back(2); // the trainer's default end of text
        const auto tokens = tokensOf(**dataset, Split::Train);
        QVERIFY(tokens.size() > 2 * one.size());
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            QCOMPARE(tokens[i], one[i % one.size()]);
        }
    }

    void anInvalidSettingOfTheCacheIsReported()
    {
        const auto model = trainModel();
        const std::string text(2000, 'a');
        const projects::Tokeniser pieces{TokeniserKind::SentencePiece, model.string(), 60};
        qputenv("RESIDUA_TOKENS_MIB", "2G");
        const auto dataset = openText(text, pieces);
        const auto bytes = openText(text, {});
        qunsetenv("RESIDUA_TOKENS_MIB");
        QVERIFY(dataset && bytes);
        QCOMPARE(dataset->notes().size(), std::size_t{1});
        QVERIFY2(dataset->notes().front().starts_with("RESIDUA_TOKENS_MIB: got \"2G\""),
                 dataset->notes().front().c_str());
        QVERIFY(bytes->notes().empty()); // which are not kept
        QVERIFY(openText(text, pieces)->notes().empty());
    }

    void damagedModels()
    {
        std::ifstream stream(trainModel(), std::ios::binary);
        const std::string whole{std::istreambuf_iterator<char>(stream), {}};
        writeAll(m_folder / "t.txt", std::string(1000, 'a'));
        const projects::TextData source{"t.txt", {TokeniserKind::SentencePiece, "bad.model", 60}};
        for (const std::string& bytes : {std::string(), std::string("not a model"), std::string(5000, '\xff')}) {
            writeAll(m_folder / "bad.model", bytes);
            const auto dataset = open(source);
            QVERIFY(!dataset);
            QVERIFY(dataset.error().text().find("is not a readable") != std::string::npos);
        }
        std::mt19937 random(tests::randomSeed());
        for (std::size_t size = 0; size < whole.size();
             size += whole.size() / 50) { // cut or flipped: an answer, never a crash
            writeAll(m_folder / "bad.model", whole.substr(0, size));
            static_cast<void>(open(source).ok());
            std::string flipped = whole;
            flipped[random() % flipped.size()] = static_cast<char>(random());
            writeAll(m_folder / "bad.model", flipped);
            static_cast<void>(open(source).ok());
        }
    }

    /// The library follows offsets of the character table without a check, so they are checked first.
    void aTableThatPointsOutside()
    {
        std::ifstream stream(trainModel(), std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        QVERIFY(bytes.size() > 100'000); // nearly all of it is the table
        bytes.replace(bytes.size() / 3, 64, std::string(64, '\x7d'));
        writeAll(m_folder / "bad.model", bytes);
        writeAll(m_folder / "t.txt", std::string(1000, 'a'));
        const auto dataset = open(projects::TextData{"t.txt", {TokeniserKind::SentencePiece, "bad.model", 60}});
        QVERIFY(!dataset);
        QCOMPARE(dataset.error().place, (m_folder / "bad.model").string());
        QVERIFY2(dataset.error().message.ends_with("(damaged)"), dataset.error().message.c_str());
    }

    /// The table has one unit, whose offset to its children is 2 GiB.
    void aTableWhoseFirstUnitPointsOutside()
    {
        const std::string table("\x04\0\0\0\0\x02\0\x80\0", 9);
        writeAll(m_folder / "bad.model", std::string("\x0a\x03\x0a\x01\x61\x1a\x0b\x12\x09") + table);
        writeAll(m_folder / "t.txt", std::string(1000, 'a'));
        const auto dataset = open(projects::TextData{"t.txt", {TokeniserKind::SentencePiece, "bad.model", 60}});
        QVERIFY(!dataset);
        QVERIFY2(dataset.error().text().find("points outside") != std::string::npos, dataset.error().text().c_str());
    }

    void libraryErrorsHideItsSourceFiles()
    {
        writeAll(m_folder / "t.txt", std::string(1000, 'a'));
        writeAll(m_folder / "bad.model", std::string("\x0a\x03\x0a\x01"
                                                     "a",
                                                     5)); // one piece, and no unknown one
        const auto dataset = open(projects::TextData{"t.txt", {TokeniserKind::SentencePiece, "bad.model", 60}});
        QVERIFY(tests::isRefusedAt(dataset, "", "SentencePiece library"));
        QVERIFY(dataset.error().text().find(".cc") == std::string::npos);
    }

    void aVocabularyIsAtLeastItsPieces()
    {
        static_cast<void>(trainModel());
        const auto dataset =
            Dataset::open(projectOn("the cat", {TokeniserKind::SentencePiece, "m.model", 10}), m_folder);
        QVERIFY(tests::isRefusedAt(dataset, "", "40 tokens"));
    }

private:
    /// A model of 40 pieces, m.model in the project.
    [[nodiscard]] fs::path trainModel() const
    {
        std::string text;
        for (int i = 0; i < 300; ++i) {
            text += "the cat sat on mat number " + std::to_string(i) + " and that is what the bird saw\n";
        }
        writeAll(m_folder / "m.txt", text);
        const std::string prefix = (m_folder / "m").string();
        const auto status =
            sentencepiece::SentencePieceTrainer::Train("--input=" + prefix + ".txt --model_prefix=" + prefix +
                                                       " --vocab_size=40 --model_type=bpe --minloglevel=2");
        if (!status.ok()) {
            qFatal("%s", status.message());
        }
        return prefix + ".model";
    }
};

RESIDUA_TEST(TestDatasetSentencePiece)
#include "tst_dataset_sentencepiece.moc"
