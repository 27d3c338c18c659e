// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/start_page.h"

#include "app/engine/background.h"
#include "app/look/theme.h"
#include "engine/runs/results/run_reader.h"
#include "projects/depth/depth_names.h"
#include "projects/file/store.h"
#include "projects/layers/shortcut_edits.h"
#include "projects/shipped/examples.h"
#include "visualizers/plot/arrange.h"

#include <QDir>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace residua::app {
namespace {

constexpr int kMostRemembered = 12;
const QString kRecentKey = QStringLiteral("start/recent");

constexpr double kPictureMargin = 10;
constexpr double kBoxHeight = 16;
constexpr double kLargestBox = 16;

/// Returns the shortcuts drawn as arcs, as on the depth canvas. Empty without a mix, and for a running sum.
std::vector<projects::DrawnShortcut> arcsOf(const projects::Project& project)
{
    const auto* mix = std::get_if<projects::DepthMix>(&project.stack().topology.wiring);
    std::vector<projects::DrawnShortcut> arcs;
    if (mix != nullptr) {
        arcs = drawnShortcuts(*mix, projects::modulesOf(project));
        std::erase_if(arcs, [](const projects::DrawnShortcut& each) {
            return each.kind == projects::ShortcutKind::Stream || each.kind == projects::ShortcutKind::Pruned;
        });
    }
    return arcs;
}

/// A project's stack as a small picture: a box per layer, and an arc per shortcut that is not a step of the plain
/// residual stream. Drawn from the real topology; arcs with a fixed weight are grey.
class ArcThumbnail : public QWidget {
public:
    ArcThumbnail(const projects::Project& project, const Look& look, QWidget* parent = nullptr);

    [[nodiscard]] QSize sizeHint() const override { return {240, 96}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Look& m_look;
    std::int64_t m_depth;
    std::vector<projects::DrawnShortcut> m_arcs;
};

constexpr int kLeastDetail = 120; ///< pixels
constexpr QSize kIcon(16, 16);

/// A line to click: a name, and where or when behind it. In a narrow place the middle of the latter is left out; the
/// tooltip has all of it. GUI thread.
class LinkLine : public QToolButton {
public:
    LinkLine(const QString& icon, QString name, QString detail, QWidget* parent);

    /// Sets a word about the thing, which is shown behind its name; empty: none.
    void setNote(const QString& note);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    /// The text whose detail is at most this wide, in pixels.
    [[nodiscard]] QString textWithin(int detailWidth) const;
    /// The width of all that is not the detail.
    [[nodiscard]] int widthBeside() const;

    QString m_name;
    QString m_note;
    QString m_detail;
};

/// The state of a recent project.
struct Standing {
    QString folder;
    bool trains = false;
    bool isUnsaved = false;
};

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

QStringList recentProjects()
{
    QStringList folders = QSettings().value(kRecentKey).toStringList();
    folders.removeIf(
        [](const QString& folder) { return !QFileInfo::exists(QDir(folder).filePath(projects::kProjectFile)); });
    return folders;
}

void rememberProject(const QString& folder)
{
    QStringList folders = QSettings().value(kRecentKey).toStringList();
    folders.removeAll(folder);
    folders.prepend(folder);
    QSettings().setValue(kRecentKey, folders.mid(0, kMostRemembered));
}

Card::Card(const QString& title, const QString& summary, QWidget* picture, QWidget* parent) : QFrame(parent)
{
    setObjectName(QStringLiteral("card"));
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    setAccessibleName(title);
    setAccessibleDescription(summary);
    auto* heading = new QLabel(title, this);
    heading->setProperty("role", QStringLiteral("heading"));
    auto* text = new QLabel(summary, this);
    visualizers::makeRemark(*text);
    text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(14, 12, 14, 14);
    layout->setSpacing(4);
    if (picture) {
        layout->addWidget(picture);
        layout->addSpacing(4);
    }
    layout->addWidget(heading);
    layout->addWidget(text, 1);
}

void Card::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint())) {
        emit chosen();
    }
}

void Card::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space) {
        emit chosen();
    } else {
        QFrame::keyPressEvent(event);
    }
}

ArcThumbnail::ArcThumbnail(const projects::Project& project, const Look& look, QWidget* parent)
    : QWidget(parent), m_look(look), m_depth(projects::modulesOf(project)), m_arcs(arcsOf(project))
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    connect(&look, &Look::changed, this, qOverload<>(&QWidget::update));
}

