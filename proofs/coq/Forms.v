(** The closed forms of checker/oracles/forms.py: what an expression is worth at one lane, as a polynomial over atoms that
    all lanes share. Each operator's form has the operator's value, and what is noted about new atoms is true.

    Python numbers atoms and keeps bounds of them in a table. Here an atom is its key, bounds are any that hold, and each
    operator also gives what it notes: forms that are at least 0. How like terms are joined is left open, too. *)

From Coq Require Import ZArith List Bool Lia.
From Warpbound Require Import Syntax.
Import ListNotations.
Open Scope Z_scope.

(** * Forms and their values *)

(** Sums of products of atoms, and a constant *)
Inductive num := Num (terms : list (list atom * Z)) (const : Z)
with atom :=
  | Unknown (n : nat)                     (** a parameter, a uniform local, .. *)
  | AFloor (a : num) (k : Z)              (** floor(a / k) *)
  | AResidue (a : num) (k : Z)            (** a - k floor(a / k) *)
  | ANonneg (a : num)                     (** a >= 0, as 0 or 1 *)
  | AZero (a : num)                       (** a == 0, as 0 or 1 *)
  | AOp1 (o : op1) (a : num)
  | AOp2 (o : op2) (a b : num)
  | AOp3 (o : op3) (a b c : num).

Definition as_num (b : bool) : Z := if b then 1 else 0.

Section Values.

Variable call : calls.
Variable V : nat -> Z.

Fixpoint value_of (a : num) : Z :=
  match a with
  | Num ts c =>
      (fix sum ts :=
         match ts with
         | [] => 0
         | (m, q) :: more => q * (fix product m := match m with [] => 1 | x :: more => atom_of x * product more end) m + sum more
         end) ts + c
  end
with atom_of (x : atom) : Z :=
  match x with
  | Unknown n => V n
  | AFloor a k => value_of a / k
  | AResidue a k => value_of a mod k
  | ANonneg a => as_num (0 <=? value_of a)
  | AZero a => as_num (value_of a =? 0)
  | AOp1 o a => as_int (denote1 call o (VInt (value_of a)))
  | AOp2 o a b => as_int (denote2 call o (VInt (value_of a)) (VInt (value_of b)))
  | AOp3 o a b c => as_int (denote3 call o (VInt (value_of a)) (VInt (value_of b)) (VInt (value_of c)))
  end.

Fixpoint product_of (m : list atom) : Z := match m with [] => 1 | x :: more => atom_of x * product_of more end.
Fixpoint sum_of (ts : list (list atom * Z)) : Z := match ts with [] => 0 | (m, q) :: more => q * product_of m + sum_of more end.

Lemma value_num ts c : value_of (Num ts c) = sum_of ts + c.
Proof. reflexivity. Qed.

End Values.

(** * The forms of operators *)

Definition interval : Type := option Z * option Z.

Definition within (i : interval) (z : Z) : Prop :=
  (forall l, fst i = Some l -> l <= z) /\ (forall h, snd i = Some h -> z <= h).

(** How like terms are joined, and bounds *)
Record table := Table { tidy : list (list atom * Z) -> list (list atom * Z); bounds : num -> interval }.

Definition const (z : Z) : num := Num [] z.
Definition one (x : atom) : num := Num [([x], 1)] 0.
Definition known (a : num) : option Z := match a with Num [] c => Some c | _ => None end.
Definition is_zero (a : num) : bool := match known a with Some z => z =? 0 | None => false end.

(** In both intervals *)
Definition meet (i j : interval) : interval :=
  (match fst i, fst j with Some x, Some y => Some (Z.max x y) | Some x, None => Some x | None, y => y end,
   match snd i, snd j with Some x, Some y => Some (Z.min x y) | Some x, None => Some x | None, y => y end).

Definition pure (a : num) : num * list num := (a, []).

Section Operators.

Variable t : table.
Variable call : calls.

