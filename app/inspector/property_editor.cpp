// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector/property_editor.h"

#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/path_kind.h"
#include "app/look/theme.h"
#include "visualizers/plot/arrange.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::app {

namespace {

constexpr double kBigStep = 10.0;
constexpr int kLeastWidth = 40; ///< pixels; a wider editor would be cut off in a narrow panel

/// Parses numbers as in the project's files: with a point and without thousands separators.
QVariant numberFrom(const QString& text, PropertyKind kind)
{
    bool ok = false;
    if (kind == PropertyKind::Integer) {
        const qlonglong whole = QLocale::c().toLongLong(text.trimmed(), &ok);
        return ok ? QVariant(whole) : QVariant();
    }
    const double real = QLocale::c().toDouble(text.trimmed(), &ok);
    return ok && std::isfinite(real) ? QVariant(real) : QVariant();
}

} // namespace

PropertyEditor::PropertyEditor(const Property& property, QWidget* parent) : QWidget(parent), m_property(property)
{
    auto* layout = new QHBoxLayout;
    layout->setSpacing(2);
    auto* column = visualizers::makeColumn(this, {QMargins(), 2}, {layout});
    if (property.kind == PropertyKind::Toggle) {
        m_toggle = new QCheckBox(this);
        layout->addWidget(m_toggle);
        layout->addStretch();
        connect(m_toggle, &QCheckBox::clicked, this, &PropertyEditor::enter);
        setFocusProxy(m_toggle);
    } else if (property.kind == PropertyKind::Choice) {
        m_choice = new QComboBox(this);
        m_choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        m_choice->setMinimumContentsLength(6);
        m_choice->installEventFilter(this);
        layout->addWidget(m_choice);
        connect(m_choice, &QComboBox::activated, this, &PropertyEditor::enter);
        setFocusProxy(m_choice);
    } else {
        makeField(*layout);
    }
    if (!property.offer.isEmpty()) {
        auto* offer = new QPushButton(property.offer, this);
        offer->setObjectName(QString::fromStdString("property:" + property.key + ":offer"));
        offer->setMinimumWidth(kLeastWidth);
        column->addWidget(offer, 0, Qt::AlignLeft);
        connect(offer, &QPushButton::clicked, this, &PropertyEditor::offerTaken);
    }
    for (QWidget* field :
         {static_cast<QWidget*>(m_toggle), static_cast<QWidget*>(m_choice), static_cast<QWidget*>(m_field)}) {
        if (field) {
            field->setAccessibleName(property.title);
            field->setObjectName(QString::fromStdString("property:" + property.key));
        }
    }
    setToolTip(property.toolTip());
    show(property.value);
}

void PropertyEditor::makeField(QHBoxLayout& row)
{
    m_field = new QLineEdit(this);
    m_field->setMinimumWidth(kLeastWidth);
    row.addWidget(m_field);
    setFocusProxy(m_field);
    m_field->installEventFilter(this);
    showsCommitted(*m_field);
    connect(m_field, &QLineEdit::editingFinished, this, &PropertyEditor::enter);
    connect(m_field, &QLineEdit::textChanged, this, &PropertyEditor::checkText);
    if (m_property.kind != PropertyKind::Text && m_property.kind != PropertyKind::File) {
        m_field->setFont(numberFont());
    }
    if (m_property.kind == PropertyKind::File) {
        auto* button = new QToolButton(this);
        button->setIcon(themedIcon(QStringLiteral("open")));
        button->setToolTip(tr("Choose a file or a folder"));
        button->setAccessibleName(tr("Choose a file or a folder for %1").arg(m_property.title));
        row.addWidget(button);
        auto* menu = new QMenu(button);
        connect(menu->addAction(tr("File…")), &QAction::triggered, this,
                [this] { takePath(QFileDialog::getOpenFileName(this, m_property.title, m_field->text())); });
        connect(menu->addAction(tr("Folder…")), &QAction::triggered, this,
                [this] { takePath(QFileDialog::getExistingDirectory(this, m_property.title, m_field->text())); });
        button->setMenu(menu);
        button->setPopupMode(QToolButton::InstantPopup);
        acceptPaths(*this, {.problem = m_property.key.ends_with("/tokeniser/model") ? onlyTokenisers() : onlyData(),
                            .take = [this](const QStringList& paths) { takePath(paths.front()); }});
    }
}

/// Checks while the user types, so that a formula shows its error before it is entered.
void PropertyEditor::checkText(const QString& text)
{
    const QString problem = m_property.check ? m_property.check(text) : QString();
    if (!problem.isEmpty() && !m_complaint) {
        m_complaint = new QLabel(this);
        m_complaint->setObjectName(m_field->objectName() + QStringLiteral(":complaint"));
        m_complaint->setProperty("role", QStringLiteral("error"));
        m_complaint->setWordWrap(true);
        static_cast<QVBoxLayout*>(layout())->addWidget(m_complaint);
    }
    if (m_complaint) {
        m_complaint->setText(problem);
        m_complaint->setVisible(!problem.isEmpty());
    }
    m_field->setAccessibleDescription(problem);
    markInvalid(!problem.isEmpty());
}

