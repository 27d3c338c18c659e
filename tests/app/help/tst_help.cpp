// SPDX-License-Identifier: GPL-3.0-or-later
// The pages of resources/help against what the program has and counts, and the window that shows them.
#include "app/help/equation_text.h"
#include "app/help/help_page.h"
#include "app/help/help_window.h"
#include "app/look/theme.h"
#include "projects/nodes/attention_features.h"
#include "projects/nodes/expression.h"
#include "projects/nodes/node_kinds.h"
#include "projects/schema/method_keys.h"
#include "projects/shipped/examples.h"
#include "resources/help.h"
#include "tests/support/test_program.h"
#include "tests/support/topology_cost.h"

#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QRegularExpression>
#include <QTest>
#include <QTextBlock>
#include <QTreeWidget>

#include <algorithm>
#include <map>
#include <set>

using namespace residua;
using namespace residua::app;
using projects::ParamMap;
using projects::Shape;
using resources::HelpTopic;

namespace {

constexpr int kMostLines = 60;
constexpr int kWidestText = 120;
constexpr int kWidestCode = 84; ///< an equation fits a terminal of 80 columns beside its indent, or nearly

QString textOf(const HelpTopic& topic)
{
    return QString::fromUtf8(topic.text.data(), static_cast<qsizetype>(topic.text.size()));
}

/// "    key, key at L = 48: L·(L + 1)/2 parameters" of a page, for one of the keys.
struct Statement {
    QString formula;
    std::int64_t onlyAt = 0; ///< the one depth that it is about; 0: any
};

std::map<std::string, Statement> statements()
{
    static const QRegularExpression kLine(QStringLiteral("^    ([a-z0-9_, -]+?)(?: at L = (\\d+))?: (.+) parameters$"),
                                          QRegularExpression::MultilineOption);
    std::map<std::string, Statement> found;
    for (const HelpTopic& topic : resources::helpTopics()) {
        for (auto at = kLine.globalMatch(textOf(topic)); at.hasNext();) {
            const QRegularExpressionMatch match = at.next();
            for (const QString& key : match.captured(1).split(QStringLiteral(", "))) {
                found[key.toStdString()] = {match.captured(3), match.captured(2).toLongLong()};
            }
        }
    }
    return found;
}

/// The value of a formula as the pages write it; NaN, and a failed test, where it has none.
double valueOf(QString formula, const std::map<std::string, double>& values)
{
    for (const auto& [sign, plain] : {std::pair{"·", "*"}, {"−", "-"}, {"²", "^2"}, {"³", "^3"}}) {
        formula.replace(QString::fromUtf8(sign), QString::fromUtf8(plain));
    }
    const auto expression = projects::parseExpression(formula.toStdString());
    const auto value = expression ? projects::evaluate(*expression, values) : expression.error();
    if (!value) {
        QTest::qFail(qPrintable(formula + ": " + QString::fromStdString(value.error().text())), __FILE__, __LINE__);
        return 0;
    }
    return *value;
}

/// A node kind with some of its parameters given, and what flows into it.
struct NodeCase {
    ParamMap given = {};
    std::vector<Shape> in = {Shape{{projects::kBatch, projects::kTime, 24}}};
    std::map<std::string, double> symbols = {}; ///< that the page has beside the parameters
};

std::vector<NodeCase> casesOf(const std::string& kind)
{
    const Shape sequence{{projects::kBatch, projects::kTime, 24}};
    const Shape image{{projects::kBatch, 6, 8, 8}};
    if (kind == "linear") {
        return {{{{"out", std::int64_t{10}}}}, {{{"out", std::int64_t{10}}, {"bias", true}}}};
    }
    if (kind == "conv1d") {
        return {{{{"out", std::int64_t{10}}, {"groups", std::int64_t{2}}}}, {{{"bias", false}}}};
    }
    if (kind == "conv2d") {
        return {{{{"out", std::int64_t{10}}, {"groups", std::int64_t{2}}, {"bias", true}}, {image}}};
    }
    if (kind == "patchify") {
        return {{{{"out", std::int64_t{10}}}, {image}}};
    }
    if (kind == "unpatchify") {
        return {{{}, {Shape{{projects::kBatch, 64, 24}}}}};
    }
    if (kind == "one_position") {
        return {{{}, {Shape{{projects::kBatch, 24}}}}};
    }
    if (kind == "step_embedding") {
        return {{{}, {Shape{{projects::kBatch}, projects::Element::Token}}}};
    }
    if (kind == "pool2d" || kind == "features_last") {
        return {{{}, {image}}};
    }
    if (kind == "layer_norm") {
        return {{}, {{{"bias", false}}}, {{{"affine", false}}}};
    }
    if (kind == "scale") {
        const auto learned = [](const char* how, double scalar, double each) {
            return NodeCase{{{"learned", std::string(how)}}, {}, {{"scalar", scalar}, {"per_feature", each}}};
        };
        std::vector<NodeCase> cases{learned("no", 0, 0), learned("scalar", 1, 0), learned("per_feature", 0, 1)};
        for (NodeCase& each : cases) {
            each.in = {sequence};
        }
        return cases;
    }
    if (kind == "attention") {
        const std::vector<Shape> in(3, sequence);
        return {{{}, in, {{"a", 24}, {"m", 24}, {"b", 0}, {"c", 0}, {"h", 0}, {"n", 0}}},
                {{{"kv_heads", std::int64_t{2}}, {"bias", std::string("qkv")}, {"qk_norm", std::string("head")}},
                 in,
                 {{"a", 24}, {"m", 12}, {"b", 1}, {"c", 0}, {"h", 1}, {"n", 0}}},
                {{{"head_dim", std::int64_t{10}}, {"bias", std::string("all")}, {"qk_norm", std::string("all")}},
                 in,
                 {{"a", 40}, {"m", 40}, {"b", 1}, {"c", 1}, {"h", 0}, {"n", 1}}}};
    }
    if (kind == "token_embedding") {
        return {{{}, {Shape{{projects::kBatch, projects::kTime}, projects::Element::Token}}}};
    }
    return {{}};
}

double numberOf(const projects::ParamValue& value)
{
    if (const auto* flag = std::get_if<bool>(&value)) {
        return *flag ? 1 : 0;
    }
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    return whole ? static_cast<double>(*whole) : real ? *real : 0;
}

} // namespace

