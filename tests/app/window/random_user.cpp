// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/window/random_user.h"

#include "app/commands/command_palette.h"
#include "app/outline/outline_view.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "projects/nodes/shape.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDrag>
#include <QFrame>
#include <QLineEdit>
#include <QMenuBar>
#include <QTabBar>
#include <QTest>
#include <QToolButton>

#include <qcustomplot.h>

#include <algorithm>
#include <set>

namespace residua::app {

namespace {

constexpr int kImpatienceMilliseconds = 15;

/// Returns the actions that train or would end the test.
const std::set<QString>& leftAlone()
{
    static const std::set<QString> kNames{"quit",       "run",           "pause",   "step",
                                          "stop",       "goOnWithQueue", "enqueue", "runButton",
                                          "queueSweep", "run:resume",    "run:fork"};
    return kNames;
}

bool isLeftAlone(const QAbstractButton& button)
{
    const auto* tool = qobject_cast<const QToolButton*>(&button);
    const QAction* action = tool ? tool->defaultAction() : nullptr;
    return leftAlone().contains(button.objectName()) || leftAlone().contains(button.text()) ||
           (action && leftAlone().contains(action->objectName()));
}

} // namespace

RandomUser::RandomUser(MainWindow& window, unsigned seed) : m_window(window), m_random(seed)
{
    for (const PaletteGroup& group : paletteGroups()) {
        m_items.insert(m_items.end(), group.items.begin(), group.items.end());
    }
    connect(&m_impatience, &QTimer::timeout, this, &RandomUser::giveUpWhatWaits);
    m_impatience.start(kImpatienceMilliseconds);
}

const std::vector<QString>& RandomUser::texts()
{
    static const std::vector<QString> kTexts{
        "2",        "3",      "8",     "16",    "0.5",       "1e-3",
        "0",        "-1",     "1e99",  "d / 2", "4 * width", "mlp",
        "linear",   "a name", "",      "0:3",   "1:4",       "x * sigmoid(gate)",
        "low rank", "1, 2",   "every", "½ · ←", "((",        "99999999999999999999"};
    return kTexts;
}

void RandomUser::typeInto(QLineEdit& field, const QString& text)
{
    const QPointer<QLineEdit> still = &field; // what is typed may close it
    for (qsizetype i = 0; i < text.size() && still; ++i) {
        QTest::sendKeyEvent(QTest::Click, still, Qt::Key_unknown, text.mid(i, 1), Qt::NoModifier);
    }
}

const std::vector<RandomUser::Kind>& RandomUser::kinds()
{
    static const std::vector<Kind> kKinds{
        {10, &RandomUser::takeACommand},   {2, &RandomUser::searchTheCommands}, {4, &RandomUser::takeFromThePalette},
        {8, &RandomUser::goToAPlace},      {10, &RandomUser::setAProperty},     {12, &RandomUser::clickOnACanvas},
        {14, &RandomUser::dragOnACanvas},  {6, &RandomUser::turnTheWheel},      {12, &RandomUser::pressAKeyOnACanvas},
        {6, &RandomUser::typeToAdd},       {2, &RandomUser::fillTheClipboard},  {4, &RandomUser::editTheRibbon},
        {4, &RandomUser::useAPlot},        {6, &RandomUser::chooseATab},        {6, &RandomUser::useAList},
        {6, &RandomUser::fillAField},      {6, &RandomUser::pressAButton},      {4, &RandomUser::chooseFromABox},
        {1, &RandomUser::resizeTheWindow}, {2, &RandomUser::useTheStartPage},
    };
    return kKinds;
}

QString RandomUser::act()
{
    const auto& all = kinds();
    int at =
        below(std::accumulate(all.begin(), all.end(), 0, [](int sum, const Kind& kind) { return sum + kind.weight; }));
    const auto kind = std::ranges::find_if(all, [&](const Kind& each) { return (at -= each.weight) < 0; });
    const QString what = (this->*kind->act)();
    QCoreApplication::processEvents();
    closeWhatIsOpen();
    return what;
}

QString RandomUser::takeACommand()
{
    const QList<MenuCommand> commands = commandsOf(*m_window.menuBar());
    const MenuCommand& command = commands.at(below(commands.size()));
    if (command.action->isEnabled() && !leftAlone().contains(command.action->objectName())) {
        command.action->trigger();
    }
    return command.path;
}

QString RandomUser::searchTheCommands()
{
    m_window.actions().commands->trigger();
    const QString text = texts()[static_cast<std::size_t>(below(12))];
    if (auto* field = m_window.findChild<QLineEdit*>(QStringLiteral("commandSearch")); field && field->isVisible()) {
        typeInto(*field, text);
        QTest::keyClick(field, below(2) == 0 ? Qt::Key_Down : Qt::Key_PageUp);
        QTest::keyClick(field, Qt::Key_Escape);
    }
    return QStringLiteral("search the commands for “%1”").arg(text);
}

QString RandomUser::takeFromThePalette()
{
    const PaletteItem& item = oneOf(m_items);
    if (const auto change = takeUp(m_window.session().project(), m_window.documents().place(), item)) {
        m_window.documents().perform(*change);
    }
    return QStringLiteral("palette: %1").arg(item.title);
}

QString RandomUser::goToAPlace()
{
    const OutlineModel& model = m_window.workspace().outlineModel();
    QModelIndex index;
    for (int depth = 1 + below(4); depth > 0 && model.rowCount(index) > 0; --depth) {
        index = model.index(below(model.rowCount(index)), 0, index);
    }
    if (const OutlineRow* row = model.rowAt(index)) {
        m_window.documents().choose(Place(row->place));
    }
    return QStringLiteral("go to %1").arg(index.data().toString());
}

QString RandomUser::setAProperty()
{
    const auto properties = propertiesOf(m_window.session().project(), m_window.documents().place());
    if (properties.empty()) {
        return QStringLiteral("no property");
    }
    const Property& property = oneOf(properties);
    QVariant value;
    switch (property.kind) {
    case PropertyKind::Toggle:
        value = !property.value.toBool();
        break;
    case PropertyKind::Choice:
        value = below(std::max<qsizetype>(property.choices.size(), 1));
        break;
    case PropertyKind::Integer:
        value = qlonglong(std::max(property.range.least, 1.0)) + below(12);
        break;
    case PropertyKind::Real:
        value = std::max(property.range.least, 0.0) + below(100) / 100.0;
        break;
    case PropertyKind::Size:
        value = QString::number(1 + below(64));
        break;
    case PropertyKind::Text:
    case PropertyKind::File:
        value = oneOf(texts());
        break;
    }
    if (const auto edit = property.edit(m_window.session().project(), value)) {
        m_window.documents().applyEdit(*edit);
    }
    return QStringLiteral("%1 = %2").arg(property.title, value.toString());
}

QString RandomUser::useAPlot()
{
    auto* plot = any<QCustomPlot>();
    if (!plot) {
        return QStringLiteral("no plot");
    }
    const QPoint at = pointIn(*plot);
    switch (below(4)) {
    case 0:
        scroll(*plot, at);
        break;
    case 1:
        QTest::mouseDClick(plot, Qt::LeftButton, {}, at);
        break;
    case 2:
        QTest::mouseMove(plot, at);
        break;
    default:
        drag(*plot, Qt::LeftButton, at, pointIn(*plot));
    }
    return QStringLiteral("the plot at %1, %2").arg(at.x()).arg(at.y());
}

QString RandomUser::chooseATab()
{
    auto* bar = any<QTabBar>();
    if (!bar || bar->count() == 0) {
        return QStringLiteral("no tab");
    }
    const int tab = below(bar->count());
    QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(tab).center());
    return QStringLiteral("tab %1").arg(bar->tabText(tab));
}

