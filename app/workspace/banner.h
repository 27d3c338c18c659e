// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QBoxLayout>
#include <QFrame>
#include <QLabel>
#include <QPointer>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace residua::app {

enum class BannerKind { Note, Error };

/// An answer to a banner.
struct BannerChoice {
    QString text;
    std::function<void()> act;
};

/// A line over the lower part of a widget that says something and waits without being in the way: in place of a dialog.
/// The widget's content keeps its place. A note without choices hides once there was time to read it.
class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(QWidget* over);

    /// Keeps the banner on the lower border of `area`, if visible and high enough, so that it covers nothing below.
    void keepAbove(QWidget* area);
    /// Replaces the message. Every choice dismisses the banner, and so does the cross.
    void say(BannerKind kind, const QString& text, std::vector<BannerChoice> choices = {});
    /// Shows the reason why something failed, until another action succeeds (noticeAction).
    void refuse(const QString& reason);
    /// Asks a question and moves the focus to its first choice. Esc dismisses it, and the focus returns.
    void ask(const QString& question, std::vector<BannerChoice> choices);
    /// Hides the banner at the first recheck() at which `holds` returns false.
    void whileTrue(std::function<bool()> holds) { m_holds = std::move(holds); }
    void recheck();
    /// Called when the document has changed or a run has started, which may remove the cause of the message.
    void noticeAction();
    [[nodiscard]] QString text() const;

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    void place();
    [[nodiscard]] QRect room() const;

    QPointer<QWidget> m_area;
    QTimer* m_read = new QTimer(this); ///< active while a note is read
    bool m_pausedRead = false;         ///< because the pointer is on the note
    std::function<bool()> m_holds;     ///< whether the cause of the message still exists; empty: unknown
    std::uint64_t m_actions = 0;       ///< that were noticed
    QPointer<QWidget> m_back;          ///< had the focus before a question
    QLabel* m_icon = new QLabel(this);
    QLabel* m_text = new QLabel(this);
    QHBoxLayout* m_choices = new QHBoxLayout;
};

} // namespace residua::app
