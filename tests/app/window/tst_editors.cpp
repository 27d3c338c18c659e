// SPDX-License-Identifier: GPL-3.0-or-later
// Every field of the window, left with Return, Tab, Escape and a click elsewhere: what was typed is kept, or the old
// value is. An editor that no row names fails everyEditorHasARow(), and so does a row without an editor.
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
#include <QPushButton>
#include <QSet>
#include <QTextEdit>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

using namespace residua;
using namespace residua::app;

namespace {

/// The meaning of the text in a field of the window.
enum class Meaning {
    Value, ///< of the document: entered by all ends but Escape, which restores it
    Input, ///< for a filter or a button beside it: stays as it was typed
    Asked, ///< as Input, but Return asks the engine
    Popup, ///< a field that Return takes and all else closes without a change
};

/// The owner of the text in a field.
enum class Scope { Person, Project };

struct FieldRow {
    const char* name; ///< its object name, or else its accessible name
    Meaning meaning;
    const char* typed;
    Scope scope = Scope::Person;
};

/// The fields in the panels of the window. Fields of properties and of dialogs have tests of their own.
constexpr FieldRow kFields[] = {
    {"sweepField1", Meaning::Value, "training · batch"},
    {"sweepValues1", Meaning::Value, "2, 3"},
    {"Sweep", Meaning::Value, "widths"},
    {"stageStart", Meaning::Value, "3"},
    {"stageLength", Meaning::Value, "1.5"},
    {"stageAlways", Meaning::Value, "1"},
    {"stageLengths", Meaning::Input, "1-2", Scope::Project},
    {"stageTarget", Meaning::Input, "1.5", Scope::Project},
    {"paletteSearch", Meaning::Input, "dense"},
    {"runsFilter", Meaning::Input, "trained", Scope::Project},
    {"pageName", Meaning::Input, "front"},
    {"samplePrompt", Meaning::Asked, "3 4", Scope::Project},
    {"Tokens to add", Meaning::Input, "12"},
    {"Temperature", Meaning::Input, "0.5"},
    {"theoryDimension", Meaning::Input, "12"},
    {"theoryRank", Meaning::Input, "3"},
    {"theoryLayers", Meaning::Input, "5"},
    {"theoryKappa", Meaning::Input, "0.25"},
    {"theoryLambda", Meaning::Input, "2.0"},
    {"gapSeeds", Meaning::Input, "3"},
};

/// The fields over the window, and the actions that open them.
constexpr FieldRow kPopups[] = {
    {"typingText", Meaning::Popup, "0:2"},
    {"commandSearch", Meaning::Popup, "fit"},
    {"topologySearch", Meaning::Popup, "dense"},
    {"saveName", Meaning::Popup, "mine"},
};

/// The lists of the window whose cells are edited.
constexpr const char* kCells[] = {"outline", "runsTree"};

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

/// Returns false for Escape in a field without a former value, and for Return where it starts the engine.
bool canBeLeft(Meaning meaning, End end)
{
    const bool restores = meaning == Meaning::Value || meaning == Meaning::Popup;
    return end == End::Escape ? restores : end != End::Return || meaning != Meaning::Asked;
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
    void initTestCase()
    {
        open();
        findEditors();
    }
    void cleanup() { putBack(); }
    void cleanupTestCase() { m_window.reset(); }

    void everyEditorHasARow()
    {
        QSet<QString> known;
        for (const FieldRow& row : kFields) {
            known << row.name;
        }
        for (const char* const cells : kCells) {
            known << cells;
        }
        QSet<QString> found;
        for (const auto& [name, arrangement] : m_arrangements) {
            found << name;
        }
        QCOMPARE(found - known, QSet<QString>());
        QCOMPARE(known - found, QSet<QString>());
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
        arrange(m_arrangements.at(row.name));
        QWidget* const field = visible(row.name);
        QVERIFY(field);
        QLineEdit& line = lineOf(*field);
        const bool isEmpty = QString(row.name) == "pageName"; // no page is kept
        if (const auto* const box = qobject_cast<QComboBox*>(field); box != nullptr && !isEmpty) {
            QTRY_VERIFY(box->count() > 0); // its entries arrive later, and would replace the text in it
        }
        const QString shown = line.text();
        type(line, row.typed);
        leave(end);
        if (row.meaning == Meaning::Value) {
            QCOMPARE(line.text(), end == End::Escape ? shown : row.typed);
            clickElsewhere(); // enters nothing a second time
            verifyDocument(end);
        } else {
            QVERIFY2(line.text().contains(row.typed), qPrintable(line.text())); // a unit may follow
            line.setText(shown);
        }
    }

    void inputGoesWithItsProject_data()
    {
        QTest::addColumn<FieldRow>("row");
        for (const FieldRow& row : kFields) {
            if (row.scope == Scope::Project) {
                QTest::addRow("%s", row.name) << row;
            }
        }
    }

    /// Text that was typed for one project is not there in the next one.
    void inputGoesWithItsProject()
    {
        QFETCH(FieldRow, row);
        const std::filesystem::path other = folder("other");
        QVERIFY(projects::saveProject(other, {quickExample(), {}}).ok());
        m_window->findChild<QComboBox*>("stageSplit")->setCurrentIndex(2); // which shows the target
        arrange(m_arrangements.at(row.name));
        QWidget* const field = visible(row.name);
        QVERIFY(field);
        const QLineEdit& line = lineOf(*field);
        type(lineOf(*field), row.typed);
        QCOMPARE(line.text(), QString(row.typed));
        m_window->openProject(other);
        QVERIFY2(!line.text().contains(row.typed), qPrintable(line.text()));
        m_window->openProject(m_project);
        QTRY_COMPARE(model().rowCount(), 1);
        m_arranged.reset();
    }

    void popups_data() { rowsTimesEnds(kPopups); }
    void popups()
    {
        QFETCH(FieldRow, row);
        QFETCH(End, end);
        openPopup(row.name);
        const QPointer<QLineEdit> line = visible<QLineEdit>(row.name);
        QVERIFY(line);
        type(*line, row.typed);
        leave(end);
        const QString name = row.name;
        if (name == "saveName" && end == End::Tab) {
            QCOMPARE(line->text(), QString(row.typed)); // moves to its buttons
        } else {
            QVERIFY(!line || !line->isVisible());
        }
        const bool edits = end == End::Return && name != "commandSearch"; // it shows the whole network
        QCOMPARE(project() != m_before, edits);
    }

    void dialogs_data()
    {
        QTest::addColumn<QString>("action");
        QTest::addColumn<End>("end");
        for (const char* const action :
             {"create", "import", "takeAlong", "exportPlot", "exportFigure", "keys", "methods", "run:export",
              "run:resume", "run:retrofit", "run:tie", "run:factorise", "run:takeAlong"}) {
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
        showPanel("runs");
        tree()->setCurrentIndex(tree()->model()->index(0, 0));
        auto* const opens = m_window->findChild<QAction*>(action);
        QVERIFY2(opens && opens->isEnabled(), qPrintable(action));
        opens->trigger();
        QTRY_VERIFY(dialog() != nullptr);
        const QPointer<QDialog> open = dialog();
        activate(*open);
        for (QPushButton* button : open->findChildren<QPushButton*>()) {
            button->disconnect(); // Return presses one, whose action is not of interest here
        }
        int fields = 0;
        for (QLineEdit* const line : open->findChildren<QLineEdit*>()) {
            if (!line->isVisible() || !line->isEnabled() || line->isReadOnly()) {
                continue;
            }
            ++fields;
            const QVariant typed = typeOther(*line);
            leave(end, open);
            if (end == End::Escape) {
                QTRY_VERIFY(!open || !open->isVisible());
                break;
            }
            QVERIFY(open && open->isVisible());
            QCOMPARE(contentOf(*line), typed);
        }
        QVERIFY(fields > 0);
        QCOMPARE(project(), m_before);
    }

private:
    template <class Rows>
    static void rowsTimesEnds(const Rows& rows)
    {
        QTest::addColumn<FieldRow>("row");
        QTest::addColumn<End>("end");
        for (const FieldRow& row : rows) {
            for (const auto& [name, end] : kEnds) {
                if (canBeLeft(row.meaning, end)) {
                    QTest::addRow("%s, %s", row.name, name) << row << end;
                }
            }
        }
    }

    /// Remembers in what arrangement each editor is found, of those with each panel in front, and each canvas and the
    /// schedule. Some fields are shown for one choice alone.
    void findEditors()
    {
        m_window->findChild<QComboBox*>("theoryModel")->setCurrentIndex(1);
        m_window->findChild<QComboBox*>("stageSplit")->setCurrentIndex(2);
        std::vector<Arrangement> all;
        for (const WorkspaceView view :
             {WorkspaceView::Depth, WorkspaceView::Matrix, WorkspaceView::Block, WorkspaceView::Schedule}) {
            all.push_back({.view = view});
        }
        for (const Panel& panel : panels()) {
            all.push_back({.front = &panel});
        }
        for (const Arrangement& arrangement : all) {
            arrange(arrangement);
            for (const QWidget* editor : editorsIn(*m_window)) {
                if (!nameOf(*editor).startsWith("property:")) { // those have tests of their own
                    m_arrangements.try_emplace(nameOf(*editor), arrangement);
                }
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

    /// Returns the number in a box, or the text of another field.
    static QVariant contentOf(const QLineEdit& line)
    {
        const auto* const box = qobject_cast<QAbstractSpinBox*>(line.parentWidget());
        return box ? box->property("value") : line.text();
    }
    /// Types another number or text, and returns it.
    QVariant typeOther(QLineEdit& line) const
    {
        const QVariant before = contentOf(line);
        const QVariant other = before.typeId() == QMetaType::Int      ? QVariant(before.toInt() + 1)
                               : before.typeId() == QMetaType::Double ? QVariant(std::round(before.toDouble() * 5) / 10)
                                                                      : QVariant(m_folder->filePath("typed"));
        type(line, other.toString());
        return other;
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
            m_arranged.reset();
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

    std::map<QString, Arrangement> m_arrangements; ///< by the name of an editor
};

RESIDUA_TEST_IN(QApplication, TestEditors)
#include "tst_editors.moc"
