// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a dialog that are made from the fields of a request.
#include "app/properties/field_form.h"
#include "engine/base/api/session.h"
#include "engine/runs/results/teaching.h"
#include "tests/support/test_program.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QTest>

using namespace residua;
using namespace residua::app;

namespace {

class TestFieldForm : public QObject {
    Q_OBJECT

private slots:
    void rowsReadWhatTheyShow()
    {
        engine::FactoriseRequest request;
        request.rank = projects::RankScale{0.5};
        request.method = projects::LowRankMethod::Spectral;
        request.inputs = projects::LowRankInputs::Gaussian;
        request.steps = 7;
        QWidget dialog;
        QFormLayout layout(&dialog);
        FieldForm form(layout, "of");
        form.add(request);
        QCOMPARE(labels(layout), QStringList({"From checkpoint", "Rank scale", "Method", "Fitted to", "Steps in all"}));
        form.editor<QComboBox>("from").addItem("step 3", qlonglong{3});
        form.editor<QCheckBox>("other-data").setChecked(true);
        int edits = 0;
        form.onEdited([&] { ++edits; });
        dialog.findChild<QSpinBox*>("ofSteps")->setValue(9);
        QCOMPARE(edits, 1);
        engine::FactoriseRequest read;
        form.read(read);
        QVERIFY(read.rank == request.rank && read.method == request.method && read.inputs == request.inputs);
        QVERIFY(read.steps == 9 && read.of.step == 3 && read.of.otherData == engine::OtherData::Accept);
        QCOMPARE(form.editor<QComboBox>("method").findText("Baseline"), -1); // it fits nothing
        delete &form.editor<QCheckBox>("other-data");                        // which its dialog would place
    }

    void aFolderOfAnExportIsReadWithItsFormat()
    {
        QWidget dialog;
        QFormLayout layout(&dialog);
        FieldForm form(layout, "export");
        form.add(engine::ExportRequest{});
        QCOMPARE(labels(layout), QStringList({"From checkpoint", "As", "New folder"}));
        form.editor<QLineEdit>("output").setText(" /a/b ");
        form.editor<QComboBox>("to").setCurrentIndex(2);
        engine::ExportRequest read;
        form.read(read);
        QCOMPARE(read.folder, std::filesystem::path("/a/b"));
        QVERIFY(read.format == engine::ExportFormat::Onnx);
        delete &form.editor<QCheckBox>("other-data");
    }

    /// A number has the range of its field, above an open end. A text is typed, or chosen of proposals.
    void numbersAndTextsOfATeaching()
    {
        QWidget dialog;
        QFormLayout layout(&dialog);
        FieldForm form(layout, "of");
        form.add(engine::Teaching{});
        QCOMPARE(labels(layout),
                 QStringList({"Teacher's run", "Teacher's tower", "Weight of its loss", "Temperature"}));
        form.editor<QLineEdit>("teacher").setText("/a/run");
        form.editor<QComboBox>("name").setEditText(" large ");
        auto& temperature = form.editor<QDoubleSpinBox>("temperature");
        QCOMPARE(temperature.value(), 2.0);
        QVERIFY(temperature.minimum() > 0);
        form.editor<QDoubleSpinBox>("weight").setValue(0.25);
        engine::Teaching read;
        form.read(read);
        QCOMPARE(read.run, std::filesystem::path("/a/run"));
        QCOMPARE(read.name, std::string("large"));
        QVERIFY(read.weight == 0.25 && read.temperature == 2);
    }

    /// The other requests have no dialog. To sample and to measure gaps are panels, whose controls follow the model. An
    /// import finds its paths and data from a model's name and files. Devices, a mean loss and stability are asked for
    /// without any value.
    void requestsWithRows()
    {
        QStringList with;
        eachQuery<0>(with);
        QCOMPARE(with, QStringList({"RetrofitRequest", "FactoriseRequest", "LoadWeightsRequest", "ExportRequest",
                                    "KnockoutRequest", "InterventionRequest", "VisitsRequest", "FetchCheckpoint"}));
    }

private:
    template <std::size_t index>
    static void eachQuery(QStringList& with)
    {
        if constexpr (index < std::variant_size_v<engine::Command>) {
            using Query = std::variant_alternative_t<index, engine::Command>;
            if constexpr (engine::kIsQuery<Query>) {
                bool hasRow = false;
                projects::Fields<Query>::visit(
                    [&](const projects::Field& field, auto) { hasRow = hasRow || !field.title.empty(); });
                const QString name = QString::fromLatin1(QMetaType::fromType<Query>().name()).section("::", -1);
                with << (hasRow ? QStringList(name) : QStringList());
            }
            eachQuery<index + 1>(with);
        }
    }

    static QStringList labels(const QFormLayout& layout)
    {
        QStringList texts;
        for (int row = 0; row < layout.rowCount(); ++row) {
            texts << static_cast<QLabel*>(layout.itemAt(row, QFormLayout::LabelRole)->widget())->text();
        }
        return texts;
    }
};

} // namespace

RESIDUA_TEST_IN(QApplication, TestFieldForm)
#include "tst_field_form.moc"
