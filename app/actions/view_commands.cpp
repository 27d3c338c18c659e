// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/window_actions.h"
#include "app/canvas/canvas_widget.h"
#include "app/document/document_session.h"
#include "app/help/help_page.h"
#include "app/help/help_window.h"
#include "app/inspector/inspector.h"
#include "app/look/theme.h"
#include "app/palette/palette_view.h"
#include "app/runs/layers_panel.h"
#include "app/views/document_views.h"
#include "app/views/live_views.h"
#include "app/workspace/panel_focus.h"
#include "app/workspace/workspace.h"
#include "editor/figures/figure.h"
#include "projects/base/whole_file.h"
#include "resources/help.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/export_dialog.h"
#include "visualizers/plot/plot_view.h"

#include <QApplication>
#include <QCoreApplication>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace residua::app {

namespace {

class ViewCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(ViewCommands)
public:
    explicit ViewCommands(const WindowParts& parts);

private:
    void connectCanvases();
    void connectPanels();
    void connectValues();
    void fit();
    void exportFigure();
    Status writeFigure(CanvasWidget& canvas, const QString& path) const;
    void zoomToSelection();

    visualizers::ExportChoice m_figure{.format = QStringLiteral("pdf")}; ///< the last one
};

} // namespace

ViewCommands::ViewCommands(const WindowParts& parts) : CommandGroup(parts)
{
    m_actions.theme->setChecked(m_look.theme().kind() == ThemeKind::Dark);
    connect(m_actions.theme, &QAction::toggled, this,
            [this](bool dark) { m_look.setKind(dark ? ThemeKind::Dark : ThemeKind::Light); });
    const auto colour = [this, &live = parts.live] {
        live.setColours(m_actions.effectColours->isChecked() ? LiveViews::Colours::Effects
                        : m_actions.rowShares->isChecked()   ? LiveViews::Colours::RowShares
                                                             : LiveViews::Colours::Weights);
    };
    connect(m_actions.rowShares, &QAction::toggled, this, colour);
    connect(m_actions.effectColours, &QAction::toggled, this, colour);
    connectCanvases();
    connectPanels();
    connectValues();
}

/// Canvases and heatmap share one choice of the values that they show.
void ViewCommands::connectValues()
{
    using visualizers::CellValue;
    visualizers::ShownMatrices& matrices = m_workspace.shownMatrices();
    const std::pair<QAction*, CellValue> values[] = {{m_actions.showWeights, CellValue::Weight},
                                                     {m_actions.showChanges, CellValue::SinceStart},
                                                     {m_actions.showLogs, CellValue::LogOfRowMax}};
    for (const auto& [action, value] : values) {
        const auto check = [&matrices, action = action, value = value] {
            action->setChecked(matrices.value() == value);
        };
        connect(action, &QAction::triggered, &matrices, [&matrices, check, value = value] {
            matrices.setValue(value);
            check(); // choosing the same value again does not clear it
        });
        connect(&matrices, &visualizers::ShownMatrices::changed, action, check);
        check();
    }
}

void ViewCommands::connectCanvases()
{
    connect(m_actions.fit, &QAction::triggered, this, &ViewCommands::fit);
    connect(m_actions.zoomToSelection, &QAction::triggered, this, &ViewCommands::zoomToSelection);
    const std::pair<QAction*, WorkspaceView> canvases[] = {{m_actions.depth, WorkspaceView::Depth},
                                                           {m_actions.matrix, WorkspaceView::Matrix},
                                                           {m_actions.block, WorkspaceView::Block},
                                                           {m_actions.schedule, WorkspaceView::Schedule}};
    for (const auto& [action, view] : canvases) {
        connect(action, &QAction::triggered, this, [this, view = view] { m_workspace.showCanvas(view); });
    }
}

void ViewCommands::connectPanels()
{
    connect(m_actions.palette, &QAction::triggered, &m_workspace, &Workspace::showPalette);
    connect(m_actions.nextPanel, &QAction::triggered, this, [this] { focusPanel(m_workspace, PanelStep::Next); });
    connect(m_actions.previousPanel, &QAction::triggered, this,
            [this] { focusPanel(m_workspace, PanelStep::Previous); });
    connect(m_actions.floatPanel, &QAction::triggered, &m_workspace, &Workspace::toggleFloating);
    connect(m_actions.exportPlot, &QAction::triggered, this, [this] { m_workspace.plotInFront()->askExport(); });
    connect(m_actions.exportFigure, &QAction::triggered, this, &ViewCommands::exportFigure);
    for (const auto& [action, layout] : m_actions.layouts) {
        connect(action, &QAction::triggered, this, [this, layout = layout] { m_workspace.applyLayout(*layout); });
    }
}

void ViewCommands::fit()
{
    if (CanvasWidget* const front = m_workspace.frontCanvas()) {
        front->fit();
    }
}

