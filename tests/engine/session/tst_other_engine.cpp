// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's library of another build than the program's. Apart from tst_opened_session: a process opens one.
#include "engine/opened/engine_library.h"
#include "tests/support/test_program.h"

#include <QtTest>

using namespace residua;
using namespace residua::engine;

namespace {

class TestOtherEngine : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { qputenv("RESIDUA_ENGINE", RESIDUA_OTHER_ENGINE); }

    void anotherBuildIsRefused()
    {
        const Result<const SessionTable*>& table = openEngine();
        QVERIFY(!table);
        QCOMPARE(table.error().place, std::string(RESIDUA_OTHER_ENGINE));
        QCOMPARE(table.error().message,
                 "is not the engine of this version of the program (it is of the build of another day, expected " +
                     std::string(buildIdentity()) + "): install both again");
    }
};

} // namespace

RESIDUA_TEST(TestOtherEngine)
#include "tst_other_engine.moc"
