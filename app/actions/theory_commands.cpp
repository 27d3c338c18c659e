// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/report/low_rank_theory.h"
#include "app/workspace/workspace.h"
#include "visualizers/theory/theory_view.h"

#include <QCoreApplication>
#include <QEvent>
#include <QTimer>

#include <cstdint>
#include <utility>

namespace residua::app {

namespace {

using visualizers::TheoryNumbers;

constexpr int kAfterTyping = 200; ///< milliseconds

TheoryNumbers::Gains drawn(const Result<std::vector<engine::theory::PerGrn>>& gains)
{
    TheoryNumbers::Gains all;
    if (gains) {
        for (const auto& at : *gains) {
            all.push_back({at.v1, at.v2, at.v3});
        }
    }
    return all;
}

TheoryNumbers numbersOf(const report::LowRankModel& model)
{
    const report::TheoryTable table = report::theoryTable(model);
    TheoryNumbers numbers;
    numbers.about = QString::fromStdString(table.about);
    for (const char* column : report::kTheoryColumns) {
        numbers.columns << QString::fromLatin1(column);
    }
    for (const report::TheoryRow& row : table.rows) {
        const auto values = row.values();
        numbers.rows.push_back({QString::fromStdString(row.name), {values.begin(), values.end()}});
    }
    for (const std::string& note : table.notes) {
        numbers.notes << QString::fromStdString(note);
    }
    numbers.byRank = drawn(report::gainCurves(model));
    numbers.byComplexity = drawn(report::gainsByComplexity(model));
    numbers.rank = static_cast<double>(model.rank);
    numbers.complexity = model.spectrum ? model.spectrum->kappa() : 0;
    return numbers;
}

class TheoryCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(TheoryCommands)
public:
    explicit TheoryCommands(const WindowParts& parts);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void update();
    void compute(std::function<Result<TheoryNumbers>()> work);

    visualizers::TheoryView& m_view;
    QTimer m_soon{this};
    projects::ProjectSnapshot m_shown; ///< the project of the panel's numbers; null: none
    std::uint64_t m_asked = 0;         ///< answers to older requests are dropped
};

} // namespace

TheoryCommands::TheoryCommands(const WindowParts& parts)
    : CommandGroup(parts), m_view(m_workspace.view<visualizers::TheoryView>())
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(kAfterTyping);
    connect(&m_soon, &QTimer::timeout, this, &TheoryCommands::update);
    connect(&m_session, &DocumentSession::opened, &m_soon, qOverload<>(&QTimer::start));
    connect(&m_session, &DocumentSession::changed, &m_soon, qOverload<>(&QTimer::start));
    connect(&m_view, &visualizers::TheoryView::askedChanged, this, &TheoryCommands::update);
    m_view.installEventFilter(this);
}

bool TheoryCommands::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Show) {
        m_soon.start();
    }
    return QObject::eventFilter(watched, event);
}

void TheoryCommands::update()
{
    const auto asked = m_view.asked();
    if (!m_view.isVisible()) {
        return;
    }
    if (asked) {
        m_shown.reset();
        compute([model = *asked]() -> Result<TheoryNumbers> {
            return numbersOf(
                report::lowRankModelOf(model.dimension, model.rank, model.layers, model.kappa, model.lambdaMax));
        });
    } else if (m_session.isOpen() && !(m_shown && *m_shown == m_session.project())) {
        m_shown = m_session.projectSnapshot();
        compute([project = m_shown]() -> Result<TheoryNumbers> {
            const auto model = report::lowRankModelOf(*project);
            return model ? Result<TheoryNumbers>(numbersOf(*model)) : model.error();
        });
    }
}

void TheoryCommands::compute(std::function<Result<TheoryNumbers>()> work)
{
    const std::uint64_t asked = ++m_asked;
    inBackground(this, std::move(work), [this, asked](const Result<TheoryNumbers>& numbers) {
        if (asked != m_asked) {
            return;
        }
        if (numbers) {
            m_view.setNumbers(*numbers);
        } else {
            m_view.setReason(tr("The theorems of DeepCrossAttention speak of low-rank linear models, such as the "
                                "example Low-rank regression.\nThis project is none: %1.\nChoose \"model of these "
                                "numbers\" above for any other.")
                                 .arg(QString::fromStdString(numbers.error().text())));
        }
    });
}

void addTheoryCommands(const WindowParts& parts)
{
    new TheoryCommands(parts);
}

} // namespace residua::app
