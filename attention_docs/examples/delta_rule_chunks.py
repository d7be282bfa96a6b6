"""The gated delta rule token by token, and in two chunks.

All sizes differ: 6 tokens, keys of 4, values of 3, chunks of 3. `strengths` are the betas, `gates`
the alphas.

`output` has a row for each token, read from the state after its write. `in_chunks` has the same
outputs, computed in chunks. The other steps compute all tokens as one chunk: `kept[r, i]` is the
part of the write of token i that the gates have left at token r. `causal_only` shows a mistake: a
causal mask in place of `kept`.

>>> show(computed(steps))
output 6 x 3
[[ 0.6000      0 1.2000]
 [ 0.3280 0.9000 0.9560]
 [ 3.0432 2.4600 0.4064]
 [-1.4061 2.8768 0.0133]
 [ 0.9824 1.2925 2.7731]
 [-0.0706 1.0991 1.3839]]
kept 6 x 6
[[     1      0      0      0      0 0]
 [0.5000      1      0      0      0 0]
 [0.4000 0.8000      1      0      0 0]
 [0.2000 0.4000 0.5000      1      0 0]
 [0.1600 0.3200 0.4000 0.8000      1 0]
 [0.0800 0.1600 0.2000 0.4000 0.5000 1]]
in_chunks 6 x 3
[[ 0.6000      0 1.2000]
 [ 0.3280 0.9000 0.9560]
 [ 3.0432 2.4600 0.4064]
 [-1.4061 2.8768 0.0133]
 [ 0.9824 1.2925 2.7731]
 [-0.0706 1.0991 1.3839]]
causal_only 6 x 3
[[ 0.6000      0 1.2000]
 [ 0.7280 0.9000 1.7560]
 [ 3.7440 2.7000 1.8880]
 [-1.4637 3.5968 0.1381]
 [ 3.5245 2.9665 6.4653]
 [ 0.9223 4.4437 5.8033]]
"""

import numpy

from attention_docs.examples.delta_rule import write_all
from attention_docs.masks import causal_mask

TITLE = "The delta rule in chunks"
SOURCE = "our own example"

Q = [[1, 0, 2, 0], [0, 1, 1, 0], [2, 0, 0, 1], [0, 0, 1, 1], [1, 2, 0, 0], [0, 2, 0, 1]]
K = [
    [0.6, 0.8, 0, 0],
    [0, 0.6, 0, 0.8],
    [1, 0, 0, 0],
    [0, 0, 0.8, 0.6],
    [0.5, 0.5, 0.5, 0.5],
    [0.8, 0, -0.6, 0],
]
V = [[1, 0, 2], [0, 3, 1], [2, 1, 0], [-1, 2, 0], [0, 2, 3], [1, -2, 1]]
STRENGTHS = [1, 0.5, 0.75, 1, 0.5, 1]
GATES = [1, 0.5, 0.8, 0.5, 0.8, 0.5]
CHUNK = 3


def decay_factors(gates, xp):
    """Return what the gates leave of the first state, (n,), and of each write, (n, n)."""
    gate_products = [gates[0]]
    for t in range(1, gates.shape[0]):
        gate_products.append(gate_products[-1] * gates[t])
    state_decay = xp.stack(gate_products)
    ratios = state_decay[:, None] / state_decay[None, :]
    is_visible = causal_mask(gates.shape[0], xp=xp)
    return state_decay, xp.where(is_visible, ratios, xp.zeros_like(ratios))


def solve_unit_triangular(matrix, right_side, xp):
    """Solve L D = R by forward substitution, and return D.

    L has the entries of `matrix` below the diagonal, ones on it, and zeros above; R is
    `right_side`.
    """
    rows = [right_side[0, :]]
    for t in range(1, right_side.shape[0]):
        rows.append(right_side[t, :] - matrix[t, :t] @ xp.stack(rows))
    return xp.stack(rows)


def one_chunk(q, k, v, strengths, gates, state, xp):
    """Apply the gated delta rule to a chunk of tokens at once, from the state before it."""
    state_decay, kept = decay_factors(gates, xp)
    # A key also recalls what earlier tokens of the chunk have corrected.
    overlaps = strengths[:, None] * (k @ k.T) * kept
    initial_errors = v - state_decay[:, None] * (k @ state)
    corrections = solve_unit_triangular(overlaps, strengths[:, None] * initial_errors, xp)
    mixing = (q @ k.T) * kept
    decayed_keys = kept[-1, :, None] * k  # by the decay from each token to the end of the chunk
    return {
        "kept": kept,
        "corrections": corrections,
        "output": state_decay[:, None] * (q @ state) + mixing @ corrections,
        "state": state_decay[-1] * state + decayed_keys.T @ corrections,
    }


def steps(xp=numpy):
    """Compute the outputs token by token, in chunks of `CHUNK` tokens, and as a single chunk."""
    q, k, v = (xp.asarray(rows, dtype=xp.float64) for rows in (Q, K, V))
    strengths, gates = (xp.asarray(row, dtype=xp.float64) for row in (STRENGTHS, GATES))
    states, _, _ = write_all(k, v, strengths, gates, xp)
    output = xp.stack([q[t, :] @ states[t + 1] for t in range(q.shape[0])])
    empty_state = states[0]
    single_chunk = one_chunk(q, k, v, strengths, gates, empty_state, xp)
    chunk_state = empty_state
    chunk_outputs = []
    for start in range(0, q.shape[0], CHUNK):
        rows = slice(start, start + CHUNK)
        chunk = one_chunk(
            q[rows, :], k[rows, :], v[rows, :], strengths[rows], gates[rows], chunk_state, xp
        )
        chunk_state = chunk["state"]
        chunk_outputs.append(chunk["output"])
    is_visible = xp.astype(causal_mask(q.shape[0], xp=xp), xp.float64)  # ones and zeros
    return {
        "Q": q,
        "K": k,
        "V": v,
        "strengths": strengths,
        "gates": gates,
        "output": output,
        "kept": single_chunk["kept"],
        "in_chunks": xp.concat(chunk_outputs),
        "causal_only": (q @ k.T * is_visible) @ single_chunk["corrections"],
    }
