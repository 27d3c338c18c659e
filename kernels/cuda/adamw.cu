// SPDX-License-Identifier: GPL-3.0-or-later
// AdamW in two launches. A small one counts the update of each tensor and computes its factors; the other one updates
// all pieces, whose table is a kernel parameter. Each block updates kChunk elements of one piece.
#include "kernels/cuda/kernels.cuh"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/mix_args.cuh"

namespace residua::kernels::cuda {
namespace {

constexpr std::uint32_t kChunk = 8192;
constexpr int kCountedTensors = 256; ///< of one launch
constexpr int kFewPieces = 48;       ///< of one launch: parameters of at most 4 KiB are faster
constexpr int kManyPieces = 448;
constexpr int kCountThreads = 64;

/// The factors of a tensor in the accumulator's type, in the workspace.
template <class A>
struct Factors {
    A step;  ///< rate/(1 - β₁ᶜ)
    A root;  ///< sqrt(1 - β₂ᶜ)
    A decay; ///< rate·decay
};

struct CountArgs {
    std::int32_t tensors;
    double rate;
    const double* deviceRate;
    double beta1;
    double beta2;
    void* factors;
    float* updates[kCountedTensors];
    double decay[kCountedTensors];
};

template <class A>
__global__ void __launch_bounds__(kCountThreads) countUpdates(const __grid_constant__ CountArgs args)
{
    const int tensor = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (tensor >= args.tensors)
        return;
    const float updates = *args.updates[tensor] + 1.0f;
    *args.updates[tensor] = updates;
    const double rate = args.deviceRate ? *args.deviceRate : args.rate;
    const double mean = 1.0 - pow(args.beta1, double(updates));
    const double square = 1.0 - pow(args.beta2, double(updates));
    static_cast<Factors<A>*>(args.factors)[tensor] = {A(rate / mean), A(sqrt(square)), A(rate * args.decay[tensor])};
}

struct Piece {
    void* parameter;
    const void* gradient;
    void* mean;
    void* square;
    const unsigned char* held;
    Bf16* rounded;
    std::int64_t stride;
    std::uint32_t run;
    std::uint32_t elements;
    std::uint32_t firstBlock;
    std::int32_t tensor;
};

struct UpdateSettings {
    std::int32_t pieces;
    double beta1;
    double beta2;
    double epsilon;
    const float* scale;
    const float* skip;
    const void* factors;
};

template <int capacity>
struct UpdateArgs {
    UpdateSettings settings;
    Piece piece[capacity];
};
static_assert(sizeof(UpdateArgs<kFewPieces>) <= 4096 && sizeof(UpdateArgs<kManyPieces>) <= 32764);

/// The update of one element, in the order of LibTorch's fused kernel.
template <class A>
struct Rule {
    Factors<A> factors;
    A beta1;
    A beta2;
    A epsilon;
    A scale;

