// SPDX-License-Identifier: GPL-3.0-or-later
// Every field of the window, left with Return, Tab, Escape and a click elsewhere: what was typed is kept, or the old
// value is. An editor that no row names fails everyEditorHasARow().
#include "app/schedule/schedule_ribbon.h"
#include "tests/app/window/editor_harness.h"
#include "tests/support/test_program.h"

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QPointer>
#include <QSet>
#include <QTextEdit>
#include <QToolButton>

#include <algorithm>
#include <iterator>

using namespace residua;
using namespace residua::app;

namespace {

/// The meaning of the text in a field of the window.
enum class Meaning {
    Value, ///< of the document: entered by all ends but Escape, which restores it
    Input, ///< for a filter or a button beside it: stays as it was typed
    Popup, ///< a field that Return takes and all else closes without a change
};

struct FieldRow {
    const char* name; ///< its object name, or else its accessible name
    Meaning meaning;
    const char* typed;
};

/// The fields in the panels of the window. Fields of properties and of dialogs have tests of their own.
constexpr FieldRow kFields[] = {
    {"sweepField1", Meaning::Value, "/training/batch"},
    {"sweepValues1", Meaning::Value, "2, 3"},
    {"Sweep", Meaning::Value, "widths"},
    {"stageStart", Meaning::Value, "3"},
    {"stageLength", Meaning::Value, "1.5"},
    {"stageAlways", Meaning::Value, "1"},
    {"stageLengths", Meaning::Input, "1-2"},
    {"stageTarget", Meaning::Input, "1.5"},
    {"paletteSearch", Meaning::Input, "dense"},
    {"Filter the runs", Meaning::Input, "trained"},
    {"samplePrompt", Meaning::Input, "3 4"},
    {"Tokens to add", Meaning::Input, "12"},
    {"Temperature", Meaning::Input, "0.5"},
    {"theoryDimension", Meaning::Input, "12"},
    {"theoryRank", Meaning::Input, "3"},
    {"theoryLayers", Meaning::Input, "5"},
    {"theoryKappa", Meaning::Input, "3.0"},
    {"theoryLambda", Meaning::Input, "2.0"},
    {"gapSeeds", Meaning::Input, "3"},
    {"feature", Meaning::Input, "1"},
};

/// The fields over the window, and the actions that open them.
constexpr FieldRow kPopups[] = {
    {"typingText", Meaning::Popup, "0:2"},
    {"commandSearch", Meaning::Popup, "fit"},
    {"topologySearch", Meaning::Popup, "dense"},
    {"saveName", Meaning::Popup, "mine"},
};

/// The lists of the window whose cells are edited.
constexpr const char* kCells[] = {"outline", "runsTree", "Commands and their keys"};

QString nameOf(const QWidget& widget)
{
    return widget.objectName().isEmpty() ? widget.accessibleName() : widget.objectName();
}

/// Returns the widget that a person sees as one editor: the box around a line.
const QWidget& whole(const QWidget& widget)
{
    const QWidget* const parent = widget.parentWidget();
    const bool within = qobject_cast<const QComboBox*>(parent) || qobject_cast<const QAbstractSpinBox*>(parent) ||
                        qobject_cast<const QKeySequenceEdit*>(parent);
    return within ? *parent : widget;
}

bool hasEditableCell(const QAbstractItemView& view, const QModelIndex& parent = {})
{
    const QAbstractItemModel* const model = view.model();
    for (int row = 0; model && row < std::min(model->rowCount(parent), 20); ++row) {
        for (int column = 0; column < model->columnCount(parent); ++column) {
            if (model->index(row, column, parent).flags() & Qt::ItemIsEditable) {
                return true;
            }
        }
        const QModelIndex below = model->index(row, 0, parent);
        if (model->hasChildren(below) && hasEditableCell(view, below)) {
            return true;
        }
    }
    return false;
}

} // namespace

class TestEditors : public EditorHarness {
    Q_OBJECT

private slots:
    void init() { open(); }

    void cleanup() { m_window.reset(); }

