"""A tiny transformer translates "the car is green ." into "la voiture est verte .".

n = 5 source tokens, m = 4 target tokens so far, d_model = 6, two heads of three, a hidden layer of
7, a vocabulary of 8. Every sublayer is LayerNorm(x + sublayer(x)), as in the paper. To keep the
example small, the five norms share one gain and one shift, encoder and decoder share W_1 and W_2,
nothing else has a bias, and no positions are added. The three attentions take their inputs from:

- encoder self-attention: Q, K and V from the source;
- decoder self-attention: Q, K and V from the target, with the causal mask;
- cross-attention: Q from the target, K and V from the encoder's output, `memory`.

Steps that end in `_weights_1` and `_weights_2` are the weights of the two heads of an attention.
The mean, the variance, the hidden layer and its output are steps of the encoder only.

>>> show(computed(steps))
encoder_weights_1 5 x 5
[[0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.0278 0.0278 0.0278 0.0278 0.8887]
 [0.0278 0.0278 0.0278 0.0278 0.8887]
 [0.0278 0.0278 0.0278 0.0278 0.8887]]
encoder_weights_2 5 x 5
[[0.0278 0.0278 0.0278 0.0278 0.8887]
 [0.0278 0.0278 0.0278 0.0278 0.8887]
 [0.0278 0.0278 0.0278 0.0278 0.8887]
 [0.0278 0.0278 0.0278 0.0278 0.8887]
 [0.0278 0.0278 0.0278 0.0278 0.8887]]
encoder_attended 5 x 6
[[0 0 0 0 0.9165 0]
 [0 0 0 0 0.9165 0]
 [0 0 0 0 0.0556 0]
 [0 0 0 0 0.0556 0]
 [0 0 0 0 0.0556 0]]
encoder_sum 5 x 6
[[1 0 0 0 0.9165 0]
 [0 1 0 0 1.9165 0]
 [0 0 1 0 0.0556 0]
 [0 0 0 1 0.0556 0]
 [0 0 0 0 0.0556 1]]
encoder_mean [0.3194 0.4861 0.1759 0.1759 0.1759]
encoder_variance [0.2046 0.5426 0.1362 0.1362 0.1362]
encoder_normed 5 x 6
[[ 3.5088 -0.9122 -0.9122 -0.9122 2.4799 -0.9122]
 [-0.8198  1.8953 -0.8198 -0.8198 3.4129 -0.8198]
 [-0.4533 -0.4533  4.9652 -0.4533 0.0111 -0.4533]
 [-0.4533 -0.4533 -0.4533  4.9652 0.0111 -0.4533]
 [-0.4533 -0.4533 -0.4533 -0.4533 0.0111  4.9652]]
encoder_hidden 5 x 7
[[3.5088      0      0      0 2.4799 0      0]
 [     0 1.8953      0      0 3.4129 0      0]
 [     0      0 4.9652      0 0.0111 0      0]
 [     0      0      0 4.9652 0.0111 0      0]
 [     0      0      0      0 0.0111 0 4.9652]]
encoder_fed 5 x 6
[[1.7544      0      0      0 1.2400      0]
 [     0 0.9477      0      0 1.7065      0]
 [     0      0 2.4826      0 0.0056      0]
 [     0      0      0 2.4826 0.0056      0]
 [     0      0      0      0 0.0056 2.4826]]
memory 5 x 6
[[ 3.8830 -0.8931 -0.8931 -0.8931 2.1420 -0.8931]
 [-0.8581  2.2503 -0.8581 -0.8581 3.2616 -0.8581]
 [-0.4574 -0.4574  4.9644 -0.4574 0.0238 -0.4574]
 [-0.4574 -0.4574 -0.4574  4.9644 0.0238 -0.4574]
 [-0.4574 -0.4574 -0.4574 -0.4574 0.0238  4.9644]]
decoder_weights_1 4 x 4
[[     1      0      0      0]
 [0.9696 0.0304      0      0]
 [0.9411 0.0295 0.0295      0]
 [0.0286 0.0286 0.9142 0.0286]]
decoder_weights_2 4 x 4
[[     1      0      0      0]
 [0.9696 0.0304      0      0]
 [0.9411 0.0295 0.0295      0]
 [0.9142 0.0286 0.0286 0.0286]]
decoder_attended [[0 0 0 0 0 0] [0 0 0 0 0.0911 0] [0 0 0 0 0.1767 0] [0 0 0 0 1.9428 0]]
decoder_normed 4 x 6
[[-0.3944 -0.3944 -0.3944 -0.3944 -0.1708  4.9720]
 [ 3.1399 -0.9122 -0.9122 -0.9122  2.7566 -0.9122]
 [-0.9072  2.9717 -0.9072 -0.9072  2.8680 -0.9072]
 [-0.8165 -0.8165  1.8677 -0.8165  3.4237 -0.8165]]
cross_W_Q_1 [[0 1 0] [0 0 1] [0 0 1] [0 0 1] [0 0 0] [1 0 0]]
cross_W_K_1 [[0.5000 0 0] [0 0.5000 0] [0 0 0] [0 0 0] [0 0 0] [0 0 0.5000]]
cross_Q_1 4 x 3
[[ 4.9720 -0.3944 -1.1832]
 [-0.9122  3.1399 -2.7365]
 [-0.9072 -0.9072  1.1572]
 [-0.8165 -0.8165  0.2347]]
cross_K_1 5 x 3
[[ 1.9415 -0.4465 -0.4465]
 [-0.4291  1.1252 -0.4291]
 [-0.2287 -0.2287 -0.2287]
 [-0.2287 -0.2287 -0.2287]
 [-0.2287 -0.2287  2.4822]]
cross_scaled_1 4 x 5
[[ 5.9799 -1.1948 -0.4482 -0.4482 -2.3000]
 [-1.1265  2.9436  0.0672  0.0672 -4.2158]
 [-1.0814 -0.6513  0.0868  0.0868  1.8980]
 [-0.7652 -0.3863  0.1846  0.1846  0.5520]]
cross_weights_1 4 x 5
[[0.9958 0.0008 0.0016 0.0016 0.0003]
 [0.0151 0.8845 0.0498 0.0498 0.0007]
 [0.0349 0.0537 0.1123 0.1123 0.6869]
 [0.0880 0.1285 0.2275 0.2275 0.3285]]
cross_weights_2 4 x 5
[[0.9962 0.0037 3.5e-05 3.5e-05 3.5e-05]
 [0.9843 0.0145  0.0004  0.0004  0.0004]
 [0.0001 0.0018  0.9935  0.0023  0.0023]
 [0.0019 0.0123  0.0143  0.9571  0.0143]]
cross_attended 4 x 6
[[15.4571 -3.5566 -3.5708 -3.5708 3.2032 -3.5708]
 [-2.9852  7.7244 -3.5588 -3.5588 4.3797 -3.5588]
 [-1.3094 -1.3090 19.7124 -1.7829 0.4074 -1.7829]
 [-0.5078 -0.5907 -1.5416 18.9051 0.9396 -1.5416]]
cross_normed 4 x 6
[[ 4.5717 -1.0409 -1.0451 -1.0451 0.8904  0.5390]
 [ 0.5155  3.1164 -1.2916 -1.2916 2.5573 -1.2916]
 [-0.7981  0.2280  4.7621 -0.9233 0.6159 -0.9233]
 [-0.7015 -0.7248 -0.2373  4.7577 0.7985 -0.9921]]
output 4 x 6
[[ 4.7017 -0.9432 -0.9462 -0.9462 0.6914  0.3785]
 [ 0.3971  3.5269 -1.2593 -1.2593 2.2655 -1.2593]
 [-0.7334  0.0661  4.8357 -0.8213 0.4806 -0.8213]
 [-0.6527 -0.6690 -0.3280  4.8300 0.6318 -0.8561]]
logits 4 x 8
[[6.0846  3.3188 0.4397 -2.3261 -0.9462 0.4367 -2.3291  0.3785]
 [4.9282 -4.1339 8.0579 -1.0042 -1.2593 3.2717 -5.7904 -1.2593]
 [0.2278 -1.6946 1.0273 -0.8951  4.8357 0.1400 -1.7825 -0.8213]
 [0.6110 -1.9164 0.5947 -1.9327 -0.3280 6.0937  3.5664 -0.8561]]
probabilities 4 x 8
[[0.9305  0.0586 0.0033 0.0002 0.0008 0.0033  0.0002 0.0031]
 [0.0416 4.8e-06 0.9502 0.0001 0.0001 0.0079 9.2e-07 0.0001]
 [0.0095  0.0014 0.0211 0.0031 0.9516 0.0087  0.0013 0.0033]
 [0.0038  0.0003 0.0037 0.0003 0.0015 0.9163  0.0732 0.0009]]
loop_probabilities 5 x 8
[[0.9305  0.0586 0.0033 0.0002 0.0008 0.0033  0.0002 0.0031]
 [0.0416 4.8e-06 0.9502 0.0001 0.0001 0.0079 9.2e-07 0.0001]
 [0.0095  0.0014 0.0211 0.0031 0.9516 0.0087  0.0013 0.0033]
 [0.0038  0.0003 0.0037 0.0003 0.0015 0.9163  0.0732 0.0009]
 [0.0100  0.0013 0.0100 0.0013 0.0033 0.0185  0.0024 0.9531]]
"""

