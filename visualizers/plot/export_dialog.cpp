// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/export_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardPaths>
#include <QVBoxLayout>

namespace residua::visualizers {
namespace {

constexpr int kWidth = 480;
constexpr int kSmallest = 100;
constexpr int kLargest = 8000;

/// What the next export of this session proposes.
struct Last {
    QString folder = QStandardPaths::writableLocation(QStandardPaths::PicturesLocation);
    int format = 0;
    QSize shape = kExportShape;
};
Last& last()
{
    static Last kept;
    return kept;
}

QSpinBox* pixels(const QString& name, int value, QWidget* parent)
{
    auto* box = new QSpinBox(parent);
    box->setRange(kSmallest, kLargest);
    box->setValue(value);
    box->setAccessibleName(name);
    return box;
}

} // namespace

ExportDialog::ExportDialog(const QString& title, const QString& name, QWidget* parent)
    : QDialog(parent),
      m_folder(new QLineEdit(QDir::toNativeSeparators(last().folder), this)),
      m_name(new QLineEdit(name, this)),
      m_format(new QComboBox(this)),
      m_width(pixels(tr("Width"), last().shape.width(), this)),
      m_height(pixels(tr("Height"), last().shape.height(), this)),
      m_note(new QLabel(this))
{
    setObjectName(QStringLiteral("exportDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(title);
    setMinimumWidth(kWidth);
    layOut();
    for (QLineEdit* line : {m_folder, m_name}) {
        connect(line, &QLineEdit::textChanged, this, &ExportDialog::update);
    }
    connect(m_format, &QComboBox::currentIndexChanged, this, &ExportDialog::update);
    update();
}

void ExportDialog::layOut()
{
    m_folder->setObjectName(QStringLiteral("exportFolder"));
    m_name->setObjectName(QStringLiteral("exportName"));
    m_format->setObjectName(QStringLiteral("exportFormat"));
    m_width->setObjectName(QStringLiteral("exportWidth"));
    m_height->setObjectName(QStringLiteral("exportHeight"));
    m_format->addItem(tr("Picture, twice the pixels (PNG)"), QStringLiteral("png"));
    m_format->addItem(tr("Vector picture (SVG)"), QStringLiteral("svg"));
    m_format->addItem(tr("Document (PDF)"), QStringLiteral("pdf"));
    m_format->addItem(tr("Numbers (CSV)"), QStringLiteral("csv"));
    m_format->setCurrentIndex(last().format);
    m_note->setWordWrap(true);
    m_note->setObjectName(QStringLiteral("exportNote"));
    auto* browse = new QPushButton(tr("Browse…"), this);
    connect(browse, &QPushButton::clicked, this, &ExportDialog::browse);
    auto* folder = new QHBoxLayout;
    folder->addWidget(m_folder, 1);
    folder->addWidget(browse);
    auto* size = new QHBoxLayout;
    size->addWidget(m_width);
    size->addWidget(new QLabel(QStringLiteral("×"), this));
    size->addWidget(m_height);
    size->addWidget(new QLabel(tr("pixels"), this));
    size->addStretch();
    auto* form = new QFormLayout;
    form->addRow(tr("Folder"), folder);
    form->addRow(tr("Name"), m_name);
    form->addRow(tr("Format"), m_format);
    form->addRow(tr("Size"), size);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_export = buttons->addButton(tr("Export"), QDialogButtonBox::AcceptRole);
    m_export->setObjectName(QStringLiteral("exportGo"));
    m_export->setDefault(true);
    connect(m_export, &QPushButton::clicked, this, &ExportDialog::choose);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addLayout(form);
    column->addWidget(m_note);
    column->addStretch();
    column->addWidget(buttons);
}

QString ExportDialog::suffix() const
{
    return m_format->currentData().toString();
}

/// A suffix that is typed counts for the name where it is another than the format's.
QString ExportDialog::path() const
{
    QString name = m_name->text().trimmed();
    if (QFileInfo(name).suffix().toLower() != suffix()) {
        name += QLatin1Char('.') + suffix();
    }
    return QDir(QDir::fromNativeSeparators(m_folder->text().trimmed())).filePath(name);
}

void ExportDialog::browse()
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Export to a folder"), m_folder->text());
    if (!folder.isEmpty()) {
        m_folder->setText(QDir::toNativeSeparators(folder));
    }
}

void ExportDialog::update()
{
    const bool numbers = suffix() == QLatin1String("csv");
    m_width->setEnabled(!numbers);
    m_height->setEnabled(!numbers);
    const bool folder = QFileInfo(QDir::fromNativeSeparators(m_folder->text().trimmed())).isDir();
    const bool named = !m_name->text().trimmed().isEmpty();
    m_export->setEnabled(folder && named);
    m_note->setText(!folder ? tr("There is no such folder.")
                    : named && QFileInfo::exists(path())
                        ? tr("%1 is there already and would be replaced.").arg(QFileInfo(path()).fileName())
                        : QString());
}

void ExportDialog::choose()
{
    last() = {QDir::fromNativeSeparators(m_folder->text().trimmed()), m_format->currentIndex(),
              QSize(m_width->value(), m_height->value())};
    emit chosen(path(), last().shape);
}

void ExportDialog::refuse(const QString& reason)
{
    m_note->setText(reason);
}

} // namespace residua::visualizers
