// SPDX-License-Identifier: GPL-3.0-or-later
// Every cell that is edited, and every kind of property, left with Return, Tab, Escape and a click elsewhere: what was
// typed is kept, or the old value is, and the editor closes.
#include "app/commands/key_bindings.h"
#include "app/inspector/property_editor.h"
#include "app/outline/outline_view.h"
#include "app/runs/remotes_dialog.h"
#include "app/runs/run_table.h"
#include "app/views/run_follower.h"
#include "tests/app/window/editor_harness.h"
#include "tests/support/test_program.h"

#include <QAbstractProxyModel>
#include <QApplication>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QPointer>
#include <QScopeGuard>
#include <QSet>
#include <QTableView>
#include <QTableWidget>

#include <map>

using namespace residua;
using namespace residua::app;

namespace {

/// A changed value of a property as it is typed, and as the document then holds it.
QString otherValueOf(const Property& property)
{
    switch (property.kind) {
    case PropertyKind::Integer:
        return QString::number(property.value.toLongLong() + 1);
    case PropertyKind::Real:
        return QString::number(property.value.toDouble() / 2);
    case PropertyKind::Size:
        return QString::number(property.value.toString().toInt() + 8);
    case PropertyKind::Text:
    case PropertyKind::File:
        return property.value.toString() + QStringLiteral("x");
    case PropertyKind::Choice:
    case PropertyKind::Toggle:
        break; // nothing is typed
    }
    return {};
}

constexpr std::pair<const char*, PropertyKind> kKinds[] = {
    {"toggle", PropertyKind::Toggle}, {"integer", PropertyKind::Integer}, {"real", PropertyKind::Real},
    {"size", PropertyKind::Size},     {"text", PropertyKind::Text},       {"file", PropertyKind::File},
    {"choice", PropertyKind::Choice}};

} // namespace

class TestCellEditors : public EditorHarness {
    Q_OBJECT

private slots:
    void initTestCase() { open(); }
    void cleanup() { putBack(); }
    void cleanupTestCase() { m_window.reset(); }

    void outlineCells_data() { kindsTimesEnds(); }
    void outlineCells()
    {
        QFETCH(PropertyKind, kind);
        QFETCH(End, end);
        const QPersistentModelIndex cell = cellOf(kind);
        QVERIFY(cell.isValid());
        const Property property = *m_window->workspace().outlineModel().rowAt(cell)->property;
        showPanel("outline");
        auto& outline = m_window->workspace().view<OutlineView>();
        outline.scrollTo(cell);
        outline.setFocus();
        outline.setCurrentIndex(cell);
        if (kind == PropertyKind::Toggle) { // its cell is a box without an editor
            press(Qt::Key_Space);
        } else {
            press(Qt::Key_F2);
            QVERIFY(cellEditor() != nullptr);
            enter(property, end);
        }
        QVERIFY(cellEditor() == nullptr);
        clickElsewhere();
        QVERIFY(cellEditor() == nullptr);
        verifyDocument(end);
    }

    void inspectorFields_data() { kindsTimesEnds(); }
    void inspectorFields()
    {
        QFETCH(PropertyKind, kind);
        QFETCH(End, end);
        const QModelIndex cell = cellOf(kind);
        QVERIFY(cell.isValid());
        const OutlineRow* const row = m_window->workspace().outlineModel().rowAt(cell);
        const Property property = *row->property;
        showPanel("inspector");
        m_window->documents().choose(Place(row->place));
        QCoreApplication::processEvents();
        const QPointer<QWidget> field = visible<QWidget>(QString::fromStdString("property:" + property.key));
        QVERIFY(field);
        field->setFocus();
        enter(property, end);
        clickElsewhere();
        verifyDocument(end);
        const auto* const line = qobject_cast<QLineEdit*>(field.data()); // a change of the document may replace it
        QVERIFY(!line || !line->isModified());
    }

    void runCells_data()
    {
        QTest::addColumn<int>("column");
        QTest::addColumn<End>("end");
        for (const int column : kRunColumns) {
            for (const auto& [name, end] : kEnds) {
                QTest::addRow("%s, %s", qPrintable(RunsModel::keyOf(column)), name) << column << end;
            }
        }
    }

