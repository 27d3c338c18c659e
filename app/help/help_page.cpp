// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/help/help_page.h"

#include "app/look/theme.h"
#include "resources/help.h"

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

} // namespace

HelpPage::HelpPage(const Look& look, QWidget* parent) : QTextBrowser(parent), m_look(look)
{
    setObjectName(QStringLiteral("helpPage"));
    setAccessibleName(tr("Explanation"));
    setFrameShape(QFrame::NoFrame);
    setOpenExternalLinks(false);
    document()->setDocumentMargin(kMargin);
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

void HelpPage::restyle()
{
    const Theme& theme = m_look.theme();
    QTextCursor cursor(document());
    cursor.beginEditBlock();
    frameCode(*document(), theme);
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
        styleBlock(cursor, block);
        styleCode(cursor, block);
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

} // namespace residua::app
