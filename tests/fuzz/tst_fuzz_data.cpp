// SPDX-License-Identifier: GPL-3.0-or-later
// Data files that are cut off, damaged, of another encoding, huge, or changed while they are read: an answer within
// bounded memory, never a crash; an error names a file of the project.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate_data.h"

#include "engine/data/sets/dataset.h"
#include "projects/base/utf8.h"
#ifdef RESIDUA_ARROW
#include "tests/engine/data/sets/parquet_files.h"
#endif
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <sentencepiece_trainer.h>

#include <fstream>
#include <optional>
#include <thread>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

class TestFuzzData : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QVERIFY(m_temporary.isValid());
        m_folder = m_temporary.path().toStdString();
        for (const char* options : {"--model_type=unigram --vocab_size=60", "--model_type=char --vocab_size=40",
                                    "--model_type=bpe --vocab_size=330 --byte_fallback=true",
                                    "--model_type=unigram --vocab_size=60 --treat_whitespace_as_suffix=true "
                                    "--normalization_rule_name=nmt_nfkc_cf --user_defined_symbols=<a>,<b>"}) {
            m_models.push_back(trained(options));
            QVERIFY(!m_models.back().empty());
        }
        makeParquets();
        fuzz::limitMemory(std::uint64_t{3} << 30);
    }

    void soundModelsAreAccepted()
    {
        for (const std::string& model : m_models) {
            std::ofstream(m_folder / "sound.model", std::ios::binary) << model;
            std::ofstream(m_folder / "t.txt", std::ios::binary) << std::string(500, 'a');
            projects::Project project;
            project.data.source =
                projects::TextData{"t.txt", {projects::TokeniserKind::SentencePiece, "sound.model", 1000}};
            project.training.sequenceLength = 2;
            const auto dataset = Dataset::open(project, m_folder);
            QVERIFY2(dataset, dataset ? "" : dataset.error().text().c_str());
        }
    }

    void anyFile()
    {
        const fuzz::DataMutator mutator(m_folder, m_models, m_parquets);
        const std::uint64_t first = fuzz::seed();
        int opened = 0;
        const int rounds = fuzz::rounds(400);
        for (int round = 0; round < rounds; ++round) {
            fuzz::watchRound(first + static_cast<std::uint64_t>(round));
            std::mt19937_64 random(fuzz::roundNow);
            fs::path file;
            const projects::Project project = mutator.make(random, file);
            const auto dataset = Dataset::open(project, m_folder);
            if (dataset) {
                ++opened;
                use(**dataset, random);
            } else {
                checkError(dataset.error());
            }
        }
        QVERIFY2(rounds < 100 || opened > rounds / 5, "most files must still be read, or nothing is tried");
        QVERIFY2(rounds < 100 || opened < rounds * 4 / 5, "many files must be refused, or nothing is tried");
    }

    void filesThatChangeMeanwhile()
    {
        const fuzz::DataMutator mutator(m_folder, m_models, m_parquets);
        const std::uint64_t first = fuzz::seed();
        for (int round = 0; round < fuzz::rounds(100); ++round) {
            fuzz::watchRound(first + static_cast<std::uint64_t>(round));
            std::mt19937_64 random(fuzz::roundNow);
            fs::path file;
            const projects::Project project = mutator.make(random, file);
            std::atomic<bool> done = false;
            std::thread other([&file, &done, own = std::mt19937_64(random())]() mutable {
                while (!done) {
                    fuzz::disturb(file, own);
                    std::this_thread::yield();
                }
            });
            const auto dataset = Dataset::open(project, m_folder);
            if (dataset) {
                use(**dataset, random);
            }
            done = true;
            other.join();
            if (!dataset) {
                checkError(dataset.error());
            }
        }
    }

private:
    void makeParquets()
    {
#ifdef RESIDUA_ARROW
        using tests::Packing;
        using tests::TextType;
        std::vector<std::optional<std::string>> texts;
        for (int i = 0; i < 90; ++i) {
            texts.push_back(i % 7 == 0 ? std::nullopt : std::optional("row " + std::to_string(i % 50) + " größe"));
        }
        for (const Packing packing : {Packing::None, Packing::Snappy, Packing::Gzip, Packing::Zstd, Packing::Lz4}) {
            const TextType type = packing == Packing::Zstd ? TextType::Dictionary : TextType::String;
            m_parquets.push_back(tests::parquetOf(texts, {.type = type, .packing = packing, .rowsOfGroup = 40}));
        }
#endif
    }

    void checkError(const Error& error) const
    {
        // An error that is not of the file is of a field of the data: its own, or that of a mixture's part.
        const bool placed =
            error.place.find(m_folder.string()) != std::string::npos || error.place.starts_with("data · ");
        QVERIFY2(placed, error.text().c_str());
        QVERIFY2(!firstInvalidUtf8(error.message), error.text().c_str());
        for (const char* foreign : {".cc(", "json.exception", "std::", "INTERNAL"}) {
            QVERIFY2(error.message.find(foreign) == std::string::npos, error.text().c_str());
        }
    }

    void use(const Dataset& dataset, std::mt19937_64& random) const
    {
        const std::int64_t vocabulary = dataset.schema().input().vocabulary;
        Batch batch;
        std::vector<std::int64_t> seen{-1, 0, vocabulary, std::numeric_limits<std::int64_t>::max()};
        for (const Split split : {Split::Train, Split::Validation, Split::Test}) {
            Status filled = dataset.fillSequential(batch, split, 0, 3);
            if (filled && dataset.size(split) > 0) {
                filled = dataset.fill(batch, split, 1, static_cast<std::int64_t>(fuzz::below(random, 1000)), 5);
            }
            if (!filled) {
                checkError(filled.error());
                continue;
            }
            for (const std::int64_t token : batch.values<std::int64_t>(0)) {
                QVERIFY(token >= 0 && token < vocabulary);
            }
            seen.insert(seen.end(), batch.values<std::int64_t>(0).begin(), batch.values<std::int64_t>(0).end());
        }
        QVERIFY(!firstInvalidUtf8(dataset.decode(seen)));
        for (const std::string& text : {std::string("the größe 世界 ﬁ"), std::string("\0\xff", 2), std::string()}) {
            if (const auto ids = dataset.encode(text)) {
                static_cast<void>(dataset.decode(*ids));
            }
        }
    }

    [[nodiscard]] std::string trained(const std::string& options) const
    {
        std::string text;
        for (int i = 0; i < 300; ++i) {
            text += "the cat sat on mat number " + std::to_string(i) + " and that is what the bird saw\n";
        }
        const std::string prefix = (m_folder / "m").string();
        std::ofstream(prefix + ".txt") << text;
        const auto status =
            sentencepiece::SentencePieceTrainer::Train("--input=" + prefix + ".txt --model_prefix=" + prefix +
                                                       " --hard_vocab_limit=false --minloglevel=2 " + options);
        if (!status.ok()) {
            qWarning("%s", status.message());
            return {};
        }
        std::ifstream stream(prefix + ".model", std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    QTemporaryDir m_temporary;
    fs::path m_folder;
    std::vector<std::string> m_models;
    std::vector<std::string> m_parquets;
};

RESIDUA_TEST(TestFuzzData)
#include "tst_fuzz_data.moc"
