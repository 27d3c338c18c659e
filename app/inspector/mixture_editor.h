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

/// The texts of a mixture, each with its path, weight, share of the examples in per cent and, if it may be JSON Lines,
/// its key; and buttons to add and remove texts. Requests edits by signals and changes nothing itself. GUI thread.
class MixtureEditor : public QWidget {
    Q_OBJECT
public:
    enum class FieldMenus {
        Standard, ///< the standard menus of text fields
        Asked,    ///< menuRequested() requests them
    };
    explicit MixtureEditor(FieldMenus menus, QWidget* parent = nullptr);

    /// Shows the parts of a project with a mixture. Editors of parts that stay are kept, with the text being typed.
    void show(const projects::Project& project);
    /// Returns the property whose editor has the focus, or null.
    [[nodiscard]] const Property* focusedProperty() const;
    /// Moves the cursor into the field with this key if there is one.
    void takeFocus(const std::string& key);
    /// Requests to add the texts at these paths.
    void addParts(const QStringList& paths);

protected:
    void keyPressEvent(QKeyEvent* event) override;

signals:
    void edited(const residua::app::Property& property, const QVariant& value);
    void editRequested(const residua::projects::Edit& edit);
    /// Emitted when a menu is requested at a position of `over`, which edits `property`.
    void menuRequested(const residua::app::Property& property, QWidget* over, const QPoint& position);

private:
    /// A field of a part with its editor.
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
    std::vector<QLabel*> m_shares; ///< one per part
    QWidget* m_parts = nullptr;
    QLabel* m_none;
};

} // namespace residua::app
