// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help/help_page.h"

#include "app/help/equation_setting.h"
#include "app/look/theme.h"
#include "projects/library/schedule_presets.h"
#include "projects/model/places.h"
#include "projects/nodes/attention_features.h"
#include "projects/schema/method_keys.h"
#include "resources/help.h"

#include <QMimeData>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextList>
#include <QTextTable>

#include <vector>

namespace residua::app {
namespace {

const QString kScheme = QStringLiteral("help");
constexpr int kMargin = 18;
constexpr int kCodePadding = 8;
constexpr int kLineSpacing = 125; ///< per cent
constexpr int kCellPadding = 5;
const QString kObjectLetter(QChar(QChar::ObjectReplacementCharacter));

QUrl urlOf(const std::string& name)
{
    return {kScheme + QStringLiteral(":/") + QString::fromStdString(name) + QStringLiteral(".md")};
}

std::string nameOf(const QUrl& url)
{
    return url.fileName().chopped(url.fileName().endsWith(QLatin1String(".md")) ? 3 : 0).toStdString();
}

/// The style of a kind of block.
struct BlockStyle {
    int above = 6; ///< pixels
    int below = 6;
    int letters = 13; ///< height of the letters
    QFont::Weight weight = QFont::Normal;
};
constexpr BlockStyle kTitle{0, 8, 21, QFont::DemiBold};
constexpr BlockStyle kHeading{16, 4, 14, QFont::DemiBold};
constexpr BlockStyle kText{};
constexpr BlockStyle kItem{2, 2};
constexpr BlockStyle kInside{0, 0}; ///< of a table, or of lines of code

/// True for a line of code from the Markdown import.
bool isCode(const QTextBlock& block)
{
    return block.blockFormat().hasProperty(QTextFormat::BlockCodeLanguage);
}

/// Puts consecutive lines of code on a background of their own.
void frameCode(QTextDocument& document, const Theme& theme)
{
    QTextFrameFormat format;
    format.setBackground(theme.colour(QStringLiteral("hover")));
    format.setPadding(kCodePadding);
    format.setTopMargin(kText.above);
    format.setBottomMargin(kText.below);
    QTextCursor cursor(&document);
    for (QTextBlock block = document.lastBlock(); block.isValid(); block = block.previous()) {
        if (!isCode(block)) {
            continue;
        }
        const int end = block.position() + block.length() - 1;
        while (isCode(block.previous())) {
            block = block.previous();
        }
        cursor.setPosition(block.position());
        cursor.setPosition(end, QTextCursor::KeepAnchor);
        cursor.setBlockFormat({});
        cursor.insertFrame(format);
        block = cursor.currentFrame()->firstCursorPosition().block(); // skips the empty line before it
    }
}

/// True if the cursor is in a frame of frameCode().
bool isFramed(const QTextCursor& cursor)
{
    return !cursor.currentTable() && cursor.currentFrame() != cursor.document()->rootFrame();
}

BlockStyle styleOf(const QTextBlock& block, const QTextCursor& cursor)
{
    const int level = block.blockFormat().headingLevel();
    const bool inside = cursor.currentFrame() != block.document()->rootFrame();
    return inside ? kInside : level == 1 ? kTitle : level > 1 ? kHeading : block.textList() ? kItem : kText;
}

void styleBlock(QTextCursor& cursor, const QTextBlock& block)
{
    cursor.setPosition(block.position());
    const BlockStyle style = styleOf(block, cursor);
    QTextBlockFormat format = block.blockFormat();
    format.setLineHeight(kLineSpacing, QTextBlockFormat::ProportionalHeight);
    format.setNonBreakableLines(isFramed(cursor));
    format.setTopMargin(style.above);
    format.setBottomMargin(style.below);
    if (block.text().isEmpty() && !isFramed(cursor)) { // the empty block between text and a frame
        format.setLineHeight(1, QTextBlockFormat::FixedHeight);
        format.setTopMargin(0);
        format.setBottomMargin(0);
    }
    cursor.setBlockFormat(format);
    if (style.weight != QFont::Normal) {
        QFont font = textFont();
        font.setPixelSize(style.letters);
        font.setWeight(style.weight);
        QTextCharFormat letters;
        letters.setFont(font);
        cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
        cursor.setCharFormat(letters);
    }
}

/// Gives inline code and lines of code the program's fixed font.
void styleCode(QTextCursor& cursor, const QTextBlock& block)
{
    cursor.setPosition(block.position());
    const bool framed = isFramed(cursor);
    std::vector<QTextFragment> code; // a copy, because styling a fragment makes new ones
    for (auto part = block.begin(); !part.atEnd(); ++part) {
        if (framed || part.fragment().charFormat().fontFixedPitch()) {
            code.push_back(part.fragment());
        }
    }
    QTextCharFormat format;
    format.setFont(numberFont());
    for (const QTextFragment& fragment : code) {
        cursor.setPosition(fragment.position());
        cursor.setPosition(fragment.position() + fragment.length(), QTextCursor::KeepAnchor);
        cursor.mergeCharFormat(format);
    }
}

/// True if the cursor is in a frame of equations; false in one of commands.
bool isEquation(const QTextCursor& cursor)
{
    const QTextFrame* const frame = cursor.currentFrame();
    for (auto line = frame->begin(); !line.atEnd(); ++line) {
        if (line.currentBlock().text().startsWith(QLatin1String("residua"))) {
            return false;
        }
    }
    return true;
}

/// Sets the equations in lines of code, and the indices in text that is no inline code.
void setEquations(QTextCursor& cursor, const QTextBlock& block, const Theme& theme)
{
    cursor.setPosition(block.position());
    const bool framed = isFramed(cursor);
    const double letter = QFontMetricsF(numberFont()).horizontalAdvance(QLatin1Char('x'));
    const auto inLetters = [letter](const EquationPart& part) {
        return EquationSetting::widthOf(part, numberFont()) / letter;
    };
    const WidthOfPart widthOf = framed && isEquation(cursor) ? WidthOfPart(inLetters) : WidthOfPart();
    std::vector<QTextFragment> texts; // a copy, because setting a fragment makes new ones
    for (auto part = block.begin(); !part.atEnd(); ++part) {
        if (framed || !part.fragment().charFormat().fontFixedPitch()) {
            texts.push_back(part.fragment());
        }
    }
    for (auto text = texts.rbegin(); text != texts.rend(); ++text) { // from the end: the places before stay
        const std::vector<EquationPart> parts = equationParts(text->text(), widthOf);
        if (parts.size() < 2) {
            continue;
        }
        cursor.setPosition(text->position());
        cursor.setPosition(text->position() + text->length(), QTextCursor::KeepAnchor);
        const QTextCharFormat around = text->charFormat();
        cursor.removeSelectedText();
        for (const EquationPart& part : parts) {
            QTextCharFormat format = around;
            format.setVerticalAlignment(part.place);
            if (part.shape != EquationPart::Shape::Letters) {
                format.setForeground(theme.colour(QStringLiteral("text")));
                EquationSetting::show(format, part);
            }
            cursor.insertText(part.shape == EquationPart::Shape::Letters ? part.text : kObjectLetter, format);
        }
    }
}

void styleTable(QTextTable& table, const Theme& theme)
{
    QTextTableFormat format = table.format();
    format.setBorder(1);
    format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
    format.setBorderBrush(theme.colour(QStringLiteral("border")));
    format.setBorderCollapse(true);
    format.setCellPadding(kCellPadding);
    format.setCellSpacing(0);
    table.setFormat(format);
}

using projects::Project;

constexpr const char* kBlocks = "blocks";

/// Returns the preset while the wiring is still of its family.
std::string wordOfTopology(const projects::Topology& topology)
{
    const std::string family = keyOf(topology.wiring);
    for (const projects::TopologyPreset& preset : projects::topologyChoices(1)) {
        if (preset.name == topology.preset && keyOf(preset.wiring) == family) {
            return preset.name;
        }
    }
    return family;
}

/// Below full rank, returns the method that starts the factors; its page refers to the law as the baseline.
std::string wordOfInitialisation(const Project& project)
{
    const bool inFactors = !std::holds_alternative<projects::FullRank>(project.network.rank);
    return inFactors ? keyOf(project.initialisation.lowRank) : keyOf(project.initialisation.law);
}

/// A performer has a page of its own, separate from that of attention.
std::string wordOfNode(const projects::Node& node)
{
    const auto weights = node.params.find(projects::kWeightsParam); // absent if it has the default
    const auto* const text = weights == node.params.end() ? nullptr : std::get_if<std::string>(&weights->second);
    const bool byFeatures = roleOf(node) == projects::NodeRole::Attention && text != nullptr;
    return byFeatures && *text == projects::kPerformerWeights ? *text : node.kind;
}

std::string wordOfSection(const Project& project, Section section)
{
    switch (section) {
    case Section::Data:
        return keyOf(project.data.source);
    case Section::Network:
        return keyOf(project.network.objective);
    case Section::Topology:
        return wordOfTopology(project.stack().topology);
    case Section::Schedule:
        return "stages";
    case Section::Initialisation:
        return wordOfInitialisation(project);
    case Section::Training:
        return keyOf(project.training.optimiser);
    case Section::Seeds:
        return "seeds";
    case Section::Runs:
        break;
    }
    return {};
}

class WordOfPlace {
public:
    explicit WordOfPlace(const Project& project) : m_project(project) {}

