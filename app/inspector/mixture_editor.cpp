// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/inspector/mixture_editor.h"

#include "app/inspector/property_editor.h"
#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/path_kind.h"
#include "app/look/theme.h"
#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/commands/commands.h"
#include "projects/model/project.h"
#include "visualizers/plot/arrange.h"

#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

enum MixtureColumn { NameColumn, EditorColumn, ShareColumn };
constexpr int kBetweenParts = 10; ///< pixels

/// Formats a share: "57 %".
QString sharePercent(double share)
{
    return QStringLiteral("%1 %").arg(QString::number(100 * share, 'g', 3));
}

/// Returns the index of the part of a field: 2 for /data/source/parts/2/weight.
std::size_t partOf(const Property& property)
{
    return numberFrom<std::size_t>(projects::tokensOf(property.key).at(projects::tokensOf(kMixtureParts).size()))
        .value_or(0);
}

bool isField(const Property& property, const char* key)
{
    return projects::tokensOf(property.key).back() == key;
}

} // namespace

MixtureEditor::MixtureEditor(FieldMenus menus, QWidget* parent)
    : QWidget(parent), m_menus(menus), m_none(new QLabel(this))
{
    setObjectName(QStringLiteral("mixtureEditor"));
    visualizers::makeRemark(*m_none);
    m_none->setText(tr("No text yet: add files of text, JSON Lines or Parquet, or a folder of them."));
    auto* column = visualizers::makeColumn(this, {QMargins(), kBetweenParts}, {m_none});
    auto* adding = new QHBoxLayout;
    adding->setSpacing(6);
    const auto addButton = [&](const QString& text, const QString& name, void (MixtureEditor::*slot)()) {
        auto* button = new QPushButton(text, this);
        button->setObjectName(name);
        button->setAutoDefault(false);
        adding->addWidget(button);
        connect(button, &QPushButton::clicked, this, slot);
    };
    addButton(tr("Add files…"), QStringLiteral("addMixtureFiles"), &MixtureEditor::browseFiles);
    addButton(tr("Add a folder…"), QStringLiteral("addMixtureFolder"), &MixtureEditor::browseFolder);
    adding->addStretch();
    column->addLayout(adding);
    acceptPaths(
        *this,
        {.problem = onlyData(), .take = [this](const QStringList& paths) { addParts(paths); }, .takesSeveral = true});
}

void MixtureEditor::show(const projects::Project& project)
{
    const auto* const mixture = std::get_if<projects::MixtureData>(&project.data.source);
    if (mixture == nullptr) {
        return;
    }
    m_mixture = *mixture;
    std::vector<Property> properties = fieldProperties(project, kMixtureParts);
    for (Property& property : properties) { // no heading tells which part it belongs to
        property.title = tr("%1 · %2").arg(property.group, property.title);
    }
    if (m_parts && fits(properties)) {
        for (std::size_t i = 0; i < m_fields.size(); ++i) {
            m_fields[i].property = std::move(properties[i]);
            m_fields[i].editor->setProperty(m_fields[i].property);
        }
    } else {
        rebuild(std::move(properties));
    }
    const std::vector<double> shares = projects::sharesOf(m_mixture);
    for (std::size_t i = 0; i < m_shares.size(); ++i) {
        m_shares[i]->setText(sharePercent(shares[i]));
    }
    m_none->setVisible(m_mixture.parts.empty());
}

bool MixtureEditor::fits(const std::vector<Property>& properties) const
{
    return std::equal(properties.begin(), properties.end(), m_fields.begin(), m_fields.end(),
                      [](const Property& one, const Field& other) { return one.key == other.property.key; });
}