class TestHelp : public QObject {
    Q_OBJECT

private slots:
    void everyMethodHasATopic()
    {
        for (const std::string& key : projects::methodKeys()) {
            QVERIFY2(resources::findTopic(key), key.c_str());
        }
        QVERIFY(!resources::findTopic("no-such-method"));
        QVERIFY(!resources::findTopic(""));
    }

    void titlesAndKeysFindTheSame()
    {
        QCOMPARE(resources::findTopic("Token Embedding"), resources::findTopic("token_embedding"));
        QCOMPARE(resources::findTopic("ANCRe")->name, std::string("ancre"));
    }

    void noWordStandsForTwoTopics()
    {
        std::map<const HelpTopic*, int> topics;
        for (const std::string& word : resources::topicWords()) {
            const HelpTopic* const topic = resources::findTopic(word);
            QVERIFY2(topic, word.c_str());
            ++topics[topic];
        }
        for (const HelpTopic& topic : resources::helpTopics()) {
            // Had another topic one of these words too, it would have been found there.
            QVERIFY2(topics[&topic] == static_cast<int>(topic.aliases.size()) + 1, topic.name.c_str());
        }
    }

    void everyPageIsInTheIndexOnce()
    {
        std::set<std::string> names;
        for (const HelpTopic& topic : resources::helpTopics()) {
            QVERIFY2(names.insert(topic.name).second, topic.name.c_str());
        }
        for (const resources::HelpPage& page : resources::helpPages()) {
            QVERIFY2(names.contains(std::string(page.name)), std::string(page.name).c_str());
        }
    }

    void everyPageHasItsParts()
    {
        static const QRegularExpression kSource(QStringLiteral("\n## Source\n\\S"));
        for (const HelpTopic& topic : resources::helpTopics()) {
            const QByteArray name = QByteArray::fromStdString(topic.name);
            const QString text = textOf(topic);
            QVERIFY2(!topic.title.empty() && topic.summary.size() > 20, name);
            QVERIFY2(text.contains(kSource), name);
            const QStringList lines = text.split(QLatin1Char('\n'));
            const bool written = topic.name != "fields"; // by people: that one lists the schema
            QVERIFY2(!written || lines.size() <= kMostLines, name);
            for (const QString& line : lines) {
                const int most = line.startsWith(QStringLiteral("    ")) ? kWidestCode : kWidestText;
                QVERIFY2(line.size() <= most, qPrintable(QString::fromStdString(topic.name) + ": " + line));
            }
        }
    }

