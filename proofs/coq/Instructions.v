(** The work and the span of Fig. 6 are the number of a run's instructions and the longest chain of them, so that Theorem 2
    speaks of what [prun] counts.

    What is stated: [does], the operations of a run in their order; [graph], the instructions that these are (of an
    operation, [pieces_of] in Schedule.v; who waits for whom, [add]); [timed], what prices have to be; [fig_6_counts] and
    [theorem_2_of_fig_6]. *)

From Coq Require Import ZArith QArith Qround Arith List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic Lemmas Rules Counts Sums Parallel Schedule.
Import ListNotations.

(** * What a run does

    An operation is what it costs, in any metric. Warps do operations, each by itself its own in this order, and at a
    barrier all wait for all. *)

Definition operation := metric -> Q.

Inductive event := Does (w : Z) (o : operation) | Barrier.

Section Runs.

Variable M : machine.
Notation priced m := (with_price M m).

(** The operations of an expression, on the threads U of one warp *)
Fixpoint operations (sigma : store) (U : list thread) (e : expr) : list operation :=
  match e with
  | Var _ | Tid _ => [m_var]
  | Param _ => [m_param]
  | Const _ => [m_const]
  | Op1 _ e => operations sigma U e ++ [m_op]
  | Op2 _ e1 e2 => operations sigma U e1 ++ operations sigma U e2 ++ [m_op]
  | Op3 _ e1 e2 e3 => operations sigma U e1 ++ operations sigma U e2 ++ operations sigma U e3 ++ [m_op]
  | Read A i => operations sigma U i ++ [fun m => at_count (read_price (priced m) A) (accesses M sigma U A i)]
  end.

Definition writing (sigma : store) (U : list thread) (A : string) (i e : expr) : list operation :=
  operations sigma U i ++ operations sigma U e ++ [fun m => at_count (write_price (priced m) A) (accesses M sigma U A i)].

(** Each of these warps does operations for its own threads. *)
Definition each (ws : list Z) (T : list thread) (f : list thread -> list operation) : list event :=
  flat_map (fun w => map (Does w) (f (of_warp M T w))) ws.

Definition decides (sigma : store) (T : list thread) (e : expr) : list event :=
  each (warps M T) T (fun U => operations sigma U e ++ [m_if]).
Definition parts (sigma : store) (T : list thread) (e : expr) : list event :=
  decides sigma T e ++ each (on_both_sides M sigma T e) T (fun _ => [m_div]).

(** What the run of a statement does: the rules of [prun], with events where [prun] has costs *)
Inductive does : store -> list thread -> stmt -> store -> list event -> Prop :=
  | D_Skip sigma T : does sigma T Skip sigma []
  | D_Sync sigma T : does sigma T Sync (behind sigma) (Barrier :: each (warps M T) T (fun _ => [m_sync]))
  | D_Seq sigma T s1 s2 sigma1 l1 sigma2 l2 :
      does sigma T s1 sigma1 l1 -> does sigma1 T s2 sigma2 l2 -> does sigma T (Seq s1 s2) sigma2 (l1 ++ l2)
  | D_Assign sigma T x e :
      does sigma T (Assign x e) (assign M sigma T x e) (each (warps M T) T (fun U => operations sigma U e ++ [m_vwrite]))
  | D_Write sigma T A i e :
      does sigma T (Write A i e) (write M sigma T A i e) (each (warps M T) T (fun U => writing sigma U A i e))
  | D_Assume sigma T e : no M sigma T e = [] -> does sigma T (Assume e) sigma []
  | D_IfT sigma T e s1 s2 sigma' l :
      no M sigma T e = [] -> does sigma T s1 sigma' l -> does sigma T (If e s1 s2) sigma' (decides sigma T e ++ l)
  | D_IfF sigma T e s1 s2 sigma' l :
      yes M sigma T e = [] -> does sigma T s2 sigma' l -> does sigma T (If e s1 s2) sigma' (decides sigma T e ++ l)
  | D_IfD sigma T e s1 s2 sigma1 l1 sigma2 l2 :
      yes M sigma T e <> [] -> no M sigma T e <> [] ->
      does sigma (yes M sigma T e) s1 sigma1 l1 -> does sigma1 (no M sigma T e) s2 sigma2 l2 ->
      does sigma T (If e s1 s2) sigma2 (parts sigma T e ++ l1 ++ l2)
  | D_WhileAll sigma T e s sigma1 l1 sigma2 l2 :
      no M sigma T e = [] -> does sigma T s sigma1 l1 -> does sigma1 T (While e s) sigma2 l2 ->
      does sigma T (While e s) sigma2 (decides sigma T e ++ l1 ++ l2)
  | D_WhileSome sigma T e s sigma1 l1 sigma2 l2 :
      yes M sigma T e <> [] -> no M sigma T e <> [] ->
      does sigma (yes M sigma T e) s sigma1 l1 -> does sigma1 (yes M sigma T e) (While e s) sigma2 l2 ->
      does sigma T (While e s) sigma2 (parts sigma T e ++ l1 ++ l2)
  | D_WhileNone sigma T e s :
      yes M sigma T e = [] -> does sigma T (While e s) sigma (decides sigma T e).