QString RandomUser::useAList()
{
    static const std::vector<Qt::Key> kKeys{Qt::Key_Up,    Qt::Key_Down,   Qt::Key_Left,     Qt::Key_Right,
                                            Qt::Key_Space, Qt::Key_Return, Qt::Key_F2,       Qt::Key_Delete,
                                            Qt::Key_Home,  Qt::Key_End,    Qt::Key_PageDown, Qt::Key_A};
    auto* view = any<QAbstractItemView>();
    if (!view) {
        return QStringLiteral("no list");
    }
    const QPoint at = pointIn(*view->viewport());
    QTest::mouseClick(view->viewport(), Qt::LeftButton, modifiers(), at);
    const int how = below(5);
    if (how == 0) {
        QTest::mouseDClick(view->viewport(), Qt::LeftButton, {}, at);
    } else if (how == 1) {
        drag(*view->viewport(), Qt::LeftButton, at, pointIn(*view->viewport()));
    } else {
        QTest::keyClick(view, oneOf(kKeys), modifiers());
    }
    return QStringLiteral("list %1").arg(view->accessibleName());
}

QString RandomUser::fillAField()
{
    auto* field = any<QLineEdit>();
    if (!field) {
        return QStringLiteral("no field");
    }
    const QString text = oneOf(texts());
    const QString name = field->objectName();
    const QPointer<QLineEdit> still = field;
    field->setFocus();
    field->selectAll();
    typeInto(*field, text);
    if (still) {
        QTest::keyClick(field, below(4) == 0 ? Qt::Key_Escape : Qt::Key_Return);
    }
    return QStringLiteral("field %1: %2").arg(name, text);
}

