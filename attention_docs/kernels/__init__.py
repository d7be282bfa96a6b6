"""Fast attention: `attend` for `dot_product`, and `differentiate` for `backward`.

`selection` chooses the method by the `bounds` of the scores. `blockwise` never holds all scores in
memory and runs its blocks on `threads`.
"""

from attention_docs.kernels.selection import attend, differentiate

__all__ = ["attend", "differentiate"]
