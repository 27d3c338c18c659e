// SPDX-License-Identifier: GPL-3.0-or-later
// The actions of the random user on the canvases and on the ribbon.
#include "tests/app/window/random_user.h"

#include "app/actions/edit_commands.h"
#include "app/schedule/schedule_page.h"
#include "app/workspace/workspace.h"
#include "editor/block/block_canvas.h"

#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QTest>
#include <QWheelEvent>

#include <algorithm>
#include <numeric>

namespace residua::app {

CanvasWidget* RandomUser::canvas()
{
    CanvasWidget* const front = m_window.workspace().frontCanvas();
    return front && front->isVisible() && front->drawable() ? front : nullptr;
}

QPoint RandomUser::pointIn(const QWidget& widget)
{
    return {below(std::max(widget.width(), 1)), below(std::max(widget.height(), 1))};
}

QPoint RandomUser::pointOn(CanvasWidget& canvas)
{
    std::optional<editor::ScreenPoint> point;
    const projects::Project& project = m_window.session().project();
    const int what = below(3);
    if (&canvas == &m_window.workspace().block()) {
        const editor::BlockCanvas& block = m_window.workspace().blockCanvas();
        const projects::Graph* graph = projects::findGraph(project, block.graph());
        if (graph && !graph->nodes.empty()) {
            const projects::Node& node = oneOf(graph->nodes);
            point = what == 0   ? block.locate(node.id)
                    : what == 1 ? block.locate(editor::PortTarget{{node.id, "out"}, projects::PortSide::Output})
                                : block.locate(editor::PortTarget{{node.id, "in"}, projects::PortSide::Input});
        }
    } else if (project.network.depth() > 0) {
        const std::int64_t layer = below(static_cast<qsizetype>(project.network.depth() + 1));
        point = what == 0   ? canvas.canvas().locate(editor::LayerTarget{layer, editor::LayerPart::Centre})
                : what == 1 ? canvas.canvas().locate(editor::LayerTarget{layer, editor::LayerPart::Handle})
                            : canvas.canvas().locate(projects::Shortcut{below(layer + 1), layer + 1});
    }
    const QPoint at = point ? QPoint(qRound(point->x), qRound(point->y)) : QPoint(-1, -1);
    return canvas.surface()->rect().contains(at) ? at : pointIn(*canvas.surface());
}

Qt::KeyboardModifiers RandomUser::modifiers()
{
    static const std::vector<Qt::KeyboardModifiers> kModifiers{Qt::NoModifier,    Qt::NoModifier,      Qt::NoModifier,
                                                               Qt::ShiftModifier, Qt::ControlModifier, Qt::AltModifier};
    return oneOf(kModifiers);
}

QString RandomUser::clickOnACanvas()
{
    CanvasWidget* on = canvas();
    if (!on) {
        return chooseATab();
    }
    QWidget* surface = on->surface();
    const QPoint at = pointOn(*on);
    QTest::mouseMove(surface, at);
    const int how = below(8);
    const auto button = how == 0 ? Qt::RightButton : how == 1 ? Qt::MiddleButton : Qt::LeftButton;
    QTest::mouseClick(surface, button, modifiers(), at);
    if (how > 5) {
        QTest::mouseDClick(surface, Qt::LeftButton, {}, at);
    }
    return QStringLiteral("click %1 at %2, %3 of %4").arg(how).arg(at.x()).arg(at.y()).arg(on->accessibleName());
}

void RandomUser::drag(QWidget& widget, Qt::MouseButton button, QPoint from, QPoint to)
{
    const Qt::KeyboardModifiers held = modifiers();
    QTest::mouseMove(&widget, from);
    QTest::mousePress(&widget, button, held, from);
    QTest::mouseMove(&widget, (from + to) / 2);
    QCoreApplication::processEvents();
    QTest::mouseMove(&widget, to);
    if (below(6) == 0) {
        QTest::keyClick(&widget, Qt::Key_Escape); // changed its mind
    }
    QTest::mouseRelease(&widget, button, held, to);
}

QString RandomUser::dragOnACanvas()
{
    CanvasWidget* on = canvas();
    if (!on) {
        return chooseATab();
    }
    const QPoint from = pointOn(*on);
    const QPoint to = pointOn(*on);
    drag(*on->surface(), below(6) == 0 ? Qt::MiddleButton : Qt::LeftButton, from, to);
    return QStringLiteral("drag %1, %2 to %3, %4 on %5")
        .arg(from.x())
        .arg(from.y())
        .arg(to.x())
        .arg(to.y())
        .arg(on->accessibleName());
}

void RandomUser::scroll(QWidget& widget, QPoint at)
{
    const QPoint turn(below(4) == 0 ? 120 : 0, 120 * (below(9) - 4));
    QWheelEvent event(at, widget.mapToGlobal(at), {}, turn, Qt::NoButton, modifiers(), Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&widget, &event);
}

QString RandomUser::turnTheWheel()
{
    if (CanvasWidget* on = canvas()) {
        scroll(*on->surface(), pointOn(*on));
    } else if (auto* ribbon = m_window.findChild<QWidget*>(QStringLiteral("scheduleRibbon"))) {
        scroll(*ribbon, pointIn(*ribbon));
    }
    return QStringLiteral("turn the wheel");
}

QString RandomUser::pressAKeyOnACanvas()
{
    static const std::vector<Qt::Key> kPlain{
        Qt::Key_Delete, Qt::Key_F,    Qt::Key_Escape, Qt::Key_Period, Qt::Key_Left,  Qt::Key_Right, Qt::Key_Up,
        Qt::Key_Down,   Qt::Key_Home, Qt::Key_End,    Qt::Key_Space,  Qt::Key_X,     Qt::Key_L,     Qt::Key_Return,
        Qt::Key_Tab,    Qt::Key_Plus, Qt::Key_Minus,  Qt::Key_PageUp, Qt::Key_Insert};
    static const std::vector<Qt::Key> kControl{Qt::Key_A, Qt::Key_C, Qt::Key_V, Qt::Key_X,
                                               Qt::Key_D, Qt::Key_G, Qt::Key_Z, Qt::Key_L};
    CanvasWidget* on = canvas();
    if (!on) {
        return chooseATab();
    }
    const bool control = below(2) == 0;
    const Qt::Key key = oneOf(control ? kControl : kPlain);
    Qt::KeyboardModifiers held = control ? Qt::ControlModifier : Qt::NoModifier;
    held.setFlag(Qt::ShiftModifier, below(4) == 0);
    QTest::keyClick(on->surface(), key, held);
    return QKeySequence(QKeyCombination(held, key)).toString();
}

QString RandomUser::typeToAdd()
{
    CanvasWidget* on = canvas();
    if (!on) {
        return chooseATab();
    }
    m_window.editCommands().typeToAdd();
    QCoreApplication::processEvents();
    const QString text = oneOf(texts());
    for (auto* field : on->findChildren<QLineEdit*>(QStringLiteral("typingText"))) {
        if (field->isVisible()) {
            typeInto(*field, text);
            QTest::keyClick(field, below(3) == 0 ? Qt::Key_Down : Qt::Key_End);
            QTest::keyClick(field, below(4) == 0 ? Qt::Key_Escape : Qt::Key_Return);
            break;
        }
    }
    return QStringLiteral("type “%1”").arg(text);
}

QString RandomUser::fillTheClipboard()
{
    const QString text = below(2) == 0 ? oneOf(texts()) : QStringLiteral("{\"residua\": [%1").arg(oneOf(texts()));
    QGuiApplication::clipboard()->setText(text);
    return QStringLiteral("clipboard: %1").arg(text);
}

QString RandomUser::editTheRibbon()
{
    m_window.workspace().showCanvas(WorkspaceView::Schedule);
    QCoreApplication::processEvents();
    auto* ribbon = m_window.findChild<QWidget*>(QStringLiteral("scheduleRibbon"));
    if (!ribbon || !ribbon->isVisible()) {
        return QStringLiteral("no ribbon");
    }
    static const std::vector<Qt::Key> kKeys{Qt::Key_Left, Qt::Key_Right,  Qt::Key_Up,  Qt::Key_Down,
                                            Qt::Key_Tab,  Qt::Key_Delete, Qt::Key_Home};
    const QPoint at = pointIn(*ribbon);
    switch (below(4)) {
    case 0:
        QTest::mouseClick(ribbon, Qt::LeftButton, modifiers(), at);
        break;
    case 1:
        QTest::mouseDClick(ribbon, Qt::LeftButton, {}, at);
        break;
    case 2:
        QTest::keyClick(ribbon, oneOf(kKeys), modifiers());
        break;
    default:
        drag(*ribbon, Qt::LeftButton, at, pointIn(*ribbon));
    }
    return QStringLiteral("the ribbon at %1, %2").arg(at.x()).arg(at.y());
}

} // namespace residua::app
