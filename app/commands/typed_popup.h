// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QPointer>

class QAbstractItemModel;
class QLineEdit;
class QTreeView;

namespace residua::app {

/// A field with a list below it that the arrow keys move through from the field. Enter or a click takes, Esc gives up,
/// and so does looking elsewhere. While it is open no key means a command. Hidden until popUp.
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
    /// A row was gone to by key or click, not only offered.
    virtual void rowChosen() {}
    /// Enter was pressed, or a row clicked, which is the current one then.
    virtual void take() = 0;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QLineEdit* m_field;
    QTreeView* m_list;
    QPointer<QWidget> m_back;
};

} // namespace residua::app
