// SPDX-License-Identifier: GPL-3.0-or-later
// Every editor of the window, left with Return, Tab, Escape and a click elsewhere: what was typed is kept, or the old
// value is, and the editor closes. An editor that no row names fails everyEditorHasARow().
#include "app/block/block_bar.h"
#include "app/commands/key_bindings.h"
#include "app/inspector/property_editor.h"
#include "app/outline/outline_view.h"
#include "app/runs/run_table.h"
#include "app/schedule/schedule_page.h"
#include "projects/library/schedule_presets.h"
#include "tests/app/runs/runs_harness.h"
#include "tests/support/test_program.h"

#include <QAbstractItemView>
#include <QAbstractProxyModel>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QSet>
#include <QTableView>
#include <QTextEdit>

#include <algorithm>
#include <iterator>

using namespace residua;
using namespace residua::app;

namespace {

enum class End { Return, Tab, Escape, ClickElsewhere };
constexpr std::pair<const char*, End> kEnds[] = {
    {"Return", End::Return}, {"Tab", End::Tab}, {"Escape", End::Escape}, {"click elsewhere", End::ClickElsewhere}};

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
    {"typingText", Meaning::Popup, "1:3"},
    {"commandSearch", Meaning::Popup, "undo"},
    {"topologySearch", Meaning::Popup, "dense"},
    {"saveName", Meaning::Popup, "mine"},
};

/// The lists of the window whose cells are edited.
constexpr const char* kCells[] = {"outline", "runsTree", "Commands and their keys"};

constexpr int kRunColumns[] = {RunsModel::Name, RunsModel::Tags, RunsModel::Notes};

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

