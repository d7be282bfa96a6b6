"""What attention, convolution and recurrence cost, counted for one layer.

The sizes are n tokens of d features and a kernel of k taps. The multiplications of a layer are, for
attention, the products Q K^T and A V, and separately its four `projections`; for a convolution, k
matrices of d x d at every token; for a plain recurrence, two such matrices at every token. The
`..._path` is the number of layers or time steps between the first and the last token. `n` has three
lengths: shorter than d, equal to d, and longer.

>>> show(computed(steps))
attention [32768 524288 134217728]
projections [262144 1048576 16777216]
convolution [327680 1310720 20971520]
recurrence [131072 524288 8388608]
attention_over_recurrence [0.2500 1 16]
attention_path [1 1 1]
convolution_path [8 32 512]
recurrence_path [15 63 1023]
"""

import numpy

TITLE = "Cost and path length, counted"
SOURCE = "001_7d27211e1d664477.txt, “Self-attention vs CNN”; Vaswani et al. 2017, table 1"

N = [16, 64, 1024]
D = 64
TAPS = 5


def steps(xp=numpy):
    """Return the multiplications of each kind of layer, and the path lengths, for each length n."""
    n = xp.asarray(N, dtype=xp.float64)
    return {
        "n": n,
        "d": xp.asarray(D),
        "taps": xp.asarray(TAPS),
        "attention": 2 * n**2 * D,
        "projections": 4 * n * D**2,
        "convolution": TAPS * n * D**2,
        "recurrence": 2 * n * D**2,
        "attention_over_recurrence": n / D,
        "attention_path": xp.ones_like(n),
        "convolution_path": xp.ceil(2 * (n - 1) / (TAPS - 1)),  # (TAPS - 1) / 2 tokens a layer
        "recurrence_path": n - 1,
    }
