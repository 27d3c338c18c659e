// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/places_dialog.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include <utility>

namespace residua::app {

namespace {

enum PlaceColumn { Name, Command, Folder, PlaceColumns };
constexpr QSize kPlacesSize{720, 280};

} // namespace

PlacesDialog::PlacesDialog(const std::vector<engine::EnginePlace>& places, QWidget* parent)
    : QDialog(parent), m_table(new QTableWidget(0, PlaceColumns, this))
{
    setWindowTitle(tr("Places to train"));
    auto* column = new QVBoxLayout(this);
    auto* text = new QLabel(tr("A place is a command line that ends in an engine of this version, such as "
                               "ssh gpu1 residua-engine --stdio. If the other machine sees the same folders, "
                               "the folder of runs stays empty."),
                            this);
    text->setWordWrap(true);
    column->addWidget(text);
    m_table->setHorizontalHeaderLabels({tr("Name"), tr("Command line"), tr("Folder of runs")});
    m_table->horizontalHeader()->setSectionResizeMode(Command, QHeaderView::Stretch);
    m_table->verticalHeader()->hide();
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setAccessibleName(tr("Places to train"));
    for (const engine::EnginePlace& place : places) {
        addRow(place);
    }
    column->addWidget(m_table);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    connect(buttons->addButton(tr("&Add"), QDialogButtonBox::ActionRole), &QPushButton::clicked, this, [this] {
        addRow({});
        m_table->setCurrentCell(m_table->rowCount() - 1, Name);
        m_table->editItem(m_table->currentItem());
    });
    connect(buttons->addButton(tr("&Remove"), QDialogButtonBox::ActionRole), &QPushButton::clicked, this,
            [this] { m_table->removeRow(m_table->currentRow()); });
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    resize(kPlacesSize);
}

void PlacesDialog::addRow(const engine::EnginePlace& place)
{
    const int row = m_table->rowCount();
    m_table->insertRow(row);
    m_table->setItem(row, Name, new QTableWidgetItem(QString::fromStdString(place.name)));
    m_table->setItem(row, Command, new QTableWidgetItem(QString::fromStdString(place.command)));
    m_table->setItem(row, Folder, new QTableWidgetItem(QString::fromStdString(place.folder.string())));
}

std::vector<engine::EnginePlace> PlacesDialog::places() const
{
    const auto text = [this](int row, PlaceColumn column) {
        return m_table->item(row, column)->text().trimmed().toStdString();
    };
    std::vector<engine::EnginePlace> places;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        engine::EnginePlace place;
        place.kind = engine::EnginePlace::Kind::CommandLine;
        place.name = text(row, Name);
        place.command = text(row, Command);
        place.folder = text(row, Folder);
        if (!place.name.empty() || !place.command.empty()) {
            places.push_back(std::move(place));
        }
    }
    return places;
}

} // namespace residua::app
