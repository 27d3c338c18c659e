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

#include <algorithm>

namespace residua::visualizers {
namespace {

constexpr int kWidth = 480;
constexpr int kSmallest = 100;
constexpr int kLargest = 8000;
constexpr int kRowSpacing = 8;
constexpr int kFieldGap = 6; ///< between a field and the widget beside it

QString folderOf(const ExportChoice& choice)
{
    const QString pictures = QStandardPaths::writableLocation(QStandardPaths::PicturesLocation);
    for (const QString& folder : {choice.folder, pictures}) {
        if (!folder.isEmpty() && QDir(folder).exists()) {
            return QDir::toNativeSeparators(folder);
        }
    }
    return QDir::toNativeSeparators(QDir::homePath());
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

ExportDialog::ExportDialog(const QString& title, const QString& name, const ExportChoice& choice, QWidget* parent)
    : QDialog(parent),
      m_folder(new QLineEdit(folderOf(choice), this)),
      m_name(new QLineEdit(name, this)),
      m_format(new QComboBox(this)),
      m_width(pixels(tr("Width"), choice.shape.width(), this)),
      m_height(pixels(tr("Height"), choice.shape.height(), this)),
      m_note(new QLabel(this))
{
    setObjectName(QStringLiteral("exportDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(title);
    setMinimumWidth(kWidth);
    layOut(choice.format);
    for (QLineEdit* line : {m_folder, m_name}) {
        connect(line, &QLineEdit::textChanged, this, &ExportDialog::update);
    }
    connect(m_format, &QComboBox::currentIndexChanged, this, &ExportDialog::update);
    update();
}

void ExportDialog::layOut(const QString& format)
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
    m_format->setCurrentIndex(std::max(m_format->findData(format), 0));
    m_note->setWordWrap(true);
    m_note->setObjectName(QStringLiteral("exportNote"));
    auto* browse = new QPushButton(tr("Browse…"), this);
    browse->setAutoDefault(false);
    connect(browse, &QPushButton::clicked, this, &ExportDialog::browse);
    auto* folder = new QHBoxLayout;
    folder->setSpacing(kFieldGap);
    folder->addWidget(m_folder, 1);
    folder->addWidget(browse);
    auto* size = new QHBoxLayout;
    size->setSpacing(kFieldGap);
    size->addWidget(m_width);
    size->addWidget(new QLabel(QStringLiteral("×"), this));
    size->addWidget(m_height);
    size->addWidget(new QLabel(tr("pixels"), this));
    size->addStretch();
    auto* form = new QFormLayout;
    form->setVerticalSpacing(kRowSpacing);
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
    QWidget* before = m_folder;
    for (QWidget* next : std::initializer_list<QWidget*>{browse, m_name, m_format, m_width, m_height, buttons}) {
        setTabOrder(before, next);
        before = next;
    }
}

ExportChoice ExportDialog::choice() const
{
    return {QDir::fromNativeSeparators(m_folder->text().trimmed()), suffix(),
            QSize(m_width->value(), m_height->value())};
}

QString ExportDialog::suffix() const
{
    return m_format->currentData().toString();
}

/// A typed suffix has priority over the selected format.
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
    emit chosen(path(), choice().shape);
}

void ExportDialog::refuse(const QString& reason)
{
    m_note->setText(reason);
}

} // namespace residua::visualizers