import numpy

from attention_docs.multi_head import MultiHeadAttention
from attention_docs.softmax import softmax

TITLE = "A transformer translates a sentence"
SOURCE = "002_d7461449c953e4ff.txt, “Encoder and Decoder”, an empty heading; Vaswani et al. 2017"

SOURCE_WORDS = ["the", "car", "is", "green", "."]
TARGET_WORDS = ["start", "la", "voiture", "est"]
VOCABULARY = ["la", "le", "voiture", "livre", "est", "verte", "vert", "."]
FEATURES = ["article", "noun", "verb", "adjective", "feminine", "mark"]
CROSS_FEATURES_1 = ["article", "noun", "mark"]  # what head 1 of the cross-attention looks for
HIDDEN_FEATURES = ["article", "noun", "verb", "adjective", "feminine", "masculine", "mark"]

SOURCE_TOKENS = [
    [1, 0, 0, 0, 0, 0],
    [0, 1, 0, 0, 1, 0],
    [0, 0, 1, 0, 0, 0],
    [0, 0, 0, 1, 0, 0],
    [0, 0, 0, 0, 0, 1],
]
TARGET_TOKENS = [[0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0]]
FIFTH_TOKEN = [0, 0, 0, 1, 1, 0]
GAIN = [2, 2, 2, 2, 1.5, 2]
SHIFT = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
EPSILON = 1e-5  # keeps the norm of a constant row finite

