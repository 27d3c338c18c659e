// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweeps/sweep_axis_row.h"

#include "app/look/field_row.h"
#include "app/look/theme.h"
#include "app/sweeps/sweep_ticks.h"
#include "visualizers/plot/arrange.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

namespace residua::app {

namespace {

constexpr int kNarrowestField = 80;
constexpr int kNarrowestValues = 60;
constexpr int kRoomForOneLine = 400; ///< pixels; below this width the values are under their field
constexpr int kWidestList = 420;

} // namespace

SweepAxisRow::SweepAxisRow(int number, const PaletteModel& palette, QWidget* parent)
    : QWidget(parent), m_palette(palette), m_ticks(new SweepTicks(this))
{
    m_field->setObjectName(QStringLiteral("sweepField%1").arg(number));
    m_field->setAccessibleName(tr("Field %1").arg(number));
    m_field->setEditable(true);
    m_field->setInsertPolicy(QComboBox::NoInsert);
    m_field->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_field->setMinimumContentsLength(4);
    m_field->setMinimumWidth(kNarrowestField);
    m_field->view()->setMinimumWidth(kWidestList);
    m_field->completer()->setFilterMode(Qt::MatchContains);
    m_field->completer()->setCompletionMode(QCompleter::PopupCompletion);
    m_field->lineEdit()->setPlaceholderText(tr("a field, such as learning rate"));
    m_values->setObjectName(QStringLiteral("sweepValues%1").arg(number));
    m_values->setAccessibleName(tr("Values of field %1").arg(number));
    m_values->setPlaceholderText(tr("values, such as 0.5, 1, 2 or 1e-4..1e-2:5"));
    m_values->setMinimumWidth(kNarrowestValues);
    m_values->setFont(numberFont());
    auto* propose = new QToolButton(this);
    propose->setToolTip(tr("Proposed values"));
    propose->setAccessibleName(tr("Proposed values of field %1").arg(number));
    propose->setText(tr("…"));
    propose->setPopupMode(QToolButton::InstantPopup);
    propose->setMenu(m_proposals);
    auto* remove = new QToolButton(this);
    remove->setIcon(themedIcon(QStringLiteral("close")));
    remove->setToolTip(tr("Do not vary this field"));
    remove->setAccessibleName(tr("Remove field %1").arg(number));
    auto* values = visualizers::makeRow(nullptr, {}, {{m_values, 1}, propose, remove});
    m_line->setContentsMargins(0, 0, 0, 0);
    m_line->setSpacing(4);
    m_line->addWidget(m_field, 1);
    m_line->addLayout(values, 1);
    m_ticks->setObjectName(QStringLiteral("sweepTicks%1").arg(number));
    m_ticks->setAccessibleName(tr("Values of field %1 to tick").arg(number));
    visualizers::makeColumn(this, {QMargins(), 2}, {m_line, m_ticks});
    connect(m_field, &QComboBox::activated, this, &SweepAxisRow::commit);
    showsCommitted(*m_field->lineEdit());
    showsCommitted(*m_values);
    connect(m_field->lineEdit(), &QLineEdit::editingFinished, this, &SweepAxisRow::commit);
    connect(m_values, &QLineEdit::editingFinished, this, &SweepAxisRow::commit);
    connect(m_proposals, &QMenu::aboutToShow, this, &SweepAxisRow::propose);
    connect(remove, &QToolButton::clicked, this, &SweepAxisRow::removeRequested);
    connect(m_ticks, &SweepTicks::ticked, this, [this](const std::vector<projects::SweepValue>& ticked) {
        projects::SweepAxis axis = m_axis;
        axis.values = ticked;
        m_values->setModified(false);
        emit changed(axis);
    });
}

void SweepAxisRow::setAxis(const projects::SweepAxis& axis, projects::ProjectSnapshot project)
{
    m_axis = axis;
    m_project = std::move(project);
    showValue(*m_field->lineEdit(), titleOfField(*m_project, axis.field));
    if (!m_field->lineEdit()->isModified()) {
        m_field->lineEdit()->end(false); // the last words of a field are the most informative
    }
    showValue(*m_values, textOf(axis.values));
    if (!m_values->isModified()) {
        m_values->setCursorPosition(0);
    }
    QStringList labels;
    for (const projects::SweepValue& value : axis.values) {
        labels << QString::fromStdString(labelOf(value));
    }
    m_values->setToolTip(labels.join(QLatin1Char('\n')));
    m_field->setToolTip(QString::fromStdString(axis.field));
    showTicks();
}

void SweepAxisRow::showTicks()
{
    if (m_project) {
        m_ticks->setTicks(ticksFor(*m_project, m_axis, m_palette), m_axis.values);
    }
}

void SweepAxisRow::setFields(const std::vector<SweepField>& fields)
{
    const QSignalBlocker quiet(m_field);
    const QString typed = m_field->currentText();
    const bool modified = m_field->lineEdit()->isModified();
    m_field->clear();
    for (const SweepField& field : fields) {
        m_field->addItem(field.title, field.pointer);
        m_field->setItemData(m_field->count() - 1, field.pointer, Qt::ToolTipRole);
    }
    m_field->setCurrentIndex(m_field->findText(typed));
    m_field->setEditText(typed);
    m_field->lineEdit()->setModified(modified);
    m_field->lineEdit()->end(false);
}

void SweepAxisRow::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_line->setDirection(width() >= kRoomForOneLine ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

void SweepAxisRow::focusField()
{
    m_field->setFocus();
    m_field->lineEdit()->selectAll();
}

/// Returns the pointer of the field that is named, or the pointer that was typed.
std::string SweepAxisRow::chosenField() const
{
    const QString text = m_field->currentText().trimmed();
    const int current = m_field->currentIndex(); // two fields may have one title
    const bool isCurrent = current >= 0 && m_field->itemText(current) == text;
    const int named = isCurrent ? current : m_field->findText(text, Qt::MatchFixedString);
    const bool isKept = !isCurrent && m_project && text == titleOfField(*m_project, m_axis.field);
    return isKept ? m_axis.field : (named < 0 ? text : m_field->itemData(named).toString()).toStdString();
}

void SweepAxisRow::commit()
{
    projects::SweepAxis axis = m_axis;
    axis.field = chosenField();
    axis.values = valuesFrom(m_values->text(), m_axis.values);
    if (axis.field != m_axis.field) {
        axis.label.clear();
    }
    m_field->lineEdit()->setModified(false);
    m_values->setModified(false);
    if (axis == m_axis || !m_project) {
        return;
    }
    if (axis.values.empty() && axis.field != m_axis.field) { // initial values
        const auto proposals = proposalsFor(*m_project, axis.field);
        axis.values = proposals.empty() ? axis.values : proposals.front().values;
    }
    emit changed(axis);
}

void SweepAxisRow::propose()
{
    m_proposals->clear();
    for (const ValueProposal& proposal : proposalsFor(*m_project, m_axis.field)) {
        m_proposals->addAction(proposal.title, this, [this, values = proposal.values] {
            projects::SweepAxis axis = m_axis;
            axis.values = values;
            m_values->setModified(false);
            emit changed(axis);
        });
    }
    if (m_proposals->isEmpty()) {
        m_proposals->addAction(tr("Type values, with commas between them"))->setEnabled(false);
    }
}

} // namespace residua::app