void MixtureEditor::rebuild(std::vector<Property> properties)
{
    if (m_parts) {
        m_parts->hide();
        m_parts->deleteLater(); // the sender may be one of its editors
    }
    m_fields.clear();
    m_shares.clear();
    m_parts = new QWidget(this);
    auto* grid = new QGridLayout(m_parts);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(EditorColumn, 1);
    int row = 0;
    for (const Property& property : properties) {
        const std::size_t part = partOf(property);
        PropertyEditor* const editor = addField(property);
        if (isField(property, "path")) {
            if (part > 0) {
                grid->setRowMinimumHeight(row++, kBetweenParts - grid->verticalSpacing());
            }
            grid->addWidget(editor, row, NameColumn, 1, 2);
            addRemoval(part, *grid, row++);
            continue;
        }
        const bool weight = isField(property, "weight");
        auto* name = new QLabel(weight ? tr("Weight") : tr("Key or column"), m_parts);
        name->setProperty("role", QStringLiteral("muted"));
        name->setToolTip(property.toolTip());
        name->setBuddy(editor);
        grid->addWidget(name, row, NameColumn);
        grid->addWidget(editor, row, EditorColumn);
        if (weight) {
            addShare(part, *grid, row);
        }
        ++row;
    }
    static_cast<QVBoxLayout*>(layout())->insertWidget(0, m_parts);
    m_parts->setVisible(!m_mixture.parts.empty());
}

PropertyEditor* MixtureEditor::addField(const Property& property)
{
    auto* editor = new PropertyEditor(property, m_parts);
    const std::size_t at = m_fields.size();
    connect(editor, &PropertyEditor::committed, this,
            [this, at](const QVariant& value) { emit edited(Property(m_fields[at].property), value); });
    const auto children =
        m_menus == FieldMenus::Asked ? editor->findChildren<QWidget*>(Qt::FindDirectChildrenOnly) : QList<QWidget*>();
    for (QWidget* const child : children) {
        child->setContextMenuPolicy(Qt::CustomContextMenu);
        connect(child, &QWidget::customContextMenuRequested, this, [this, at, child](const QPoint& position) {
            emit menuRequested(Property(m_fields[at].property), child, position);
        });
    }
    m_fields.push_back({property, editor});
    return editor;
}

void MixtureEditor::addShare(std::size_t part, QGridLayout& grid, int row)
{
    auto* share = new QLabel(m_parts);
    share->setObjectName(QStringLiteral("mixtureShare%1").arg(part));
    share->setFont(numberFont());
    share->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    share->setToolTip(tr("Of the examples: the weight over the sum of all weights"));
    grid.addWidget(share, row, ShareColumn);
    m_shares.push_back(share);
}

void MixtureEditor::addRemoval(std::size_t part, QGridLayout& grid, int row)
{
    auto* remove = new QToolButton(m_parts);
    remove->setObjectName(QStringLiteral("removeMixturePart%1").arg(part));
    remove->setIcon(themedIcon(QStringLiteral("close")));
    remove->setIconSize({13, 13});
    remove->setAutoRaise(true);
    remove->setToolTip(tr("Take this text out of the mixture"));
    remove->setAccessibleName(tr("Remove part %1").arg(part + 1));
    grid.addWidget(remove, row, ShareColumn, Qt::AlignRight);
    connect(remove, &QToolButton::clicked, this,
            [this, part] { emit editRequested(projects::removeMixturePart(m_mixture, part)); });
}

const Property* MixtureEditor::focusedProperty() const
{
    const QWidget* const focus = window()->focusWidget();
    for (const Field& field : m_fields) {
        if (focus && isVisible() && field.editor->isAncestorOf(focus)) {
            return &field.property;
        }
    }
    return nullptr;
}

void MixtureEditor::takeFocus(const std::string& key)
{
    const auto field = std::ranges::find(m_fields, key, [](const Field& each) { return each.property.key; });
    if (field != m_fields.end()) {
        field->editor->setFocus(Qt::ShortcutFocusReason);
    }
}

void MixtureEditor::addParts(const QStringList& paths)
{
    std::vector<std::string> added;
    for (const QString& path : paths) {
        if (!path.isEmpty()) {
            added.push_back(path.toStdString());
        }
    }
    if (!added.empty()) {
        emit editRequested(projects::addMixtureParts(m_mixture, added));
    }
}

/// Return only enters the typed text; in a dialog it would also press the default button.
void MixtureEditor::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        event->accept();
    } else {
        QWidget::keyPressEvent(event);
    }
}

void MixtureEditor::browseFiles()
{
    addParts(QFileDialog::getOpenFileNames(this, tr("Texts of the mixture"), {},
                                           fileFilter(tr("Texts"), projects::kAnyTextEndings)));
}

void MixtureEditor::browseFolder()
{
    addParts({QFileDialog::getExistingDirectory(this, tr("A folder of texts"))});
}

} // namespace residua::app
