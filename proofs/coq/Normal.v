(** Potentials in normal form, as docs/certificate.md has it: sums of products of atoms, where an atom is a leaf or a
    base function of what is in normal form. Each function here is proved to keep the value. That a form is the only one
    of its value is not: two forms that should be one make a proof fail, never pass. *)

From Coq Require Import ZArith QArith Qround List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic.
Import ListNotations.

(** * An order on terms, to sort by: what compares as equal is equal *)

Notation Same := Datatypes.Eq.
Notation Less := Datatypes.Lt.
Notation More := Datatypes.Gt.

Definition and_then (c d : comparison) : comparison := match c with Same => d | _ => c end.

Lemma and_then_eq c d : and_then c d = Same -> c = Same /\ d = Same.
Proof. destruct c; cbn; intuition congruence. Qed.

Definition tag1 (o : op1) : positive :=
  match o with Neg => 1 | BitNot => 2 | Not => 3 | ToInt => 4 | ToBool => 5 | Abs => 6 | Call1 _ => 7 end.

Definition tag2 (o : op2) : positive :=
  match o with
  | Add => 1 | Sub => 2 | Mul => 3 | Div => 4 | Mod => 5 | Shl => 6 | Shr => 7 | BitAnd => 8 | BitOr => 9 | BitXor => 10
  | Min => 11 | Max => 12 | Lt => 13 | Le => 14 | Gt => 15 | Ge => 16 | Eq => 17 | Ne => 18 | And => 19 | Or => 20
  | Call2 _ => 21
  end.

Definition op1_compare (a b : op1) : comparison :=
  match a, b with Call1 f, Call1 g => String.compare f g | _, _ => Pos.compare (tag1 a) (tag1 b) end.
Definition op2_compare (a b : op2) : comparison :=
  match a, b with Call2 f, Call2 g => String.compare f g | _, _ => Pos.compare (tag2 a) (tag2 b) end.
Definition op3_compare (a b : op3) : comparison :=
  match a, b with
  | Choose, Choose => Same | Choose, _ => Less | _, Choose => More | Call3 f, Call3 g => String.compare f g
  end.

Definition value_compare (a b : value) : comparison :=
  match a, b with
  | VInt x, VInt y | VBase x, VBase y => Z.compare x y
  | VBool x, VBool y => Z.compare (Z.b2z x) (Z.b2z y)
  | VInt _, _ => Less | _, VInt _ => More | VBool _, _ => Less | _, VBool _ => More
  end.

Definition axis_compare (a b : axis) : comparison :=
  let n a := match a with TidX => 0%Z | TidY => 1%Z | TidZ => 2%Z end in Z.compare (n a) (n b).

Definition tag_expr (e : expr) : positive :=
  match e with
  | Var _ => 1 | Param _ => 2 | Const _ => 3 | Tid _ => 4 | Op1 _ _ => 5 | Op2 _ _ _ => 6 | Op3 _ _ _ _ => 7 | Read _ _ => 8
  end.

Fixpoint expr_compare (a b : expr) : comparison :=
  match a, b with
  | Var x, Var y | Param x, Param y => String.compare x y
  | Const v, Const w => value_compare v w
  | Tid x, Tid y => axis_compare x y
  | Op1 o a1, Op1 p b1 => and_then (op1_compare o p) (expr_compare a1 b1)
  | Op2 o a1 a2, Op2 p b1 b2 => and_then (op2_compare o p) (and_then (expr_compare a1 b1) (expr_compare a2 b2))
  | Op3 o a1 a2 a3, Op3 p b1 b2 b3 =>
      and_then (op3_compare o p)
        (and_then (expr_compare a1 b1) (and_then (expr_compare a2 b2) (expr_compare a3 b3)))
  | Read A i, Read B j => and_then (String.compare A B) (expr_compare i j)
  | _, _ => Pos.compare (tag_expr a) (tag_expr b)
  end.

Definition q_compare (a b : Q) : comparison :=
  and_then (Z.compare (Qnum a) (Qnum b)) (Pos.compare (Qden a) (Qden b)).

Definition tag_pot (q : pot) : positive :=
  match q with
  | PConst _ => 1 | Leaf _ => 2 | PAdd _ _ => 3 | PMul _ _ => 4 | Max0 _ => 5 | Floor _ _ => 6 | Log2 _ => 7
  | Apply _ _ _ => 8
  end.

Fixpoint pot_compare (p q : pot) : comparison :=
  match p, q with
  | PConst a, PConst b => q_compare a b
  | Leaf a, Leaf b => expr_compare a b
  | PAdd a b, PAdd c d | PMul a b, PMul c d => and_then (pot_compare a c) (pot_compare b d)
  | Max0 a, Max0 b | Log2 a, Log2 b => pot_compare a b
  | Floor a k, Floor b l => and_then (Pos.compare k l) (pot_compare a b)
  | Apply o a b, Apply p c d => and_then (op2_compare o p) (and_then (pot_compare a c) (pot_compare b d))
  | _, _ => Pos.compare (tag_pot p) (tag_pot q)
  end.

Ltac parts := repeat match goal with H : and_then _ _ = Same |- _ => apply and_then_eq in H as [? ?] end.

