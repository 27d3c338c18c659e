// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of every kind have the values that Pillow reads here and now. Skipped, and said so, where there is no Python
// with Pillow; tst_pictures has cases with recorded values.
#include "engine/data/pictures/picture.h"
#include "tests/support/python.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace residua;
using namespace residua::engine;

namespace {

constexpr int kMilliseconds = 100'000;

class TestPillow : public QObject {
    Q_OBJECT

private slots:
    void valuesAreThoseOfPillow()
    {
        const QTemporaryDir folder;
        QProcess python;
        python.start(tests::pythonProgram(), {"-B", RESIDUA_PILLOW_SCRIPT, folder.path()});
        if (!python.waitForStarted()) {
            QSKIP("there is no Python: the values of Pillow are not compared");
        }
        QVERIFY(python.waitForFinished(kMilliseconds));
        if (python.exitCode() == 77) {
            QSKIP("this Python has no Pillow: its values are not compared; RESIDUA_PYTHON names a Python that has it");
        }
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
        QFile file(folder.filePath("cases.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const auto cases = nlohmann::json::parse(file.readAll().toStdString());
        QVERIFY(cases.size() > 80);
        for (const auto& [name, expected] : cases.items()) {
            const auto picture = readPicture(folder.filePath(QString::fromStdString(name)).toStdString());
            QVERIFY2(picture.ok(), picture ? "" : picture.error().text().c_str());
            const PictureForm form{expected["height"], expected["width"], expected["channels"]};
            QVERIFY2(picture->form == form, name.c_str());
            const auto values = expected["values"].get<std::vector<std::uint8_t>>();
            for (std::size_t i = 0; i < values.size(); ++i) {
                QVERIFY2(picture->values[i] == values[i],
                         (name + " at " + std::to_string(i) + ": " + std::to_string(picture->values[i]) +
                          ", expected " + std::to_string(values[i]))
                             .c_str());
            }
            const Picture grey = fitted(*picture, {form.height, form.width, 1});
            QVERIFY2(grey.values == expected["grey"].get<std::vector<std::uint8_t>>(), name.c_str());
        }
    }
};

} // namespace

RESIDUA_TEST_IN(QCoreApplication, TestPillow)
#include "tst_pillow.moc"
