"""Forms of checker/oracles/forms.py against the functions of proofs/coq/Forms.v, which are proved right: random
expressions over unknowns with random bounds. At each operator both have to make the same form of the same operands, to
note the same of new atoms, and to know the same bounds. Coq does the comparing.

An atom of Coq is its key. What Python has more, the numbers of atoms, which say in which order terms stand, and the
table of bounds before the operator, is given to Coq with each case.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from checker.oracles.forms import Atoms, Form, Interval, Mono, Number, minus, plus, scaled, times

UNARY: Final = {"neg": "Neg", "~": "BitNot", "!": "Not", "int": "ToInt", "bool": "ToBool", "abs": "Abs"}
BINARY: Final = {
    "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "%": "Mod", "<<": "Shl", ">>": "Shr", "&": "BitAnd", "|": "BitOr",
    "^": "BitXor", "min": "Min", "max": "Max", "<": "Lt", "<=": "Le", ">": "Gt", ">=": "Ge", "==": "Eq", "!=": "Ne",
    "&&": "And", "||": "Or",
}  # fmt: skip
COMPARING: Final = ("<", "<=", ">", ">=", "==", "!=")
NUMBERS: Final = (
    -33,
    -32,
    -8,
    -5,
    -4,
    -2,
    -1,
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    12,
    15,
    16,
    31,
    32,
    33,
    48,
    63,
    64,
    65,
    96,
    128,
)

HEAD: Final = """From Coq Require Import ZArith List Bool String.
From Warpbound Require Import Syntax Forms.
Import ListNotations.
Open Scope Z_scope.

Definition op2_dec (o p : op2) : {o = p} + {o <> p}. Proof. decide equality; apply string_dec. Defined.
Definition lists {A} (eq : A -> A -> bool) := fix go l k :=
  match l, k with [], [] => true | x :: l, y :: k => eq x y && go l k | _, _ => false end.
Fixpoint equal (a b : num) : bool :=
  let '(Num ts c) := a in let '(Num us d) := b in
  (c =? d) && lists (fun m n => (snd m =? snd n) && lists equal_atom (fst m) (fst n)) ts us
with equal_atom (x y : atom) : bool :=
  match x, y with
  | Unknown n, Unknown k => Nat.eqb n k
  | AFloor a k, AFloor b l | AResidue a k, AResidue b l => (k =? l) && equal a b
  | ANonneg a, ANonneg b | AZero a, AZero b => equal a b
  | AOp2 o a b, AOp2 p c d => (if op2_dec o p then true else false) && equal a c && equal b d
  | AOp3 Choose a b c, AOp3 Choose d e f => equal a d && equal b e && equal c f
  | _, _ => false
  end.

(* The numbers of atoms, and terms in their order *)
Fixpoint place (x : atom) (l : list atom) : nat :=
  match l with [] => O | y :: l => if equal_atom x y then O else S (place x l) end.
Fixpoint put_atom (x : nat * atom) (m : list (nat * atom)) :=
  match m with [] => [x] | y :: k => if Nat.leb (fst x) (fst y) then x :: m else y :: put_atom x k end.
Fixpoint order (a b : list (nat * atom)) : comparison :=
  match a, b with
  | [], [] => Datatypes.Eq | [], _ => Datatypes.Lt | _, [] => Datatypes.Gt
  | x :: a, y :: b => match Nat.compare (fst x) (fst y) with Datatypes.Eq => order a b | c => c end
  end.
Fixpoint put_term (m : list (nat * atom)) (q : Z) (ts : list (list (nat * atom) * Z)) :=
  match ts with
  | [] => [(m, q)]
  | (n, r) :: more => match order m n with
                      | Datatypes.Lt => (m, q) :: ts
                      | Datatypes.Eq => (n, q + r) :: more
                      | Datatypes.Gt => (n, r) :: put_term m q more
                      end
  end.
Definition ordered (atoms : list atom) (ts : list (list atom * Z)) : list (list atom * Z) :=
  let numbered m := fold_right (fun x => put_atom (place x atoms, x)) [] m in
  map (fun t => (map snd (fst t), snd t))
    (filter (fun t => negb (snd t =? 0)) (fold_right (fun t => put_term (numbered (fst t)) (snd t)) [] ts)).

Definition both_ends (i j : interval) : bool :=
  let eq x y := match x, y with Some x, Some y => x =? y | None, None => true | _, _ => false end in
  eq (fst i) (fst j) && eq (snd i) (snd j).