Lemma string_compare_eq a b : String.compare a b = Same -> a = b.
Proof. apply String.compare_eq_iff. Qed.

Lemma op1_compare_eq a b : op1_compare a b = Same -> a = b.
Proof. destruct a, b; cbn; try discriminate; intros; f_equal; try apply string_compare_eq; auto. Qed.

Lemma op2_compare_eq a b : op2_compare a b = Same -> a = b.
Proof.
  destruct a; destruct b; try discriminate; try reflexivity. cbn. intros. f_equal. apply string_compare_eq; auto.
Qed.

Lemma op3_compare_eq a b : op3_compare a b = Same -> a = b.
Proof. destruct a, b; cbn; try discriminate; intros; f_equal; try apply string_compare_eq; auto. Qed.

Lemma value_compare_eq a b : value_compare a b = Same -> a = b.
Proof.
  destruct a as [x | x | x], b as [y | y | y]; cbn; try discriminate; intros H.
  - apply Z.compare_eq in H. congruence.
  - destruct x, y; cbn in H; congruence.
  - apply Z.compare_eq in H. congruence.
Qed.

Lemma expr_compare_eq a : forall b, expr_compare a b = Same -> a = b.
Proof.
  induction a; intros [] H; try discriminate; cbn in H; parts.
  - f_equal. apply string_compare_eq; auto.
  - f_equal. apply string_compare_eq; auto.
  - f_equal. apply value_compare_eq; auto.
  - destruct a, a0; try discriminate; reflexivity.
  - f_equal; auto. apply op1_compare_eq; auto.
  - f_equal; auto. apply op2_compare_eq; auto.
  - f_equal; auto. apply op3_compare_eq; auto.
  - f_equal; auto. apply string_compare_eq; auto.
Qed.

Lemma q_compare_eq a b : q_compare a b = Same -> a = b.
Proof.
  unfold q_compare. intros H. parts. destruct a, b; cbn in *. f_equal; [apply Z.compare_eq | apply Pos.compare_eq]; auto.
Qed.

Lemma pot_compare_eq p : forall q, pot_compare p q = Same -> p = q.
Proof.
  induction p; intros [] H; try discriminate; cbn in H; parts; f_equal; auto.
  - apply q_compare_eq; auto.
  - apply expr_compare_eq; auto.
  - apply Pos.compare_eq; auto.
  - apply op2_compare_eq; auto.
Qed.

Definition same (a b : expr) : bool := match expr_compare a b with Same => true | _ => false end.

Lemma same_eq a b : same a b = true -> a = b.
Proof. unfold same. destruct expr_compare eqn:E; try discriminate. intros _. apply expr_compare_eq, E. Qed.

(** * Sums of products *)

(** A product of atoms, in order; a sum of them with coefficients, in order and none of them 0. *)
Definition mono := list pot.
Definition poly := list (mono * Q).

Fixpoint mono_compare (m n : mono) : comparison :=
  match m, n with
  | [], [] => Same | [], _ => Less | _, [] => More
  | a :: m, b :: n => and_then (pot_compare a b) (mono_compare m n)
  end.

Lemma mono_compare_eq m : forall n, mono_compare m n = Same -> m = n.
Proof.
  induction m as [| a m IH]; intros [| b n] H; cbn in H; try discriminate; parts; f_equal; auto.
  apply pot_compare_eq; auto.
Qed.

Open Scope Q_scope.

Definition is_zero (c : Q) : bool := Z.eqb (Qnum c) 0.

Lemma is_zero_eq c : is_zero c = true -> c == 0.
Proof. unfold is_zero. intros H. apply Z.eqb_eq in H. destruct c as [n d]. cbn in H. subst. reflexivity. Qed.

Definition constant (c : Q) : poly := if is_zero c then [] else [([], Qred c)].
Definition atom (a : pot) : poly := [([a], 1)].

Fixpoint plus (p : poly) : poly -> poly :=
  fix inner (q : poly) : poly :=
    match p, q with
    | [], _ => q
    | _, [] => p
    | (m, c) :: p', (n, d) :: q' =>
        match mono_compare m n with
        | Less => (m, c) :: plus p' q
        | More => (n, d) :: inner q'
        | Same => let s := Qred (c + d) in if is_zero s then plus p' q' else (m, s) :: plus p' q'
        end
    end.

Definition scale (c : Q) (p : poly) : poly :=
  if is_zero c then [] else map (fun t : mono * Q => (fst t, Qred (c * snd t))) p.

Definition minus (p q : poly) : poly := plus p (scale (-1) q).

Fixpoint insert (a : pot) (m : mono) : mono :=
  match m with [] => [a] | b :: n => match pot_compare a b with More => b :: insert a n | _ => a :: m end end.

Definition product (m n : mono) : mono := fold_right insert n m.

Definition times_term (t : mono * Q) (p : poly) : poly :=
  match fst t with
  | [] => scale (snd t) p
  | m => fold_right (fun (u : mono * Q) r => plus [(product m (fst u), Qred (snd t * snd u))] r) [] p
  end.

Definition times (p q : poly) : poly := fold_right (fun t r => plus (times_term t q) r) [] p.

