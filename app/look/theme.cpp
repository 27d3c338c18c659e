// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QEvent>
#include <QFile>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHeaderView>
#include <QHelpEvent>
#include <QIconEngine>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QPainter>
#include <QProxyStyle>
#include <QScreen>
#include <QStyle>
#include <QStyleFactory>
#include <QStyleOption>
#include <QStylePainter>
#include <QSvgRenderer>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolTip>

#include <algorithm>
#include <utility>
#include <vector>

/// A static library's resources are omitted unless initialised, which must happen outside of any namespace.
static void takeUpResources()
{
    Q_INIT_RESOURCE(residua);
}

namespace residua::app {
namespace {

constexpr int kTextPixels = 13;
constexpr int kFieldMargin = 2; ///< pixels beside the text of a field, which Qt adds

QColor blend(const QColor& from, const QColor& to, double share)
{
    return QColor::fromRgbF(static_cast<float>(from.redF() + share * (to.redF() - from.redF())),
                            static_cast<float>(from.greenF() + share * (to.greenF() - from.greenF())),
                            static_cast<float>(from.blueF() + share * (to.blueF() - from.blueF())));
}

/// Returns the style sheet with every @name replaced; longer names first, because @border is a prefix of @borderStrong.
QString styleSheetOf(const Theme& theme)
{
    QFile file(QStringLiteral(":/residua/themes/residua.qss"));
    if (!file.open(QIODevice::ReadOnly)) {
        qFatal("The style sheet is missing from the program's resources.");
    }
    QString text = QString::fromUtf8(file.readAll());
    for (const auto& [name, colour] : {std::pair{"chevron-left", "muted"},
                                       {"chevron-right", "muted"},
                                       {"chevron-down", "muted"},
                                       {"chevron-up", "muted"},
                                       {"check", "onAccent"},
                                       {"dash", "onAccent"},
                                       {"detach", "muted"},
                                       {"close", "muted"}}) {
        const QString icon = QString::fromLatin1(name);
        text.replace(QLatin1Char('@') + icon, iconFile(icon, theme.colour(QString::fromLatin1(colour))));
    }
    std::vector<std::pair<QString, QColor>> colours(theme.colours().begin(), theme.colours().end());
    std::stable_sort(colours.begin(), colours.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    for (const auto& [name, colour] : colours) {
        text.replace(QLatin1Char('@') + name, colour.name());
    }
    return text;
}

/// The style of all widgets. Labels, including tooltips, show plain text unless they request markup, because a
/// project's name may look like markup.
class PlainTextStyle final : public QProxyStyle {
public:
    using QProxyStyle::polish;
    using QProxyStyle::QProxyStyle;

    void polish(QWidget* widget) override
    {
        QProxyStyle::polish(widget);
        auto* label = qobject_cast<QLabel*>(widget);
        if (label && label->textFormat() == Qt::AutoText) {
            label->setTextFormat(Qt::PlainText);
        }
    }
};

QFont fontFrom(const QStringList& families, QFontDatabase::SystemFont fallback)
{
    QFont font = QFontDatabase::systemFont(fallback);
    const QStringList present = QFontDatabase::families();
    for (const QString& family : families) {
        if (present.contains(family)) {
            font = QFont(family);
            break;
        }
    }
    font.setPixelSize(kTextPixels);
    return font;
}

QByteArray sourceOf(const QString& name, const QColor& colour)
{
    QFile file(QStringLiteral(":/residua/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly)) {
        return {};
    }
    return file.readAll().replace("#000", colour.name().toLatin1());
}

class ThemedIconEngine : public QIconEngine {
public:
    ThemedIconEngine(QString name, QColor colour) : m_name(std::move(name)), m_colour(colour) {}

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override
    {
        QColor colour = m_colour;
        if (mode == QIcon::Disabled || !colour.isValid()) {
            const auto group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
            colour = QGuiApplication::palette().color(group, QPalette::ButtonText);
        }
        QSvgRenderer renderer(sourceOf(m_name, colour));
        renderer.render(painter, rect);
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        if (size.isEmpty()) {
            return {};
        }
        QPixmap image(size);
        image.fill(Qt::transparent);
        QPainter painter(&image);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return image;
    }

    QIconEngine* clone() const override { return new ThemedIconEngine(m_name, m_colour); }

private:
    QString m_name;
    QColor m_colour;
};

constexpr QSize kFrame(16, 48); // that the system may draw around the window

/// Detects changes in the contents of its parent's layout.
class Grower : public QObject {
public:
    explicit Grower(QDialog& dialog) : QObject(&dialog), m_dialog(dialog) { dialog.installEventFilter(this); }

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Show) {
            grow();
        }
        return QObject::eventFilter(watched, event);
    }

private:
    void grow()
    {
        QLayout* const layout = m_dialog.layout();
        if (layout == nullptr) {
            return;
        }
        const int wanted = layout->hasHeightForWidth() ? layout->totalHeightForWidth(m_dialog.width())
                                                       : layout->totalSizeHint().height();
        const int most = m_dialog.screen()->availableSize().height() - kFrame.height();
        if (const int height = std::min(wanted, most); height > m_dialog.height()) {
            m_dialog.resize(m_dialog.width(), height);
        }
    }

    QDialog& m_dialog;
};

} // namespace

QColor toColour(resources::Rgb rgb)
{
    return {rgb.r, rgb.g, rgb.b};
}

Theme::Theme(ThemeKind kind) : m_kind(kind)
{
    const resources::ThemeColours& base = resources::themeColours(kind);
    const bool dark = kind == ThemeKind::Dark;
    const QColor surface = toColour(base.surface);
    const QColor text = toColour(base.text);
    const QColor border = toColour(base.border);
    const QColor accent = toColour(base.accent);
    m_colours = {
        {"window", toColour(base.background)},
        {"surface", surface},
        {"field", dark ? toColour(base.background) : surface},
        {"border", border},
        {"borderStrong", blend(border, toColour(base.muted), 0.4)},
        {"text", text},
        {"muted", toColour(base.muted)},
        {"faint", blend(toColour(base.muted), surface, 0.3)},
        {"hover", toColour(base.raised)},
        {"pressed", blend(toColour(base.raised), text, 0.08)},
        {"selected", blend(surface, accent, dark ? 0.3 : 0.16)},
        {"accent", accent},
        {"accentHover", blend(accent, text, 0.14)},
        {"onAccent", toColour(base.onAccent)},
        {"warning", toColour(base.warning)},
        {"warningBack", blend(surface, toColour(base.warning), 0.12)},
        {"error", toColour(base.error)},
        {"errorBack", blend(surface, toColour(base.error), 0.1)},
    };
}

QColor Theme::colour(const QString& name) const
{
    const auto found = m_colours.find(name);
    return found == m_colours.end() ? QColor(Qt::magenta) : found->second;
}

QPalette Theme::palette() const
{
    static constexpr std::pair<QPalette::ColorRole, const char*> kRoles[] = {{QPalette::Window, "window"},
                                                                             {QPalette::WindowText, "text"},
                                                                             {QPalette::Base, "surface"},
                                                                             {QPalette::AlternateBase, "hover"},
                                                                             {QPalette::Text, "text"},
                                                                             {QPalette::PlaceholderText, "faint"},
                                                                             {QPalette::Button, "surface"},
                                                                             {QPalette::ButtonText, "text"},
                                                                             {QPalette::BrightText, "error"},
                                                                             {QPalette::Highlight, "selected"},
                                                                             {QPalette::HighlightedText, "text"},
                                                                             {QPalette::Link, "accent"},
                                                                             {QPalette::LinkVisited, "accent"},
                                                                             {QPalette::ToolTipBase, "surface"},
                                                                             {QPalette::ToolTipText, "text"},
                                                                             {QPalette::Light, "surface"},
                                                                             {QPalette::Midlight, "hover"},
                                                                             {QPalette::Mid, "border"},
                                                                             {QPalette::Dark, "borderStrong"},
                                                                             {QPalette::Shadow, "borderStrong"}};
    QPalette palette;
    for (const auto& [role, name] : kRoles) {
        palette.setColor(role, colour(QString::fromLatin1(name)));
    }
    for (const QPalette::ColorRole role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, colour(QStringLiteral("faint")));
    }
    return palette;
}