Definition known_table (atoms : list atom) (sizes : list interval) (rows : list (num * interval)) : table :=
  let of_row ts := find (fun r => equal (fst r) (Num ts 0)) rows in
  Table (ordered atoms)
    (rowed (fun x => nth (place x atoms) sizes (None, None))
       (fun ts => match of_row ts with Some r => snd r | None => (None, None) end)).
Definition near_as (r s : option (Z * Z)) : bool :=
  match r, s with
  | Some (l, h), Some (m, k) => (l =? m) && (h =? k) | None, None => true | _, _ => false
  end.
Definition nowhere : calls := fun _ _ => VInt 0.
Definition among (l k : list num) : bool := forallb (fun a => existsb (equal a) k) l.
Definition gives (r : num * list num) (a : num) (notes : list num) : bool :=
  equal (fst r) a && among (snd r) notes && among notes (snd r).
"""


@dataclass
class Recorder(Atoms):
    """Atoms that write down what an operator notes of them."""

    notes: list[Number] = field(default_factory=list)
    told: list[tuple[int, int, Interval]] = field(default_factory=list)
    """Of each narrowing that a fact brings: the factor, the most of the rest, and the bounds."""
    made: list[Interval] = field(default_factory=list)
    """The bounds that each atom had when it was made."""
    _learning: tuple[Number, ...] = ()

    def atom(self, key: Hashable, low: int | None = None, high: int | None = None) -> Number:
        found = super().atom(key, low, high)
        number = self.numbers[key]
        self.made += self.sizes[len(self.made) :]
        self.notes += [Form((((number,), 1),), -low)] if low is not None else []
        self.notes += [Form((((number,), -1),), high)] if high is not None else []
        return found

    def at_least(self, a: Number) -> None:
        self.notes.append(a)
        self._learning = (a,)
        super().at_least(a)
        self._learning = ()

    def narrow(self, number: int, low: int | None, high: int | None) -> None:
        for a in self._learning:
            if isinstance(a, Form):
                factor = dict(a.terms)[(number,)]
                most = self.bounds(minus(a, Form((((number,), factor),), 0)))[1]
                if most is not None:
                    self.told.append((factor, most, (low, high)))
        super().narrow(number, low, high)


@dataclass(frozen=True, slots=True)
class Case:
    """Definitions of atoms, and the claims of Coq about them, each a bool."""

    definitions: tuple[str, ...]
    claims: tuple[str, ...]


def cases(seed: int, n: int) -> Iterator[Case]:
    """Expressions at random."""
    for i in range(n):
        yield _Expression(random.Random(f"{seed} {i}"), i).case()


def checked(good: Iterable[Case], bad: Iterable[tuple[str, Iterable[Case]]] = ()) -> str:
    """A Coq file that compiles where all claims of the good cases hold, and of each set of bad ones one fails."""
    text = [HEAD, *_claims("good", good), "Goal failing_good = []. Proof. vm_compute. reflexivity. Qed."]
    for name, drawn in bad:
        text += [*_claims(name, drawn), f"Goal failing_{name} <> []. Proof. vm_compute. discriminate. Qed."]
    return "\n".join(text) + "\n"


def _claims(name: str, drawn: Iterable[Case]) -> list[str]:
    kept = list(drawn)
    claims = ";\n  ".join(claim for case in kept for claim in case.claims)
    return [
        f"Module {name}.",
        *(line for case in kept for line in case.definitions),
        f"Definition claims : list bool := [\n  {claims}].",
        f"End {name}.",
        f"Definition failing_{name} :=",
        f"  filter (fun c => negb (snd c)) (combine (seq 0 (List.length {name}.claims)) {name}.claims).",
    ]


class _Expression:
    """One expression, with its atoms."""

    def __init__(self, draw: random.Random, number: int) -> None:
        self.draw = draw
        self.prefix = f"e{number}_"
        self.atoms = Recorder()
        self.definitions: list[str] = []
        self.claims: list[str] = []

    def case(self) -> Case:
        draw = self.draw
        for i in range(draw.randrange(1, 4)):
            low = draw.choice((None, None, 0, 0, 1, -7, 32))
            high = draw.choice((None, None, 7, 31, 40, 64))
            self.atoms.atom(("leaf", i), low, high if low is None or high is None or high >= low else low)
        for _ in range(draw.choice((0, 0, 1, 2))):
            self.atoms.at_least(self.sum())
        self.integer(draw.randrange(2, 5))
        self._distance()
        self._define()
        for factor, most, bounds in self.atoms.told:
            self.claims.append(f"both_ends (says ({factor}) ({most})) {_interval(bounds)}")
        return Case(tuple(self.definitions), tuple(self.claims))

    def leaf(self) -> Number:
        number = self.draw.randrange(sum(isinstance(k, tuple) and k[0] == "leaf" for k in self.atoms.keys))
        return self.atoms.atom(("leaf", number))

    def sum(self) -> Number:
        """A polynomial, or a number."""
        draw = self.draw
        total: Number = draw.choice(NUMBERS)
        for _ in range(draw.choice((0, 1, 1, 2, 2, 3))):
            part = self.leaf() if draw.random() < 0.85 else times(self.leaf(), self.leaf())
            total = plus(total, scaled(part, draw.choice((-32, -4, -1, 1, 1, 2, 3, 8, 32, 64))))
        return total

    def integer(self, depth: int) -> Number:
        draw = self.draw
        roll = draw.random()
        if depth == 0 or roll < 0.1:
            return draw.choice(NUMBERS) if draw.random() < 0.1 else self.sum()
        if roll < 0.2:
            return self.apply(draw.choice(("neg", "~", "abs", "int")), self.integer(depth - 1))
        if roll < 0.28:
            return self.apply("?:", self.truth(depth - 1), self.integer(depth - 1), self.integer(depth - 1))
        if roll < 0.4:
            return self.apply("int", self.truth(depth - 1))
        op = draw.choice(("+", "-", "*", "/", "/", "/", "%", "%", "%", "<<", ">>", "&", "&", "|", "^", "min", "max"))
        if op in ("&", "|", "^") and draw.random() < 0.4:  # both with low bits that are known
            return self.apply(op, *(plus(scaled(self.sum(), 32), draw.choice(NUMBERS)) for _ in range(2)))
        known = draw.random() < (0.7 if op in ("/", "%", "<<", ">>", "&", "|", "^") else 0.2)
        return self.apply(op, self.integer(depth - 1), draw.choice(NUMBERS) if known else self.integer(depth - 1))

    def truth(self, depth: int) -> Number:
        draw = self.draw
        roll = draw.random()
        if depth > 0 and roll < 0.15:
            return self.apply("!", self.truth(depth - 1))
        if depth > 0 and roll < 0.4:
            return self.apply(draw.choice(("&&", "||")), self.truth(depth - 1), self.truth(depth - 1))
        if roll < 0.5:
            return self.apply("bool", self.integer(depth))
        other = draw.choice(NUMBERS) if draw.random() < 0.4 else self.integer(max(0, depth - 1))
        return self.apply(draw.choice(COMPARING), self.integer(depth), other)

    def apply(self, op: str, *args: Number) -> Number:
        """The operator's form, and the claims that Coq has the same."""
        if op in ("<<", ">>") and isinstance(args[1], int) and args[1] > 128:
            args = (args[0], 128)
        atoms = self.atoms
        sizes, rows, atoms.notes = list(atoms.sizes), dict(atoms.rows), []
        found = atoms.apply(op, args)
        notes = list(atoms.notes)
        self._define()
        sizes += atoms.made[len(sizes) :]
        operands = " ".join(map(self._number, args))
        before = self._table(sizes, rows)
        if op == "?:":
            call, notes = f"(choose ({before}) {operands}, [])", []
        elif op in UNARY:
            call = f"apply1 ({before}) {UNARY[op]} {operands}"
        else:
            call = f"apply2 ({before}) nowhere {BINARY[op]} {operands}"
        if op == "?:" and all(isinstance(a, int) for a in args):
            return found  # the numbers' own operator
        self.claims.append(f"gives ({call}) {self._number(found)} [{'; '.join(map(self._number, notes))}]")
        if isinstance(found, Form):
            after = self._table(atoms.sizes, atoms.rows)
            self.claims.append(f"both_ends (bounds ({after}) {self._number(found)}) {_interval(atoms.bounds(found))}")
        return found

    def _distance(self) -> None:
        """The claim that Coq has the same bounds of what a function, or two, makes of two forms that are near."""
        draw = self.draw
        total: Number = 0
        divisor = self.leaf()
        for _ in range(draw.choice((1, 1, 2))):
            near = self.sum()
            pair = [near, plus(near, draw.choice((-9, -1, 0, 1, 1, 5, 31)))]
            for _ in range(draw.choice((1, 1, 2))):
                op = draw.choice(("/", "/", ">>", "min", "max"))
                unknown = op == "/" and draw.random() < 0.4
                other = divisor if unknown else draw.choice((2, 3, 4) if op in ("/", ">>") else NUMBERS)
                pair = [self.atoms.apply(op, (a, other)) for a in pair]
            total = plus(total, scaled(minus(pair[0], pair[1]), draw.choice((-3, -1, 1, 2))))
        if draw.random() < 0.2:
            total = plus(total, draw.choice((self.leaf(), 4)))
        sign = draw.choice((1, -1))
        found = self.atoms.apart(total, divisor, sign)
        self._define()
        ends = "None" if found is None else f"Some ({found[0]}, {found[1]})"
        table = self._table([], {}, len(self.atoms.keys))
        self.claims.append(
            f"near_as (apart ({table}) {self._number(divisor)} ({sign}) 30 {self._number(total)}) ({ends})"
        )

    def _define(self) -> None:
        for number in range(len(self.definitions), len(self.atoms.keys)):
            self.definitions.append(f"Definition {self.prefix}{number} := {self._key(self.atoms.keys[number])}.")

    def _key(self, key: Hashable) -> str:
        match key:
            case ("leaf", int() as n):
                return f"Unknown {n}"
            case ("floor", int() | Form() as a, int() as k):
                return f"AFloor {self._number(a)} {k}"
            case ("residue", int() | Form() as a, int() as k):
                return f"AResidue {self._number(a)} {k}"
            case (">=0", Form() as a):
                return f"ANonneg {self._number(a)}"
            case ("==0", Form() as a):
                return f"AZero {self._number(a)}"
            case (str() as op, int() | Form() as a, int() | Form() as b):
                return f"AOp2 {BINARY[op]} {self._number(a)} {self._number(b)}"
            case ("?:", int() | Form() as a, int() | Form() as b, int() | Form() as c):
                return f"AOp3 Choose {self._number(a)} {self._number(b)} {self._number(c)}"
        raise ValueError(f"no such atom: {key}")

    def _terms(self, terms: Iterable[tuple[Mono, int]]) -> str:
        return "; ".join(f"([{'; '.join(f'{self.prefix}{a}' for a in m)}], {c})" for m, c in terms)

    def _number(self, a: Number) -> str:
        return f"(Num [] ({a}))" if isinstance(a, int) else f"(Num [{self._terms(a.terms)}] ({a.const}))"

    def _table(
        self, sizes: list[Interval], rows: dict[tuple[tuple[Mono, int], ...], Interval], atoms: int | None = None
    ) -> str:
        known = "; ".join(f"{self.prefix}{number}" for number in range(len(sizes) if atoms is None else atoms))
        of_rows = "; ".join(f"(Num [{self._terms(row)}] 0, {_interval(ends)})" for row, ends in rows.items())
        return f"known_table [{known}] [{'; '.join(map(_interval, sizes))}] [{of_rows}]"


