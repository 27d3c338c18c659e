// SPDX-License-Identifier: GPL-3.0-or-later
// SHA-256 against the examples of its standard, and against Qt's for every length around a block.
#include "engine/base/files/content_hash.h"
#include "projects/base/files.h"
#include "tests/support/test_program.h"

#include <QCryptographicHash>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

using namespace residua;
using namespace residua::engine;

namespace {

std::string sha256Text(const std::string& text)
{
    Sha256 hash;
    hash.add(asBytes(text));
    return hash.text();
}

class TestSha256 : public QObject {
    Q_OBJECT

private slots:
    void theStandardsExamples()
    {
        QCOMPARE(sha256Text("abc"), std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        QCOMPARE(sha256Text(""), std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        QVERIFY(isSha256(sha256Text("")));
        QVERIFY(!isSha256("E3" + sha256Text("").substr(2)) && !isSha256(sha256Text("") + "0") && !isSha256(""));
    }

    void everyLengthAndEveryCut()
    {
        for (int length = 0; length < 200; ++length) {
            QByteArray bytes;
            for (int i = 0; i < length; ++i) {
                bytes += static_cast<char>(7 * i + length);
            }
            const std::string expected =
                QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().toStdString();
            for (const int cut : {0, length / 3, length / 2, length}) {
                Sha256 hash;
                hash.add(asBytes(bytes.left(cut).toStdString()));
                hash.add(asBytes(bytes.mid(cut).toStdString()));
                QCOMPARE(hash.text(), expected);
            }
        }
    }

    void aFilesHashFollowsItsContent()
    {
        const QTemporaryDir folder;
        QFile file(folder.filePath("data"));
        for (const QByteArray& content : {QByteArray(3'000'000, 'x'), QByteArray(3'000'000, 'y')}) {
            QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
            file.write(content);
            file.close();
            const Result<std::string> hash = sha256OfFile(file.fileName().toStdString(), {});
            QVERIFY(hash.ok());
            QCOMPARE(*hash, sha256Text(content.toStdString()));
        }
    }
};

} // namespace

RESIDUA_TEST(TestSha256)
#include "tst_sha256.moc"