Definition only_constant (p : poly) : option Q :=
  match p with [] => Some 0 | [([], c)] => Some c | _ => None end.

(** The one term that p is, if its coefficient is 1. *)
Definition alone (p : poly) : option pot :=
  match p with [([a], c)] => if Qeq_bool c 1 then Some a else None | _ => None end.

Definition to_pot (p : poly) : pot :=
  fold_right
    (fun (t : mono * Q) r => PAdd (PMul (PConst (snd t)) (fold_right PMul (PConst 1) (fst t))) r) (PConst 0) p.

(** Whether the value is an integer, as far as the form says. *)
Definition whole_q (c : Q) : bool := Pos.eqb (Qden (Qred c)) 1.

Fixpoint whole (q : pot) : bool :=
  match q with
  | PConst c => whole_q c
  | Leaf _ | Floor _ _ | Log2 _ | Apply _ _ _ => true
  | PAdd a b | PMul a b => whole a && whole b
  | Max0 a => whole a
  end.

Definition whole_poly (p : poly) : bool := forallb (fun t : mono * Q => whole_q (snd t) && forallb whole (fst t)) p.

(** * Base functions of sums of products *)

(** The greatest number such that all coefficients are whole multiples of it; 0 of 0. *)
Definition content (p : poly) : Q :=
  let top := fold_right (fun (t : mono * Q) g => Z.gcd (Qnum (snd t)) g) 0%Z p in
  let bottom := fold_right (fun (t : mono * Q) l => Z.lcm (Zpos (Qden (snd t))) l) 1%Z p in
  Qred (inject_Z top / inject_Z bottom).

Definition max0 (p : poly) : poly :=
  match only_constant p with
  | Some c => constant (larger 0 c)
  | None =>
      let g := content p in
      if Qle_bool g 0 then atom (Max0 (to_pot p))
      else
        let part := scale (/ g) p in
        match alone part, alone (scale (-1) part) with
        | Some (Max0 _), _ => p
        | _, Some (Max0 _) => []
        | _, _ => scale g (atom (Max0 (to_pot part)))
        end
  end.

Definition drop_zeros (p : poly) : poly := filter (fun t => negb (is_zero (snd t))) p.

(** Of floor(p / k): what is whole, and the rest and its divisor. *)
Definition split_floor (p : poly) (k : positive) : poly * poly * positive :=
  let unit := fold_right (fun (t : mono * Q) l => Z.lcm (Zpos (Qden (snd t))) l) 1%Z p in
  let number (c : Q) := Z.div (Qnum c * unit) (Zpos (Qden c)) in
  let K := (Zpos k * unit)%Z in
  let rest := map (fun t : mono * Q => (fst t, Z.modulo (number (snd t)) K)) p in
  let g := fold_right (fun (t : mono * Z) g => match fst t with [] => g | _ => Z.gcd (snd t) g end) K rest in
  (drop_zeros (map (fun t : mono * Q => (fst t, inject_Z (Z.div (number (snd t)) K))) p),
   drop_zeros (map (fun t : mono * Z => (fst t, inject_Z (Z.div (snd t) g))) rest),
   Z.to_pos (Z.div K g)).

