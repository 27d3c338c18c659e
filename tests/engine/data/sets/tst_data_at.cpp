// SPDX-License-Identifier: GPL-3.0-or-later
// Which source a path gives, which folders are refused, and what is not held out.
#include "engine/base/api/data_summary.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/text/folder_files.h"
#include "projects/model/data_source.h"
#include "projects/schema/describe_data.h"
#include "tests/engine/data/pictures/picture_files.h"
#include "tests/support/file_bytes.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <functional>

using namespace residua;
using namespace residua::engine;
using residua::tests::gzipOf;
namespace fs = std::filesystem;

namespace {

std::string highFirst(std::uint32_t value)
{
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) {
        text.push_back(static_cast<char>(value >> shift & 255U));
    }
    return text;
}

/// Returns records of CIFAR-10 with these labels, the first pixels of which differ.
std::string cifarOf(const std::vector<int>& labels)
{
    std::string bytes;
    for (const int label : labels) {
        bytes.push_back(static_cast<char>(label));
        bytes.push_back(static_cast<char>(bytes.size() % 251));
        bytes.append(3071, '\x2f');
    }
    return bytes;
}

std::string idxOf(std::uint32_t count, std::uint32_t side)
{
    return highFirst(2051) + highFirst(count) + highFirst(side) + highFirst(side) +
           std::string(count * side * side, 'a');
}

std::string idxLabels(std::uint32_t count)
{
    std::string bytes = highFirst(2049) + highFirst(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        bytes += static_cast<char>(i % 10);
    }
    return bytes;
}

/// Returns a table of square pictures. `first`: the label is the first column.
std::string digitsCsv(bool first, const std::string& header = {})
{
    std::string text = header;
    for (int row = 0; row < 40; ++row) {
        std::string values;
        for (int i = 0; i < 16; ++i) {
            values += (i > 0 ? "," : "") + std::to_string(i == 0 || i == 15 ? 0 : (row * 31 + i * 7) % 256);
        }
        const std::string label = std::to_string(row % 10);
        text += (first ? label + "," + values : values + "," + label) + "\n";
    }
    return text;
}

