// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are exported beside weights, and files that are not needed for it.
#include "import_harness.h"
#include "model_folder.h"

#include "engine/compute/queries/models/model_data.h"
#include "engine/data/codec/text_codec.h"
#include "projects/base/whole_file.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <memory>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;
using projects::ExportedTokeniser;
using projects::TokeniserKind;
using tests::answerTo;
using tests::exported;
using tests::imported;
using tests::tensorsIn;

namespace {

constexpr const char* kWords = R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":[],)"
                               R"("normalizer":null,"pre_tokenizer":{"type":"WhitespaceSplit"},)"
                               R"("post_processor":null,"decoder":null,"model":{"type":"WordLevel",)"
                               R"("vocab":{"[UNK]":0,"one":1,"two":2},"unk_token":"[UNK]"}})";

void write(const fs::path& file, const std::string& text)
{
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

std::string textOf(const fs::path& file)
{
    const Result<std::string> text = readFile(file);
    return text ? *text : std::string();
}

bool isIn(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

std::string told(const std::vector<std::string>& notes)
{
    std::string all;
    for (const std::string& note : notes) {
        all += note + "\n";
    }
    return all;
}

ExportRequest asCode(const fs::path& run, const fs::path& folder)
{
    ExportRequest request;
    request.format = ExportFormat::PyTorch;
    request.of.runDirectory = run;
    request.folder = folder;
    return request;
}

} // namespace

class TestExport : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void theTokeniserIsChosenByItsKind_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("names"); // of what comes into the folder
        QTest::addColumn<int>("read");
        const auto row = [](const char* what, TokeniserKind kind, const char* model, const QStringList& names,
                            ExportedTokeniser read) {
            QTest::newRow(what) << int(kind) << model << names << int(read);
        };
        row("learned here", TokeniserKind::SentencePiece, "text-bpe-300.model", {"tokenizer.model"},
            ExportedTokeniser::SentencePiece);
        row("of a folder", TokeniserKind::SentencePiece, "tokeniser/tokenizer.model",
            {"tokenizer.model", "tokenizer_config.json"}, ExportedTokeniser::Auto);
        row("no class named", TokeniserKind::SentencePiece, "other/tokenizer.model",
            {"tokenizer.model", "tokenizer_config.json"}, ExportedTokeniser::SentencePiece);
        row("a file of another name", TokeniserKind::TokenizerJson, "words.json",
            {"tokenizer.json", "tokenizer_config.json"}, ExportedTokeniser::Auto);
        row("bytes", TokeniserKind::Bytes, "", {"tokenizer.json", "tokenizer_config.json"}, ExportedTokeniser::Auto);
        row("characters", TokeniserKind::Characters, "", {}, ExportedTokeniser::None);
        row("gone", TokeniserKind::SentencePiece, "gone.model", {}, ExportedTokeniser::None);
    }
    void theTokeniserIsChosenByItsKind()
    {
        QFETCH(const int, kind);
        QFETCH(const QString, model);
        QFETCH(const QStringList, names);
        QFETCH(const int, read);
        write(at("text-bpe-300.model"), "pieces");
        write(at("tokeniser/tokenizer.model"), "pieces");
        write(at("tokeniser/tokenizer_config.json"), R"({"tokenizer_class":"LlamaTokenizer"})");
        write(at("other/tokenizer.model"), "pieces");
        write(at("other/tokenizer_config.json"), "{}");
        write(at("words.json"), kWords);
        std::vector<std::string> notes;
        projects::Project project;
        project.data.source = projects::TextData{"text.txt", {TokeniserKind(kind), model.toStdString(), 300}};
        const auto companions = tokeniserCompanions(project, at(""), notes);
        QVERIFY2(companions.ok(), companions ? "" : companions.error().text().c_str());
        QCOMPARE(int(companions->tokeniser), read);
        fs::create_directories(at("out"));
        QVERIFY(addCompanions(at("out"), *companions).ok());
        QStringList found;
        for (const auto& entry : fs::directory_iterator(at("out"))) {
            found.append(QString::fromStdString(entry.path().filename().string()));
        }
        found.sort();
        QCOMPARE(found, names);
        if (!names.isEmpty() && !model.isEmpty()) {
            QCOMPARE(textOf(at("out") / names.front().toStdString()), textOf(at(model.toStdString())));
        }
        QCOMPARE(!notes.empty(), model == "gone.model");
    }

