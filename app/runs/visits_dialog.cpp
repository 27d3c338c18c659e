// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/visits_dialog.h"

#include "app/look/format.h"
#include "projects/base/text.h"
#include "visualizers/runs/visits_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QSpinBox>

#include <utility>

namespace residua::app {
namespace {

constexpr int kVisitsWidth = 640;
constexpr qlonglong kInitialWeights = -1; ///< in place of a checkpoint's step

} // namespace

VisitsDialog::VisitsDialog(std::optional<GoOnSource> source, projects::Project open, std::string tower,
                           resources::Theme theme, QWidget* parent)
    : AskDialog(QStringLiteral("visits"),
                {tr("Visits of a loop of %1").arg(QString::fromStdString(source ? source->info.name : open.name)),
                 tr("Measures on held-out batches how the state of a loop changes from visit to visit, the gradients "
                    "of its layers, and whether it settles."),
                 tr("Measure")},
                kVisitsWidth, parent),
      m_source(std::move(source)),
      m_open(std::move(open)),
      m_tower(std::move(tower)),
      m_fields(form(), QStringLiteral("visits")),
      m_view(new visualizers::VisitsView(this))
{
    const engine::VisitsRequest start;
    m_fields.add(start);
    auto& from = m_fields.editor<QComboBox>("from");
    if (m_source) {
        listCheckpoints(from, *m_source);
    }
    from.addItem(tr("none: the open project with its initial weights"), kInitialWeights);
    auto& batches = m_fields.editor<QSpinBox>("batches");
    batches.setMinimum(0);
    batches.setSpecialValueText(tr("as many as the run's validations use"));
    batches.setValue(static_cast<int>(start.batches));
    auto& otherData = m_fields.editor<QCheckBox>("other-data");
    otherData.setText(tr("Measure though the data are not those it was trained on"));
    add(&otherData);
    otherData.setVisible(m_source.has_value());
    m_view->setTheme(theme);
    m_view->hide();
    add(m_view, 1);
}

void VisitsDialog::begin()
{
    setBusy(); // until the request is completed or fails
    engine::VisitsRequest request;
    m_fields.read(request);
    request.tower = m_tower;
    if (request.of.step == kInitialWeights) {
        request.of = {};
        request.project = m_open;
    } else {
        request.of.runDirectory = m_source->info.directory;
    }
    emit chosen(request);
}

void VisitsDialog::showAnswer(const engine::VisitsReady& measured)
{
    m_view->setCurves(measured.curves);
    m_view->show();
    QStringList lines{tr("Loss %1 on %2 batches at step %3")
                          .arg(QString::fromStdString(numberText(measured.loss, 5)), formatWhole(measured.batches),
                               formatWhole(measured.step))};
    for (const std::string& note : measured.notes) {
        lines << QString::fromStdString(note);
    }
    setDone(lines.join(QLatin1Char('\n')));
}

} // namespace residua::app