class TestDataAt : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
        qputenv("XDG_CACHE_HOME", m_temporary->filePath("cache").toUtf8());
    }

    void sourcesAreFound_data()
    {
        QTest::addColumn<QStringList>("files");
        QTest::addColumn<QString>("given");
        QTest::addColumn<QString>("expected"); // the source's kind, its path and validation path, or a message
        const auto row = [](const char* name, const QStringList& files, const QString& expected,
                            const QString& given = "d") { QTest::newRow(name) << files << given << expected; };
        row("classes", {"d/cat/0.png", "d/dog/0.png"}, "pictures d");
        row("parts", {"d/train/cat/0.png", "d/train/dog/0.png", "d/val/cat/0.png", "d/val/dog/0.png"},
            "pictures d/train d/val");
        row("parts, any case", {"d/Train/cat/0.png", "d/VALID/cat/0.png", "d/test/cat/0.png"},
            "pictures d/Train d/VALID");
        row("only a test part", {"d/training/cat/0.png", "d/testing/cat/0.png"}, "pictures d/training d/testing");
        row("only a training part", {"d/train/cat/0.png", "d/train/dog/0.png"}, "pictures d/train");
        row("a training part in another", {"d/train/train/cat/0.png", "d/train/train/dog/0.png"},
            "pictures d/train/train");
        row("texts in a training part", {"d/train/a.txt", "d/train/b.txt"}, "text d");
        row("a class named train", {"d/train/0.png", "d/bus/0.png"}, "pictures d");
        row("GIF and BMP", {"d/cat/0.gif", "d/dog/0.bmp"}, "kinds that are not read (1 BMP, 1 GIF)");
        row("HEIC", {"d/cat/0.heic", "d/cat/1.HEIC", "d/dog/0.avif", "d/dog/x.svg", "d/dog/x.tif"},
            "kinds that are not read (1 AVIF, 2 HEIC, 1 SVG, 1 TIFF)");
        row("one picture", {"x.png"}, "is one picture (PNG)", "x.png");
        row("one GIF", {"x.gif"}, "is one picture (GIF)", "x.gif");
        row("CIFAR", {"d/data_batch_1.bin", "d/test_batch.bin"}, "pictures d d");
        row("CIFAR without a test", {"d/data_batch_1.bin"}, "pictures d");
        row("CIFAR file", {"data_batch_1.bin"}, "pictures data_batch_1.bin", "data_batch_1.bin");
        row("CIFAR, compressed", {"data_batch_1.bin.gz"}, "pictures data_batch_1.bin.gz", "data_batch_1.bin.gz");
        row("CIFAR of Python", {"d/data_batch_1", "d/batches.meta"}, "is the Python version of CIFAR");
        row("MNIST",
            {"d/train-images-idx3-ubyte", "d/train-labels-idx1-ubyte", "d/t10k-images-idx3-ubyte",
             "d/t10k-labels-idx1-ubyte"},
            "pictures d d");
        row("MNIST, compressed", {"d/train-images-idx3-ubyte.gz", "d/train-labels-idx1-ubyte.gz"}, "pictures d");
        row("MNIST, both", {"d/train-images-idx3-ubyte", "d/train-images-idx3-ubyte.gz", "d/train-labels-idx1-ubyte"},
            "pictures d");
        row("MNIST file", {"d/train-images-idx3-ubyte", "d/train-labels-idx1-ubyte"},
            "pictures d/train-images-idx3-ubyte", "d/train-images-idx3-ubyte");
        const auto beside = [&](const char* name, const QString& training, const QString& heldOut,
                                const QStringList& files = {}) {
            row(name, files + QStringList{training, heldOut}, "pictures " + training + " " + heldOut, training);
        };
        beside("t10k beside", "d/train-images-idx3-ubyte", "d/t10k-images-idx3-ubyte",
               {"d/train-labels-idx1-ubyte", "d/t10k-labels-idx1-ubyte"});
        beside("t10k beside, by the dotted name", "d/train-images.idx3-ubyte", "d/t10k-images.idx3-ubyte",
               {"d/train-labels.idx1-ubyte", "d/t10k-labels.idx1-ubyte"});
        beside("EMNIST beside", "d/emnist-letters-train-images-idx3-ubyte", "d/emnist-letters-test-images-idx3-ubyte",
               {"d/emnist-letters-train-labels-idx1-ubyte", "d/emnist-letters-test-labels-idx1-ubyte",
                "d/emnist-digits-test-images-idx3-ubyte", "d/emnist-digits-test-labels-idx1-ubyte"});
        beside("compressed beside", "d/train-images-idx3-ubyte.gz", "d/t10k-images-idx3-ubyte.gz",
               {"d/train-labels-idx1-ubyte.gz", "d/t10k-labels-idx1-ubyte.gz"});
        beside("a test of CIFAR beside", "d/data_batch_1.bin", "d/test_batch.bin");
        row("t10k beside, without labels",
            {"d/train-images-idx3-ubyte", "d/train-labels-idx1-ubyte", "d/t10k-images-idx3-ubyte"},
            "pictures d/train-images-idx3-ubyte", "d/train-images-idx3-ubyte");
        row("the test itself", {"d/train-images-idx3-ubyte", "d/t10k-images-idx3-ubyte", "d/t10k-labels-idx1-ubyte"},
            "pictures d/t10k-images-idx3-ubyte", "d/t10k-images-idx3-ubyte");
        row("a folder beside", {"d/train/cat/0.png", "d/train/dog/0.png", "d/val/cat/0.png"}, "pictures d/train d/val",
            "d/train");
        row("a folder of other classes beside", {"d/train/cat/0.png", "d/train/dog/0.png", "d/test/cow/0.png"},
            "pictures d/train", "d/train");
        row("a folder of something else beside", {"d/train/cat/0.png", "d/train/dog/0.png", "d/test/a.txt"},
            "pictures d/train", "d/train");
        row("a table beside", {"d/train.tsv", "d/dev.tsv", "d/test.tsv"}, "labelled_text d/train.tsv d/dev.tsv",
            "d/train.tsv");
        row("tokens beside", {"d/my_train.bin", "d/my_val.bin", "d/other_val.bin"},
            "token_file d/my_train.bin d/my_val.bin", "d/my_train.bin");
        row("a text beside", {"d/train.txt", "d/test.txt"}, "text d/train.txt", "d/train.txt");
        row("EMNIST",
            {"d/emnist-balanced-train-images-idx3-ubyte", "d/emnist-balanced-train-labels-idx1-ubyte",
             "d/emnist-balanced-test-images-idx3-ubyte", "d/emnist-letters-train-images-idx3-ubyte",
             "d/emnist-letters-train-labels-idx1-ubyte"},
            "has 2 sets of pictures: emnist-balanced-train-images-idx3-ubyte, emnist-letters-train-images-idx3-ubyte");
        row("CSV, label last", {"digits.csv"}, "pictures digits.csv", "digits.csv");
        row("labelled texts", {"t.csv"}, "labelled_text t.csv", "t.csv");
        row("tables", {"d/train.csv", "d/test.csv", "d/dev.csv"}, "labelled_text d/train.csv d/dev.csv");
        row("tokens", {"d/train.bin", "d/val.bin"}, "token_file d/train.bin d/val.bin");
        row("texts", {"d/train.txt", "d/validation.txt"}, "has the parts train.txt and validation.txt of a data set");
        row("texts in folders", {"d/train/a.txt", "d/test/a.txt"}, "has the parts train and test of a data set");
        row("shards", {"d/train-00000-of-00002.jsonl", "d/train-00001-of-00002.jsonl", "d/test-00000-of-00001.jsonl"},
            "each in several files");
        row("two sets", {"d/a_train.csv", "d/a_test.csv", "d/b_train.csv", "d/b_test.csv"}, "has 2 data sets");
        row("texts of tests", {"d/test-of-time.txt", "d/train-to-nowhere.txt"}, "text d");
        row("nothing that is read", {"d/a.doc", "d/b.mp3"}, "has no data that a source reads");
    }
    void sourcesAreFound()
    {
        QFETCH(QStringList, files);
        QFETCH(QString, given);
        QFETCH(QString, expected);
        for (const QString& file : files) {
            writeFile(m_folder / file.toStdString(), contentFor(file.toStdString()));
        }
        const auto source = dataAt(m_folder / given.toStdString());
        const QString got = source ? described(*source) : QString::fromStdString(source.error().text());
        QVERIFY2(source ? got == expected : got.contains(expected), qPrintable(got));
    }

    void formsAreThoseOfTheFiles()
    {
        const auto pictures = [&](const char* name, const std::string& bytes) {
            writeFile(m_folder / name, bytes);
            const auto source = dataAt(m_folder / name);
            return source ? std::get<projects::PictureData>(*source) : projects::PictureData{};
        };
        writeFile(m_folder / "train-labels-idx1-ubyte", idxLabels(12));
        const auto mnist = pictures("train-images-idx3-ubyte", idxOf(12, 28));
        QVERIFY(mnist.height == 28 && mnist.width == 28 && mnist.channels == 1 && mnist.classes == 10);
        const auto cifar = pictures("x.bin", cifarOf({1, 0, 3}));
        QVERIFY(cifar.height == 32 && cifar.channels == 3 && cifar.classes == 10);
        const auto csv = pictures("digits.csv", digitsCsv(true));
        QVERIFY(csv.height == 4 && csv.channels == 1 && csv.classes == 10);
        // Tokens that fill records of CIFAR, but whose bytes there are no labels.
        writeFile(m_folder / "tokens.bin", std::string(2 * 3073, '\x70'));
        QVERIFY(std::holds_alternative<projects::TokenFileData>(*dataAt(m_folder / "tokens.bin")));
        writeFile(m_folder / "ant/world.json", "{}");
        const auto found = dataAt(m_folder / "ant");
        QVERIFY(found.ok());
        const auto* const world = std::get_if<projects::WorldData>(&*found);
        QVERIFY(world != nullptr && world->kind == projects::WorldKind::Mujoco && world->path.ends_with("/ant"));
    }

    /// Files of CIFAR are large: each is read once to find them, besides its beginning.
    void recordsAreReadOnce()
    {
        const auto bytesRead = [] {
            std::ifstream counts("/proc/self/io");
            std::string name;
            std::int64_t count = -1;
            counts >> name >> count; // of bytes that were read by this process
            return name == "rchar:" ? count : -1;
        };
        if (bytesRead() < 0) {
            QSKIP("the bytes that this process reads are not counted here");
        }
        const std::string records = cifarOf(std::vector<int>(400, 7));
        for (const char* const name : {"d/train.bin", "d/test.bin", "one.bin"}) {
            writeFile(m_folder / name, records);
        }
        for (const auto& [name, expected] :
             {std::pair("d", "pictures d d"), std::pair("one.bin", "pictures one.bin")}) {
            const auto files = static_cast<std::int64_t>(name == std::string("d") ? 2 : 1);
            const std::int64_t before = bytesRead();
            const auto source = dataAt(m_folder / name);
            const std::int64_t read = bytesRead() - before;
            QVERIFY(source && described(*source) == expected);
            QVERIFY2(read < files * std::ssize(records) * 3 / 2, std::to_string(read).c_str());
        }
    }

    void linksAreEnteredOnce()
    {
        writeFile(m_folder / "d/cat/0.png", pngOf(ramp(4, 4, 1)));
        writeFile(m_folder / "d/dog/0.png", pngOf(ramp(4, 4, 1)));
        fs::create_directory_symlink(".", m_folder / "d/cat/self");
        fs::create_directory_symlink(".", m_folder / "d/cat/again");
        fs::create_directory_symlink("../dog", m_folder / "d/cat/other");
        fs::create_directory_symlink("nowhere", m_folder / "d/cat/lost");
        writeFile(m_folder / "elsewhere/1.png", pngOf(ramp(4, 4, 1)));
        fs::create_directory_symlink("../../elsewhere", m_folder / "d/dog/more");
        const auto below = filesBelow(std::vector{m_folder / "d/cat", m_folder / "d/dog"}, m_folder / "d");
        QVERIFY(below.ok());
        QCOMPARE((*below)[1].files, (std::vector{m_folder / "d/dog/0.png", m_folder / "d/dog/more/1.png"}));
        QVERIFY(std::ranges::count((*below)[0].files, m_folder / "d/cat/0.png") == 1);
        projects::Project project = pictures("d");
        project.data.validationFraction = 0;
        const auto dataset = Dataset::open(project, m_folder);
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        QCOMPARE((*dataset)->size(Split::Train), 3);
        fs::create_directory_symlink("cat", m_folder / "d/lion");
        QVERIFY(errorOf(project).find("is the same folder as") != std::string::npos);
        // Texts too.
        writeFile(m_folder / "t/a.txt", "one");
        fs::create_directory_symlink(".", m_folder / "t/self");
        fs::create_directory_symlink("..", m_folder / "t/up");
        const auto texts = filesBelow(std::vector{m_folder / "t"});
        QVERIFY(texts && std::ranges::count(texts->front().files, m_folder / "t/a.txt") == 1);
    }

    void partsAreNoClassesAndNoText()
    {
        for (const char* name : {"d/train/cat/0.png", "d/train/dog/0.png", "d/Valid/cat/0.png", "d/Valid/dog/0.png"}) {
            writeFile(m_folder / name, pngOf(ramp(4, 4, 1)));
        }
        projects::Project project = pictures("d");
        QVERIFY2(errorOf(project).find("set path to " + (m_folder / "d/train").string()) != std::string::npos,
                 errorOf(project).c_str());
        QVERIFY(Dataset::open(project, m_folder, {}, {ReadingVersion::First, {}}).ok());
        writeFile(m_folder / "t/train.txt", std::string(2000, 'a'));
        writeFile(m_folder / "t/test.txt", std::string(2000, 'a'));
        project.data.source = projects::TextData{"t", {}};
        QVERIFY(errorOf(project).find("parts train.txt and test.txt") != std::string::npos);
        QVERIFY(Dataset::open(project, m_folder, {}, {ReadingVersion::First, {}}).ok());
        project.data.source = projects::MixtureData{{{"t", "text", 1.0}}, {}};
        QVERIFY(errorOf(project).find("parts train.txt and test.txt") != std::string::npos);
        writeFile(m_folder / "b/train.bin", std::string(2000, '\0'));
        writeFile(m_folder / "b/val.bin", std::string(2000, '\0'));
        project.data.source = projects::TokenFileData{.path = "b", .validationPath = {}, .vocabulary = 300};
        QVERIFY(errorOf(project).find("set path to ") != std::string::npos);
    }

    void heldOutDataAreNotTrainedOn()
    {
        const auto refused = [&](const projects::Source& source) {
            projects::Project project;
            project.data.source = source;
            const std::string error = errorOf(project);
            return error.find("so nothing is held out") != std::string::npos;
        };
        for (const char* name : {"d/cat/0.png", "d/dog/0.png"}) {
            writeFile(m_folder / name, pngOf(ramp(4, 4, 1)));
        }
        const auto pictured = [&](const char* path, const char* validation) {
            projects::PictureData source = std::get<projects::PictureData>(pictures(path).data.source);
            source.validationPath = validation;
            return projects::Source(source);
        };
        fs::create_directory_symlink("d", m_folder / "link");
        for (const char* validation : {"d", "./d", "link"}) {
            QVERIFY2(refused(pictured("d", validation)), validation);
        }
        writeFile(m_folder / "cifar/data_batch_1.bin", cifarOf({1, 2, 0}));
        QVERIFY(refused(pictured("cifar", "cifar")));
        writeFile(m_folder / "cifar/test_batch.bin", cifarOf({2, 1, 0}));
        QVERIFY(!refused(pictured("cifar", "cifar")));
        writeFile(m_folder / "mnist/train-images-idx3-ubyte", idxOf(12, 8));
        writeFile(m_folder / "mnist/train-labels-idx1-ubyte", idxLabels(12));
        QVERIFY(refused(pictured("mnist", "mnist")));
        writeFile(m_folder / "t.csv", "text,label\none,a\ntwo,b\n");
        fs::create_hard_link(m_folder / "t.csv", m_folder / "hard.csv");
        fs::create_symlink("t.csv", m_folder / "soft.csv");
        for (const char* validation : {"t.csv", "hard.csv", "soft.csv"}) {
            projects::LabelledTextData texts;
            texts.path = "t.csv";
            texts.validationPath = validation;
            QVERIFY2(refused(texts), validation);
        }
        writeFile(m_folder / "tok/a.bin", std::string(4000, '\1'));
        QVERIFY(refused(projects::TokenFileData{.path = "tok", .validationPath = "tok/a.bin", .vocabulary = 300}));
        projects::Project project;
        project.data.source = pictured("d", "d");
        QVERIFY(Dataset::open(project, m_folder, {}, {ReadingVersion::First, {}}).ok());
    }

    /// The header of numpy.save's files is read, whatever the file's name. Other types are named in the refusal.
    void numpyArraysAreTokens()
    {
        const auto array = [](const std::string& type, const std::string& shape, const std::string& numbers) {
            std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
            header += std::string(118 - header.size() - 1, ' ') + "\n";
            return "\x93NUMPY\1" + std::string(1, '\0') + "\x76" + std::string(1, '\0') + header + numbers;
        };
        std::string numbers;
        for (int i = 0; i < 1000; ++i) {
            numbers += tests::littleEndian(static_cast<std::uint64_t>(i % 200), 2);
        }
        projects::Project project;
        project.training.sequenceLength = 16;
        for (const char* name : {"t.bin", "t.npy", "t.dat", "t.txt", "t.csv", "t.jsonl"}) {
            writeFile(m_folder / name, array("<u2", "(1000,)", numbers));
            const auto source = dataAt(m_folder / name);
            QVERIFY(source && std::holds_alternative<projects::TokenFileData>(*source));
            project.data.source = projects::TokenFileData{.path = name, .validationPath = {}, .vocabulary = 300};
            const auto dataset = Dataset::open(project, m_folder);
            QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
            QCOMPARE((*dataset)->size(Split::Train) + (*dataset)->size(Split::Validation), 1000);
            Batch batch;
            QVERIFY((*dataset)->fillSequential(batch, Split::Train, 0, 1).ok());
            QCOMPARE(batch.values<std::int64_t>(0)[3], std::int64_t{3});
        }
        project.data.source = projects::TokenFileData{.path = "x.bin", .validationPath = {}, .vocabulary = 300};
        const struct {
            std::string bytes;
            const char* message;
        } cases[] = {{array("<i8", "(250,)", numbers), "is a NumPy array of '<i8'"},
                     {array("<u2", "(1001,)", numbers), "truncated"},
                     {"PK\3\4" + std::string(22, '\0') + tests::littleEndian(9, 2) + std::string(2, '\0') +
                          "arr_0.npy" + std::string(40, 'x'),
                      "is a NumPy archive"},
                     {"PK\3\4" + std::string(22, '\0') + tests::littleEndian(10, 2) + std::string(2, '\0') +
                          "m/data.pkl" + std::string(40, 'x'),
                      "is a PyTorch file"}};
        for (const auto& [bytes, message] : cases) {
            writeFile(m_folder / "x.bin", bytes);
            const std::string error = errorOf(project);
            QVERIFY2(error.find(message) != std::string::npos, error.c_str());
        }
        writeFile(m_folder / "x.bin", array("<u2", "(1000,)", numbers));
        const auto earlier = Dataset::open(project, m_folder, {}, {ReadingVersion::First, {}});
        QVERIFY(!earlier || (*earlier)->size(Split::Train) + (*earlier)->size(Split::Validation) == 1064);
    }

    /// A check reads the first lines of large records and the first part of large texts.
    void largeDataAreCheckedAtTheirBeginning()
    {
        const auto readable = [&](const std::string& key, const std::string& last) {
            std::string lines;
            while (lines.size() < (std::size_t{12} << 20)) {
                lines += "{\"" + key + "\": \"" + std::string(2000, 'x') + "\"}\n";
            }
            writeFile(m_folder / "d.jsonl", lines + last);
            const projects::JsonLinesData source{.path = "d.jsonl", .tokeniser = {}};
            const Status alone = checkReadable(source, m_folder);
            const Status mixed = checkReadable(projects::MixtureData{{{"d.jsonl", "text", 1.0}}, {}}, m_folder);
            return alone.ok() == mixed.ok() ? (alone ? "ok" : alone.error().message) : "different answers";
        };
        QCOMPARE(readable("text", ""), std::string("ok"));
        QCOMPARE(readable("text", "no JSON"), std::string("ok")); // beyond what is looked at
        QVERIFY(readable("body", "").starts_with("has no field \"text\"; its fields are: body"));
        writeFile(m_folder / "t.txt", std::string(std::size_t{12} << 20, 'a') + "\xff");
        QVERIFY(checkReadable(projects::TextData{"t.txt", {}}, m_folder).ok());
        writeFile(m_folder / "t.txt", "\xff" + std::string(std::size_t{12} << 20, 'a'));
        QVERIFY(!checkReadable(projects::TextData{"t.txt", {}}, m_folder).ok());
    }

    void csvOfPictures_data()
    {
        QTest::addColumn<QString>("training");
        QTest::addColumn<QString>("validation");
        QTest::addColumn<int>("label");       // of the second picture for training
        QTest::addColumn<QString>("message"); // a note or an error
        QTest::newRow("label last") << QString::fromStdString(digitsCsv(false)) << QString() << 1 << QString();
        QTest::newRow("label first") << QString::fromStdString(digitsCsv(true)) << QString() << 1 << QString();
        QTest::newRow("header") << QString::fromStdString(digitsCsv(true, "\"Label\",1x1,1x2\n")) << QString() << 1
                                << QString();
        QTest::newRow("one class") << "7,0,200,3,0\n7,0,100,9,0\n"
                                   << QString() << 0 << "all 2 pictures have one class, 0";
        QTest::newRow("dark validation") << "0,16,8,200,3\n9,2,3,255,4\n"
                                         << "5,5,5,5,3\n5,5,5,9,4\n"
                                         << 4 << QString();
        QTest::newRow("bright validation") << "0,16,8,4,3\n1,2,3,4,4\n"
                                           << "5,5,5,255,3\n5,5,5,9,4\n"
                                           << 4 << "expected 0 … 16";
        QTest::newRow("signed") << "-1,1,0,0.5,3\n1,1,-0.5,0,4\n" << QString() << 4 << QString();
        QTest::newRow("signed bytes") << "-128,1,0,5,3\n1,127,5,0,4\n" << QString() << 4 << QString();
        QTest::newRow("out of any range") << "-300,1,0,5,3\n1,127,5,0,4\n" << QString() << 4 << "from -300 to 127";
        QTest::newRow("label missing") << "1.5,1,2,3,0.5\n0.5,1,2,3,1.5\n" << QString() << 0 << "has the label 0.5";
        QTest::newRow("either column") << "1,5,6,7,3\n2,8,9,4,4\n" << QString() << 4 << "label_column says which";
    }
    void csvOfPictures()
    {
        QFETCH(QString, training);
        QFETCH(QString, validation);
        QFETCH(int, label);
        QFETCH(QString, message);
        writeFile(m_folder / "t.csv", training.toStdString());
        writeFile(m_folder / "v.csv", validation.toStdString());
        projects::PictureData source{.path = "t.csv", .validationPath = validation.isEmpty() ? "" : "v.csv"};
        source.height = source.width = training.count(',') > 100 ? 4 : 2;
        source.channels = 1;
        projects::Project project;
        project.data.source = source;
        project.data.validationFraction = 0;
        const auto dataset = Dataset::open(project, m_folder);
        std::string told = dataset ? "" : dataset.error().text();
        for (std::size_t i = 0; dataset && i < (*dataset)->notes().size(); ++i) {
            told += (*dataset)->notes()[i] + "\n";
        }
        QVERIFY2(QString::fromStdString(told).contains(message), told.c_str());
        if (!dataset) {
            QVERIFY2(!message.isEmpty(), told.c_str());
            return;
        }
        Batch batch;
        QVERIFY((*dataset)->fillSequential(batch, Split::Train, 0, 2).ok());
        QCOMPARE(batch.values<std::int64_t>(1)[1], label);
        if (!validation.isEmpty()) { // 5 of 255, and not of 9
            QVERIFY((*dataset)->fillSequential(batch, Split::Validation, 0, 1).ok());
            QCOMPARE(std::lround(255 * (0.5F * batch.values<float>(0)[0] + 0.5F)), 5L);
        }
    }

    /// Labels from 1 to the number of classes, before and behind pixels of any value (EMNIST's letters). The number of
    /// classes is found whatever the project has.
    void labelsMayBeginAtOne()
    {
        for (const bool first : {true, false}) {
            std::string text;
            for (int row = 0; row < 104; ++row) {
                const std::string values =
                    std::to_string(row == 3 ? 34 : 0) + ",255,128," + std::to_string(row == 5 ? 200 : 0);
                const std::string label = std::to_string(1 + row % 26);
                text += (first ? label + "," + values : values + "," + label) + "\n";
            }
            writeFile(m_folder / "t.csv", text);
            for (const std::int64_t classes : {26, 27, 100}) {
                projects::PictureData source{.path = "t.csv", .validationPath = {}, .height = 2, .width = 2};
                source.channels = 1;
                source.classes = classes;
                projects::Project project;
                project.data = {source, 0, 0};
                const auto dataset = Dataset::open(project, m_folder);
                QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
                Batch batch;
                QVERIFY((*dataset)->fillSequential(batch, Split::Train, 0, 26).ok());
                const std::int64_t from = classes == 26 ? 0 : 1; // numbers of classes are kept where they fit
                QCOMPARE(batch.values<std::int64_t>(1)[7], 7 + from);
                QCOMPARE(std::lround(255 * (0.5F * batch.values<float>(0)[1] + 0.5F)), 255L);
            }
            for (const std::int64_t classes : {2, 5, 10, 26}) {
                projects::PictureData source;
                source.path = "t.csv";
                source.classes = classes;
                QCOMPARE(*countClasses(source, m_folder), std::optional<std::int64_t>(26));
            }
        }
    }

    /// A number of classes that is too small is refused, not fitted by a column of pixels.
    void tooFewClassesAreNoOtherColumn()
    {
        writeFile(m_folder / "t.csv", digitsCsv(true));
        projects::PictureData source{.path = "t.csv", .validationPath = {}, .height = 4, .width = 4, .channels = 1};
        source.classes = 5;
        projects::Project project;
        project.data = {source, 0, 0};
        const std::string error = errorOf(project);
        QVERIFY2(error.find("has 10 different classes") != std::string::npos, error.c_str());
    }

    void csvFollowsItsFields()
    {
        writeFile(m_folder / "t.csv", "1,5,6,7,3\n2,8,9,4,4\n");
        projects::PictureData source{.path = "t.csv", .validationPath = {}, .height = 2, .width = 2, .channels = 1};
        source.labelColumn = projects::LabelColumn::First;
        source.valueRange = projects::ValueRange::Byte;
        projects::Project project;
        project.data.source = source;
        project.data.validationFraction = 0;
        const auto dataset = Dataset::open(project, m_folder);
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        Batch batch;
        QVERIFY((*dataset)->fillSequential(batch, Split::Train, 0, 2).ok());
        QCOMPARE(batch.values<std::int64_t>(1), (std::vector<std::int64_t>{1, 2}));
        QCOMPARE(std::lround(255 * (0.5F * batch.values<float>(0)[0] + 0.5F)), 5L);
    }