    /// transformers fills masks by the token that the settings name.
    void settingsNameTheMask_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("token");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("note");
        QTest::newRow("bytes") << int(TokeniserKind::Bytes) << -1 << "[MASK]"
                               << "";
        QTest::newRow("a byte of texts") << int(TokeniserKind::Bytes) << int('#') << "#"
                                         << "";
        QTest::newRow("a blank") << int(TokeniserKind::Bytes) << int(' ') << ""
                                 << "";
        QTest::newRow("a word") << int(TokeniserKind::TokenizerJson) << 1 << "one"
                                << "";
        QTest::newRow("no word") << int(TokeniserKind::TokenizerJson) << -1 << ""
                                 << "no name for the mask, which is token 299";
    }
    void settingsNameTheMask()
    {
        QFETCH(const int, kind);
        QFETCH(const int, token);
        QFETCH(const QString, name);
        QFETCH(const QString, note);
        write(at("words.json"), kWords);
        projects::Project project;
        const bool isFile = TokeniserKind(kind) == TokeniserKind::TokenizerJson;
        project.data.source = projects::TextData{"text.txt", {TokeniserKind(kind), isFile ? "words.json" : "", 300}};
        project.data.masking.token = token;
        project.network.objective = projects::Objective::MaskedToken;
        std::vector<std::string> notes;
        const auto companions = tokeniserCompanions(project, at(""), notes);
        QVERIFY2(companions.ok(), companions ? "" : companions.error().text().c_str());
        const auto settings =
            QJsonDocument::fromJson(QByteArray::fromStdString(companions->written.at("tokenizer_config.json")));
        QCOMPARE(settings.object()["mask_token"].toString(), name);
        QVERIFY2(note.isEmpty() ? notes.empty() : isIn(told(notes), note.toStdString()), told(notes).c_str());
        if (!isFile) {
            write(at("tokenizer.json"), companions->written.at("tokenizer.json"));
            const auto codec = tokenizerJsonCodec(at("tokenizer.json"));
            QVERIFY2(codec.ok(), codec ? "" : codec.error().text().c_str());
            std::vector<std::uint32_t> ids;
            QVERIFY((*codec)->encode("a" + name.toStdString() + "b", TextStart::Begins, ids).ok());
            QCOMPARE(ids.size(), name.isEmpty() ? std::size_t{2} : std::size_t{3});
            QVERIFY(name.isEmpty() || ids[1] == (token < 0 ? 255U : static_cast<unsigned>(token)));
        }
    }

    /// The file that stands for bytes makes the ids that training had, and the text of them.
    void bytesKeepTheirIds()
    {
        write(at("tokenizer.json"), byteTokeniserTexts().tokeniser);
        const auto codec = tokenizerJsonCodec(at("tokenizer.json"));
        QVERIFY2(codec.ok(), codec ? "" : codec.error().text().c_str());
        QCOMPARE((*codec)->vocabulary(), std::int64_t{256});
        std::string text = "  two  spaces\r\n\t'll \u00e9\u6f22\U0001d11e\u00a0";
        for (char c = 1; c < 127; ++c) {
            text += c;
        }
        text += '\0';
        std::vector<std::uint32_t> ids;
        std::vector<std::uint32_t> bytes;
        QVERIFY((*codec)->encode(text, TextStart::Begins, ids).ok());
        QVERIFY(byteCodec()->encode(text, TextStart::Begins, bytes).ok());
        QCOMPARE(ids, bytes);
        QCOMPARE((*codec)->decode(std::vector<std::int64_t>(ids.begin(), ids.end())), text);
    }

    /// A file of any size is copied, also one that is larger than what is read as one text.
    void largeFilesAreCopied()
    {
        write(at("large.model"), "begin");
        fs::resize_file(at("large.model"), (std::uintmax_t{64} << 20) + 3); // a hole, which takes no room
        fs::create_directories(at("out"));
        const Status copied = copyInto(at("out"), {at("large.model")});
        QVERIFY2(copied.ok(), copied ? "" : copied.error().text().c_str());
        QCOMPARE(fs::file_size(at("out/large.model")), (std::uintmax_t{64} << 20) + 3);
    }

    /// Weights go out where the data are not, or are others; what is recorded beside code is then of drawn tokens.
    void weightsNeedNoData()
    {
        tests::ModelFolder(tests::modelCases()["llama"].toObject()).write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        const auto with = answerTo<ExportReady>(asCode(ready->runDirectory, at("with")));
        QVERIFY2(with.ok(), with ? "" : with.error().text().c_str());
        QVERIFY(!isIn(told(with->notes), "drawn"));
        QVERIFY(!isIn(textOf(at("with/README.md")), "drawn at random"));

        std::ofstream(at("project/tokens.bin"), std::ios::app) << "more";
        const auto others = exported(ready->runDirectory, at("others"));
        QVERIFY2(others.ok(), others ? "" : others.error().text().c_str());
        QVERIFY(tensorsIn(at("others")) == tensorsIn(at("model")));
        const auto refused = answerTo<ExportReady>(asCode(ready->runDirectory, at("code")));
        QVERIFY(!refused.ok() && isIn(refused.error().message, "not the data of the run"));

        fs::remove(at("project/tokens.bin"));
        const auto without = exported(ready->runDirectory, at("without"));
        QVERIFY2(without.ok(), without ? "" : without.error().text().c_str());
        const auto code = answerTo<ExportReady>(asCode(ready->runDirectory, at("code")));
        QVERIFY2(code.ok(), code ? "" : code.error().text().c_str());
        QVERIFY2(isIn(told(code->notes), "of drawn tokens"), told(code->notes).c_str());
        QVERIFY(isIn(textOf(at("code/README.md")), "of tokens drawn at random"));
        const auto recorded = SafetensorsFile::open(at("code/recorded.safetensors"));
        QVERIFY(recorded.ok() && recorded->tensors().contains("output"));
    }

    /// Without a window it is the network of a Llama too.
    void aMistralStaysOne()
    {
        tests::ModelFolder model(tests::modelCases()["mistral"].toObject());
        model.config["sliding_window"] = QJsonValue();
        model.config["max_position_embeddings"] = 64;
        model.config["bos_token_id"] = 5;
        model.config["eos_token_id"] = 6;
        model.write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        const auto out = exported(ready->runDirectory, at("out"));
        QVERIFY2(out.ok(), out ? "" : out.error().text().c_str());
        QCOMPARE(out->architecture, std::string("mistral"));
        QFile file(QString::fromStdString(at("out/config.json").string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject config = QJsonDocument::fromJson(file.readAll()).object();
        for (const char* const key : {"architectures", "sliding_window", "max_position_embeddings", "bos_token_id",
                                      "eos_token_id", "model_type", "num_key_value_heads"}) {
            QVERIFY2(config.contains(key) && config.value(key) == model.config.value(key), key);
        }
    }

    void anotherTokeniserIsNotTaken()
    {
        tests::ModelFolder(tests::modelCases()["llama"].toObject()).write(at("model"));
        write(at("model/tokenizer.json"), kWords);
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        fs::remove(at("project/text.txt"));
        const auto out = exported(ready->runDirectory, at("out"));
        QVERIFY2(out.ok(), out ? "" : out.error().text().c_str());
        QCOMPARE(textOf(at("out/tokenizer.json")), std::string(kWords));
        std::ofstream(at("project/tokeniser/tokenizer.json"), std::ios::app) << " ";
        const auto other = exported(ready->runDirectory, at("other"));
        QVERIFY(!other.ok() && isIn(other.error().message, "not the data of the run"));
    }

private:
    [[nodiscard]] fs::path at(const std::string& name) const { return fs::path(m_folder->path().toStdString()) / name; }

    std::unique_ptr<QTemporaryDir> m_folder;
};

RESIDUA_TEST_IN(QCoreApplication, TestExport)
#include "tst_export.moc"
