// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QLineEdit>
#include <QPointer>
#include <QTreeView>

class QAbstractItemModel;

namespace residua::app {

/// A field with a list below it. The arrow keys move through the list from the field. Enter or a click takes a row; Esc
/// or a loss of the focus cancels. While it is open, no key triggers a command. Hidden until popUp().
class TypedPopup : public QFrame {
    Q_OBJECT
public:
    explicit TypedPopup(QWidget* host);

protected:
    [[nodiscard]] QLineEdit& field() const { return *m_field; }
    [[nodiscard]] QTreeView& list() const { return *m_list; }
    /// Opens the popup at `place` over the host; leave() gives the focus to `back`.
    void popUp(const QRect& place, QWidget* back);
    void leave();
    /// Called when the user moves to a row by key or click.
    virtual void rowChosen() {}
    /// Called when Enter is pressed, or a row is clicked, which is then the current one.
    virtual void take() = 0;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QLineEdit* m_field = new QLineEdit(this);
    QTreeView* m_list = new QTreeView(this);
    QPointer<QWidget> m_back;
};

} // namespace residua::app
