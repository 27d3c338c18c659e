// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/bundle/bundle_work.h"

#include <QDialog>
#include <QString>

#include <filesystem>

class QFormLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;

namespace residua::app {

/// The base of the dialogs for packing and unpacking: asks for a place, and then shows the progress until the work is
/// complete or cancelled. Not modal.
class BundleDialog : public QDialog {
    Q_OBJECT
public:
    [[nodiscard]] std::filesystem::path place() const;

signals:
    void packed(const residua::engine::PackedBundle& bundle, const QString& file);
    void unpacked(const residua::engine::UnpackedBundle& bundle);

protected:
    BundleDialog(const QString& title, const QString& explanation, const QString& go, QWidget* parent);

    /// Adds a row with `caption`, the place, and a button that asks for another place.
    void addPlace(const QString& caption, const std::filesystem::path& proposal);
    [[nodiscard]] QFormLayout& form() { return *m_form; }
    [[nodiscard]] BundleWork& work() { return *m_work; }
    /// Shows a text, or an error, above the buttons.
    void tell(const QString& text);
    void refuse(const QString& reason);
    void setReady(bool ready);
    [[nodiscard]] QLineEdit& placeField() { return *m_place; }
    void reject() override;

private:
    /// Asks for another place. Returns an empty text if the user cancels.
    [[nodiscard]] virtual QString askForPlace() = 0;
    virtual void begin() = 0;
    void start();
    void setPlaceEnabled(bool enabled);

    QFormLayout* m_form;
    QLineEdit* m_place;
    QPushButton* m_other = nullptr; ///< asks for another place
    QLabel* m_told;
    QProgressBar* m_progress;
    QPushButton* m_go;
    BundleWork* m_work;
};

} // namespace residua::app
