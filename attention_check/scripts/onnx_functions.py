"""ONNX's Attention operator, computed by its reference evaluator."""

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

FIRST_OPSET = 23  # the first version of ONNX's operators that has Attention


def attention(query, key, value, attn_mask=None, is_causal=False, scale=None, softcap=None):
    arrays = {"Q": query, "K": key, "V": value}
    if attn_mask is not None:
        arrays["attn_mask"] = attn_mask
    attributes = {"is_causal": int(is_causal)}
    if scale is not None:
        attributes["scale"] = scale
    if softcap is not None:
        attributes["softcap"] = softcap
    node = helper.make_node("Attention", list(arrays), ["Y"], **attributes)
    inputs = [tensor_info(name, array.dtype) for name, array in arrays.items()]
    graph = helper.make_graph([node], "attention", inputs, [tensor_info("Y", query.dtype)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", FIRST_OPSET)])
    (output,) = ReferenceEvaluator(model).run(None, arrays)
    return np.asarray(output)


def tensor_info(name, dtype):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape=None)
