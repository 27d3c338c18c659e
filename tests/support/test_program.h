// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QtTest>

/// Several test classes in one executable, which costs one link instead of one each. CTest starts it once for each
/// class, so that tests stay apart: no state passes from one to the next, and a crash is that test's alone.
///
/// A source tst_<unit>.cpp ends with one of
///   RESIDUA_TEST(TestUnit)                         no application object
///   RESIDUA_TEST_IN(QApplication, TestUnit)        with one (QCoreApplication, QGuiApplication, QApplication)
/// and is run as `<executable> tst_<unit> [Qt Test's arguments]`.
namespace residua::tests {

using RunUnit = int (*)(int argc, char** argv);

/// Enters a unit under the name of its source file. Made before main begins.
class UnitEntry {
public:
    UnitEntry(const char* sourceFile, RunUnit run);
};

struct NoApplication {
    NoApplication(int&, char**) {}
};

template <class Application, class Test>
int runUnit(int argc, char** argv)
{
    if constexpr (requires { Application::setAttribute(Qt::AA_Use96Dpi, true); }) {
        Application::setAttribute(Qt::AA_Use96Dpi, true); // as QTEST_MAIN does, so that sizes are the same everywhere
    }
    [[maybe_unused]] Application application(argc, argv);
    Test test;
    return QTest::qExec(&test, argc, argv);
}

} // namespace residua::tests

#define RESIDUA_TEST_IN(Application, Test)                                                                             \
    static const residua::tests::UnitEntry kUnitEntry##Test(__FILE__, &residua::tests::runUnit<Application, Test>);
#define RESIDUA_TEST(Test) RESIDUA_TEST_IN(residua::tests::NoApplication, Test)
