// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QSize>
#include <QString>

class QDoubleSpinBox;
class QFormLayout;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace residua::visualizers {

/// The default size of an exported plot in pixels, independent of its size on the screen.
inline constexpr QSize kExportShape{960, 600};

/// The thing that is exported: a plot as PNG, SVG, PDF or CSV, or a canvas as PDF, SVG or TikZ.
enum class ExportOf { Plot, Canvas };

/// The initial values of the dialog, which are those of the last export.
struct ExportChoice {
    QString folder = {}; ///< if empty or missing, the user's pictures folder or home
    QString format = QStringLiteral("png");
    QSize shape = kExportShape;                   ///< PNG: pixels; SVG and PDF: the proportions
    double centimetres = resources::page::kWidth; ///< width on paper, of a column of two; not for PNG
    double text = resources::page::kText;         ///< size of the text on paper in points
    bool weights = true;                          ///< canvas: with learned weights
    bool operator==(const ExportChoice&) const = default;
};

/// Asks for the place, format and size of an exported plot or canvas. A folder that is dropped on it becomes the place,
/// a file gives its folder and its name. Not modal. GUI thread.
class ExportDialog : public QDialog {
    Q_OBJECT
public:
    /// `name` is the file's name without its suffix.
    ExportDialog(const QString& title, const QString& name, const ExportChoice& choice, ExportOf of,
                 QWidget* parent = nullptr);

    [[nodiscard]] ExportChoice choice() const;
    /// Turns the choice of weights off, and says why. choice() keeps the one before.
    void leaveOutWeights(const QString& reason);

    /// Shows the reason why the file could not be written.
    void refuse(const QString& reason);

signals:
    /// The rest of the choice is choice().
    void chosen(const QString& path);

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void layOut(const QString& format);
    void addFormats();
    void addSizes(QFormLayout& form);
    void browse();
    void update();
    void choose();
    [[nodiscard]] QString suffix() const;
    [[nodiscard]] QString path() const;

    ExportOf m_of;
    QLineEdit* m_folder;
    QLineEdit* m_name;
    QComboBox* m_format = new QComboBox(this);
    QSpinBox* m_width;
    QSpinBox* m_height;
    QDoubleSpinBox* m_centimetres;
    QDoubleSpinBox* m_text;
    QCheckBox* m_weights = new QCheckBox(tr("With learned weights"), this);
    bool m_wantsWeights;               ///< as chosen before
    QLabel* m_note = new QLabel(this); ///< tells that the file exists, or shows an error
    QPushButton* m_export = nullptr;
};

} // namespace residua::visualizers