# W_Q, W_K, W_V and W_O of both self-attentions and of the cross-attention.
ENCODER = (
    [
        [3, 0, 0, 0, 0, 3],
        [0, 3, 0, 0, 0, 3],
        [0, 0, 3, 0, 0, 3],
        [0, 0, 3, 0, 0, 3],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 3, 0, 0, 3],
    ],
    [
        [0, 0, 0, 0, 0, 0],
        [2, 2, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 2, 0, 0, 2],
    ],
    [
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [1, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ],
    [
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ],
)
DECODER = (
    [
        [0, 0, 3, 0, 0, 3],
        [0, 0, 3, 0, 0, 3],
        [3, 0, 0, 0, 0, 3],
        [0, 0, 3, 0, 0, 3],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 3, 0, 0, 3],
    ],
    [
        [0, 0, 0, 0, 0, 0],
        [2, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 2, 0, 0, 2],
    ],
    [
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [2, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ],
    [
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ],
)
CROSS = (
    [
        [0, 1, 0, -0.5, -0.5, -0.5],
        [0, 0, 1, 1, 0, 0],
        [0, 0, 1, 0, 1, 0],
        [0, 0, 1, 0, 0, 1],
        [0, 0, 0, 0, 0, 0],
        [1, 0, 0, -0.5, -0.5, -0.5],
    ],
    [
        [0.5, 0, 0, -0.25, -0.25, -0.25],
        [0, 0.5, 0, 0, 0, 0],
        [0, 0, 0, 0.5, 0, 0],
        [0, 0, 0, 0, 0.5, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0.5, 0, 0, 0.5],
    ],
    [
        [4, 0, 0, 0, 0, 0],
        [0, 4, 0, 0, 0, 0],
        [0, 0, 0, 4, 0, 0],
        [0, 0, 0, 0, 4, 0],
        [0, 0, 1.5, 0, 0, 0],
        [0, 0, 0, 0, 0, 4],
    ],
    [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1],
    ],
)
W_1 = [
    [1, 0, 0, 0, 0, 0, 0],
    [0, 1, 0, 0, 0, 0, 0],
    [0, 0, 1, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 0, 0],
    [0, 0, 0, 0, 1, -1, 0],
    [0, 0, 0, 0, 0, 0, 1],
]
W_2 = [
    [0.5, 0, 0, 0, 0, 0],
    [0, 0.5, 0, 0, 0, 0],
    [0, 0, 0.5, 0, 0, 0],
    [0, 0, 0, 0.5, 0, 0],
    [0, 0, 0, 0, 0.5, 0],
    [0, 0, 0, 0, -0.5, 0],
    [0, 0, 0, 0, 0, 0.5],
]
W_VOCABULARY = [
    [1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 1, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 1, 1, 0],
    [2, -2, 2, -2, 0, 2, -2, 0],
    [0, 0, 0, 0, 0, 0, 0, 1],
]

