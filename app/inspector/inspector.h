// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"

#include <QWidget>

#include <string>
#include <vector>

class QGridLayout;
class QLabel;
class QToolButton;

namespace residua::app {

class CostView;
class CustomNotice;
class MixtureEditor;
class PropertyEditor;

/// The properties of one place, each with its editor, unit and way back to the default; below them a widget
/// for the cost. It tells what the user wants; it changes nothing by itself.
class Inspector : public QWidget {
    Q_OBJECT
public:
    explicit Inspector(QWidget* parent = nullptr);

    /// Shows `place` of `project`. Editors of properties that stay are kept, with what is being typed in them.
    void show(const projects::Project& project, const Place& place);
    [[nodiscard]] CostView& cost() { return *m_cost; }
    /// Puts the cursor into the first value after the name, or into the name where there is no other.
    void takeFocus();
    /// Puts the cursor into the property with this key, if it is shown.
    void takeFocus(const std::string& key);
    /// The property whose editor has the keyboard; nullptr where none has.
    [[nodiscard]] const Property* focusedProperty() const;

signals:
    void edited(const residua::app::Property& property, const QVariant& value);
    void editRequested(const residua::projects::Edit& edit);
    /// The button below a property was pressed. One property of a place has such a button, or none.
    void offerTaken();
    /// The user wants to train once for each of several values of it.
    void sweepRequested(const residua::app::Property& property);
    /// The user asks what it computes. `word` is one that the help knows.
    void explainRequested(const std::string& word);

private:
    struct Line {
        Property property;
        PropertyEditor* editor = nullptr;
        QToolButton* reset = nullptr;
        QLabel* heading = nullptr; ///< above it, seen where its group begins
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
    QToolButton* m_explain; ///< hidden where there is nothing to explain
    std::string m_word;     ///< what it asks the help for
    CustomNotice* m_custom;
    MixtureEditor* m_mixture; ///< in the form where the data are a mixture, else hidden
    bool m_hasMixture = false;
    QWidget* m_form = nullptr;
    QGridLayout* m_grid = nullptr;
    QWidget* m_body;
    CostView* m_cost;
    QLabel* m_reference; ///< what the value that has the keyboard means, its default, and the papers' value
};

} // namespace residua::app
