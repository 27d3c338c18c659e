// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/html_text.h"
#include "app/report/loss_figures.h"
#include "app/report/svg_plot.h"
#include "resources/axis.h"
#include "tests/support/random_seed.h"
#include "tests/support/test_program.h"

#include <QRectF>
#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace residua;
using engine::MetricPoint;

namespace {

resources::Curve curveOf(const std::vector<MetricPoint>& points)
{
    return report::placed(report::byStep(), points);
}

/// The drawing of an <svg>, and its faults.
class Picture {
public:
    struct Text {
        QString kind;
        QString words;
        QPointF at;
        QString anchor;
    };

    explicit Picture(const std::string& svg)
    {
        QXmlStreamReader reader(QString::fromStdString(svg));
        while (!reader.atEnd() && flaw.isEmpty()) {
            if (reader.readNext() == QXmlStreamReader::StartElement) {
                take(reader);
            }
        }
        if (reader.hasError()) {
            flaw = reader.errorString();
        }
    }

    QString flaw;
    QSizeF size;
    std::vector<double> gridLines; ///< y
    std::vector<Text> words;
    double plotTop = 1e9;  ///< the highest of what is drawn of the curves
    double plotBottom = 0; ///< the lowest
    int points = 0;        ///< of the curves' lines
    int stretches = 0;     ///< that the lines are interrupted into
    int dots = 0;

    [[nodiscard]] QStringList texts(const QString& kind) const
    {
        QStringList found;
        for (const Text& text : words) {
            if (text.kind == kind) {
                found << text.words;
            }
        }
        return found;
    }

    /// The title's place and those of the curves' names, which begin where their lines do.
    [[nodiscard]] std::vector<QRectF> heading() const
    {
        std::vector<QRectF> boxes;
        for (const Text& text : words) {
            const bool title = text.kind == "title";
            if (title || (text.kind == "tick" && text.anchor.isEmpty())) {
                const double width = report::textWidth(text.words.toStdString()) * (title ? 1.1 : 1);
                const double line = title ? 0 : 26;
                boxes.emplace_back(text.at.x() - line, text.at.y() - 12, width + line, 15);
            }
        }
        return boxes;
    }

private:
    void take(QXmlStreamReader& reader)
    {
        const QXmlStreamAttributes attributes = reader.attributes();
        if (reader.name() == u"svg") {
            const QStringList box = attributes.value("viewBox").toString().split(' ');
            size = {box[2].toDouble(), box[3].toDouble()};
        }
        for (const char* name : {"x", "x1", "x2", "cx", "y", "y1", "y2", "cy"}) {
            if (attributes.hasAttribute(name)) {
                place(attributes.value(name).toString(),
                      name[name[0] == 'c' ? 1 : 0] == 'x' ? size.width() : size.height());
            }
        }
        static const QRegularExpression separators("[ML ]");
        const QStringList path = attributes.value("d").toString().split(separators, Qt::SkipEmptyParts);
        for (qsizetype i = 0; i < path.size(); ++i) {
            place(path[i], i % 2 == 0 ? size.width() : size.height());
            plotTop = i % 2 == 1 ? std::min(plotTop, path[i].toDouble()) : plotTop;
            plotBottom = i % 2 == 1 ? std::max(plotBottom, path[i].toDouble()) : plotBottom;
            points += i % 2;
        }
        stretches += static_cast<int>(attributes.value("d").count('M'));
        dots += reader.name() == u"circle" ? 1 : 0;
        if (attributes.value("class") == u"grid") {
            gridLines.push_back(attributes.value("y1").toDouble());
        }
        if (reader.name() == u"text") {
            words.push_back({attributes.value("class").toString(),
                             {},
                             {attributes.value("x").toDouble(), attributes.value("y").toDouble()},
                             attributes.value("text-anchor").toString()});
            words.back().words = reader.readElementText(QXmlStreamReader::SkipChildElements);
        }
    }

    void place(const QString& number, double most)
    {
        bool read = false;
        const double value = number.toDouble(&read);
        if (!read || !std::isfinite(value) || value < 0 || value > most) {
            flaw = QStringLiteral("%1 is no place in the picture").arg(number);
        }
    }
};

} // namespace

