"""ONNX's Attention operator, computed by its reference evaluator."""

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator


def attention(query, key, value, attn_mask=None, is_causal=False, scale=None, softcap=None):
    arrays = {"Q": query, "K": key, "V": value}
    if attn_mask is not None:
        arrays["attn_mask"] = attn_mask
    options = {"scale": scale, "softcap": softcap, "is_causal": int(is_causal)}
    options = {name: option for name, option in options.items() if option is not None}
    node = helper.make_node("Attention", list(arrays), ["Y"], **options)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), None)
        for name, array in arrays.items()
    ]
    output = helper.make_tensor_value_info("Y", inputs[0].type.tensor_type.elem_type, None)
    graph = helper.make_graph([node], "attention", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    return np.asarray(ReferenceEvaluator(model).run(None, arrays)[0])
