(** What soundness rests on: what a run leaves alone, what an expression depends on, negation normal form,
    substitution, costs of expressions. *)

From Coq Require Import ZArith QArith Qround List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic.
Import ListNotations.

(** * Threads and stores *)

Lemma thread_eqb_eq t u : thread_eqb t u = true <-> t = u.
Proof.
  destruct t as [[x y] z], u as [[x' y'] z']. cbn. rewrite !andb_true_iff, !Z.eqb_eq.
  split; [intros [[-> ->] ->]; reflexivity | intros [= -> -> ->]; auto].
Qed.

Lemma lookup_in f t T : In t T -> lookup t (map (fun u => (u, f u)) T) = Some (f t).
Proof.
  induction T as [| u T IH]; [contradiction |]. cbn. destruct (thread_eqb t u) eqn:E.
  - apply thread_eqb_eq in E as ->. reflexivity.
  - intros [-> | H]; [| auto]. assert (thread_eqb t t = true) by (apply thread_eqb_eq; reflexivity). congruence.
Qed.

Lemma lookup_out f t T : ~ In t T -> lookup t (map (fun u => (u, f u)) T) = None.
Proof.
  induction T as [| u T IH]; cbn; [reflexivity |]. intros H. destruct (thread_eqb t u) eqn:E; [| tauto].
  apply thread_eqb_eq in E as ->. tauto.
Qed.

Section Machine.

Variable M : machine.

Lemma assign_hit sigma T x e t : In t T -> local (assign M sigma T x e) x t = eval M sigma e t.
Proof. intros H. cbn. rewrite String.eqb_refl, (lookup_in (eval M sigma e)); auto. Qed.

Lemma assign_miss sigma T x e y t : y <> x \/ ~ In t T -> local (assign M sigma T x e) y t = local sigma y t.
Proof.
  intros H. cbn. destruct (String.eqb_spec y x) as [-> | N]; [| reflexivity].
  destruct H as [H | H]; [congruence |]. rewrite (lookup_out (eval M sigma e)); auto.
Qed.

Lemma in_yes sigma T e t : In t (yes M sigma T e) <-> In t T /\ as_bool (eval M sigma e t) = true.
Proof. apply filter_In. Qed.

Lemma in_no sigma T e t : In t (no M sigma T e) <-> In t T /\ as_bool (eval M sigma e t) = false.
Proof. unfold no. rewrite filter_In, negb_true_iff. reflexivity. Qed.

Lemma in_no_one sigma T e t : no M sigma T e = [] -> In t T -> as_bool (eval M sigma e t) = true.
Proof.
  intros N H. destruct (as_bool (eval M sigma e t)) eqn:E; [reflexivity |].
  assert (In t (no M sigma T e)) as W by (apply in_no; auto). rewrite N in W. contradiction.
Qed.

Lemma in_yes_one sigma T e t : yes M sigma T e = [] -> In t T -> as_bool (eval M sigma e t) = false.
Proof.
  intros N H. destruct (as_bool (eval M sigma e t)) eqn:E; [| reflexivity].
  assert (In t (yes M sigma T e)) as W by (apply in_yes; auto). rewrite N in W. contradiction.
Qed.

Lemma all_yes sigma T e : no M sigma T e = [] -> yes M sigma T e = T.
Proof.
  intros N. assert (forall t, In t T -> as_bool (eval M sigma e t) = true) as H by (intros; eapply in_no_one; eauto).
  clear N. induction T as [| t T IH]; [reflexivity |]. cbn. rewrite (H t) by (left; reflexivity).
  f_equal. apply IH. intros. apply H. right. assumption.
Qed.

Lemma behind_local sigma : local (behind sigma) = local sigma.
Proof. unfold behind. destruct (later sigma); reflexivity. Qed.

(** ** A run changes W(s) at T, and no other local *)

Lemma run_frame sigma T s o c :
  run M sigma T s o c -> forall sigma', o = End sigma' ->
  forall x t, ~ In x (writes s) \/ ~ In t T -> local sigma' x t = local sigma x t.
Proof.
  induction 1; intros sigma' E x' t' H'; try discriminate; subst; try (injection E as <-); try contradiction; auto; cbn in *.
  - rewrite behind_local. reflexivity.
  - rewrite behind_local. reflexivity.
  - rewrite in_app_iff in H'. rewrite (IHrun2 _ eq_refl) by tauto. apply IHrun1; auto; tauto.
  - apply assign_miss. destruct H' as [H' | H']; [left; intros -> |]; auto.
  - rewrite in_app_iff in H'. apply IHrun; auto; tauto.
  - rewrite in_app_iff in H'. apply IHrun; auto; tauto.
  - rewrite in_app_iff in H'. rewrite (IHrun2 _ eq_refl) by (rewrite in_no; tauto).
    apply IHrun1; auto; rewrite in_yes; tauto.
  - rewrite (IHrun2 _ eq_refl) by tauto. apply IHrun1; auto.
  - rewrite (IHrun2 _ eq_refl) by (rewrite in_yes; tauto). apply IHrun1; auto; rewrite in_yes; tauto.
Qed.

(** * What expressions and potentials depend on *)

Lemma eval_same sigma sigma' t e :
  plain e = true -> (forall x, In x (vars e) -> local sigma x t = local sigma' x t) ->
  eval M sigma e t = eval M sigma' e t.
Proof.
  induction e; cbn; intros P H; auto; try discriminate.
  - rewrite IHe; auto.
  - apply andb_true_iff in P as [P1 P2]. rewrite IHe1, IHe2; auto; intros; apply H; rewrite in_app_iff; auto.
  - apply andb_true_iff in P as [P P3]. apply andb_true_iff in P as [P1 P2].
    rewrite IHe1, IHe2, IHe3; auto; intros; apply H; rewrite !in_app_iff; auto.
Qed.

Lemma eval_uniform sigma sigma' t u e :
  plain e = true -> no_tid e = true -> (forall x, In x (vars e) -> local sigma x t = local sigma' x u) ->
  eval M sigma e t = eval M sigma' e u.
Proof.
  induction e; cbn; intros P N H; auto; try discriminate.
  - rewrite IHe; auto.
  - apply andb_true_iff in P as [P1 P2]. apply andb_true_iff in N as [N1 N2].
    rewrite IHe1, IHe2; auto; intros; apply H; rewrite in_app_iff; auto.
  - apply andb_true_iff in P as [P P3]. apply andb_true_iff in P as [P1 P2].
    apply andb_true_iff in N as [N N3]. apply andb_true_iff in N as [N1 N2].
    rewrite IHe1, IHe2, IHe3; auto; intros; apply H; rewrite !in_app_iff; auto.
Qed.

Lemma peval_uniform X sigma sigma' t u q :
  over X q -> (forall x, In x X -> local sigma x t = local sigma' x u) -> peval M sigma q t = peval M sigma' q u.
Proof.
  intros [I L] H. unfold pvars in I.
  assert (forall e, In e (leaves q) -> eval M sigma e t = eval M sigma' e u) as E.
  { intros e W. destruct (L e W). apply eval_uniform; auto. intros x V. apply H, I. apply in_flat_map. eauto. }
  clear I L H. induction q; cbn in *; auto.
  - rewrite E; auto.
  - rewrite IHq1, IHq2; auto; intros; apply E, in_app_iff; auto.
  - rewrite IHq1, IHq2; auto; intros; apply E, in_app_iff; auto.
  - rewrite IHq; auto.
  - rewrite IHq; auto.
  - rewrite IHq; auto.
  - rewrite IHq1, IHq2; auto; intros; apply E, in_app_iff; auto.
Qed.

Lemma holds_same sigma sigma' t P :
  (forall p, In p P -> plain p = true) -> (forall x, local sigma x t = local sigma' x t) ->
  holds M sigma t P -> holds M sigma' t P.
Proof. intros PL E H p I. rewrite <- (eval_same sigma sigma' t p); auto. Qed.

(** * Negation normal form *)

Lemma nnf_plain b e : plain (nnf b e) = true.
Proof.
  revert b. induction e; intros b; cbn; auto; try (destruct b; reflexivity).
  - destruct o; cbn; auto; try (destruct (plain e) eqn:E; destruct b; cbn; auto).
  - destruct o; cbn; rewrite ?IHe1, ?IHe2; auto;
      destruct (plain e1 && plain e2) eqn:E; destruct b; cbn; auto.
  - destruct o; cbn; rewrite ?IHe1, ?IHe2, ?IHe3; auto;
      destruct (plain e1 && plain e2 && plain e3) eqn:E; destruct b; cbn; auto.
Qed.

Lemma atom_ok sigma t b e :
  as_bool (eval M sigma e t) = b ->
  as_bool (eval M sigma (if plain e then if b then e else Op1 Not e else truth) t) = true.
Proof. intros H. destruct (plain e); [| reflexivity]. destruct b; cbn; rewrite H; reflexivity. Qed.

Lemma nnf_ok sigma t e : forall b, as_bool (eval M sigma e t) = b -> as_bool (eval M sigma (nnf b e) t) = true.
Proof.
  induction e; intros b H; try (apply (atom_ok _ _ _ _ H)).
  - destruct o; try (apply (atom_ok _ _ _ _ H)). cbn in *. apply IHe. destruct (as_bool (eval M sigma e t)), b; auto.
  - destruct o; try (apply (atom_ok _ _ _ _ H));
      try (cbn [nnf negated]; destruct (plain _); [| reflexivity]; destruct b; [exact H |];
           cbn in *; rewrite ?negb_false_iff, ?negb_true_iff in *; lia).
    + cbn in *. destruct b; cbn.
      * apply andb_true_iff in H as [H1 H2]. rewrite IHe1, IHe2; auto.
      * apply andb_false_iff in H as [H | H]; [rewrite IHe1 | rewrite IHe2]; auto using orb_true_r.
    + cbn in *. destruct b; cbn.
      * apply orb_true_iff in H as [H | H]; [rewrite IHe1 | rewrite IHe2]; auto using orb_true_r.
      * apply orb_false_iff in H as [H1 H2]. rewrite IHe1, IHe2; auto.
  - destruct o; try (apply (atom_ok _ _ _ _ H)). cbn in *. destruct (as_bool (eval M sigma e1 t)) eqn:E.
    + rewrite (IHe1 true), IHe2; auto.
    + rewrite (IHe1 false), IHe3; auto using orb_true_r.
Qed.

Lemma holds_with sigma t P e :
  holds M sigma t P -> as_bool (eval M sigma e t) = true -> holds M sigma t (with_ P e).
Proof. intros H E p [<- | I]; [apply nnf_ok, E | apply H, I]. Qed.

Lemma holds_without sigma t P e :
  holds M sigma t P -> as_bool (eval M sigma e t) = false -> holds M sigma t (without P e).
Proof. intros H E p [<- | I]; [apply nnf_ok, E | apply H, I]. Qed.

Lemma plain_with P e : (forall p, In p P -> plain p = true) -> forall p, In p (with_ P e) -> plain p = true.
Proof. intros H p [<- | I]; [apply nnf_plain | apply H, I]. Qed.

Lemma plain_without P e : (forall p, In p P -> plain p = true) -> forall p, In p (without P e) -> plain p = true.
Proof. intros H p [<- | I]; [apply nnf_plain | apply H, I]. Qed.

(** * Substitution is assignment *)

Lemma eval_subst sigma T x e t p :
  In t T -> plain p = true -> eval M (assign M sigma T x e) p t = eval M sigma (subst x e p) t.
Proof.
  intros I. induction p; intros P; cbn [eval subst plain] in *; auto; try discriminate.
  - destruct (String.eqb_spec x0 x) as [-> | N]; [apply assign_hit; auto | apply assign_miss; auto].
  - rewrite IHp; auto.
  - apply andb_true_iff in P as [P1 P2]. rewrite IHp1, IHp2; auto.
  - apply andb_true_iff in P as [P P3]. apply andb_true_iff in P as [P1 P2]. rewrite IHp1, IHp2, IHp3; auto.
Qed.

Lemma peval_subst sigma T x e t q :
  In t T -> (forall p, In p (leaves q) -> plain p = true) ->
  peval M (assign M sigma T x e) q t = peval M sigma (psubst x e q) t.
Proof.
  intros I. induction q; intros P; cbn [peval psubst leaves] in *; auto.
  - rewrite (eval_subst sigma T x e t e0); auto. apply P. left. reflexivity.
  - rewrite IHq1, IHq2; auto; intros; apply P, in_app_iff; auto.
  - rewrite IHq1, IHq2; auto; intros; apply P, in_app_iff; auto.
  - rewrite IHq; auto.
  - rewrite IHq; auto.
  - rewrite IHq; auto.
  - rewrite IHq1, IHq2; auto; intros; apply P, in_app_iff; auto.
Qed.

(** * Costs of expressions *)

Open Scope Q_scope.

Hypothesis S : sane (price M).

Lemma ecost_nonneg sigma T e : 0 <= ecost M sigma T e.
Proof.
  destruct S as (? & ? & ? & ? & ?). induction e; cbn; auto; try lra.
  pose proof (at_count_nonneg (read_price M A) (accesses M sigma T A e)). lra.
Qed.

Lemma read_mono A n k : (n <= k)%Z -> at_count (read_price M A) n <= at_count (read_price M A) k.
Proof. apply at_count_mono. unfold read_price. destruct S as (? & ? & ? & ? & ? & ? & ? & ? & ? & ? & ? & ?), (in_space _); auto. Qed.

Lemma write_mono A n k : (n <= k)%Z -> at_count (write_price M A) n <= at_count (write_price M A) k.
Proof. apply at_count_mono. unfold write_price. destruct S as (? & ? & ? & ? & ? & ? & ? & ? & ? & ? & ? & ?), (in_space _); auto. Qed.

Lemma costs_sound U P X e c sigma T : costs M U P X e c -> sat M U sigma T P X -> ecost M sigma T e <= c.
Proof.
  intros H Sat. induction H; cbn; try lra.
  pose proof (read_mono A _ _ (H0 sigma T Sat)). lra.
Qed.

End Machine.