def _interval(ends: Interval) -> str:
    low, high = ("None" if end is None else f"Some ({end})" for end in ends)
    return f"({low}, {high})"


def mutants() -> Iterator[tuple[str, str, Callable[..., object]]]:
    """Methods of Atoms that are wrong on purpose: names, and what to put in their place."""
    floor, residue, quotient, zero, pair = Atoms.floor, Atoms.residue, Atoms.quotient, Atoms.zero, Atoms._pair
    bitwise = Atoms._bitwise
    yield "floor_up", "floor", lambda self, a, k: floor(self, plus(a, k - 1), k)
    yield "residue_beside", "residue", lambda self, a, k: residue(self, plus(a, 1), k)
    down = lambda self, a, b: floor(self, a, b) if isinstance(b, int) and b > 0 else quotient(self, a, b)  # noqa: E731
    yield "quotient_down", "quotient", down
    yield "never_zero", "zero", lambda self, a: 0 if isinstance(a, Form) and a.const else zero(self, a)
    all_kept = lambda self, op, a, b: bitwise(self, "|" if op == "&" and isinstance(b, Form) else op, a, b)  # noqa: E731
    yield "all_kept", "_bitwise", all_kept
    yield "nearer", "_pair", lambda *args: (found := pair(*args)) and (found[0], max(found[0], found[1] - 1))
