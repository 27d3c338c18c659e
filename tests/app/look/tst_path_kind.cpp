// SPDX-License-Identifier: GPL-3.0-or-later
// The kinds of dropped files and folders, and the fields that accept them.
#include "app/look/field_row.h"
#include "app/look/path_kind.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QDir>
#include <QDropEvent>
#include <QFile>
#include <QLineEdit>
#include <QMimeData>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>

using namespace residua::app;

class TestPathKind : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        for (const char* file : {"project/project.json", "run/run.json", "model/config.json", "folder/a.txt",
                                 "a.residua", "a.safetensors", "a.PNG", "a.txt"}) {
            const QString path = m_folder.filePath(QString::fromLatin1(file));
            QVERIFY(QDir().mkpath(QFileInfo(path).path()));
            QFile made(path);
            QVERIFY(made.open(QIODevice::WriteOnly));
        }
    }

    void pathsAreKnownByTheirNames_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<PathKind>("kind");
        QTest::newRow("project") << "project" << PathKind::Project;
        QTest::newRow("its file") << "project/project.json" << PathKind::Project;
        QTest::newRow("run") << "run" << PathKind::Run;
        QTest::newRow("bundle") << "a.residua" << PathKind::Bundle;
        QTest::newRow("model") << "model" << PathKind::Model;
        QTest::newRow("tensors") << "a.safetensors" << PathKind::Tensors;
        QTest::newRow("picture") << "a.PNG" << PathKind::Picture;
        QTest::newRow("file") << "a.txt" << PathKind::File;
        QTest::newRow("folder") << "folder" << PathKind::Folder;
        QTest::newRow("what is not there") << "b.txt" << PathKind::File;
    }

    void pathsAreKnownByTheirNames()
    {
        QFETCH(QString, path);
        QFETCH(PathKind, kind);
        QCOMPARE(pathKindOf(m_folder.filePath(path).toStdString()), kind);
        const bool isData = kind == PathKind::File || kind == PathKind::Folder || kind == PathKind::Model;
        QCOMPARE(onlyData()(m_folder.filePath(path)).isEmpty(), isData);
        QCOMPARE(onlyTokenisers()(m_folder.filePath(path)).isEmpty(), kind == PathKind::File);
    }

    /// A new thing keeps its name in a folder that is dropped.
    void fieldsTakeWhatTheyExpect()
    {
        QLineEdit field(QStringLiteral("/some/where/new.model"));
        acceptNewPath(field, onlyPaths({PathKind::Folder, PathKind::File}, QStringLiteral("a place")));
        drop(field, {"folder"});
        QCOMPARE(field.text(), m_folder.filePath("folder/new.model"));
        QVERIFY(field.isModified());
        drop(field, {"a.txt"});
        QCOMPARE(field.text(), m_folder.filePath("a.txt"));
        drop(field, {"run"});
        drop(field, {"a.txt", "folder"}); // one is expected
        QCOMPARE(field.text(), m_folder.filePath("a.txt"));
    }

private:
    void drop(QWidget& on, const QStringList& names)
    {
        QList<QUrl> urls;
        for (const QString& name : names) {
            urls << QUrl::fromLocalFile(m_folder.filePath(name));
        }
        QMimeData data;
        data.setUrls(urls);
        QDragEnterEvent enter({2, 2}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(&on, &enter);
        QDropEvent event({2, 2}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(&on, &event);
        QVERIFY(event.isAccepted());
    }

    QTemporaryDir m_folder;
};

RESIDUA_TEST_IN(QApplication, TestPathKind)
#include "tst_path_kind.moc"
