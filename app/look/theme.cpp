// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme.h"

#include <QApplication>
#include <QFile>
#include <QFontDatabase>
#include <QLabel>
#include <QProxyStyle>
#include <QStyle>
#include <QStyleFactory>

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

Look::Look(ThemeKind kind, QObject* parent) : QObject(parent), m_theme(kind)
{
    takeUpResources();
    QCoreApplication::installTranslator(&m_plurals);
    QApplication::setStyle(new PlainTextStyle(QStyleFactory::create(QStringLiteral("Fusion"))));
    QApplication::setFont(textFont());
    setKind(kind);
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

} // namespace residua::app
