// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot_view.h"

#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/plot/plot.h"
#include "visualizers/plot/plot_legend.h"

#include <QBuffer>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QFileInfo>
#include <QFontInfo>
#include <QGuiApplication>
#include <QMenu>
#include <QPointer>
#include <QPromise>
#include <QRegularExpression>
#include <QResizeEvent>
#include <QSaveFile>
#include <QSvgGenerator>

#include <qcustomplot.h>

#include <QPdfWriter>

#include <algorithm>
#include <chrono>
#include <functional>
#include <type_traits>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kPngScale = 2;
constexpr double kPointsPerInch = 72;
constexpr double kCmPerInch = 2.54;
constexpr int kScreenResolution = 96; ///< pixels of a plot per inch of paper, unless a width on paper is chosen

void setForPicture(QCustomPlot& plot, bool forPicture)
{
    const auto* own = qobject_cast<Plot*>(&plot);
    if (own != nullptr && own->plotLegend() != nullptr) {
        own->plotLegend()->setForPicture(forPicture);
    }
}

/// Gives a plot another size and the legend of a picture during its lifetime. In a larger size, the plot shows parts
/// that were omitted for lack of room.
class Shaped {
public:
    Shaped(QCustomPlot& plot, QSize shape) : m_plot(plot), m_before(plot.size())
    {
        setForPicture(plot, true);
        become(shape);
    }
    ~Shaped()
    {
        setForPicture(m_plot, false);
        become(m_before);
    }
    Shaped(const Shaped&) = delete;
    Shaped& operator=(const Shaped&) = delete;

private:
    /// Resizes at once, even if the plot is not visible.
    void become(QSize shape)
    {
        QResizeEvent event(shape, m_plot.size());
        m_plot.resize(shape);
        QCoreApplication::sendEvent(&m_plot, &event);
    }

    QCustomPlot& m_plot;
    QSize m_before;
};

void paintVector(QCustomPlot& plot, QPaintDevice* device)
{
    QCPPainter painter(device);
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.setMode(QCPPainter::pmNonCosmetic);
    painter.fillRect(plot.rect(), plot.palette().window());
    plot.toPainter(&painter, plot.width(), plot.height());
}

void paintSvg(QCustomPlot& plot, QIODevice& device, int resolution)
{
    QSvgGenerator svg;
    svg.setOutputDevice(&device);
    svg.setResolution(resolution);
    svg.setSize(plot.size());
    svg.setViewBox(plot.rect());
    svg.setTitle(plot.accessibleName());
    paintVector(plot, &svg);
}

void paintPdf(QCustomPlot& plot, QIODevice& device, int resolution)
{
    QPdfWriter pdf(&device);
    pdf.setResolution(resolution);
    pdf.setPageMargins(QMarginsF());
    pdf.setPageSize(QPageSize(QSizeF(plot.size()) * kPointsPerInch / resolution, QPageSize::Point));
    pdf.setTitle(plot.accessibleName());
    paintVector(plot, &pdf);
}

/// Writes the contents of a file. Returns false if the disk is full.
using Contents = std::function<bool(QIODevice&)>;

Contents csvContents(CsvText numbers)
{
    return [numbers = std::move(numbers)](QIODevice& device) {
        QTextStream out(&device);
        numbers(out);
        out.flush();
        return out.status() == QTextStream::Ok;
    };
}

QPixmap pixmapOf(QCustomPlot& plot)
{
    return plot.toPixmap(plot.width(), plot.height(), kPngScale);
}

Contents pngContents(QCustomPlot& plot)
{
    return [image = pixmapOf(plot).toImage()](QIODevice& device) { return image.save(&device, "PNG"); };
}

Contents vectorContents(QCustomPlot& plot, void (*paint)(QCustomPlot&, QIODevice&, int), int resolution)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    paint(plot, buffer, resolution);
    return [bytes](QIODevice& device) { return device.write(bytes) == bytes.size(); };
}

/// Returns the contents of a file with this suffix for the plot; empty for an unknown suffix. `resolution` is the
/// plot's pixels per inch of paper.
Contents contentsOf(QCustomPlot& plot, const std::function<CsvText()>& numbers, const QString& suffix, int resolution)
{
    if (suffix == QLatin1String("csv")) {
        return csvContents(numbers());
    }
    if (suffix == QLatin1String("png")) {
        return pngContents(plot);
    }
    if (suffix == QLatin1String("svg")) {
        return vectorContents(plot, paintSvg, resolution);
    }
    return suffix == QLatin1String("pdf") ? vectorContents(plot, paintPdf, resolution) : Contents();
}

Status writeFile(const QString& path, const Contents& contents)
{
    if (const QFileInfo there(path); there.exists() && !there.isFile()) {
        QBuffer buffer; // a device or a FIFO is written into and not replaced
        buffer.open(QIODevice::WriteOnly);
        if (!contents(buffer)) {
            return Error{path.toStdString(), "cannot be written"};
        }
        return writeOutput(path.toStdString(), buffer.data().toStdString());
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || !contents(file) || !file.commit()) {
        return Error{path.toStdString(), "cannot be written: " + file.errorString().toStdString()};
    }
    return Done{};
}

/// Returns the current plot with twice the pixels, without parts that only a screen needs.
QPixmap pictureOf(QCustomPlot& plot)
{
    const Shaped shaped(plot, plot.size());
    return pixmapOf(plot);
}

/// The part of an export after the drawing: encodes and writes the file, which is complete or absent. Any thread.
/// Returns an error if the file cannot be written.
using ExportWork = std::function<Status()>;

