// SPDX-License-Identifier: GPL-3.0-or-later
// Random use of the window: RESIDUA_RANDOM_ACTIONS actions (300) from RESIDUA_RANDOM_SEED (1).
#include "app/canvas/canvas_widget.h"
#include "app/commands/command_palette.h"
#include "app/look/theme.h"
#include "app/outline/outline_view.h"
#include "app/palette/palette_items.h"
#include "app/window/document_link.h"
#include "app/window/main_window.h"
#include "projects/json.h"

#include <QAbstractItemModelTester>
#include <QMenuBar>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <random>
#include <set>

using namespace residua;
using namespace residua::app;

namespace {

int numberFrom(const char* variable, int otherwise)
{
    bool known = false;
    const int number = qEnvironmentVariableIntValue(variable, &known);
    return known ? number : otherwise;
}

} // namespace

class TestRandomActions : public QObject {
    Q_OBJECT

private slots:
    void theDocumentStaysADocument()
    {
        const QTemporaryDir folder;
        Look look(ThemeKind::Light);
        MainWindow window(look, {folder.filePath("drafts").toStdString(), folder.filePath("saved").toStdString()},
                          Memory::None);
        window.resize(1200, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QVERIFY(window.openExample("linear-ancre").ok());
        const QAbstractItemModelTester tester(&window.workspace().outlineModel(),
                                              QAbstractItemModelTester::FailureReportingMode::QtTest);
        for (const PaletteGroup& group : paletteGroups()) {
            m_items.insert(m_items.end(), group.items.begin(), group.items.end());
        }
        const int seed = numberFrom("RESIDUA_RANDOM_SEED", 1);
        m_random.seed(static_cast<unsigned>(seed));
        const int actions = numberFrom("RESIDUA_RANDOM_ACTIONS", 300);
        for (int i = 0; i < actions; ++i) {
            const QString what = act(window);
            QCoreApplication::processEvents();
            const std::string text = projects::toJson(window.session().project());
            const auto back = projects::projectFromJson(text);
            QVERIFY2(back.ok() && *back == window.session().project(),
                     qPrintable(QStringLiteral("seed %1, action %2: %3").arg(seed).arg(i).arg(what)));
        }
        while (window.session().history().canUndo()) {
            window.session().undo();
        }
    }

private:
    int below(qsizetype count) { return static_cast<int>(m_random() % static_cast<unsigned>(count)); }

    QString act(MainWindow& window)
    {
        switch (below(5)) {
        case 0:
            return triggerCommand(window);
        case 1:
            return takeFromPalette(window);
        case 2:
            return goToARow(window);
        case 3:
            return setAProperty(window);
        default:
            return pressAKey(window);
        }
    }

    QString triggerCommand(MainWindow& window)
    {
        // What asks a person, leaves the project or trains.
        static const std::set<QString> kLeftOut{"quit", "open", "saveAs",  "about",    "exportReport",
                                                "run",  "step", "enqueue", "startPage"};
        const QList<MenuCommand> commands = commandsOf(*window.menuBar());
        const MenuCommand& command = commands.at(below(commands.size()));
        if (command.action->isEnabled() && !kLeftOut.contains(command.action->objectName())) {
            command.action->trigger();
        }
        return command.path;
    }

    QString takeFromPalette(MainWindow& window)
    {
        const PaletteItem& item = m_items[static_cast<std::size_t>(below(static_cast<qsizetype>(m_items.size())))];
        const auto edit = takeUp(window.session().project(), window.documents().place(), item);
        if (edit) {
            window.documents().applyEdit(*edit);
        }
        return item.title;
    }

    QString goToARow(MainWindow& window)
    {
        OutlineView& outline = window.workspace().outline();
        QModelIndex index;
        for (int depth = 1 + below(4); depth > 0 && outline.model()->rowCount(index) > 0; --depth) {
            index = outline.model()->index(below(outline.model()->rowCount(index)), 0, index);
        }
        if (const OutlineRow* row = window.workspace().outlineModel().rowAt(index)) {
            window.documents().choose(Place(row->place));
        }
        return index.data().toString();
    }

    QString setAProperty(MainWindow& window)
    {
        const auto properties = propertiesOf(window.session().project(), window.documents().place());
        if (properties.empty()) {
            return {};
        }
        const Property& property =
            properties[static_cast<std::size_t>(below(static_cast<qsizetype>(properties.size())))];
        QVariant value;
        switch (property.kind) {
        case PropertyKind::Toggle:
            value = !property.value.toBool();
            break;
        case PropertyKind::Choice:
            value = below(std::max<qsizetype>(property.choices.size(), 1));
            break;
        case PropertyKind::Integer:
            value = qlonglong(std::max(property.minimum, 1.0)) + below(12);
            break;
        case PropertyKind::Real:
            value = property.minimum + below(100) / 100.0;
            break;
        case PropertyKind::Size:
            value = QString::number(1 + below(64));
            break;
        case PropertyKind::Text:
        case PropertyKind::File:
            value = QString::number(below(4));
            break;
        }
        const auto edit = property.edit(window.session().project(), value);
        if (edit) {
            window.documents().applyEdit(*edit);
        }
        return property.title;
    }

    QString pressAKey(MainWindow& window)
    {
        static const QList<Qt::Key> kKeys{Qt::Key_Delete, Qt::Key_F,    Qt::Key_Escape, Qt::Key_Period,
                                          Qt::Key_Left,   Qt::Key_Down, Qt::Key_Tab,    Qt::Key_Z};
        const Qt::Key key = kKeys.at(below(kKeys.size()));
        QWidget* surface = window.workspace().canvas().surface();
        QTest::keyClick(surface, key, below(3) == 0 ? Qt::ControlModifier : Qt::NoModifier);
        QTest::mouseClick(surface, Qt::LeftButton, {}, {below(surface->width()), below(surface->height())});
        return QKeySequence(key).toString();
    }

    std::mt19937 m_random;
    std::vector<PaletteItem> m_items;
};

QTEST_MAIN(TestRandomActions)
#include "tst_random_actions.moc"
