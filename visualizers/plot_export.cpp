// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot_export.h"

#include <QBuffer>
#include <QFileInfo>
#include <QSaveFile>
#include <QSvgGenerator>

#include <qcustomplot.h>

#include <QPdfWriter>

#include <optional>

namespace residua::visualizers {
namespace {

constexpr double kPngScale = 2;
constexpr double kPointsPerPixel = 0.75;
constexpr int kPdfResolution = 96; ///< dots an inch: one a pixel of the plot

void paintVector(QCustomPlot& plot, QPaintDevice* device)
{
    QCPPainter painter(device);
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.setMode(QCPPainter::pmNonCosmetic);
    painter.fillRect(plot.rect(), plot.palette().window());
    plot.toPainter(&painter, plot.width(), plot.height());
}

void paintSvg(QCustomPlot& plot, QIODevice& device)
{
    QSvgGenerator svg;
    svg.setOutputDevice(&device);
    svg.setSize(plot.size());
    svg.setViewBox(plot.rect());
    svg.setTitle(plot.accessibleName());
    paintVector(plot, &svg);
}

void paintPdf(QCustomPlot& plot, QIODevice& device)
{
    QPdfWriter pdf(&device);
    pdf.setResolution(kPdfResolution);
    pdf.setPageMargins(QMarginsF());
    pdf.setPageSize(QPageSize(QSizeF(plot.size()) * kPointsPerPixel, QPageSize::Point));
    pdf.setTitle(plot.accessibleName());
    paintVector(plot, &pdf);
}

std::optional<QByteArray> render(QCustomPlot& plot, const QString& csv, const QString& suffix)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (suffix == QLatin1String("csv")) {
        buffer.write(csv.toUtf8());
    } else if (suffix == QLatin1String("png")) {
        plot.toPixmap(plot.width(), plot.height(), kPngScale).save(&buffer, "PNG");
    } else if (suffix == QLatin1String("svg")) {
        paintSvg(plot, buffer);
    } else if (suffix == QLatin1String("pdf")) {
        paintPdf(plot, buffer);
    } else {
        return std::nullopt;
    }
    return bytes;
}

} // namespace

Status exportPlot(QCustomPlot& plot, const QString& csv, const QString& path)
{
    const QString suffix = QFileInfo(path).suffix().toLower();
    const auto bytes = render(plot, csv, suffix);
    if (!bytes) {
        return Error{path.toStdString(),
                     "got the suffix \"" + suffix.toStdString() + "\", expected png, svg, pdf or csv"};
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(*bytes) != bytes->size() || !file.commit()) {
        return Error{path.toStdString(), "cannot be written: " + file.errorString().toStdString()};
    }
    return Done{};
}

} // namespace residua::visualizers
