// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/look/format.h"
#include "resources/colours.h"

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QObject>
#include <QPalette>
#include <QSize>
#include <QString>

#include <map>

class QDialog;
class QWidget;

namespace residua::app {

using ThemeKind = resources::Theme;

/// The colours for the style sheet and for painted widgets: those of resources/colours.h by name, and shades of them
/// for states ("hover", "selected", "errorBack", …).
class Theme {
public:
    explicit Theme(ThemeKind kind);

    [[nodiscard]] ThemeKind kind() const { return m_kind; }
    /// Returns magenta for an unknown name, so that the error is visible.
    [[nodiscard]] QColor colour(const QString& name) const;
    [[nodiscard]] const std::map<QString, QColor>& colours() const { return m_colours; }
    [[nodiscard]] QPalette palette() const;

private:
    ThemeKind m_kind;
    std::map<QString, QColor> m_colours;
};

/// The current theme. Owned by the program and passed to widgets that need more than the palette. GUI thread.
class Look : public QObject {
    Q_OBJECT
public:
    explicit Look(ThemeKind kind, QObject* parent = nullptr);

    [[nodiscard]] const Theme& theme() const { return m_theme; }
    /// Restyles the whole application.
    void setKind(ThemeKind kind);

signals:
    void changed();

protected:
    /// Ends texts that do not fit with an ellipsis where Qt's style sheets only cut them: in boxes of choices and in
    /// the heads of tables. A box shows its whole text as its tooltip then.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    Theme m_theme;
    EnglishPlurals m_plurals;
};

/// Sets the role of the widget for the style sheet: "muted", "error"; empty: none.
void setRole(QWidget& widget, const QString& role);
[[nodiscard]] QColor toColour(resources::Rgb rgb);
/// Returns Inter, or the system's replacement.
[[nodiscard]] QFont textFont();
/// Returns JetBrains Mono, or the system's fixed font, for numbers, which then align.
[[nodiscard]] QFont numberFont();

/// Returns an icon of resources/icons, drawn in the palette's text colour when it is painted, so that it follows a
/// change of theme. A valid `colour` replaces the palette's.
[[nodiscard]] QIcon themedIcon(const QString& name, const QColor& colour = {});

/// Returns the icon in `colour` as an image file, for style sheets. Kept until the program ends.
[[nodiscard]] QString iconFile(const QString& name, const QColor& colour);

/// Sets the size of a window that has not been shown: as wanted, but no larger than its screen.
void resizeWithinScreen(QWidget& window, QSize wanted);

/// From now on makes the dialog higher, within its screen, if its contents need that. A layout alone ignores the height
/// of wrapped texts, and would squeeze all rows when one of them appears.
void growWithContent(QDialog& dialog);

} // namespace residua::app
