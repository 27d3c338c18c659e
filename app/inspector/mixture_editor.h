// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"
#include "projects/model/data_source.h"

#include <QStringList>
#include <QWidget>

#include <cstddef>
#include <string>
#include <vector>

class QGridLayout;
class QLabel;

namespace residua::app {

class PropertyEditor;

/// The texts of a mixture: of each its path, weight, share of the examples in percent and, where it may be JSON Lines,
/// its key; and what adds and removes one. It tells what the user wants, and changes nothing by itself. GUI thread.
class MixtureEditor : public QWidget {
    Q_OBJECT
public:
    enum class FieldMenus {
        Standard, ///< of texts that are typed
        Asked,    ///< menuRequested() asks for them
    };
    explicit MixtureEditor(FieldMenus menus, QWidget* parent = nullptr);

    /// Shows the parts of a project that has a mixture. Editors of parts that stay are kept, with what is being typed.
    void show(const projects::Project& project);
    /// The property whose editor has the keyboard; nullptr where none has.
    [[nodiscard]] const Property* focusedProperty() const;
    /// Asks that the texts at these paths become parts.
    void addParts(const QStringList& paths);

protected:
    void keyPressEvent(QKeyEvent* event) override;

signals:
    void edited(const residua::app::Property& property, const QVariant& value);
    void editRequested(const residua::projects::Edit& edit);
    /// A menu was asked for at a place of `over`, which edits `property`.
    void menuRequested(const residua::app::Property& property, QWidget* over, const QPoint& position);

private:
    /// A field of a part, with its editor.
    struct Field {
        Property property;
        PropertyEditor* editor = nullptr;
    };

    void rebuild(std::vector<Property> properties);
    [[nodiscard]] PropertyEditor* addField(const Property& property);
    void addShare(std::size_t part, QGridLayout& grid, int row);
    void addRemoval(std::size_t part, QGridLayout& grid, int row);
    void browseFiles();
    void browseFolder();
    [[nodiscard]] bool fits(const std::vector<Property>& properties) const;

    FieldMenus m_menus;
    projects::MixtureData m_mixture;
    std::vector<Field> m_fields;
    std::vector<QLabel*> m_shares; ///< of each part
    QWidget* m_parts = nullptr;
    QLabel* m_none;
};

} // namespace residua::app
