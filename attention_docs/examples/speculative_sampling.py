"""Draft, verify, accept: a written word has the target's distribution, whatever the draft is.

`p` is the target's distribution of the word after "they fly", and `q` the draft's. Of what the
draft says, `accepted` remains, altogether `acceptance`. Otherwise the word is drawn from
`residual`. `written` is the distribution of the word that is written, by either way. `expected` is
the expected number of tokens for a pass with 0 to 7 drafted tokens, if each is accepted with the
probability `acceptance`.

Of three drafted tokens, `passes` says which pass their own test, and `kept` which are written.

`by_mistake` has the distributions of the written word after four mistakes, and `wrong_by` how much
probability they move: a rejected word is drawn from p; the draft is greedy, with its softmax as q;
the draft samples its three best words, with the distribution of all as q; every word is accepted.

>>> show(computed(steps))
p [0.3500 0.3000 0.1500 0.1000 0.1000]
q [0.2000 0.5000 0.1000 0.1500 0.0500]
ratio [1 0.6000 1 0.6667 1]
accepted [0.2000 0.3000 0.1000 0.1000 0.0500]
acceptance 0.7500
residual [0.6000 0 0.2000 0 0.2000]
written [0.3500 0.3000 0.1500 0.1000 0.1000]
expected [1 1.7500 2.3125 2.7344 3.0508 3.2881 3.4661 3.5995]
drafted_ratio [1 0.6000 1]
passes [1 0 1]
kept [1 0 0]
tokens_written 2
by_mistake 4 x 5
[[0.2875 0.3750 0.1375 0.1250 0.0750]
 [0.2400 0.6000 0.0800      0 0.0800]
 [0.4118 0.3529 0.0588 0.1176 0.0588]
 [0.2000 0.5000 0.1000 0.1500 0.0500]]
wrong_by [0.1000 0.3000 0.1324 0.2500]
"""

import numpy

TITLE = "Speculative sampling"
SOURCE = "our own example"

# The odds of each word; those of the draft are raised to the power of SHARPNESS.
TARGET_ODDS, DRAFT_ODDS = [7, 6, 3, 2, 2], [4, 10, 2, 3, 1]
SHARPNESS = [1]
BEST_WORDS = 3
# Of the drafted words: the probabilities by target and draft, and the uniform draws.
DRAFTED_P, DRAFTED_Q, DRAWS = [0.6, 0.3, 0.5], [0.5, 0.5, 0.4], [0.9, 0.7, 0.2]

WORDS = ["south", "again", "home", "inland", "today"]
DRAFTED = ["fly", "again", "soon"]
MISTAKES = ["drawn from p", "greedy draft", "q before top-k", "all accepted"]
LABELS = {
    "target_odds draft_odds p q ratio accepted residual written": (WORDS,),
    "drafted_p drafted_q draws drafted_ratio passes kept": (DRAFTED,),
    "by_mistake": (MISTAKES, WORDS),
    "wrong_by": (MISTAKES,),
}


def steps(xp=numpy):
    """Accept and resample one word, follow three drafted tokens, and make four mistakes."""
    target_odds, draft_odds, sharpness = (
        xp.asarray(numbers, dtype=xp.float64) for numbers in (TARGET_ODDS, DRAFT_ODDS, SHARPNESS)
    )
    drafted_p, drafted_q, draws = (
        xp.asarray(numbers, dtype=xp.float64) for numbers in (DRAFTED_P, DRAFTED_Q, DRAWS)
    )
    p, q = normalise(target_odds, xp), normalise(draft_odds**sharpness, xp)
    rest = residual(p, q, xp)
    accepted = minimum(p, q, xp)
    acceptance = xp.sum(accepted)
    written = write(p, q, q, rest, xp)

    drafted = xp.arange(8, dtype=xp.float64)
    all_accepted = acceptance**drafted  # the probability that the first 0 to 7 are accepted
    expected = xp.sum(xp.where(drafted[None, :] <= drafted[:, None], all_accepted, 0.0), axis=1)

    drafted_ratio = minimum(drafted_p / drafted_q, xp.ones_like(draws), xp)
    passes = xp.astype(draws < drafted_ratio, xp.float64)
    kept = xp.stack([passes[0], passes[0] * passes[1], passes[0] * passes[1] * passes[2]])

    # How many words have larger odds than each word.
    rank = xp.sum(xp.astype(q[None, :] > q[:, None], xp.float64), axis=1)
    greedy = normalise(xp.astype(rank < 1, xp.float64), xp)
    best_words = normalise(xp.where(rank < BEST_WORDS, q, 0.0), xp)
    by_mistake = xp.stack(
        [write(p, q, q, p, xp), write(p, greedy, q, rest, xp), write(p, best_words, q, rest, xp), q]
    )
    return {
        "target_odds": target_odds,
        "draft_odds": draft_odds,
        "sharpness": sharpness,
        "p": p,
        "q": q,
        "ratio": minimum(p / q, xp.ones_like(p), xp),
        "accepted": accepted,
        "acceptance": acceptance,
        "residual": rest,
        "written": written,
        "expected": expected,
        "drafted_p": drafted_p,
        "drafted_q": drafted_q,
        "draws": draws,
        "drafted_ratio": drafted_ratio,
        "passes": passes,
        "kept": kept,
        "tokens_written": 1 + xp.sum(kept),
        "by_mistake": by_mistake,
        "wrong_by": xp.sum(xp.abs(by_mistake - p), axis=1) / 2,
    }


def normalise(odds, xp):
    return odds / xp.sum(odds)


def minimum(a, b, xp):
    return xp.where(a < b, a, b)


def residual(p, q, xp):
    """Return norm(max(0, p - q)), or p if the draft is equal to the target."""
    missing = xp.where(p > q, p - q, 0.0)
    total = xp.sum(missing)
    return xp.where(total > 0, missing / xp.where(total > 0, total, 1.0), p)


def write(p, sampled, q, resampled, xp):
    """Return the distribution of a word drawn from `sampled` and accepted with min(1, p / q).

    A rejected word is replaced by one that is drawn from `resampled`.
    """
    accepted = sampled * minimum(p / q, xp.ones_like(p), xp)
    return accepted + (1 - xp.sum(accepted)) * resampled