    std::string operator()(const ProjectPlace&) const { return {}; }
    std::string operator()(const SectionPlace& place) const { return wordOfSection(m_project, place.section); }
    std::string operator()(const GraphPlace& place) const
    {
        return place.graph.isHead()   ? keyOf(m_project.network.objective)
               : place.graph.isStem() ? std::string()
                                      : kBlocks;
    }
    std::string operator()(const NodePlace& place) const
    {
        const projects::Graph* const graph = projects::findGraph(m_project, place.graph);
        const projects::Node* const node = graph ? graph->find(place.node) : nullptr;
        return node ? wordOfNode(*node) : std::string();
    }
    std::string operator()(const LoopPlace&) const { return "loops"; }
    std::string operator()(const LossPlace&) const { return "towers"; }
    std::string operator()(const TowerPlace&) const { return "towers"; }
    std::string operator()(const LayersPlace&) const { return kBlocks; }
    std::string operator()(const ShortcutsPlace&) const { return wordOfTopology(m_project.stack().topology); }

private:
    const Project& m_project;
};

} // namespace

HelpPage::HelpPage(const Look& look, QWidget* parent) : QTextBrowser(parent), m_look(look)
{
    setObjectName(QStringLiteral("helpPage"));
    setAccessibleName(tr("Explanation"));
    setFrameShape(QFrame::NoFrame);
    setOpenExternalLinks(false);
    document()->setDocumentMargin(kMargin);
    new EquationSetting(*document());
    connect(this, &QTextBrowser::sourceChanged, this, [this](const QUrl& url) { // source() is still the old page
        m_topic = nameOf(url);
        restyle();
        emit topicShown();
    });
    connect(&look, &Look::changed, this, [this] {
        const int at = verticalScrollBar()->value();
        reload();
        verticalScrollBar()->setValue(at);
    });
}

void HelpPage::showTopic(const std::string& name, const std::string& word)
{
    setSource(urlOf(name));
    scrollTo(word);
}

QVariant HelpPage::loadResource(int type, const QUrl& url)
{
    const resources::HelpTopic* const topic = resources::findTopic(nameOf(url));
    if (type != QTextDocument::MarkdownResource || url.scheme() != kScheme || topic == nullptr) {
        return {};
    }
    return QString::fromUtf8(topic->text.data(), static_cast<qsizetype>(topic->text.size()));
}

/// Copies equations as the page writes them.
QMimeData* HelpPage::createMimeDataFromSelection() const
{
    QTextCursor letter = textCursor();
    QString text = letter.selectedText();
    const int begin = letter.selectionStart() + 1;
    for (qsizetype at = text.lastIndexOf(kObjectLetter); at >= 0; at = text.left(at).lastIndexOf(kObjectLetter)) {
        letter.setPosition(begin + static_cast<int>(at)); // behind the letter, whose format it has
        text.replace(at, 1, EquationSetting::sourceOf(letter.charFormat()));
    }
    auto* const copied = new QMimeData;
    copied->setText(text.replace(QChar::ParagraphSeparator, QLatin1Char('\n')).replace(QChar::Nbsp, QLatin1Char(' ')));
    return copied;
}

void HelpPage::restyle()
{
    const Theme& theme = m_look.theme();
    QTextCursor cursor(document());
    cursor.beginEditBlock();
    frameCode(*document(), theme);
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
        styleBlock(cursor, block);
        styleCode(cursor, block);
        setEquations(cursor, block, theme);
    }
    for (QTextFrame* const frame : document()->rootFrame()->childFrames()) {
        if (auto* const table = qobject_cast<QTextTable*>(frame)) {
            styleTable(*table, theme);
        }
    }
    cursor.endEditBlock();
}

void HelpPage::scrollTo(const std::string& word)
{
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() > 1 && resources::isHeadingOf(block.text().toStdString(), word)) {
            QTextCursor cursor(block);
            setTextCursor(cursor);
            verticalScrollBar()->setValue(verticalScrollBar()->value() + cursorRect(cursor).top());
            return;
        }
    }
}

std::string helpWordOf(const Project& project, const Place& place)
{
    return std::visit(WordOfPlace(project), place);
}

std::string helpWordOf(const PaletteItem& item)
{
    return item.kind == PaletteKind::Block ? kBlocks : item.key;
}

} // namespace residua::app