namespace {

/// Gives access to the option, which is protected.
class OpenComboBox : public QComboBox {
public:
    using QComboBox::initStyleOption;
};

QStyleOptionComboBox optionOf(const QComboBox& box)
{
    QStyleOptionComboBox option;
    (box.*&OpenComboBox::initStyleOption)(&option);
    if (box.currentIndex() < 0 && !box.placeholderText().isEmpty()) {
        option.palette.setBrush(QPalette::ButtonText, option.palette.placeholderText());
        option.currentText = box.placeholderText();
    }
    return option;
}

/// Returns the text of the box as it fits.
QString elidedIn(const QComboBox& box, const QStyleOptionComboBox& option)
{
    constexpr int kBesideIcon = 4;
    const QRect field = box.style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, &box);
    const int icon = option.currentIcon.isNull() ? 0 : option.iconSize.width() + kBesideIcon;
    return option.fontMetrics.elidedText(option.currentText, Qt::ElideRight, field.width() - icon);
}

/// Paints the box as QComboBox does, with an ellipsis. Returns true: it is painted.
bool paintElided(QComboBox& box)
{
    QStylePainter painter(&box);
    QStyleOptionComboBox option = optionOf(box);
    painter.setPen(box.palette().color(QPalette::Text));
    painter.drawComplexControl(QStyle::CC_ComboBox, option);
    option.currentText = elidedIn(box, option);
    painter.drawControl(QStyle::CE_ComboBoxLabel, option);
    return true;
}