    __device__ void apply(A& parameter, A gradient, A& mean, A& square) const
    {
        gradient /= scale;
        if (factors.decay != 0)
            parameter -= factors.decay * parameter;
        mean = fma(beta1, mean, fma(-beta1, gradient, gradient));
        square = fma(beta2, square, fma(-beta2, gradient * gradient, gradient * gradient));
        parameter -= factors.step * mean / (sqrt(square) / factors.root + epsilon);
    }
};

/// Updates elements begin ..< end of a piece; both are multiples of L.
template <int L, class A>
__device__ inline void updateElements(const Piece& piece, const Rule<A>& rule, std::uint32_t begin, std::uint32_t end)
{
    for (std::uint32_t element = begin + threadIdx.x * L; element < end; element += kThreads * L) {
        const std::uint32_t row = element < piece.run ? 0 : element / piece.run;
        const std::int64_t at = row * piece.stride + (element - row * piece.run);
        A* const parameter = static_cast<A*>(piece.parameter) + at;
        A* const mean = static_cast<A*>(piece.mean) + at;
        A* const square = static_cast<A*>(piece.square) + at;
        A p[L], g[L], m[L], v[L];
        load(static_cast<const A*>(piece.gradient) + at, g);
        load(static_cast<const A*>(parameter), p);
        load(static_cast<const A*>(mean), m);
        load(static_cast<const A*>(square), v);
#pragma unroll
        for (int l = 0; l < L; ++l) {
            const A before = p[l];
            rule.apply(p[l], g[l], m[l], v[l]);
            if (piece.held && piece.held[at + l])
                p[l] = before;
        }
        store(parameter, p);
        if constexpr (sizeof(A) < 8)
            if (piece.rounded)
                store(piece.rounded + at, p);
        store(mean, m);
        store(square, v);
    }
}

__device__ inline bool isAligned(const void* pointer, std::size_t bytes = 16)
{
    return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

/// Returns the end of the piece's packs of four elements; 0 if it has none.
__device__ inline std::uint32_t endOfPacks(const Piece& piece)
{
    const bool aligned = isAligned(piece.parameter) && isAligned(piece.gradient) && isAligned(piece.mean) &&
                         isAligned(piece.square) && isAligned(piece.rounded, kLanes * sizeof(Bf16));
    const bool rowsAligned = piece.run == piece.elements || (piece.run % kLanes == 0 && piece.stride % kLanes == 0);
    return aligned && rowsAligned ? piece.elements / kLanes * kLanes : 0;
}

template <class A, int capacity>
__global__ void __launch_bounds__(kThreads) updatePieces(const __grid_constant__ UpdateArgs<capacity> args)
{
    const UpdateSettings& settings = args.settings;
    if (settings.skip && *settings.skip != 0)
        return;
    int low = 0;
    for (int high = settings.pieces; high - low > 1;) {
        const int middle = (low + high) / 2;
        if (args.piece[middle].firstBlock <= blockIdx.x)
            low = middle;
        else
            high = middle;
    }
    const Piece& piece = args.piece[low];
    const Rule<A> rule{static_cast<const Factors<A>*>(settings.factors)[piece.tensor], A(settings.beta1),
                       A(settings.beta2), A(settings.epsilon), settings.scale ? A(*settings.scale) : A(1)};
    const std::uint32_t begin = (blockIdx.x - piece.firstBlock) * kChunk;
    const std::uint32_t end = piece.elements - begin < kChunk ? piece.elements : begin + kChunk;
    std::uint32_t single = begin;
    // float64 is for verification, not speed, so it has only the unpacked form.
    if constexpr (sizeof(A) < 8) {
        const std::uint32_t packs = endOfPacks(piece);
        single = packs < begin ? begin : packs < end ? packs : end;
        updateElements<kLanes>(piece, rule, begin, single);
    }
    updateElements<1>(piece, rule, single, end);
}

Status validate(const AdamW& adamw)
{
    if (adamw.dataType != DataType::float32 && adamw.dataType != DataType::float64)
        return Status::badKind;
    if (adamw.tensors < 0 || adamw.pieces < 0)
        return Status::badShape;
    if ((adamw.tensors > 0 && !adamw.tensor) || (adamw.pieces > 0 && !adamw.piece))
        return Status::missingPointer;
    for (std::int32_t i = 0; i < adamw.tensors; ++i)
        if (!adamw.tensor[i].updates)
            return Status::missingPointer;
    constexpr std::int64_t kMostElements = 0x7fffffff;
    for (std::int32_t i = 0; i < adamw.pieces; ++i) {
        const AdamWPiece& piece = adamw.piece[i];
        if (piece.tensor < 0 || piece.tensor >= adamw.tensors || piece.rows < 1 || piece.run < 1 ||
            piece.run > kMostElements / piece.rows || (piece.rows > 1 && piece.stride < piece.run))
            return Status::badShape;
        if (!piece.parameter || !piece.gradient || !piece.mean || !piece.square)
            return Status::missingPointer;
        if (piece.rounded && adamw.dataType != DataType::float32)
            return Status::badKind;
    }
    const std::size_t needed = adamwWorkspace(adamw);
    return adamw.workspaceBytes < needed || (needed > 0 && !adamw.workspace) ? Status::workspaceTooSmall : Status::ok;
}

template <class A>
Status countAll(const AdamW& adamw, void* stream)
{
    Status status = Status::ok;
    for (std::int32_t first = 0; first < adamw.tensors && status == Status::ok; first += kCountedTensors) {
        const std::int32_t left = adamw.tensors - first;
        CountArgs args{left < kCountedTensors ? left : kCountedTensors,
                       adamw.rate,
                       static_cast<const double*>(adamw.deviceRate),
                       adamw.beta1,
                       adamw.beta2,
                       static_cast<Factors<A>*>(adamw.workspace) + first,
                       {},
                       {}};
        for (std::int32_t i = 0; i < args.tensors; ++i) {
            args.updates[i] = static_cast<float*>(adamw.tensor[first + i].updates);
            args.decay[i] = adamw.tensor[first + i].decay;
        }
        const unsigned blocks = unsigned(args.tensors + kCountThreads - 1) / kCountThreads;
        status = launch(countUpdates<A>, dim3(blocks), dim3(kCountThreads), 0, stream, args);
    }
    return status;
}

/// Launches the pieces from `first` on, as many as fit, and adds their number to `first`.
template <class A, int capacity>
Status updateSome(const AdamW& adamw, std::int32_t& first, void* stream)
{
    UpdateArgs<capacity> args{{0, adamw.beta1, adamw.beta2, adamw.epsilon, static_cast<const float*>(adamw.scale),
                               static_cast<const float*>(adamw.skip), adamw.workspace},
                              {}};
    std::uint32_t blocks = 0;
    std::int32_t& count = args.settings.pieces;
    // At most 2^18 blocks for one piece, so their number stays below 2^31.
    for (; count < capacity && first < adamw.pieces; ++count, ++first) {
        const AdamWPiece& piece = adamw.piece[first];
        const auto elements = std::uint32_t(piece.rows * piece.run);
        args.piece[count] = {piece.parameter,
                             piece.gradient,
                             piece.mean,
                             piece.square,
                             static_cast<const unsigned char*>(piece.held),
                             static_cast<Bf16*>(piece.rounded),
                             piece.stride,
                             std::uint32_t(piece.run),
                             elements,
                             blocks,
                             piece.tensor};
        blocks += (elements + kChunk - 1) / kChunk;
    }
    return launch(updatePieces<A, capacity>, dim3(blocks), dim3(kThreads), 0, stream, args);
}

template <class A>
Status update(const AdamW& adamw, void* stream)
{
    Status status = countAll<A>(adamw, stream);
    for (std::int32_t first = 0; first < adamw.pieces && status == Status::ok;)
        status = adamw.pieces - first <= kFewPieces ? updateSome<A, kFewPieces>(adamw, first, stream)
                                                    : updateSome<A, kManyPieces>(adamw, first, stream);
    return status;
}

} // namespace

Status adamw(const AdamW& adamw, void* stream)
{
    if (const Status status = validate(adamw); status != Status::ok)
        return status;
    return adamw.dataType == DataType::float64 ? update<double>(adamw, stream) : update<float>(adamw, stream);
}

} // namespace residua::kernels::cuda
