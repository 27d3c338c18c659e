// SPDX-License-Identifier: GPL-3.0-or-later
// preprocessor_config.json as transformers writes it, into a project and back.
#include "projects/huggingface/picture_processor.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace residua;
using namespace residua::projects;

namespace {

Project pictures()
{
    Project project;
    project.data.source =
        PictureData{.path = "p", .validationPath = {}, .height = 8, .width = 8, .channels = 3, .classes = 3};
    return project;
}

PictureFit fitOf(const Project& project)
{
    return std::get<PictureData>(project.data.source).fit;
}

class TestPictureProcessor : public QObject {
    Q_OBJECT

private slots:
    void meansAndDeviationsAreTaken()
    {
        Project project = pictures();
        const auto notes = readPictureProcessor(
            R"({"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225], "do_resize": true,
                "resample": 2, "rescale_factor": 0.00392156862745098, "size": {"height": 8, "width": 8}})",
            "f", project);
        QVERIFY2(notes.ok(), notes ? "" : notes.error().text().c_str());
        QCOMPARE(notes->size(), std::size_t{0});
        const Augmentation& of = project.data.augmentation;
        QVERIFY(std::abs(of.mean - 0.485) < 1e-12 && std::abs(of.meanGreen - 0.456) < 1e-12);
        QVERIFY(std::abs(of.deviation - 0.229) < 1e-12 && std::abs(of.deviationBlue - 0.225) < 1e-12);
        QVERIFY(fitOf(project) == PictureFit::Stretch);
        // And back again.
        Project again = pictures();
        QVERIFY(readPictureProcessor(pictureProcessorOf(project).text, "f", again).ok());
        QCOMPARE(again.data.augmentation, of);
        QVERIFY(fitOf(again) == PictureFit::Stretch);
        std::get<PictureData>(project.data.source).fit = PictureFit::Crop;
        QVERIFY(readPictureProcessor(pictureProcessorOf(project).text, "f", again).ok());
        QVERIFY(fitOf(again) == PictureFit::Crop);
    }

    /// transformers does not convert pictures to grey, and needs one mean per channel.
    void greyPicturesStayGrey()
    {
        Project project = pictures();
        project.data.augmentation.mean = 0.25;
        QVERIFY(pictureProcessorOf(project).notes.empty());
        std::get<PictureData>(project.data.source).channels = 1;
        const WrittenProcessor grey = pictureProcessorOf(project);
        QVERIFY2(grey.text.find("\"do_convert_rgb\": false") != std::string::npos, grey.text.c_str());
        QVERIFY2(grey.text.find("\"image_mean\": [0.25]") != std::string::npos, grey.text.c_str());
        QCOMPARE(grey.notes.size(), std::size_t{1});
        QVERIFY2(grey.notes.front().find("expects grey pictures") != std::string::npos, grey.notes.front().c_str());
        Project again = pictures();
        QVERIFY(readPictureProcessor(grey.text, "f", again).ok());
        QCOMPARE(again.data.augmentation, project.data.augmentation);
    }

    /// No size setting of transformers covers a rectangle, so the file stretches pictures and a note tells the user.
    void rectanglesAreStretchedAndNoted()
    {
        Project project = pictures();
        auto& source = std::get<PictureData>(project.data.source);
        source.width = 12;
        source.fit = PictureFit::Stretch;
        QVERIFY(pictureProcessorOf(project).notes.empty());
        source.fit = PictureFit::Crop;
        const WrittenProcessor written = pictureProcessorOf(project);
        QVERIFY(written.text.find("do_center_crop") == std::string::npos);
        QCOMPARE(written.notes.size(), std::size_t{1});
        QVERIFY2(written.notes.front().find("stretches pictures to 8 × 12") != std::string::npos,
                 written.notes.front().c_str());
    }

    void valuesThatAreNotRescaledOrNormalised()
    {
        Project project = pictures();
        QVERIFY(readPictureProcessor(R"({"do_normalize": false, "size": 8})", "f", project).ok());
        QCOMPARE(project.data.augmentation.mean, 0.0);
        QVERIFY(std::abs(project.data.augmentation.deviation - 1) < 1e-12);
        // (v − 127.5) / 127.5
        QVERIFY(readPictureProcessor(R"({"do_rescale": false, "image_mean": 127.5, "image_std": 127.5})", "f", project)
                    .ok());
        QVERIFY(std::abs(project.data.augmentation.mean - 0.5) < 1e-12);
        QVERIFY(std::abs(project.data.augmentation.deviation - 0.5) < 1e-12);
    }

    void unsupportedSettingsAreNoted_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("note");
        const auto row = [](const char* name, const char* text, const char* note) {
            QTest::newRow(name) << QString(text) << QString(note);
        };
        row("filter", R"({"resample": 3, "size": 8})", "resample is not 2");
        row("size", R"({"size": {"height": 32, "width": 32}})", "not to 32 × 32");
        row("edge", R"({"size": {"shortest_edge": 10}, "do_center_crop": true, "crop_size": 8})", "before the crop");
        row("no resize", R"({"do_resize": false})", "do_resize is false");
        row("another step", R"({"do_pad": true})", "do_pad is not done here");
        row("normalisation", R"({"image_mean": [-3, 0, 0]})", "is not taken");
        row("no list", R"({"image_std": [1, 2]})", "expected 1 or 3 numbers");
        row("no JSON", "{", "f");
        row("no object", "[1]", "is not a JSON object");
    }
    void unsupportedSettingsAreNoted()
    {
        QFETCH(QString, text);
        QFETCH(QString, note);
        Project project = pictures();
        const auto notes = readPictureProcessor(text.toStdString(), "f", project);
        std::string told = notes ? "" : notes.error().text();
        for (std::size_t i = 0; notes && i < notes->size(); ++i) {
            told += (*notes)[i] + "\n";
        }
        QVERIFY2(QString::fromStdString(told).contains(note), told.c_str());
    }
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestPictureProcessor)
#include "tst_picture_processor.moc"
