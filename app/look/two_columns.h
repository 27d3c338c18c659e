// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

class QBoxLayout;

namespace residua::app {

/// Shows two columns beside each other, or the second below the first if there is no width for both. Scrolls what is
/// too high. GUI thread.
class TwoColumns : public QScrollArea {
    Q_OBJECT
public:
    /// The first column gets `firstShare` of the width and the second `secondShare`. Takes ownership of both.
    TwoColumns(QBoxLayout* first, int firstShare, QBoxLayout* second, int secondShare, QWidget* parent);

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void arrange();

    QBoxLayout* m_first;
    QBoxLayout* m_second;
    QBoxLayout* m_both;
};

} // namespace residua::app
