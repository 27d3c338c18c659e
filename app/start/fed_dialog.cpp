// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/start/fed_dialog.h"

#include "app/engine/background.h"
#include "app/look/format.h"
#include "app/look/theme.h"
#include "visualizers/plot/arrange.h"

#include <QDialogButtonBox>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>

namespace residua::app {

namespace {

constexpr QSize kFedSize(760, 640);
constexpr int kSheetWidth = 640; ///< pixels of all pictures in a row
constexpr std::int64_t kMostExamples = 64;

} // namespace

FedDialog::FedDialog(const projects::Project& project, const std::filesystem::path& directory, QWidget* parent)
    : QDialog(parent), m_examples(new QTextBrowser(this)), m_wanted(std::make_shared<std::atomic<bool>>(true))
{
    setObjectName(QStringLiteral("fed"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("What the network is fed first"));
    resizeWithinScreen(*this, kFedSize);
    m_examples->setAccessibleName(tr("Examples of the batch"));
    m_examples->setPlainText(tr("Reading the data …"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    visualizers::makeColumn(this, {}, {m_examples, buttons});
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
    const int columns = std::max(1, static_cast<int>(fed->columns));
    m_examples->setHtml(exampleTable(*fed, *m_examples->document(), {columns, kSheetWidth / columns}));
}

} // namespace residua::app
