// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/theory_views.h"

#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/report/low_rank_theory.h"
#include "visualizers/theory/theory_view.h"

#include <QEvent>

#include <utility>

namespace residua::app {

namespace {

using visualizers::TheoryNumbers;

constexpr int kAfterTyping = 200; ///< milliseconds

Result<TheoryNumbers> numbersOf(const projects::Project& project)
{
    const auto model = report::lowRankModelOf(project);
    if (!model) {
        return model.error();
    }
    const report::TheoryTable table = report::theoryTable(*model);
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
    if (const auto gains = report::gainCurves(*model)) {
        for (const auto& at : *gains) {
            numbers.gains.push_back({at.v1, at.v2, at.v3});
        }
    }
    numbers.rank = model->rank;
    return numbers;
}

} // namespace

TheoryViews::TheoryViews(const DocumentSession& session, visualizers::TheoryView& view, QObject* parent)
    : QObject(parent), m_session(session), m_view(view)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(kAfterTyping);
    connect(&m_soon, &QTimer::timeout, this, &TheoryViews::update);
    connect(&session, &DocumentSession::opened, &m_soon, qOverload<>(&QTimer::start));
    connect(&session, &DocumentSession::changed, &m_soon, qOverload<>(&QTimer::start));
    view.installEventFilter(this);
}

bool TheoryViews::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Show) {
        m_soon.start();
    }
    return QObject::eventFilter(watched, event);
}

void TheoryViews::update()
{
    if (!m_view.isVisible() || !m_session.isOpen() || (m_shown && *m_shown == m_session.project())) {
        return;
    }
    m_shown = m_session.history().projectSnapshot();
    const std::uint64_t asked = ++m_asked;
    inBackground(
        this, [project = m_shown] { return numbersOf(*project); },
        [this, asked](const Result<TheoryNumbers>& numbers) {
            if (asked != m_asked) {
                return;
            }
            if (numbers) {
                m_view.setNumbers(*numbers);
            } else {
                m_view.setReason(tr("The theorems of DeepCrossAttention speak of low-rank linear models, such as the "
                                    "example Low-rank regression.\nThis project is none: %1.")
                                     .arg(QString::fromStdString(numbers.error().text())));
            }
        });
}

} // namespace residua::app