(** An atom, and that it lies within these bounds; a constant where they and what is known of it meet *)
Definition noted (x : atom) (i : interval) : num * list num :=
  (match meet (bounds t (one x)) i with
   | (Some l, Some h) => if l =? h then const l else one x
   | _ => one x
   end,
   match fst i with Some l => [Num [([x], 1)] (- l)] | None => [] end
   ++ match snd i with Some h => [Num [([x], -1)] h] | None => [] end).

Definition fresh (x : atom) : num := fst (noted x (None, None)).

Definition make (ts : list (list atom * Z)) (c : Z) : num := Num (tidy t (filter (fun m => negb (snd m =? 0)) ts)) c.

Definition plus (a b : num) : num := let '(Num ts c) := a in let '(Num us d) := b in make (ts ++ us) (c + d).
Definition scaled (a : num) (k : Z) : num := let '(Num ts c) := a in make (map (fun m => (fst m, snd m * k)) ts) (c * k).
Definition minus (a b : num) : num := plus a (scaled b (-1)).

Definition times (a b : num) : num :=
  let '(Num ts c) := a in
  let '(Num us d) := b in
  make (flat_map (fun m => map (fun n => (fst m ++ fst n, snd m * snd n)) us) ts
        ++ map (fun m => (fst m, snd m * d)) ts ++ map (fun n => (fst n, c * snd n)) us) (c * d).

(** (q, r) with a = k q + r, the factors of r in 0 .. k - 1 *)
Definition split (a : num) (k : Z) : num * num :=
  let '(Num ts c) := a in
  (make (map (fun m => (fst m, snd m / k)) ts) (c / k), make (map (fun m => (fst m, snd m mod k)) ts) (c mod k)).

Definition div_all (i : interval) (k : Z) : interval :=
  (option_map (fun z => z / k) (fst i), option_map (fun z => z / k) (snd i)).

(** floor(a / k) *)
Definition floor (a : num) (k : Z) : num * list num :=
  let (whole, rest) := split a k in
  let i := div_all (bounds t rest) k in
  match i with
  | (Some l, Some h) => if l =? h then pure (plus whole (const l)) else
                          let (x, f) := noted (AFloor rest k) i in (plus whole x, f)
  | _ => let (x, f) := noted (AFloor rest k) i in (plus whole x, f)
  end.

(** a mod k; a large one is written as a difference *)
Definition low_bits : Z := 32.

Definition residue (a : num) (k : Z) : num * list num :=
  let (_, rest) := split a k in
  let other :=
    if k <=? low_bits then noted (AResidue rest k) (Some 0, Some (k - 1))
    else let (x, f) := floor rest k in
         let found := minus rest (scaled x k) in
         (found, found :: minus (const (k - 1)) found :: f) in
  match bounds t rest with
  | (Some l, Some h) => if l / k =? h / k then pure (minus rest (const (l / k * k))) else other
  | _ => other
  end.

(** Bounds of a / b, and of a % b, where neither is negative *)
Definition small (a b : num) : interval :=
  match bounds t a, bounds t b with
  | (Some l, h), (Some d, _) => if (0 <=? l) && (0 <=? d) then (Some 0, h) else (None, None)
  | _, _ => (None, None)
  end.

(** The atom that a is *)
Definition key (a : num) : option atom := match a with Num [([x], 1)] 0 => Some x | _ => None end.

(** Whether bounds say that a >= 0, or that a <= 0 *)
Definition above (a : num) : bool := match fst (bounds t a) with Some l => 0 <=? l | None => false end.
Definition below (a : num) : bool := match snd (bounds t a) with Some h => h <=? 0 | None => false end.

(** a / b with b > 0 *)
Definition quotient_by (a : num) (b : Z) : num * list num :=
  let (whole, rest) := split a b in
  if is_zero rest then pure whole
  else if above a then floor a b
  else if below a then let (x, f) := floor (scaled a (-1)) b in (scaled x (-1), f)
  else pure (fresh (AOp2 Div a (const b))).

