// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/export_dialog.h"

#include "visualizers/plot/arrange.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMimeData>
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

/// Limits and unit of a length on paper.
struct Length {
    double least = 0;
    double most = 0;
    QString unit;
};

QDoubleSpinBox* length(const QString& name, double value, const Length& limits, QWidget* parent)
{
    auto* box = new QDoubleSpinBox(parent);
    box->setRange(limits.least, limits.most);
    box->setDecimals(1);
    box->setSingleStep(0.5);
    box->setSuffix(QLatin1Char(' ') + limits.unit);
    box->setValue(value);
    box->setAccessibleName(name);
    return box;
}

} // namespace

ExportDialog::ExportDialog(const QString& title, const QString& name, const ExportChoice& choice, ExportOf of,
                           QWidget* parent)
    : QDialog(parent),
      m_of(of),
      m_folder(new QLineEdit(folderOf(choice), this)),
      m_name(new QLineEdit(name, this)),
      m_width(pixels(tr("Width"), choice.shape.width(), this)),
      m_height(pixels(tr("Height"), choice.shape.height(), this)),
      m_centimetres(length(tr("Width on paper"), choice.centimetres,
                           {resources::page::kNarrowest, resources::page::kWidest, tr("cm")}, this)),
      m_text(length(tr("Size of the text"), choice.text,
                    {resources::page::kSmallestText, resources::page::kLargestText, tr("pt")}, this)),
      m_wantsWeights(choice.weights)
{
    setObjectName(QStringLiteral("exportDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(title);
    setMinimumWidth(kWidth);
    m_weights->setChecked(choice.weights);
    layOut(choice.format);
    setAcceptDrops(true);
    for (QLineEdit* line : {m_folder, m_name}) {
        line->setAcceptDrops(false); // a line would insert the address
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
    addFormats();
    m_format->setCurrentIndex(std::max(m_format->findData(format), 0));
    m_note->setWordWrap(true);
    m_note->setObjectName(QStringLiteral("exportNote"));
    auto* browse = new QPushButton(tr("Browse…"), this);
    browse->setAutoDefault(false);
    connect(browse, &QPushButton::clicked, this, &ExportDialog::browse);
    auto* folder = makeRow(nullptr, {{}, kFieldGap}, {{m_folder, 1}, browse});
    auto* form = new QFormLayout;
    form->setVerticalSpacing(kRowSpacing);
    form->addRow(tr("Folder"), folder);
    form->addRow(tr("Name"), m_name);
    form->addRow(tr("Format"), m_format);
    addSizes(*form);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_export = buttons->addButton(tr("Export"), QDialogButtonBox::AcceptRole);
    m_export->setObjectName(QStringLiteral("exportGo"));
    m_export->setDefault(true);
    connect(m_export, &QPushButton::clicked, this, &ExportDialog::choose);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    makeColumn(this, {}, {form, m_note, rest(), buttons});
    QWidget* before = m_folder;
    for (QWidget* next : std::initializer_list<QWidget*>{browse, m_name, m_format, m_width, m_height, m_centimetres,
                                                         m_text, m_weights, buttons}) {
        setTabOrder(before, next);
        before = next;
    }
}

void ExportDialog::addFormats()
{
    const bool plot = m_of == ExportOf::Plot;
    if (plot) {
        m_format->addItem(tr("Picture, twice the pixels (PNG)"), QStringLiteral("png"));
        m_format->addItem(tr("Vector picture (SVG)"), QStringLiteral("svg"));
    }
    m_format->addItem(tr("Document (PDF)"), QStringLiteral("pdf"));
    if (plot) {
        m_format->addItem(tr("Numbers (CSV)"), QStringLiteral("csv"));
        return;
    }
    m_format->addItem(tr("Vector picture (SVG)"), QStringLiteral("svg"));
    m_format->addItem(tr("TikZ picture, to \\input"), QStringLiteral("tikz"));
    m_format->addItem(tr("TikZ picture as a document (TeX)"), QStringLiteral("tex"));
}

void ExportDialog::addSizes(QFormLayout& form)
{
    m_centimetres->setObjectName(QStringLiteral("exportCentimetres"));
    m_text->setObjectName(QStringLiteral("exportText"));
    m_weights->setObjectName(QStringLiteral("exportWeights"));
    const bool plot = m_of == ExportOf::Plot;
    if (plot) {
        auto* size = makeRow(nullptr, {{}, kFieldGap},
                             {m_width, new QLabel(QStringLiteral("×"), this), m_height,
                              new QLabel(tr("pixels; SVG and PDF have their proportions"), this), rest()});
        form.addRow(tr("Size"), size);
    }
    auto* paper =
        makeRow(nullptr, {{}, kFieldGap}, {m_centimetres, new QLabel(tr("wide, text of"), this), m_text, rest()});
    form.addRow(tr("On paper"), paper);
    if (!plot) {
        form.addRow(QString(), m_weights);
    }
    for (QWidget* const other : std::initializer_list<QWidget*>{m_width, m_height}) {
        other->setVisible(plot);
    }
    m_weights->setVisible(!plot);
}

ExportChoice ExportDialog::choice() const
{
    return {.folder = QDir::fromNativeSeparators(m_folder->text().trimmed()),
            .format = suffix(),
            .shape = QSize(m_width->value(), m_height->value()),
            .centimetres = m_centimetres->value(),
            .text = m_text->value(),
            .weights = m_weights->isEnabled() ? m_weights->isChecked() : m_wantsWeights};
}

void ExportDialog::leaveOutWeights(const QString& reason)
{
    m_weights->setChecked(false);
    m_weights->setEnabled(false);
    m_weights->setText(tr("With learned weights: %1").arg(reason));
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

void ExportDialog::dragEnterEvent(QDragEnterEvent* event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    event->setAccepted(urls.size() == 1 && urls.front().isLocalFile());
}

void ExportDialog::dropEvent(QDropEvent* event)
{
    const QFileInfo dropped(event->mimeData()->urls().value(0).toLocalFile());
    m_folder->setText(QDir::toNativeSeparators(dropped.isDir() ? dropped.filePath() : dropped.path()));
    if (!dropped.isDir()) {
        m_name->setText(dropped.completeBaseName());
    }
    event->acceptProposedAction();
}

void ExportDialog::update()
{
    const bool numbers = suffix() == QLatin1String("csv");
    m_width->setEnabled(!numbers);
    m_height->setEnabled(!numbers);
    const bool paper = !numbers && suffix() != QLatin1String("png");
    m_centimetres->setEnabled(paper);
    m_text->setEnabled(paper);
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
    emit chosen(path());
}

void ExportDialog::refuse(const QString& reason)
{
    m_note->setText(reason);
}

} // namespace residua::visualizers
