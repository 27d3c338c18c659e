// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/knockout_dialog.h"

#include "app/look/format.h"
#include "projects/base/text.h"
#include "projects/nodes/alteration.h"
#include "visualizers/plot/arrange.h"

#include <QCheckBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::app {
namespace {

constexpr int kKnockoutWidth = 480;
constexpr std::size_t kMostAnswers = 12; ///< parts whose effect the dialog shows
constexpr int kDefaultWeakest = 4;

/// Returns the names of the chosen parts, shortened if they are many.
QString namesOf(const std::vector<std::string>& parts)
{
    constexpr std::size_t kMostNamed = 6;
    QStringList names;
    for (std::size_t i = 0; i < std::min(parts.size(), kMostNamed); ++i) {
        names << QString::fromStdString(parts[i]);
    }
    if (parts.size() > kMostNamed) {
        names << KnockoutDialog::tr("%1 more").arg(formatWhole(std::ssize(parts) - std::ssize(names)));
    }
    return names.join(QStringLiteral(", "));
}

QString signedNumber(double value)
{
    constexpr int kDigits = 3;
    return (value < 0 ? QString() : QStringLiteral("+")) + QString::fromStdString(numberText(value, kDigits));
}

} // namespace

KnockoutDialog::Words KnockoutDialog::wordsFor(const GoOnSource& source, const engine::KnockoutRequest& start)
{
    const QString run = QString::fromStdString(source.info.name);
    if (start.only.empty()) {
        return {tr("Knock-out of %1").arg(run),
                tr("Switches off each part of the network, one at a time, and measures how much the loss rises on "
                   "held-out batches. The run keeps the result."),
                tr("Measure")};
    }
    return {tr("What if %1 had no %2").arg(run, namesOf(start.only)),
            (start.only.size() > 1
                 ? tr("Switches off %1, each alone, and measures how much the loss of %2 rises on held-out batches.")
                 : tr("Switches off %1, and measures how much the loss of %2 rises on held-out batches."))
                .arg(namesOf(start.only), run),
            tr("Measure again")};
}

KnockoutDialog::KnockoutDialog(GoOnSource source, std::vector<engine::KeptEffects> kept, engine::KnockoutRequest start,
                               QWidget* parent)
    : AskDialog(QStringLiteral("knockout"), wordsFor(source, start), kKnockoutWidth, parent),
      m_source(std::move(source)),
      m_kept(std::move(kept)),
      m_start(std::move(start)),
      m_fields(form(), QStringLiteral("knockout")),
      m_cost(new QLabel(this))
{
    m_fields.add(m_start);
    listCheckpoints(m_fields.editor<QComboBox>("from"), m_source);
    auto& batches = m_fields.editor<QSpinBox>("batches");
    const std::int64_t usual = m_source.project.training.validationBatches;
    batches.setMinimum(0);
    batches.setSpecialValueText(usual > 0 ? tr("%1, as the run's validations use").arg(formatWhole(usual))
                                          : tr("all, as the run's validations use"));
    batches.setValue(static_cast<int>(m_start.batches));
    visualizers::makeRemark(*m_cost, "knockoutCost");
    auto& otherData = m_fields.editor<QCheckBox>("other-data");
    otherData.setText(tr("Measure though the data are not those it was trained on"));
    add(&otherData);
    add(m_cost);
    if (!m_start.only.empty()) {
        auto& by = m_fields.editor<QComboBox>("by");
        by.hide();
        form().labelForField(&by)->hide();
    }
    m_fields.onEdited([this] { update(); });
}

void KnockoutDialog::start()
{
    update();
    show();
    if (!m_start.only.empty() && goButton().isEnabled()) {
        begin();
    }
}

engine::KnockoutRequest KnockoutDialog::request() const
{
    engine::KnockoutRequest request = m_start;
    m_fields.read(request);
    request.of.runDirectory = m_source.info.directory;
    request.again = m_again;
    return request;
}

engine::EffectsKey KnockoutDialog::keyOf(const engine::KnockoutRequest& request) const
{
    return engine::effectsKeyFor(request, m_source.project, request.of.step.value_or(0));
}

Result<std::int64_t> KnockoutDialog::partsOf(const engine::KnockoutRequest& request) const
{
    projects::Project project = m_source.project;
    if (request.by == projects::KnockoutBy::Term) {
        projects::Wiring wiring =
            RESIDUA_TRY(projects::withTerms(project.stack().topology.wiring, project.network.depth()));
        project.stack().topology.wiring = std::move(wiring);
    }
    auto subjects = projects::knockoutSubjects(project, request.by, request.renormalise);
    if (subjects) {
        subjects = projects::chosenSubjects(std::move(*subjects), request.only);
    }
    return subjects ? Result<std::int64_t>(std::ssize(*subjects)) : Result<std::int64_t>(subjects.error());
}