End Runs.

(** * The instructions of a run *)

Definition number_of (q : Q) : nat := Z.to_nat (Qfloor q).

Definition pieces (m_w m_s : metric) (e : event) : list piece :=
  match e with Does w o => pieces_of w (number_of (o m_w)) (number_of (o m_s)) | Barrier => [Everyone] end.

Definition graph (m_w m_s : metric) (all : list Z) (l : list event) : list instruction :=
  fst (fold_left (add all) (flat_map (pieces m_w m_s) l) ([], fun _ => [])).


(** * Work and span *)

Open Scope Q_scope.

Definition rational (n : nat) : Q := inject_Z (Z.of_nat n).

(** Work and span of an operation: whole numbers, and no operation is done before it is issued. *)
Definition lasts (a b : Q) : Prop := exists i j : nat, a == rational i /\ b == rational j /\ (i <= j)%nat.

Section Fig6.

Variable M : machine.
Variables m_w m_s : metric.
Variable all : list Z.

Notation priced m := (with_price M m).
Notation prun := (prun M m_w m_s all).
Notation charge := (charge m_w m_s).

(** What is asked of the prices of work and span. semantics/parallel.py asks for the same of counts from 1 on, and allows
    fractions. *)
Record timed : Prop := {
  t_var : lasts (m_var m_w) (m_var m_s);
  t_const : lasts (m_const m_w) (m_const m_s);
  t_param : lasts (m_param m_w) (m_param m_s);
  t_op : lasts (m_op m_w) (m_op m_s);
  t_if : lasts (m_if m_w) (m_if m_s);
  t_div : lasts (m_div m_w) (m_div m_s);
  t_vwrite : lasts (m_vwrite m_w) (m_vwrite m_s);
  t_sync : lasts (m_sync m_w) (m_sync m_s);
  t_gread : forall n, (0 <= n)%Z -> lasts (at_count (m_gread m_w) n) (at_count (m_gread m_s) n);
  t_sread : forall n, (0 <= n)%Z -> lasts (at_count (m_sread m_w) n) (at_count (m_sread m_s) n);
  t_gwrite : forall n, (0 <= n)%Z -> lasts (at_count (m_gwrite m_w) n) (at_count (m_gwrite m_s) n);
  t_swrite : forall n, (0 <= n)%Z -> lasts (at_count (m_swrite m_w) n) (at_count (m_swrite m_s) n)
}.

(** ** What events cost *)

Definition pay (C : bill) (e : event) : bill :=
  match e with Does w o => charge [w] (fun m _ => o m) C | Barrier => level all C end.

Definition paid (l : list event) (C : bill) : bill := fold_left pay l C.

Definition same (C D : bill) : Prop := forall w, work C w == work D w /\ span C w == span D w.

Definition adds (m : metric) (l : list operation) : Q := sum (map (fun o => o m) l).

Lemma adds_app m l k : adds m (l ++ k) == adds m l + adds m k.
Proof. unfold adds. induction l as [| o l IH]; cbn [app map sum]; [lra |]. rewrite IH. lra. Qed.

Lemma operations_cost m sigma U e : adds m (operations M sigma U e) == ecost (priced m) sigma U e.
Proof.
  induction e; cbn [operations ecost]; rewrite ?adds_app, ?IHe, ?IHe1, ?IHe2, ?IHe3; unfold adds; cbn [map sum];
    rewrite ?accesses_priced; cbn [price with_price]; try lra.