void ViewCommands::exportFigure()
{
    CanvasWidget* const shown = m_workspace.frontCanvas();
    CanvasWidget* const front = shown != nullptr ? shown : &m_workspace.canvas();
    const QString name = front == &m_workspace.block()    ? QStringLiteral("block")
                         : front == &m_workspace.matrix() ? QStringLiteral("matrix")
                                                          : QStringLiteral("network");
    auto* dialog = new visualizers::ExportDialog(tr("Export figure"), name, m_figure, visualizers::ExportOf::Canvas,
                                                 front->window());
    if (!front->canvas().hasWeights()) {
        dialog->leaveOutWeights(front == &m_workspace.block() ? tr("a block has no shortcuts")
                                                              : tr("the canvas shows none of a run"));
    }
    connect(dialog, &visualizers::ExportDialog::chosen, this, [this, dialog, front](const QString& path) {
        m_figure = dialog->choice();
        if (const Status done = writeFigure(*front, path); !done) {
            dialog->refuse(QString::fromStdString(done.error().text()));
        } else {
            dialog->close();
        }
    });
    dialog->open();
}

Status ViewCommands::writeFigure(CanvasWidget& canvas, const QString& path) const
{
    const auto format = RESIDUA_TRY(editor::figureFormatOf(path.toStdString()));
    const editor::FigureStyle style{.centimetres = m_figure.centimetres, .text = m_figure.text};
    const auto figure =
        canvas.canvas().figure(style, m_figure.weights ? editor::FigureWeights::Live : editor::FigureWeights::None);
    const auto bytes = figure ? editor::figureFile(*figure, format) : Result<std::string>(figure.error());
    return bytes ? writeOutput(path.toStdString(), *bytes) : Status(bytes.error());
}

void ViewCommands::zoomToSelection()
{
    if (CanvasWidget* const front = m_workspace.frontCanvas()) {
        front->passOn();
        front->canvas().show(editor::Extent::Selection);
        front->refresh();
    }
}

void addViewCommands(const WindowParts& parts)
{
    new ViewCommands(parts);
}

void addLayersCommands(const WindowParts& parts)
{
    LayersPanel& panel = parts.workspace.view<LayersPanel>();
    const auto show = [&panel, &session = parts.session] {
        if (session.isOpen()) {
            panel.setProject(session.projectSnapshot());
        }
    };
    QObject::connect(&parts.session, &DocumentSession::opened, &panel, show);
    QObject::connect(&parts.session, &DocumentSession::changed, &panel, show);
    QObject::connect(&panel, &LayersPanel::layersChosen, &parts.documents,
                     [&documents = parts.documents](const std::vector<std::int64_t>& layers) {
                         documents.choose(layers.empty() ? Place(ProjectPlace{}) : Place(LayersPlace{layers}));
                     });
    QObject::connect(&parts.documents, &DocumentViews::placeChanged, &panel, [&panel, &documents = parts.documents] {
        const bool isOfLayers = std::holds_alternative<LayersPlace>(documents.place()) ||
                                std::holds_alternative<LoopPlace>(documents.place());
        const std::set<std::int64_t> layers = isOfLayers ? documents.selection().layers : std::set<std::int64_t>();
        panel.choose({layers.begin(), layers.end()});
    });
}

namespace {

class HelpCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(HelpCommands)
public:
    explicit HelpCommands(const WindowParts& parts);

    void find(const QString& text);

private:
    void explainSelected();
    void explain(const std::string& word);
    HelpWindow& window();

    HelpWindow* m_help = nullptr;
};

} // namespace

HelpCommands::HelpCommands(const WindowParts& parts) : CommandGroup(parts)
{
    connect(m_actions.explain, &QAction::triggered, this, &HelpCommands::explainSelected);
    connect(m_actions.methods, &QAction::triggered, this, [this] { explain(std::string(resources::kHelpIndex)); });
    connect(m_actions.fiveMinutes, &QAction::triggered, this, [this] { explain("five-minutes"); });
    connect(&m_workspace.view<Inspector>(), &Inspector::explainRequested, this, &HelpCommands::explain);
    connect(&m_workspace.view<PaletteView>(), &PaletteView::explainRequested, this,
            [this](const PaletteItem& item) { explain(helpWordOf(item)); });
}

/// Explains the palette's item if the palette has the keyboard focus, else the selected place.
void HelpCommands::explainSelected()
{
    const PaletteView& palette = m_workspace.view<PaletteView>();
    const PaletteItem* const item = palette.isAncestorOf(QApplication::focusWidget()) ? palette.current() : nullptr;
    if (item) {
        explain(helpWordOf(*item));
    } else if (m_session.isOpen() && m_workspace.isVisible()) {
        explain(helpWordOf(m_session.project(), m_documents.place()));
    } else {
        explain({});
    }
}

void HelpCommands::explain(const std::string& word)
{
    window().explain(word);
}

void HelpCommands::find(const QString& text)
{
    window().find(text);
}

/// Returns the window of the help, in front.
HelpWindow& HelpCommands::window()
{
    if (!m_help) {
        m_help = new HelpWindow(m_look, m_window);
    }
    m_help->show();
    m_help->raise();
    m_help->activateWindow();
    return *m_help;
}

std::function<void(const QString& text)> addHelpCommands(const WindowParts& parts)
{
    return [help = new HelpCommands(parts)](const QString& text) { help->find(text); };
}

} // namespace residua::app
