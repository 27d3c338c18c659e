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

inline constexpr int kPatience = 120'000; ///< milliseconds that a busy machine may take

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

// Qt Test's own limit of five seconds is less than a busy machine may take.
#undef QTRY_VERIFY
#undef QTRY_VERIFY2
#undef QTRY_COMPARE
#define QTRY_VERIFY(expression) QTRY_VERIFY_WITH_TIMEOUT((expression), residua::tests::kPatience)
#define QTRY_VERIFY2(expression, message) QTRY_VERIFY2_WITH_TIMEOUT((expression), (message), residua::tests::kPatience)
#define QTRY_COMPARE(actual, expected) QTRY_COMPARE_WITH_TIMEOUT((actual), (expected), residua::tests::kPatience)

#define RESIDUA_TEST_IN(Application, Test)                                                                             \
    static const residua::tests::UnitEntry kUnitEntry##Test(__FILE__, &residua::tests::runUnit<Application, Test>);
#define RESIDUA_TEST(Test) RESIDUA_TEST_IN(residua::tests::NoApplication, Test)
