// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/pictures/picture.h"
#include "engine/data/pictures/picture_set.h"
#include "projects/base/random.h"
#include "tests/engine/data/pictures/picture_files.h"
#include "tests/support/file_bytes.h"
#include "tests/support/refusal.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

using namespace residua;
using namespace residua::engine;
using residua::tests::gzipOf;
namespace fs = std::filesystem;

namespace {

std::string errorOf(const fs::path& path, ReadingVersion reading = kNewestReading)
{
    return tests::errorOf(readPicture(path, reading));
}

std::string setErrorOf(const fs::path& path)
{
    return tests::errorOf(openPictures(path));
}

std::string bigEndian(std::uint32_t value)
{
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) {
        text.push_back(static_cast<char>(value >> shift & 255U));
    }
    return text;
}

class TestPictures : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
    }

    void formatsAreRead()
    {
        for (const std::int64_t channels : {1, 3}) {
            const Picture picture = ramp(5, 7, channels);
            writeFile(m_folder / "a.png", pngOf(picture));
            const auto png = readPicture(m_folder / "a.png");
            QVERIFY2(png.ok(), png ? "" : png.error().text().c_str());
            QVERIFY(png->form == picture.form && png->values == picture.values);
        }
        const Picture colour = ramp(5, 7, 3);
        writeFile(m_folder / "a.webp", webpOf(colour));
        const auto webp = readPicture(m_folder / "a.webp");
        QVERIFY2(webp.ok(), webp ? "" : webp.error().text().c_str());
        QVERIFY(webp->form == colour.form && webp->values == colour.values);
        const Picture flat{{9, 6, 1}, std::vector<std::uint8_t>(54, 130)};
        writeFile(m_folder / "a.JPG", jpegOf(flat));
        const auto jpeg = readPicture(m_folder / "a.JPG");
        QVERIFY2(jpeg.ok(), jpeg ? "" : jpeg.error().text().c_str());
        QVERIFY(jpeg->form == flat.form && jpeg->values == flat.values);
    }

    void transparentPixelsAreLaidOnBlack()
    {
        writeFile(m_folder / "a.png", pngOf({{1, 3, 4}, {10, 20, 30, 0, 10, 20, 30, 255, 10, 20, 200, 100}}));
        const auto picture = readPicture(m_folder / "a.png");
        QVERIFY(picture.ok());
        QCOMPARE(picture->values, (std::vector<std::uint8_t>{0, 0, 0, 10, 20, 30, 4, 8, 78}));
        const auto earlier = readPicture(m_folder / "a.png", ReadingVersion::First);
        QVERIFY(earlier.ok());
        QCOMPARE(earlier->values[0], std::uint8_t{255});
    }

    /// Of 16 bits the upper 8 are kept; a chunk of gamma, which says that values are linear, changes nothing.
    void valuesAreAsTheyAreStored()
    {
        writeFile(m_folder / "deep.png", deepPng());
        const auto deep = readPicture(m_folder / "deep.png");
        QVERIFY2(deep.ok(), deep ? "" : deep.error().text().c_str());
        QCOMPARE(deep->values, (std::vector<std::uint8_t>{0, 60000 >> 8, 30000 >> 8, 0}));
        QVERIFY(errorOf(m_folder / "deep.png", ReadingVersion::First).find("16 bits") != std::string::npos);
        const Picture picture = ramp(5, 7, 3);
        std::string bytes = pngOf(picture);
        bytes.insert(33, std::string("\0\0\0\4gAMA\0\1\x86\xa0\x31\xe8\x96\x5f", 16)); // 1.0
        writeFile(m_folder / "gamma.png", bytes);
        const auto gamma = readPicture(m_folder / "gamma.png");
        QVERIFY2(gamma.ok(), gamma ? "" : gamma.error().text().c_str());
        QCOMPARE(gamma->values, picture.values);
    }

    /// The eight orientations of EXIF, by hand: where the upper left, upper right and lower left pixels go.
    void orientationsAreApplied()
    {
        const Picture stored{{2, 3, 1}, {1, 2, 3, 4, 5, 6}};
        const std::vector<std::uint8_t> expected[] = {{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1},
                                                      {4, 5, 6, 1, 2, 3}, {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3},
                                                      {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
        for (int orientation = 1; orientation <= 8; ++orientation) {
            const Picture turned = upright(stored, orientation);
            QCOMPARE(turned.values, expected[orientation - 1]);
            QCOMPARE(turned.form.height, orientation < 5 ? 2 : 3);
            // A directory of one entry, in either order of bytes.
            const char number = static_cast<char>(orientation);
            const std::string big =
                std::string("MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0", 19) + number + std::string(6, '\0');
            const std::string little =
                std::string("II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0", 18) + number + std::string(7, '\0');
            for (const std::string& block : {big, little, std::string("Exif\0\0", 6) + little}) {
                QCOMPARE(orientationIn(std::as_bytes(std::span(block))), orientation);
                for (std::size_t size = 0; size < block.size(); ++size) {
                    QVERIFY(orientationIn(std::as_bytes(std::span(block)).first(size)) <= 8);
                }
            }
        }
        QCOMPARE(orientationIn({}), 1);
    }

    void badFilesAreNamed()
    {
        const std::string png = pngOf(ramp(20, 20, 3));
        const std::string jpeg = jpegOf(ramp(40, 40, 3));
        const std::string webp = webpOf(ramp(20, 20, 3));
        std::string animated = png;
        animated.insert(33, bigEndian(8) + "acTL" + std::string(12, '\0'));
        std::string flat = png;
        flat.replace(16, 4, 4, '\0');
        const struct {
            const char* name;
            std::string bytes;
            const char* message;
        } cases[] = {{"empty.png", "", "is empty"},
                     {"short.png", png.substr(0, png.size() / 2), "is truncated"},
                     {"head.png", png.substr(0, 20), "is truncated"},
                     {"short.jpg", jpeg.substr(0, jpeg.size() / 2), "is truncated"},
                     {"short.webp", webp.substr(0, webp.size() / 2), "is truncated"},
                     {"moving.png", animated, "is animated"},
                     {"moving.webp", animatedWebp(), "is animated"},
                     {"x.bmp", "BM______________", "is BMP, expected PNG, JPEG or WebP"},
                     {"x.heic", std::string("\0\0\0\x18", 4) + "ftypheic________", "is HEIC, expected PNG"},
                     {"print.jpg", cmykJpegOf(ramp(8, 8, 4)), "is CMYK"},
                     {"flat.png", flat, "has no pixels"},
                     {"other.jpg", png, "is PNG, but its name does not end in .png"},
                     {"other.png", webp, "is WebP, but its name does not end in .webp"},
                     {"moving.gif", "GIF89a__________", "is GIF, expected PNG, JPEG or WebP"},
                     {"text.png", "no picture at all", "is not a picture"}};
        for (const auto& [name, bytes, message] : cases) {
            writeFile(m_folder / name, bytes);
            const std::string error = errorOf(m_folder / name);
            QVERIFY2(error.find(message) != std::string::npos, error.c_str());
            QVERIFY2(error.find((m_folder / name).string()) != std::string::npos, error.c_str());
        }
    }

    void damagedBytesNeverCrash()
    {
        RandomStream random(1, 2);
        for (const auto& [name, whole] :
             {std::pair("a.png", pngOf(ramp(12, 12, 3))), std::pair("a.jpg", jpegOf(ramp(12, 12, 3))),
              std::pair("a.webp", webpOf(ramp(12, 12, 3)))}) {
            for (int i = 0; i < 200; ++i) {
                std::string bytes = whole;
                for (int k = 0; k < 4; ++k) {
                    bytes[static_cast<std::size_t>(random.below(std::ssize(bytes)))] =
                        static_cast<char>(random.below(256));
                }
                writeFile(m_folder / name, bytes);
                const auto picture = readPicture(m_folder / name);
                QVERIFY(!picture || std::ssize(picture->values) == picture->form.values());
            }
        }
    }

    void picturesAreFitted()
    {
        const Picture flat{{10, 30, 1}, std::vector<std::uint8_t>(300, 77)};
        const Picture small = fitted(flat, {4, 4, 3});
        QVERIFY((small.form == PictureForm{4, 4, 3}));
        QCOMPARE(small.values, std::vector<std::uint8_t>(48, 77));
        // Keeps the centre of what does not fit.
        Picture wide{{2, 6, 1}, {0, 0, 10, 20, 0, 0, 0, 0, 30, 40, 0, 0}};
        QCOMPARE(fitted(wide, {2, 2, 1}).values, (std::vector<std::uint8_t>{10, 20, 30, 40}));
        QCOMPARE(fitted({{1, 1, 3}, {255, 0, 0}}, {1, 1, 1}).values, (std::vector<std::uint8_t>{76}));
    }

    void foldersAreClasses()
    {
        for (const char* name : {"dog/b.png", "cat/deep/a.png", "cat/z.png"}) {
            writeFile(m_folder / name, pngOf(ramp(3, 3, 1)));
        }
        writeFile(m_folder / "cat/notes.txt", "x");
        fs::create_directories(m_folder / "empty");
        fs::create_directories(m_folder / ".hidden");
        const auto set = openPictures(m_folder);
        QVERIFY2(set.ok(), set ? "" : set.error().text().c_str());
        QCOMPARE(set->classes, (std::vector<std::string>{"cat", "dog", "empty"}));
        QCOMPARE(set->labels, (std::vector<std::int64_t>{0, 0, 1}));
        QCOMPARE(set->emptyClasses, (std::vector<std::string>{(m_folder / "empty").string()}));
        QCOMPARE(std::ssize(set->notes), 1);
        QVERIFY(set->read(2).ok());
    }

    void cifarIsRead()
    {
        const std::string pixels = std::string(1024, '\1') + std::string(1024, '\2') + std::string(1024, '\3');
        writeFile(m_folder / "ten/data_batch_1.bin", "\7" + pixels + "\1" + pixels);
        writeFile(m_folder / "ten/test_batch.bin", "\5" + pixels);
        const auto ten = openPictures(m_folder / "ten");
        QVERIFY2(ten.ok(), ten ? "" : ten.error().text().c_str());
        QCOMPARE(ten->labels, (std::vector<std::int64_t>{7, 1}));
        const auto picture = ten->read(1);
        QVERIFY((picture->form == PictureForm{32, 32, 3}));
        QCOMPARE(picture->values[5], std::uint8_t{3});
        QCOMPARE(openPictures(m_folder / "ten", {.use = PictureUse::HeldOut})->labels, (std::vector<std::int64_t>{5}));
        QCOMPARE(openPictures(m_folder / "ten/test_batch.bin")->labels, (std::vector<std::int64_t>{5}));

        writeFile(m_folder / "train.bin", "\4\x63" + pixels);
        QCOMPARE(openPictures(m_folder / "train.bin")->labels, (std::vector<std::int64_t>{99}));
        writeFile(m_folder / "bad.bin", "\1" + pixels + "\x0b" + pixels);
        QVERIFY(setErrorOf(m_folder / "bad.bin").find("record 2 has the label 11, expected 0 … 9") !=
                std::string::npos);
        writeFile(m_folder / "short.bin", "\1" + pixels.substr(1));
        QVERIFY(setErrorOf(m_folder / "short.bin").find("has 3072 bytes: is truncated") != std::string::npos);
    }

    /// A run of an earlier version reads the files that it began with.
    void theFirstReadingKeepsItsFiles()
    {
        const std::string pixels(3072, '\1');
        const auto labelsIn = [&](const char* folder, ReadingVersion reading, PictureUse use = PictureUse::Training) {
            const auto set = openPictures(m_folder / folder, {.use = use, .reading = reading});
            return set ? set->labels : std::vector<std::int64_t>{-1};
        };
        using Labels = std::vector<std::int64_t>;
        writeFile(m_folder / "names/my_test.bin", "\1" + pixels); // the word is not at the beginning
        writeFile(m_folder / "names/my_train.bin", "\2" + pixels);
        writeFile(m_folder / "names/test.bin", "\3" + pixels);
        QCOMPARE(labelsIn("names", kNewestReading), (Labels{2}));
        QCOMPARE(labelsIn("names", ReadingVersion::First), (Labels{1, 2}));
        QCOMPARE(labelsIn("names", ReadingVersion::First, PictureUse::HeldOut), (Labels{3}));
        writeFile(m_folder / "twins/a.bin", "\4" + pixels);
        writeFile(m_folder / "twins/a.bin.gz", gzipOf("\4" + pixels));
        QCOMPARE(labelsIn("twins", kNewestReading), (Labels{4}));
        QCOMPARE(labelsIn("twins", ReadingVersion::First), (Labels{4, 4}));
        // Records of CIFAR-100 that CIFAR-10's fill too.
        std::string hundred;
        for (int record = 0; record < 3073; ++record) {
            hundred += "\x0c\x22" + std::string(3072, '\x7f');
        }
        for (const char* name : {"one/a.bin", "one.bin"}) {
            writeFile(m_folder / name, hundred);
        }
        for (const char* name : {"one", "one.bin"}) {
            QCOMPARE(labelsIn(name, kNewestReading), Labels(3073, 0x22));
            QCOMPARE(labelsIn(name, ReadingVersion::First), (Labels{-1})); // a label of CIFAR-10 that is too large
        }
    }

    void idxIsRead()
    {
        const std::string head = bigEndian(2051) + bigEndian(2) + bigEndian(2) + bigEndian(3);
        writeFile(m_folder / "train-images-idx3-ubyte", head + "abcdefghijkl");
        writeFile(m_folder / "t10k-images-idx3-ubyte", head + "ABCDEFGHIJKL");
        writeFile(m_folder / "train-labels-idx1-ubyte.gz", gzipOf(bigEndian(2049) + bigEndian(2) + "\4\2"));
        const auto set = openPictures(m_folder);
        QVERIFY2(set.ok(), set ? "" : set.error().text().c_str());
        QCOMPARE(set->labels, (std::vector<std::int64_t>{4, 2}));
        QVERIFY((set->read(1)->form == PictureForm{2, 3, 1}));
        QCOMPARE(set->read(1)->values[0], std::uint8_t{'g'});
        QCOMPARE(openPictures(m_folder / "train-images-idx3-ubyte")->labels, set->labels);
        writeFile(m_folder / "train-images-idx3-ubyte", head + "abcdefghijk");
        QVERIFY(setErrorOf(m_folder).find("is truncated: has 11 values, expected 12") != std::string::npos);
        writeFile(m_folder / "train-images-idx3-ubyte",
                  bigEndian(2051) + bigEndian(1) + bigEndian(2) + bigEndian(3) + "abcdef");
        QVERIFY(setErrorOf(m_folder).find("has 2 labels, expected 1") != std::string::npos);
    }

    void csvIsRead()
    {
        writeFile(m_folder / "digits.csv.gz", gzipOf("0,16,8,4,3\n1.0,2,3,4,9\n"));
        const auto set = openPictures(m_folder / "digits.csv.gz");
        QVERIFY2(set.ok(), set ? "" : set.error().text().c_str());
        QCOMPARE(set->labels, (std::vector<std::int64_t>{3, 9}));
        QVERIFY((set->read(0)->form == PictureForm{2, 2, 1}));
        QCOMPARE(set->read(0)->values, (std::vector<std::uint8_t>{0, 255, 128, 64}));
        for (const auto& [text, message] :
             {std::pair("1,2,3,4,5\n1,2\n", ":2] has 2 columns, expected 5"), std::pair("1,2,x,4,5\n", "not a number"),
              std::pair("1,2,3,4,5,6,7\n", "expected the values of a square picture"),
              std::pair("-1,2,3,4,-1\n", "has the label -1"), std::pair("1,2,3,400,1\n", "from 1 to 400")}) {
            writeFile(m_folder / "bad.csv", text);
            const std::string error = setErrorOf(m_folder / "bad.csv");
            QVERIFY2(error.find(message) != std::string::npos, error.c_str());
        }
    }

    void drawnClassesArePairsOfParts()
    {
        const PictureDrawing drawing{.size = 24, .noise = 0.05};
        std::map<std::int64_t, int> counts;
        for (std::uint64_t i = 0; i < 40; ++i) {
            ++counts[drawnLabel(3, i)];
        }
        QCOMPARE(std::ssize(counts), 10);
        QVERIFY(std::ranges::all_of(counts, [](const auto& entry) { return entry.second == 4; }));
        const Picture one = drawPicture(drawing, 3, 7);
        QCOMPARE(one.values, drawPicture(drawing, 3, 7).values);
        QVERIFY(one.values != drawPicture(drawing, 3, 8).values);
        QVERIFY(one.values != drawPicture(drawing, 4, 7).values);
        QVERIFY((one.form == PictureForm{24, 24, 3}));
        // Two parts lie apart on a dark background: bright areas that do not touch.
        for (std::uint64_t i = 0; i < 30; ++i) {
            QCOMPARE(brightAreas(drawPicture({.size = 64, .noise = 0}, 5, i)), 2);
        }
    }

private:
    /// Returns the number of connected areas of bright pixels.
    static int brightAreas(const Picture& picture)
    {
        const auto [height, width, channels] = picture.form;
        std::vector<bool> bright;
        for (std::int64_t i = 0; i < height * width; ++i) {
            bright.push_back(picture.values[static_cast<std::size_t>(i * channels)] > 118);
        }
        int areas = 0;
        for (std::int64_t start = 0; start < height * width; ++start) {
            std::vector<std::int64_t> open{start};
            areas += bright[static_cast<std::size_t>(start)] ? 1 : 0;
            while (!open.empty()) {
                const std::int64_t at = open.back();
                open.pop_back();
                if (!bright[static_cast<std::size_t>(at)]) {
                    continue;
                }
                bright[static_cast<std::size_t>(at)] = false;
                const std::int64_t x = at % width;
                for (const std::int64_t to :
                     {x > 0 ? at - 1 : -1, x + 1 < width ? at + 1 : -1, at - width, at + width}) {
                    if (to >= 0 && to < height * width) {
                        open.push_back(to);
                    }
                }
            }
        }
        return areas;
    }

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_folder;
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestPictures)
#include "tst_pictures.moc"
