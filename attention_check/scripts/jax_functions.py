"""A layer of Equinox for the check, on one sequence and without a batch."""

import equinox
import jax

equinox_layer = equinox.nn.MultiheadAttention(3, 6, use_query_bias=True, key=jax.random.key(0))
