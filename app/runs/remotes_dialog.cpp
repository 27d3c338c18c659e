// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/remotes_dialog.h"

#include "projects/base/text.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include <utility>

namespace residua::app {

namespace {

enum PlaceColumn { Name, Command, Folder, PlaceColumns };
constexpr QSize kPlacesSize{720, 280};
constexpr int kUnknownWidth = 560;
constexpr std::size_t kLongestCommand = 1000; ///< that is shown and may be taken over

/// Returns a text of others as it may be shown.
QString shown(std::string_view text)
{
    const bool isCut = text.size() > kLongestCommand;
    const std::string safe = printable(text.substr(0, kLongestCommand), LineEnds::Escape);
    return QString::fromStdString(safe) + (isCut ? QStringLiteral("…") : QString());
}

QString explanationOf(const engine::RemoteUnknown& unknown)
{
    const QString where =
        UnknownRemoteDialog::tr("The run %1 is at the place \"%2\", in the folder %3 there. Your list "
                                "of places does not have it, and a run does not say what is run.")
            .arg(shown(unknown.runDirectory.filename().string()), shown(unknown.place), shown(unknown.folder.string()));
    return unknown.formerCommand.empty()
               ? where
               : where + QStringLiteral("\n\n") +
                     UnknownRemoteDialog::tr("Its record names this command line, which was not run. Whoever made the "
                                             "run may have written anything here: add it only if you know it.") +
                     QStringLiteral("\n\n") + shown(unknown.formerCommand);
}

} // namespace

RemotesDialog::RemotesDialog(const std::vector<engine::EngineRemote>& places, QWidget* parent)
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
    for (const engine::EngineRemote& place : places) {
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

void RemotesDialog::addRow(const engine::EngineRemote& place)
{
    const int row = m_table->rowCount();
    m_table->insertRow(row);
    m_table->setItem(row, Name, new QTableWidgetItem(QString::fromStdString(place.name)));
    m_table->setItem(row, Command, new QTableWidgetItem(QString::fromStdString(place.command)));
    m_table->setItem(row, Folder, new QTableWidgetItem(QString::fromStdString(place.folder.string())));
}

std::vector<engine::EngineRemote> RemotesDialog::places() const
{
    const auto text = [this](int row, PlaceColumn column) {
        return m_table->item(row, column)->text().trimmed().toStdString();
    };
    std::vector<engine::EngineRemote> places;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        engine::EngineRemote place;
        place.kind = engine::EngineRemote::Kind::CommandLine;
        place.name = text(row, Name);
        place.command = text(row, Command);
        place.folder = text(row, Folder);
        if (!place.name.empty() || !place.command.empty()) {
            places.push_back(std::move(place));
        }
    }
    return places;
}

UnknownRemoteDialog::UnknownRemoteDialog(const engine::RemoteUnknown& unknown, engine::EngineRemote proposal,
                                         QWidget* parent)
    : AskDialog(QStringLiteral("unknownPlace"),
                {tr("A place that is not in your list"), explanationOf(unknown), tr("&Add to the places")},
                kUnknownWidth, parent),
      m_proposal(std::move(proposal)),
      m_name(new QLineEdit(QString::fromStdString(m_proposal.name), this)),
      m_command(new QLineEdit(this))
{
    m_name->setObjectName(QStringLiteral("unknownPlaceName"));
    m_command->setObjectName(QStringLiteral("unknownPlaceCommand"));
    m_command->setPlaceholderText(QStringLiteral("ssh gpu1 residua-engine --stdio"));
    if (const QString command = shown(m_proposal.command); command == QString::fromStdString(m_proposal.command)) {
        m_command->setText(command); // what is not shown as it is, is not taken over
        m_command->setCursorPosition(0);
    }
    form().addRow(tr("Name"), m_name);
    form().addRow(tr("Command line"), m_command);
    goButton().setAutoDefault(false);
    // Return must not agree. Without another default, a box of buttons makes the accepting one its default.
    findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Cancel)->setDefault(true);
    const auto enable = [this] {
        goButton().setEnabled(!m_name->text().trimmed().isEmpty() && !m_command->text().trimmed().isEmpty());
    };
    connect(m_name, &QLineEdit::textChanged, this, enable);
    connect(m_command, &QLineEdit::textChanged, this, enable);
    enable();
}

void UnknownRemoteDialog::begin()
{
    engine::EngineRemote place = m_proposal;
    place.name = m_name->text().trimmed().toStdString();
    place.command = m_command->text().trimmed().toStdString();
    emit chosen(place);
}

} // namespace residua::app
