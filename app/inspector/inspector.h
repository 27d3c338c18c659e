// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/customisation.h"
#include "app/properties/property.h"

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>

#include <optional>
#include <string>
#include <vector>

class QGridLayout;

namespace residua::app {

class CostView;
class MixtureEditor;
class PropertyEditor;

/// Shows "Custom, from DCA", the differences, and a button to go back. Hidden if nothing is customised.
class CustomNotice : public QFrame {
    Q_OBJECT
public:
    explicit CustomNotice(QWidget* parent = nullptr);

    void setCustomisation(std::optional<Customisation> customisation);

signals:
    void backRequested(const residua::projects::Edit& edit);

private:
    projects::Edit m_back = projects::EditGroup{};
    QLabel* m_title = new QLabel(this);
    QLabel* m_changes = new QLabel(this);
    QPushButton* m_button = new QPushButton(this);
};

/// The properties of one place, each with its editor, unit and a button to restore the default; below them a widget for
/// the cost. Requests edits by signals and changes nothing itself.
class Inspector : public QWidget {
    Q_OBJECT
public:
    explicit Inspector(QWidget* parent = nullptr);

    /// Shows `place` of `project`. Editors of properties that stay are kept, with the text that is being typed in them.
    void show(const projects::Project& project, const Place& place);
    /// Shows the problems of the place, one a line, below its properties.
    void setProblems(const QStringList& problems);
    [[nodiscard]] CostView& cost() { return *m_cost; }
    /// Moves the cursor into the first value after the name, or into the name if there is no other.
    void takeFocus();
    /// Moves the cursor into the property with this key if it is shown.
    void takeFocus(const std::string& key);
    /// Returns the property whose editor has the focus, or null.
    [[nodiscard]] const Property* focusedProperty() const;

signals:
    void edited(const residua::app::Property& property, const QVariant& value);
    void editRequested(const residua::projects::Edit& edit);
    /// Emitted when the button below a property is pressed. At most one property of a place has such a button.
    void offerTaken();
    /// Emitted when the user wants to train once for each of several values of the property.
    void sweepRequested(const residua::app::Property& property);
    /// Emitted when the user wants the property's value as a command for the terminal.
    void copyRequested(const residua::app::Property& property);
    /// Emitted when the user requests an explanation. `word` is known to the help.
    void explainRequested(const std::string& word);

private:
    struct Line {
        Property property;
        PropertyEditor* editor = nullptr;
        QToolButton* reset = nullptr;
        QLabel* heading = nullptr; ///< shown above it if its group begins there
    };

    void rebuild(std::vector<Property> properties);
    void addLine(Property property, int row);
    void showHeadings();
    void openMenu(const Property& property, QWidget& over, const QPoint& position);
    void showReference();
    [[nodiscard]] bool fits(const std::vector<Property>& properties) const;

    Place m_place;
    std::vector<Line> m_lines;
    QLabel* m_title;
    QLabel* m_subtitle;
    QToolButton* m_explain = new QToolButton(this); ///< hidden if there is no explanation
    std::string m_word;                             ///< word for the help
    CustomNotice* m_custom;
    QLabel* m_problems;
    MixtureEditor* m_mixture; ///< shown in the form if the data are a mixture
    bool m_hasMixture = false;
    QWidget* m_form = nullptr;
    QGridLayout* m_grid = nullptr;
    QWidget* m_body = new QWidget;
    CostView* m_cost;
    QLabel* m_reference; ///< meaning, default and papers' value of the value that has the focus
};

} // namespace residua::app