private:
    static std::string contentFor(const std::string& name)
    {
        const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
        return ends(".png")                   ? pngOf(ramp(4, 4, 1))
               : ends("digits.csv")           ? digitsCsv(false)
               : ends(".csv")                 ? "text,label\n" + name + ",b\n"
               : ends(".tsv")                 ? "text\tlabel\n" + name + "\tb\n"
               : ends("batch.bin")            ? cifarOf({3, 4})
               : ends("batch_1.bin")          ? cifarOf({1, 2, 9})
               : ends(".bin.gz")              ? gzipOf(cifarOf({1, 2, 9}))
               : ends(".bin")                 ? std::string(400, '\1')
               : ends("idx3-ubyte")           ? idxOf(12, 28)
               : ends("idx1-ubyte")           ? idxLabels(12)
               : ends("images-idx3-ubyte.gz") ? gzipOf(idxOf(12, 28))
               : ends("labels-idx1-ubyte.gz") ? gzipOf(idxLabels(12))
               : ends(".jsonl")               ? "{\"text\": \"one\"}\n"
                                              : "some words";
    }

    /// Returns the kind and the paths of a source, below the folder.
    [[nodiscard]] QString described(const projects::Source& source) const
    {
        std::string text(projects::nameOf(source));
        projects::forEachPath(source, [&](const std::string& path) {
            text += path.empty() ? "" : " " + fs::path(path).lexically_relative(m_folder).string();
        });
        return QString::fromStdString(text);
    }

    static projects::Project pictures(const std::string& path)
    {
        projects::Project project;
        project.data.source = projects::PictureData{
            .path = path, .validationPath = {}, .height = 4, .width = 4, .channels = 1, .classes = 10};
        return project;
    }

    [[nodiscard]] std::string errorOf(const projects::Project& project) const
    {
        return tests::errorOf(Dataset::open(project, m_folder));
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_folder;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestDataAt)
#include "tst_data_at.moc"
