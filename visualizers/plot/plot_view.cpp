// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot_view.h"

#include "visualizers/plot/plot_export.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QMenu>
#include <QPointer>
#include <QPromise>
#include <QRegularExpression>

#include <qcustomplot.h>

#include <chrono>
#include <type_traits>
#include <utility>

namespace residua::visualizers {
namespace {

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

void PlotView::askExport()
{
    static const QRegularExpression notInNames(QStringLiteral("[^\\w.-]+"));
    QString name = accessibleName().toLower();
    name.replace(notInNames, QStringLiteral("-"));
    auto* dialog = new ExportDialog(tr("Export %1").arg(accessibleName()), name, m_exportChoice, this);
    connect(dialog, &ExportDialog::chosen, this, [this, dialog = QPointer(dialog)](const QString& path, QSize shape) {
        m_exportChoice = dialog->choice();
        emit exportChosen(m_exportChoice);
        exportTo(path, shape).then(this, [dialog](const Status& done) {
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
