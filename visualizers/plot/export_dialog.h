// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>
#include <QSize>
#include <QString>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace residua::visualizers {

/// The default size of an exported plot in pixels, independent of its size on the screen.
inline constexpr QSize kExportShape{960, 600};

/// The initial values of the dialog, which are those of the last export.
struct ExportChoice {
    QString folder = {}; ///< if empty or missing, the user's pictures folder or home
    QString format = QStringLiteral("png");
    QSize shape = kExportShape;
    bool operator==(const ExportChoice&) const = default;
};

/// Asks for the place, format and size of an exported plot. Not modal. GUI thread.
class ExportDialog : public QDialog {
    Q_OBJECT
public:
    /// `name` is the file's name without its suffix.
    ExportDialog(const QString& title, const QString& name, const ExportChoice& choice, QWidget* parent = nullptr);

    [[nodiscard]] ExportChoice choice() const;

    /// Shows the reason why the file could not be written.
    void refuse(const QString& reason);

signals:
    void chosen(const QString& path, QSize shape);

private:
    void layOut(const QString& format);
    void browse();
    void update();
    void choose();
    [[nodiscard]] QString suffix() const;
    [[nodiscard]] QString path() const;

    QLineEdit* m_folder;
    QLineEdit* m_name;
    QComboBox* m_format;
    QSpinBox* m_width;
    QSpinBox* m_height;
    QLabel* m_note; ///< tells that the file exists, or shows an error
    QPushButton* m_export = nullptr;
};

} // namespace residua::visualizers
