(** Every derivation is valid; Theorem 1 of the paper, for every prefix of a run. *)

From Coq Require Import ZArith QArith List String Bool Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic Lemmas Rules Ghost.
Import ListNotations.
Open Scope Q_scope.

Lemma good_charged P q c X : good (Cond P (charged q c) X) <-> good (Cond P q X).
Proof. unfold good. cbn. rewrite over_charged. reflexivity. Qed.

Lemma good_less P e q X : good (Cond (with_ P e) q X) -> good (Cond P q X).
Proof. intros [G1 G2]. split; auto. intros p I. apply G1. right. exact I. Qed.

Lemma good_with P e q X : good (Cond P q X) -> good (Cond (with_ P e) q X).
Proof. intros [G1 G2]. split; auto. apply plain_with, G1. Qed.

Lemma good_without P e q X : good (Cond P q X) -> good (Cond (without P e) q X).
Proof. intros [G1 G2]. split; auto. apply plain_without, G1. Qed.

Lemma over_more X X' q : over X q -> incl X X' -> over X' q.
Proof. intros [O L] I. split; auto. intros x J. apply I, O, J. Qed.

Lemma over_add X a b : over X (PAdd a b) <-> over X a /\ over X b.
Proof.
  unfold over, pvars. cbn. rewrite flat_map_app. split.
  - intros [O L]. repeat split; try (intros x I; apply O, in_app_iff; auto); apply L, in_app_iff; auto.
  - intros [[O1 L1] [O2 L2]]. split.
    + intros x I. apply in_app_iff in I as [I | I]; auto.
    + intros e I. apply in_app_iff in I as [I | I]; auto.
Qed.

Theorem derivable_good M U A s B : derivable M U A s B -> good A /\ good B.
Proof.
  induction 1; try tauto.
  - rewrite good_charged. tauto.
  - rewrite good_charged. destruct IHderivable1 as [G ?]. apply good_less in G. tauto.
  - rewrite good_charged. tauto.
  - rewrite good_charged. tauto.
  - rewrite good_charged. destruct IHderivable1 as [G ?]. apply good_less in G. tauto.
  - rewrite good_charged in *. destruct IHderivable as [_ G]. split; [exact G | apply good_without, G].
  - rewrite good_charged in *. destruct IHderivable as [_ G]. split; [exact G |].
    split; [apply plain_without, G | assumption].
  - rewrite good_charged in *. destruct IHderivable as [_ G]. split; [exact G |].
    split; [apply plain_without, G | assumption].
  - rewrite good_charged. tauto.
  - rewrite good_charged. tauto.
  - rewrite good_charged. tauto.
  - rewrite !good_charged. tauto.
  - destruct IHderivable as [[G1 G2] [G3 G4]]. split; (split; [assumption |]); cbn in *; apply over_add; split; auto.
    + apply (over_more _ _ _ H0). intros x I. apply in_except in I. tauto.
    + apply (over_more _ _ _ G4). apply incl_appl, incl_refl.
    + destruct H0 as [O L]. split; auto. apply incl_appr, incl_refl.
  - split; [assumption | apply good_with; assumption].
  - destruct IHderivable as [G1 [G2 G3]]. split; [exact G1 |]. split; [exact G2 | apply over_less; assumption].
Qed.

(** The rules are sound: for every machine whose prices are sane, and every scope. *)
Theorem soundness M U A s B : sane (price M) -> derivable M U A s B -> valid M U A s B.
Proof.
  intros S D. induction D.
  - apply valid_skip; auto.
  - apply valid_sync; auto.
  - eapply valid_seq; eauto.
  - eapply valid_if1; eauto.
  - eapply valid_if2; eauto.
  - eapply valid_if3; eauto.
  - apply derivable_good in D1 as [[_ G1] _]. apply derivable_good in D2 as [G2 _].
    eapply valid_if4; eauto.
  - apply derivable_good in D as [_ G]. apply good_charged in G. apply valid_while1; auto.
  - apply derivable_good in D as [_ G]. apply good_charged in G. eapply valid_while2; eauto.
  - apply derivable_good in D as [_ G]. apply good_charged in G. eapply valid_whilecase; eauto.
  - apply valid_vwrite1; auto.
  - apply valid_vwrite2; auto.
  - eapply valid_write; eauto.
  - eapply valid_weak; eauto.
  - eapply valid_equal; eauto.
  - apply valid_frame; auto.
  - apply valid_unroll; auto.
  - eapply valid_casesplit; eauto.
  - apply valid_assume.
  - apply derivable_good in D as [_ [G1 G2]]. apply (valid_ghost M U S x P Q X s1 P' Q' X'); auto.
    intros p I. apply H0, in_app_iff. auto.
Qed.

(** Theorem 1: a run that ends costs at most Q(sigma) - Q'(sigma'), and ends in what is promised. *)
Theorem theorem_1 M U A s B sigma T sigma' c :
  sane (price M) -> derivable M U A s B ->
  sat M U sigma T (facts A) (uniforms A) -> run M sigma T s (End sigma') c ->
  sat M U sigma' T (facts B) (uniforms B)
  /\ forall t, In t T -> c <= peval M sigma (potential A) t - peval M sigma' (potential B) t.
Proof.
  intros S D Sat R. destruct (soundness M U A s B S D _ _ _ _ Sat R) as [Sat' E].
  split; [exact Sat' |]. intros t I. specialize (E t I). lra.
Qed.

(** The claim of a certificate: where Q' >= 0, a run has paid at most Q(sigma) whenever it is looked at, also one that
    never ends; unless it breaks an assumption, and then the claim does not speak of it. *)
Theorem every_prefix M U A s B sigma T c :
  sane (price M) -> derivable M U A s B -> at_least M U (facts B) (uniforms B) (potential B) zero ->
  sat M U sigma T (facts A) (uniforms A) -> run M sigma T s Cut c ->
  (forall t, In t T -> c <= peval M sigma (potential A) t) \/ exists c', run M sigma T s Broken c'.
Proof.
  intros S D N Sat R. pose proof (proj1 (valid_ok M U A s B) (soundness M U A s B S D) sigma T Sat) as O.
  destruct (settle M U sigma T s _ B c O N R) as [L | (c' & R' & _)]; eauto.
Qed.