QString KnockoutDialog::costText(std::int64_t parts, std::int64_t batches) const
{
    const QString each = tr("%n parts", nullptr, static_cast<int>(parts));
    return batches > 0
               ? tr("Takes %1 passes of a batch at most: %2 and the whole network, on %3.")
                     .arg(formatWhole((parts + 1) * batches), each,
                          batches == 1 ? tr("one held-out batch") : tr("%1 held-out batches").arg(formatWhole(batches)))
               : tr("Takes %1 passes for each held-out batch: %2 and the whole network.")
                     .arg(formatWhole(parts + 1), each);
}

/// Says what the chosen request costs, or why it cannot be made. Reports a kept result that answers it.
void KnockoutDialog::update()
{
    if (m_busy) {
        return;
    }
    const engine::KnockoutRequest asked = request();
    const Result<std::int64_t> parts = partsOf(asked);
    const engine::EffectsKey key = keyOf(asked);
    const bool isKept = parts && asked.only.empty() && asked.of.otherData == engine::OtherData::Refuse;
    const auto kept = isKept ? std::ranges::find(m_kept, key, &engine::KeptEffects::key) : m_kept.end();
    m_again = kept != m_kept.end();
    goButton().setEnabled(parts.ok());
    goButton().setText(kept != m_kept.end() || !asked.only.empty() ? tr("Measure again") : tr("Measure"));
    m_cost->setVisible(parts.ok());
    if (!parts) {
        tellError(QString::fromStdString(parts.error().text()));
        return;
    }
    m_cost->setText(costText(*parts, key.batches));
    tell(kept != m_kept.end() ? tr("The run has kept this result. It is shown beside its weights while it is in front.")
                              : QString());
    if (kept != m_kept.end()) {
        emit found(*kept);
    }
}

void KnockoutDialog::begin()
{
    m_busy = true; // until the request is completed or fails
    setBusy();
    emit chosen(request());
}

void KnockoutDialog::showAnswer(const engine::KnockoutReady& measured)
{
    QStringList lines;
    for (std::size_t i = 0; i < std::min(measured.rows.size(), kMostAnswers); ++i) {
        const engine::KnockoutRow& row = measured.rows[i];
        const QString error =
            std::isnan(row.error) ? QString() : tr(" ± %1").arg(QString::fromStdString(numberText(row.error, 3)));
        const QString weight = std::isnan(row.weight)
                                   ? QString()
                                   : tr(", its weight is %1").arg(QString::fromStdString(numberText(row.weight, 3)));
        lines << tr("Without %1 the loss changes by %2%3%4")
                     .arg(QString::fromStdString(row.name), signedNumber(row.rise), error, weight);
    }
    if (measured.rows.size() > kMostAnswers) {
        lines << tr("and %1 more parts").arg(formatWhole(std::ssize(measured.rows) - std::ssize(lines)));
    }
    lines << (measured.batches == 1
                  ? tr("Loss of the whole network %1, on one batch at step %2. More batches say how "
                       "far this is noise of the data.")
                        .arg(QString::fromStdString(numberText(measured.loss, 5)), formatWhole(measured.step))
                  : tr("Loss of the whole network %1, on %2 batches at step %3.")
                        .arg(QString::fromStdString(numberText(measured.loss, 5)), formatWhole(measured.batches),
                             formatWhole(measured.step)));
    for (const std::string& note : measured.notes) {
        lines << QString::fromStdString(note);
    }
    m_busy = false;
    setDone(lines.join(QLatin1Char('\n')));
}

void KnockoutDialog::refuse(const QString& reason)
{
    m_busy = false;
    AskDialog::refuse(reason);
    goButton().setText(tr("Measure again"));
}

WeakestDialog::WeakestDialog(const QString& run, QWidget* parent)
    : AskDialog(
          QStringLiteral("weakest"),
          {tr("Select the weakest shortcuts"),
           tr("Selects the weakest shortcuts of %1 that can be left out together. Then go on without them, or look "
              "at each.")
               .arg(run),
           tr("Select")},
          kKnockoutWidth, parent)
{
    visualizers::setNames(*m_by, "weakestBy", tr("Weak by"));
    m_by->addItem(tr("effect: the rise of the loss without it"), static_cast<int>(projects::WeakBy::Effect));
    m_by->addItem(tr("effect per FLOP of a forward pass"), static_cast<int>(projects::WeakBy::Flop));
    m_by->addItem(tr("size of the weight"), static_cast<int>(projects::WeakBy::Weight));
    visualizers::setNames(*m_count, "weakestCount", tr("Shortcuts"));
    m_count->setRange(1, std::numeric_limits<int>::max());
    m_count->setValue(kDefaultWeakest);
    form().addRow(tr("Shortcuts"), m_count);
    form().addRow(tr("Weak by"), m_by);
}

void WeakestDialog::begin()
{
    emit chosen(static_cast<projects::WeakBy>(m_by->currentData().toInt()), m_count->value());
}

} // namespace residua::app
