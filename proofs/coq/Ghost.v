(** Q:Ghost: a program does what it does with assignments to a ghost variable put in, and costs no more. *)

From Coq Require Import ZArith QArith List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Interpreter Logic Lemmas Rules.
Import ListNotations.
Open Scope Q_scope.

Section Ghost.

Variable M : machine.
Variable U : thread -> Prop.
Hypothesis S : sane (price M).

(** * A run that ends has one end, and no prefix costs more *)

Lemma one_end sigma T s o c o' c' :
  T <> [] -> run M sigma T s o c -> o <> Cut -> run M sigma T s o' c' -> o' <> Cut -> o = o' /\ c == c'.
Proof.
  intros NT R N R' N'.
  destruct (a_run_is_executed M sigma T s o c R NT N) as (d & k & E & Q).
  destruct (a_run_is_executed M sigma T s o' c' R' NT N') as (d' & k' & E' & Q').
  apply exec_deeper with (more := Nat.max d d') in E; [| auto | lia].
  apply exec_deeper with (more := Nat.max d d') in E'; [| auto | lia].
  rewrite E in E'. injection E' as <- <-. split; [reflexivity | lra].
Qed.

Lemma run_nonneg sigma T s o c : run M sigma T s o c -> 0 <= c.
Proof.
  assert (P : 0 <= m_if (price M) /\ 0 <= m_div (price M) /\ 0 <= m_vwrite (price M) /\ 0 <= m_sync (price M))
    by (unfold sane in S; tauto).
  induction 1; try pose proof (ecost_nonneg M S sigma T e); try lra.
  pose proof (ecost_nonneg M S sigma T i). pose proof (at_count_nonneg (write_price M A) (accesses M sigma T A i)). lra.
Qed.

Lemma prefix_less sigma T s o c :
  run M sigma T s o c -> o = Cut -> T <> [] -> forall o' c', run M sigma T s o' c' -> o' <> Cut -> c <= c'.
Proof.
  assert (P : 0 <= m_if (price M) /\ 0 <= m_div (price M)) by (unfold sane in S; tauto).
  induction 1; intros EC NT o' c' R' N'; try discriminate; subst;
    [exact (run_nonneg _ _ _ _ _ R') | ..]; inversion R'; subst; try congruence;
    repeat match goal with Y : yes M _ _ _ = [], N : no M _ _ _ = [] |- _ => rewrite (all_yes M) in Y by exact N; congruence end;
    match goal with
    | A : run M ?g ?Ta ?s (End ?u) _, B : run M ?g ?Ta ?s (End ?v) _ |- _ =>
        destruct (one_end g Ta s _ _ _ _ ltac:(assumption) A ltac:(discriminate) B ltac:(discriminate)) as [E Eq];
        injection E as E; subst v;
        match goal with
        | IH : Cut = Cut -> _, R2 : run M u _ _ o' _ |- _ => specialize (IH eq_refl ltac:(assumption) _ _ R2 N'); lra
        end
    | A : run M ?g ?Ta ?s (End ?u) _, B : run M ?g ?Ta ?s o' _, St : stopped o' |- _ =>
        destruct (one_end g Ta s _ _ _ _ ltac:(assumption) A ltac:(discriminate) B N') as [E _]; subst o'; contradiction
    | IH : Cut = Cut -> ?Ta <> [] -> _, B : run M ?g ?Ta _ (End _) _, C : run M _ _ _ o' _ |- _ =>
        specialize (IH eq_refl ltac:(assumption) _ _ B ltac:(discriminate));
        pose proof (run_nonneg _ _ _ _ _ C); lra
    | IH : Cut = Cut -> ?Ta <> [] -> _, B : run M ?g ?Ta _ o' _ |- _ =>
        specialize (IH eq_refl ltac:(assumption) _ _ B N'); lra
    end.
Qed.

(** * Stores that differ in x alone *)

Variable x : string.

Definition near (sigma tau : store) : Prop :=
  (forall y t, y <> x -> local sigma y t = local tau y t)
  /\ (forall A i, contents sigma A i = contents tau A i) /\ later sigma = later tau.

Definition ends_near (o o' : outcome) : Prop :=
  match o, o' with
  | End sigma, End tau => near sigma tau
  | Broken, Broken => True
  | Cut, Cut => True
  | _, _ => False
  end.

Lemma behind_near sigma tau : near sigma tau -> near (behind sigma) (behind tau).
Proof.
  intros (L & C & W). unfold behind. rewrite <- W. destruct (later sigma) as [| c more] eqn:E.
  - split; [exact L |]. split; [exact C | congruence].
  - split; [exact L |]. split; reflexivity.
Qed.

Lemma eval_near sigma tau t e : near sigma tau -> ~ In x (vars e) -> eval M sigma e t = eval M tau e t.
Proof.
  intros (L & C & _). induction e; cbn; intros N; auto.
  - rewrite IHe; auto.
  - rewrite in_app_iff in N. rewrite IHe1, IHe2; auto.
  - rewrite !in_app_iff in N. rewrite IHe1, IHe2, IHe3; auto.
  - unfold load. rewrite IHe; auto. rewrite C. reflexivity.
Qed.

Lemma yes_near sigma tau T e : near sigma tau -> ~ In x (vars e) -> yes M sigma T e = yes M tau T e.
Proof. intros N F. apply filter_ext. intros t. rewrite (eval_near sigma tau); auto. Qed.

Lemma no_near sigma tau T e : near sigma tau -> ~ In x (vars e) -> no M sigma T e = no M tau T e.
Proof. intros N F. apply filter_ext. intros t. rewrite (eval_near sigma tau); auto. Qed.

Lemma accesses_near sigma tau T A i : near sigma tau -> ~ In x (vars i) -> accesses M sigma T A i = accesses M tau T A i.
Proof.
  intros N F. unfold accesses. f_equal. apply map_ext. intros w. f_equal. apply map_ext. intros t.
  rewrite (eval_near sigma tau); auto.
Qed.

Lemma ecost_near sigma tau T e : near sigma tau -> ~ In x (vars e) -> ecost M sigma T e = ecost M tau T e.
Proof.
  intros N. induction e; cbn; intros F; auto.
  - rewrite IHe; auto.
  - rewrite in_app_iff in F. rewrite IHe1, IHe2; auto.
  - rewrite !in_app_iff in F. rewrite IHe1, IHe2, IHe3; auto.
  - rewrite IHe, (accesses_near sigma tau); auto.
Qed.

Lemma assign_near sigma tau T y e :
  near sigma tau -> ~ In x (vars e) -> near (assign M sigma T y e) (assign M tau T y e).
Proof.
  intros N F. pose proof N as [L C]. split; [| exact C]. intros z t D. unfold assign.
  rewrite (map_ext (fun t => (t, eval M sigma e t)) (fun t => (t, eval M tau e t))).
  - cbn. rewrite L by exact D. reflexivity.
  - intros u. rewrite (eval_near sigma tau); auto.
Qed.

Lemma ghost_near sigma tau T e : near sigma tau -> near sigma (assign M tau T x e).
Proof. intros [L C]. split; [| exact C]. intros y t D. rewrite assign_miss by (left; exact D). apply L, D. Qed.

Lemma ghost_near' sigma tau T e : near sigma tau -> near (assign M sigma T x e) tau.
Proof. intros [L C]. split; [| exact C]. intros y t D. rewrite assign_miss by (left; exact D). apply L, D. Qed.

Lemma write_near sigma tau T A i e :
  near sigma tau -> ~ In x (vars i) -> ~ In x (vars e) -> near (write M sigma T A i e) (write M tau T A i e).
Proof.
  intros N F1 F2. pose proof N as (L & C & W). split; [exact L |]. split; [| exact W]. intros B j. unfold write.
  rewrite (map_ext (fun t => (as_int (eval M sigma i t), eval M sigma e t))
                   (fun t => (as_int (eval M tau i t), eval M tau e t)))
    by (intros u; rewrite !(eval_near sigma tau); auto).
  cbn. destruct (String.eqb B A); [| apply C].
  generalize (map (fun t => (as_int (eval M tau i t), eval M tau e t)) T). intros r.
  assert (forall j, contents sigma A j = contents tau A j) as E by (intros; apply C). revert E.
  generalize (contents sigma A), (contents tau A). induction r as [| w r IH]; intros f g E; cbn; [apply E |].
  apply IH. intros k. destruct (in_bounds (arrays M A) (fst w)); [| apply E]. destruct (Z.eqb k (fst w)); [reflexivity | apply E].
Qed.

Lemma stopped_near o o' : ends_near o o' -> stopped o -> stopped o'.
Proof. destruct o, o'; cbn; auto. Qed.

(** * The program with ghosts does the same *)

Ltac use IH w tau o1 k1 R1 E1 L1 := destruct (IH w tau eq_refl ltac:(cbn; tauto) ltac:(assumption)) as (o1 & k1 & R1 & E1 & L1).
Ltac shape w E := destruct w; cbn in E; try discriminate; try (destruct (String.eqb _ x) eqn:?; discriminate).

Lemma with_ghosts sigma T s o c :
  run M sigma T s o c -> forall w tau, s = erase x w -> ghost x w -> near sigma tau ->
  exists o' c', run M tau T w o' c' /\ ends_near o o' /\ c <= c'.
Proof.
  assert (P : 0 <= m_vwrite (price M)) by (unfold sane in S; tauto).
  induction 1; intros w tau E G N.
  - exists Cut, 0. repeat split; [constructor | apply Qle_refl].
  - destruct w; cbn in E; try discriminate.
    + exists (End tau), 0. repeat split; try apply N; [constructor | apply Qle_refl].
    + destruct (String.eqb_spec x0 x) as [-> |]; [| discriminate].
      eexists (End _), _. split; [apply R_Assign |]. split; [apply ghost_near, N |].
      pose proof (ecost_nonneg M S tau T e). lra.
  - shape w E. exists (End (behind tau)), (m_sync (price M)). split; [constructor |]. split; [apply behind_near, N | apply Qle_refl].
  - shape w E. exists (End (behind tau)), 0. split; [constructor |]. split; [apply behind_near, N | apply Qle_refl].
  - shape w E. injection E as -> ->. destruct G as [G1 G2]. use IHrun1 w1 tau o1 k1 R1 E1 L1.
    destruct o1 as [tau1 | |]; try contradiction. cbn in E1. use IHrun2 w2 tau1 o2 k2 R2 E2 L2.
    exists o2, (k1 + k2). repeat split; auto; [eapply R_Seq; eauto | lra].
  - shape w E. injection E as -> ->. destruct G as [G1 G2]. use IHrun w1 tau o1 k1 R1 E1 L1.
    exists o1, k1. repeat split; auto. apply R_SeqStop; auto. eapply stopped_near; eauto.
  - destruct w; cbn in E; try discriminate. destruct (String.eqb_spec x1 x) as [-> | D]; [discriminate |].
    injection E as -> ->. destruct G as [G | G]; [congruence |].
    eexists (End _), _. split; [apply R_Assign |]. split; [apply assign_near; auto |].
    rewrite (ecost_near sigma tau); auto. apply Qle_refl.
  - shape w E. injection E as -> -> ->. destruct G as [G1 G2].
    eexists (End _), _. split; [apply R_Write |]. split; [apply write_near; auto |].
    rewrite !(ecost_near sigma tau), (accesses_near sigma tau); auto. apply Qle_refl.
  - shape w E. injection E as ->. rewrite (no_near sigma tau) in H; auto.
    exists (End tau), 0. split; [constructor; auto |]. split; [exact N | apply Qle_refl].
  - shape w E. injection E as ->. rewrite (no_near sigma tau) in H; auto.
    exists Broken, 0. split; [apply R_AssumeBroken; auto |]. split; [exact I | apply Qle_refl].
  - shape w E. injection E as -> -> ->. destruct G as (F & G1 & G2). use IHrun w1 tau o1 k1 R1 E1 L1.
    rewrite (no_near sigma tau) in H; auto. rewrite (ecost_near sigma tau); auto.
    eexists o1, _. split; [apply R_IfT; eauto |]. split; [auto | lra].
  - shape w E. injection E as -> -> ->. destruct G as (F & G1 & G2). use IHrun w2 tau o1 k1 R1 E1 L1.
    rewrite (yes_near sigma tau) in H; auto. rewrite (ecost_near sigma tau); auto.
    eexists o1, _. split; [apply R_IfF; eauto |]. split; [auto | lra].
  - shape w E. injection E as -> -> ->. destruct G as (F & G1 & G2). use IHrun1 w1 tau o1 k1 R1 E1 L1.
    destruct o1 as [tau1 | |]; try contradiction. cbn in E1. use IHrun2 w2 tau1 o2 k2 R2 E2 L2.
    rewrite (yes_near sigma tau), (no_near sigma tau) in *; auto. rewrite (ecost_near sigma tau); auto.
    eexists o2, _. split; [eapply R_IfD; eauto |]. split; [auto | lra].
  - shape w E. injection E as -> -> ->. destruct G as (F & G1 & G2). use IHrun w1 tau o1 k1 R1 E1 L1.
    rewrite (yes_near sigma tau), (no_near sigma tau) in *; auto. rewrite (ecost_near sigma tau); auto.
    eexists o1, _. split; [eapply R_IfDStop; eauto; eapply stopped_near; eauto |]. split; [auto | lra].
  - shape w E. injection E as -> ->. destruct G as (F & G1). use IHrun1 w tau o1 k1 R1 E1 L1.
    destruct o1 as [tau1 | |]; try contradiction. cbn in E1. use IHrun2 (While e0 w) tau1 o2 k2 R2 E2 L2.
    rewrite (no_near sigma tau) in H; auto. rewrite (ecost_near sigma tau); auto.
    eexists o2, _. split; [eapply R_WhileAll; eauto |]. split; [auto | lra].
  - shape w E. injection E as -> ->. destruct G as (F & G1). use IHrun w tau o1 k1 R1 E1 L1.
    rewrite (no_near sigma tau) in H; auto. rewrite (ecost_near sigma tau); auto.
    eexists o1, _. split; [eapply R_WhileAllStop; eauto; eapply stopped_near; eauto |]. split; [auto | lra].
  - shape w E. injection E as -> ->. destruct G as (F & G1). use IHrun1 w tau o1 k1 R1 E1 L1.
    destruct o1 as [tau1 | |]; try contradiction. cbn in E1. use IHrun2 (While e0 w) tau1 o2 k2 R2 E2 L2.
    rewrite (yes_near sigma tau), (no_near sigma tau) in *; auto. rewrite (ecost_near sigma tau); auto.
    eexists o2, _. split; [eapply R_WhileSome; eauto |]. split; [auto | lra].
  - shape w E. injection E as -> ->. destruct G as (F & G1). use IHrun w tau o1 k1 R1 E1 L1.
    rewrite (yes_near sigma tau), (no_near sigma tau) in *; auto. rewrite (ecost_near sigma tau); auto.
    eexists o1, _. split; [eapply R_WhileSomeStop; eauto; eapply stopped_near; eauto |]. split; [auto | lra].
  - shape w E. injection E as -> ->. destruct G as (F & G1).
    rewrite (yes_near sigma tau) in H; auto. rewrite (ecost_near sigma tau); auto.
    exists (End tau), (ecost M tau T e0 + m_if (price M)). split; [apply R_WhileNone; auto |]. split; [exact N | apply Qle_refl].
Qed.

Ltac back IH sigma o1 k1 R1 E1 := destruct (IH sigma ltac:(cbn; tauto) ltac:(assumption)) as (o1 & k1 & R1 & E1).

Lemma stopped_near' o o' : ends_near o' o -> stopped o -> stopped o'.
Proof. destruct o, o'; cbn; auto. Qed.

Lemma without_ghosts tau T w o c :
  run M tau T w o c -> forall sigma, ghost x w -> near sigma tau ->
  exists o' c', run M sigma T (erase x w) o' c' /\ ends_near o' o.
Proof.
  induction 1; intros rho G N; rename sigma into tau; cbn [erase ghost] in *.
  - exists Cut, 0. split; constructor.
  - exists (End rho), 0. split; [constructor | exact N].
  - eexists (End (behind rho)), _. split; [constructor | apply behind_near, N].
  - eexists (End (behind rho)), _. split; [constructor | apply behind_near, N].
  - destruct G as [G1 G2]. back IHrun1 rho o1 k1 R1 E1. destruct o1 as [rho1 | |]; try contradiction.
    back IHrun2 rho1 o2 k2 R2 E2. eexists o2, _. split; [eapply R_Seq; eauto | auto].
  - destruct G as [G1 G2]. back IHrun rho o1 k1 R1 E1. exists o1, k1. split; auto. apply R_SeqStop; auto.
    eapply stopped_near'; eauto.
  - destruct (String.eqb_spec x0 x) as [-> | D].
    + exists (End rho), 0. split; [constructor | apply ghost_near, N].
    + destruct G as [G | G]; [congruence |]. eexists (End _), _. split; [apply R_Assign | apply assign_near; auto].
  - destruct G as [G1 G2]. eexists (End _), _. split; [apply R_Write | apply write_near; auto].
  - rewrite <- (no_near rho tau) in H; auto. exists (End rho), 0. split; [constructor; auto | exact N].
  - rewrite <- (no_near rho tau) in H; auto. exists Broken, 0. split; [apply R_AssumeBroken; auto | exact I].
  - destruct G as (F & G1 & G2). back IHrun rho o1 k1 R1 E1. rewrite <- (no_near rho tau) in H; auto.
    eexists o1, _. split; [apply R_IfT; eauto | auto].
  - destruct G as (F & G1 & G2). back IHrun rho o1 k1 R1 E1. rewrite <- (yes_near rho tau) in H; auto.
    eexists o1, _. split; [apply R_IfF; eauto | auto].
  - destruct G as (F & G1 & G2). back IHrun1 rho o1 k1 R1 E1. destruct o1 as [rho1 | |]; try contradiction.
    back IHrun2 rho1 o2 k2 R2 E2. rewrite <- (yes_near rho tau), <- (no_near rho tau) in *; auto.
    eexists o2, _. split; [eapply R_IfD; eauto | auto].
  - destruct G as (F & G1 & G2). back IHrun rho o1 k1 R1 E1.
    rewrite <- (yes_near rho tau), <- (no_near rho tau) in *; auto.
    eexists o1, _. split; [eapply R_IfDStop; eauto; eapply stopped_near'; eauto | auto].
  - destruct G as (F & G1). back IHrun1 rho o1 k1 R1 E1. destruct o1 as [rho1 | |]; try contradiction.
    back IHrun2 rho1 o2 k2 R2 E2. rewrite <- (no_near rho tau) in H; auto.
    eexists o2, _. split; [eapply R_WhileAll; eauto | auto].
  - destruct G as (F & G1). back IHrun rho o1 k1 R1 E1. rewrite <- (no_near rho tau) in H; auto.
    eexists o1, _. split; [eapply R_WhileAllStop; eauto; eapply stopped_near'; eauto | auto].
  - destruct G as (F & G1). back IHrun1 rho o1 k1 R1 E1. destruct o1 as [rho1 | |]; try contradiction.
    back IHrun2 rho1 o2 k2 R2 E2. rewrite <- (yes_near rho tau), <- (no_near rho tau) in *; auto.
    eexists o2, _. split; [eapply R_WhileSome; eauto | auto].
  - destruct G as (F & G1). back IHrun rho o1 k1 R1 E1.
    rewrite <- (yes_near rho tau), <- (no_near rho tau) in *; auto.
    eexists o1, _. split; [eapply R_WhileSomeStop; eauto; eapply stopped_near'; eauto | auto].
  - destruct G as (F & G1). rewrite <- (yes_near rho tau) in H; auto.
    eexists (End rho), _. split; [apply R_WhileNone; auto | exact N].
Qed.

Lemma over_less X q : over X q -> ~ In x (pvars q) -> over (except X [x]) q.
Proof.
  intros [O L] N. split; auto. intros y I. apply in_except. split; [apply O, I |].
  intros [<- | []]. contradiction.
Qed.

Lemma valid_ghost P Q X s1 P' Q' X' :
  valid M U (Cond P Q X) s1 (Cond P' Q' X') -> ghost x s1 ->
  (forall p, In p P' -> plain p = true) -> over X' Q' ->
  (forall p, In p P' -> ~ In x (vars p)) -> ~ In x (pvars Q') ->
  valid M U (Cond P Q X) (erase x s1) (Cond P' Q' (except X' [x])).
Proof.
  intros V G PL O FP FQ sigma T o c Sat R. cbn [facts potential uniforms] in *.
  assert (Self : near sigma sigma) by (split; auto). pose proof Sat as (NT & _).
  destruct (with_ghosts _ _ _ _ _ R s1 sigma eq_refl G Self) as (o1 & c1 & R1 & E1 & L1).
  pose proof (V _ _ _ _ Sat R1) as W. cbn [facts potential uniforms] in *.
  destruct o as [sigma' | |]; destruct o1 as [tau' | |]; try contradiction; auto.
  - destruct E1 as [EL EC]. destruct W as [(_ & HU & Hold & A) E]. split.
    + repeat split; auto.
      * intros t I p J. rewrite (eval_same M sigma' tau' t p); auto.
        -- apply (Hold t I p J).
        -- intros y K. apply EL. intros ->. apply (FP p J K).
      * intros y t u I J1 J2. apply in_except in I as [I D].
        assert (y <> x) as D' by (intros ->; apply D; left; reflexivity). rewrite !EL by exact D'. apply A; auto.
    + intros t I. rewrite (peval_uniform M (except X' [x]) sigma' tau' t t Q' (over_less _ _ O FQ)).
      * specialize (E t I). lra.
      * intros y K. apply EL. intros ->. apply in_except in K as [_ D]. apply D. left. reflexivity.
  - destruct W as [W | (o2 & c2 & N2 & R2 & L2)].
    + left. intros t I. specialize (W t I). lra.
    + right. destruct (without_ghosts _ _ _ _ _ R2 sigma G Self) as (o3 & c3 & R3 & E3).
      assert (o3 <> Cut) as N3 by (destruct o2, o3; cbn in E3; congruence || contradiction).
      exists o3, c3. repeat split; auto. apply (prefix_less _ _ _ _ _ R eq_refl NT _ _ R3 N3).
Qed.

End Ghost.
