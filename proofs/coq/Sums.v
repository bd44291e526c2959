(** Sums over the warps of a block and the blocks of a grid, by telescoping; arrays that nobody writes.

    A warp knows its number and its block's as parameters, so that each warp has a machine of its own. What others write
    comes to a warp behind barriers ([later]): a bound holds whatever that is, so the warps of a grid may run in any
    order, one after the other between barriers. *)

From Coq Require Import ZArith QArith Qround List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic Lemmas Rules Soundness.
Import ListNotations.
Open Scope Q_scope.

(** * Statements *)

(** M where a parameter has this value: warp.index, blockIdx.x, .. *)
Definition at_index (M : machine) (i : string) (v : Z) : machine :=
  Machine (fun p => if String.eqb p i then VInt v else params M p) (block M) (arrays M) (base M) (hw M) (price M) (call M)
    (held M).

(** The value of a potential over parameters *)
Definition blank : store := Store (fun _ _ => VInt 0) (fun _ _ => VInt 0) [].
Definition value_in (q : pot) (M : machine) : Q := peval M blank q (0, 0, 0)%Z.

Fixpoint sum (l : list Q) : Q := match l with [] => 0 | x :: l => x + sum l end.

(** The sum of q over i = 0 .. N - 1, and the claim of it: F at 0 less F at N *)
Definition total (i : string) (N : machine -> Z) (q : machine -> Q) (M : machine) : Q :=
  sum (map (fun v => q (at_index M i v)) (range 0 (Z.to_nat (N M)))).

Definition claimed (i : string) (N : machine -> Z) (F : machine -> Q) (M : machine) : Q :=
  F (at_index M i 0) - F (at_index M i (N M)).

(** Indices are summed over one after the other: the first is the warp's, the others are the block's. *)
Record index := Index { name : string; extent : machine -> Z; part : machine -> Q }.

Fixpoint totals (sums : list index) (q : machine -> Q) : machine -> Q :=
  match sums with [] => q | i :: more => totals more (total (name i) (extent i) q) end.

Fixpoint claims (sums : list index) (q : machine -> Q) : machine -> Q :=
  match sums with [] => q | i :: more => claims more (claimed (name i) (extent i) (part i)) end.

(** The launch says nothing of an index but its range, and what is summed is at most F - F[i <- i + 1], at each step. *)
Fixpoint telescope (L : machine -> Prop) (sums : list index) (q : machine -> Q) : Prop :=
  match sums with
  | [] => True
  | i :: more =>
      (forall M, L M -> (0 <= extent i M)%Z)
      /\ (forall M v, L M -> (0 <= v < extent i M)%Z -> L (at_index M (name i) v))
      /\ (forall M v, L M -> (0 <= v < extent i M)%Z ->
            q (at_index M (name i) v) <= part i (at_index M (name i) v) - part i (at_index M (name i) (v + 1)))
      /\ telescope L more (claimed (name i) (extent i) (part i))
  end.

(** What a warp has paid: at the end of a run, or before it, where it breaks no assumption *)
Definition pays (M : machine) (U : thread -> Prop) (s : stmt) (c : Q) : Prop :=
  exists sigma T o, T <> [] /\ (forall t, In t T -> U t) /\ run M sigma T s o c
    /\ match o with End _ => True | Broken => False | Cut => ~ exists c', run M sigma T s Broken c' end.

(** * Telescoping *)

Lemma sum_app l l' : sum (l ++ l') == sum l + sum l'.
Proof. induction l as [| x l IH]; cbn [app sum]; lra. Qed.

Lemma range_more n : range 0 (S n) = range 0 n ++ [Z.of_nat n].
Proof. unfold range. rewrite seq_S, map_app. reflexivity. Qed.

(** q(v) <= F(v) - F(v + 1) for v = 0 .. n - 1: the sum of q is at most F(0) - F(n). *)
Theorem telescoping (q F : Z -> Q) n :
  (forall v, (0 <= v < Z.of_nat n)%Z -> q v <= F v - F (v + 1)%Z) -> sum (map q (range 0 n)) <= F 0%Z - F (Z.of_nat n).
Proof.
  induction n as [| n IH]; intros H; [cbn; lra |]. rewrite range_more, map_app, sum_app.
  assert (L : sum (map q (range 0 n)) <= F 0%Z - F (Z.of_nat n)) by (apply IH; intros; apply H; lia).
  specialize (H (Z.of_nat n) ltac:(lia)). replace (Z.of_nat n + 1)%Z with (Z.of_nat (S n)) in H by lia.
  cbn [map sum]. lra.
Qed.

