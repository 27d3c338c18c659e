// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "resources/colours.h"
#include "visualizers/plot/csv_text.h"
#include "visualizers/plot/export_dialog.h"

#include <QFuture>
#include <QString>
#include <QWidget>

class QCustomPlot;

namespace residua::visualizers {

/// A view with one plot, which leaves it as a file or over the clipboard. GUI thread.
class PlotView : public QWidget {
    Q_OBJECT
public:
    explicit PlotView(QWidget* parent = nullptr);

    virtual void setTheme(resources::Theme theme) = 0;
    /// The numbers behind the plot, every recorded one, as they are now.
    [[nodiscard]] virtual CsvText csvText() const = 0;
    /// The same as text, at once.
    [[nodiscard]] QString csv() const;
    /// PNG, SVG, PDF or CSV, by the suffix of `path`, in this shape. Drawn now, encoded and written on another thread.
    QFuture<Status> exportTo(const QString& path, QSize shape = kExportShape);

    /// What the next export is asked for with at first.
    void setExportChoice(const ExportChoice& choice) { m_exportChoice = choice; }

signals:
    /// It is what other plots are asked for with at first, too.
    void exportChosen(const ExportChoice& choice);

public slots:
    /// Asks where to and how large, and says what went wrong.
    void askExport();
    void copyPicture();
    /// Once they are written, on another thread.
    void copyNumbers();

protected:
    [[nodiscard]] virtual QCustomPlot& plot() const = 0;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    /// Whatever the plot shows under the pointer goes.
    void leavePlot();

    ExportChoice m_exportChoice;
};

} // namespace residua::visualizers
