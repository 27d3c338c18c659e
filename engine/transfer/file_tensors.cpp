// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/transfer/file_tensors.h"

#include "engine/api/export_format.h"
#include "engine/train/tensor_io.h"
#include "projects/base/text.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <map>
#include <new>
#include <set>
#include <utility>

namespace residua::engine {
namespace {

using projects::FileTensor;

constexpr std::size_t kMostNamed = 6; ///< in a message

/// "3 tensors are missing: a, b, c", and in `all` a line for each.
void tell(std::string& text, std::vector<std::string>& all, const std::vector<std::string>& names,
          const std::string& one, const std::string& many)
{
    if (names.empty()) {
        return;
    }
    for (const std::string& name : names) {
        all.push_back(one + ": " + name);
    }
    text += (text.empty() ? "" : "; ") + std::to_string(names.size()) + " " + (names.size() == 1 ? one : many) + ": ";
    for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    text += names.size() > kMostNamed ? ", … (residua-cli import --json lists all)" : "";
}

std::vector<std::int64_t> shapeInFile(const FileTensor& tensor, const std::vector<at::Tensor>& parameters)
{
    std::vector<std::int64_t> shape = parameters.front().sizes().vec();
    for (std::size_t i = 1; i < parameters.size(); ++i) {
        shape.front() += parameters[i].size(0);
    }
    if (tensor.transposed) {
        std::swap(shape.front(), shape.back());
    }
    return shape;
}

class TensorFinder {
public:
    TensorFinder(const TensorFiles& files, std::vector<NamedParameter>& parameters, std::string prefix)
        : m_files(files), m_prefix(std::move(prefix))
    {
        for (const NamedParameter& parameter : parameters) {
            m_parameters[parameter.name] = parameter.tensor;
        }
    }

    TensorFit find(std::vector<FileTensor> tensors)
    {
        for (FileTensor& tensor : tensors) {
            add(std::move(tensor));
        }
        for (const auto& [name, stored] : m_files.tensors()) {
            if (!m_used.contains(name)) {
                m_fit.unused.push_back(name);
            }
        }
        return std::move(m_fit);
    }

private:
    void add(FileTensor tensor)
    {
        std::vector<at::Tensor> parameters;
        for (const std::string& name : tensor.parameters) {
            if (const auto found = m_parameters.find(name); found != m_parameters.end()) {
                parameters.push_back(found->second);
            }
        }
        if (parameters.size() != tensor.parameters.size()) {
            return; // a bias that the config leaves out, say; in the files it is unused
        }
        std::string name = tensor.name;
        if (!m_files.tensors().contains(name) && name.starts_with(m_prefix)) {
            name = name.substr(m_prefix.size());
        }
        const auto stored = m_files.tensors().find(name);
        if (stored == m_files.tensors().end()) {
            m_fit.missing.push_back(std::move(tensor));
            return;
        }
        m_used.insert(name);
        const TensorPlace& place = stored->second.place;
        const std::vector<std::int64_t> expected = shapeInFile(tensor, parameters);
        if (place.shape != expected) {
            m_fit.contradictions.push_back(
                {std::move(tensor), name, "got " + shapeText(place.shape) + ", expected " + shapeText(expected)});
        } else if (!isWeightType(place.type)) {
            m_fit.contradictions.push_back(
                {std::move(tensor), name,
                 std::string("got ") + nameOf(place.type) + ", expected " + weightTypeNames()});
        } else {
            m_fit.transfers.push_back({std::move(tensor), name, std::move(parameters), stored->second});
        }
    }

