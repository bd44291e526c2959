"""Random mini-SIMT programs with choices, loops of both shapes, loads in flight and barriers of both kinds."""

from __future__ import annotations

from itertools import count

from hypothesis import strategies as st

VARS = ("a", "b", "c")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a program whose loops mostly end."""
    labels = count()
    operand = st.sampled_from([*VARS, "Tid", "threads", "n", "0", "1", "2", "5"])

    def simple() -> list[str]:
        var, x, y = draw(st.sampled_from(VARS)), draw(operand), draw(operand)
        op = draw(st.sampled_from("+-*%<&"))
        return draw(
            st.sampled_from(
                [[f"binop {var} = {x} {op} {y}"]] * 3
                + [[f"const {var} = {x}"], [f"load {var} = {x}"], [f"store {x} = {y}"]]
            )
        )

    def block(depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(draw(st.integers(0, 3))):
            lines += statement(depth)
        return lines

    def statement(depth: int) -> list[str]:
        kind = draw(st.sampled_from(["simple"] * 4 + (["if", "else", "while", "until"] if depth else [])))
        k, branch = next(labels), draw(st.sampled_from(["bz", "bnz"]))
        var, limit = draw(st.sampled_from([*VARS, "Tid"])), draw(st.sampled_from(["2", "Tid", "n", "a"]))
        match kind:
            case "if":
                return [f"{branch} {var}, e{k}", *block(depth - 1), f"e{k}: sync"]
            case "else":
                ways = [*block(depth - 1), f"jump e{k}", f"t{k}: const c = c", *block(depth - 1)]
                return [f"{branch} {var}, t{k}", *ways, f"e{k}: sync"]
            case "while":
                head = [f"const i{k} = 0", f"l{k}: binop p = i{k} < {limit}", f"bz p, e{k}"]
                return [*head, *block(depth - 1), f"binop i{k} = i{k} + 1", f"jump l{k}", f"e{k}: sync"]
            case "until":
                tail = [f"binop i{k} = i{k} + 1", f"binop p = i{k} < {limit}", f"bnz p, l{k}", "sync"]
                return [f"const i{k} = 0", f"l{k}: const c = c", *block(depth - 1), *tail]
        return simple()

    barrier = draw(st.sampled_from([[], ["barrier 0"], ["barrier 1, threads"], ["barrier 0", "barrier 1"]]))
    lines = [".param n", ".init a = threads", ".init b = 0", ".data 0 = 3, 0, 1, 2", "const c = 1"]
    for _ in range(draw(st.integers(1, 3))):
        lines += [*block(2), *barrier]
    if draw(st.booleans()):
        rounds = ["const r = 0", "lr: binop q = r < n", "bz q, er", *block(1), *barrier, "binop r = r + 1"]
        lines += [*rounds, "jump lr", "er: sync"]
    return "\n".join(lines)