    void everyEditorHasARow()
    {
        QSet<QString> known;
        for (const FieldRow& row : kFields) {
            known << row.name;
        }
        for (const FieldRow& row : kPopups) {
            known << row.name;
        }
        for (const char* const cells : kCells) {
            known << cells;
        }
        QSet<QString> found;
        inEveryArrangement([&] {
            for (const QWidget* editor : editorsIn(*m_window)) {
                found << nameOf(*editor);
            }
            return false;
        });
        for (const QString& name : found) {
            QVERIFY2(name.startsWith("property:") || known.contains(name), qPrintable(name + " has no row"));
        }
        QVERIFY(found.size() > 12);
        for (int column = 0; column < model().columnCount(); ++column) {
            const bool edits = model().flags(model().index(0, column)) & Qt::ItemIsEditable;
            QCOMPARE(edits, std::ranges::find(kRunColumns, column) != std::end(kRunColumns));
        }
    }

    void fields_data() { rowsTimesEnds(kFields); }
    void fields()
    {
        QFETCH(FieldRow, row);
        QFETCH(End, end);
        QWidget* field = nullptr;
        inEveryArrangement([&] { return (field = visible(row.name)) != nullptr; });
        if (!field) {
            QSKIP("this project has no such field"); // everyEditorHasARow() finds those that it has
        }
        QLineEdit& line = lineOf(*field);
        const QString shown = line.text();
        line.setFocus();
        type(line, row.typed);
        leave(line, end);
        const QString typed = row.typed;
        if (row.meaning == Meaning::Value) {
            if (QApplication::activePopupWidget() != nullptr) {
                clickElsewhere(); // closes the list of completions alone
            }
            clickElsewhere();
            QTRY_COMPARE(line.text(), end == End::Escape ? shown : typed);
            verifyDocument(end);
        } else if (end != End::Escape) {
            QVERIFY2(line.text().contains(typed), qPrintable(line.text())); // a unit may follow
        }
    }

    void popups_data() { rowsTimesEnds(kPopups); }
    void popups()
    {
        QFETCH(FieldRow, row);
        QFETCH(End, end);
        openPopup(row.name);
        auto* line = visible<QLineEdit>(row.name);
        QVERIFY(line);
        type(*line, row.typed);
        leave(*line, end);
        QTRY_VERIFY(!line->isVisible());
        const bool edits = end == End::Return && QString(row.name) != "commandSearch"; // it shows the whole network
        QCOMPARE(project() != m_before, edits);
    }

    void dialogs_data()
    {
        QTest::addColumn<QString>("action");
        QTest::addColumn<End>("end");
        for (const char* const action :
             {"create", "import", "takeAlong", "exportPlot", "run:export", "run:resume", "run:takeAlong"}) {
            for (const auto& [name, end] : kEnds) {
                QTest::addRow("%s, %s", action, name) << QString(action) << end;
            }
        }
    }

    /// In a dialog a field keeps its text, and Escape closes the dialog.
    void dialogs()
    {
        QFETCH(QString, action);
        QFETCH(End, end);
        auto* const opens = m_window->findChild<QAction*>(action);
        QVERIFY2(opens, qPrintable(action));
        showRuns();
        tree()->setCurrentIndex(tree()->model()->index(0, 0));
        QVERIFY(opens->isEnabled());
        opens->trigger();
        QTRY_VERIFY(dialog() != nullptr);
        QPointer<QDialog> open = dialog();
        int fields = 0;
        for (const QPointer<QLineEdit> line : open->findChildren<QLineEdit*>()) {
            if (!open || !line || !line->isVisible() || !line->isEnabled() || line->isReadOnly()) {
                continue;
            }
            ++fields;
            line->setFocus();
            const bool number = qobject_cast<QAbstractSpinBox*>(line->parentWidget());
            type(*line, number ? "2" : "/tmp/typed");
            const QString typed = line->text();
            leave(*line, end, open);
            if (end == End::Escape) {
                QTRY_VERIFY(!open || !open->isVisible());
                break;
            }
            QVERIFY(!open || !open->isVisible() || line->text() == typed);
        }
        QVERIFY(fields > 0);
        QCOMPARE(project(), m_before);
        if (open) {
            open->close();
        }
    }

private:
    template <class Rows>
    static void rowsTimesEnds(const Rows& rows)
    {
        QTest::addColumn<FieldRow>("row");
        QTest::addColumn<End>("end");
        for (const FieldRow& row : rows) {
            for (const auto& [name, end] : kEnds) {
                QTest::addRow("%s, %s", row.name, name) << row << end;
            }
        }
    }

