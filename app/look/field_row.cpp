// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/look/field_row.h"

#include "projects/schema/fields.h"
#include "visualizers/plot/arrange.h"

#include <QCoreApplication>
#include <QDir>
#include <QDropEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QSpinBox>
#include <QToolTip>
#include <QUrl>
#include <QWidget>

#include <algorithm>
#include <limits>
#include <utility>

namespace residua::app {

namespace {

constexpr int kFieldSpacing = 6;        ///< pixels
constexpr char kShownValue[] = "shown"; ///< property of a field: the text of the document's value

class CommittedField : public QObject {
public:
    explicit CommittedField(QLineEdit& field) : QObject(&field), m_field(field)
    {
        // An editable combo box has the focus of its field, and passes the keys on.
        (field.focusProxy() ? field.focusProxy() : &field)->installEventFilter(this);
    }

    bool eventFilter(QObject* /*watched*/, QEvent* event) override
    {
        if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress) {
            return false;
        }
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool undoes = key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo);
        const bool restores = key->key() == Qt::Key_Escape && m_field.isModified();
        if (event->type() == QEvent::ShortcutOverride) {
            event->setAccepted(restores);
            return restores || (undoes && !m_field.isModified());
        }
        if (restores) {
            m_field.setText(m_field.property(kShownValue).toString()); // is then no longer modified
        }
        return restores;
    }

private:
    QLineEdit& m_field;
};

class PathTaker : public QObject {
    Q_DECLARE_TR_FUNCTIONS(PathTaker)
public:
    PathTaker(QWidget& over, PathTarget target) : QObject(&over), m_target(std::move(target)) {}

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        const QEvent::Type type = event->type();
        if (type != QEvent::DragEnter && type != QEvent::DragMove && type != QEvent::Drop) {
            return QObject::eventFilter(watched, event);
        }
        auto* const drop = static_cast<QDropEvent*>(event);
        const QStringList paths = pathsIn(*drop);
        if (paths.isEmpty()) {
            return QObject::eventFilter(watched, event);
        }
        if (m_target.wants && !m_target.wants()) {
            drop->ignore();
            return true;
        }
        drop->acceptProposedAction(); // otherwise the window would take what this field refuses
        const QString problem = type == QEvent::DragMove ? QString() : problemWith(paths);
        if (!problem.isEmpty()) {
            auto* const under = static_cast<QWidget*>(watched);
            QToolTip::showText(under->mapToGlobal(drop->position().toPoint()), problem, under);
        } else if (type == QEvent::Drop) {
            m_target.take(paths);
        }
        return true;
    }

private:
    [[nodiscard]] QString problemWith(const QStringList& paths) const
    {
        if (paths.size() > 1 && !m_target.takesSeveral) {
            return tr("%n files or folders; expected one.", nullptr, static_cast<int>(paths.size()));
        }
        for (const QString& path : paths) {
            if (const QString problem = m_target.problem(path); !problem.isEmpty()) {
                return problem;
            }
        }
        return {};
    }

    PathTarget m_target;
};

} // namespace

QWidget* fieldRow(QWidget* field, std::initializer_list<QPushButton*> buttons)
{
    auto* row = new QWidget(field->parentWidget());
    auto* layout = visualizers::makeRow(row, {QMargins(), kFieldSpacing}, {{field, 1}});
    for (QPushButton* button : buttons) {
        button->setAutoDefault(false);
        layout->addWidget(button);
    }
    row->setFocusProxy(field);
    return row;
}

QSpinBox* spinBoxOf(const QString& name, const QString& object, std::string_view pointer, QWidget* parent)
{
    const projects::Range range = projects::fieldOfSchema(pointer).value().field.more.range;
    auto* box = new QSpinBox(parent);
    box->setRange(static_cast<int>(range.least),
                  static_cast<int>(std::min<double>(range.most, std::numeric_limits<int>::max())));
    box->setGroupSeparatorShown(true);
    box->setAccessibleName(name);
    box->setObjectName(object);
    return box;
}

void takeChosen(QLineEdit& field, const QString& path)
{
    if (!path.isEmpty()) {
        field.setText(QDir::toNativeSeparators(QDir::cleanPath(path)));
    }
}

std::string absolutePath(const QString& typed)
{
    return QDir::cleanPath(QDir().absoluteFilePath(typed.trimmed())).toStdString();
}

QStringList pathsIn(const QDropEvent& drop)
{
    QStringList paths;
    for (const QUrl& url : drop.mimeData()->urls()) {
        if (!url.isLocalFile()) {
            return {};
        }
        paths << url.toLocalFile();
    }
    return paths;
}

void acceptPaths(QWidget& over, PathTarget target)
{
    auto* const taker = new PathTaker(over, std::move(target));
    over.setAcceptDrops(true);
    over.installEventFilter(taker);
    for (QLineEdit* field : over.findChildren<QLineEdit*>()) {
        field->installEventFilter(taker);
    }
}

void acceptPaths(QLineEdit& field, std::function<QString(const QString& path)> problem)
{
    acceptPaths(field, PathTarget{.problem = std::move(problem),
                                  .take = [&field](const QStringList& paths) { takeChosen(field, paths.front()); }});
}

void acceptNewPath(QLineEdit& field, std::function<QString(const QString& path)> problem)
{
    const auto take = [&field](const QStringList& paths) {
        const QFileInfo given(paths.front());
        takeChosen(field, given.isDir() ? QDir(given.filePath()).filePath(QFileInfo(field.text()).fileName())
                                        : given.filePath());
        field.setModified(true); // a name that the user has chosen
    };
    acceptPaths(field, PathTarget{.problem = std::move(problem), .take = take});
}

void showsCommitted(QLineEdit& field)
{
    new CommittedField(field);
}

void showValue(QLineEdit& field, const QString& text)
{
    field.setProperty(kShownValue, text);
    if (!field.isModified()) {
        field.setText(text);
    }
}

} // namespace residua::app