    void everyLinkLeadsToAPage()
    {
        static const QRegularExpression kLink(QStringLiteral("\\[([^\\]]+)\\]\\(([^)]+)\\)"));
        for (const HelpTopic& topic : resources::helpTopics()) {
            int links = 0;
            for (auto at = kLink.globalMatch(textOf(topic)); at.hasNext(); ++links) {
                const QRegularExpressionMatch match = at.next();
                const std::string name = match.captured(1).toStdString();
                const HelpTopic* const to = resources::findTopic(name);
                QVERIFY2(to && to->name == name && to != &topic, name.c_str());
                QCOMPARE(match.captured(2), match.captured(1) + ".md");
            }
            QVERIFY2(links > 0, topic.name.c_str());
        }
    }

    /// The number of parameters in each page equals the program's count.
    void topologiesHaveTheParametersThatTheirPagesState()
    {
        const auto stated = statements();
        for (const std::int64_t depth : {4, 7, 20, 48}) {
            for (const projects::TopologyPreset& preset : projects::topologyPresets(depth)) {
                const auto statement = stated.find(preset.name);
                QVERIFY2(statement != stated.end(), preset.name.c_str());
                if (statement->second.onlyAt != 0 && statement->second.onlyAt != depth) {
                    continue;
                }
                for (const std::int64_t width : {8, 24}) {
                    std::map<std::string, double> values{{"L", static_cast<double>(depth)},
                                                         {"d", static_cast<double>(width)},
                                                         {"k", 2},
                                                         {"n", 4},
                                                         {"m", 2},
                                                         {"r", 16},
                                                         {"w", 3}};
                    const auto counted = tests::topologyCost({preset.name, preset.wiring}, depth, width).parameters;
                    const double value = valueOf(statement->second.formula, values);
                    QVERIFY2(value == static_cast<double>(counted),
                             qPrintable(QStringLiteral("%1, L = %2, d = %3: %4 stated, %5 counted")
                                            .arg(QString::fromStdString(preset.name))
                                            .arg(depth)
                                            .arg(width)
                                            .arg(value)
                                            .arg(counted)));
                }
            }
        }
    }

    void nodesHaveTheParametersThatTheirPagesState()
    {
        const auto stated = statements();
        const projects::Sizes sizes{{{"d", 24}, {"vocab", 50}, {"seq", 12}, {"in", 5}, {"out", 5}}};
        for (const projects::NodeKind& kind : projects::nodeKinds()) {
            const auto statement = stated.find(kind.key);
            QVERIFY2(statement != stated.end(), kind.key.c_str());
            for (const NodeCase& each : casesOf(kind.key)) {
                const projects::Node node{projects::NodeId{1}, kind.key, "node", each.given};
                const auto params = projects::evaluateParams(node, sizes);
                QVERIFY2(params.ok(), kind.key.c_str());
                const std::vector<Shape> in(std::max(each.in.size(), inputPortsOf(node, {}).size()), each.in.front());
                const auto out = kind.shapeRule(*params, in);
                std::map<std::string, double> values = each.symbols;
                for (const auto& [name, value] : *params) {
                    values.emplace(name, numberOf(value));
                }
                const bool isImage = in.front().dims.size() == 4;
                values["in"] = static_cast<double>(isImage ? in.front().dims[1] : in.front().features());
                const auto cost = costOf(kind, *params, in, out ? *out : in, 12);
                QVERIFY2(valueOf(statement->second.formula, values) == static_cast<double>(cost.parameters),
                         kind.key.c_str());
            }
        }
    }

    void everyPlaceThatIsExplainedHasATopic()
    {
        for (const projects::Example& example : projects::examples()) {
            const projects::Project& project = example.project;
            std::vector<Place> places{ProjectPlace{}, LayersPlace{{1}}, ShortcutsPlace{{{0, 1}}},
                                      GraphPlace{projects::GraphRef::stem()}, GraphPlace{projects::GraphRef::head()}};
            for (int section = 0; section <= static_cast<int>(Section::Runs); ++section) {
                places.emplace_back(SectionPlace{static_cast<Section>(section)});
            }
            for (const projects::Block& block : project.network.blocks) {
                places.emplace_back(GraphPlace{projects::GraphRef::block(block.name)});
                for (const projects::Node& node : block.graph.nodes) {
                    places.emplace_back(NodePlace{projects::GraphRef::block(block.name), node.id});
                }
            }
            for (const Place& place : places) {
                const std::string word = helpWordOf(project, place);
                QVERIFY2(word.empty() || resources::findTopic(word), word.c_str());
            }
        }
        for (const PaletteGroup& group : paletteGroups()) {
            for (const PaletteItem& item : group.items) {
                QVERIFY2(resources::findTopic(helpWordOf(item)), item.key.c_str());
            }
        }
    }

