// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/english_plurals.h"
#include "resources/colours.h"

#include <QColor>
#include <QFont>
#include <QObject>
#include <QPalette>
#include <QString>

#include <map>

class QWidget;

namespace residua::app {

using ThemeKind = resources::Theme;

/// What the style sheet and hand-painted widgets draw with: the colours of resources/colours.h by name, and
/// the shades of them that states need ("hover", "selected", "errorBack", …).
class Theme {
public:
    explicit Theme(ThemeKind kind);

    [[nodiscard]] ThemeKind kind() const { return m_kind; }
    /// An unknown name is magenta, so that it shows.
    [[nodiscard]] QColor colour(const QString& name) const;
    [[nodiscard]] const std::map<QString, QColor>& colours() const { return m_colours; }
    [[nodiscard]] QPalette palette() const;

private:
    ThemeKind m_kind;
    std::map<QString, QColor> m_colours;
};

/// The theme in use. Owned by the program, handed to the widgets that need more than the palette. GUI thread.
class Look : public QObject {
    Q_OBJECT
public:
    explicit Look(ThemeKind kind, QObject* parent = nullptr);

    [[nodiscard]] const Theme& theme() const { return m_theme; }
    /// Restyles the whole application.
    void setKind(ThemeKind kind);

signals:
    void changed();

private:
    Theme m_theme;
    EnglishPlurals m_plurals;
};

/// Has the style sheet draw the widget as of that role: "muted", "error"; empty: as any other.
void setRole(QWidget& widget, const QString& role);
[[nodiscard]] QColor toColour(resources::Rgb rgb);
/// Inter, or what the system has instead.
[[nodiscard]] QFont textFont();
/// JetBrains Mono, or the system's fixed font: for numbers, which then line up.
[[nodiscard]] QFont numberFont();

} // namespace residua::app
