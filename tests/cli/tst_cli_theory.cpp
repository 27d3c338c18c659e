// SPDX-License-Identifier: GPL-3.0-or-later
// Figures and theorems of the papers, as numbers, tables and pictures.
#include "projects/file/store.h"
#include "tests/cli/ran_program.h"
#include "tests/support/test_program.h"

#include <QColor>
#include <QDir>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace residua;
using namespace residua::cli;

namespace {

/// Draws the picture with librsvg, which does not read a style as a browser does. Returns what is wrong, or an empty
/// text.
QString faultOfDrawing(const QString& svg)
{
    QProcess program;
    program.start("rsvg-convert", {"--width", "900", "--output", svg + ".png", svg});
    if (!program.waitForStarted()) {
        qWarning("rsvg-convert is not installed: the picture is not drawn");
        return {};
    }
    if (!program.waitForFinished(tests::kPatience) || program.exitCode() != 0) {
        return QString::fromUtf8(program.readAllStandardError());
    }
    const QImage drawn(svg + ".png");
    const QRgb ground = drawn.pixel(0, 0);
    std::set<QRgb> colours;
    int marked = 0;
    for (int y = 0; y < drawn.height(); ++y) {
        for (int x = 0; x < drawn.width(); ++x) {
            colours.insert(drawn.pixel(x, y));
            marked += drawn.pixel(x, y) == ground ? 0 : 1;
        }
    }
    const bool isCurve = std::ranges::any_of(colours, [](QRgb c) { return QColor(c).hslSaturation() > 60; });
    const double share = static_cast<double>(marked) / (static_cast<double>(drawn.width()) * drawn.height());
    return QColor(ground).lightness() > 200 && isCurve && share > 0.002 && share < 0.5
               ? QString()
               : QString("%1: ground %2, %3 colours, %4 of it drawn")
                     .arg(svg, QColor(ground).name())
                     .arg(colours.size())
                     .arg(share);
}

class TestCliTheory : public QObject {
    Q_OBJECT

private slots:
    void figure4FindsItsPowers()
    {
        const QStringList words{"analyze", "stability", "--figure", "4", "--layers", "24", "--dimension", "40"};
        const QJsonObject told = json(run(words + QStringList{"--json"})).object();
        QCOMPARE(told["paper"].toDouble(), -0.4);
        QCOMPARE(told["paperBert"].toDouble(), -0.88);
        QCOMPARE(told["shared"].toArray().size(), 5);
        for (const QJsonValue& shared : told["shared"].toArray()) {
            QCOMPARE(shared["depths"].toArray(), (QJsonArray{6, 12, 24}));
            QVERIFY(shared["power"].toDouble() < -0.2 && shared["power"].toDouble() > -1.5);
        }
        const QString svg = path("figure-4.svg");
        QCOMPARE(run(words + QStringList{"-o", svg}).code, 0);
        QCOMPARE(faultOfDrawing(svg), QString());
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString picture = QString::fromUtf8(file.readAll());
        QCOMPARE(picture.count(">tau "), 15); // panels (a), (b) and (c)
        QVERIFY(picture.contains("figure 4a") && picture.contains("figure 4b"));
        QVERIFY(picture.contains("xmlns='http://www.w3.org/2000/svg'"));
        QVERIFY(picture.contains(">paper: L^-0.4<") && picture.contains(">paper, BERT-Large: L^-0.88<"));
        QCOMPARE(run(words + QStringList{"-o", path("figure-4.png")}).code, 1);
        const QJsonArray spectral =
            json(run(words + QStringList{"--norm", "spectral", "--json"})).object()["shared"].toArray();
        QVERIFY(spectral[3]["power"].toDouble() < told["shared"].toArray().at(3)["power"].toDouble() - 0.1);
        QCOMPARE(run(words + QStringList{"--norm", "nuclear"}).code, 1);
        QVERIFY(run(words + QStringList{"--without", "norm"}).output.contains("lemma 5.4 c"));
        QCOMPARE(run(words + QStringList{"--without", "layers"}).code, 1);
    }

