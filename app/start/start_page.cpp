// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/start_page.h"

#include "app/document/document_session.h"
#include "app/look/theme.h"
#include "app/start/arc_thumbnail.h"
#include "app/start/card.h"
#include "app/start/link_line.h"
#include "app/start/recent_projects.h"
#include "projects/library/examples.h"

#include <QDir>
#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr int kCardWidth = 280;
constexpr int kCardHeight = 196;
constexpr int kGap = 16;
constexpr int kSideMargin = 40;
constexpr int kMostColumns = 4;
constexpr int kLogoSize = 56;
constexpr int kMostRecent = 6;

QLabel* roleLabel(const QString& text, const QString& role, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setProperty("role", role);
    return label;
}

} // namespace

StartPage::StartPage(const Look& look, std::filesystem::path draftsFolder, QWidget* parent)
    : QWidget(parent),
      m_look(look),
      m_draftsFolder(std::move(draftsFolder)),
      m_body(new QWidget),
      m_column(new QVBoxLayout(m_body)),
      m_examples(new QGridLayout)
{
    setObjectName(QStringLiteral("startPage"));
    setAttribute(Qt::WA_StyledBackground);
    m_body->setObjectName(QStringLiteral("startBody"));
    m_column->setContentsMargins(kSideMargin, 36, kSideMargin, 36);
    m_column->setSpacing(0);
    m_column->addWidget(makeHeader());
    m_column->addSpacing(28);
    m_lists = new QWidget(m_body);
    m_listsLayout = new QVBoxLayout(m_lists);
    m_listsLayout->setContentsMargins(0, 0, 0, 0);
    m_listsLayout->setSpacing(4);
    m_column->addWidget(m_lists);
    m_column->addWidget(roleLabel(tr("Examples — open one and press Run"), QStringLiteral("heading"), m_body));
    m_column->addSpacing(12);
    m_examples->setSpacing(kGap);
    m_column->addLayout(m_examples);
    makeExamples();
    m_column->addStretch();

    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(m_body);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(scroll);
    refresh();
}

QWidget* StartPage::makeHeader()
{
    auto* header = new QWidget(m_body);
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(16);
    auto* logo = new QLabel(header);
    logo->setPixmap(
        QIcon(QStringLiteral(":/residua/residua.svg")).pixmap(QSize(kLogoSize, kLogoSize), devicePixelRatioF()));
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(roleLabel(tr("Residua"), QStringLiteral("hero"), header));
    auto* aim = roleLabel(tr("Wire the depth of a network, train it, and see which shortcuts it learned."),
                          QStringLiteral("muted"), header);
    aim->setWordWrap(true); // in a narrow window
    words->addWidget(aim);
    m_new = new QPushButton(themedIcon(QStringLiteral("new")), tr("New"), header);
    m_open = new QPushButton(themedIcon(QStringLiteral("open")), tr("Open…"), header);
    m_new->setObjectName(QStringLiteral("startNew"));
    m_open->setObjectName(QStringLiteral("startOpen"));
    connect(m_new, &QPushButton::clicked, this, &StartPage::newRequested);
    connect(m_open, &QPushButton::clicked, this, &StartPage::openRequested);
    layout->addWidget(logo);
    layout->addLayout(words, 1);
    layout->addWidget(m_new);
    layout->addWidget(m_open);
    return header;
}

void StartPage::makeExamples()
{
    for (const projects::Example& example : projects::examples()) {
        const QString name = QString::fromStdString(example.name);
        auto* card = new Card(QString::fromStdString(example.title), QString::fromStdString(example.summary),
                              new ArcThumbnail(example.project, m_look), m_body);
        card->setProperty("example", name);
        card->setFixedHeight(kCardHeight);
        connect(card, &Card::chosen, this, [this, name] { emit exampleChosen(name); });
        m_cards << card;
    }
}

void StartPage::arrangeExamples()
{
    const int columns = std::clamp((width() - 2 * kSideMargin + kGap) / (kCardWidth + kGap), 1, kMostColumns);
    if (columns == m_columns) {
        return;
    }
    for (int column = 0; column < kMostColumns; ++column) {
        m_examples->setColumnStretch(column, column < columns ? 1 : 0);
    }
    m_columns = columns;
    for (int i = 0; i < m_cards.size(); ++i) {
        m_examples->addWidget(m_cards[i], i / columns, i % columns);
    }
}

void StartPage::refresh()
{
    while (QLayoutItem* item = m_listsLayout->takeAt(0)) {
        if (item->widget()) {
            item->widget()->deleteLater(); // a line may be the sender
        }
        delete item;
    }
    addDrafts();
    addRecent();
}

void StartPage::addDrafts()
{
    const std::vector<Draft> drafts = leftDrafts(m_draftsFolder);
    if (drafts.empty()) {
        return;
    }
    m_listsLayout->addWidget(roleLabel(tr("Unsaved work"), QStringLiteral("heading"), m_lists));
    for (const Draft& draft : drafts) {
        const QString folder = QString::fromStdString(draft.folder.string());
        auto* row = new QWidget(m_lists);
        auto* layout = new QHBoxLayout(row);
        layout->setContentsMargins(0, 0, 0, 0);
        auto* line = new LinkLine(QStringLiteral("warning"), draft.name,
                                  tr("changed %1").arg(QLocale().toString(draft.changed, QLocale::ShortFormat)), row);
        line->setProperty("draft", folder);
        line->setToolTip(tr("Take it up where it was left"));
        auto* discard = new QToolButton(row);
        discard->setIcon(themedIcon(QStringLiteral("close")));
        discard->setToolTip(tr("Move this unsaved work to the trash"));
        discard->setAccessibleName(tr("Discard %1").arg(draft.name));
        connect(line, &QToolButton::clicked, this, [this, folder] { emit draftChosen(folder); });
        connect(discard, &QToolButton::clicked, this, [this, draft] { emit draftDiscarded(draft); });
        layout->addWidget(line);
        layout->addWidget(discard);
        layout->addStretch();
        m_listsLayout->addWidget(row);
    }
    m_listsLayout->addSpacing(16);
}

void StartPage::addRecent()
{
    const QStringList folders = recentProjects().mid(0, kMostRecent); // the menu has the others
    if (folders.isEmpty()) {
        return;
    }
    m_listsLayout->addWidget(roleLabel(tr("Recent projects"), QStringLiteral("heading"), m_lists));
    for (const QString& folder : folders) {
        auto* line =
            new LinkLine(QStringLiteral("open"), QDir(folder).dirName(), QDir::toNativeSeparators(folder), m_lists);
        connect(line, &QToolButton::clicked, this, [this, folder] { emit projectChosen(folder); });
        m_listsLayout->addWidget(line, 0, Qt::AlignLeft);
    }
    m_listsLayout->addSpacing(24);
}

void StartPage::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrangeExamples();
}

} // namespace residua::app