class TestEditors : public RunsHarness {
    Q_OBJECT

private slots:
    void init()
    {
        projects::Project project = quickLanguage();
        project.data.source = projects::TextData{.path = "corpus.txt"};
        project.sweeps = {{"rates", {{"/training/learning_rate/peak", {}, {{{}, {"0.001"}}, {{}, {"0.002"}}}}}}};
        project.stack().schedule =
            projects::scheduleOf(projects::schedulePresets().front(), project.network.depth(), project.training.steps);
        project.stack().schedule.stages = {{.start = 1, .averageLength = 1}, {.start = 2, .averageLength = 2}};
        m_project = newProject(project);
        write("trained", 0.5F, project);
        openWindow({1400, 900});
        m_window->openProject(m_project);
        QTRY_VERIFY(model().rowCount() == 1);
        m_before = this->project();
    }

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
        QTest::mouseDClick(outline.viewport(), Qt::LeftButton, {}, outline.visualRect(cell).center());
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
        auto* field = visible<QWidget>(name);
        field->setFocus();
        leave(*field, property, end);
        clickElsewhere();
        verifyDocument(end);
        auto* line = qobject_cast<QLineEdit*>(field);
        QVERIFY(!line || !line->isModified());
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
            clickElsewhere();
            QTRY_COMPARE(line.text(), end == End::Escape ? shown : typed);
            QVERIFY(!line.isModified());
            verifyDocument(end);
        } else if (end != End::Escape) {
            QVERIFY2(line.text().startsWith(typed), qPrintable(line.text())); // a unit may follow
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
        const bool edits = end == End::Return && QString(row.name) != "commandSearch"; // there is nothing to undo
        QCOMPARE(project() != m_before, edits);
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
        const QString before = model().index(0, column).data().toString();
        QLineEdit* const line = openRunCell(column);
        QVERIFY(line);
        type(*line, "typed");
        std::vector<engine::RunInfo> runs = model().runs();
        runs.front().step = 5; // it grows
        model().setRuns(runs);
        QCOMPARE(line->text(), QString("typed"));
        leave(*line, end);
        QTRY_VERIFY(tree()->viewport()->findChild<QLineEdit*>() == nullptr);
        clickElsewhere();
        QTRY_COMPARE(model().index(0, column).data().toString(), end == End::Escape ? before : QString("typed"));
    }

    /// A run that is added resets the list.
    void aNoteBeingTypedOutlivesANewList()
    {
        QLineEdit* line = openRunCell(RunsModel::Notes);
        QVERIFY(line);
        type(*line, "half a no");
        engine::RunInfo other = model().runs().front();
        other.directory += "-2";
        std::vector<engine::RunInfo> runs = model().runs();
        runs.push_back(other);
        model().setRuns(runs);
        QTRY_VERIFY((line = tree()->viewport()->findChild<QLineEdit*>()) != nullptr);
        QTRY_COMPARE(line->text(), QString("half a no"));
        QTest::keyClicks(line, "te");
        QTest::keyClick(line, Qt::Key_Return);
        QTRY_COMPARE(model().indexOf(model().runs().front().directory).siblingAtColumn(RunsModel::Notes).data(),
                     QVariant("half a note"));
    }

    void aClickOnASelectedRunRenamesNothing()
    {
        showRuns();
        auto* runs = qobject_cast<RunsTree*>(tree());
        QVERIFY(runs);
        const auto edits = [&](int column) {
            return runs->edit(runs->model()->index(0, column), QAbstractItemView::SelectedClicked, nullptr);
        };
        QVERIFY(!edits(RunsModel::Name));
        QVERIFY(edits(RunsModel::Notes));
    }

    void keys_data()
    {
        QTest::addColumn<End>("end");
        for (const auto& [name, end] : kEnds) {
            QTest::addRow("%s", name) << end;
        }
    }

    /// With a key typed, and with none: Return and Tab are no keys of commands.
    void keys()
    {
        QFETCH(End, end);
        m_window->actions().keys->trigger();
        auto* dialog = m_window->findChild<KeysDialog*>();
        QVERIFY(QTest::qWaitForWindowActive(dialog));
        auto* table = dialog->findChild<QTableView*>();
        const QPersistentModelIndex cell = table->model()->index(0, KeyBindings::Keys);
        const QString before = cell.data().toString();
        for (const bool typed : {false, true}) {
            table->setCurrentIndex(cell);
            table->edit(cell);
            auto* editor = table->findChild<QKeySequenceEdit*>();
            QVERIFY(editor);
            if (typed) {
                QTest::keyClick(editor, Qt::Key_J, Qt::ControlModifier | Qt::AltModifier);
            }
            if (end == End::ClickElsewhere) {
                dialog->findChild<QLineEdit*>()->setFocus(Qt::MouseFocusReason);
            } else {
                leave(*editor, end);
            }
            QTRY_VERIFY(table->findChild<QKeySequenceEdit*>() == nullptr || end == End::Tab);
            QCOMPARE(cell.data().toString(), typed && end != End::Escape ? QString("Ctrl+Alt+J") : before);
        }
        static_cast<KeyBindings*>(static_cast<QAbstractProxyModel*>(table->model())->sourceModel())->resetAll();
        dialog->close();
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

    static void type(QLineEdit& line, const QString& text)
    {
        line.selectAll();
        QTest::keyClicks(&line, text);
    }

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

    void leave(QWidget& field, End end, QWidget* over = nullptr)
    {
        switch (end) {
        case End::Return:
            QTest::keyClick(&field, Qt::Key_Return);
            break;
        case End::Tab:
            QTest::keyClick(&field, Qt::Key_Tab);
            break;
        case End::Escape:
            QTest::keyClick(&field, Qt::Key_Escape);
            break;
        case End::ClickElsewhere:
            over ? field.clearFocus() : clickElsewhere();
            break;
        }
        QCoreApplication::processEvents();
    }

    /// Clicks on free ground of the depth canvas.
    void clickElsewhere()
    {
        QWidget* const popup = QApplication::activePopupWidget();
        QWidget* const surface = m_window->workspace().frontCanvas() ? m_window->workspace().frontCanvas()->surface()
                                                                     : &m_window->workspace().schedule();
        QTest::mouseClick(popup ? popup : surface, Qt::LeftButton, {}, popup ? QPoint(-3, -3) : QPoint(2, 2));
        QCoreApplication::processEvents();
    }

    /// Verifies that the edit is one step that can be undone, and that Escape makes no edit.
    void verifyDocument(End end)
    {
        if (end == End::Escape) {
            QCOMPARE(project(), m_before);
            return;
        }
        QVERIFY(project() != m_before);
        m_window->session().undo();
        QCOMPARE(project(), m_before);
        QVERIFY(!m_window->session().history().canUndo());
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
            const bool edits =
                qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget) ||
                (box && box->isEditable()) || (text && !text->isReadOnly()) ||
                (view && view->editTriggers() != QAbstractItemView::NoEditTriggers && hasEditableCell(*view));
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
            const auto presets = projects::topologyPresets(project().network.depth());
            const auto mix = std::ranges::find(presets, "ancre", &projects::TopologyPreset::name);
            QVERIFY(m_window->session().perform(projects::SetTopology{{mix->name, mix->wiring}}).ok());
            m_before = project();
            QTest::keyClick(canvas.surface(), Qt::Key_Tab);
        } else if (name == "commandSearch") {
            m_window->actions().commands->trigger();
        } else if (name == "topologySearch") {
            QTest::mouseClick(m_window->findChild<QWidget*>("topologyChooser"), Qt::LeftButton);
        } else {
            m_window->workspace().showCanvas(WorkspaceView::Block);
            m_window->actions().saveBlock->trigger();
        }
        QCoreApplication::processEvents();
    }

    void showRuns()
    {
        for (const Panel& panel : panels()) {
            if (QString(panel.view) == "runs") {
                m_window->workspace().arrange({.front = &panel}, m_window->size());
            }
        }
        QCoreApplication::processEvents();
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

    QDialog* dialog() const
    {
        for (QDialog* each : m_window->findChildren<QDialog*>()) {
            if (each->isVisible()) {
                return each;
            }
        }
        return nullptr;
    }

    projects::Project m_before;
};

RESIDUA_TEST_IN(QApplication, TestEditors)
#include "tst_editors.moc"
