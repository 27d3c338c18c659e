// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/edit_commands.h"
#include "app/actions/window_actions.h"
#include "app/block/block_bar.h"
#include "app/block/block_library.h"
#include "app/canvas/canvas_widget.h"
#include "app/document/document_session.h"
#include "app/palette/palette_view.h"
#include "app/properties/place.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"
#include "editor/block/block_canvas.h"
#include "projects/depth/depth_names.h"
#include "projects/layers/layer_edits.h"

#include <QCoreApplication>
#include <QToolButton>

#include <cstdint>
#include <optional>

namespace residua::app {
namespace {

class BlockCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(BlockCommands)
public:
    BlockCommands(const WindowParts& parts, EditCommands& commands);

private:
    void connectBar();
    /// Asks for the name under which to save the shown block.
    void openSavePopup();
    void showLibrary();
    [[nodiscard]] bool takeNode(const PaletteItem& item, QWidget* target, QPoint position);
    void saveToProject(const QString& name, bool useInLayer);
    void saveToLibrary(const QString& name);
    /// Returns the shown block under another name, with its node positions.
    [[nodiscard]] projects::BlockFile shownAs(const QString& name) const;
    void showBar();
    /// Returns the layer that was selected last, while it uses the shown graph.
    [[nodiscard]] std::optional<std::int64_t> layer() const;
    void leave();

    EditCommands& m_commands;
    BlockLibrary m_library;
    SavePopup* m_save;
    std::int64_t m_layer = 0;
};

} // namespace

BlockCommands::BlockCommands(const WindowParts& parts, EditCommands& commands)
    : CommandGroup(parts), m_commands(commands), m_library(m_folders.blocks), m_save(new SavePopup(&m_workspace))
{
    connect(m_actions.saveBlock, &QAction::triggered, this, [this] {
        m_workspace.showCanvas(WorkspaceView::Block);
        openSavePopup();
    });
    connect(&m_documents, &DocumentViews::placeChanged, this, &BlockCommands::showBar);
    connect(&m_library, &BlockLibrary::changed, this, &BlockCommands::showLibrary);
    connect(m_save, &SavePopup::saveToProject, this, &BlockCommands::saveToProject);
    connect(m_save, &SavePopup::saveToLibrary, this, &BlockCommands::saveToLibrary);
    m_workspace.view<PaletteView>().acceptDropsOn(m_workspace.block());
    m_workspace.view<PaletteView>().setTaker(
        [this](const PaletteItem& item, QWidget* target, QPoint position) { return takeNode(item, target, position); });
    connectBar();
    QMetaObject::invokeMethod(this, &BlockCommands::showLibrary,
                              Qt::QueuedConnection); // after its signals are connected
}

void BlockCommands::connectBar()
{
    BlockBar& bar = m_workspace.blockBar();
    connect(&bar, &BlockBar::leaveRequested, this, &BlockCommands::leave);
    connect(&bar, &BlockBar::graphChosen, this,
            [this](const projects::GraphRef& graph) { m_documents.choose(GraphPlace{graph}); });
    connect(&bar, &BlockBar::layerChosen, this, [this](std::int64_t layer) {
        m_documents.choose(LayersPlace{{layer}});
        leave();
    });
    connect(&bar, &BlockBar::tidyRequested, &m_commands, &EditCommands::tidy);
    connect(&bar, &BlockBar::saveRequested, this, &BlockCommands::openSavePopup);
}

void BlockCommands::showBar()
{
    if (!m_session.isOpen()) {
        return;
    }
    const auto* layers = std::get_if<LayersPlace>(&m_documents.place());
    if (layers && layers->layers.size() == 1) {
        m_layer = layers->layers.front();
    }
    m_workspace.blockBar().show(m_session.project(), m_workspace.blockCanvas().graph(), layer());
}

void BlockCommands::showLibrary()
{
    m_workspace.view<PaletteView>().setLibrary(m_library.blocks());
    if (!m_library.problems().isEmpty()) {
        refuse(tr("Blocks of your library that cannot be read: %1").arg(m_library.problems().join(QLatin1Char('\n'))));
    }
}

std::optional<std::int64_t> BlockCommands::layer() const
{
    const projects::Block* block = m_session.project().network.blockOfLayer(m_layer);
    const bool shown = block && projects::GraphRef::block(block->name) == m_workspace.blockCanvas().graph();
    return shown ? std::optional(m_layer) : std::nullopt;
}

void BlockCommands::leave()
{
    m_workspace.showCanvas(WorkspaceView::Depth);
}

/// A node is added where it is dropped, or to the block that is shown.
bool BlockCommands::takeNode(const PaletteItem& item, QWidget* target, QPoint position)
{
    CanvasWidget& block = m_workspace.block();
    if (item.kind != PaletteKind::Node || (target ? target != &block : m_workspace.frontCanvas() != &block)) {
        return false;
    }
    m_commands.addNode(item.key, target ? std::optional(position) : std::nullopt);
    return true;
}

projects::BlockFile BlockCommands::shownAs(const QString& name) const
{
    const projects::GraphRef& ref = m_workspace.blockCanvas().graph();
    projects::BlockFile file;
    const projects::Graph* graph = findGraph(m_session.project(), ref);
    file.block = {name.toStdString(), {}, graph != nullptr ? *graph : projects::Graph{}};
    const auto& positions = m_session.document().layout.positions;
    if (const auto found = positions.find(ref); found != positions.end()) {
        file.positions = found->second;
    }
    return file;
}

void BlockCommands::openSavePopup()
{
    const projects::Network& network = m_session.project().network;
    const projects::GraphRef& ref = m_workspace.blockCanvas().graph();
    const std::string name = projects::freeBlockName(network, ref.isBlock() ? ref.blockName() : textOf(ref));
    const auto inLayer = layer();
    QWidget& button = m_workspace.blockBar().saveButton();
    m_save->open(
        button.mapToGlobal(QPoint(button.width(), button.height() + 4)), QString::fromStdString(name),
        inLayer ? tr("Make layer %1 of it").arg(QString::fromStdString(projects::layerName(network.stack(), *inLayer)))
                : QString(),
        {[this](const QString& wanted) {
             const bool taken = m_session.project().network.findBlock(wanted.toStdString()) != nullptr;
             return taken ? tr("This project has a block of this name.") : QString();
         },
         [this](const QString& wanted) {
             return m_library.holds(wanted.toStdString()) ? tr("Your library's block of this name would be replaced.")
                                                          : QString();
         }});
}

void BlockCommands::saveToProject(const QString& name, bool useInLayer)
{
    const projects::BlockFile file = shownAs(name);
    const projects::GraphRef ref = projects::GraphRef::block(file.block.name);
    m_documents.applyEdit(
        projects::saveBlockEdit(m_session.project().network, file, useInLayer ? layer() : std::nullopt));
    if (findGraph(m_session.project(), ref)) {
        m_documents.refresh();
        m_documents.choose(GraphPlace{ref});
    }
}

void BlockCommands::saveToLibrary(const QString& name)
{
    if (const Status saved = m_library.save(shownAs(name)); !saved) {
        refuse(QString::fromStdString(saved.error().text()));
    } else {
        note(tr("“%1” is in your library: the palette of every project has it").arg(name));
    }
}

void addBlockCommands(const WindowParts& parts, EditCommands& commands)
{
    new BlockCommands(parts, commands);
}

} // namespace residua::app