    /// RaPTr's theorem I.1: each phase of a trained two-layer network, with p0 exact and not.
    void theoremI1CountsItsSteps()
    {
        const QStringList words{"analyze", "theory", "--theorem", "I.1"};
        const QJsonArray rates = json(run(words + QStringList{"--rate", "0.02", "--json"})).object()["rates"].toArray();
        QCOMPARE(rates.size(), 2);
        QVERIFY(rates[0]["loss"]["steps"].toInt() > 0 && rates[0]["second"]["leastError"].toDouble() <= 0.02);
        QCOMPARE(rates[1]["biasError"].toDouble(), 0.02);
        QVERIFY(!rates[1]["first"]["reached"].toBool() && rates[1]["second"]["steps"].isNull());
        const Ran all = run(words);
        QVERIFY2(all.output.contains("The theorem says 1 for each"), qPrintable(all.output));
        QCOMPARE(run(words + QStringList{"-o", "-"}).output.section('\n', 0, 0),
                 QString("rate,bias_error,time,constant,degree_1,degree_2"));
        const QString svg = path("theorem.svg");
        QCOMPARE(run(words + QStringList{"--rate", "0.02", "-o", svg}).code, 0);
        QCOMPARE(faultOfDrawing(svg), QString());
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(QString::fromUtf8(file.readAll()).count(">x1 x2 (degree 2)<"), 2);
        QCOMPARE(run(words + QStringList{"--rate", "2"}).code, 1);
        QCOMPARE(run(words + QStringList{"low-rank-regression"}).code, 1);
        QCOMPARE(run(words + QStringList{"--set", "data.dim=4"}).code, 1);
    }

    /// DeepCrossAttention's figure 10: the distribution of each weight over the features.
    void weightsHaveDistributions()
    {
        QVERIFY(QDir(m_folder.path()).mkdir("spread"));
        const QString run_ = path("spread/run");
        QVERIFY(projects::saveProject(path("spread/project").toStdString(), tinyProject()).ok());
        QCOMPARE(run({"train", path("spread/project"), "--set", "topology=grn-v2", "--steps", "3", "--run", run_}).code,
                 0);
        const QJsonObject told = json(run({"analyze", "coefficients", run_, "--distribution", "--json"})).object();
        const QJsonObject matrix = told["matrices"].toArray()[0].toObject();
        QCOMPARE(matrix["name"].toString(), QString("mix"));
        bool apart = false;
        for (const QJsonValue& weight : matrix["weights"].toArray()) {
            QVERIFY(weight["p05"].toDouble() <= weight["median"].toDouble());
            QVERIFY(weight["median"].toDouble() <= weight["p95"].toDouble());
            QVERIFY(qAbs(weight["median"].toDouble() - 1) < 0.2); // they start from 1
            apart = apart || weight["p05"].toDouble() < weight["p95"].toDouble();
        }
        QVERIFY(apart);
        const QString svg = path("spread/figure-10.svg");
        QCOMPARE(run({"analyze", "coefficients", run_, "--distribution", "-o", svg}).code, 0);
        QCOMPARE(faultOfDrawing(svg), QString());
        QCOMPARE(run({"analyze", "coefficients", run_, "--distribution", "--feature", "1"}).code, 1);
    }

    /// DeepCrossAttention's figure 5: both panels, at several widths; a wider network gains more.
    void figure5HasBothPanels()
    {
        const QJsonArray points = json(run({"analyze", "theory", "--figure", "5", "--json"})).array();
        const auto gain = [&](const QString& panel, int width, const char* at, double x) {
            for (const QJsonValue& point : points) {
                if (point["panel"].toString() == panel && point["dimension"].toInt() == width &&
                    qAbs(point[at].toDouble() - x) < 1e-9) {
                    return point["g1"].toDouble();
                }
            }
            return qQNaN();
        };
        QVERIFY(gain("left", 1000, "rank", 10) > gain("left", 1000, "rank", 90));
        QVERIFY(gain("left", 1000, "rank", 50) > gain("left", 100, "rank", 50));
        QVERIFY(gain("right", 1000, "kappa", 0.9) > gain("right", 1000, "kappa", 0.3));
        QCOMPARE(gain("right", 300, "kappa", 0.5), gain("left", 300, "rank", 50)); // the same model
        const QString svg = path("figure-5.svg");
        QCOMPARE(run({"analyze", "theory", "--figure", "5", "-o", svg}).code, 0);
        QCOMPARE(faultOfDrawing(svg), QString());
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(QString::fromUtf8(file.readAll()).count(">G2, d = "), 6);
        QCOMPARE(run({"analyze", "theory", "wide-relu", "--figure", "5"}).code, 1);
    }