Qed.

Lemma longest_same C D : same C D -> longest all C == longest all D.
Proof.
  intros S. unfold longest. induction all as [| w l IH]; [reflexivity |]. cbn [map fold_right].
  destruct (S w) as [_ E]. apply Qle_antisym; apply larger_least; try rewrite E; try rewrite IH;
    try apply larger_l; try apply larger_r.
  - rewrite <- E. apply larger_l.
  - rewrite <- IH. apply larger_r.
Qed.

Lemma warp_pays w l : forall C v,
  work (paid (map (Does w) l) C) v == (if Z.eqb v w then work C v + adds m_w l else work C v)
  /\ span (paid (map (Does w) l) C) v == (if Z.eqb v w then span C v + adds m_s l else span C v).
Proof.
  unfold paid, adds. induction l as [| o l IH]; intros C v; cbn [map fold_left sum].
  - destruct (Z.eqb v w); split; lra.
  - destruct (IH (pay C (Does w o)) v) as [Ew Es]. rewrite Ew, Es. cbn [pay work span Parallel.charge existsb].
    rewrite orb_false_r. destruct (Z.eqb v w); split; lra.
Qed.

Lemma warps_pay T f ws : NoDup ws -> forall C v,
  work (paid (each M ws T f) C) v == (if existsb (Z.eqb v) ws then work C v + adds m_w (f (of_warp M T v)) else work C v)
  /\ span (paid (each M ws T f) C) v == (if existsb (Z.eqb v) ws then span C v + adds m_s (f (of_warp M T v)) else span C v).
Proof.
  induction 1 as [| w ws N _ IH]; intros C v; cbn [each flat_map existsb]; [split; reflexivity |].
  unfold paid. rewrite fold_left_app. fold (each M ws T f). fold (paid (map (Does w) (f (of_warp M T w))) C).
  fold (paid (each M ws T f) (paid (map (Does w) (f (of_warp M T w))) C)).
  destruct (IH (paid (map (Does w) (f (of_warp M T w))) C) v) as [Ew Es].
  destruct (warp_pays w (f (of_warp M T w)) C v) as [Fw Fs].
  destruct (Z.eqb_spec v w) as [-> | D]; cbn [orb].
  - assert (existsb (Z.eqb w) ws = false) as X.
    { destruct (existsb (Z.eqb w) ws) eqn:X; [| reflexivity]. apply in_ws in X. contradiction. }
    rewrite X in Ew, Es. rewrite Ew, Es. split; assumption.
  - destruct (existsb (Z.eqb v) ws); rewrite Ew, Es, Fw, Fs; split; reflexivity.
Qed.

Lemma same_charge T ws f k C D :
  NoDup ws -> same C D -> (forall m w, k m w == adds m (f (of_warp M T w))) ->
  same (charge ws k C) (paid (each M ws T f) D).
Proof.
  intros N S K w. destruct (warps_pay T f ws N D w) as [Ew Es]. destruct (S w) as [Sw Ss]. rewrite Ew, Es.
  cbn [work span Parallel.charge]. destruct (existsb (Z.eqb w) ws); rewrite ?K; split; lra.
Qed.

Lemma same_app l k C D E : same C (paid l D) -> (forall D, same C D -> same E (paid k D)) -> same E (paid (l ++ k) D).
Proof. intros S H. unfold paid. rewrite fold_left_app. apply H, S. Qed.

Lemma same_level C D : same C D -> same (level all C) (level all D).
Proof. intros S w. split; [apply S | apply longest_same, S]. Qed.

Lemma once T : NoDup (warps M T).
Proof. apply NoDup_nodup. Qed.

Lemma same_together sigma T e C D : same C D -> same (together M m_w m_s sigma T e C) (paid (decides M sigma T e) D).
Proof.
  intros S. apply same_charge; [apply once | exact S |]. intros m w. rewrite adds_app, operations_cost.
  unfold own, adds. cbn [map sum]. lra.
Qed.