QString RandomUser::pressAButton()
{
    auto* button = any<QAbstractButton>();
    if (!button || isLeftAlone(*button)) {
        return QStringLiteral("no button");
    }
    const QString name = button->text().isEmpty() ? button->objectName() : button->text();
    QTest::mouseClick(button, Qt::LeftButton);
    return QStringLiteral("button %1").arg(name);
}

QString RandomUser::chooseFromABox()
{
    auto* box = any<QComboBox>();
    if (!box) {
        return QStringLiteral("no box");
    }
    const QString name = box->accessibleName();
    box->setFocus();
    for (int i = 1 + below(3); i > 0 && box->isVisible(); --i) {
        QTest::keyClick(box, below(3) == 0 ? Qt::Key_Up : Qt::Key_Down);
    }
    return QStringLiteral("box %1").arg(name);
}

QString RandomUser::resizeTheWindow()
{
    const QSize size(640 + below(600), 480 + below(360));
    m_window.resize(size);
    return QStringLiteral("resize to %1 × %2").arg(size.width()).arg(size.height());
}

QString RandomUser::useTheStartPage()
{
    m_window.showStartPage();
    QCoreApplication::processEvents();
    if (auto* page = m_window.findChild<QWidget*>(QStringLiteral("startPage"))) {
        QList<QFrame*> cards = page->findChildren<QFrame*>(QStringLiteral("card"));
        if (!cards.isEmpty()) {
            QTest::keyClick(cards.at(below(cards.size())), Qt::Key_Return);
        }
    }
    return QStringLiteral("a card of the start page");
}

template <class T>
T* RandomUser::any()
{
    QList<T*> all = m_window.findChildren<T*>();
    all.removeIf([](const T* each) { return !each->isVisible() || !each->isEnabled(); });
    return all.isEmpty() ? nullptr : all.at(below(all.size()));
}

void RandomUser::giveUpWhatWaits()
{
    QDrag::cancel();
    if (QWidget* dialog = QApplication::activeModalWidget()) {
        dialog->close();
    } else if (QWidget* popup = QApplication::activePopupWidget()) {
        popup->close();
    }
}

void RandomUser::closeWhatIsOpen()
{
    while (QWidget* popup = QApplication::activePopupWidget()) {
        popup->close();
    }
    for (QWidget* top : QApplication::topLevelWidgets()) {
        if (qobject_cast<QDialog*>(top) && top->isVisible()) {
            top->close();
        }
    }
}

} // namespace residua::app
