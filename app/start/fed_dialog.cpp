// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/fed_dialog.h"

#include "app/engine/background.h"
#include "app/look/theme.h"

#include <QDialogButtonBox>
#include <QLabel>
#include <QPixmap>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QStringList>
#include <QVBoxLayout>

#include <algorithm>

namespace residua::app {

namespace {

constexpr QSize kFedSize(720, 640);
constexpr int kSheetWidth = 640; ///< small pictures are magnified up to it
constexpr std::int64_t kMostExamples = 64;

/// Returns one line per example: its place, its text and its target.
QString linesOf(const engine::FedBatch& fed)
{
    QStringList lines;
    for (std::size_t i = 0; i < fed.examples.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        QString line =
            fed.columns == 0
                ? QString::number(number + 1)
                : FedDialog::tr("row %1, column %2").arg(number / fed.columns + 1).arg(number % fed.columns + 1);
        if (const std::string& input = fed.examples[i].input; !input.empty()) {
            line += QStringLiteral("  ") + QString::fromStdString(input);
        }
        if (const std::string& target = fed.examples[i].target; !target.empty()) {
            line += QStringLiteral("  → ") + QString::fromStdString(target);
        }
        lines << line;
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace

FedDialog::FedDialog(const projects::Project& project, const std::filesystem::path& directory, QWidget* parent)
    : QDialog(parent),
      m_sheet(new QLabel(this)),
      m_pictures(new QScrollArea(this)),
      m_examples(new QPlainTextEdit(tr("Reading the data …"), this)),
      m_wanted(std::make_shared<std::atomic<bool>>(true))
{
    setObjectName(QStringLiteral("fed"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("What the network is fed first"));
    resizeWithinScreen(*this, kFedSize);
    m_sheet->setAccessibleName(tr("Pictures of the batch"));
    m_sheet->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_pictures->setWidget(m_sheet);
    m_pictures->setWidgetResizable(true);
    m_pictures->hide();
    m_examples->setAccessibleName(tr("Examples of the batch"));
    m_examples->setReadOnly(true);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_pictures, 2);
    column->addWidget(m_examples, 1);
    column->addWidget(buttons);
    inBackground(
        this,
        [project, directory, wanted = m_wanted] {
            return engine::firstFedBatch(project, directory, kMostExamples, [&wanted] { return wanted->load(); });
        },
        [this](const Result<engine::FedBatch>& fed) { showBatch(fed); });
}

FedDialog::~FedDialog()
{
    *m_wanted = false;
}

void FedDialog::showBatch(const Result<engine::FedBatch>& fed)
{
    if (!fed) {
        m_examples->setPlainText(QString::fromStdString(fed.error().text()));
        return;
    }
    m_examples->setPlainText(linesOf(*fed));
    QPixmap sheet;
    if (sheet.loadFromData(reinterpret_cast<const uchar*>(fed->sheet.data()), static_cast<uint>(fed->sheet.size()))) {
        const int times = std::max(1, kSheetWidth / std::max(1, sheet.width()));
        m_sheet->setPixmap(sheet.scaled(sheet.size() * times)); // whole times, so that pixels stay square
        m_pictures->show();
    }
}

} // namespace residua::app