/// Shows the whole text of a box above its help. Returns false if it is not elided.
bool explainElided(const QComboBox& box, const QEvent& event)
{
    const QStyleOptionComboBox option = optionOf(box);
    if (elidedIn(box, option) == option.currentText) {
        return false;
    }
    const QString help = box.toolTip();
    QToolTip::showText(static_cast<const QHelpEvent&>(event).globalPos(),
                       help.isEmpty() ? option.currentText : option.currentText + QLatin1Char('\n') + help);
    return true;
}

/// Shows the whole placeholder of an empty field with its help if it is elided in the field.
bool explainElided(const QLineEdit& field, const QEvent& event)
{
    QStyleOptionFrame option;
    option.initFrom(&field);
    const int room = field.style()->subElementRect(QStyle::SE_LineEditContents, &option, &field).width();
    const QString hint = field.placeholderText();
    const bool fits = field.fontMetrics().horizontalAdvance(hint) <= room - 2 * kFieldMargin;
    if (hint.isEmpty() || !field.text().isEmpty() || fits) {
        return false;
    }
    const QString help = field.toolTip();
    QToolTip::showText(static_cast<const QHelpEvent&>(event).globalPos(),
                       help.isEmpty() ? hint : hint + QLatin1Char('\n') + help);
    return true;
}

} // namespace

Look::Look(ThemeKind kind, QObject* parent) : QObject(parent), m_theme(kind)
{
    takeUpResources();
    QCoreApplication::installTranslator(&m_plurals);
    QApplication::setStyle(new PlainTextStyle(QStyleFactory::create(QStringLiteral("Fusion"))));
    QApplication::setFont(textFont());
    qApp->installEventFilter(this);
    setKind(kind);
}

bool Look::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Polish) {
        if (auto* const head = qobject_cast<QHeaderView*>(watched)) {
            head->setTextElideMode(Qt::ElideRight);
        } else if (auto* const table = qobject_cast<QTableView*>(watched)) {
            table->setTabKeyNavigation(false); // Tab leaves the table, and the arrow keys move in it
            table->horizontalHeader()->setHighlightSections(false);
        }
    } else if (event->type() == QEvent::Paint || event->type() == QEvent::ToolTip) {
        auto* const box = qobject_cast<QComboBox*>(watched);
        if (box && !box->isEditable()) {
            return event->type() == QEvent::Paint ? paintElided(*box) : explainElided(*box, *event);
        }
        const auto* const field = qobject_cast<QLineEdit*>(watched);
        if (field && event->type() == QEvent::ToolTip) {
            return explainElided(*field, *event);
        }
    }
    return QObject::eventFilter(watched, event);
}

void Look::setKind(ThemeKind kind)
{
    m_theme = Theme(kind);
    QApplication::setPalette(m_theme.palette());
    qApp->setStyleSheet(styleSheetOf(m_theme));
    emit changed();
}

void setRole(QWidget& widget, const QString& role)
{
    widget.setProperty("role", role);
    widget.style()->unpolish(&widget);
    widget.style()->polish(&widget);
}

QFont textFont()
{
    return fontFrom({QStringLiteral("Inter"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")},
                    QFontDatabase::GeneralFont);
}

QFont numberFont()
{
    QFont font =
        fontFrom({QStringLiteral("JetBrains Mono"), QStringLiteral("DejaVu Sans Mono")}, QFontDatabase::FixedFont);
    font.setPixelSize(kTextPixels - 1); // its letters are wider and taller than Inter's
    return font;
}

QIcon themedIcon(const QString& name, const QColor& colour)
{
    return QIcon(new ThemedIconEngine(name, colour));
}

QString iconFile(const QString& name, const QColor& colour)
{
    static const QTemporaryDir folder; // a style sheet may read the file at any time
    const QString path = folder.filePath(name + colour.name().mid(1) + QStringLiteral(".svg"));
    QFile file(path);
    if (!file.exists() && file.open(QIODevice::WriteOnly)) {
        file.write(sourceOf(name, colour));
    }
    return QDir::fromNativeSeparators(path);
}

void resizeWithinScreen(QWidget& window, QSize wanted)
{
    window.resize(wanted.boundedTo(window.screen()->availableSize() - kFrame));
}

void growWithContent(QDialog& dialog)
{
    new Grower(dialog);
}

} // namespace residua::app