Definition floor_ (p : poly) (k : positive) : poly :=
  let '(w, l, k') := split_floor p k in
  let as_it_is := atom (Floor (to_pot p) k) in
  match only_constant (minus (scale (1 # k) p) (plus w (scale (1 # k') l))) with
  | None => as_it_is
  | Some d =>
      if Qle_bool 0 d && negb (Qle_bool (1 # k') d) && whole_poly w && whole_poly l
      then
        match only_constant l with
        | Some c => plus w (constant (inject_Z (Z.div (Qfloor c) (Zpos k'))))
        | None => plus w (if Pos.eqb k' 1 then l else atom (Floor (to_pot l) k'))
        end
      else as_it_is
  end.

Definition log2 (p : poly) : poly :=
  match only_constant p with
  | Some c => constant (inject_Z (let n := Qfloor c in if Z.ltb n 1 then 0 else Z.log2 n))
  | None => atom (Log2 (to_pot p))
  end.

(** An operator on integers. *)
Definition on_constants (o : op2) (a b : Z) : poly :=
  constant (inject_Z (as_int (denote2 (fun _ _ => VInt 0) o (VInt a) (VInt b)))).

Definition operated (o : op2) (p q : poly) : poly :=
  let as_it_is := atom (Apply o (to_pot p) (to_pot q)) in
  match only_constant q with
  | None => as_it_is
  | Some c =>
      let k := Qfloor c in
      if negb (whole_q c && whole_poly p) then as_it_is else
      match o, k with
      | Div, Zpos d => minus (floor_ (max0 p) d) (floor_ (max0 (scale (-1) p)) d)
      | Shr, _ => if (0 <=? k)%Z && (k <? 64)%Z then floor_ p (Z.to_pos (2 ^ k)) else
                  match only_constant p with Some b => on_constants o (Qfloor b) k | None => as_it_is end
      | BitAnd, _ => if (0 <? k)%Z && Z.eqb (2 ^ Z.log2 (k + 1)) (k + 1)
                     then minus p (scale (inject_Z (k + 1)) (floor_ p (Z.to_pos (k + 1)))) else
                     match only_constant p with Some b => on_constants o (Qfloor b) k | None => as_it_is end
      | (Div | BitOr | BitXor), _ =>
                     match only_constant p with Some b => on_constants o (Qfloor b) k | None => as_it_is end
      | _, _ => as_it_is
      end
  end.

(** * The normal form, with other sums in the place of some atoms *)

Definition swap := list (pot * poly).

Fixpoint swapped (s : swap) (q : pot) : option poly :=
  match s with
  | [] => None
  | (a, p) :: s => match pot_compare a q with Same => Some p | _ => swapped s q end
  end.

Fixpoint replaced (s : swap) (q : pot) : poly :=
  match swapped s q with
  | Some p => p
  | None =>
      match q with
      | PConst c => constant c
      | Leaf _ => atom q
      | PAdd a b => plus (replaced s a) (replaced s b)
      | PMul a b => times (replaced s a) (replaced s b)
      | Max0 a => max0 (replaced s a)
      | Floor a k => floor_ (replaced s a) k
      | Log2 a => log2 (replaced s a)
      | Apply o a b => operated o (replaced s a) (replaced s b)
      end
  end.

Definition normal (q : pot) : poly := replaced [] q.

(** * They keep the value *)

Lemma inject_Z_sub a b : inject_Z (a - b) == inject_Z a - inject_Z b.
Proof. unfold Z.sub. rewrite inject_Z_plus, inject_Z_opp. reflexivity. Qed.

Lemma larger_eq a b : a == b -> larger 0 a == larger 0 b.
Proof.
  intros E. unfold larger. destruct (Qle_bool 0 a) eqn:A, (Qle_bool 0 b) eqn:B; try reflexivity; try assumption.
  - apply Qle_bool_iff in A. rewrite E in A. apply Qle_bool_iff in A. congruence.
  - apply Qle_bool_iff in B. rewrite <- E in B. apply Qle_bool_iff in B. congruence.
Qed.

Lemma larger_pos a : 0 <= a -> larger 0 a == a.
Proof. intros H. unfold larger. apply Qle_bool_iff in H. rewrite H. reflexivity. Qed.

Lemma larger_neg a : a <= 0 -> larger 0 a == 0.
Proof.
  intros H. unfold larger. destruct (Qle_bool 0 a) eqn:A; [| reflexivity]. apply Qle_bool_iff in A. lra.
Qed.

Lemma larger_scale g a : 0 < g -> larger 0 (g * a) == g * larger 0 a.
Proof.
  intros G. destruct (Qlt_le_dec a 0).
  - rewrite (larger_neg a) by lra. rewrite larger_neg; [ring |]. setoid_replace (g * a) with (- (g * - a)) by ring.
    assert (0 <= g * - a) by (apply Qmult_le_0_compat; lra). lra.
  - rewrite (larger_pos a) by lra. apply larger_pos, Qmult_le_0_compat; lra.
Qed.

Lemma floor_is x n : inject_Z n <= x -> x < inject_Z (n + 1) -> Qfloor x = n.
Proof.
  intros A B. pose proof (Qfloor_le x). pose proof (Qlt_floor x).
  assert ((Qfloor x < n + 1)%Z) by (rewrite Zlt_Qlt; lra). assert ((n < Qfloor x + 1)%Z) by (rewrite Zlt_Qlt; lra). lia.
Qed.

Lemma whole_q_eq c : whole_q c = true -> c == inject_Z (Qfloor c).
Proof.
  unfold whole_q. intros H. apply Pos.eqb_eq in H. pose proof (Qred_correct c) as E.
  destruct (Qred c) as [n d]. cbn in H. subst d. assert (c == inject_Z n) as F by (rewrite <- E; reflexivity).
  rewrite (Qfloor_comp _ _ F), Qfloor_Z. exact F.
Qed.

Local Arguments Qplus : simpl never.
Local Arguments Qmult : simpl never.

Section Values.

Variable M : machine.
Variable sigma : store.
Variable t : thread.

Notation val q := (peval M sigma q t).

Fixpoint mono_value (m : mono) : Q := match m with [] => 1 | a :: m => val a * mono_value m end.
Fixpoint poly_value (p : poly) : Q := match p with [] => 0 | (m, c) :: p => c * mono_value m + poly_value p end.

Lemma constant_value c : poly_value (constant c) == c.
Proof.
  unfold constant. destruct (is_zero c) eqn:E; cbn; [symmetry; apply is_zero_eq, E |]. rewrite Qred_correct. ring.
Qed.

Lemma atom_value a : poly_value (atom a) == val a.
Proof. cbn. ring. Qed.

Lemma plus_value p : forall q, poly_value (plus p q) == poly_value p + poly_value q.
Proof.
  induction p as [| [m c] p IH]; [intros []; cbn; ring |].
  induction q as [| [n d] q IHq]; [cbn; ring |].
  cbn -[Qred]. destruct (mono_compare m n) eqn:E.
  - apply mono_compare_eq in E as ->. pose proof (Qred_correct (c + d)) as R.
    destruct (is_zero (Qred (c + d))) eqn:N.
    + apply is_zero_eq in N. rewrite N in R. rewrite IH.
      setoid_replace (c * mono_value n + poly_value p + (d * mono_value n + poly_value q))
        with ((c + d) * mono_value n + (poly_value p + poly_value q)) by ring.
      rewrite <- R. ring.
    + cbn -[Qred]. rewrite IH, R. ring.
  - cbn. rewrite IH. cbn. ring.
  - cbn in IHq |- *. rewrite IHq. ring.
Qed.

Lemma scale_value c p : poly_value (scale c p) == c * poly_value p.
Proof.
  unfold scale. destruct (is_zero c) eqn:E; [apply is_zero_eq in E; rewrite E; cbn; ring |].
  induction p as [| [m d] p IH]; cbn -[Qred]; [ring |]. rewrite IH, Qred_correct. ring.
Qed.

Lemma minus_value p q : poly_value (minus p q) == poly_value p - poly_value q.
Proof. unfold minus. rewrite plus_value, scale_value. ring. Qed.

Lemma insert_value a m : mono_value (insert a m) == val a * mono_value m.
Proof.
  induction m as [| b m IH]; [reflexivity |]. cbn [insert].
  destruct pot_compare; cbn [mono_value]; [ring | ring |]. rewrite IH. ring.
Qed.

Lemma product_value m n : mono_value (product m n) == mono_value m * mono_value n.
Proof.
  induction m as [| a m IH]; cbn [product fold_right mono_value]; [ring |].
  rewrite insert_value. unfold product in IH. rewrite IH. ring.
Qed.

Lemma times_term_value u p : poly_value (times_term u p) == snd u * mono_value (fst u) * poly_value p.
Proof.
  unfold times_term. destruct u as [[| a m] c]; cbn [fst snd].
  - rewrite scale_value. cbn. ring.
  - generalize (a :: m) as l. intros l. induction p as [| [n d] p IH]; cbn [fold_right]; [cbn; ring |].
    rewrite plus_value, IH. cbn [poly_value mono_value fst snd]. rewrite product_value, Qred_correct. ring.
Qed.

Lemma times_value p q : poly_value (times p q) == poly_value p * poly_value q.
Proof.
  induction p as [| u p IH]; cbn [times fold_right]; [cbn; ring |].
  rewrite plus_value, times_term_value. unfold times in IH. rewrite IH. destruct u as [m c]. cbn [poly_value fst snd]. ring.
Qed.

Lemma only_constant_value p c : only_constant p = Some c -> poly_value p == c.
Proof.
  destruct p as [| [[| a m] d] [| v p]]; cbn; try discriminate; intros [= <-]; ring.
Qed.

Lemma alone_value p a : alone p = Some a -> poly_value p == val a.
Proof.
  destruct p as [| [[| b [| b' m]] c] [| v p]]; cbn; try discriminate.
  destruct (Qeq_bool c 1) eqn:E; [| discriminate]. intros [= <-]. apply Qeq_bool_iff in E. rewrite E. ring.
Qed.

Lemma to_pot_value p : val (to_pot p) == poly_value p.
Proof.
  induction p as [| [m c] p IH]; [reflexivity |]. cbn in *. rewrite IH.
  assert (val (fold_right PMul (PConst 1) m) == mono_value m) as ->; [| ring].
  clear. induction m as [| a m IH]; cbn in *; [reflexivity |]. rewrite IH. reflexivity.
Qed.

Definition is_whole (x : Q) : Prop := x == inject_Z (Qfloor x).

Lemma whole_of x z : x == inject_Z z -> is_whole x.
Proof. intros E. unfold is_whole. rewrite (Qfloor_comp _ _ E), Qfloor_Z. exact E. Qed.

Lemma whole_add x y : is_whole x -> is_whole y -> is_whole (x + y).
Proof. intros A B. apply (whole_of _ (Qfloor x + Qfloor y)). rewrite inject_Z_plus. apply Qplus_comp; assumption. Qed.

Lemma whole_mul x y : is_whole x -> is_whole y -> is_whole (x * y).
Proof. intros A B. apply (whole_of _ (Qfloor x * Qfloor y)). rewrite inject_Z_mult. apply Qmult_comp; assumption. Qed.

Lemma whole_value q : whole q = true -> is_whole (val q).
Proof.
  induction q; cbn; intros H; try (apply (whole_of _ _ (Qeq_refl _))).
  - apply whole_q_eq, H.
  - apply andb_true_iff in H as [? ?]. apply whole_add; auto.
  - apply andb_true_iff in H as [? ?]. apply whole_mul; auto.
  - unfold larger. destruct Qle_bool; [auto | apply (whole_of _ 0 (Qeq_refl _))].
Qed.

Lemma whole_poly_value p : whole_poly p = true -> is_whole (poly_value p).
Proof.
  induction p as [| [m c] p IH]; cbn; intros H; [apply (whole_of _ 0 (Qeq_refl _)) |].
  apply andb_true_iff in H as [H ?]. apply andb_true_iff in H as [C H]. apply whole_add; auto.
  apply whole_mul; [apply whole_q_eq, C |]. clear - H.
  induction m as [| a m IH]; cbn in *; [apply (whole_of _ 1 (Qeq_refl _)) |].
  apply andb_true_iff in H as [? ?]. apply whole_mul; auto. apply whole_value; auto.
Qed.

Lemma max0_value p : poly_value (max0 p) == larger 0 (poly_value p).
Proof.
  unfold max0. destruct (only_constant p) eqn:C.
  { rewrite constant_value. apply larger_eq. symmetry. apply only_constant_value, C. }
  destruct (Qle_bool (content p) 0) eqn:G.
  { rewrite atom_value. cbn. apply larger_eq, to_pot_value. }
  assert (P : 0 < content p).
  { apply Qnot_le_lt. intros H. apply Qle_bool_iff in H. congruence. }
  set (g := content p) in *. set (part := scale (/ g) p).
  assert (E : poly_value p == g * poly_value part).
  { unfold part. rewrite scale_value. field. lra. }
  assert (D : poly_value (scale g (atom (Max0 (to_pot part)))) == larger 0 (poly_value p)).
  { rewrite scale_value, atom_value. cbn [peval]. rewrite (larger_eq _ _ (to_pot_value part)).
    rewrite (larger_eq _ _ E). symmetry. apply larger_scale, P. }
  assert (Up : forall a, alone part = Some (Max0 a) -> poly_value p == larger 0 (poly_value p)).
  { intros a A. apply alone_value in A. symmetry. apply larger_pos. rewrite E, A. cbn.
    apply Qmult_le_0_compat; [lra | apply larger_l]. }
  assert (Down : forall a, alone (scale (-1) part) = Some (Max0 a) -> 0 == larger 0 (poly_value p)).
  { intros a A. apply alone_value in A. rewrite scale_value in A. symmetry. apply larger_neg. rewrite E.
    cbn in A. pose proof (larger_l 0 (val a)). assert (0 <= g * - poly_value part); [apply Qmult_le_0_compat; lra |]. lra. }
  destruct (alone part) as [[] |] eqn:A; try (eapply Up; reflexivity);
    (destruct (alone (scale (-1) part)) as [[] |] eqn:B; try exact D; eapply Down; reflexivity).
Qed.

Lemma floor_parts x w l k d :
  is_whole w -> is_whole l -> 0 <= d -> d < 1 # k -> x == w + (1 # k) * l + d ->
  Qfloor x = (Qfloor w + Z.div (Qfloor l) (Zpos k))%Z.
Proof.
  intros W L D0 D1 E. unfold is_whole in *.
  set (a := Qfloor w) in *. set (b := Qfloor l) in *.
  pose proof (Z.div_mod b (Zpos k) ltac:(lia)) as R. pose proof (Z.mod_pos_bound b (Zpos k) ltac:(lia)) as Bd.
  set (q := Z.div b (Zpos k)) in *. set (r := Z.modulo b (Zpos k)) in *.
  assert (F : x == inject_Z (a + q) + ((1 # k) * inject_Z r + d)).
  { rewrite E, W, L, R, !inject_Z_plus, inject_Z_mult.
    assert ((1 # k) * inject_Z (Zpos k) == 1) as K by (unfold Qeq, Qmult, inject_Z; cbn; lia).
    setoid_replace ((1 # k) * (inject_Z (Zpos k) * inject_Z q + inject_Z r))
      with ((1 # k) * inject_Z (Zpos k) * inject_Z q + (1 # k) * inject_Z r) by ring. rewrite K. ring. }
  assert (A : 0 <= (1 # k) * inject_Z r) by (unfold Qle, Qmult, inject_Z; cbn [Qnum Qden]; lia).
  assert (B : (1 # k) * inject_Z r + (1 # k) <= 1).
  { unfold Qle, Qplus, Qmult, inject_Z. cbn [Qnum Qden]. rewrite !Pos2Z.inj_mul, !Z.mul_1_l. nia. }
  apply floor_is; rewrite F, ?inject_Z_plus; [lra |]. change (inject_Z 1) with 1. lra.
Qed.

Lemma floor_value p k : poly_value (floor_ p k) == inject_Z (Qfloor (poly_value p / inject_Z (Zpos k))).
Proof.
  assert (S : poly_value (atom (Floor (to_pot p) k)) == inject_Z (Qfloor (poly_value p / inject_Z (Zpos k)))).
  { rewrite atom_value. cbn [peval]. rewrite (Qfloor_comp (val (to_pot p) / inject_Z (Zpos k)) (poly_value p / inject_Z (Zpos k)));
      [reflexivity | rewrite to_pot_value; reflexivity]. }
  unfold floor_. destruct (split_floor p k) as [[w l] k'].
  destruct only_constant eqn:C; [| exact S]. apply only_constant_value in C.
  rewrite minus_value, plus_value, !scale_value in C.
  destruct (Qle_bool 0 q && negb (Qle_bool (1 # k') q) && whole_poly w && whole_poly l) eqn:G; [| exact S].
  rewrite !andb_true_iff, negb_true_iff in G. destruct G as [[[G0 G1] Gw] Gl]. apply Qle_bool_iff in G0.
  assert (G2 : q < 1 # k').
  { apply Qnot_le_lt. intros H. apply Qle_bool_iff in H. congruence. }
  apply whole_poly_value in Gw, Gl.
  rewrite (floor_parts _ (poly_value w) (poly_value l) k' q); auto.
  2: { rewrite <- C. unfold Qdiv. setoid_replace (/ inject_Z (Zpos k)) with (1 # k) by reflexivity. ring. }
  unfold is_whole in Gw, Gl. rewrite inject_Z_plus. destruct (only_constant l) eqn:Cl.
  - apply only_constant_value in Cl. rewrite plus_value, constant_value, <- Gw.
    rewrite (Qfloor_comp _ _ Cl). reflexivity.
  - rewrite plus_value, <- Gw. destruct (Pos.eqb_spec k' 1) as [-> | N].
    + rewrite Z.div_1_r, <- Gl. reflexivity.
    + rewrite atom_value. cbn [peval]. rewrite Zdiv_Qdiv, <- Gl.
      rewrite (Qfloor_comp (val (to_pot l) / inject_Z (Zpos k')) (poly_value l / inject_Z (Zpos k')));
        [reflexivity | rewrite to_pot_value; reflexivity].
Qed.

Lemma log2_value p :
  poly_value (log2 p) == inject_Z (let n := Qfloor (poly_value p) in if Z.ltb n 1 then 0 else Z.log2 n).
Proof.
  unfold log2. destruct only_constant eqn:C.
  - rewrite constant_value. apply only_constant_value in C. rewrite (Qfloor_comp _ _ C). reflexivity.
  - rewrite atom_value. cbn [peval]. rewrite (Qfloor_comp _ _ (to_pot_value p)). reflexivity.
Qed.

Definition operator (o : op2) (x y : Q) : Q := inject_Z (as_int (denote2 (call M) o (VInt (Qfloor x)) (VInt (Qfloor y)))).

Lemma on_constants_value o p q b c :
  match o with Div | Shr | BitAnd | BitOr | BitXor => True | _ => False end ->
  only_constant p = Some b -> only_constant q = Some c ->
  poly_value (on_constants o (Qfloor b) (Qfloor c)) == operator o (poly_value p) (poly_value q).
Proof.
  intros O B C. apply only_constant_value in B, C. unfold operator, on_constants.
  rewrite constant_value, (Qfloor_comp _ _ B), (Qfloor_comp _ _ C). destruct o; try contradiction; reflexivity.
Qed.

Lemma quot_by_floors z d :
  (Z.quot z (Zpos d) = Qfloor (larger 0 (inject_Z z) / inject_Z (Zpos d)) - Qfloor (larger 0 (- inject_Z z) / inject_Z (Zpos d)))%Z.
Proof.
  destruct (Z.le_gt_cases 0 z) as [H | H].
  - assert (P : 0 <= inject_Z z) by (rewrite Zle_Qle in H; exact H).
    rewrite (Qfloor_comp (larger 0 (inject_Z z) / inject_Z (Zpos d)) (inject_Z z / inject_Z (Zpos d))) by (rewrite larger_pos by lra; reflexivity).
    rewrite (Qfloor_comp (larger 0 (- inject_Z z) / inject_Z (Zpos d)) (inject_Z 0 / inject_Z (Zpos d))) by (rewrite larger_neg by lra; reflexivity).
    rewrite <- !Zdiv_Qdiv, Z.div_0_l, Z.sub_0_r by lia. apply Z.quot_div_nonneg; lia.
  - assert (P : inject_Z z < 0) by (rewrite Zlt_Qlt in H; exact H).
    rewrite (Qfloor_comp (larger 0 (inject_Z z) / inject_Z (Zpos d)) (inject_Z 0 / inject_Z (Zpos d))) by (rewrite larger_neg by lra; reflexivity).
    rewrite (Qfloor_comp (larger 0 (- inject_Z z) / inject_Z (Zpos d)) (inject_Z (- z) / inject_Z (Zpos d)))
      by (rewrite larger_pos by lra; rewrite inject_Z_opp; reflexivity).
    rewrite <- !Zdiv_Qdiv, Z.div_0_l by lia. rewrite <- Z.quot_div_nonneg by lia. rewrite Z.quot_opp_l by lia. lia.
Qed.

Lemma operated_value o p q : poly_value (operated o p q) == operator o (poly_value p) (poly_value q).
Proof.
  assert (S : poly_value (atom (Apply o (to_pot p) (to_pot q))) == operator o (poly_value p) (poly_value q)).
  { rewrite atom_value. cbn [peval]. unfold operator.
    rewrite (Qfloor_comp _ _ (to_pot_value p)), (Qfloor_comp _ _ (to_pot_value q)). reflexivity. }
  unfold operated. destruct (only_constant q) eqn:C; [| exact S]. rename q0 into c.
  destruct (whole_q c) eqn:W; [| exact S]. destruct (whole_poly p) eqn:WP; [| exact S]. cbn [negb andb].
  apply whole_poly_value in WP. unfold is_whole in WP. pose proof (only_constant_value _ _ C) as VC.
  assert (Consts : match o with Div | Shr | BitAnd | BitOr | BitXor => True | _ => False end ->
    poly_value (match only_constant p with Some b => on_constants o (Qfloor b) (Qfloor c)
                | None => atom (Apply o (to_pot p) (to_pot q)) end) == operator o (poly_value p) (poly_value q)).
  { intros O. destruct (only_constant p) eqn:B; [| exact S]. apply on_constants_value; auto. }
  destruct o; try exact S; try (apply Consts; exact I).
  - destruct (Qfloor c) as [| d | d] eqn:K; try (apply Consts; exact I).
    rewrite minus_value, !floor_value. unfold operator. cbn [denote2 as_int].
    rewrite (Qfloor_comp _ _ VC), K. set (z := Qfloor (poly_value p)) in *. rewrite (quot_by_floors z d).
    rewrite inject_Z_sub.
    rewrite (Qfloor_comp (poly_value (max0 p) / inject_Z (Zpos d)) (larger 0 (inject_Z z) / inject_Z (Zpos d))).
    2: { rewrite max0_value, (larger_eq _ _ WP). reflexivity. }
    rewrite (Qfloor_comp (poly_value (max0 (scale (-1) p)) / inject_Z (Zpos d)) (larger 0 (- inject_Z z) / inject_Z (Zpos d))).
    2: { rewrite max0_value. rewrite (larger_eq _ (- inject_Z z)); [reflexivity |]. rewrite scale_value, WP. fold z. ring. }
    ring.
  - destruct ((0 <=? Qfloor c)%Z && (Qfloor c <? 64)%Z) eqn:K; [| apply Consts; exact I].
    apply andb_true_iff in K as [K _]. apply Z.leb_le in K.
    rewrite floor_value. unfold operator. cbn [denote2 as_int]. rewrite (Qfloor_comp _ _ VC).
    assert (Pw : (0 < 2 ^ Qfloor c)%Z) by (apply Z.pow_pos_nonneg; lia).
    replace (Qfloor c <? 0)%Z with false by (symmetry; apply Z.ltb_ge; lia).
    rewrite Z2Pos.id, Z.shiftr_div_pow2, Zdiv_Qdiv, <- WP by lia. reflexivity.
  - destruct ((0 <? Qfloor c)%Z && Z.eqb (2 ^ Z.log2 (Qfloor c + 1)) (Qfloor c + 1)) eqn:K; [| apply Consts; exact I].
    apply andb_true_iff in K as [K E]. apply Z.ltb_lt in K. apply Z.eqb_eq in E.
    rewrite minus_value, scale_value, floor_value. unfold operator. cbn [denote2 as_int]. rewrite (Qfloor_comp _ _ VC).
    set (k := Qfloor c) in *. set (z := Qfloor (poly_value p)) in *. set (j := Z.log2 (k + 1)) in *.
    assert (J : (0 <= j)%Z) by apply Z.log2_nonneg.
    assert (k = Z.ones j) as Ek by (rewrite Z.ones_equiv; lia). rewrite Ek at 3. rewrite Z.land_ones by auto. rewrite E.
    rewrite Z2Pos.id by lia.
    rewrite (Qfloor_comp (poly_value p / inject_Z (k + 1)) (inject_Z z / inject_Z (k + 1))) by (rewrite WP; reflexivity).
    rewrite <- Zdiv_Qdiv, WP. fold z. rewrite Z.mod_eq by lia. rewrite inject_Z_sub, inject_Z_mult. ring.
Qed.

(** What stands for an atom has its value. *)
Definition fair (s : swap) : Prop := forall a p, In (a, p) s -> poly_value p == val a.

Lemma swapped_value s q p : fair s -> swapped s q = Some p -> poly_value p == val q.
Proof.
  induction s as [| [a r] s IH]; cbn; [discriminate |]. intros F. destruct (pot_compare a q) eqn:E.
  - intros [= <-]. apply pot_compare_eq in E as <-. apply F. left. reflexivity.
  - apply IH. intros b u I. apply F. right. exact I.
  - apply IH. intros b u I. apply F. right. exact I.
Qed.

Theorem replaced_value s q : fair s -> poly_value (replaced s q) == val q.
Proof.
  intros F. induction q; cbn [replaced]; (destruct swapped eqn:E; [exact (swapped_value _ _ _ F E) |]); cbn [peval].
  - apply constant_value.
  - apply atom_value.
  - rewrite plus_value, IHq1, IHq2. reflexivity.
  - rewrite times_value, IHq1, IHq2. reflexivity.
  - rewrite max0_value. apply larger_eq, IHq.
  - rewrite floor_value.
    rewrite (Qfloor_comp (poly_value (replaced s q) / inject_Z (Zpos k)) (val q / inject_Z (Zpos k)));
      [reflexivity | rewrite IHq; reflexivity].
  - rewrite log2_value, (Qfloor_comp _ _ IHq). reflexivity.
  - rewrite operated_value. unfold operator. rewrite (Qfloor_comp _ _ IHq1), (Qfloor_comp _ _ IHq2). reflexivity.
Qed.

Corollary normal_value q : poly_value (normal q) == val q.
Proof. apply replaced_value. intros a p []. Qed.

End Values.