    const TensorFiles& m_files;
    const std::string m_prefix;
    std::map<std::string, at::Tensor> m_parameters;
    std::set<std::string> m_used;
    TensorFit m_fit;
};

/// The rows of each parameter, wherever they lie in `whole`, which is not transposed any more.
std::vector<at::Tensor> rowsOf(const FileTensor& tensor, const at::Tensor& whole,
                               const std::vector<at::Tensor>& parameters)
{
    const at::Tensor grouped = whole.unflatten(0, {tensor.groups, -1}); // [groups, rows of all, …]
    std::vector<at::Tensor> rows;
    std::int64_t begin = 0;
    for (const at::Tensor& parameter : parameters) {
        const std::int64_t own = parameter.size(0) / tensor.groups;
        rows.push_back(grouped.narrow(1, begin, own).flatten(0, 1));
        begin += own;
    }
    return rows;
}

} // namespace

TensorFit fitOf(const TensorFiles& files, std::vector<FileTensor> tensors, std::vector<NamedParameter>& parameters,
                const std::string& prefix)
{
    return TensorFinder(files, parameters, prefix).find(std::move(tensors));
}

Result<std::vector<TensorTransfer>> transfersOf(const TensorFiles& files, const projects::Decoder& decoder,
                                                std::vector<NamedParameter>& parameters, const std::string& place,
                                                std::vector<std::string>& all)
{
    const std::string prefix(projects::findDecoderKind(decoder.kind)->prefix);
    TensorFit fit = fitOf(files, projects::fileTensorsOf(decoder), parameters, prefix);
    std::vector<std::string> contradictions;
    for (const TensorFit::Contradiction& each : fit.contradictions) {
        contradictions.push_back(each.name + " " + each.what);
    }
    std::vector<std::string> missing;
    for (const FileTensor& tensor : fit.missing) {
        missing.push_back(tensor.name);
    }
    std::vector<std::string> unused;
    for (const std::string& name : fit.unused) {
        if (!projects::isRedundant(decoder, name)) {
            const bool told = unused.size() < kMostNamed; // a distance of texts takes its time
            const std::string_view meant = told ? nearest(name, missing) : std::string_view();
            unused.push_back(meant.empty() ? name
                                           : name + " (the nearest that is missing: " + std::string(meant) + ")");
        }
    }
    std::string text;
    tell(text, all, contradictions, "tensor is not as config.json says", "tensors are not as config.json says");
    tell(text, all, missing, "tensor is missing", "tensors are missing");
    tell(text, all, unused, "tensor is none of this architecture's", "tensors are none of this architecture's");
    return text.empty() ? Result<std::vector<TensorTransfer>>(std::move(fit.transfers)) : Error{place, text};
}

Status transfer(const TensorFiles& files, const TensorTransfer& transfer)
{
    const at::NoGradGuard noGrad;
    const TensorPlace& place = transfer.stored.place;
    at::Tensor first = transfer.parameters.front();
    const bool asItLies = transfer.parameters.size() == 1 && !transfer.tensor.transposed && first.is_cpu() &&
                          first.is_contiguous() && first.scalar_type() == at::kFloat && place.type == StoredType::F32;
    if (asItLies) {
        return files.read(transfer.stored, {static_cast<std::byte*>(first.mutable_data_ptr()), first.nbytes()});
    }
    const std::unique_ptr<std::byte[]> bytes(new (std::nothrow) std::byte[place.bytes]);
    if (!bytes) {
        return Error{transfer.name, "there is no memory for its " + std::to_string(place.bytes) + " bytes"};
    }
    const std::span<std::byte> all(bytes.get(), place.bytes);
    if (Status read = files.read(transfer.stored, all); !read) {
        return read;
    }
    const at::Tensor stored = viewOf({place.type, place.shape, all});
    const std::vector<at::Tensor> rows =
        rowsOf(transfer.tensor, transfer.tensor.transposed ? stored.t() : stored, transfer.parameters);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        at::Tensor parameter = transfer.parameters[i];
        parameter.copy_(rows[i]);
    }
    return Done{};
}

at::Tensor packed(const FileTensor& tensor, const std::vector<at::Tensor>& parameters)
{
    at::Tensor whole = parameters.front();
    if (parameters.size() > 1) {
        std::vector<at::Tensor> grouped;
        for (const at::Tensor& parameter : parameters) {
            grouped.push_back(parameter.unflatten(0, {tensor.groups, -1}));
        }
        whole = at::cat(grouped, 1).flatten(0, 1);
    }
    return (tensor.transposed ? whole.t() : whole).contiguous();
}

} // namespace residua::engine