void ArcThumbnail::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = m_look.theme();
    const auto places = static_cast<double>(m_depth + 2); // the stem, the layers, the head
    const double pitch = (width() - 2 * kPictureMargin) / places;
    const double box = std::min(kLargestBox, pitch * 0.62);
    const double top = height() - kPictureMargin - kBoxHeight;
    const auto centre = [&](std::int64_t place) { return kPictureMargin + pitch * (static_cast<double>(place) + 0.5); };

    painter.setPen(QPen(theme.colour(QStringLiteral("borderStrong")), 1.4));
    painter.drawLine(QPointF(centre(0), top + kBoxHeight / 2), QPointF(centre(m_depth + 1), top + kBoxHeight / 2));

    const double span = std::max(1.0, places - 1);
    const double reach = std::min(1.0, 24.0 / static_cast<double>(m_arcs.size() + 1)); // many arcs are drawn fainter
    painter.setBrush(Qt::NoBrush);
    for (const auto& [shortcut, kind] : m_arcs) {
        const double length = static_cast<double>(shortcut.target - shortcut.source);
        QColor colour = kind == projects::ShortcutKind::Fixed
                            ? theme.colour(QStringLiteral("borderStrong"))
                            : toColour(resources::magnitude(0.25 + 0.65 * (1 - length / span), theme.kind()));
        colour.setAlphaF(static_cast<float>(0.35 + 0.5 * reach));
        painter.setPen(QPen(colour, length == 1 ? 1.1 : 1.4));
        const double rise = (top - kPictureMargin) * (0.16 + 0.84 * (length - 1) / std::max(1.0, span - 1)) / 0.75;
        const QPointF from(centre(shortcut.source), top);
        const QPointF to(centre(shortcut.target), top);
        QPainterPath arc(from);
        arc.cubicTo(QPointF(from.x(), top - rise), QPointF(to.x(), top - rise), to);
        painter.drawPath(arc);
    }
    painter.setPen(QPen(theme.colour(QStringLiteral("borderStrong")), 1));
    for (std::int64_t place = 0; place <= m_depth + 1; ++place) {
        const bool end = place == 0 || place == m_depth + 1;
        painter.setBrush(theme.colour(end ? QStringLiteral("hover") : QStringLiteral("selected")));
        painter.drawRoundedRect(QRectF(centre(place) - box / 2, top, box, kBoxHeight), 2.5, 2.5);
    }
}

LinkLine::LinkLine(const QString& icon, QString name, QString detail, QWidget* parent)
    : QToolButton(parent), m_name(std::move(name)), m_detail(std::move(detail))
{
    setObjectName(QStringLiteral("link"));
    setIcon(themedIcon(icon));
    setIconSize(kIcon);
    setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed); // narrower than it would like to be
    setToolTip(m_detail);
    setAccessibleName(textWithin(QWIDGETSIZE_MAX));
    setText(accessibleName());
    setCursor(Qt::PointingHandCursor);
}

QString LinkLine::textWithin(int detailWidth) const
{
    const QString name = m_note.isEmpty() ? m_name : QStringLiteral("%1 · %2").arg(m_name, m_note);
    return name + QStringLiteral("   —   ") + fontMetrics().elidedText(m_detail, Qt::ElideMiddle, detailWidth);
}

void LinkLine::setNote(const QString& note)
{
    m_note = note;
    setAccessibleName(textWithin(QWIDGETSIZE_MAX));
    setText(accessibleName());
    updateGeometry();
}

int LinkLine::widthBeside() const
{
    return QToolButton::sizeHint().width() - fontMetrics().horizontalAdvance(text()) +
           fontMetrics().horizontalAdvance(textWithin(0));
}

QSize LinkLine::sizeHint() const
{
    return {widthBeside() + fontMetrics().horizontalAdvance(m_detail), QToolButton::sizeHint().height()};
}

QSize LinkLine::minimumSizeHint() const
{
    return {std::min(sizeHint().width(), widthBeside() + kLeastDetail), sizeHint().height()};
}

void LinkLine::resizeEvent(QResizeEvent* event)
{
    QToolButton::resizeEvent(event);
    setText(textWithin(width() - widthBeside()));
}

StartPage::StartPage(const Look& look, std::filesystem::path draftsFolder, QWidget* parent)
    : QWidget(parent), m_look(look), m_draftsFolder(std::move(draftsFolder)), m_column(new QVBoxLayout(m_body))
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
    visualizers::makeColumn(this, visualizers::kNoMargins, {scroll});
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
    auto* words = visualizers::makeColumn(nullptr, {{}, 2}, {roleLabel(tr("Residua"), QStringLiteral("hero"), header)});
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
        visualizers::makeRow(row, visualizers::kNoMargins, {line, discard, visualizers::rest()});
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
        line->setProperty("project", folder);
        connect(line, &QToolButton::clicked, this, [this, folder] { emit projectChosen(folder); });
        m_listsLayout->addWidget(line, 0, Qt::AlignLeft);
    }
    m_listsLayout->addSpacing(24);
    noteStandings(folders);
}

/// Notes which of the projects are trained, by this or another program, and which have changes that are not saved.
void StartPage::noteStandings(const QStringList& folders)
{
    const auto look = [folders] {
        std::vector<Standing> standings;
        for (const QString& folder : folders) {
            std::error_code ignored;
            const std::filesystem::path project = folder.toStdString();
            standings.push_back({folder, engine::hasRunUnderWay(project),
                                 std::filesystem::exists(project / projects::kJournalFile, ignored)});
        }
        return standings;
    };
    inBackground(this, look, [this](const std::vector<Standing>& standings) {
        for (QToolButton* line : m_lists->findChildren<QToolButton*>(QStringLiteral("link"))) {
            const auto of = std::ranges::find(standings, line->property("project").toString(), &Standing::folder);
            if (of != standings.end()) {
                QStringList notes;
                notes << (of->trains ? QStringList(tr("training")) : QStringList())
                      << (of->isUnsaved ? QStringList(tr("unsaved changes")) : QStringList());
                static_cast<LinkLine*>(line)->setNote(notes.join(QStringLiteral(", ")));
            }
        }
    });
}

void StartPage::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    arrangeExamples();
}

} // namespace residua::app