Lemma same_parted sigma T e C D : same C D -> same (parted M m_w m_s sigma T e C) (paid (parts M sigma T e) D).
Proof.
  intros S. eapply same_app; [apply same_together, S |]. intros D' S'.
  apply same_charge; [apply NoDup_filter, once | exact S' |]. intros m w. unfold adds. cbn [map sum]. lra.
Qed.

(** What Fig. 6 counts is what the operations of the run cost. *)
Lemma run_does sigma C T s sigma' C' :
  prun sigma C T s sigma' C' -> exists l, does M sigma T s sigma' l /\ forall D, same C D -> same C' (paid l D).
Proof.
  induction 1.
  - eexists. split; [constructor |]. auto.
  - eexists. split; [constructor |]. intros D S.
    eapply (same_app [Barrier]); [apply same_level, S |]. intros D' S'.
    apply same_charge; [apply once | exact S' |]. intros m w. unfold adds. cbn [map sum]. lra.
  - destruct IHprun1 as (l1 & R1 & S1), IHprun2 as (l2 & R2 & S2). eexists. split; [econstructor; eassumption |].
    intros D S. eapply same_app; [apply S1, S | exact S2].
  - eexists. split; [constructor |]. intros D S. apply same_charge; [apply once | exact S |]. intros m w.
    rewrite adds_app, operations_cost. unfold own, adds. cbn [map sum]. lra.
  - eexists. split; [constructor |]. intros D S. apply same_charge; [apply once | exact S |]. intros m w.
    unfold writing. rewrite !adds_app, !operations_cost. unfold own_write, own, adds. cbn [map sum]. lra.
  - eexists. split; [constructor; assumption |]. auto.
  - destruct IHprun as (l & R & S). eexists. split; [eapply D_IfT; eassumption |]. intros D SD.
    eapply same_app; [apply same_together, SD | exact S].
  - destruct IHprun as (l & R & S). eexists. split; [eapply D_IfF; eassumption |]. intros D SD.
    eapply same_app; [apply same_together, SD | exact S].
  - destruct IHprun1 as (l1 & R1 & S1), IHprun2 as (l2 & R2 & S2). eexists. split; [eapply D_IfD; eassumption |].
    intros D S. eapply same_app; [apply same_parted, S |]. intros D' S'. eapply same_app; [apply S1, S' | exact S2].
  - destruct IHprun1 as (l1 & R1 & S1), IHprun2 as (l2 & R2 & S2). eexists. split; [eapply D_WhileAll; eassumption |].
    intros D S. eapply same_app; [apply same_together, S |]. intros D' S'. eapply same_app; [apply S1, S' | exact S2].
  - destruct IHprun1 as (l1 & R1 & S1), IHprun2 as (l2 & R2 & S2). eexists. split; [eapply D_WhileSome; eassumption |].
    intros D S. eapply same_app; [apply same_parted, S |]. intros D' S'. eapply same_app; [apply S1, S' | exact S2].
  - eexists. split; [eapply D_WhileNone; eassumption |]. intros D S. apply same_together, S.
Qed.

(** And the other way round: what a program does, Fig. 6 counts. *)
Theorem what_is_done_is_counted sigma T s sigma' l :
  does M sigma T s sigma' l -> forall C, exists C', prun sigma C T s sigma' C'.
Proof.
  induction 1; intros C.
  - eexists. constructor.
  - eexists. constructor.
  - destruct (IHdoes1 C) as (C1 & R1), (IHdoes2 C1) as (C2 & R2). eexists. econstructor; eassumption.
  - eexists. constructor.
  - eexists. constructor.
  - eexists. constructor. assumption.
  - destruct (IHdoes (together M m_w m_s sigma T e C)) as (C1 & R1). eexists. eapply P_IfT; eassumption.
  - destruct (IHdoes (together M m_w m_s sigma T e C)) as (C1 & R1). eexists. eapply P_IfF; eassumption.
  - destruct (IHdoes1 (parted M m_w m_s sigma T e C)) as (C1 & R1), (IHdoes2 C1) as (C2 & R2).
    eexists. eapply P_IfD; eassumption.
  - destruct (IHdoes1 (together M m_w m_s sigma T e C)) as (C1 & R1), (IHdoes2 C1) as (C2 & R2).
    eexists. eapply P_WhileAll; eassumption.
  - destruct (IHdoes1 (parted M m_w m_s sigma T e C)) as (C1 & R1), (IHdoes2 C1) as (C2 & R2).
    eexists. eapply P_WhileSome; eassumption.
  - eexists. eapply P_WhileNone. assumption.
Qed.

(** What a run does is one thing alone. *)
Lemma does_once sigma T s sigma1 l1 :
  does M sigma T s sigma1 l1 -> T <> [] -> forall sigma2 l2, does M sigma T s sigma2 l2 -> sigma1 = sigma2 /\ l1 = l2.
Proof.
  assert (Some : forall sigma T e, T <> [] -> yes M sigma T e = [] -> no M sigma T e = [] -> False).
  { clear. intros sigma [| t T] e N Y F; [contradiction |]. unfold yes, no in *. cbn [filter] in *.
    destruct (as_bool (eval M sigma e t)); cbn in *; discriminate. }
  induction 1; intros N sigma0 l0 R; inversion R; subst; try contradiction; try (exfalso; eauto; fail);
    repeat match goal with
    | IH : ?T <> [] -> forall _ _, does M ?sigma ?T ?s _ _ -> _, H : does M ?sigma ?T ?s _ _ |- _ =>
        destruct (IH ltac:(assumption) _ _ H) as [<- <-]; clear IH
    end; auto.
Qed.

(** ** Each operation lasts as it should, and is one of the block's warps *)

Definition fine (T : list thread) (e : event) : Prop :=
  match e with Does w o => In w (warps M T) /\ lasts (o m_w) (o m_s) | Barrier => True end.

Lemma fine_each T ws f :
  incl ws (warps M T) -> (forall U o, In o (f U) -> lasts (o m_w) (o m_s)) -> Forall (fine T) (each M ws T f).
Proof.
  intros I L. apply Forall_forall. intros e J. apply in_flat_map in J as (w & W & J). apply in_map_iff in J as (o & <- & O).
  split; [apply I, W | apply (L _ o O)].
Qed.

Lemma fine_more T T' l : incl T' T -> Forall (fine T') l -> Forall (fine T) l.
Proof.
  intros I. apply Forall_impl. intros [w o |]; [| auto]. intros [W L]. split; [| exact L].
  apply nodup_In in W. apply nodup_In. apply in_map_iff in W as (t & <- & J). apply in_map, I, J.
Qed.

Section Timed.

Hypothesis Timed : timed.

Lemma accesses_some sigma U A i : (0 <= accesses M sigma U A i)%Z.
Proof. apply largest_nonneg. Qed.

Lemma operations_last sigma e U o : In o (operations M sigma U e) -> lasts (o m_w) (o m_s).
Proof.
  destruct Timed. induction e; cbn [operations]; intros I; repeat (apply in_app_or in I as [I | I]); auto;
    destruct I as [<- | []]; auto.
  unfold read_price. cbn [arrays price with_price]. pose proof (accesses_some sigma U A e).
  destruct (in_space (arrays M A)); auto.
Qed.

Lemma writing_lasts sigma A i e U o : In o (writing M sigma U A i e) -> lasts (o m_w) (o m_s).
Proof.
  unfold writing. intros I. apply in_app_or in I as [I | I]; [apply (operations_last _ _ _ _ I) |].
  apply in_app_or in I as [I | I]; [apply (operations_last _ _ _ _ I) |]. destruct I as [<- | []].
  unfold write_price. cbn [arrays price with_price]. pose proof (accesses_some sigma U A i). destruct Timed.
  destruct (in_space (arrays M A)); auto.
Qed.

Lemma decides_fine sigma T e : Forall (fine T) (decides M sigma T e).
Proof.
  apply fine_each; [apply incl_refl |]. intros U o I. apply in_app_or in I as [I | [<- | []]].
  - apply (operations_last _ _ _ _ I).
  - apply (t_if Timed).
Qed.

Lemma parts_fine sigma T e : Forall (fine T) (parts M sigma T e).
Proof.
  apply Forall_app. split; [apply decides_fine |]. apply fine_each.
  - intros w I. apply filter_In in I as [I _]. apply nodup_In in I. apply nodup_In.
    apply in_map_iff in I as (t & <- & J). apply in_map, (true_side M sigma T e), J.
  - intros U o [<- | []]. apply (t_div Timed).
Qed.

Lemma does_fine sigma T s sigma' l : does M sigma T s sigma' l -> Forall (fine T) l.
Proof.
  induction 1; repeat match goal with |- Forall _ (_ ++ _) => apply Forall_app; split end; auto using decides_fine, parts_fine;
    try (eapply fine_more; [apply true_side | eassumption]); try (eapply fine_more; [apply false_side | eassumption]).
  - constructor; [exact I |]. apply fine_each; [apply incl_refl |]. intros U o [<- | []]. apply (t_sync Timed).
  - apply fine_each; [apply incl_refl |]. intros U o I. apply in_app_or in I as [I | [<- | []]].
    + apply (operations_last _ _ _ _ I).
    + apply (t_vwrite Timed).
  - apply fine_each; [apply incl_refl |]. intros U o. apply writing_lasts.
Qed.

(** ** Fig. 6 and the count along a run's instructions *)

Hypothesis All : NoDup all.

Definition agree (C : bill) (y : tally) : Prop :=
  whole all C == rational (fst y) /\ forall w, In w all -> span C w == rational (snd y w).

Lemma number_of_number a i : a == rational i -> number_of a = i.
Proof. intros E. unfold number_of. rewrite E. unfold rational. rewrite Qfloor_Z. apply Nat2Z.id. Qed.

Lemma number_plus i j : rational (i + j) == rational i + rational j.
Proof. unfold rational. rewrite Nat2Z.inj_add, inject_Z_plus. reflexivity. Qed.

Lemma number_mono i j : (i <= j)%nat -> rational i <= rational j.
Proof. intros L. unfold rational. rewrite <- Zle_Qle. lia. Qed.

Lemma sum_same (f : Z -> Q) w x l :
  ~ In w l -> sum (map (fun v => if Z.eqb v w then f v + x else f v) l) == sum (map f l).
Proof.
  induction l as [| u l IH]; intros N; [reflexivity |]. cbn [map sum].
  destruct (Z.eqb_spec u w) as [-> | D]; [destruct N; left; reflexivity |].
  rewrite IH by (intros J; apply N; right; exact J). reflexivity.
Qed.

Lemma sum_one (f : Z -> Q) w x l :
  NoDup l -> In w l -> sum (map (fun v => if Z.eqb v w then f v + x else f v) l) == sum (map f l) + x.
Proof.
  induction 1 as [| v l N _ IH]; intros I; [contradiction |]. cbn [map sum]. destruct (Z.eqb_spec v w) as [-> | D].
  - rewrite sum_same by exact N. lra.
  - destruct I as [E | I]; [congruence |]. rewrite (IH I). lra.
Qed.

Lemma longest_agrees C y : agree C y -> longest all C == rational (list_max (map (snd y) all)).
Proof.
  intros [_ S]. apply Qle_antisym.
  - apply longest_least; [apply (number_mono 0); lia |]. intros w I. rewrite (S w I). apply number_mono, at_most_list_max, I.
  - destruct (some_list_max (snd y) all) as [-> | (w & I & E)]; [apply longest_nonneg; exact All | rewrite <- E].
    rewrite <- (S w I). apply longest_in; assumption.
Qed.

Lemma agree_pay T e C y :
  incl (warps M T) all -> fine T e -> agree C y -> agree (pay C e) (fold_left (tick all) (pieces m_w m_s e) y).
Proof.
  intros In_all F G. destruct e as [w o |].
  - destruct F as (W & i & j & Ei & Ej & L). apply In_all in W. destruct G as [Gw Gs]. destruct y as [k sp].
    cbn [pieces]. rewrite (number_of_number _ _ Ei), (number_of_number _ _ Ej).
    destruct (ticks all w i j k sp L) as (sp' & -> & H). split; cbn [fst snd pay] in *.
    + unfold whole in *. cbn [work Parallel.charge existsb].
      rewrite (map_ext _ (fun v => if Z.eqb v w then work C v + o m_w else work C v)) by (intros v; rewrite orb_false_r; reflexivity).
      rewrite (sum_one _ _ _ _ All W). rewrite number_plus, Gw, Ei. lra.
    + intros v V. cbn [span Parallel.charge existsb]. rewrite orb_false_r, H. specialize (Gs v V).
      destruct (Z.eqb v w); rewrite ?number_plus; lra.
  - pose proof (longest_agrees C y G) as E. destruct y as [k sp], G as [Gw Gs]. split; [exact Gw |].
    intros w _. exact E.
Qed.

Lemma agree_paid T l : incl (warps M T) all -> Forall (fine T) l -> forall C y, agree C y ->
  agree (paid l C) (fold_left (tick all) (flat_map (pieces m_w m_s) l) y).
Proof.
  intros In_all. induction 1 as [| e l F _ IH]; intros C y G; [exact G |].
  cbn [flat_map]. rewrite fold_left_app. apply IH. apply (agree_pay T); assumption.
Qed.

Lemma known_pieces T l : incl (warps M T) all -> Forall (fine T) l -> Forall (known all) (flat_map (pieces m_w m_s) l).
Proof.
  intros In_all F. apply Forall_flat_map. revert F. apply Forall_impl. intros [w o |] F; [| constructor; [exact I | constructor]].
  destruct F as [W _]. apply In_all in W. cbn [pieces]. unfold pieces_of.
  destruct (number_of (o m_w)); [constructor; [exact W | constructor] |]. apply Forall_app.
  split; [| constructor; [exact W | constructor]]. apply Forall_forall. intros p P. apply repeat_spec in P. subst. exact W.
Qed.

Lemma agree_nothing : agree nothing (0%nat, fun _ => 0%nat).
Proof.
  split; [| intros w _; reflexivity]. unfold whole. cbn [fst nothing work]. clear All.
  induction all as [| w l IH]; [reflexivity |]. cbn [map sum]. rewrite IH. reflexivity.
Qed.

(** ** The work of Fig. 6 is the number of instructions that the run issues, the span its longest chain. *)
Theorem fig_6_counts sigma T s sigma' C l :
  T <> [] -> incl (warps M T) all -> prun sigma nothing T s sigma' C -> does M sigma T s sigma' l ->
  let g := graph m_w m_s all l in
  whole all C == rational (issued_of g)
  /\ (forall i d, chain_of g i d -> rational d <= longest all C)
  /\ (longest all C == 0 \/ exists i d, chain_of g i d /\ longest all C == rational d).
Proof.
  intros Some In_all R D g. destruct (run_does _ _ _ _ _ _ R) as (l' & D' & S).
  destruct (does_once _ _ _ _ _ D Some _ _ D') as [_ <-]. clear D'.
  specialize (S nothing (fun w => conj (Qeq_refl _) (Qeq_refl _))). pose proof (does_fine _ _ _ _ _ D) as F.
  pose proof (agree_paid T l In_all F _ _ agree_nothing) as G.
  pose proof (counts_all all _ (known_pieces T l In_all F) _ _ (counts_none all)) as K.
  set (y := fold_left (tick all) (flat_map (pieces m_w m_s) l) (0%nat, fun _ => 0%nat)) in *.
  assert (W : whole all C == rational (fst y)).
  { destruct G as [<- _]. unfold whole. clear -S. induction all as [| w k IH]; [reflexivity |]. cbn [map sum].
    rewrite IH. destruct (S w) as [-> _]. reflexivity. }
  pose proof (longest_agrees _ _ G) as L. rewrite <- (longest_same _ _ S) in L.
  destruct K as [_ _ I _ So A].
  assert (Ig : issued_of g = fst y) by exact I. split; [rewrite W, Ig; reflexivity |]. split.
  - intros i d Ch. rewrite L. apply number_mono. destruct (A i d Ch) as (w & V & B).
    pose proof (at_most_list_max (snd y) all w V). lia.
  - destruct (some_list_max (snd y) all) as [Z0 | (w & V & E)]; [left; rewrite L, Z0; reflexivity |].
    rewrite <- E in L. destruct (So w) as [Z0 | (i & _ & Ch)]; [left; rewrite L, Z0; reflexivity |].
    right. exists i, (snd y w). split; [exact Ch | exact L].
Qed.

(** ** Theorem 2 of Fig. 6

    What a run that Fig. 6 counts C for does, and the instructions of that, on a machine that issues as many as [width] a
    cycle, greedily: all are done within W(C) / width + S(C) cycles. *)
Theorem theorem_2_of_fig_6 sigma T s sigma' C :
  T <> [] -> incl (warps M T) all -> prun sigma nothing T s sigma' C ->
  exists l, does M sigma T s sigma' l /\
    let g := graph m_w m_s all l in
    forall start width, (0 < width)%nat -> greedy_of g start width ->
    forall i, (i < List.length g)%nat -> rational (start i + takes (the g i)) <= whole all C / rational width + longest all C.
Proof.
  intros Some In_all R. destruct (run_does _ _ _ _ _ _ R) as (l & D & _). exists l. split; [exact D |].
  intros g start width P G i N. destruct (fig_6_counts _ _ _ _ _ _ Some In_all R D) as (W & B & E).
  change (whole all C == rational (issued_of g)) in W.
  assert (H : exists k, longest all C == rational k /\ forall i d, chain_of g i d -> (d <= k)%nat).
  { destruct E as [E | (j & k & _ & E)]; [exists 0%nat | exists k]; (split; [exact E |]); intros h d Ch; specialize (B h d Ch);
      rewrite E in B; [change 0 with (rational 0) in B |]; unfold rational in B; rewrite <- Zle_Qle in B; lia. }
  destruct H as (k & -> & H). rewrite W. exact (theorem_2 _ _ _ _ _ _ k G P H i N).
Qed.

End Timed.

End Fig6.

(** The pair of metrics that semantics/parallel.py has, TIME, is such a pair. *)
Definition issue : metric := Metric 0 0 0 1 1 1 0 1 (Line 1 0) (Line 1 0) (Line 1 0) (Line 1 0).
Definition latency_of_time : metric := Metric 0 0 0 4 4 4 0 4 (Line 1 400) (Line 1 30) (Line 1 400) (Line 1 30).

Lemma line_lasts n k : (0 <= n)%Z -> lasts (at_count (Line 1 0) n) (at_count (Line 1 (rational k)) n).
Proof.
  intros N. assert (E : forall k, at_count (Line 1 (rational k)) n == rational (Z.to_nat n + k)).
  { intros j. unfold at_count, larger. cbn [slope intercept]. rewrite number_plus. unfold rational at 3. rewrite Z2Nat.id by exact N.
    assert (0 <= inject_Z n) by (change 0 with (inject_Z 0); rewrite <- Zle_Qle; exact N).
    assert (0 <= rational j) by (apply (number_mono 0); lia).
    destruct (Qle_bool 0 (1 * inject_Z n + rational j)) eqn:B; [unfold rational; lra |].
    assert (~ 0 <= 1 * inject_Z n + rational j) as X by (rewrite <- Qle_bool_iff; congruence). exfalso. apply X. lra. }
  exists (Z.to_nat n + 0)%nat, (Z.to_nat n + k)%nat. split; [apply (E 0%nat) |]. split; [apply E | lia].
Qed.

Theorem time_is_timed : timed issue latency_of_time.
Proof.
  assert (Z0 : lasts 0 0) by (exists 0%nat, 0%nat; repeat split; lia).
  assert (O4 : lasts 1 4) by (exists 1%nat, 4%nat; repeat split; lia).
  split; try exact Z0; try exact O4; intros n N;
    [apply (line_lasts n 400 N) | apply (line_lasts n 30 N) | apply (line_lasts n 400 N) | apply (line_lasts n 30 N)].
Qed.

(** Two warps add once each, on a machine that issues one instruction a cycle: two are issued, a chain takes 4 cycles, and
    the one schedule there is keeps within 2 + 4 cycles, with 5. *)
Theorem two_warps :
  let g := graph issue latency_of_time [0; 1]%Z [Does 0 m_op; Does 1 m_op] in
  issued_of g = 2%nat /\ greedy_of g (fun i => i) 1 /\ map takes g = [4; 4]%nat.
Proof.
  vm_compute graph. split; [reflexivity |]. split; [| reflexivity]. split; cbn [List.length].
  - intros [| [| i]] j N J; [contradiction | contradiction | lia].
  - intros [| [| i]] N j J; [contradiction | contradiction | lia].
  - intros [| [| c]]; cbn; lia.
  - intros [| c] [| [| i]] B N _; cbn in *; lia || (destruct B; [discriminate | lia]).
Qed.
