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

/// The shape that a plot has in a file, in pixels, whatever it has on the screen.
inline constexpr QSize kExportShape{960, 600};

/// What an export is asked for with at first: as the last one was.
struct ExportChoice {
    QString folder = {}; ///< empty, or gone: that of the user's pictures, or the home
    QString format = QStringLiteral("png");
    QSize shape = kExportShape;
    bool operator==(const ExportChoice&) const = default;
};

/// Asks where a plot goes as a file, in which format and how large. Not modal. GUI thread.
class ExportDialog : public QDialog {
    Q_OBJECT
public:
    /// `name`: of the file, without its suffix.
    ExportDialog(const QString& title, const QString& name, const ExportChoice& choice, QWidget* parent = nullptr);

    [[nodiscard]] ExportChoice choice() const;

    /// Says why the file could not be written.
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
    QLabel* m_note; ///< what stands there already, or what went wrong
    QPushButton* m_export = nullptr;
};

} // namespace residua::visualizers
