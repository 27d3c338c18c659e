// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/figures/figure.h"
#include "editor/figures/scene_figures.h"
#include "editor/scenes/block_scene.h"
#include "editor/scenes/depth_picture.h"
#include "editor/scenes/depth_scene.h"
#include "editor/scenes/words.h"
#include "projects/base/utf8.h"
#include "projects/library/presets.h"
#include "projects/model/topology.h"
#include "resources/page.h"
#include "tests/editor/depth_stacks.h"
#include "tests/support/test_program.h"

#include <QRectF>
#include <QRegularExpression>
#include <QSet>
#include <QTest>
#include <QXmlStreamReader>

#include <algorithm>
#include <cmath>
#include <variant>

using namespace residua;
using namespace residua::editor;
using projects::Document;

namespace {

Document presetOf(const std::string& name, std::int64_t layers)
{
    Document document = stackOf(layers);
    const auto presets = projects::topologyPresets(layers);
    const auto preset = std::ranges::find(presets, name, &projects::TopologyPreset::name);
    document.project.stack().topology.preset = name;
    document.project.stack().topology.wiring = preset->wiring;
    return document;
}

TopologyView viewOf(const Document& document, const LiveWeights& weights)
{
    return {document, weights, depthPorts(document.project.stack().topology, resources::Theme::Light)};
}

Figure canvasOf(const Document& document, const FigureStyle& style = {})
{
    const LiveWeights none;
    const auto figure = depthFigure(viewOf(document, none), style);
    return figure ? *figure : Figure();
}

std::string fileOf(const Figure& figure, FigureFormat format)
{
    const auto bytes = figureFile(figure, format);
    return bytes ? *bytes : bytes.error().text();
}

/// Returns the area of a text, from its baseline to the height of its capital letters.
QRectF areaOf(const FigureText& text, const FigureFont& font)
{
    const double width = font.widthOf(text.size, text.text);
    const double before = text.anchor == FigureAnchor::Middle ? width / 2
                          : text.anchor == FigureAnchor::End  ? width
                                                              : 0;
    const double height = 0.7 * text.size;
    return {text.at.x - before, text.at.y - height, width, height};
}

/// Returns what is wrong with the texts of a figure: they must be inside of it and not cover each other. Lines and
/// boxes must be inside too.
QString faultOf(const Figure& figure)
{
    const FigureFont font(figure.family);
    const QRectF page(-0.01, -0.01, figure.width + 0.02, figure.height + 0.02);
    std::vector<std::pair<QRectF, QString>> texts;
    for (const FigurePart& part : figure.parts) {
        if (const auto* path = std::get_if<FigurePath>(&part)) {
            // A curve reaches 3/4 of the height of its control points.
            const bool curve = path->kind == FigurePath::Kind::Curves && path->points.size() == 4;
            const double low = path->points.front().y;
            for (const Point& p : path->points) {
                if (!page.contains(QPointF(p.x, curve ? low + (p.y - low) * 0.75 : p.y))) {
                    return QString("a line of %1 leaves the page at %2, %3").arg(path->name.c_str()).arg(p.x).arg(p.y);
                }
            }
        } else if (const auto* box = std::get_if<FigureBox>(&part)) {
            if (!page.contains(QRectF(box->rect.left, box->rect.top, box->rect.width(), box->rect.height()))) {
                return QString("a box leaves the page at %1, %2").arg(box->rect.left).arg(box->rect.top);
            }
        } else {
            const auto& text = std::get<FigureText>(part);
            const QRectF area = areaOf(text, font);
            if (!page.contains(area)) {
                return QString("\"%1\" leaves the page").arg(text.text.c_str());
            }
            for (const auto& [other, words] : texts) {
                if (other.intersects(area.adjusted(0.1, 0.1, -0.1, -0.1))) {
                    return QString("\"%1\" covers \"%2\"").arg(text.text.c_str(), words);
                }
            }
            texts.emplace_back(area, text.text.c_str());
        }
    }
    return {};
}

} // namespace

