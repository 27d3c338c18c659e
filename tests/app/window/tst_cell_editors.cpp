// SPDX-License-Identifier: GPL-3.0-or-later
// Every cell that is edited, and every kind of property, left with Return, Tab, Escape and a click elsewhere: what was
// typed is kept, or the old value is, and the editor closes.
#include "app/commands/key_bindings.h"
#include "app/inspector/property_editor.h"
#include "app/outline/outline_view.h"
#include "app/runs/run_table.h"
#include "tests/app/window/editor_harness.h"
#include "tests/support/test_program.h"

#include <QAbstractProxyModel>
#include <QApplication>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QPointer>
#include <QTableView>

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
    void init() { open(); }

    void cleanup() { m_window.reset(); }

    void outlineCells_data() { kindsTimesEnds(); }
    void outlineCells()
    {
        QFETCH(PropertyKind, kind);
        QFETCH(End, end);
        const auto found = propertyOf(kind);
        QVERIFY(found.isValid());
        m_window->workspace().arrange({.front = &panels().front()}, m_window->size());
        auto& outline = m_window->workspace().view<OutlineView>();
        const QPersistentModelIndex cell = found;
        const Property property = *m_window->workspace().outlineModel().rowAt(found)->property;
        outline.scrollTo(cell);
        QCoreApplication::processEvents();
        if (kind == PropertyKind::Toggle) { // its cell is a box without an editor
            outline.setFocus();
            outline.setCurrentIndex(cell);
            QTest::keyClick(&outline, Qt::Key_Space);
            QVERIFY(project() != m_before);
            return;
        }
        outline.setFocus();
        outline.setCurrentIndex(cell);
        QTest::keyClick(&outline, Qt::Key_F2);
        QTRY_VERIFY(cellEditor() != nullptr);
        leave(*cellEditor()->focusProxy(), property, end);
        QTRY_VERIFY(cellEditor() == nullptr);
        clickElsewhere();
        QVERIFY(cellEditor() == nullptr);
        verifyDocument(end);
    }

    void inspectorFields_data() { kindsTimesEnds(); }
    void inspectorFields()
    {
        QFETCH(PropertyKind, kind);
        QFETCH(End, end);
        const QModelIndex found = propertyOf(kind);
        QVERIFY(found.isValid());
        const OutlineRow* const row = m_window->workspace().outlineModel().rowAt(found);
        const Property property = *row->property;
        m_window->documents().choose(Place(row->place));
        const QString name = QString::fromStdString("property:" + property.key);
        QTRY_VERIFY(visible<QWidget>(name) != nullptr);
        const QPointer<QWidget> field = visible<QWidget>(name); // a change of the document may replace it
        field->setFocus();
        leave(*field, property, end);
        clickElsewhere();
        verifyDocument(end);
        const auto* const line = qobject_cast<QLineEdit*>(field.data());
        QVERIFY(!line || !line->isModified());
    }

private:
    static void kindsTimesEnds()
    {
        QTest::addColumn<PropertyKind>("kind");
        QTest::addColumn<End>("end");
        for (const auto& [kindName, kind] : kKinds) {
            for (const auto& [endName, end] : kEnds) {
                QTest::addRow("%s, %s", kindName, endName) << kind << end;
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

    using EditorHarness::leave;
    /// Types another value of the property and leaves the field.
    void leave(QWidget& field, const Property& property, End end)
    {
        if (auto* line = qobject_cast<QLineEdit*>(&field)) {
            type(*line, otherValueOf(property));
        } else if (property.kind == PropertyKind::Toggle) {
            if (end != End::Escape) {
                QTest::keyClick(&field, Qt::Key_Space);
            }
        } else if (end != End::Escape) { // a choice is entered at once
            QTest::keyClick(&field, Qt::Key_Down);
            QCoreApplication::processEvents();
            return;
        }
        leave(field, end);
    }

    QLineEdit* openRunCell(int column)
    {
        showRuns();
        const QModelIndex cell = tree()->model()->index(0, column);
        tree()->scrollTo(cell);
        tree()->setFocus();
        tree()->setCurrentIndex(cell);
        QTest::keyClick(tree(), Qt::Key_F2);
        return tree()->viewport()->findChild<QLineEdit*>();
    }
};

RESIDUA_TEST_IN(QApplication, TestCellEditors)
#include "tst_cell_editors.moc"