    /// Figures 1 to 4 of the paper on low-rank initialisation: what the solvers reach beside the bound.
    void drawsTheGapsFigures()
    {
        const QJsonArray gap = json(run({"analyze", "theory", "--figure", "1", "--largest", "100", "--json"}))
                                   .object()["points"]
                                   .toArray();
        QCOMPARE(gap.size(), 4);
        for (const QJsonValue& point : gap) {
            const double left = point["R/d spectral"].toDouble() - point["R/d exact"].toDouble();
            QVERIFY(point["bound 3.5"].toDouble() > 0 && left >= point["bound 3.5"].toDouble() - 1e-9);
        }
        QVERIFY(run({"analyze", "theory", "--figure", "3"}).output.contains("0.3183")); // 1/pi
        QCOMPARE(run({"analyze", "theory", "--figure", "3", "-o", path("three.svg")}).code, 0);
        QCOMPARE(faultOfDrawing(path("three.svg")), QString());
        const QString csv = run({"analyze", "theory", "--figure", "4", "--methods", "relu-svd", "-o", "-"}).output;
        QVERIFY2(csv.startsWith("m_d,r_d,sqrt_r_d_,mean_rho,spread,bound_3_5,R_d_relu_svd\n"), qPrintable(csv));
        const QStringList two{"analyze", "theory", "--figure", "2", "--networks", "1"};
        const QJsonArray points = json(run(two + QStringList{"--json"})).object()["points"].toArray();
        QCOMPARE(points.size(), 14);
        for (const int first : {0, 7}) { // warm, and from the draw
            QVERIFY(points[first + 6]["fit error"].toDouble() < 0.99 * points[first]["fit error"].toDouble());
        }
        for (const QJsonValue& point : points) {
            QVERIFY(point["loss"].toDouble() > 0 && point["loss"].toDouble() < point["loss at start"].toDouble());
        }
        QCOMPARE(run({"analyze", "theory", "--figure", "1", "--methods", "none"}).code, 1);
        QCOMPARE(run({"analyze", "theory", "wide-relu", "--figure", "3"}).code, 1);
    }

    void tellsWhatIsProved()
    {
        const QStringList words{"analyze", "theory", "--dimension", "100", "--rank", "50", "--layers", "10"};
        const QJsonObject told = json(run(words + QStringList{"--json"})).object();
        QCOMPARE(told["parameters"].toObject()["resNet"].toDouble(), 2.0 * 100 * 50);
        QCOMPARE(told["parameters"].toObject()["grnV1"].toDouble(), 2.0 * 100 * 50 + 45);
        // 50 ranks of eigenvalue 5 are gained, and (sqrt(150) - sqrt(100))^2 ranks of 10^2 - 5^2 are paid.
        const double ranks = std::pow(std::sqrt(150.0) - 10, 2);
        QVERIFY(std::abs(told["gainAtLeast"].toObject()["grnV1"].toDouble() - (50 * 25 - 75 * ranks)) < 1e-6);
        QVERIFY(run(words).output.contains("never worse up to r*"));

        const QJsonObject example = json(run({"analyze", "theory", "low-rank-regression", "--json"})).object();
        const QJsonObject risk = example["excessRisk"].toObject();
        QVERIFY(risk["noShortcuts"].toDouble() > risk["resNet"].toDouble());
        QVERIFY(risk["grnV2"].toDouble() <= risk["grnV1"].toDouble());
        QVERIFY(risk["grnV1"].toDouble() <= risk["resNet"].toDouble());

        QCOMPARE(run(words + QStringList{"-o", path("gains.csv")}).code, 0);
        QFile csv(path("gains.csv"));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll().count('\n'), 100);
        QCOMPARE(run(words + QStringList{"-o", path("gains.svg")}).code, 0);
        QCOMPARE(faultOfDrawing(path("gains.svg")), QString());
        QCOMPARE(run(words + QStringList{"-o", path("gains.txt")}).code, 1);

        QVERIFY(run({"analyze", "theory"}).errors.contains("missing --dimension"));
        QVERIFY(run({"analyze", "theory", "linear-ancre"}).errors.contains("low-rank regression"));
        QVERIFY(run({"analyze", "coefficients"}).errors.contains("missing argument RUN"));
    }

private:
    static Ran run(const QStringList& words) { return runProcess(words); }
    static QJsonDocument json(const Ran& ran) { return ran.json(); }
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
};

} // namespace

RESIDUA_TEST(TestCliTheory)
#include "tst_cli_theory.moc"