LABELS = {
    "X encoder_attended encoder_sum encoder_normed encoder_fed memory": (SOURCE_WORDS, FEATURES),
    "Y decoder_attended decoder_normed cross_attended cross_normed": (TARGET_WORDS, FEATURES),
    "output": (TARGET_WORDS, FEATURES),
    **{
        f"{attention}_W_{letter}": (FEATURES, [])
        for attention in ("encoder", "decoder", "cross")
        for letter in "QKV"
    },
    "gain shift": (FEATURES,),
    "encoder_weights_1 encoder_weights_2": (SOURCE_WORDS, SOURCE_WORDS),
    "encoder_mean encoder_variance": (SOURCE_WORDS,),
    "W_1": (FEATURES, HIDDEN_FEATURES),
    "W_2": (HIDDEN_FEATURES, FEATURES),
    "encoder_hidden": (SOURCE_WORDS, HIDDEN_FEATURES),
    "decoder_weights_1 decoder_weights_2": (TARGET_WORDS, TARGET_WORDS),
    "cross_W_Q_1 cross_W_K_1": (FEATURES, CROSS_FEATURES_1),
    "cross_Q_1": (TARGET_WORDS, CROSS_FEATURES_1),
    "cross_K_1": (SOURCE_WORDS, CROSS_FEATURES_1),
    "cross_scaled_1 cross_weights_1 cross_weights_2": (TARGET_WORDS, SOURCE_WORDS),
    "W_vocabulary": (FEATURES, VOCABULARY),
    "logits probabilities": (TARGET_WORDS, VOCABULARY),
    "loop_probabilities": ([*TARGET_WORDS, "verte"], VOCABULARY),
}


def steps(xp=numpy):
    """Return the steps for the sentence about the car.

    `loop_probabilities` have a fifth target token, “verte”, after which the loop ends.
    """
    model = Transformer(xp)
    encoded = model.encode(floats(xp, SOURCE_TOKENS))
    memory = encoded["memory"]
    target = floats(xp, TARGET_TOKENS)
    longer_target = xp.concat([target, floats(xp, [FIFTH_TOKEN])])
    return {
        "gain": model.gain,
        "shift": model.shift,
        **encoded,
        **model.decode(target, memory),
        "loop_probabilities": model.decode(longer_target, memory)["probabilities"],
    }


