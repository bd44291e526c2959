(** The parallel semantics of a block (Fig. 6): work and span of each warp; Lemmas 2 and 3, Theorem 3 at block scope. Instructions.v
    has Theorem 2 of it.

    All threads of a block go through the program together, on the stores of Fig. 3; what differs is who pays. As
    semantics/parallel.py: each warp pays for its own threads' accesses, those with threads on both sides pay M.div, and
    nothing runs on an empty T. A [sync] that a part of the block comes to is no error here, it levels all spans. *)

From Coq Require Import ZArith QArith Arith List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic Lemmas Rules Soundness Counts Sums.
Import ListNotations.
Open Scope Q_scope.

(** * Statements *)

(** Work and span of each warp *)
Record bill := Bill { work : Z -> Q; span : Z -> Q }.

Definition nothing : bill := Bill (fun _ => 0) (fun _ => 0).

(** M with these prices *)
Definition with_price (M : machine) (m : metric) : machine :=
  Machine (params M) (block M) (arrays M) (base M) (hw M) m (call M) (held M).

Section Parallel.

Variable M : machine.
Variables m_w m_s : metric.   (* of work and of span *)
Variable all : list Z.        (* the warps of the block *)

Definition warps (T : list thread) : list Z := nodup Z.eq_dec (map (warp_of M) T).

(** C (+) k for these warps: a price of either metric for each *)
Definition charge (ws : list Z) (k : metric -> Z -> Q) (C : bill) : bill :=
  let add m f w := if existsb (Z.eqb w) ws then f w + k m w else f w in
  Bill (add m_w (work C)) (add m_s (span C)).

(** W(C) and S(C) *)
Definition whole (C : bill) : Q := sum (map (work C) all).
Definition longest (C : bill) : Q := fold_right larger 0 (map (span C) all).

