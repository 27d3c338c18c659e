# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints sets of features as JSON with their Fréchet distance by the square root of the product of covariances, which is
SciPy's where there is one, and with precision and recall as Kynkäänniemi et al. define them. Exit code 77 where there
is no NumPy."""
import json
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)
try:
    from scipy.linalg import sqrtm
except ImportError:

    def sqrtm(matrix):
        values, vectors = np.linalg.eig(matrix.astype(complex))
        return vectors @ np.diag(np.sqrt(values)) @ np.linalg.inv(vectors)


NEIGHBOURS = 3


def frechet(a, b):
    cov_a, cov_b = (np.atleast_2d(np.cov(x, rowvar=False)) for x in (a, b))
    means = np.sum((a.mean(0) - b.mean(0)) ** 2)
    return float(means + np.trace(cov_a + cov_b - 2 * sqrtm(cov_a @ cov_b).real))


def share_within(examples, others):
    """The share of `examples` within the ball of one of `others`, which reaches its third neighbour."""
    radii = [sorted(np.linalg.norm(x - y) for y in others)[NEIGHBOURS] for x in others]  # the first is x itself
    inside = [any(np.linalg.norm(x - y) <= r for y, r in zip(others, radii)) for x in examples]
    return sum(inside) / len(inside)


random = np.random.default_rng(1)
cases = []
for rows, made_rows, columns, shift in [(40, 40, 3, 0.5), (60, 25, 8, 0), (30, 50, 1, 2), (80, 80, 16, 0.2)]:
    real = random.normal(size=(rows, columns)) @ random.normal(size=(columns, columns)) + 1
    made = random.normal(size=(made_rows, columns)) @ random.normal(size=(columns, columns)) + 1 + shift
    cases.append({"real": real.tolist(), "made": made.tolist(), "distance": frechet(real, made),
                  "precision": share_within(made, real), "recall": share_within(real, made)})
json.dump(cases, sys.stdout)