class TestFigures : public QObject {
    Q_OBJECT

private slots:
    void svgHasEveryArcAndTextAsText()
    {
        const Document document = stackOf(96, projects::MixPorts::Qkv);
        DepthScene scene;
        scene.rebuild(document.project);
        std::size_t finals = 0;
        for (const Arc& arc : scene.arcs()) {
            finals += arc.shortcut.target > scene.modules() ? 1 : 0;
        }
        const std::size_t strands = 3 * (scene.arcs().size() - finals) + finals; // the final output has a single mix
        QVERIFY(strands > 10'000);

        const std::string svg = fileOf(canvasOf(document), FigureFormat::Svg);
        QXmlStreamReader xml(QByteArray::fromStdString(svg));
        QSet<QString> arcs;
        QStringList texts;
        while (!xml.atEnd()) {
            xml.readNext();
            if (xml.isStartElement() && xml.name() == u"title") {
                arcs << xml.readElementText();
            } else if (xml.isStartElement() && xml.name() == u"text") {
                texts << xml.readElementText();
            }
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(static_cast<std::size_t>(arcs.size()), strands);
        QVERIFY(arcs.contains("0:96 q") && arcs.contains("0:96 v") && arcs.contains("3:97"));
        QVERIFY(texts.contains("head") && texts.contains("50") && texts.contains("q"));
        QVERIFY(svg.find("width=\"8.5cm\"") != std::string::npos);
    }

    void nothingLeavesThePageOrCoversAText_data()
    {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<int>("layers");
        QTest::addColumn<double>("centimetres");
        for (const projects::TopologyPreset& preset : projects::topologyPresets(8)) {
            for (const int layers : {1, 8, 30}) {
                QTest::addRow("%s %d", preset.name.c_str(), layers)
                    << QString::fromStdString(preset.name) << layers << 8.5;
            }
        }
        QTest::newRow("wide") << "ancre-ingoing" << 8 << 17.0;
        QTest::newRow("narrow") << "plain" << 12 << 3.0;
        QTest::newRow("deep") << "grn-v1" << 96 << 8.5;
    }

    void nothingLeavesThePageOrCoversAText()
    {
        QFETCH(QString, preset);
        QFETCH(int, layers);
        QFETCH(double, centimetres);
        const Document document = presetOf(preset.toStdString(), layers);
        FigureStyle style;
        style.centimetres = centimetres;
        const Figure canvas = canvasOf(document, style);
        QVERIFY(std::abs(canvas.width - centimetres * kPointsPerCm) < 0.01);
        QVERIFY(canvas.height > style.text && canvas.height < canvas.width);
        QCOMPARE(faultOf(canvas), QString());

        const LiveWeights none;
        TopologyView view = viewOf(document, none);
        view.folds = foldableRuns(document.project.network);
        const auto folded = depthFigure(view, style);
        QVERIFY(folded.ok());
        QCOMPARE(faultOf(*folded), QString());

        const auto matrix = matrixFigure(view, style);
        const bool isMix = std::holds_alternative<projects::DepthMix>(document.project.stack().topology.wiring);
        QVERIFY2(matrix.ok() == isMix, qPrintable(preset));
        QCOMPARE(matrix ? faultOf(*matrix) : QString(), QString());
    }

    void textMayBeWiderThanTheFigure()
    {
        const FigureStyle style{.centimetres = resources::page::kNarrowest, .text = resources::page::kLargestText};
        const Document document = stackOf(4);
        QVERIFY(canvasOf(document, style).height > 0);
        const LiveWeights none;
        const auto matrix = matrixFigure(viewOf(document, none), style);
        QVERIFY(!matrix && matrix.error().text().find("expected a wider figure") != std::string::npos);
    }

    void weightsColourArcsAndCells()
    {
        const Document document = stackOf(4);
        LiveWeights weights;
        std::vector<float> values(25, 0.1F);
        values[3 * 5 + 1] = 0.9F; // 1:4
        LiveValues live;
        live.mix = values;
        live.rows = live.columns = 5;
        live.step = 1200;
        weights.take(live, projects::magnitudeScale(1));
        const auto figure = depthFigure(viewOf(document, weights), {});
        QVERIFY(figure.ok());
        const auto penOf = [&](const std::string& name) {
            const auto part = std::ranges::find_if(figure->parts, [&](const FigurePart& each) {
                const auto* path = std::get_if<FigurePath>(&each);
                return path != nullptr && path->name == name;
            });
            return *std::get<FigurePath>(*part).pen;
        };
        QVERIFY(penOf("1:4").width > 2 * penOf("0:4").width);
        QVERIFY(penOf("1:4").colour == weightColour(weights.scale(), 0.9, resources::Theme::Light));
        QVERIFY(fileOf(*figure, FigureFormat::Svg).find(">mixing weight at step ") != std::string::npos);
        const auto matrix = matrixFigure(viewOf(document, weights), {});
        QVERIFY(matrix.ok() && faultOf(*matrix).isEmpty());
        QVERIFY(fileOf(*matrix, FigureFormat::Svg).find(">0.900<") != std::string::npos);
        QVERIFY(fileOf(canvasOf(document), FigureFormat::Svg).find("mixing weight") == std::string::npos);
    }

    void blocksAreDrawn_data()
    {
        QTest::addColumn<QString>("preset");
        for (const projects::BlockPreset& preset : projects::blockPresets()) {
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
        }
    }

    void blocksAreDrawn()
    {
        QFETCH(QString, preset);
        const auto& presets = projects::blockPresets();
        const auto found = std::ranges::find(presets, preset.toStdString(), &projects::BlockPreset::name);
        Document document = stackOf(2);
        document.project.network.blocks.push_back({"shown", found->name, found->graph});
        const auto figure = blockFigure(document, projects::GraphRef::block("shown"), {});
        QVERIFY(figure.ok());
        QCOMPARE(faultOf(*figure), QString());
        const std::string svg = fileOf(*figure, FigureFormat::Svg);
        BlockScene scene;
        scene.rebuild(document, projects::GraphRef::block("shown"));
        QCOMPARE(QString::fromStdString(svg).count("<title>"), static_cast<qsizetype>(scene.wires().size()));
    }

    void graphsWithoutNodesAreErrors()
    {
        const Document document = stackOf(2);
        const auto missing = blockFigure(document, projects::GraphRef::block("other"), {});
        QVERIFY(!missing && missing.error().text().find("block:other") != std::string::npos);
        QVERIFY(!blockFigure(document, projects::GraphRef::block("mlp"), {}));
    }

    void textsAreCutToTheirRoom_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<float>("width");
        QTest::addColumn<QString>("shown");
        QTest::newRow("fits") << "layer" << 5.0F << "layer";
        QTest::newRow("one less") << "layer" << 4.0F << "lay…";
        QTest::newRow("of several bytes") << "größte" << 4.0F << "grö…";
        QTest::newRow("one letter") << "layer" << 2.0F << "l…";
        QTest::newRow("no letter") << "layer" << 1.0F << "";
        QTest::newRow("no room") << "layer" << -1.0F << "";
        QTest::newRow("empty") << "" << 1.0F << "";
        QTest::newRow("very long") << QString(60'000, 'W') << 9.0F << "WWWWWWWW…";
    }

    void textsAreCutToTheirRoom()
    {
        QFETCH(QString, text);
        QFETCH(float, width);
        std::size_t measured = 0;
        const auto widthOf = [&measured](const std::string& part) {
            measured += part.size();
            return static_cast<float>(codePoints(part));
        };
        QTEST(QString::fromStdString(elided(text.toStdString(), width, widthOf)), "shown");
        QVERIFY2(measured < 200, "the length of a name must not decide how long drawing takes");
    }

    void tikzIsWellFormed()
    {
        Document document = stackOf(4);
        document.layout.groups = {{"50% of_{it} #1 & \\more", 1, 4}};
        const Figure figure = canvasOf(document);
        for (const FigureFormat format : {FigureFormat::Tikz, FigureFormat::Tex}) {
            const QString text = QString::fromStdString(fileOf(figure, format));
            QCOMPARE(text.count("\\begin{tikzpicture}"), 1);
            QCOMPARE(text.count("\\end{tikzpicture}"), 1);
            QVERIFY(text.count("\\begin{scope}") > 1);
            QCOMPARE(text.count("\\begin{scope}"), text.count("\\end{scope}"));
            QCOMPARE(text.contains("\\documentclass"), format == FigureFormat::Tex);
            static const QRegularExpression arc(QStringLiteral("\\\\draw \\([^;]*controls[^;]*; % \\d+:\\d+"));
            DepthScene scene;
            scene.rebuild(document.project);
            QCOMPARE(text.count(arc), static_cast<qsizetype>(scene.arcs().size()));
            QVERIFY(text.contains("{50\\% of\\_\\{it\\} \\#1 \\& \\textbackslash{}more}"));
            // Outside of comments every brace has its partner.
            static const QRegularExpression hidden(QStringLiteral("\\\\[{}]|(?<!\\\\)%.*$"),
                                                   QRegularExpression::MultilineOption);
            const QString bare = QString(text).remove(hidden);
            QCOMPARE(bare.count('{'), bare.count('}'));
        }
    }

    void anyTextIsWellFormedInEveryFormat_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("marks of XML") << QByteArray("<a b=\"c\">&amp;'");
        QTest::newRow("control characters") << QByteArray("a\x01\n\x1b[31m\x7f");
        QTest::newRow("no characters") << QByteArray("a\xEF\xBF\xBE\xEF\xBF\xBF");
        QTest::newRow("no UTF-8") << QByteArray("a\xFF\xC3(\xED\xA0\x80");
        QTest::newRow("letters") << QByteArray("größe 日本 🙂");
    }

    void anyTextIsWellFormedInEveryFormat()
    {
        QFETCH(QByteArray, text);
        Figure figure = canvasOf(stackOf(2));
        figure.family = text.toStdString();
        figure.parts.emplace_back(FigureText{.at = {5, 5}, .text = text.toStdString()});
        const std::string svg = fileOf(figure, FigureFormat::Svg);
        QVERIFY(isUtf8(svg));
        QVERIFY(svg.find("\xEF\xBF\xBE") == std::string::npos && svg.find("\xEF\xBF\xBF") == std::string::npos);
        QXmlStreamReader xml(QByteArray::fromStdString(svg));
        while (!xml.atEnd()) {
            xml.readNext();
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        const std::string tikz = fileOf(figure, FigureFormat::Tikz);
        QVERIFY(std::ranges::none_of(tikz, [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7F; }));
    }

    void pdfEmbedsItsFont()
    {
        const std::string pdf = fileOf(canvasOf(stackOf(8)), FigureFormat::Pdf);
        QVERIFY(pdf.starts_with("%PDF-"));
        QVERIFY(pdf.find("/FontFile") != std::string::npos);
        QVERIFY(pdf.find("MediaBox [ 0 0 240.94") != std::string::npos);
    }

    void theSuffixIsTheFormat()
    {
        QVERIFY(figureFormatOf("a/b.PDF").ok() && *figureFormatOf("a/b.PDF") == FigureFormat::Pdf);
        QVERIFY(*figureFormatOf("x.svg") == FigureFormat::Svg && *figureFormatOf("x.tikz") == FigureFormat::Tikz &&
                *figureFormatOf("x.tex") == FigureFormat::Tex);
        for (const char* path : {"x.png", "x", "svg", "-"}) {
            const auto format = figureFormatOf(path);
            QVERIFY(!format && format.error().text().find("expected .svg, .pdf, .tikz or .tex") != std::string::npos);
        }
    }
};

RESIDUA_TEST(TestFigures)
#include "tst_figures.moc"
