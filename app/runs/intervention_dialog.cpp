// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/intervention_dialog.h"

#include "app/look/format.h"
#include "projects/base/text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QHeaderView>
#include <QSpinBox>

#include <cmath>
#include <string>
#include <utility>

namespace residua::app {
namespace {

using projects::InterventionKind;
using projects::StreamFill;
using projects::TransitionForm;

constexpr int kInterventionWidth = 640;
constexpr int kTableHeight = 240;

QString shownNumber(double value)
{
    constexpr int kDigits = 4;
    return QString::fromStdString(std::isnan(value) ? "–" : numberText(value, kDigits));
}

} // namespace

InterventionDialog::InterventionDialog(GoOnSource source, QWidget* parent)
    : AskDialog(QStringLiteral("intervention"),
                {tr("Interventions on the streams of %1").arg(QString::fromStdString(source.info.name)),
                 tr("Gives parallel streams another value after modules, or replaces the matrices between them, and "
                    "measures how much the loss rises on held-out batches."),
                 tr("Measure")},
                kInterventionWidth, parent),
      m_source(std::move(source)),
      m_fields(form(), QStringLiteral("intervention"))
{
    const engine::InterventionRequest start;
    m_fields.add(start);
    listCheckpoints(m_fields.editor<QComboBox>("from"), m_source);
    auto& batches = m_fields.editor<QSpinBox>("batches");
    batches.setMinimum(0);
    batches.setSpecialValueText(tr("as many as the run's validations use"));
    batches.setValue(static_cast<int>(start.batches));
    m_streams->setObjectName(QStringLiteral("interventionStreams"));
    m_streams->setPlaceholderText(tr("each; or sets of streams: 1, 2, 1+3"));
    form().addRow(tr("Streams"), m_streams);
    m_after->setObjectName(QStringLiteral("interventionAfter"));
    m_after->setPlaceholderText(tr("all; or modules and ranges: 4, 8-12"));
    form().addRow(tr("Modules"), m_after);
    auto& otherData = m_fields.editor<QCheckBox>("other-data");
    otherData.setText(tr("Measure though the data are not those it was trained on"));
    add(&otherData);
    m_table->setObjectName(QStringLiteral("interventionTable"));
    m_table->setAccessibleName(tr("Effects of the interventions"));
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->verticalHeader()->hide();
    m_table->setMinimumHeight(kTableHeight);
    m_table->hide();
    add(m_table);
    m_fields.onEdited([this] { update(); });
    update();
}

engine::InterventionRequest InterventionDialog::request() const
{
    engine::InterventionRequest request;
    m_fields.read(request);
    request.tower = m_source.tower;
    if (request.what == InterventionKind::Transitions) {
        request.fill = StreamFill::Zero;
    } else {
        request.by = TransitionForm::Identity;
        request.streams = m_streams->text().remove(QLatin1Char(' ')).toStdString();
    }
    request.copied = request.fill == StreamFill::Stream ? request.copied : 0;
    request.top = request.by >= TransitionForm::Top ? request.top : 1;
    request.after = m_after->text().remove(QLatin1Char(' ')).toStdString();
    request.of.runDirectory = m_source.info.directory;
    return request;
}

void InterventionDialog::update()
{
    const engine::InterventionRequest asked = request();
    const bool ofTransitions = asked.what == InterventionKind::Transitions;
    form().setRowVisible(&m_fields.editor<QComboBox>("fill"), !ofTransitions);
    form().setRowVisible(&m_fields.editor<QSpinBox>("copied"), asked.fill == StreamFill::Stream);
    form().setRowVisible(&m_fields.editor<QComboBox>("by"), ofTransitions);
    form().setRowVisible(&m_fields.editor<QSpinBox>("top"), asked.by >= TransitionForm::Top);
    form().setRowVisible(m_streams, !ofTransitions);
}

void InterventionDialog::begin()
{
    setBusy(); // until the request is completed or fails
    const engine::InterventionRequest asked = request();
    m_asked = asked.what;
    emit chosen(asked);
}

void InterventionDialog::showAnswer(const engine::InterventionReady& measured)
{
    QStringList titles{tr("Intervention"), tr("Routing"), tr("Loss rise"), tr("±"), tr("KL, nats")};
    if (m_asked == InterventionKind::Pairs || m_asked == InterventionKind::Rescue) {
        titles << (m_asked == InterventionKind::Pairs ? tr("Redundancy") : tr("R"));
    }
    m_table->setColumnCount(static_cast<int>(titles.size()));
    m_table->setHorizontalHeaderLabels(titles);
    m_table->setRowCount(static_cast<int>(measured.rows.size()));
    int line = 0;
    for (const engine::InterventionRow& row : measured.rows) {
        const QStringList cells{QString::fromStdString(row.name),
                                row.frozen ? tr("frozen") : tr("recomputed"),
                                shownNumber(row.rise),
                                shownNumber(row.error),
                                row.divergence <= measured.noise ? tr("noise") : shownNumber(row.divergence),
                                shownNumber(row.derived)};
        for (int column = 0; column < m_table->columnCount(); ++column) {
            auto* const cell = new QTableWidgetItem(cells[column]);
            cell->setTextAlignment(Qt::AlignVCenter | (column < 2 ? Qt::AlignLeft : Qt::AlignRight));
            m_table->setItem(line, column, cell);
        }
        ++line;
    }
    m_table->resizeColumnsToContents();
    m_table->show();
    QStringList lines{tr("The loss rises above %1, that without interventions on %2 batches at step %3; ± is the "
                         "standard error over the batches. KL is the divergence of the predictions, noise at most "
                         "%4. Routing: the weights of the streams, recomputed or as without the intervention.")
                          .arg(QString::fromStdString(numberText(measured.loss, 5)), formatWhole(measured.batches),
                               formatWhole(measured.step), shownNumber(measured.noise))};
    if (m_asked == InterventionKind::Rescue) {
        lines << tr("R is the share of the KL that the restored stream takes away: 1 all, 0 none.");
    } else if (m_asked == InterventionKind::Pairs) {
        lines << tr("Redundancy: KL of both streams less that of each; above 0 each can stand in for the other.");
    }
    for (const std::string& note : measured.notes) {
        lines << QString::fromStdString(note);
    }
    setDone(lines.join(QLatin1Char('\n')));
}

} // namespace residua::app
