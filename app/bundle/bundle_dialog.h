// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/bundle/bundle_work.h"
#include "app/look/ask_dialog.h"

#include <QString>

#include <filesystem>

class QLineEdit;
class QPushButton;

namespace residua::app {

/// The base of the dialogs for packing and unpacking: asks for a place, and then shows the progress until the work is
/// complete or cancelled. Not modal.
class BundleDialog : public AskDialog {
    Q_OBJECT
public:
    [[nodiscard]] std::filesystem::path place() const;

signals:
    void packed(const residua::engine::PackedBundle& bundle, const QString& file);
    void unpacked(const residua::engine::UnpackedBundle& bundle);

protected:
    BundleDialog(const QString& name, const Words& words, QWidget* parent);

    /// Adds a row with `caption`, the place, and a button that asks for another place.
    void addPlace(const QString& caption, const std::filesystem::path& proposal);
    [[nodiscard]] BundleWork& work() { return *m_work; }
    void refuse(const QString& reason) override;
    [[nodiscard]] QLineEdit& placeField() { return *m_place; }
    void reject() override;

private:
    /// Asks for another place. Returns an empty text if the user cancels.
    [[nodiscard]] virtual QString askForPlace() = 0;
    virtual void start() = 0;
    void begin() final;
    void setPlaceEnabled(bool enabled);

    QLineEdit* m_place;
    QPushButton* m_other = nullptr; ///< asks for another place
    BundleWork* m_work;
};

} // namespace residua::app
