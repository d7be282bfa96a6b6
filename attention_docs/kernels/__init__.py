"""What makes attention fast; `dot_product` needs one function of it, `attend`.

`selection` chooses the method, by the `bounds` of the scores. `blockwise` never holds all scores at
once and runs its blocks on `threads`. `fused` is cuDNN's kernel for 16-bit arrays on a GPU.
"""

from attention_docs.kernels.selection import attend

__all__ = ["attend"]
