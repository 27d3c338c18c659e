// SPDX-License-Identifier: GPL-3.0-or-later
// Imports of models whose files contradict themselves, and the notes on them.
#include "import_harness.h"
#include "model_folder.h"

#include "engine/base/api/environment.h"
#include "engine/compute/queries/base/query.h"
#include "projects/commands/tower_edits.h"
#include "projects/file/store.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;
using tests::answerTo;
using tests::exported;
using tests::imported;
using tests::tensorsIn;

namespace {

QJsonObject configIn(const fs::path& folder)
{
    QFile file(QString::fromStdString((folder / "config.json").string()));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

bool tells(const std::vector<std::string>& notes, const std::string& part)
{
    return std::ranges::any_of(notes, [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

/// Puts other bytes of the same number in the place of the first such ones.
void patch(const fs::path& path, const QByteArray& from, const QByteArray& to)
{
    QFile file(QString::fromStdString(path.string()));
    QVERIFY(file.open(QIODevice::ReadWrite));
    const qsizetype at = file.readAll().indexOf(from);
    QVERIFY(at >= 0 && from.size() == to.size());
    file.seek(at);
    file.write(to);
}

} // namespace

class TestImportNotes : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { m_cases = tests::modelCases(); }

    /// A tied head that the index names and no shard holds is the embedding; without the tie it is missing.
    void anIndexMayNameATiedHead()
    {
        tests::ModelFolder model(m_cases["gpt2"].toObject());
        model.shards = 3;
        model.write(at("tied"));
        QFile index(QString::fromStdString((at("tied") / "model.safetensors.index.json").string()));
        QVERIFY(index.open(QIODevice::ReadWrite));
        QJsonObject map = QJsonDocument::fromJson(index.readAll()).object()["weight_map"].toObject();
        map["lm_head.weight"] = "model-1.safetensors";
        index.resize(0);
        index.seek(0);
        index.write(QJsonDocument(QJsonObject{{"weight_map", map}}).toJson());
        index.close();
        const auto ready = imported(at("tied"), at("tied project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QVERIFY(tells(ready->notes, "lm_head.weight is in none of the files, though the index names it"));
    }

    /// transformers computes with the bias of the decoder where a file has both.
    void theDecodersBiasWins()
    {
        tests::ModelFolder model(m_cases["bert"].toObject());
        model.shapes["cls.predictions.decoder.bias"] = model.shapes.at("cls.predictions.bias");
        model.write(at("bert"));
        const auto ready = imported(at("bert"), at("bert project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QVERIFY(tells(ready->notes, "cls.predictions.decoder.bias differs from cls.predictions.bias"));
        const auto out = exported(ready->runDirectory, at("bert exported"));
        QVERIFY2(out.ok(), out ? "" : out.error().text().c_str());
        const auto before = tensorsIn(at("bert"));
        const auto after = tensorsIn(at("bert exported"));
        QVERIFY(after.at("cls.predictions.bias") == before.at("cls.predictions.decoder.bias"));
    }

    /// The normalisation of a model's folder comes into the project, and goes out again.
    void picturesArePreparedAsTheFolderSays()
    {
        tests::ModelFolder(m_cases["vit"].toObject()).write(at("vit"));
        std::ofstream(at("vit") / "preprocessor_config.json")
            << R"({"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225], "resample": 3,
                   "size": {"height": 8, "width": 8}})";
        const auto ready = imported(at("vit"), at("vit project"));
        QVERIFY2(ready.ok(), ready ? "" : ready.error().text().c_str());
        QVERIFY(tells(ready->notes, "resample is not 2"));
        const auto project = projects::loadProject(at("vit project"));
        QVERIFY(project.ok());
        QVERIFY(std::abs(project->project.data.augmentation.mean - 0.485) < 1e-9);
        QVERIFY(std::abs(project->project.data.augmentation.deviationBlue - 0.225) < 1e-9);
        const auto out = exported(ready->runDirectory, at("vit exported"));
        QVERIFY2(out.ok(), out ? "" : out.error().text().c_str());
        QFile file(QString::fromStdString((at("vit exported") / "preprocessor_config.json").string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject processor = QJsonDocument::fromJson(file.readAll()).object();
        QCOMPARE(processor["image_processor_type"].toString(), QString("ViTImageProcessor"));
        QCOMPARE(processor["image_mean"].toArray()[1].toDouble(), 0.456);
    }

    /// The placeholder data have labels that name classes, whatever the classes are called.
    void placeholdersNameClasses_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("names");
        for (const char* const model : {"bert, classes", "vit"}) {
            const auto row = [model](const char* what, const QStringList& names) {
                QTest::addRow("%s: %s", model, what) << QString(model) << names;
            };
            row("words", {"cat", "dog, black", "a \"quote\""});
            row("equal words", {"cat", "cat", "dog"});
            row("numbers", {"10", "20", "30"});
            row("equal numbers first", {"7", "7", "12"});
            row("one number", {"cat", "7", "dog"});
            row("words that are read as numbers", {"inf", "nan", "1e9"});
            row("a number in two forms", {"1", "01", "5"});
        }
        QTest::newRow("bert, classes: fractions") << "bert, classes" << QStringList{"0.5", "1.5", ""};
        QTest::newRow("bert, classes: lines") << "bert, classes" << QStringList{"a\nb", "2", " c "};
    }
    void placeholdersNameClasses()
    {
        QFETCH(const QString, model);
        QFETCH(const QStringList, names);
        tests::ModelFolder folder(m_cases[model].toObject());
        QJsonObject labels;
        for (qsizetype i = 0; i < names.size(); ++i) {
            labels[QString::number(i)] = names[i];
        }
        folder.config["id2label"] = labels;
        const fs::path place = at(QTest::currentDataTag());
        folder.write(place / "model");
        const auto ready = imported(place / "model", place / "project");
        QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
    }

    void aTieIsHeldAgainstTheTensors()
    {
        tests::ModelFolder model(m_cases["gpt2"].toObject());
        model.shapes["lm_head.weight"] = model.shapes.at("transformer.wte.weight"); // with numbers of its own
        model.write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
        QVERIFY(tells(ready->notes, "lm_head.weight differs from it"));
        const auto out = exported(ready->runDirectory, at("out"));
        QVERIFY2(out, out ? "" : out.error().text().c_str());
        QVERIFY(tensorsIn(at("out")) == tensorsIn(at("model")));
        QCOMPARE(configIn(at("out"))["tie_word_embeddings"], QJsonValue(false));
    }

    void eitherNameOfATiedPairWillDo()
    {
        tests::ModelFolder model(m_cases["gpt2"].toObject());
        model.shapes["lm_head.weight"] = model.shapes.at("transformer.wte.weight");
        model.shapes.erase("transformer.wte.weight");
        model.write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
        QVERIFY(exported(ready->runDirectory, at("out")));
        QVERIFY(tensorsIn(at("out")).at("transformer.wte.weight") == tensorsIn(at("model")).at("lm_head.weight"));
    }

    /// A file of the first BERT has other names of the norms, and the heads of its whole pre-training.
    void olderNamesAndOtherHeadsWillDo()
    {
        tests::ModelFolder model(m_cases["bert"].toObject());
        std::map<std::string, std::vector<std::int64_t>> shapes;
        for (const auto& [name, shape] : model.shapes) {
            std::string older = name;
            const auto rename = [&older](const std::string& end, const std::string& other) {
                older = older.ends_with(end) ? older.substr(0, older.size() - end.size()) + other : older;
            };
            rename("LayerNorm.weight", "LayerNorm.gamma");
            rename("LayerNorm.bias", "LayerNorm.beta");
            shapes[older] = shape;
        }
        model.shapes = shapes;
        model.shapes["bert.pooler.dense.weight"] = {16, 16};
        model.shapes["cls.seq_relationship.bias"] = {2};
        model.write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
        QVERIFY(tells(ready->notes, "the tensors of heads of other tasks are left out: bert.pooler.dense.weight, "
                                    "cls.seq_relationship.bias"));
        QVERIFY(exported(ready->runDirectory, at("out")));
        const auto before = tensorsIn(at("model"));
        const auto after = tensorsIn(at("out"));
        QCOMPARE(after.size(), before.size() - 2);
        QVERIFY(after.at("bert.embeddings.LayerNorm.weight") == before.at("bert.embeddings.LayerNorm.gamma"));
    }

    void aBertHasOneTable()
    {
        tests::ModelFolder model(m_cases["bert"].toObject());
        model.shapes["cls.predictions.decoder.weight"] = model.shapes.at("bert.embeddings.word_embeddings.weight");
        model.write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(tests::isRefusedAt(ready, "", "differs"), ready ? "" : ready.error().text().c_str());
    }

    void aClassifierNeedsItsDataAndATokeniser()
    {
        tests::ModelFolder(m_cases["bert, classes"].toObject()).write(at("model"));
        const auto text = imported(at("model"), at("project"), projects::TextData{"text.txt", {}});
        QVERIFY(tests::isRefusedAt(text, "", "table of texts"));
        fs::remove(at("model") / "tokenizer.json");
        std::ofstream(at("model") / "vocab.txt") << "[PAD]\n";
        const auto without = imported(at("model"), at("project"));
        QVERIFY2(!without && without.error().message.find("vocab.txt is not") != std::string::npos,
                 without ? "" : without.error().message.c_str());
        tests::ModelFolder(m_cases["vit"].toObject()).write(at("vit"));
        const auto pictures = imported(at("vit"), at("project"), projects::TextData{"text.txt", {}});
        QVERIFY(!pictures && pictures.error().message.find("the model reads pictures") != std::string::npos);
    }

    void notesSurviveAnError()
    {
        tests::ModelFolder model(m_cases["llama"].toObject());
        model.config["odd_key"] = 3;
        model.write(at("model"));
        std::ofstream words(at("model") / "tokenizer.json");
        words << R"({"added_tokens":[],"model":{"type":"WordLevel","unk_token":"w0","vocab":{)";
        for (int i = 0; i < 99; ++i) {
            words << (i > 0 ? "," : "") << "\"w" << i << "\":" << i;
        }
        words << "}}}";
        words.close();
        std::ofstream(at("model") / "text.txt") << "some text";
        ImportRequest request;
        request.folder = at("model");
        request.projectDirectory = at("project");
        request.data = projects::TextData{(at("model") / "text.txt").string(), {}};
        const std::unique_ptr<Query> query = queryFor(request);
        std::optional<Event> answer;
        while (!answer) {
            answer = query->advance();
        }
        const auto* const failed = std::get_if<QueryFailed>(&*answer);
        QVERIFY(failed != nullptr);
        QVERIFY(tells(failed->notes, "config.json says more, which is not read: odd_key"));
        QVERIFY(tells(failed->notes, "tokenizer.json has 99 tokens, the model"));
    }

    /// A failure that has nothing to do with the names of the classes is told as it is, and the data are read once.
    void onlyOtherNamesAreOtherNames()
    {
        tests::ModelFolder model(m_cases["bert, classes"].toObject());
        model.config["id2label"] = QJsonObject{{"0", "pos"}, {"1", "neg"}, {"2", "mixed"}};
        model.write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
        LoadWeightsRequest request;
        request.file = at("model") / "model.safetensors";
        request.project = projects::loadProject(at("project"))->project;
        request.projectDirectory = at("project");
        request.runDirectory = at("run");
        for (const char* const table : {"text,label\nw1,neg\n\"w2,pos\n", "text,lable\nw1,neg\n"}) {
            std::ofstream(at("project") / "texts.csv") << table;
            const std::unique_ptr<Query> query = queryFor(request);
            std::optional<Event> answer;
            while (!answer) {
                answer = query->advance();
            }
            const auto* const failed = std::get_if<QueryFailed>(&*answer);
            QVERIFY(failed != nullptr);
            QVERIFY2(failed->error.text().find("texts.csv:") != std::string::npos, failed->error.text().c_str());
            QVERIFY2(failed->notes.empty(), failed->notes.empty() ? "" : failed->notes.front().c_str());
        }
    }

    void typesAreJudgedOnlyOfWantedTensors()
    {
        tests::ModelFolder model(m_cases["llama"].toObject());
        model.write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
        model.shapes["extra.weight"] = {2};
        model.write(at("more"));
        patch(at("more") / "model.safetensors", R"("extra.weight":{"dtype":"F32")", R"("extra.weight":{"dtype":"U16")");
        LoadWeightsRequest request;
        request.file = at("more") / "model.safetensors";
        request.project = projects::loadProject(at("project"))->project;
        request.projectDirectory = at("project");
        request.runDirectory = at("run");
        const auto onto = answerTo<LoadWeightsReady>(request);
        QVERIFY2(onto, onto ? "" : onto.error().text().c_str());
        QCOMPARE(onto->unused, std::vector<std::string>{"extra.weight"});
        QVERIFY(std::ranges::all_of(onto->rows, &LoadWeightsReady::Row::fits));

        patch(at("more") / "model.safetensors", R"("model.norm.weight":{"dtype":"F32")",
              R"("model.norm.weight":{"dtype":"U16")");
        request.runDirectory = at("other");
        const auto other = answerTo<LoadWeightsReady>(request);
        QVERIFY2(other, other ? "" : other.error().text().c_str());
        const auto row = std::ranges::find(other->rows, "head.norm.weight", &LoadWeightsReady::Row::parameter);
        QVERIFY(row != other->rows.end() && !row->fits);
        QVERIFY2(row->message.starts_with("got U16, expected "), row->message.c_str());
    }

    /// A tower takes the weights of a whole network by this program's names, or none.
    void aTowerTakesAllWeights()
    {
        tests::ModelFolder(m_cases["llama"].toObject()).write(at("model"));
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
        const projects::Project project = projects::loadProject(at("project"))->project;
        LoadWeightsRequest request;
        request.project = *projects::withTeacher(project, project, {});
        request.projectDirectory = at("project");
        request.runDirectory = at("taught");
        request.tower = "teacher";
        request.file = at("model") / "model.safetensors"; // whose names are those of transformers
        const auto refused = answerTo<LoadWeightsReady>(request);
        QVERIFY(!refused && !fs::exists(request.runDirectory));
        QVERIFY2(refused.error().message.find("teacher.") != std::string::npos, refused.error().text().c_str());
        request.file = checkpointDirectory(ready->runDirectory, 0) / "model.safetensors";
        const auto taken = answerTo<LoadWeightsReady>(request);
        QVERIFY2(taken, taken ? "" : taken.error().text().c_str());
    }

    void numbersThatAreNotFiniteAreNoted()
    {
        tests::ModelFolder(m_cases["llama"].toObject()).write(at("model"));
        const fs::path file = at("model") / "model.safetensors";
        const float nan = std::numeric_limits<float>::quiet_NaN();
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(static_cast<std::streamoff>(fs::file_size(file) - sizeof nan));
        bytes.write(reinterpret_cast<const char*>(&nan), sizeof nan);
        bytes.close();
        const std::string said = "1 weight of ";
        const auto ready = imported(at("model"), at("project"));
        QVERIFY2(ready, ready ? "" : ready.error().text().c_str());
        QVERIFY(tells(ready->notes, said) && tells(ready->notes, "with numbers that are not finite: "));
        SampleRequest sample;
        sample.of.runDirectory = ready->runDirectory;
        sample.prompt = "1 2";
        sample.tokens = 1;
        const auto sampled = answerTo<SampleReady>(sample);
        QVERIFY2(sampled, sampled ? "" : sampled.error().text().c_str());
        QVERIFY(tells(sampled->notes, said));
        EvaluateRequest evaluate;
        evaluate.of.runDirectory = ready->runDirectory;
        evaluate.batches = 1;
        const auto evaluated = answerTo<EvaluationReady>(evaluate);
        QVERIFY2(evaluated, evaluated ? "" : evaluated.error().text().c_str());
        QVERIFY(tells(evaluated->notes, said));
    }

private:
    [[nodiscard]] fs::path at(const std::string& name) const
    {
        return fs::path(m_folder.path().toStdString()) / QTest::currentTestFunction() / name;
    }

    QTemporaryDir m_folder;
    QJsonObject m_cases;
};

RESIDUA_TEST_IN(QCoreApplication, TestImportNotes)
#include "tst_import_notes.moc"
