// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/theme.h"

#include <QDialog>
#include <QEvent>
#include <QLayout>
#include <QScreen>

#include <algorithm>

namespace residua::app {

namespace {

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

void resizeWithinScreen(QWidget& window, QSize wanted)
{
    window.resize(wanted.boundedTo(window.screen()->availableSize() - kFrame));
}

void growWithContent(QDialog& dialog)
{
    new Grower(dialog);
}

} // namespace residua::app
