// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/properties/property.h"

#include <QVariant>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;

namespace residua::app {

/// The widget for one property's value: a check box, a choice, a number, a text or a path. Emits a value only when the
/// user has finished entering a valid one. Esc restores the old value.
class PropertyEditor : public QWidget {
    Q_OBJECT
public:
    explicit PropertyEditor(const Property& property, QWidget* parent = nullptr);

    /// Updates the editor for a new state of the same property, unless the user is typing.
    void setProperty(const Property& property);
    /// Returns the shown value; invalid if it cannot be parsed or is out of range.
    [[nodiscard]] QVariant value() const;

signals:
    void committed(const QVariant& value);
    /// Emitted when the button of Property::offer is pressed.
    void offerTaken();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void makeField(QHBoxLayout& row);
    void show(const QVariant& value);
    void commit();
    void takePath(const QString& path);
    void stepNumber(int direction);
    void checkText(const QString& text);
    [[nodiscard]] QVariant shown() const; ///< as value(), without the range check
    [[nodiscard]] QString problemWith(const QVariant& value) const;

    Property m_property;
    QCheckBox* m_toggle = nullptr;
    QComboBox* m_choice = nullptr;
    QLineEdit* m_field = nullptr;
    QLabel* m_complaint = nullptr; ///< below the field while the typed text is invalid
};

} // namespace residua::app