    void runCells()
    {
        QFETCH(int, column);
        QFETCH(End, end);
        const QString typed = QStringLiteral("typed%1").arg(static_cast<int>(end)); // in no cell yet
        openRunCell(column);
        QVERIFY(runEditor());
        type(*runEditor(), typed);
        std::vector<engine::RunInfo> runs = model().runs();
        runs.front().step = 5; // it grows
        model().setRuns(runs);
        QVERIFY(runEditor());
        QCOMPARE(runEditor()->text(), typed);
        leave(end);
        QTRY_COMPARE(model().index(0, column).data().toString() == typed, end != End::Escape);
        QTRY_VERIFY(!runEditor() || end == End::Tab); // Tab opens the next cell
    }

    /// The list has the former text, and tags and notes are stored together.
    void aListThatWasBegunBeforeAnEditUndoesNothing_data()
    {
        QTest::addColumn<int>("column");
        for (const int column : kRunColumns) {
            QTest::addRow("%s", qPrintable(RunsModel::keyOf(column))) << column;
        }
    }
    void aListThatWasBegunBeforeAnEditUndoesNothing()
    {
        QFETCH(int, column);
        auto* const follower = m_window->findChild<RunFollower*>();
        QVERIFY(follower);
        QTRY_VERIFY(!follower->isReading());
        follower->followAlso(model().runs().front().directory); // begins a list
        QSet<QString> shown;
        const auto note = [&] { shown << model().index(0, column).data().toString(); };
        const QMetaObject::Connection changes = connect(&model(), &RunsModel::dataChanged, this, note);
        QVERIFY(model().setData(model().index(0, column), "after"));
        QTRY_VERIFY(!follower->isReading());
        disconnect(changes);
        QCOMPARE(shown, QSet<QString>{"after"});
    }

    void aClickOnASelectedRunRenamesNothing()
    {
        showPanel("runs");
        auto* runs = qobject_cast<RunsTree*>(tree());
        QVERIFY(runs);
        const auto edits = [&](int column) {
            return runs->edit(runs->model()->index(0, column), QAbstractItemView::SelectedClicked, nullptr);
        };
        QVERIFY(!edits(RunsModel::Name));
        runs->setCurrentIndex(runs->model()->index(0, RunsModel::Notes));
        QVERIFY(edits(RunsModel::Notes));
        QTRY_VERIFY(runEditor()); // not before a second click would be none of a double click
        leave(End::Escape);
        QVERIFY(!runEditor());
    }

    void keys_data() { ends(); }

    /// With a key typed, and with none: Return and Tab are no keys of commands.
    void keys()
    {
        QFETCH(End, end);
        m_window->actions().keys->trigger();
        auto* const dialog = m_window->findChild<KeysDialog*>();
        QVERIFY(dialog);
        activate(*dialog);
        auto* const table = dialog->findChild<QTableView*>();
        auto* const search = dialog->findChild<QLineEdit*>();
        auto* const bindings =
            qobject_cast<KeyBindings*>(static_cast<QAbstractProxyModel*>(table->model())->sourceModel());
        const auto restore = qScopeGuard([&] { bindings->resetAll(); });
        const QPersistentModelIndex cell = table->model()->index(0, KeyBindings::Keys);
        const QString before = cell.data().toString();
        for (const bool types : {false, true}) {
            table->setFocus();
            table->setCurrentIndex(cell);
            press(Qt::Key_F2);
            QVERIFY(qobject_cast<QKeySequenceEdit*>(QApplication::focusWidget()));
            if (types) {
                QTest::keyClick(receiver(), Qt::Key_J, Qt::ControlModifier | Qt::AltModifier);
            }
            end == End::ClickElsewhere ? QTest::mouseClick(search, Qt::LeftButton) : leave(end);
            QTRY_VERIFY(!qobject_cast<QKeySequenceEdit*>(QApplication::focusWidget()));
            QCOMPARE(cell.data().toString(), types && end != End::Escape ? QString("Ctrl+Alt+J") : before);
        }
    }

    void remotes_data() { ends(); }
    /// Return in a cell is not for the default button of the dialog.
    void remotes()
    {
        QFETCH(End, end);
        engine::EngineRemote remote;
        remote.name = "gpu";
        remote.command = "ssh gpu residua-engine --stdio";
        remote.folder = "/runs";
        RemotesDialog dialog({remote}, m_window.get());
        dialog.show();
        activate(dialog);
        auto* const table = dialog.findChild<QTableWidget*>();
        for (int column = 0; column < table->columnCount(); ++column) {
            table->setFocus();
            table->setCurrentCell(0, column);
            press(Qt::Key_F2);
            auto* const line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
            QVERIFY(line);
            const QString before = line->text();
            type(*line, "typed");
            leave(end, &dialog);
            QTRY_COMPARE(table->item(0, column)->text(), end == End::Escape ? before : QString("typed"));
            QVERIFY(dialog.isVisible());
        }
    }

