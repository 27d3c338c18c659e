// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures with labels as examples: what is split, changed, prepared ahead and refused.
#include "engine/base/api/data_summary.h"
#include "engine/data/pictures/picture.h"
#include "engine/data/sets/dataset.h"
#include "engine/data/sets/fingerprint.h"
#include "projects/base/text.h"
#include "tests/engine/data/pictures/picture_files.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

using namespace residua;
using namespace residua::engine;
namespace fs = std::filesystem;

namespace {

projects::Project drawnProject(std::int64_t samples)
{
    projects::Project project;
    project.data.source = projects::DrawnPictures{.size = 12, .samples = samples};
    project.data.testFraction = 0.05;
    project.data.augmentation = {.padding = 2, .flip = true};
    return project;
}

projects::PictureData filesAt(const std::string& path, const std::string& validationPath = {})
{
    return {.path = path, .validationPath = validationPath, .height = 2, .width = 2, .channels = 1, .classes = 3};
}

std::unique_ptr<Dataset> opened(const projects::Project& project, const fs::path& folder = {})
{
    auto dataset = Dataset::open(project, folder);
    return dataset ? *std::move(dataset) : nullptr;
}

class TestDatasetPictures : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
        qputenv("XDG_CACHE_HOME", m_temporary->filePath("cache").toUtf8());
    }

    void drawnPicturesAreExamples()
    {
        const projects::Project project = drawnProject(40);
        const auto dataset = opened(project);
        QVERIFY(dataset);
        QVERIFY(dataset->schema() == projects::examplesOf(project.data));
        const auto outline = Dataset::outline(project);
        QVERIFY(outline && outline->ok());
        for (int split = 0; split < kSplits; ++split) {
            QCOMPARE(dataset->size(static_cast<Split>(split)), (*outline)->sizes[static_cast<std::size_t>(split)]);
        }
        QCOMPARE(dataset->size(Split::Train), 40);
        QCOMPARE(dataset->size(Split::Validation), 4);
        QCOMPARE(dataset->size(Split::Test), 2);
        Batch batch;
        QVERIFY(dataset->fillSequential(batch, Split::Train, 0, 100).ok());
        QCOMPARE(batch.batch, 40);
        std::map<std::int64_t, int> counts;
        for (const std::int64_t label : batch.values<std::int64_t>(1)) {
            ++counts[label];
        }
        QCOMPARE(std::ssize(counts), 10);
        QVERIFY(std::ranges::all_of(counts, [](const auto& entry) { return entry.second == 4; }));
        const auto& values = batch.values<float>(0);
        QCOMPARE(std::ssize(values), 40 * 3 * 12 * 12);
        QVERIFY(std::ranges::all_of(values, [](float value) { return value >= -1 && value <= 1; }));
        QVERIFY(dataset->fillSequential(batch, Split::Validation, 1, 4).ok());
        QCOMPARE(batch.batch, 0);
    }

    /// A batch is the same whether it was prepared ahead, asked for again, or asked for first.
    void batchesFollowFromTheirIndex()
    {
        const projects::Project project = drawnProject(40);
        const auto dataset = opened(project);
        std::vector<Batch> batches(12);
        for (std::int64_t i = 0; i < 12; ++i) {
            QVERIFY(dataset->fill(batches[static_cast<std::size_t>(i)], Split::Train, 7, i, 8).ok());
        }
        const auto other = opened(project);
        for (const std::int64_t i : {9, 3, 4, 0, 11}) {
            Batch again;
            QVERIFY(other->fill(again, Split::Train, 7, i, 8).ok());
            QVERIFY(again.fields == batches[static_cast<std::size_t>(i)].fields);
        }
        QVERIFY(batches[0].fields != batches[5].fields); // the first batch of the next epoch
        Batch another;
        QVERIFY(other->fill(another, Split::Train, 8, 0, 8).ok());
        QVERIFY(another.fields != batches[0].fields);
    }

    void changesAreForTrainingAlone()
    {
        projects::Project project = drawnProject(10);
        Batch changed;
        Batch plain;
        QVERIFY(opened(project)->fill(changed, Split::Train, 1, 0, 10).ok());
        Batch validated;
        QVERIFY(opened(project)->fillSequential(validated, Split::Validation, 0, 1).ok());
        project.data.augmentation = {};
        QVERIFY(opened(project)->fill(plain, Split::Train, 1, 0, 10).ok());
        QVERIFY(plain.fields[0] != changed.fields[0]);
        QVERIFY(plain.fields[1] == changed.fields[1]);
        Batch same;
        QVERIFY(opened(project)->fillSequential(same, Split::Validation, 0, 1).ok());
        QVERIFY(same.fields == validated.fields);
    }

    /// A mixed batch is the one that is not mixed, each example with the one before it, by the batch's share.
    void batchesAreMixed()
    {
        projects::Project project = drawnProject(40);
        project.training.batch = 8; // a step, within which rows are mixed
        const auto plain = opened(project);
        project.data.augmentation.mixup = 0.4;
        const auto mixes = opened(project);
        QCOMPARE(std::ssize(mixes->schema().fields), 4);
        QVERIFY(mixes->schema() == projects::examplesOf(project.data));
        QVERIFY(mixes->schema().conditions().empty()); // no graph reads them
        std::set<float> shares;
        for (std::int64_t index = 0; index < 4; ++index) {
            Batch before;
            Batch mixed;
            QVERIFY(plain->fill(before, Split::Train, 3, index, 8).ok());
            QVERIFY(mixes->fill(mixed, Split::Train, 3, index, 8).ok());
            const auto& labels = before.values<std::int64_t>(1);
            QVERIFY(mixed.values<std::int64_t>(1) == labels);
            const std::vector<float>& share = mixed.values<float>(3);
            QVERIFY(std::ranges::count(share, share.front()) == 8 && share.front() >= 0 && share.front() <= 0.5F);
            shares.insert(share.front());
            const std::size_t size = 3 * 12 * 12;
            for (std::size_t i = 0; i < 8; ++i) {
                const std::size_t other = (i + 7) % 8;
                QCOMPARE(mixed.values<std::int64_t>(2)[i], labels[other]);
                for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
                    const auto& inputs = before.values<float>(0);
                    const float expected =
                        (1 - share[i]) * inputs[i * size + at] + share[i] * inputs[other * size + at];
                    QVERIFY(std::abs(mixed.values<float>(0)[i * size + at] - expected) < 1e-5F);
                }
            }
        }
        QCOMPARE(std::ssize(shares), 4);
        Batch held;
        Batch same;
        QVERIFY(mixes->fillSequential(held, Split::Validation, 0, 4).ok());
        QVERIFY(plain->fillSequential(same, Split::Validation, 0, 4).ok());
        QVERIFY(held.values<float>(0) == same.values<float>(0));
        QVERIFY(held.values<std::int64_t>(2) == held.values<std::int64_t>(1));
        QVERIFY(held.values<float>(3) == std::vector<float>(4, 0.0F));
        Batch again;
        Batch first;
        QVERIFY(mixes->fill(again, Split::Train, 3, 2, 8).ok()); // asked for out of order
        QVERIFY(opened(project)->fill(first, Split::Train, 3, 2, 8).ok());
        QVERIFY(again.fields == first.fields);
    }

    /// The first batch of training for people: each picture after its changes, with its classes and their shares.
    void theFirstBatchIsShown()
    {
        projects::Project project = drawnProject(40);
        project.training.batch = 5;
        project.data.augmentation.meanGreen = 0.1;
        project.data.augmentation.deviationBlue = 0.3;
        const auto fed = firstFedBatch(project, {}, 100);
        QVERIFY(fed.ok());
        QCOMPARE(std::ssize(fed->examples), 5);
        QCOMPARE(fed->columns, 3);
        Batch batch;
        const auto dataset = opened(project);
        QVERIFY(dataset->fill(batch, Split::Train, project.seeds.order, 0, 5).ok());
        const auto sheet = decodePng(std::as_bytes(std::span(fed->sheet)));
        QVERIFY(sheet.ok() && (sheet->form == PictureForm{2 * 14 - 2, 3 * 14 - 2, 3}));
        for (std::int64_t i = 0; i < 5; ++i) {
            QCOMPARE(
                fed->examples[static_cast<std::size_t>(i)].target,
                dataset
                    ->classes()[static_cast<std::size_t>(batch.values<std::int64_t>(1)[static_cast<std::size_t>(i)])]);
            // The centre of the picture, put back by hand: (x · deviation + mean) · 255 of each channel.
            const auto value = [&](std::int64_t channel, double mean, double deviation) {
                const auto at = static_cast<std::size_t>(((i * 3 + channel) * 12 + 6) * 12 + 6);
                return std::lround(255 * (batch.values<float>(0)[at] * deviation + mean));
            };
            const std::int64_t pixel = ((i / 3 * 14 + 6) * sheet->form.width + i % 3 * 14 + 6) * 3;
            const auto shown = [&](std::int64_t channel) {
                return static_cast<long>(sheet->values[static_cast<std::size_t>(pixel + channel)]);
            };
            QCOMPARE(shown(0), value(0, 0.5, 0.5));
            QCOMPARE(shown(1), value(1, 0.1, 0.5));
            QCOMPARE(shown(2), value(2, 0.5, 0.3));
        }
        project.data.augmentation.mixup = 0.4;
        const auto mixed = firstFedBatch(project, {}, 2);
        QVERIFY(mixed.ok());
        QCOMPARE(std::ssize(mixed->examples), 2);
        QVERIFY(mixed->examples[0].target.find(" + ") != std::string::npos);
    }

    void foldersAreSplit()
    {
        for (int i = 0; i < 20; ++i) {
            write((i % 2 ? "data/a/" : "data/b/") + std::to_string(i) + ".png", static_cast<std::uint8_t>(10 * i));
        }
        projects::Project project;
        project.data.source = filesAt("data");
        project.data.validationFraction = 0.25;
        const auto dataset = opened(project, m_folder);
        QVERIFY(dataset);
        QCOMPARE(dataset->size(Split::Train), 15);
        QCOMPARE(dataset->size(Split::Validation), 5);
        const auto found = dataAt(m_folder / "data");
        QVERIFY(found && std::holds_alternative<projects::PictureData>(*found));
        QCOMPARE(std::get<projects::PictureData>(*found).classes, 2);
        std::set<float> seen;
        for (const Split split : {Split::Train, Split::Validation}) {
            Batch batch;
            QVERIFY(dataset->fillSequential(batch, split, 0, 20).ok());
            for (std::int64_t row = 0; row < batch.batch; ++row) {
                const float value = batch.values<float>(0)[static_cast<std::size_t>(4 * row)];
                const auto number = std::lround((value + 1) * 127.5F / 10);
                QCOMPARE(batch.values<std::int64_t>(1)[static_cast<std::size_t>(row)], number % 2 ? 0 : 1);
                seen.insert(value);
            }
        }
        QCOMPARE(std::ssize(seen), 20);
        QVERIFY(dataset->notes().front().find("a, b") != std::string::npos);

        const auto before = fingerprintOf(project, m_folder);
        QVERIFY(before.ok());
        write("data/a/1.png", 99);
        QVERIFY(differenceOf(*before, *fingerprintOf(project, m_folder)).has_value());
    }

    /// However many pictures the first class has.
    void aPreviewHasEveryClass()
    {
        for (int i = 0; i < 30; ++i) {
            const char* const folder = i < 20 ? "data/a/" : i < 28 ? "data/b/" : "data/c/";
            write(folder + std::to_string(i) + ".png", static_cast<std::uint8_t>(i));
        }
        projects::Project project;
        project.data.source = filesAt("data");
        project.data.validationFraction = 0;
        const auto preview = previewData(project, m_folder, {});
        QVERIFY2(preview.ok(), preview ? "" : preview.error().text().c_str());
        std::string shown;
        for (const FedExample& example : preview->first.examples) {
            shown += example.target;
        }
        QCOMPARE(shown, std::string("abcabcababab")); // c has two
    }

    void badPicturesAreNamedOrSkipped()
    {
        write("data/a/1.png", 1);
        write("data/a/2.png", 2);
        writeFile(m_folder / "data/a/bad.png", "no picture");
        fs::create_directories(m_folder / "data/b");
        projects::Project project;
        project.data.source = filesAt("data");
        project.data.validationFraction = 0;
        QVERIFY(errorOf(project).find("data/b] has no pictures") != std::string::npos);
        write("data/b/3.png", 3);
        QVERIFY(errorOf(project).find("data/a/bad.png] is not a picture") != std::string::npos);
        fs::remove(m_folder / "data/b/3.png");
        std::get<projects::PictureData>(project.data.source).skipBad = true;
        const auto dataset = opened(project, m_folder);
        QVERIFY(dataset);
        QCOMPARE(dataset->size(Split::Train), 2);
        const auto notes = dataset->notes();
        QVERIFY(std::ranges::any_of(notes, [](const std::string& note) {
            return note.starts_with("left out as bad: 2, ") && note.find("bad.png") != std::string::npos &&
                   note.find("data/b") != std::string::npos;
        }));
    }

    void transparencyIsNotedOnce()
    {
        const auto notes = [&] {
            projects::Project project;
            project.data = {filesAt("data", "held"), 0, 0};
            const auto dataset = opened(project, m_folder);
            std::string told;
            for (const std::string& note : dataset ? dataset->notes() : std::vector<std::string>()) {
                told += note.find("transparency") != std::string::npos ? note + ";" : "";
            }
            return told;
        };
        const auto writeOne = [&](const char* name, std::uint8_t opacity) {
            const std::vector<std::uint8_t> values{9, 8, 7, opacity, 9, 8, 7, 255, 9, 8, 7, 255, 9, 8, 7, 255};
            writeFile(m_folder / name, pngOf({{2, 2, 4}, values}));
        };
        write("data/a/1.png", 1);
        write("held/a/2.png", 2);
        writeOne("data/a/3.png", 255); // has opacity, but all of it
        QCOMPARE(notes(), std::string());
        writeOne("data/a/4.png", 254);
        QCOMPARE(notes(), std::string("1 picture has transparency; it is put on black;"));
        writeOne("held/a/5.png", 0);
        QCOMPARE(notes(), std::string("2 pictures have transparency; they are put on black;"));
    }

    void classesOfCifarHaveTheirNames_data()
    {
        QTest::addColumn<QByteArray>("names"); // the file beside the records
        QTest::addColumn<QByteArray>("known"); // names of the network's classes
        QTest::addColumn<QByteArray>("classes");
        QTest::addColumn<QByteArray>("note");
        const QByteArray ten("h g f e d c b a i j");
        const QByteArray numbers("0 1 2 3 4 5 6 7 8 9");
        const QByteArray lines = QByteArray(ten).replace(' ', '\n');
        QTest::newRow("no file") << QByteArray() << QByteArray() << numbers << QByteArray();
        QTest::newRow("names") << lines << QByteArray() << ten << QByteArray("in the order of the outputs: h, g");
        QTest::newRow("blank lines") << QByteArray("\r\n") + QByteArray(lines).replace('\n', "\r\n") + "\n\n"
                                     << QByteArray() << ten << QByteArray();
        QTest::newRow("a run with numbers") << lines << numbers << numbers << QByteArray();
        QTest::newRow("a run with these names") << lines << ten << ten << QByteArray();
        QTest::newRow("too few") << QByteArray("a\nb\n") << QByteArray() << numbers
                                 << QByteArray("has 2 different names, expected 10");
        QTest::newRow("the same twice") << QByteArray(lines).replace("j", "i") << QByteArray() << numbers
                                        << QByteArray("has 9 different names, expected 10");
        QTest::newRow("no UTF-8") << QByteArray(lines).replace("j", "\xff") << QByteArray() << numbers
                                  << QByteArray("is not valid UTF-8");
        QTest::newRow("too large") << lines + QByteArray(20000, '\n') << QByteArray() << numbers
                                   << QByteArray("bytes, expected at most");
    }
    void classesOfCifarHaveTheirNames()
    {
        QFETCH(QByteArray, names);
        QFETCH(QByteArray, known);
        QFETCH(QByteArray, classes);
        QFETCH(QByteArray, note);
        const auto listed = [](const QByteArray& text) {
            std::vector<std::string> list;
            for (const QByteArray& word : text.isEmpty() ? QByteArrayList() : text.split(' ')) {
                list.push_back(word.toStdString());
            }
            return list;
        };
        for (const char* const file : {"data_batch_1.bin", "test_batch.bin"}) {
            std::string records;
            for (int label = 0; label < 10; ++label) {
                records += static_cast<char>(label) + std::string(3072, static_cast<char>(20 * label));
            }
            writeFile(m_folder / "cifar" / file, records);
        }
        if (!names.isEmpty()) {
            writeFile(m_folder / "cifar/batches.meta.txt", names.toStdString());
        }
        projects::Project project;
        project.data = {*dataAt(m_folder / "cifar"), 0, 0};
        const auto dataset = Dataset::open(project, m_folder, {}, {kNewestReading, listed(known)});
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        QCOMPARE((*dataset)->classes(), listed(classes));
        std::string notes;
        for (const std::string& each : (*dataset)->notes()) {
            notes += each + "\n";
        }
        QVERIFY2(notes.find(note.toStdString()) != std::string::npos, notes.c_str());
        Batch batch; // the numbers stay those of the file
        QVERIFY((*dataset)->fillSequential(batch, Split::Validation, 0, 10).ok());
        for (std::int64_t label = 0; label < 10; ++label) {
            QCOMPARE(batch.values<std::int64_t>(1)[static_cast<std::size_t>(label)], label);
        }
    }

    void classesOfEmnistHaveTheirCharacters_data()
    {
        QTest::addColumn<QByteArray>("mapping");
        QTest::addColumn<QByteArray>("known"); // names of the network's classes
        QTest::addColumn<QByteArray>("classes");
        QTest::addColumn<QByteArray>("note");
        const QByteArray letters("1 65 97\n2 66 98\r\n\n3 67 99\n");
        const QByteArray numbers("1 2 3");
        QTest::newRow("no file") << QByteArray() << QByteArray() << numbers << QByteArray();
        QTest::newRow("two cases") << letters << QByteArray() << QByteArray("Aa Bb Cc") << QByteArray();
        QTest::newRow("another order") << QByteArray("3 67\n1 90\n2 66") << QByteArray() << QByteArray("Z B C")
                                       << QByteArray();
        QTest::newRow("a run with numbers") << letters << numbers << numbers << QByteArray();
        QTest::newRow("a run with these names")
            << letters << QByteArray("Aa Bb Cc") << QByteArray("Aa Bb Cc") << QByteArray();
        QTest::newRow("a run with numbers, and a character that is one")
            << QByteArray("1 50\n2 65\n3 66") << numbers << numbers << QByteArray();
        const auto bad = [&](const char* name, const QByteArray& mapping, const char* note) {
            QTest::newRow(name) << mapping << QByteArray() << numbers << QByteArray(note);
        };
        bad("a gap", "1 65\n3 67", "has no line for class 2");
        bad("too few", "1 65\n2 66", "has no line for class 3");
        bad("from 2", "2 65\n3 66", "has no line for class 1");
        bad("twice", "1 65\n2 66\n2 67\n3 68", "has two lines for class 2");
        bad("no number", "1 65\n2 B\n3 67", "has \"B\" for class 2");
        bad("no class", "1 65\nB 66\n3 67", "has the line \"B 66\"");
        bad("no code", "1 65\n2\n3 67", "has the line \"2\"");
        bad("a control character", "1 65\n2 7\n3 67", "has \"7\" for class 2");
        bad("no ASCII", "1 65\n2 300\n3 67", "has \"300\" for class 2");
        bad("one name twice", "1 65\n2 65\n3 67", "has 2 different names, expected 3");
        bad("too long a name", "1 65\n2 66 66 66 66 66 66 66 66 66\n3 67", "has the line \"2 66");
        bad("too long", letters + QByteArray(20000, '\n'), "bytes, expected at most");
    }
    void classesOfEmnistHaveTheirCharacters()
    {
        QFETCH(QByteArray, mapping);
        QFETCH(QByteArray, known);
        QFETCH(QByteArray, classes);
        QFETCH(QByteArray, note);
        using namespace std::string_literals;
        for (const std::string part : {"train", "test"}) {
            const std::string set = "emnist-letters-" + part;
            writeFile(m_folder / (set + "-images-idx3-ubyte"),
                      "\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02"s + std::string(12, 'a'));
            writeFile(m_folder / (set + "-labels-idx1-ubyte"), "\0\0\x08\x01\0\0\0\x03\x01\x02\x03"s);
        }
        if (!mapping.isEmpty()) {
            writeFile(m_folder / "emnist-letters-mapping.txt", mapping.toStdString());
        }
        std::vector<std::string> names;
        for (const QByteArray& name : known.isEmpty() ? QByteArrayList() : known.split(' ')) {
            names.push_back(name.toStdString());
        }
        projects::Project project;
        project.data = {*dataAt(m_folder / "emnist-letters-train-images-idx3-ubyte"), 0, 0};
        const auto dataset = Dataset::open(project, m_folder, {}, {kNewestReading, names});
        QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
        QCOMPARE(joinedText((*dataset)->classes(), " "), classes.toStdString());
        QVERIFY2(joinedText((*dataset)->notes(), "; ").find(note.toStdString()) != std::string::npos,
                 joinedText((*dataset)->notes(), "; ").c_str());
        Batch batch;
        for (const Split split : {Split::Train, Split::Validation}) {
            QVERIFY((*dataset)->fillSequential(batch, split, 0, 3).ok());
            QCOMPARE(batch.values<std::int64_t>(1), (std::vector<std::int64_t>{0, 1, 2}));
        }
        // A network with such names would take the numbers for those of its own classes.
        const auto named = Dataset::open(project, m_folder, {}, {kNewestReading, {"Aa", "Bb", "Cc", "Dd"}});
        QVERIFY(note.isEmpty() || (!named && named.error().text().find(note.toStdString()) != std::string::npos));
    }

    void classesMustAgree()
    {
        write("train/a/1.png", 1);
        write("train/b/1.png", 1);
        write("val/a/1.png", 1);
        write("val/c/1.png", 1);
        projects::Project project;
        project.data.source = filesAt("train", "val");
        QVERIFY(errorOf(project).find("val] has the class \"c\"") != std::string::npos);
        fs::rename(m_folder / "val/c", m_folder / "val/b");
        const auto dataset = opened(project, m_folder);
        QVERIFY(dataset);
        QCOMPARE(dataset->size(Split::Train), 2);
        QCOMPARE(dataset->size(Split::Validation), 2);
        write("train/c/1.png", 1);
        write("train/d/1.png", 1);
        QVERIFY(errorOf(project).find("has 4 different classes") != std::string::npos);
    }

    /// Folders have the numbers of the network's classes, and names that are numbers those numbers.
    void foldersAreThoseOfTheNetwork()
    {
        write("data/cow/1.png", 1);
        write("data/bee/1.png", 1);
        write("digits/2/1.png", 1);
        write("digits/10/1.png", 1);
        const auto labelsOf = [&](const char* folder, const Reading& reading) {
            projects::Project project;
            project.data = {filesAt(folder), 0, 0};
            const auto dataset = Dataset::open(project, m_folder, {}, reading);
            Batch batch;
            return dataset && (*dataset)->fillSequential(batch, Split::Train, 0, 2) ? batch.values<std::int64_t>(1)
                                                                                    : std::vector<std::int64_t>();
        };
        using Labels = std::vector<std::int64_t>; // in the order of the folders' names as text
        QCOMPARE(labelsOf("data", {kNewestReading, {"ant", "bee", "cow"}}), (Labels{1, 2}));
        QCOMPARE(labelsOf("data", {}), (Labels{0, 1}));
        QCOMPARE(labelsOf("data", {kNewestReading, {"ant", "bee"}}), Labels());
        QCOMPARE(labelsOf("digits", {}), (Labels{1, 0}));                          // 10, then 2
        QCOMPARE(labelsOf("digits", {ReadingVersion::First, {}}), (Labels{0, 1})); // as text
    }

    /// A picture that is given alone reaches the network as it would from the data, by their fit and reading.
    void aPictureAloneIsPreparedAsTheData()
    {
        std::vector<std::uint8_t> values;
        for (int i = 0; i < 2 * 6 * 4; ++i) {
            values.push_back(static_cast<std::uint8_t>(i * 53 % 256));
        }
        const Picture wide{{2, 6, 4}, values}; // with opacity
        writeFile(m_folder / "data/a/1.png", pngOf(wide));
        write("data/b/1.png", 1);
        std::set<std::vector<float>> inputs;
        for (const projects::PictureFit fit : {projects::PictureFit::Crop, projects::PictureFit::Stretch}) {
            for (const ReadingVersion reading : {ReadingVersion::First, kNewestReading}) {
                projects::PictureData source = filesAt("data");
                source.fit = fit;
                projects::Project project;
                project.data = {source, 0, 0};
                const auto dataset = Dataset::open(project, m_folder, {}, {reading, {}});
                QVERIFY2(dataset.ok(), dataset ? "" : dataset.error().text().c_str());
                Batch batch;
                Batch alone;
                QVERIFY((*dataset)->fillSequential(batch, Split::Train, 0, 1).ok());
                const Result<std::string> note = (*dataset)->fillText(alone, (m_folder / "data/a/1.png").string());
                QVERIFY2(note.ok(), note ? "" : note.error().text().c_str());
                QCOMPARE(note->empty(), reading == ReadingVersion::First);
                QCOMPARE(alone.values<float>(0), batch.values<float>(0));
                inputs.insert(alone.values<float>(0));
            }
        }
        QCOMPARE(inputs.size(), std::size_t{4});
    }

private:
    /// Writes a picture of 2 × 2 equal values.
    void write(const std::string& name, std::uint8_t value) const
    {
        writeFile(m_folder / name, pngOf({{2, 2, 1}, std::vector<std::uint8_t>(4, value)}));
    }

    [[nodiscard]] std::string errorOf(const projects::Project& project) const
    {
        return tests::errorOf(Dataset::open(project, m_folder));
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_folder;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestDatasetPictures)
#include "tst_dataset_pictures.moc"
