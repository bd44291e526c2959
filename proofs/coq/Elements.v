(** Elements of arrays in P and Q: what an array holds that nobody writes is a part of the setting, as parameters are, so
    that facts and potentials may speak of it, and reads of it are known.

    In certificates an element is an operator, "elem:A" of an index, with contracts on its values (Contracts.v). Here the
    operator is [Call2 "elem:A"], on the index and 0. *)

From Coq Require Import ZArith QArith Qround List String Bool Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic Lemmas Rules Soundness Sums.
Import ListNotations.
Open Scope Q_scope.

(** * Statements *)

(** M where arrays hold what stores say *)
Definition bare (M : machine) : machine :=
  Machine (params M) (block M) (arrays M) (base M) (hw M) (price M) (call M) (fun _ => None).

(** A store in which held arrays hold what M says, now and later *)
Definition as_held (M : machine) (sigma : store) : Prop := forall A f, held M A = Some f -> stable A sigma f.

(** s writes no held array. *)
Definition writes_none_held (M : machine) (s : stmt) : Prop := forall A f, held M A = Some f -> leaves_alone A s.

(** A[i] as facts and potentials say it, and that M's operator gives what a read does *)
Definition element (A : string) (i : expr) : expr := Op2 (Call2 ("elem:" ++ A)%string) i (Const (VInt 0)).

Definition element_of (M : machine) (A : string) : Prop :=
  exists f, held M A = Some f
  /\ forall i, call M ("elem:" ++ A)%string [VInt i; VInt 0] = if in_bounds (arrays M A) i then f i else default (elem (arrays M A)).

(** * Runs *)

Section Held.

Variable M : machine.

Lemma eval_bare sigma e t : as_held M sigma -> eval (bare M) sigma e t = eval M sigma e t.
Proof.
  intros H. induction e; cbn [eval]; auto.
  - rewrite IHe. reflexivity.
  - rewrite IHe1, IHe2. reflexivity.
  - rewrite IHe1, IHe2, IHe3. reflexivity.
  - rewrite IHe. unfold load. cbn [bare arrays held]. destruct (in_bounds _ _); [| reflexivity].
    destruct (held M A) as [f |] eqn:E; [| reflexivity]. destruct (H A f E) as [C _]. apply C.
Qed.

Lemma yes_bare sigma T e : as_held M sigma -> yes (bare M) sigma T e = yes M sigma T e.
Proof. intros H. apply filter_ext. intros t. rewrite eval_bare by exact H. reflexivity. Qed.

Lemma no_bare sigma T e : as_held M sigma -> no (bare M) sigma T e = no M sigma T e.
Proof. intros H. apply filter_ext. intros t. rewrite eval_bare by exact H. reflexivity. Qed.

Lemma accesses_bare sigma T A i : as_held M sigma -> accesses (bare M) sigma T A i = accesses M sigma T A i.
Proof.
  intros H. unfold accesses. cbn [bare arrays hw]. change (warp_of (bare M)) with (warp_of M). f_equal. apply map_ext. intros w.
  f_equal. apply map_ext. intros t. rewrite eval_bare by exact H. reflexivity.
Qed.

Lemma ecost_bare sigma T e : as_held M sigma -> ecost (bare M) sigma T e = ecost M sigma T e.
Proof.
  intros H. induction e; cbn [ecost]; change (price (bare M)) with (price M); change (read_price (bare M)) with (read_price M);
    rewrite ?accesses_bare by exact H; congruence.
Qed.

Lemma assign_bare sigma T x e : as_held M sigma -> assign (bare M) sigma T x e = assign M sigma T x e.
Proof.
  intros H. unfold assign.
  rewrite (map_ext (fun t => (t, eval (bare M) sigma e t)) (fun t => (t, eval M sigma e t))) by (intros; rewrite eval_bare by exact H; reflexivity).
  reflexivity.
Qed.

Lemma write_bare sigma T A i e : as_held M sigma -> write (bare M) sigma T A i e = write M sigma T A i e.
Proof.
  intros H. unfold write.
  rewrite (map_ext (fun t => (as_int (eval (bare M) sigma i t), eval (bare M) sigma e t))
                   (fun t => (as_int (eval M sigma i t), eval M sigma e t))) by (intros; rewrite !eval_bare by exact H; reflexivity).
  reflexivity.
Qed.

Lemma parts_write_none s1 s2 s :
  (forall A, leaves_alone A s -> leaves_alone A s1 /\ leaves_alone A s2) ->
  writes_none_held M s -> writes_none_held M s1 /\ writes_none_held M s2.
Proof. intros H W. split; intros A f E; apply (H A), (W A f E). Qed.

Lemma stays_held N sigma T s sigma' c :
  run N sigma T s (End sigma') c -> as_held M sigma -> writes_none_held M s -> as_held M sigma'.
Proof. intros R H W A f E. eapply stable_arrays; [exact R | reflexivity | apply (W A f E) | apply (H A f E)]. Qed.

(** In a step of an induction on a run of N: what is assumed of a statement and its store holds of its parts and theirs. *)
Ltac of_parts N :=
  try match goal with
  | W : writes_none_held M (Seq ?a ?b) |- _ => destruct (parts_write_none a b (Seq a b) (fun A X => X) W)
  | W : writes_none_held M (If ?e ?a ?b) |- _ => destruct (parts_write_none a b (If e a b) (fun A X => X) W)
  | W : writes_none_held M (While ?e ?a) |- _ => assert (writes_none_held M a) by exact W
  end;
  try match goal with _ : run N ?g _ ?s (End ?g') _, _ : run N ?g' _ _ _ _ |- _ =>
        assert (as_held M g') by (eapply stays_held; eauto) end.

(** A run where held arrays are arrays like others is one where they are part of the setting. *)
Theorem held_run sigma T s o c :
  run (bare M) sigma T s o c -> as_held M sigma -> writes_none_held M s -> run M sigma T s o c.
Proof.
  intros R. induction R; intros AH W; of_parts (bare M);
    change (price (bare M)) with (price M); change (write_price (bare M)) with (write_price M);
    rewrite ?yes_bare, ?no_bare, ?ecost_bare, ?accesses_bare, ?assign_bare, ?write_bare in * by assumption;
    try (econstructor; eauto; fail).
Qed.

(** And the other way round *)
Theorem bare_run sigma T s o c :
  run M sigma T s o c -> as_held M sigma -> writes_none_held M s -> run (bare M) sigma T s o c.
Proof.
  intros R. induction R; intros AH W; of_parts M;
    change (price M) with (price (bare M)); change (write_price M) with (write_price (bare M));
    rewrite <- ?yes_bare, <- ?no_bare, <- ?ecost_bare, <- ?accesses_bare, <- ?assign_bare, <- ?write_bare in * by assumption;
    try (econstructor; eauto; fail).
Qed.

(** Theorem 1, where P, Q, P' and Q' have elements *)
Theorem theorem_1_with_elements U A s B sigma T sigma' c :
  sane (price M) -> derivable M U A s B -> as_held M sigma -> writes_none_held M s ->
  sat M U sigma T (facts A) (uniforms A) -> run (bare M) sigma T s (End sigma') c ->
  sat M U sigma' T (facts B) (uniforms B)
  /\ forall t, In t T -> c <= peval M sigma (potential A) t - peval M sigma' (potential B) t.
Proof. intros S D H W Sat R. exact (theorem_1 M U A s B sigma T sigma' c S D Sat (held_run _ _ _ _ _ R H W)). Qed.

Theorem every_prefix_with_elements U A s B sigma T c :
  sane (price M) -> derivable M U A s B -> at_least M U (facts B) (uniforms B) (potential B) zero ->
  as_held M sigma -> writes_none_held M s ->
  sat M U sigma T (facts A) (uniforms A) -> run (bare M) sigma T s Cut c ->
  (forall t, In t T -> c <= peval M sigma (potential A) t) \/ exists c', run (bare M) sigma T s Broken c'.
Proof.
  intros S D N H W Sat R.
  destruct (every_prefix M U A s B sigma T c S D N Sat (held_run _ _ _ _ _ R H W)) as [L | (c' & R')]; [left; exact L | right].
  exists c'. apply bare_run; assumption.
Qed.

(** * Elements in conditions *)

(** An element is what a read of the array gives: in facts, *)
Theorem element_is_read A sigma i t z :
  element_of M A -> eval M sigma i t = VInt z -> eval M sigma (element A i) t = eval M sigma (Read A i) t.
Proof. intros (f & F & E) I. cbn [element eval denote2]. rewrite I, E. unfold load. rewrite F. reflexivity. Qed.

(** in potentials, *)
Theorem element_in_potential A sigma q t :
  element_of M A ->
  peval M sigma (Apply (Call2 ("elem:" ++ A)%string) q (PConst 0)) t
  = inject_Z (as_int (load M sigma A (Qfloor (peval M sigma q t)))).
Proof. intros (f & F & E). cbn [peval denote2]. rewrite E. unfold load. rewrite F. reflexivity. Qed.

Lemma subst_other x e e1 : ~ In x (vars e1) -> subst x e e1 = e1.
Proof.
  induction e1; cbn [vars subst]; intros N; rewrite ?in_app_iff in N; rewrite ?IHe1, ?IHe1_1, ?IHe1_2, ?IHe1_3 by tauto; try reflexivity.
  destruct (String.eqb_spec x0 x) as [-> |]; [exfalso; apply N; left; reflexivity | reflexivity].
Qed.

(** and behind x := A[i] it is x: the premise P |- P'[A[i]/x] of the rules for assignments, where P' says so *)
Theorem read_is_known (U : thread -> Prop) P A x i :
  element_of M A -> ~ In x (vars i) -> (forall sigma t, U t -> holds M sigma t P -> exists z, eval M sigma i t = VInt z) ->
  entails M U P (map (subst x (Read A i)) [Op2 Eq (Var x) (element A i)]).
Proof.
  intros E N I sigma t Ut H p [<- | []]. destruct (I sigma t Ut H) as (z & Iz).
  cbn [subst element]. rewrite String.eqb_refl, (subst_other x (Read A i) i N). fold (element A i).
  cbn [eval denote2 as_bool]. change (eval M sigma (Op2 (Call2 ("elem:" ++ A)%string) i (Const (VInt 0))) t) with (eval M sigma (element A i) t).
  rewrite (element_is_read A sigma i t z E Iz). cbn [eval]. apply Z.eqb_refl.
Qed.

End Held.