Lemma sum_mono {A} (f g : A -> Q) l : (forall v, In v l -> f v <= g v) -> sum (map f l) <= sum (map g l).
Proof.
  induction l as [| v l IH]; intros H; cbn [map sum]; [lra |].
  pose proof (H v (or_introl eq_refl)). pose proof (IH (fun u I => H u (or_intror I))). lra.
Qed.

Lemma in_range_nat v n : In v (range 0 n) -> (0 <= v < Z.of_nat n)%Z.
Proof. unfold range. rewrite in_map_iff. intros (k & <- & I). apply in_seq in I. lia. Qed.

Theorem totals_claimed L sums : forall (q paid : machine -> Q),
  telescope L sums q -> (forall M, L M -> paid M <= q M) -> forall M, L M -> totals sums paid M <= claims sums q M.
Proof.
  induction sums as [| i sums IH]; intros q paid T H M LM; cbn [totals claims]; [auto |].
  destruct T as (E & Cl & St & T). apply IH; auto. clear M LM IH T. intros M LM. unfold total, claimed.
  specialize (E M LM). eapply Qle_trans.
  - apply (sum_mono _ (fun v => q (at_index M (name i) v))). intros v I. apply in_range_nat in I. apply H, Cl; [exact LM | lia].
  - pose proof (telescoping (fun v => q (at_index M (name i) v)) (fun v => part i (at_index M (name i) v)) (Z.to_nat (extent i M))) as Te.
    rewrite Z2Nat.id in Te by exact E. apply Te. intros v V. apply St; auto.
Qed.

(** * A grid *)

Lemma over_parameters M sigma t q : over [] q -> peval M sigma q t = value_in q M.
Proof. intros O. apply (peval_uniform M [] _ _ _ _ q O). intros x []. Qed.

Lemma pays_at_most M U q X s B c :
  sane (price M) -> derivable M U (Cond [] q X) s B -> at_least M U (facts B) (uniforms B) (potential B) zero ->
  over [] q -> X = [] -> pays M U s c -> c <= value_in q M.