    void explainsThePartsThatTheProjectHas()
    {
        projects::Project project = projects::findExample("ancre-language")->project;
        const auto topic = [&project](const Place& place) {
            return resources::findTopic(helpWordOf(project, place))->name;
        };
        QCOMPARE(topic(SectionPlace{Section::Topology}), std::string("ancre"));
        QCOMPARE(topic(SectionPlace{Section::Data}), std::string("synthetic-language"));
        QCOMPARE(topic(SectionPlace{Section::Training}), std::string("adamw"));
        project.training.optimiser = projects::Sgd{};
        QCOMPARE(topic(SectionPlace{Section::Training}), std::string("sgd"));
        std::get<projects::DepthMix>(project.stack().topology.wiring).temperature = 3; // still ANCRe, customised
        QCOMPARE(topic(SectionPlace{Section::Topology}), std::string("ancre"));
        project.stack().topology.wiring = projects::MultiStream{}; // no longer
        QCOMPARE(topic(SectionPlace{Section::Topology}), std::string("hyper-connections"));
        project.stack().topology.preset = "of another program";
        project.stack().topology.wiring = projects::DepthMix{};
        QCOMPARE(topic(ShortcutsPlace{{{0, 1}}}), std::string("depth-mix"));
    }

    /// Help shows the page of the method that a setting enables, not of the method that it replaces.
    void settingsThatHavePagesOfTheirOwnLeadThere()
    {
        projects::Project project = projects::findExample("ancre-language")->project;
        const auto topic = [&project](const Place& place) {
            return resources::findTopic(helpWordOf(project, place))->name;
        };
        QCOMPARE(topic(SectionPlace{Section::Initialisation}), std::string("initialisation"));
        project.network.rank = projects::FixedRank{};
        QCOMPARE(topic(SectionPlace{Section::Initialisation}), std::string("low-rank-initialisation"));
        projects::Block& block = project.network.blocks.front();
        const auto attention = std::ranges::find_if(block.graph.nodes, [](const projects::Node& node) {
            return projects::roleOf(node) == projects::NodeRole::Attention;
        });
        QVERIFY(attention != block.graph.nodes.end());
        const NodePlace place{projects::GraphRef::block(block.name), attention->id};
        QCOMPARE(topic(place), std::string("nodes-sequence"));
        attention->params[projects::kWeightsParam] = std::string(projects::kPerformerWeights);
        QCOMPARE(topic(place), std::string("performer"));
    }

    void theWindowShowsEveryPage()
    {
        HelpWindow window(m_look);
        window.show();
        for (const HelpTopic& topic : resources::helpTopics()) {
            window.explain(topic.name);
            QCOMPARE(window.page().topic(), topic.name);
            QCOMPARE(window.page().document()->begin().text(), QString::fromStdString(topic.title));
            QCOMPARE(current(window), QString::fromStdString(topic.title));
            const QString shown = window.page().toPlainText();
            QVERIFY2(!shown.contains("](") && !shown.contains("##"), topic.name.c_str());
        }
        window.explain("nothing is called so");
        QCOMPARE(window.page().topic(), std::string(resources::kHelpIndex));
    }