(** Every warp's span becomes the longest. *)
Definition level (C : bill) : bill := Bill (work C) (fun _ => longest C).

(** What a warp pays for its own threads *)
Definition own (sigma : store) (T : list thread) (e : expr) (m : metric) (w : Z) : Q :=
  ecost (with_price M m) sigma (of_warp M T w) e.
Definition own_write (sigma : store) (T : list thread) (A : string) (i e : expr) (m : metric) (w : Z) : Q :=
  own sigma T i m w + own sigma T e m w
  + at_count (write_price (with_price M m) A) (accesses M sigma (of_warp M T w) A i).

(** The warps with threads on both sides of a condition *)
Definition on_both_sides (sigma : store) (T : list thread) (e : expr) : list Z :=
  filter (fun w => existsb (Z.eqb w) (warps (no M sigma T e))) (warps (yes M sigma T e)).

Definition together (sigma : store) (T : list thread) (e : expr) (C : bill) : bill :=
  charge (warps T) (fun m w => own sigma T e m w + m_if m) C.
Definition parted (sigma : store) (T : list thread) (e : expr) (C : bill) : bill :=
  charge (on_both_sides sigma T e) (fun m _ => m_div m) (together sigma T e C).

(** sigma; C; s =>_T sigma'; C' *)
Inductive prun : store -> bill -> list thread -> stmt -> store -> bill -> Prop :=
  | P_Skip sigma C T : prun sigma C T Skip sigma C
  | P_Sync sigma C T : prun sigma C T Sync (behind sigma) (charge (warps T) (fun m _ => m_sync m) (level C))
  | P_Seq sigma C T s1 s2 sigma1 C1 sigma2 C2 :
      prun sigma C T s1 sigma1 C1 -> prun sigma1 C1 T s2 sigma2 C2 -> prun sigma C T (Seq s1 s2) sigma2 C2
  | P_Assign sigma C T x e :
      prun sigma C T (Assign x e) (assign M sigma T x e) (charge (warps T) (fun m w => own sigma T e m w + m_vwrite m) C)
  | P_Write sigma C T A i e :
      prun sigma C T (Write A i e) (write M sigma T A i e) (charge (warps T) (own_write sigma T A i e) C)
  | P_Assume sigma C T e : no M sigma T e = [] -> prun sigma C T (Assume e) sigma C
  | P_IfT sigma C T e s1 s2 sigma' C' :
      no M sigma T e = [] -> prun sigma (together sigma T e C) T s1 sigma' C' -> prun sigma C T (If e s1 s2) sigma' C'
  | P_IfF sigma C T e s1 s2 sigma' C' :
      yes M sigma T e = [] -> prun sigma (together sigma T e C) T s2 sigma' C' -> prun sigma C T (If e s1 s2) sigma' C'
  | P_IfD sigma C T e s1 s2 sigma1 C1 sigma2 C2 :
      yes M sigma T e <> [] -> no M sigma T e <> [] ->
      prun sigma (parted sigma T e C) (yes M sigma T e) s1 sigma1 C1 ->
      prun sigma1 C1 (no M sigma T e) s2 sigma2 C2 -> prun sigma C T (If e s1 s2) sigma2 C2
  | P_WhileAll sigma C T e s sigma1 C1 sigma2 C2 :
      no M sigma T e = [] -> prun sigma (together sigma T e C) T s sigma1 C1 ->
      prun sigma1 C1 T (While e s) sigma2 C2 -> prun sigma C T (While e s) sigma2 C2
  | P_WhileSome sigma C T e s sigma1 C1 sigma2 C2 :
      yes M sigma T e <> [] -> no M sigma T e <> [] ->
      prun sigma (parted sigma T e C) (yes M sigma T e) s sigma1 C1 ->
      prun sigma1 C1 (yes M sigma T e) (While e s) sigma2 C2 -> prun sigma C T (While e s) sigma2 C2
  | P_WhileNone sigma C T e s :
      yes M sigma T e = [] -> prun sigma C T (While e s) sigma (together sigma T e C).

(** * Prices change no store *)

Notation priced m := (with_price M m).

Lemma eval_priced m sigma e t : eval (priced m) sigma e t = eval M sigma e t.
Proof.
  induction e; cbn [eval]; auto.
  - rewrite IHe. reflexivity.
  - rewrite IHe1, IHe2. reflexivity.
  - rewrite IHe1, IHe2, IHe3. reflexivity.
  - rewrite IHe. reflexivity.
Qed.

Lemma yes_priced m sigma T e : yes (priced m) sigma T e = yes M sigma T e.
Proof. apply filter_ext. intros t. rewrite eval_priced. reflexivity. Qed.

Lemma no_priced m sigma T e : no (priced m) sigma T e = no M sigma T e.
Proof. apply filter_ext. intros t. rewrite eval_priced. reflexivity. Qed.

Lemma accesses_priced m sigma T A i : accesses (priced m) sigma T A i = accesses M sigma T A i.
Proof.
  unfold accesses. f_equal. apply map_ext. intros w.
  match goal with |- _ (map ?f ?l) = _ (map ?g ?k) => assert (E : map f l = map g k) end; [| rewrite E; reflexivity].
  apply map_ext. intros t. rewrite eval_priced. reflexivity.
Qed.

Lemma assign_priced m sigma T x e : assign (priced m) sigma T x e = assign M sigma T x e.
Proof.
  unfold assign. rewrite (map_ext (fun t => (t, eval (priced m) sigma e t)) (fun t => (t, eval M sigma e t))); [reflexivity |].
  intros t. rewrite eval_priced. reflexivity.
Qed.

Lemma write_priced m sigma T A i e : write (priced m) sigma T A i e = write M sigma T A i e.
Proof.
  unfold write.
  rewrite (map_ext (fun t => (as_int (eval (priced m) sigma i t), eval (priced m) sigma e t))
                   (fun t => (as_int (eval M sigma i t), eval M sigma e t))); [reflexivity |].
  intros t. rewrite !eval_priced. reflexivity.
Qed.

Lemma true_side sigma T e : incl (yes M sigma T e) T.
Proof. intros t I. apply in_yes in I. tauto. Qed.

Lemma false_side sigma T e : incl (no M sigma T e) T.
Proof. intros t I. apply in_no in I. tauto. Qed.

(** * Fewer threads pay no more *)

Lemma ecost_mono m sigma T T' e : sane m -> incl T T' -> ecost (priced m) sigma T e <= ecost (priced m) sigma T' e.
Proof.
  intros S I. induction e; cbn [ecost]; try lra.
  pose proof (read_mono (priced m) S A _ _ (accesses_mono (priced m) sigma T T' A e I)). lra.
Qed.

Lemma own_at_most m sigma T e w : sane m -> own sigma T e m w <= ecost (priced m) sigma T e.
Proof. intros S. apply ecost_mono; [exact S |]. intros t I. apply filter_In in I. tauto. Qed.

(** * What charging does to work and span *)

Definition many (l : list Z) : Q := inject_Z (count l).

Lemma many_incl l l' : NoDup l -> incl l l' -> many l <= many l'.
Proof. intros N I. unfold many. rewrite <- Zle_Qle. apply count_incl; assumption. Qed.

Hypothesis All : NoDup all.

Lemma in_ws w ws : existsb (Z.eqb w) ws = true <-> In w ws.
Proof.
  rewrite existsb_exists. split; [intros (v & I & E); apply Z.eqb_eq in E; subst; exact I |].
  intros I. exists w. rewrite Z.eqb_refl. auto.
Qed.

Lemma charged_work ws ws' k C c :
  0 <= c -> incl ws ws' -> (forall w, k m_w w <= c) -> whole (charge ws k C) <= whole C + c * many ws'.
Proof.
  intros P I K. unfold whole.
  assert (H : forall l, sum (map (work (charge ws k C)) l) <= sum (map (work C) l) + c * many (filter (fun w => existsb (Z.eqb w) ws) l)).
  { induction l as [| w l IH]; cbn [map sum filter]; [change (many []) with 0; lra |].
    assert (E : work (charge ws k C) w = if existsb (Z.eqb w) ws then work C w + k m_w w else work C w) by reflexivity.
    rewrite E. clear E. destruct (existsb (Z.eqb w) ws).
    - specialize (K w). assert (many (w :: filter (fun w => existsb (Z.eqb w) ws) l) == many (filter (fun w => existsb (Z.eqb w) ws) l) + 1) as ->; [| lra].
      unfold many. change 1 with (inject_Z 1). rewrite <- inject_Z_plus. unfold count. cbn [List.length].
      replace (Z.of_nat (S (List.length (filter (fun w => existsb (Z.eqb w) ws) l))))
        with (Z.of_nat (List.length (filter (fun w => existsb (Z.eqb w) ws) l)) + 1)%Z by lia. reflexivity.
    - lra. }
  specialize (H all). assert (L : many (filter (fun w => existsb (Z.eqb w) ws) all) <= many ws').
  { apply many_incl; [apply NoDup_filter, All |]. intros w J. apply filter_In in J as [_ J]. apply in_ws in J. auto. }
  assert (c * many (filter (fun w => existsb (Z.eqb w) ws) all) <= c * many ws').
  { rewrite !(Qmult_comm c). apply Qmult_le_compat_r; assumption. }
  lra.
Qed.

Lemma longest_in C w : In w all -> span C w <= longest C.
Proof.
  unfold longest. induction all as [| v l IH]; [contradiction |]. cbn [map fold_right]. intros [-> | I].
  - apply larger_l.
  - eapply Qle_trans; [| apply larger_r]. apply IH; [inversion All; assumption | exact I].
Qed.

Lemma longest_nonneg C : 0 <= longest C.
Proof.
  unfold longest. destruct all as [| v l]; cbn [map fold_right]; [lra |]. clear. revert v.
  induction l as [| u l IH]; intros v; cbn [map fold_right]; [apply larger_r |].
  eapply Qle_trans; [apply (IH u) | apply larger_r].
Qed.

Lemma longest_least C c : 0 <= c -> (forall w, In w all -> span C w <= c) -> longest C <= c.
Proof.
  intros P. unfold longest. clear All. induction all as [| v l IH]; cbn [map fold_right]; intros H; [exact P |].
  apply larger_least; [apply H; left; reflexivity | apply IH; intros w I; apply H; right; exact I].
Qed.

Lemma charged_span ws k C c : 0 <= c -> (forall w, k m_s w <= c) -> longest (charge ws k C) <= longest C + c.
Proof.
  intros P K. pose proof (longest_nonneg C). apply longest_least; [lra |]. intros w I. cbn [charge span].
  pose proof (longest_in C w I). specialize (K w). destruct (existsb (Z.eqb w) ws); lra.
Qed.

Lemma level_span C : longest (level C) <= longest C.
Proof. apply longest_least; [apply longest_nonneg |]. intros w _. apply Qle_refl. Qed.

Lemma many_nonneg l : 0 <= many l.
Proof. unfold many. change 0 with (inject_Z 0). rewrite <- Zle_Qle. unfold count. lia. Qed.

Lemma warps_less T T' : incl T T' -> many (warps T) <= many (warps T').
Proof.
  intros I. apply many_incl; [apply NoDup_nodup |]. intros w J. apply nodup_In in J. apply nodup_In.
  apply in_map_iff in J as (t & <- & J). apply in_map, I, J.
Qed.

(** * Lemmas 2 and 3 *)

Hypothesis Sw : sane m_w.
Hypothesis Ss : sane m_s.

(** Costs of lock-step for the work, and for the span, of what is paid here *)
Definition bounded (T : list thread) (C C' : bill) (cw cs : Q) : Prop :=
  0 <= cw /\ 0 <= cs /\ whole C' <= whole C + cw * many (warps T) /\ longest C' <= longest C + cs.

(** Lemma 2: an expression *)
Theorem lemma_2 sigma T e C :
  bounded T C (charge (warps T) (own sigma T e) C) (ecost (priced m_w) sigma T e) (ecost (priced m_s) sigma T e).
Proof.
  pose proof (ecost_nonneg (priced m_w) Sw sigma T e) as Nw. pose proof (ecost_nonneg (priced m_s) Ss sigma T e) as Ns.
  split; [exact Nw |]. split; [exact Ns |]. split.
  - apply charged_work; [exact Nw | apply incl_refl | intros w; apply own_at_most, Sw].
  - apply charged_span; [exact Ns | intros w; apply own_at_most, Ss].
Qed.

Lemma bounded_charge T ws k C cw cs :
  incl ws (warps T) -> 0 <= cw -> 0 <= cs -> (forall w, k m_w w <= cw) -> (forall w, k m_s w <= cs) ->
  bounded T C (charge ws k C) cw cs.
Proof.
  intros I Pw Ps Kw Ks. split; [exact Pw |]. split; [exact Ps |].
  split; [apply charged_work; assumption | apply charged_span; assumption].
Qed.

Lemma bounded_then T T1 C C1 C2 a b a' b' :
  incl T1 T -> bounded T C C1 a b -> bounded T1 C1 C2 a' b' -> bounded T C C2 (a + a') (b + b').
Proof.
  intros I (A & B & D & E) (A' & B' & D' & E'). pose proof (warps_less T1 T I) as L.
  assert (a' * many (warps T1) <= a' * many (warps T)) by (rewrite !(Qmult_comm a'); apply Qmult_le_compat_r; assumption).
  unfold bounded. repeat split; lra.
Qed.

Lemma bounded_more T C C' a b a' b' : bounded T C C' a b -> a == a' -> b == b' -> bounded T C C' a' b'.
Proof. intros (A & B & D & E) Ea Eb. unfold bounded. rewrite <- Ea, <- Eb. auto. Qed.

Lemma prices m : sane m -> 0 <= m_if m /\ 0 <= m_div m /\ 0 <= m_vwrite m /\ 0 <= m_sync m.
Proof. unfold sane. tauto. Qed.

Lemma bounded_together sigma T e C :
  bounded T C (together sigma T e C) (ecost (priced m_w) sigma T e + m_if m_w) (ecost (priced m_s) sigma T e + m_if m_s).
Proof.
  pose proof (ecost_nonneg (priced m_w) Sw sigma T e). pose proof (ecost_nonneg (priced m_s) Ss sigma T e).
  destruct (prices _ Sw) as (? & _), (prices _ Ss) as (? & _).
  apply bounded_charge; [apply incl_refl | lra | lra | |]; intros w.
  - pose proof (own_at_most m_w sigma T e w Sw). lra.
  - pose proof (own_at_most m_s sigma T e w Ss). lra.
Qed.

Lemma bounded_parted sigma T e C :
  bounded T C (parted sigma T e C) (ecost (priced m_w) sigma T e + m_if m_w + m_div m_w)
    (ecost (priced m_s) sigma T e + m_if m_s + m_div m_s).
Proof.
  destruct (prices _ Sw) as (_ & ? & _), (prices _ Ss) as (_ & ? & _).
  apply (bounded_then T T _ _ _ _ _ _ _ (incl_refl T) (bounded_together sigma T e C)).
  apply bounded_charge; try assumption; try (intros w; apply Qle_refl). intros w I. apply filter_In in I as [I _].
  apply nodup_In in I. apply nodup_In. apply in_map_iff in I as (t & <- & I). apply in_map, (true_side sigma T e), I.
Qed.

(** Lemma 3: a statement. The lock-step run on the same T ends in the same store, and with its costs in either metric, work
    grows by at most its cost for each warp of T, and span by at most its cost. *)
Theorem lemma_3 sigma C T s sigma' C' :
  prun sigma C T s sigma' C' ->
  exists cw cs, run (priced m_w) sigma T s (End sigma') cw /\ run (priced m_s) sigma T s (End sigma') cs /\ bounded T C C' cw cs.
Proof.
  destruct (prices _ Sw) as (_ & _ & Vw & Yw), (prices _ Ss) as (_ & _ & Vs & Ys).
  induction 1.
  - exists 0, 0. split; [constructor |]. split; [constructor |]. unfold bounded. repeat split; lra.
  - exists (m_sync m_w), (m_sync m_s). split; [constructor |]. split; [constructor |].
    destruct (bounded_charge T (warps T) (fun m _ => m_sync m) (level C) (m_sync m_w) (m_sync m_s) (incl_refl _) Yw Ys
                (fun w => Qle_refl _) (fun w => Qle_refl _)) as (A & B & D & E).
    pose proof (level_span C). unfold bounded. repeat split; try assumption; lra.
  - destruct IHprun1 as (aw & as_ & R1 & R2 & B1), IHprun2 as (bw & bs & R3 & R4 & B2).
    exists (aw + bw), (as_ + bs). split; [eapply R_Seq; eauto |]. split; [eapply R_Seq; eauto |].
    apply (bounded_then T T _ _ _ _ _ _ _ (incl_refl T) B1 B2).
  - pose proof (ecost_nonneg (priced m_w) Sw sigma T e). pose proof (ecost_nonneg (priced m_s) Ss sigma T e).
    exists (ecost (priced m_w) sigma T e + m_vwrite m_w), (ecost (priced m_s) sigma T e + m_vwrite m_s).
    split; [rewrite <- (assign_priced m_w); apply R_Assign |]. split; [rewrite <- (assign_priced m_s); apply R_Assign |].
    apply bounded_charge; [apply incl_refl | lra | lra | |]; intros w.
    + pose proof (own_at_most m_w sigma T e w Sw). lra.
    + pose proof (own_at_most m_s sigma T e w Ss). lra.
  - assert (K : forall m, sane m -> 0 <= ecost (priced m) sigma T i + ecost (priced m) sigma T e
                + at_count (write_price (priced m) A) (accesses (priced m) sigma T A i)
              /\ forall w, own_write sigma T A i e m w <= ecost (priced m) sigma T i + ecost (priced m) sigma T e
                + at_count (write_price (priced m) A) (accesses (priced m) sigma T A i)).
    { intros m S. pose proof (ecost_nonneg (priced m) S sigma T i). pose proof (ecost_nonneg (priced m) S sigma T e).
      pose proof (at_count_nonneg (write_price (priced m) A) (accesses (priced m) sigma T A i)). split; [lra |]. intros w.
      unfold own_write. pose proof (own_at_most m sigma T i w S). pose proof (own_at_most m sigma T e w S).
      rewrite accesses_priced.
      assert (I : incl (of_warp M T w) T) by (intros t J; apply filter_In in J; tauto).
      pose proof (write_mono (priced m) S A _ _ (accesses_mono M sigma _ _ A i I)). lra. }
    destruct (K m_w Sw) as [Pw Kw], (K m_s Ss) as [Ps Ks].
    eexists _, _. split; [rewrite <- (write_priced m_w); apply R_Write |]. split; [rewrite <- (write_priced m_s); apply R_Write |].
    apply bounded_charge; try assumption. apply incl_refl.
  - exists 0, 0. split; [constructor; rewrite no_priced; assumption |]. split; [constructor; rewrite no_priced; assumption |].
    unfold bounded. repeat split; lra.
  - destruct IHprun as (aw & as_ & R1 & R2 & B1).
    eexists _, _. split; [apply R_IfT; [rewrite no_priced; assumption | exact R1] |].
    split; [apply R_IfT; [rewrite no_priced; assumption | exact R2] |].
    apply (bounded_then T T _ _ _ _ _ _ _ (incl_refl T) (bounded_together sigma T e C) B1).
  - destruct IHprun as (aw & as_ & R1 & R2 & B1).
    eexists _, _. split; [apply R_IfF; [rewrite yes_priced; assumption | exact R1] |].
    split; [apply R_IfF; [rewrite yes_priced; assumption | exact R2] |].
    apply (bounded_then T T _ _ _ _ _ _ _ (incl_refl T) (bounded_together sigma T e C) B1).
  - destruct IHprun1 as (aw & as_ & R1 & R2 & B1), IHprun2 as (bw & bs & R3 & R4 & B2).
    eexists _, _. split; [eapply R_IfD; rewrite ?yes_priced, ?no_priced; eassumption |].
    split; [eapply R_IfD; rewrite ?yes_priced, ?no_priced; eassumption |].
    apply (bounded_then T (no M sigma T e) _ C1); [apply false_side | | exact B2].
    apply (bounded_then T (yes M sigma T e) _ _ _ _ _ _ _ (true_side sigma T e) (bounded_parted sigma T e C) B1).
  - destruct IHprun1 as (aw & as_ & R1 & R2 & B1), IHprun2 as (bw & bs & R3 & R4 & B2).
    eexists _, _. split; [eapply R_WhileAll; rewrite ?no_priced; eassumption |].
    split; [eapply R_WhileAll; rewrite ?no_priced; eassumption |].
    apply (bounded_then T T _ C1); [apply incl_refl | | exact B2].
    apply (bounded_then T T _ _ _ _ _ _ _ (incl_refl T) (bounded_together sigma T e C) B1).
  - destruct IHprun1 as (aw & as_ & R1 & R2 & B1), IHprun2 as (bw & bs & R3 & R4 & B2).
    eexists _, _. split; [eapply R_WhileSome; rewrite ?yes_priced, ?no_priced; eassumption |].
    split; [eapply R_WhileSome; rewrite ?yes_priced, ?no_priced; eassumption |].
    apply (bounded_then T (yes M sigma T e) _ C1); [apply true_side | | exact B2].
    apply (bounded_then T (yes M sigma T e) _ _ _ _ _ _ _ (true_side sigma T e) (bounded_parted sigma T e C) B1).
  - eexists _, _. split; [apply R_WhileNone; rewrite yes_priced; assumption |].
    split; [apply R_WhileNone; rewrite yes_priced; assumption |]. apply bounded_together.
Qed.

(** * Theorem 3

    With derivations for the block, of M_w and of M_s: its work is at most (Q_w - Q_w') for each of its warps, and its span
    at most Q_s - Q_s'. *)
Theorem theorem_3 U Aw As s Bw Bs sigma T sigma' C t :
  derivable (priced m_w) U Aw s Bw -> derivable (priced m_s) U As s Bs ->
  sat (priced m_w) U sigma T (facts Aw) (uniforms Aw) -> sat (priced m_s) U sigma T (facts As) (uniforms As) ->
  prun sigma nothing T s sigma' C -> In t T ->
  whole C <= (peval (priced m_w) sigma (potential Aw) t - peval (priced m_w) sigma' (potential Bw) t) * many (warps T)
  /\ longest C <= peval (priced m_s) sigma (potential As) t - peval (priced m_s) sigma' (potential Bs) t.
Proof.
  intros Dw Ds Satw Sats R I. destruct (lemma_3 _ _ _ _ _ _ R) as (cw & cs & Rw & Rs & _ & _ & W & L).
  destruct (theorem_1 (priced m_w) U Aw s Bw sigma T sigma' cw Sw Dw Satw Rw) as [_ Ew].
  destruct (theorem_1 (priced m_s) U As s Bs sigma T sigma' cs Ss Ds Sats Rs) as [_ Es].
  specialize (Ew t I). specialize (Es t I).
  assert (Z0 : whole nothing == 0).
  { unfold whole. clear. induction all as [| w l IH]; cbn [map sum]; [lra |]. cbn [work nothing] in *. lra. }
  assert (L0 : longest nothing <= 0) by (apply longest_least; [lra |]; intros w _; apply Qle_refl).
  pose proof (Qmult_le_compat_r _ _ (many (warps T)) Ew (many_nonneg _)). split; lra.
Qed.

End Parallel.
