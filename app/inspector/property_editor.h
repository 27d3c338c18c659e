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
/// user has finished entering a valid one. Esc restores the old value. The focus proxy is the widget for the value.
class PropertyEditor : public QWidget {
    Q_OBJECT
public:
    explicit PropertyEditor(const Property& property, QWidget* parent = nullptr);

    /// Updates the editor for a new state of the same property, unless the user is typing.
    void setProperty(const Property& property);
    /// Enters what the user has typed. Returns false if it is invalid; then it stays, and its error is shown.
    bool enter();
    /// Shows the property's value instead of what the user has typed.
    void restore();

signals:
    void committed(const QVariant& value);
    /// Emitted when the button of Property::offer is pressed.
    void offerTaken();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void makeField(QHBoxLayout& row);
    void show(const QVariant& value);
    void takePath(const QString& path);
    void stepNumber(int direction);
    void checkText(const QString& text);
    void markInvalid(bool invalid);
    [[nodiscard]] QVariant shown() const; ///< invalid if the text cannot be parsed
    [[nodiscard]] QString problemWith(const QVariant& value) const;

    Property m_property;
    QCheckBox* m_toggle = nullptr;
    QComboBox* m_choice = nullptr;
    QLineEdit* m_field = nullptr;
    QLabel* m_complaint = nullptr; ///< below the field while the typed text is invalid
};

} // namespace residua::app
