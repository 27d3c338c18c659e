// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot_view.h"

#include "visualizers/plot_export.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMenu>
#include <QMessageBox>
#include <QRegularExpression>

#include <qcustomplot.h>

namespace residua::visualizers {
namespace {

constexpr double kClipboardScale = 2;

} // namespace

PlotView::PlotView(QWidget* parent) : QWidget(parent) {}

Status PlotView::exportTo(const QString& path)
{
    return exportPlot(plot(), csv(), path);
}

void PlotView::askExport()
{
    static const QRegularExpression notInNames(QStringLiteral("[^\\w.-]+"));
    const QString base = m_exportName.isEmpty() ? accessibleName() : m_exportName + QLatin1Char('-') + accessibleName();
    QString name = base.toLower();
    name.replace(notInNames, QStringLiteral("-"));
    QString filter;
    QString path = QFileDialog::getSaveFileName(
        this, tr("Export %1").arg(accessibleName()), name + QStringLiteral(".png"),
        tr("Picture (*.png);;Vector picture (*.svg);;Document (*.pdf);;Numbers (*.csv)"), &filter);
    if (path.isEmpty()) {
        return;
    }
    if (QFileInfo(path).suffix().isEmpty()) {
        path += filter.section(QLatin1Char('*'), 1).section(QLatin1Char(')'), 0, 0);
    }
    if (const Status done = exportTo(path); !done) {
        QMessageBox::warning(this, tr("Export"), QString::fromStdString(done.error().text()));
    }
}

void PlotView::copyPicture()
{
    QCustomPlot& shown = plot();
    QGuiApplication::clipboard()->setPixmap(shown.toPixmap(shown.width(), shown.height(), kClipboardScale));
}

void PlotView::copyNumbers()
{
    QGuiApplication::clipboard()->setText(csv());
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
