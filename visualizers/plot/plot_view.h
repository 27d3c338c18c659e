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
    /// Writes the plot as PNG, SVG, PDF or CSV, by the suffix of `path`, in this shape. It is drawn now, and encoded
    /// and written on another thread.
    QFuture<Status> exportTo(const QString& path, QSize shape = kExportShape);

    /// What the next export is asked for with at first.
    void setExportChoice(const ExportChoice& choice) { m_exportChoice = choice; }

signals:
    /// A person has chosen how to export; the next export of another plot is asked for with the same choice.
    void exportChosen(const ExportChoice& choice);

public slots:
    /// Asks where to and how large, and says what went wrong.
    void askExport();
    void copyPicture();
    /// Puts the numbers on the clipboard, once another thread has written them.
    void copyNumbers();

protected:
    [[nodiscard]] virtual QCustomPlot& plot() const = 0;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    /// The pointer has left: hides whatever the plot shows under it.
    void leavePlot();

    ExportChoice m_exportChoice;
};

} // namespace residua::visualizers
