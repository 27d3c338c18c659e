// SPDX-License-Identifier: GPL-3.0-or-later
// A window over a project, and runs of it: trained there, or written as another process would.
#pragma once

#include "app/views/document_views.h"
#include "engine/runs/store/run_writer.h"
#include "tests/app/window_harness.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/runs/loss_view.h"

#include <QAbstractButton>
#include <QAction>
#include <QSignalSpy>
#include <QTreeView>

#include <optional>

namespace residua::app {

/// Derive the test class from it, open a window in init(). GUI thread.
class RunsHarness : public WindowHarness {
protected:
    RunsModel& model() { return m_window->workspace().runsModel(); }
    visualizers::LossView& loss() { return m_window->workspace().view<visualizers::LossView>(); }
    visualizers::HeatmapView& heatmap() { return m_window->workspace().view<visualizers::HeatmapView>(); }
    QTreeView* tree() { return m_window->findChild<QTreeView*>("runsTree"); }
    QString lossCsv() { return loss().csv(); }

    static bool isNumber(const QModelIndex& index)
    {
        bool number = false;
        index.data().toString().toDouble(&number);
        return number;
    }
    static int points(const QString& csv) { return static_cast<int>(csv.count(QLatin1Char('\n'))) - 1; }

    /// Points of the training curve.
    int stepsShown() { return points(lossCsv()); }

    /// Where the last point of the training curve is on the horizontal axis, which shows something else than steps.
    double lastX()
    {
        const QStringList rows = lossCsv().split(QLatin1Char('\n'), Qt::SkipEmptyParts).mid(1);
        return rows.isEmpty() ? 0 : rows.last().section(QLatin1Char(','), -4, -4).toDouble();
    }

    template <class Button = QAbstractButton>
    Button* button(const QString& text)
    {
        for (Button* each : m_window->findChildren<Button*>()) {
            if (each->text() == text) {
                return each;
            }
        }
        return nullptr;
    }

    QModelIndex indexOf(const std::string& name)
    {
        for (int row = 0; row < model().rowCount(); ++row) {
            if (model().runAt(model().index(row, 0))->name == name) {
                return model().index(row, 0);
            }
        }
        return {};
    }

    void train()
    {
        QSignalSpy ended(&m_window->runs(), &RunController::ended);
        m_window->actions().run.run->trigger();
        QTRY_COMPARE(ended.count(), 1);
        QTRY_COMPARE(stepsShown(), 8);
    }

    std::optional<engine::RunWriter> create(const char* name, const projects::Project& trained = quickExample())
    {
        engine::RunInfo info;
        info.name = name;
        info.steps = 8;
        auto writer = engine::RunWriter::create(m_project / projects::kRunsFolder / name, info, trained, m_project);
        return writer ? std::optional(std::move(*writer)) : std::nullopt;
    }

    static void put(engine::RunWriter& writer, std::int64_t from, std::int64_t to)
    {
        for (std::int64_t step = from; step <= to; ++step) {
            const auto x = static_cast<double>(step);
            writer.step({step, 1 / x, 1e-3, 1, step * 4, x});
        }
    }

    /// A finished run whose applied weights are all `weight`.
    void write(const char* name, float weight, const projects::Project& trained = quickExample())
    {
        auto writer = create(name, trained);
        QVERIFY(writer.has_value());
        put(*writer, 1, 8);
        const std::int64_t depth = quickExample().network.depth();
        std::vector<float> weights(static_cast<std::size_t>(depth * depth), weight);
        writer->matrix({"mix", 0, depth, depth, weights});
        QVERIFY(writer->flush().ok());
        engine::RunInfo info = writer->info();
        info.status = engine::RunStatus::Finished;
        QVERIFY(writer->update(info).ok());
    }
};

} // namespace residua::app