    /// A run that is added resets the list. The last test, because the run stays.
    void aNoteBeingTypedOutlivesANewList()
    {
        const std::string directory = model().runs().front().directory;
        openRunCell(RunsModel::Notes);
        QVERIFY(runEditor());
        type(*runEditor(), "half a no");
        write("another", 0.5F, project());
        QTRY_COMPARE(model().runs().size(), std::size_t{2});
        QTRY_VERIFY(runEditor());
        QCOMPARE(runEditor()->text(), QString("half a no"));
        QCOMPARE(QApplication::focusWidget(), runEditor());
        QTest::keyClicks(receiver(), "te");
        leave(End::Return);
        QTRY_COMPARE(model().indexOf(directory).siblingAtColumn(RunsModel::Notes).data().toString(),
                     QString("half a note"));
    }

private:
    static void ends()
    {
        QTest::addColumn<End>("end");
        for (const auto& [name, end] : kEnds) {
            QTest::addRow("%s", name) << end;
        }
    }

    static void kindsTimesEnds()
    {
        QTest::addColumn<PropertyKind>("kind");
        QTest::addColumn<End>("end");
        for (const auto& [kindName, kind] : kKinds) {
            for (const auto& [endName, end] : kEnds) {
                const bool isEntered = kind == PropertyKind::Toggle; // by the key that changes it
                if (isEntered ? end == End::Return : kind != PropertyKind::Choice || end != End::Tab) {
                    QTest::addRow("%s, %s", kindName, isEntered ? "Space" : endName) << kind << end;
                }
            }
        }
    }

    /// Returns the value cell of the first property of this kind that otherValueOf() can change; invalid if there is
    /// none.
    QModelIndex propertyOf(PropertyKind kind, const QModelIndex& parent = {}) const
    {
        const OutlineModel& outline = m_window->workspace().outlineModel();
        for (int row = 0; row < outline.rowCount(parent); ++row) {
            const QModelIndex index = outline.index(row, OutlineModel::Name, parent);
            const auto& property = outline.rowAt(index)->property;
            if (property && property->kind == kind && property->edit &&
                (kind != PropertyKind::Size || property->value.toString().toInt() > 0) &&
                (kind != PropertyKind::Choice || property->choices.size() > property->value.toInt() + 1)) {
                return index.siblingAtColumn(OutlineModel::Value);
            }
            if (const QModelIndex below = propertyOf(kind, index); below.isValid()) {
                return below;
            }
        }
        return {};
    }

    QModelIndex cellOf(PropertyKind kind)
    {
        QPersistentModelIndex& cell = m_cells[kind];
        if (!cell.isValid()) {
            cell = propertyOf(kind);
        }
        return cell;
    }

    /// Returns the open editor of the outline.
    PropertyEditor* cellEditor() const
    {
        for (auto* each : m_window->workspace().view<OutlineView>().viewport()->findChildren<PropertyEditor*>()) {
            if (each->isVisible()) {
                return each;
            }
        }
        return nullptr;
    }

    /// Gives the property another value in the widget with the focus, and leaves it.
    void enter(const Property& property, End end)
    {
        if (property.kind == PropertyKind::Toggle) {
            press(Qt::Key_Space);
        } else if (property.kind == PropertyKind::Choice && end == End::ClickElsewhere) {
            press(Qt::Key_Down); // enters the next value
        } else if (property.kind == PropertyKind::Choice) {
            press(Qt::Key_Space);
            QVERIFY(hasList());
            press(Qt::Key_Down);
            leave(end);
        } else {
            auto* const line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
            QVERIFY(line);
            type(*line, otherValueOf(property));
            leave(end);
        }
    }

    void openRunCell(int column)
    {
        showPanel("runs");
        const QModelIndex cell = tree()->model()->index(0, column);
        tree()->scrollTo(cell);
        tree()->setFocus();
        tree()->setCurrentIndex(cell);
        press(Qt::Key_F2);
    }

    /// Returns the open editor of the list of runs.
    QLineEdit* runEditor()
    {
        for (auto* each : tree()->viewport()->findChildren<QLineEdit*>()) {
            if (each->isVisible()) {
                return each;
            }
        }
        return nullptr;
    }

    std::map<PropertyKind, QPersistentModelIndex> m_cells;
};

RESIDUA_TEST_IN(QApplication, TestCellEditors)
#include "tst_cell_editors.moc"