Proof.
  intros S D N O -> (sigma & T & o & NT & HU & R & Ok). destruct T as [| t T]; [congruence |].
  assert (Sat : sat M U sigma (t :: T) [] []).
  { split; [exact NT |]. split; [exact HU |]. split; [intros u _ p [] | intros y u v []]. }
  rewrite <- (over_parameters M sigma t q O). destruct o as [sigma' | |].
  - destruct (theorem_1 M U (Cond [] q []) s B sigma (t :: T) sigma' c S D Sat R) as [Sat' E].
    specialize (E t (or_introl eq_refl)). specialize (N sigma' (t :: T) t Sat' (or_introl eq_refl)).
    cbn [potential] in E. cbn in N. lra.
  - contradiction.
  - destruct (every_prefix M U (Cond [] q []) s B sigma (t :: T) c S D N Sat R) as [E | E]; [| contradiction].
    apply (E t (or_introl eq_refl)).
Qed.

(** The claim of a certificate with sums. For every machine of the launch L there is a derivation of {true; Q; {}} s {B} with
    B's potential at least 0, of one Q over parameters. Then whatever the warps of a block, or of a grid, pay comes to at
    most what the sums claim. *)
Theorem grid_bound L U s q B sums paid :
  over [] q -> telescope L sums (value_in q) ->
  (forall M, L M -> sane (price M) /\ derivable M (U M) (Cond [] q []) s (B M)
                    /\ at_least M (U M) (facts (B M)) (uniforms (B M)) (potential (B M)) zero) ->
  (forall M, L M -> pays M (U M) s (paid M)) ->
  forall M, L M -> totals sums paid M <= claims sums (value_in q) M.
Proof.
  intros O T D P M LM. apply (totals_claimed L); auto. intros M' L'. destruct (D M' L') as (S & D' & N).
  apply (pays_at_most M' (U M') q [] s (B M')); auto.
Qed.

(** ** F[i <- r], as certificates have it *)

Fixpoint put (p : string) (r q : pot) : pot :=
  match q with
  | PConst _ => q
  | Leaf (Param p') => if String.eqb p' p then r else q
  | Leaf _ => q
  | PAdd a b => PAdd (put p r a) (put p r b)
  | PMul a b => PMul (put p r a) (put p r b)
  | Max0 a => Max0 (put p r a)
  | Floor a k => Floor (put p r a) k
  | Log2 a => Log2 (put p r a)
  | Apply o a b => Apply o (put p r a) (put p r b)
  end.

Definition over_leaves (q : pot) : Prop := forall e, In e (leaves q) -> exists p, e = Param p.

Lemma larger_same a b : a == b -> larger 0 a == larger 0 b.
Proof.
  intros E. apply Qle_antisym; apply larger_least; try apply larger_l; (eapply Qle_trans; [| apply larger_r]); rewrite E; apply Qle_refl.
Qed.

Theorem put_value M p r n q :
  over_leaves q -> value_in r M == inject_Z n -> value_in (put p r q) M == value_in q (at_index M p n).
Proof.
  intros O E. unfold value_in in *. induction q; cbn [put peval leaves] in *;
    try (assert (O1 : over_leaves q1) by (intros e I; apply O, in_app_iff; auto);
         assert (O2 : over_leaves q2) by (intros e I; apply O, in_app_iff; auto)).
  - reflexivity.
  - destruct (O e (or_introl eq_refl)) as [p' ->]. cbn [eval at_index params]. destruct (String.eqb p' p); [exact E | reflexivity].
  - rewrite IHq1, IHq2 by assumption. reflexivity.
  - rewrite IHq1, IHq2 by assumption. reflexivity.
  - apply larger_same, IHq, O.
  - rewrite (Qfloor_comp _ (peval (at_index M p n) blank q (0, 0, 0)%Z / inject_Z (Z.pos k))); [reflexivity |].
    rewrite IHq by exact O. reflexivity.
  - rewrite (Qfloor_comp _ _ (IHq O)). reflexivity.
  - rewrite (Qfloor_comp _ _ (IHq1 O1)), (Qfloor_comp _ _ (IHq2 O2)). reflexivity.
Qed.

Lemma value_same M M' q :
  over_leaves q -> (forall p, params M p = params M' p) -> call M = call M' -> value_in q M = value_in q M'.
Proof.
  intros O E C. unfold value_in. induction q; cbn [peval leaves] in *;
    try (assert (O1 : over_leaves q1) by (intros e I; apply O, in_app_iff; auto);
         assert (O2 : over_leaves q2) by (intros e I; apply O, in_app_iff; auto));
    try (rewrite IHq by exact O); try (rewrite IHq1, IHq2 by assumption); rewrite ?C; try reflexivity.
  destruct (O e (or_introl eq_refl)) as [p ->]. cbn [eval]. rewrite E. reflexivity.
Qed.

(** F[i <- i + 1] at i = v is F at v + 1. *)
Theorem put_next M i v q :
  over_leaves q -> value_in (put i (PAdd (Leaf (Param i)) (PConst 1)) q) (at_index M i v) == value_in q (at_index M i (v + 1)).
Proof.
  intros O. rewrite (put_value _ _ _ (v + 1)%Z) by
    (exact O || (unfold value_in; cbn [peval eval at_index params]; rewrite String.eqb_refl, inject_Z_plus; reflexivity)).
  rewrite (value_same _ (at_index M i (v + 1)) q O); [reflexivity | | reflexivity].
  intros p. cbn [at_index params]. destruct (String.eqb p i); reflexivity.
Qed.

(** * Arrays that nobody writes *)

(** An array that no statement writes, and nobody else behind barriers, stays as it is: contracts on it hold throughout. *)
Fixpoint leaves_alone (A : string) (s : stmt) : Prop :=
  match s with
  | Skip | Sync | Assign _ _ | Assume _ | Others => True
  | Write B _ _ => B <> A
  | Seq s1 s2 | If _ s1 s2 => leaves_alone A s1 /\ leaves_alone A s2
  | While _ s => leaves_alone A s
  end.

Definition stable (A : string) (sigma : store) (held : Z -> value) : Prop :=
  (forall i, contents sigma A i = held i) /\ (forall c i, In c (later sigma) -> c A i = held i).

Lemma behind_stable A held sigma : stable A sigma held -> stable A (behind sigma) held.
Proof.
  intros [C L]. unfold behind. destruct (later sigma) as [| d more] eqn:Le.
  - split; [exact C |]. rewrite Le. intros ? ? [].
  - split; cbn [contents later]; [intros i; apply L; left; reflexivity | intros d' i I; apply L; right; exact I].
Qed.

Theorem stable_arrays M A held sigma T s o c :
  run M sigma T s o c -> forall sigma', o = End sigma' -> leaves_alone A s -> stable A sigma held -> stable A sigma' held.
Proof.
  induction 1; intros sigma' E W St; cbn [leaves_alone] in W; try discriminate; try contradiction;
    try (injection E as <-; exact St); try match type of W with _ /\ _ => destruct W as [W1 W2] end; subst; eauto.
  - injection E as <-. apply behind_stable, St.
  - injection E as <-. apply behind_stable, St.
  - injection E as <-. destruct St as [C L]. split; [| exact L]. intros j. cbn [write contents].
    destruct (String.eqb_spec A A0) as [-> |]; [congruence | apply C].
Qed.