    /// In brackets: [lowered], {raised}.
    void indicesAreSet_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("set");
        const auto row = [](const char* line, const char* set) {
            QTest::newRow(line) << QString::fromUtf8(line) << QString::fromUtf8(set);
        };
        row("x_j = F_j(x_{j−1}) + Σ_{i<j} p_ij · x_i", "x[j] = F[j](x[j−1]) + Σ[i<j] p[ij] · x[i]");
        row("b_ij^o + u_j^oᵀ e_i", "b[ij]{o} + u[j]{o}ᵀ e[i]");
        row("W ∈ R^{d×m}, b_ij ∈ R^d", "W ∈ R{d×m}, b[ij] ∈ R{d}");
        row("Σ Δ_ii² + H'_t + f_j(h)_t + ‖W‖_F", "Σ Δ[ii]² + H'[t] + f[j](h)[t] + ‖W‖[F]");
        row("κ = λ_min/λ_max of R(Y_SVD)", "κ = λ[min]/λ[max] of R(Y[SVD])");
        row("exp(c_ij/τ) / Σ_{i'<j} exp(c_i'j/τ)", "exp(c[ij]/τ) / Σ[i'<j] exp(c[i'j]/τ)");
        row("peak · final_fraction, kaiming_normal: a_", "peak · final_fraction, kaiming_normal: a_");
        row("not x_{closed", "not x_{closed");
    }

    void indicesAreSet()
    {
        QFETCH(QString, line);
        QFETCH(QString, set);
        QString shown;
        for (const EquationPart& part : equationParts(line)) {
            shown += part.place == QTextCharFormat::AlignSubScript     ? "[" + part.text + "]"
                     : part.place == QTextCharFormat::AlignSuperScript ? "{" + part.text + "}"
                                                                       : part.text;
        }
        QCOMPARE(shown, set);
    }

    /// In brackets: a fraction <over|under>, a sum Σ<lower|upper>, a root √<of>, high brackets (<of>).
    void equationsHaveTwoDimensions_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("set");
        const auto row = [](const char* line, const char* set) {
            QTest::newRow(line) << QString::fromUtf8(line) << QString::fromUtf8(set);
        };
        row("η = peak · step / w         w: steps", "η = peak · <step|w>         w: steps");
        row("‖Δ‖² − tr(Δ)² / (d − r*)", "‖Δ‖² − <tr(Δ)²|d − r*>");
        row("p = (ℓ_s − |I_s|) / (L − |I_s|), at most 1", "p = <ℓ_s − |I_s||L − |I_s|>, at most 1");
        row("exp(c_ij/τ) / Σ_{i'<j} exp(c_i'j/τ)   Σ_i p", "<exp(c_ij/τ)|Σ_{i'<j} exp(c_i'j/τ)>   Σ<i|> p");
        row("−(1/N) Σ_n log f(x/2)", "−<1|N> Σ<n|> log f(<x/2>)");
        row("u / max(1, rms(u) / d)", "<u|max(1, rms(u) / d)>");
        row("L·(L + 1)/2 parameters", "L·<L + 1|2> parameters");
        row("Σ_{l=1…degree} c_l, Π_{i∈S_lj} x_i, Σ Δ", "Σ<l=1|degree> c l , Π<i∈S_lj|> x i , Σ<|> Δ");
        row("√(1 − ρ²), √h(ρ), O / √(a/heads) · V", "√<1 − ρ²>, √<h(ρ)>, <O|√(a/heads)> · V");
        row("here: RUN/run.json, batch/N", "here: RUN/run.json, <batch|N>");
        row("t / base^(2i/in), a^−m", "<t|base^(2i/in)>, a −m ");
        row("(a + t)^(−1/m), (8N)^−¼", "(a + t) −1/m , (8N) −¼ ");
        row("(1, …, 0) in R", "(1, …, 0) in R");
    }

    void equationsHaveTwoDimensions()
    {
        QFETCH(QString, line);
        QFETCH(QString, set);
        const auto asLong = [](const EquationPart& part) { return static_cast<double>(part.source.size()); };
        QString shown;
        for (const EquationPart& part : equationParts(line, asLong)) {
            const QString first = "<" + part.first;
            shown += part.place != QTextCharFormat::AlignNormal    ? " " + part.text + " "
                     : part.shape == EquationPart::Shape::Letters  ? part.text
                     : part.shape == EquationPart::Shape::Root     ? "√" + first + ">"
                     : part.shape == EquationPart::Shape::Brackets ? "(" + first + ">)"
                                                                   : part.text + first + "|" + part.second + ">";
        }
        QCOMPARE(shown, set);
    }

    /// Columns begin where they began: three letters are a third narrower, and two marks are gone.
    void columnsKeepTheirPlaces()
    {
        const auto parts = equationParts(QStringLiteral("x_abc    next"));
        QCOMPARE(parts.size(), std::size_t(3));
        QCOMPARE(parts.back().text, QString(6, ' ') + "next");
        QCOMPARE(equationParts(QStringLiteral("x_abc,   next")).back().text, QString(",   next"));
    }

    /// No page shows a mark, and every index that is written in an equation is set; options keep their names.
    void pagesSetTheirEquations()
    {
        HelpWindow window(m_look);
        window.show();
        int lowered = 0;
        for (const HelpTopic& topic : resources::helpTopics()) {
            window.explain(topic.name);
            QVERIFY2(!window.page().toPlainText().contains("_{"), topic.name.c_str());
        }
        window.explain("dca");
        const QString shown = window.page().toPlainText();
        QVERIFY2(shown.contains("gjo = \uFFFC (bijo + ReLU(ujoᵀ ei) · 1) ⊙ ei"), qPrintable(shown.left(600)));
        QVERIFY(shown.contains("separate_norms"));
        window.page().selectAll();
        window.page().copy();
        const QString copied = QApplication::clipboard()->text();
        QVERIFY2(copied.contains("= Σ_{i<j} (b"), qPrintable(copied)); // as the page writes it
        for (QTextBlock block = window.page().document()->begin(); block.isValid(); block = block.next()) {
            for (auto part = block.begin(); !part.atEnd(); ++part) {
                lowered += part.fragment().charFormat().verticalAlignment() == QTextCharFormat::AlignSubScript ? 1 : 0;
            }
        }
        QVERIFY(lowered >= 8);
    }

    /// A page with several topics is scrolled to the requested one.
    void theHeadingThatWasAskedForIsSeen()
    {
        HelpWindow window(m_look);
        window.resize(700, 300);
        window.show();
        window.explain("scale");
        QCOMPARE(window.page().textCursor().block().text(), QString("scale"));
        QVERIFY(window.page().viewport()->rect().intersects(window.page().cursorRect()));
        window.explain("multiply");
        QCOMPARE(window.page().textCursor().block().text(), QString("add, multiply"));
    }

    void linksLeadOnAndTheListFollows()
    {
        HelpWindow window(m_look);
        window.explain("dca");
        window.page().setSource(window.page().source().resolved(QUrl(QStringLiteral("k-dca.md"))));
        QCOMPARE(window.page().topic(), std::string("k-dca"));
        QCOMPARE(current(window), QString("k-DCA: first and last k"));
        window.page().backward();
        QCOMPARE(window.page().topic(), std::string("dca"));
        QCOMPARE(current(window), QString("DeepCrossAttention"));
    }

    void theSearchPrefersNamesAndReadsThePages()
    {
        HelpWindow window(m_look);
        window.show();
        auto* const search = window.findChild<QLineEdit*>(QStringLiteral("helpSearch"));
        auto* const topics = window.findChild<QTreeWidget*>(QStringLiteral("helpTopics"));
        search->setText(QStringLiteral("rezero"));
        QCOMPARE(window.page().topic(), std::string("rezero"));
        search->setText(QStringLiteral("sinkhorn"));
        QCOMPARE(window.page().topic(), std::string("mhc"));
        search->setText(QStringLiteral("no page speaks of this"));
        int shown = 0;
        for (int row = 0; row < topics->topLevelItemCount(); ++row) {
            shown += topics->topLevelItem(row)->isHidden() ? 0 : 1;
        }
        QCOMPARE(shown, 0);
        QCOMPARE(window.page().topic(), std::string("mhc"));
        QTest::keyClick(search, Qt::Key_Return);
        window.explain("plain"); // clears the search
        QVERIFY(search->text().isEmpty());
        QVERIFY(!topics->topLevelItem(1)->isHidden());
    }

    void aPageChangesItsColoursWithTheTheme()
    {
        HelpWindow window(m_look);
        window.explain("mhc");
        const auto ground = [&window] {
            return window.page().document()->rootFrame()->childFrames().front()->frameFormat().background().color();
        };
        const QColor light = ground();
        m_look.setKind(ThemeKind::Dark);
        QVERIFY(ground() != light);
        QCOMPARE(ground(), m_look.theme().colour(QStringLiteral("hover")));
        m_look.setKind(ThemeKind::Light);
        QCOMPARE(ground(), light);
        QCOMPARE(window.page().topic(), std::string("mhc"));
    }

private:
    static QString current(const HelpWindow& window)
    {
        const auto* const item = window.findChild<QTreeWidget*>(QStringLiteral("helpTopics"))->currentItem();
        return item ? item->text(0) : QString();
    }

    Look m_look{ThemeKind::Light};
};

RESIDUA_TEST_IN(QApplication, TestHelp)
#include "tst_help.moc"
