// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/expression.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace residua::projects;

class TestExpression : public QObject {
    Q_OBJECT

private slots:
    void value_data();
    void value();
    void error_data();
    void error();
    void size_data();
    void size();
    void names();
    void deepAndLongFormulasAreRefused();
};

void TestExpression::value_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<double>("expected");
    const auto row = [](const char* text, double expected) { QTest::newRow(text) << text << expected; };
    row("1 + 2*3", 7);
    row("(1 + 2)*3", 9);
    row("8 - 3 - 2", 3);
    row("16/4/2", 2);
    row("2^3^2", 512);
    row("-2^2", -4);
    row("2^-1", 0.5);
    row("--x", 3);
    row("x*y", 15);
    row(" x\t+y ", 8);
    row("1.5e2", 150);
    row(".5", 0.5);
    row("min(4, x, y)", 3);
    row("max(x, y, 4)", 5);
    row("mean(x)", 3);
    row("abs(-x)", 3);
    row("floor(2.7) + ceil(2.2) + round(2.5)", 8);
    row("sqrt(16) + log(exp(2))", 6);
    row("relu(-1) + relu(2)", 2);
    row("tanh(1)", std::tanh(1.0));
    row("sigmoid(0)", 0.5);
    row("silu(2)", 2 / (1 + std::exp(-2.0)));
    row("gelu(1)", 0.841344746068543);
}

void TestExpression::value()
{
    QFETCH(QString, text);
    QFETCH(double, expected);
    const auto parsed = parseExpression(text.toStdString());
    QVERIFY2(parsed.ok(), parsed ? "" : parsed.error().text().c_str());
    const auto value = evaluate(*parsed, {{"x", 3}, {"y", 5}});
    QVERIFY(value.ok());
    QVERIFY2(std::abs(*value - expected) < 1e-12, qPrintable(QString::number(*value, 'g', 17)));
}

void TestExpression::error_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* text, const char* expected) { QTest::newRow(text) << text << expected; };
    row("", "[column 1] expected a number, a name or '(', got the end");
    row("1 +", "[column 4] expected a number, a name or '(', got the end");
    row("1 + * 2", "[column 5] expected a number, a name or '(', got '*'");
    row("(1 + 2", "[column 7] expected ')'");
    row("x y", "[column 3] expected an operator or the end, got 'y'");
    row("2x", "[column 2] expected an operator or the end, got 'x'");
    row("x + sine(y)", "[column 5] unknown function sine");
    row("1 + tanh(x, y)", "[column 5] tanh takes 1 argument, got 2");
    row("min()", "[column 5] expected a number, a name or '(', got ')'");
    row("1e999", "[column 1] not a number that can be held");
    row("x $ y", "[column 3] expected an operator or the end, got '$'");
}

void TestExpression::error()
{
    QFETCH(QString, text);
    QFETCH(QString, expected);
    const auto parsed = parseExpression(text.toStdString());
    QVERIFY(!parsed.ok());
    QCOMPARE(QString::fromStdString(parsed.error().text()), expected);
}

void TestExpression::size_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* text, const char* expected) { QTest::newRow(text) << text << expected; };
    row("128", "128");
    row("4*d", "384");
    row("32*ceil(d/12)", "256");
    row("8*d/3", "256");
    row("d/5", "d/5 = 19.2, expected a whole number of at least 1");
    row("d - 96", "d - 96 = 0, expected a whole number of at least 1");
    row("d/0", "d/0 = inf, expected a whole number of at least 1");
    row("10^30", "10^30 = 1e+30, expected a whole number of at least 1");
    row("4*width", "unknown name width; known here: d, seq");
}

void TestExpression::size()
{
    QFETCH(QString, text);
    QFETCH(QString, expected);
    const auto size = evaluateSize(text.toStdString(), {{"d", 96}, {"seq", 32}});
    QCOMPARE(QString::fromStdString(size ? std::to_string(*size) : size.error().text()), expected);
}

void TestExpression::names()
{
    const auto parsed = parseExpression("b*tanh(a) + b*mean(gate)");
    QVERIFY(parsed.ok());
    QCOMPARE(namesIn(*parsed), (std::vector<std::string>{"a", "b", "gate"}));
    QVERIFY(namesIn(*parseExpression("1 + 2")).empty());
}

void TestExpression::deepAndLongFormulasAreRefused()
{
    const std::string deep = std::string(500, '(') + "1" + std::string(500, ')');
    QCOMPARE(parseExpression(deep).error().text(), std::string("[column 102] nested deeper than 100"));
    QVERIFY(!parseExpression(std::string(500, '-') + "1").ok());
    std::string chain = "1";
    for (int i = 0; i < 1000; ++i) {
        chain += "^1";
    }
    QVERIFY(!parseExpression(chain).ok());
    QVERIFY(parseExpression(std::string(2001, '1')).error().text().find("2001 characters") != std::string::npos);
}

RESIDUA_TEST(TestExpression)
#include "tst_expression.moc"