void PropertyEditor::markInvalid(bool invalid)
{
    if (m_field->property("invalid").toBool() != invalid) {
        m_field->setProperty("invalid", invalid);
        m_field->style()->polish(m_field);
    }
}

void PropertyEditor::setProperty(const Property& property)
{
    m_property = property;
    setToolTip(property.toolTip());
    show(property.value);
}

void PropertyEditor::restore()
{
    if (m_field) {
        m_field->setModified(false);
    }
    show(m_property.value);
}

void PropertyEditor::show(const QVariant& value)
{
    if (m_toggle) {
        m_toggle->setChecked(value.toBool());
    } else if (m_choice) {
        visualizers::offer(*m_choice, m_property.choices, value.toInt());
        m_choice->setPlaceholderText(tr("several"));
    } else {
        const bool real = m_property.kind == PropertyKind::Real;
        showValue(*m_field, real ? formatReal(value.toDouble()) : value.toString());
        if (m_field->isModified()) {
            return;
        }
        m_field->setCursorPosition(0);
        if (!real && m_property.kind != PropertyKind::Integer) { // may be longer than the field
            const QString help = m_property.toolTip();
            m_field->setToolTip(help.isEmpty() ? m_field->text() : m_field->text() + QLatin1Char('\n') + help);
        }
        checkText(m_field->text());
    }
}

QVariant PropertyEditor::shown() const
{
    if (m_toggle) {
        return m_toggle->isChecked();
    }
    if (m_choice) {
        return m_choice->currentIndex();
    }
    if (m_property.kind == PropertyKind::Integer || m_property.kind == PropertyKind::Real) {
        return numberFrom(m_field->text(), m_property.kind);
    }
    return m_field->text();
}

QString PropertyEditor::problemWith(const QVariant& value) const
{
    if (!value.isValid()) {
        return m_property.kind == PropertyKind::Integer ? tr("Expected a whole number, such as 128.")
                                                        : tr("Expected a number, such as 0.1 or 1e-3.");
    }
    const bool number = m_property.kind == PropertyKind::Integer || m_property.kind == PropertyKind::Real;
    if (number && !m_property.range.contains(value.toDouble())) {
        return tr("Expected %1.").arg(QString::fromStdString(textOf(m_property.range)));
    }
    return m_property.check ? m_property.check(value.toString()) : QString();
}

bool PropertyEditor::enter()
{
    const QVariant wanted = shown();
    if (m_field) {
        if (!m_field->isModified()) {
            return true;
        }
        const QString problem = problemWith(wanted);
        markInvalid(!problem.isEmpty());
        if (!problem.isEmpty()) {
            if (!m_property.check) { // otherwise it is shown below the field
                QToolTip::showText(m_field->mapToGlobal(QPoint(0, m_field->height())), problem, m_field);
            }
            return false;
        }
        m_field->setModified(false);
    }
    if (wanted != m_property.value) {
        emit committed(wanted);
    }
    return true;
}

/// Enters a path that was chosen or dropped; empty if the choice was cancelled.
void PropertyEditor::takePath(const QString& path)
{
    if (!path.isEmpty()) {
        m_field->setText(path);
        m_field->setModified(true);
        enter();
    }
}

void PropertyEditor::stepNumber(int direction)
{
    const QVariant now = shown();
    if (!now.isValid()) {
        return;
    }
    if (m_property.kind == PropertyKind::Integer) {
        const qlonglong whole = now.toLongLong();
        using Limits = std::numeric_limits<qlonglong>;
        const qlonglong stepped = whole == (direction > 0 ? Limits::max() : Limits::min()) ? whole : whole + direction;
        const projects::Range& range = m_property.range;
        const bool inside = range.contains(static_cast<std::int64_t>(stepped));
        m_field->setText(QString::number(inside                  ? stepped
                                         : stepped < range.least ? static_cast<qlonglong>(range.least)
                                                                 : static_cast<qlonglong>(range.most)));
    } else {
        // The step is a tenth of the number's magnitude: 0.1 → 0.11, 3e-4 → 3.1e-4.
        const double real = now.toDouble();
        const double step = real == 0 ? 1.0 / kBigStep : std::pow(10.0, std::floor(std::log10(std::abs(real))) - 1);
        const double stepped = std::round(real / step + direction) * step;
        const double nearest = std::clamp(stepped, m_property.range.least, m_property.range.most);
        if (!m_property.range.contains(nearest)) {
            return; // an end that is not included
        }
        m_field->setText(QString::number(nearest, 'g', 6));
    }
    m_field->setModified(true);
    enter();
}

bool PropertyEditor::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_choice && event->type() == QEvent::Wheel) {
        event->ignore(); // scrolling the inspector must not change values under the pointer
        return true;
    }
    if (watched == m_field && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const bool number = m_property.kind == PropertyKind::Integer || m_property.kind == PropertyKind::Real;
        if (number && (key == Qt::Key_Up || key == Qt::Key_Down)) {
            stepNumber(key == Qt::Key_Up ? 1 : -1);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace residua::app