/// Draws the plot with size `shape` for a PNG (twice the pixels), SVG or PDF, or uses `numbers` for a CSV. The path's
/// suffix selects the format. A picture that needs more pixels than `shape` for its controls keeps its width on paper.
/// Returns an error for another suffix.
Result<ExportWork> exportWork(QCustomPlot& plot, const std::function<CsvText()>& numbers, const QString& path,
                              QSize shape, int resolution = kScreenResolution)
{
    const QString suffix = QFileInfo(path).suffix().toLower();
    const Shaped shaped(plot, shape.expandedTo(plot.minimumSize()));
    Contents contents = contentsOf(plot, numbers, suffix, resolution * plot.width() / std::max(shape.width(), 1));
    if (!contents) {
        return Error{path.toStdString(),
                     "got the suffix \"" + suffix.toStdString() + "\", expected png, svg, pdf or csv"};
    }
    return ExportWork([path, contents = std::move(contents)] { return writeFile(path, contents); });
}

QString textOf(const CsvText& numbers)
{
    QString text;
    QTextStream out(&text);
    numbers(out);
    return text;
}

} // namespace

PlotView::PlotView(QWidget* parent) : QWidget(parent) {}

template <class Work>
auto PlotView::onThread(Work work)
{
    QPromise<std::invoke_result_t<const Work&>> promise;
    promise.start();
    auto future = promise.future();
    std::erase_if(m_work, [](const std::future<void>& other) {
        return other.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    });
    m_work.push_back(std::async(std::launch::async, [promise = std::move(promise), work = std::move(work)]() mutable {
        promise.addResult(work());
        promise.finish();
    }));
    return future;
}

void PlotView::leavePlot()
{
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(&plot(), &leave);
}

QString PlotView::csv() const
{
    return textOf(csvText());
}

QFuture<Status> PlotView::exportTo(const QString& path, QSize shape)
{
    leavePlot();
    const auto work = exportWork(
        plot(), [this] { return csvText(); }, path, shape);
    return work ? onThread(*work) : QtFuture::makeReadyFuture(Status(work.error()));
}

std::optional<std::array<double, 4>> PlotView::zoom() const
{
    const auto* const shown = qobject_cast<const Plot*>(&plot());
    if (shown == nullptr || shown->isFollowing()) {
        return std::nullopt;
    }
    const QCPRange x = shown->xAxis->range();
    const QCPRange y = shown->yAxis->range();
    return std::array{x.lower, x.upper, y.lower, y.upper};
}

std::set<QString> PlotView::hiddenCurves() const
{
    const auto* const curves = qobject_cast<CurvePlot*>(&plot());
    return curves != nullptr ? curves->hidden() : std::set<QString>();
}

void PlotView::hideCurves(std::set<QString> keys)
{
    if (auto* const curves = qobject_cast<CurvePlot*>(&plot())) {
        curves->hide(std::move(keys));
    }
}

void PlotView::zoomTo(const std::optional<std::array<double, 4>>& zoom)
{
    auto* const shown = qobject_cast<Plot*>(&plot());
    if (shown != nullptr && zoom) {
        shown->zoomTo({(*zoom)[0], (*zoom)[1]}, {(*zoom)[2], (*zoom)[3]});
    } else if (shown != nullptr && !shown->isFollowing()) {
        shown->showWhole();
    }
}

QFuture<Status> PlotView::exportAs(const QString& path, const ExportChoice& choice)
{
    const QString suffix = QFileInfo(path).suffix().toLower();
    if (suffix != QLatin1String("svg") && suffix != QLatin1String("pdf")) {
        return exportTo(path, choice.shape);
    }
    leavePlot();
    const double pixelsPerPoint = QFontInfo(plot().xAxis->tickLabelFont()).pixelSize() / choice.text;
    const int resolution = std::max(qRound(kPointsPerInch * pixelsPerPoint), 1);
    const int width = qRound(choice.centimetres / kCmPerInch * resolution);
    const QSize shape(width, qRound(1.0 * width * choice.shape.height() / choice.shape.width()));
    const auto work = exportWork(
        plot(), [this] { return csvText(); }, path, shape, resolution);
    return work ? onThread(*work) : QtFuture::makeReadyFuture(Status(work.error()));
}

void PlotView::askExport()
{
    static const QRegularExpression notInNames(QStringLiteral("[^\\w.-]+"));
    QString name = accessibleName().toLower();
    name.replace(notInNames, QStringLiteral("-"));
    auto* dialog = new ExportDialog(tr("Export %1").arg(accessibleName()), name, m_exportChoice, ExportOf::Plot, this);
    connect(dialog, &ExportDialog::chosen, this, [this, dialog = QPointer(dialog)](const QString& path) {
        m_exportChoice = dialog->choice();
        emit exportChosen(m_exportChoice);
        exportAs(path, m_exportChoice).then(this, [dialog](const Status& done) {
            if (dialog && done) {
                dialog->close();
            } else if (dialog) {
                dialog->refuse(QString::fromStdString(done.error().text()));
            }
        });
    });
    dialog->open();
}

void PlotView::copyPicture()
{
    leavePlot();
    QGuiApplication::clipboard()->setPixmap(pictureOf(plot()));
}

void PlotView::copyNumbers()
{
    onThread([numbers = csvText()] { return textOf(numbers); }).then(this, [](const QString& text) {
        QGuiApplication::clipboard()->setText(text);
    });
}

void PlotView::contextMenuEvent(QContextMenuEvent* event)
{
    leavePlot();
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Export…"), this, &PlotView::askExport);
    menu->addAction(tr("Copy picture"), this, &PlotView::copyPicture);
    menu->addAction(tr("Copy numbers as CSV"), this, &PlotView::copyNumbers);
    menu->popup(event->globalPos());
}

} // namespace residua::visualizers
