// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "resources/colours.h"
#include "visualizers/plot/export_dialog.h"
#include "visualizers/plot/series.h"

#include <QFuture>
#include <QString>
#include <QWidget>

#include <array>
#include <future>
#include <optional>
#include <set>
#include <vector>

class QCustomPlot;

namespace residua::visualizers {

/// A view with one plot, which it exports to a file or the clipboard. GUI thread.
class PlotView : public QWidget {
    Q_OBJECT
public:
    explicit PlotView(QWidget* parent = nullptr);

    virtual void setTheme(resources::Theme theme) = 0;
    /// Returns a writer for all recorded numbers of the plot, as they are now.
    [[nodiscard]] virtual CsvText csvText() const = 0;
    /// Returns the numbers as CSV text.
    [[nodiscard]] QString csv() const;
    /// Writes the plot as PNG, SVG, PDF or CSV, by the suffix of `path`, in this size. It is drawn now, and encoded and
    /// written on another thread.
    QFuture<Status> exportTo(const QString& path, QSize shape = kExportShape);
    /// Writes the plot as chosen: SVG and PDF with a width and a size of text on paper, in the shape's proportions.
    QFuture<Status> exportAs(const QString& path, const ExportChoice& choice);

    /// Returns the ranges that a person has zoomed to: x from, x to, y from, y to. nullopt while everything is shown.
    [[nodiscard]] std::optional<std::array<double, 4>> zoom() const;
    /// Zooms to these ranges, or shows everything.
    void zoomTo(const std::optional<std::array<double, 4>>& zoom);
    /// Returns the entries of the legend whose curves are hidden (CurvePlot::hidden()).
    [[nodiscard]] std::set<QString> hiddenCurves() const;
    /// Hides the curves of these entries and shows all others (CurvePlot::hide()).
    void hideCurves(std::set<QString> keys);
    /// Sets the initial values of the next export.
    void setExportChoice(const ExportChoice& choice) { m_exportChoice = choice; }

signals:
    /// Emitted when the user has chosen how to export, so that other plots can propose the same.
    void exportChosen(const ExportChoice& choice);

public slots:
    /// Asks for the place and size, and shows errors.
    void askExport();
    void copyPicture();
    /// Puts the numbers on the clipboard after another thread has formatted them.
    void copyNumbers();

protected:
    [[nodiscard]] virtual QCustomPlot& plot() const = 0;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    /// Called when the pointer has left. Hides things shown under it.
    void leavePlot();

    /// Runs `work` on its own thread. Qt paints with its global pool, and the GUI thread would wait for its tasks.
    template <class Work>
    auto onThread(Work work);

    ExportChoice m_exportChoice;
    std::vector<std::future<void>> m_work; ///< the destructor waits for it
};

} // namespace residua::visualizers