    /// Calls `stop` with each panel in front, beside each canvas and the schedule, until it returns true.
    template <class Stop>
    void inEveryArrangement(Stop stop)
    {
        std::vector<std::pair<WorkspaceView, const Panel*>> all;
        for (const WorkspaceView view :
             {WorkspaceView::Depth, WorkspaceView::Matrix, WorkspaceView::Block, WorkspaceView::Schedule}) {
            all.emplace_back(view, nullptr);
        }
        for (const Panel& panel : panels()) {
            all.emplace_back(WorkspaceView::Depth, &panel);
        }
        for (const auto& [view, panel] : all) {
            m_window->workspace().arrange({.view = view, .front = panel}, m_window->size());
            if (view == WorkspaceView::Schedule) {
                m_window->workspace().schedule().ribbon().choose(1);
            }
            QCoreApplication::processEvents();
            if (stop()) {
                return;
            }
        }
    }

    static std::vector<const QWidget*> editorsIn(const QWidget& window)
    {
        std::vector<const QWidget*> editors;
        for (const QWidget* widget : window.findChildren<QWidget*>()) {
            const auto* const box = qobject_cast<const QComboBox*>(widget);
            const auto* const text = qobject_cast<const QTextEdit*>(widget);
            const auto* const view = qobject_cast<const QAbstractItemView*>(widget);
            const bool edits = qobject_cast<const QLineEdit*>(widget) ||
                               qobject_cast<const QAbstractSpinBox*>(widget) || (box && box->isEditable()) ||
                               (text && !text->isReadOnly()) ||
                               (view && !qobject_cast<const QHeaderView*>(view) &&
                                view->editTriggers() != QAbstractItemView::NoEditTriggers && hasEditableCell(*view));
            if (edits && widget->isVisible() && &whole(*widget) == widget) {
                editors.push_back(widget);
            }
        }
        return editors;
    }

    QWidget* visible(const QString& name) const
    {
        for (const QWidget* each : editorsIn(*m_window)) {
            if (nameOf(*each) == name && each->isEnabled()) {
                return const_cast<QWidget*>(each);
            }
        }
        return nullptr;
    }
    template <class T>
    T* visible(const QString& name) const
    {
        return WindowHarness::visible<T>(name);
    }

    static QLineEdit& lineOf(QWidget& field)
    {
        auto* const line = qobject_cast<QLineEdit*>(&field);
        return line ? *line : *field.findChild<QLineEdit*>();
    }

    void openPopup(const QString& name)
    {
        CanvasWidget& canvas = m_window->workspace().canvas();
        canvas.surface()->setFocus();
        if (name == "typingText") {
            QTest::keyClick(canvas.surface(), Qt::Key_Tab);
        } else if (name == "commandSearch") {
            m_window->actions().commands->trigger();
        } else if (name == "topologySearch") {
            QTest::mouseClick(m_window->findChild<QWidget*>("topologyChooser"), Qt::LeftButton);
        } else {
            m_window->documents().choose(LayersPlace{{1}});
            m_window->workspace().showCanvas(WorkspaceView::Block);
            QCoreApplication::processEvents();
            QTest::mouseClick(visible<QToolButton>("blockSave"), Qt::LeftButton);
        }
        QCoreApplication::processEvents();
    }

    QDialog* dialog() const
    {
        for (QDialog* each : m_window->findChildren<QDialog*>()) {
            if (each->isVisible()) {
                return each;
            }
        }
        return nullptr;
    }
};

RESIDUA_TEST_IN(QApplication, TestEditors)
#include "tst_editors.moc"
