// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot_view.h"

#include "visualizers/plot/plot_export.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QFileDialog>
#include <QGuiApplication>
#include <QMenu>
#include <QMessageBox>
#include <QPromise>
#include <QRegularExpression>
#include <QThreadPool>

#include <qcustomplot.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kClipboardScale = 2;

QString textOf(const CsvText& numbers)
{
    QString text;
    QTextStream out(&text);
    numbers(out);
    return text;
}

template <class Work>
auto onThread(Work work)
{
    const auto promise = std::make_shared<QPromise<std::invoke_result_t<const Work&>>>();
    promise->start();
    QThreadPool::globalInstance()->start([promise, work = std::move(work)] {
        promise->addResult(work());
        promise->finish();
    });
    return promise->future();
}

} // namespace

PlotView::PlotView(QWidget* parent) : QWidget(parent) {}

void PlotView::leavePlot()
{
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(&plot(), &leave);
}

QString PlotView::csv() const
{
    return textOf(csvText());
}

QFuture<Status> PlotView::exportTo(const QString& path)
{
    leavePlot();
    const auto work = exportWork(
        plot(), [this] { return csvText(); }, path);
    return work ? onThread(*work) : QtFuture::makeReadyFuture(Status(work.error()));
}

void PlotView::askExport()
{
    static const QRegularExpression notInNames(QStringLiteral("[^\\w.-]+"));
    QString name = accessibleName().toLower();
    name.replace(notInNames, QStringLiteral("-"));
    auto* dialog = new QFileDialog(this, tr("Export %1").arg(accessibleName()));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters(
        {tr("Picture (*.png)"), tr("Vector picture (*.svg)"), tr("Document (*.pdf)"), tr("Numbers (*.csv)")});
    const auto takeSuffix = [dialog](const QString& filter) {
        dialog->setDefaultSuffix(filter.section(QLatin1String("*."), 1).section(QLatin1Char(')'), 0, 0));
    };
    takeSuffix(dialog->selectedNameFilter());
    connect(dialog, &QFileDialog::filterSelected, dialog, takeSuffix);
    dialog->selectFile(name);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        exportTo(path).then(this, [this](const Status& done) {
            if (!done) {
                auto* box = new QMessageBox(QMessageBox::Warning, tr("Export"),
                                            QString::fromStdString(done.error().text()), QMessageBox::Ok, this);
                box->setAttribute(Qt::WA_DeleteOnClose);
                box->open();
            }
        });
    });
    dialog->open();
}

void PlotView::copyPicture()
{
    leavePlot();
    QCustomPlot& shown = plot();
    QGuiApplication::clipboard()->setPixmap(shown.toPixmap(shown.width(), shown.height(), kClipboardScale));
}

void PlotView::copyNumbers()
{
    onThread([numbers = csvText()] { return textOf(numbers); }).then(this, [](const QString& text) {
        QGuiApplication::clipboard()->setText(text);
    });
}

void PlotView::contextMenuEvent(QContextMenuEvent* event)
{
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Export…"), this, &PlotView::askExport);
    menu->addAction(tr("Copy picture"), this, &PlotView::copyPicture);
    menu->addAction(tr("Copy numbers as CSV"), this, &PlotView::copyNumbers);
    menu->popup(event->globalPos());
}

} // namespace residua::visualizers