class Transformer:
    """One encoder layer and one decoder layer."""

    def __init__(self, xp):
        self.xp = xp
        self.encoder = attention_layer(xp, ENCODER)
        self.decoder = attention_layer(xp, DECODER)
        self.cross = attention_layer(xp, CROSS)
        self.w_1 = floats(xp, W_1)
        self.w_2 = floats(xp, W_2)
        self.w_vocabulary = floats(xp, W_VOCABULARY)
        self.gain = floats(xp, GAIN)
        self.shift = floats(xp, SHIFT)

    def encode(self, x):
        """Return the steps of the encoder; `memory` is its output."""
        self_attention = self.encoder.steps(x, x, x)
        summed = x + self_attention.output
        normed = self.layer_norm(summed)
        hidden, network_output = self.feed_forward(normed)
        return {
            "X": x,
            **matrix_steps("encoder", self.encoder),
            **weight_steps("encoder", self_attention),
            "encoder_attended": self_attention.output,
            "encoder_sum": summed,
            "encoder_mean": self.mean(summed)[:, 0],
            "encoder_variance": self.variance(summed)[:, 0],
            "encoder_normed": normed,
            "W_1": self.w_1,
            "W_2": self.w_2,
            "encoder_hidden": hidden,
            "encoder_fed": network_output,
            "memory": self.layer_norm(normed + network_output),
        }

    def decode(self, y, memory):
        """Return the steps of the decoder; row i of `probabilities` predicts token i + 1."""
        self_attention = self.decoder.steps(y, y, y, is_causal=True)
        normed = self.layer_norm(y + self_attention.output)
        cross_attention = self.cross.steps(normed, memory, memory)
        cross_normed = self.layer_norm(normed + cross_attention.output)
        _, network_output = self.feed_forward(cross_normed)
        output = self.layer_norm(cross_normed + network_output)
        logits = output @ self.w_vocabulary
        return {
            "Y": y,
            **matrix_steps("decoder", self.decoder),
            **weight_steps("decoder", self_attention),
            "decoder_attended": self_attention.output,
            "decoder_normed": normed,
            **matrix_steps("cross", self.cross),
            "cross_W_Q_1": self.cross.W_Q[:, :3],  # the columns of head 1
            "cross_W_K_1": self.cross.W_K[:, :3],
            "cross_Q_1": cross_attention.Q[0, :, :],
            "cross_K_1": cross_attention.K[0, :, :],
            "cross_scaled_1": cross_attention.attention.scaled[0, :, :],
            **weight_steps("cross", cross_attention),
            "cross_attended": cross_attention.output,
            "cross_normed": cross_normed,
            "output": output,
            "W_vocabulary": self.w_vocabulary,
            "logits": logits,
            "probabilities": softmax(logits),
        }

    def layer_norm(self, rows):
        """Normalise each row, then apply gain and shift by feature."""
        deviations = rows - self.mean(rows)
        return self.gain * deviations / self.xp.sqrt(self.variance(rows) + EPSILON) + self.shift

    def mean(self, rows):
        return self.xp.mean(rows, axis=-1, keepdims=True)

    def variance(self, rows):
        return self.xp.mean((rows - self.mean(rows)) ** 2, axis=-1, keepdims=True)

    def feed_forward(self, rows):
        """Return the hidden layer after its ReLU, and the output of the network."""
        hidden_inputs = rows @ self.w_1
        hidden = self.xp.where(hidden_inputs > 0, hidden_inputs, self.xp.zeros_like(hidden_inputs))
        return hidden, hidden @ self.w_2


def floats(xp, literal):
    return xp.asarray(literal, dtype=xp.float64)


def attention_layer(xp, matrices):
    """Return an attention layer of two heads."""
    return MultiHeadAttention(*(floats(xp, matrix) for matrix in matrices), num_heads=2)


def matrix_steps(name, layer):
    """Return the four matrices of a layer as steps that start with its name."""
    return {f"{name}_W_{letter}": getattr(layer, f"W_{letter}") for letter in "QKVO"}


def weight_steps(name, layer_steps):
    """Return the weights of both heads of a layer as steps that start with its name."""
    weights = layer_steps.attention.weights
    return {f"{name}_weights_1": weights[0, :, :], f"{name}_weights_2": weights[1, :, :]}