class TestSvgPlot : public QObject {
    Q_OBJECT
private slots:
    /// A long curve is thinned; its extremes, what is no number and where it is interrupted stay.
    void aLongCurveKeepsEverySpike()
    {
        std::vector<MetricPoint> points;
        for (std::int64_t i = 0; i < 100'000; ++i) {
            points.push_back({i, std::sin(static_cast<double>(i) / 500)});
        }
        points[31'234].value = 40;
        points[77'001].value = -20;
        points[50'000].value = std::numeric_limits<double>::quiet_NaN();
        const Picture whole(report::svgPlot({"plot", "step", "", {{"", curveOf(points)}}}));
        QVERIFY2(whole.flaw.isEmpty(), qPrintable(whole.flaw));
        QVERIFY(whole.points <= 1600);
        QVERIFY(whole.texts("tick").contains("40") && whole.texts("tick").contains("−20"));
        QCOMPARE(whole.plotTop, std::ranges::min(whole.gridLines));
        QCOMPARE(whole.plotBottom, std::ranges::max(whole.gridLines));
        QCOMPARE(whole.texts("broken").size(), 1);
        QCOMPARE(whole.stretches, 1);
        for (std::size_t i = 50'000; i < 60'000; ++i) {
            points[i].value = std::numeric_limits<double>::quiet_NaN();
        }
        const Picture broken(report::svgPlot({"plot", "step", "", {{"", curveOf(points)}}}));
        QCOMPARE(broken.stretches, 2);
        QVERIFY(broken.texts("broken").size() > 1);
    }

    /// Any doubles at any steps: a picture of few marks, all of them in it.
    void anyNumbersMakeAPicture()
    {
        std::mt19937_64 random(tests::randomSeed());
        const std::vector<double> edges{0.0,
                                        3456.789,
                                        -1.0,
                                        1e15,
                                        std::numeric_limits<double>::max(),
                                        std::numeric_limits<double>::lowest(),
                                        std::numeric_limits<double>::denorm_min(),
                                        std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN()};
        for (int i = 0; i < 1500; ++i) {
            std::vector<MetricPoint> points;
            for (std::uint64_t n = random() % 4 + 1; n > 0; --n) {
                const bool edge = random() % 2 == 0;
                const double value = edge ? edges[random() % edges.size()] : std::bit_cast<double>(random());
                const auto step = static_cast<std::int64_t>(random() >> (random() % 64));
                points.push_back({i % 3 == 0 ? 7 : step, value});
            }
            std::ranges::sort(points, {}, &MetricPoint::step);
            report::PlotSpec spec{"plot", "step", "", {{"curve", curveOf(points)}}};
            spec.yScale = i % 2 == 0 ? report::AxisScale::Linear : report::AxisScale::Logarithmic;
            const Picture picture(report::svgPlot(spec));
            QVERIFY2(picture.flaw.isEmpty(), qPrintable(picture.flaw));
            QVERIFY(picture.gridLines.size() >= 2 && picture.gridLines.size() <= 11);
        }
    }

    /// One value of some thousand: the first seconds of many runs.
    void oneValueIsADotBetweenRoundNumbers()
    {
        const report::PlotSpec spec{"Peak memory", "step", "", {{"", curveOf({{7, 10'834}})}}};
        const Picture picture(report::svgPlot(spec));
        QVERIFY2(picture.flaw.isEmpty(), qPrintable(picture.flaw));
        QCOMPARE(picture.texts("tick"), (QStringList{"10,400", "10,600", "10,800", "11,000", "11,200", "7"}));
        QCOMPARE(picture.dots, 1);
    }

    /// A file that other programs read needs its namespace and its style; several plots stand below each other.
    void aFileStandsAlone()
    {
        const report::PlotSpec spec{
            "Loss < 1 & more", "step", "", {{"a", curveOf({{1, 1}, {2, 3}}), report::Stroke::Dashed, 1}}};
        const report::PlotSpec empty{"none", "", "", {}};
        const auto heightOf = [](const std::string& svg) {
            QXmlStreamReader xml(QByteArray::fromStdString(svg));
            double height = 0;
            int styles = 0;
            while (!xml.atEnd()) {
                xml.readNext();
                if (xml.isStartElement() && xml.name() == u"svg") {
                    height = xml.attributes().value("viewBox").toString().section(' ', 3).toDouble();
                }
                const bool ours = xml.namespaceUri() == u"http://www.w3.org/2000/svg";
                styles += xml.isStartElement() && ours && xml.name() == u"style" ? 1 : 0;
            }
            return !xml.hasError() && styles == 1 ? height : 0;
        };
        const std::string one = report::svgFile({spec});
        QVERIFY(one.find("var(") == std::string::npos && one.find(".c1{stroke:#") != std::string::npos);
        QVERIFY(heightOf(one) > 0);
        QCOMPARE(heightOf(report::svgFile({spec, empty, spec})), 2 * heightOf(one));
        QVERIFY(report::svgFile({empty}).empty());
    }

    void theLegendCoversNothing_data()
    {
        QTest::addColumn<QString>("title");
        QTest::addColumn<QStringList>("names");
        QTest::newRow("beside the title") << "Loss" << QStringList{"training (smoothed)", "validation"};
        QStringList layers;
        for (int i = 1; i < 20; ++i) {
            layers << QStringLiteral("layer %1").arg(100 * i);
        }
        QTest::newRow("many") << "What layers read, root mean square" << layers;
        QTest::newRow("a long title") << QString(300, 'T') << QStringList{"validation"};
        QTest::newRow("long names") << "Loss" << QStringList{QString(400, 'm'), QString(30, u'\u6f22')};
        QTest::newRow("no names") << "Loss" << QStringList{""};
    }

    void theLegendCoversNothing()
    {
        QFETCH(QString, title);
        QFETCH(QStringList, names);
        report::PlotSpec spec{title.toStdString(), "step", "", {}};
        for (const QString& name : names) {
            spec.curves.push_back({name.toStdString(), curveOf({{1, 1}, {2, 3}})});
        }
        const Picture picture(report::svgPlot(spec));
        QVERIFY2(picture.flaw.isEmpty(), qPrintable(picture.flaw));
        const std::vector<QRectF> heading = picture.heading();
        QCOMPARE(heading.size(), static_cast<std::size_t>(names.removeAll("") == 1 ? 1 : names.size() + 1));
        for (std::size_t i = 0; i < heading.size(); ++i) {
            QVERIFY2(QRectF(0, 0, picture.size.width(), picture.plotTop).contains(heading[i]), qPrintable(title));
            for (std::size_t j = 0; j < i; ++j) {
                QVERIFY2(!heading[i].intersects(heading[j]), qPrintable(title));
            }
        }
    }
};

RESIDUA_TEST(TestSvgPlot)
#include "tst_svg_plot.moc"