Definition quotient (a b : num) : num * list num :=
  match known b with
  | Some z => if z =? 0 then pure (const 0)
              else if 0 <? z then quotient_by a z
              else let (x, f) := quotient_by a (- z) in (scaled x (-1), f)
  | None =>
      match key a with
      | Some (AOp2 Div a' b') => let d := times b' b in noted (AOp2 Div a' d) (small a' d)
      | _ => noted (AOp2 Div a b) (small a b)
      end
  end.

Definition remainder (a b : num) : num * list num :=
  match known b with
  | None =>
      let (x, f) := quotient a b in
      let found := minus a (times b x) in
      (found, match fst (small a b) with Some _ => [found] | None => [] end
              ++ match snd (small a b) with Some h => [minus (const h) found] | None => [] end ++ f)
  | Some z =>
      let k := Z.abs z in
      if z =? 0 then pure a
      else if is_zero (snd (split a k)) then pure (const 0)
      else if above a then residue a k
      else if below a then let (x, f) := residue (scaled a (-1)) k in (scaled x (-1), f)
      else noted (AOp2 Mod a (const k)) (Some (1 - k), Some (k - 1))
  end.

(** The factors' greatest common divisor *)
Definition content (a : num) : Z := let '(Num ts _) := a in fold_right (fun m g => Z.gcd (snd m) g) 0 ts.

Definition divided (a : num) (g : Z) : num := let '(Num ts c) := a in Num (map (fun m => (fst m, snd m / g)) ts) (c / g).

(** a >= 0, as 0 or 1 *)
Definition nonnegative (a : num) : num * list num :=
  let other := if content a =? 0 then noted (ANonneg a) (Some 0, Some 1)
               else noted (ANonneg (divided a (content a))) (Some 0, Some 1) in
  if above a then pure (const 1) else if above (minus (const (-1)) a) then pure (const 0) else other.

(** a == 0, as 0 or 1. Of e % k == r with an e of either sign it says what e's residue does: how deep is [fuel]. *)
Fixpoint zero (fuel : nat) (a : num) : num * list num :=
  let '(Num ts c) := a in
  let apart := above (plus a (const (-1))) || above (minus (const (-1)) a)
               || negb (content a =? 0) && negb (c mod content a =? 0) in
  match ts with
  | [] => pure (const (as_num (c =? 0)))
  | (_, q) :: _ =>
      if apart then pure (const 0)
      else
        let a := if q <? 0 then Num (map (fun m => (fst m, - snd m)) ts) (- c) else a in
        let '(Num us d) := a in
        let other := if content a =? 0 then noted (AZero a) (Some 0, Some 1)
                     else noted (AZero (divided a (content a))) (Some 0, Some 1) in
        match fuel, key (Num us 0) with
        | S fuel, Some (AOp2 Mod e (Num [] k)) =>
            if 0 <? k then
              let (r, f) := residue (plus e (const d)) k in
              let (same, f') := zero fuel r in
              if is_zero same || (d =? 0) then (same, f' ++ f) else (fst other, snd other ++ f' ++ f)
            else other
        | _, _ => other
        end
  end.

(** a op b of the lowest five bits, and of all others, where those of a or of b are known *)
Definition parted (o : op2) (a b : num) : num * list num :=
  let (ha, f1) := floor a low_bits in
  let (hb, f2) := floor b low_bits in
  let (la, f3) := residue a low_bits in
  let (lb, f4) := residue b low_bits in
  let notes := f1 ++ f2 ++ f3 ++ f4 in
  let high :=
    if is_zero ha then hb else if is_zero hb then ha else fresh (AOp2 o ha hb) in
  match known la, known lb with
  | Some x, Some y => (plus (scaled high low_bits) (const (as_int (denote2 call o (VInt x) (VInt y)))), notes)
  | None, None => (fresh (AOp2 o a b), notes)
  | _, _ => let (low, f) := noted (AOp2 o la lb) (Some 0, Some (low_bits - 1)) in
            (plus (scaled high low_bits) low, f ++ notes)
  end.

Definition and_bounds (a b : num) : interval :=
  let up (i : interval) := match i with (Some l, h) => if 0 <=? l then Some h else None | _ => None end in
  match up (bounds t a), up (bounds t b) with
  | None, None => (None, None)
  | Some h, None | None, Some h => (Some 0, h)
  | Some (Some h), Some (Some k) => (Some 0, Some (Z.min h k))
  | Some (Some h), Some None | Some None, Some (Some h) => (Some 0, Some h)
  | Some None, Some None => (Some 0, None)
  end.

(** a op b with a mask b *)
Definition bits (z : Z) : Z := if z =? 0 then 0 else Z.log2 z + 1.

Definition masked (o : op2) (a b : num) : num * list num :=
  let rest := match o with BitAnd => noted (AOp2 o a b) (and_bounds a b) | _ => parted o a b end in
  match known b with
  | Some z =>
      if 0 <=? z then
        let k := 2 ^ bits z in
        match known (snd (split a k)), o with
        | Some r, BitAnd => pure (const (Z.land r z))
        | None, BitAnd => if z =? k - 1 then residue a k else rest
        | Some r, _ => if z =? 0 then rest
                       else pure (plus (minus a (const r)) (const (as_int (denote2 call o (VInt r) (VInt z)))))
        | None, _ => rest
        end
      else rest
  | None => rest
  end.

(** a & ~c is what a & c leaves of a *)
Definition cleared (o : op2) (a b : num) : num * list num :=
  match o, known b with
  | BitAnd, Some z => if z <? 0 then let (x, f) := masked o a (const (-1 - z)) in (minus a x, f) else masked o a b
  | _, _ => masked o a b
  end.

Definition turned (o : op2) (a b : num) : num * list num :=
  match known a with Some _ => cleared o b a | None => cleared o a b end.

Definition max_depth : nat := 64.

(** a & b of the lowest five bits, and of all others, where those of both are known: how deep is [fuel] *)
Fixpoint anded (fuel : nat) (a b : num) : num * list num :=
  let (ha, la) := split a low_bits in
  let (hb, lb) := split b low_bits in
  match fuel, known la, known lb with
  | S fuel, Some x, Some y =>
      let (high, f) := match known ha, known hb with
                       | Some z, Some w => pure (const (Z.land z w))
                       | _, _ => anded fuel ha hb
                       end in
      (plus (scaled high low_bits) (const (Z.land x y)), f)
  | _, _, _ => turned BitAnd a b
  end.

Definition bitwise (o : op2) (a b : num) : num * list num :=
  match o with BitAnd => anded max_depth a b | _ => turned o a b end.

Definition extreme (o : op2) (a b : num) : num * list num :=
  let (first, f) := nonnegative (match o with Max => minus a b | _ => minus b a end) in
  match known first with
  | Some z => if z =? 0 then (b, f) else (a, f)
  | None => (fresh (AOp2 o a b), f)
  end.

Definition negated (r : num * list num) : num * list num := let (x, f) := r in (minus (const 1) x, f).

(** Whether a product has few enough terms *)
Definition few (a b : num) : bool :=
  let size (a : num) := let '(Num ts _) := a in Z.of_nat (length ts) + 1 in size a * size b <=? 64.

Definition apply1 (o : op1) (a : num) : num * list num :=
  match o with
  | Neg => pure (scaled a (-1))
  | BitNot => pure (minus (const (-1)) a)
  | Not => pure (minus (const 1) a)
  | ToInt => pure a
  | ToBool => negated (zero max_depth a)
  | Abs => extreme Max a (scaled a (-1))
  | Call1 _ => pure (fresh (AOp1 o a))
  end.

Definition apply2 (o : op2) (a b : num) : num * list num :=
  let opaque := pure (fresh (AOp2 o a b)) in
  let far := match o, known b with Shl, Some z => 64 <? z | _, _ => false end in
  match known a, known b, far with Some x, Some y, false => pure (const (as_int (denote2 call o (VInt x) (VInt y)))) | _, _, _ =>
  match o with
  | Add => pure (plus a b)
  | Sub => pure (minus a b)
  | Mul => if few a b then pure (times a b) else opaque
  | Div => quotient a b
  | Mod => remainder a b
  | Shl => match known b with
           | Some z => if z <? 0 then pure (const 0) else if z <=? 64 then pure (scaled a (2 ^ z)) else opaque
           | None => opaque
           end
  | Shr => match known b with
           | Some z => if z <? 0 then pure (const 0) else if z <=? 64 then floor a (2 ^ z) else opaque
           | None => opaque
           end
  | BitAnd | BitOr | BitXor => bitwise o a b
  | Min | Max => extreme o a b
  | Ge => nonnegative (minus a b)
  | Le => nonnegative (minus b a)
  | Gt => negated (nonnegative (minus b a))
  | Lt => negated (nonnegative (minus a b))
  | Eq => zero max_depth (minus a b)
  | Ne => negated (zero max_depth (minus a b))
  | And | Or => noted (AOp2 o a b) (Some 0, Some 1)
  | Call2 _ => opaque
  end
  end.

(** c ? a : b *)
Definition choose (c a b : num) : num :=
  if few c (minus a b) then plus b (times c (minus a b)) else fresh (AOp3 Choose c a b).

(** Operators on integers and truth values, not on base types *)
Definition integral1 (o : op1) : bool := match o with Call1 _ => false | _ => true end.
Definition integral2 (o : op2) : bool := match o with Call2 _ => false | _ => true end.

End Operators.

(** A table that tells the truth, where the unknowns have the values V *)
Record true_of (call : calls) (V : nat -> Z) (t : table) : Prop := {
  tidy_keeps : forall ts, sum_of call V (tidy t ts) = sum_of call V ts;
  bounds_hold : forall a, within (bounds t a) (value_of call V a)
}.

(** * Bounds *)

Definition both (f : Z -> Z -> Z) (x y : option Z) : option Z := match x, y with Some x, Some y => Some (f x y) | _, _ => None end.

Definition sum_within (i j : interval) : interval := (both Z.add (fst i) (fst j), both Z.add (snd i) (snd j)).

Definition times_within (c : Z) (i : interval) : interval :=
  let z := if c <? 0 then (snd i, fst i) else i in (option_map (Z.mul c) (fst z), option_map (Z.mul c) (snd z)).

(** Bounds of a product of several atoms: where none is negative *)
Fixpoint least (sizes : atom -> interval) (m : list atom) : option Z :=
  match m with
  | [] => Some 1
  | x :: more => match fst (sizes x) with
                 | Some l => if 0 <=? l then both Z.mul (Some l) (least sizes more) else None
                 | None => None
                 end
  end.

Fixpoint most (sizes : atom -> interval) (m : list atom) : option Z :=
  match m with [] => Some 1 | x :: more => both Z.mul (snd (sizes x)) (most sizes more) end.

Definition size_of (sizes : atom -> interval) (m : list atom) : interval :=
  match m with
  | [x] => sizes x
  | _ => match least sizes m with Some l => (Some l, most sizes m) | None => (None, None) end
  end.

(** [bounds]: by interval arithmetic *)
Definition interval_of (sizes : atom -> interval) (a : num) : interval :=
  let '(Num ts c) := a in
  fold_right (fun m i => sum_within (times_within (snd m) (size_of sizes (fst m))) i) (Some c, Some c) ts.

Definition plain_table (sizes : atom -> interval) : table := Table (fun ts => ts) (interval_of sizes).

(** Bounds of sums of several atoms: their terms with coprime factors, the first positive, and what makes a's terms of
    them *)
Definition row_of (a : num) : list (list atom * Z) * Z :=
  let '(Num ts _) := a in
  let f := match ts with (_, q) :: _ => if q <? 0 then - content a else content a | [] => 0 end in
  (map (fun m => (fst m, snd m / f)) ts, f).

(** [Atoms.bounds]: by interval arithmetic, and by what is known of a's row *)
Definition rowed (sizes : atom -> interval) (rows : list (list atom * Z) -> interval) (a : num) : interval :=
  let '(Num ts c) := a in
  match ts with
  | _ :: _ :: _ =>
      let (row, f) := row_of a in
      if f =? 0 then interval_of sizes a
      else meet (interval_of sizes a) (sum_within (Some c, Some c) (times_within f (rows row)))
  | _ => interval_of sizes a
  end.

(** [Atoms.at_least]: what c * x + rest >= 0 says of x where rest <= most; of a row that is taken c times *)
Definition says (c most : Z) : interval :=
  if 0 <? c then (Some (- (most / c)), None) else (None, Some (most / - c)).

(** * Distances

    [_near] joins rows of which one is not far from the other: the bounds of f(p) - f(q), of an f that takes p and q no
    farther apart. One divisor D may be unknown, but for its sign. *)

Section Distances.

Variable t : table.
Variables (D : num) (sign : Z).

(** The same form *)
Definition same (a b : num) : bool := is_zero (minus t a b).

(** [_pair]: bounds of f(p) - f(q), from [near], those of differences *)
Definition pair (near : num -> option (Z * Z)) (m n : list atom) : option (Z * Z) :=
  match m, n with
  | [AFloor p k], [AFloor q l] =>
      if (0 <? k) && (k =? l) then option_map (fun e => (fst e / k, - (- snd e / k))) (near (minus t p q)) else None
  | [AOp2 Div p b], [AOp2 Div q c] =>
      let of k d := option_map (fun e => (Z.min 0 (fst e / k), Z.max 0 (- (- snd e / k)))) (near d) in
      if same b c then
        match known b with
        | Some k => if 0 <? k then of k (minus t p q) else None
        | None => if same b D then of 1 (scaled t (minus t p q) sign) else None
        end
      else None
  | [AOp2 o p b], [AOp2 o' q c] =>
      let of x y :=
        match near (minus t x q), near (minus t y c) with
        | Some e, Some f => Some (Z.min (fst e) (fst f), Z.max (snd e) (snd f))
        | _, _ => None
        end in
      match o, o' with
      | Min, Min | Max, Max => match of p b with Some e => Some e | None => of b p end
      | _, _ => None
      end
  | _, _ => None
  end.

(** The term among those to take away, with the factor c, that is surest to be near m; and those that are left *)
Fixpoint pick (near : num -> option (Z * Z)) (m : list atom) (c : Z) (down : list (list atom * Z))
    : option ((Z * Z) * list (list atom * Z)) :=
  match down with
  | [] => None
  | (n, d) :: more =>
      let other := option_map (fun r => (fst r, (n, d) :: snd r)) (pick near m c more) in
      match (if c =? d then pair near m n else None), other with
      | Some e, Some r => if snd (fst r) - fst (fst r) <? snd e - fst e then other else Some (e, more)
      | Some e, None => Some (e, more)
      | None, _ => other
      end
  end.

Fixpoint matched (near : num -> option (Z * Z)) (up down : list (list atom * Z)) (low high : Z) : option (Z * Z) :=
  match up, down with
  | [], [] => Some (low, high)
  | [], _ => None
  | (m, c) :: up, _ =>
      match pick near m c down with
      | Some (e, rest) => matched near up rest (low + c * fst e) (high + c * snd e)
      | None => None
      end
  end.

(** [apart]: how deep is [fuel] *)
Fixpoint apart (fuel : nat) (a : num) : option (Z * Z) :=
  match fuel with
  | O => None
  | S fuel =>
      let '(Num ts c) := a in
      matched (apart fuel) (filter (fun m => 0 <? snd m) ts)
        (map (fun m => (fst m, - snd m)) (filter (fun m => snd m <? 0) ts)) c c
  end.

End Distances.
