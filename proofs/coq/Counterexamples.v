(** Rules of the print that are unsound, with the programs and numbers of ERRATA.md. *)

From Coq Require Import ZArith QArith Qround List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Interpreter Logic Lemmas Rules.
Import ListNotations.
Open Scope string_scope.
Open Scope Q_scope.

(** * The setting: a barrier costs 1 and everything else is free, so [tick 1] is [Sync]; threads in a row *)

Definition ticks := Metric 0 0 0 0 0 0 0 1 free free free free.

Definition machine_of (n : Z) (m : metric) : machine :=
  {| params := fun _ => VInt n; block := (64, 1, 1)%Z; arrays := fun _ => Array Global TInt 4 0 4 None;
     base := fun _ => 0%Z; hw := nvidia; price := m; call := fun _ _ => VInt 0;
     held := fun _ => None |}.

Definition everywhere (_ : thread) : Prop := True.
Definition row (n : nat) : list thread := map (fun i => (i, 0, 0)%Z) (range 0 n).
Definition zeros : store := {| local := fun _ _ => VInt 0; contents := fun _ _ => VInt 0; later := [] |}.
Definition int (n : Z) := Const (VInt n).
Definition x := Var "x".
Definition i := Var "i".
Definition tid := Tid TidX.
Definition n_ := Param "n".

Lemma ticks_sane n : sane (price (machine_of n ticks)).
Proof. unfold sane; cbn; repeat split; discriminate. Qed.

(** A run that ends, by computing it. *)
Lemma executed depth M sigma T s (check : store -> Q -> bool) :
  match exec depth M sigma T s with (End sigma', c) => check sigma' c | _ => false end = true ->
  exists sigma' c c', run M sigma T s (End sigma') c' /\ c' == c /\ check sigma' c = true.
Proof.
  destruct (exec depth M sigma T s) as [[sigma' | |] c] eqn:E; try discriminate. intros H.
  apply exec_is_a_run in E as (c' & R & Ec). exists sigma', c, c'. auto.
Qed.

Lemma ends_at depth M sigma T s k :
  match exec depth M sigma T s with (End _, c) => Qeq_bool c k | _ => false end = true ->
  exists sigma' c, run M sigma T s (End sigma') c /\ c == k.
Proof.
  intros H. apply (executed depth M sigma T s (fun _ c => Qeq_bool c k)) in H as (sigma' & c & c' & R & E & K).
  apply Qeq_bool_iff in K. exists sigma', c'. split; auto. lra.
Qed.

(** Weakening without the constant *)
Lemma valid_conseq M U P1 Q1 X1 P1' Q1' X1' P2 Q2 X2 P2' Q2' X2' s :
  valid M U (Cond P2 Q2 X2) s (Cond P2' Q2' X2') ->
  entails M U P1 P2 -> at_least M U P1 X1 Q1 Q2 -> incl X2 X1 ->
  entails M U P2' P1' -> at_least M U P2' X2' Q2' Q1' -> incl X1' X2' ->
  valid M U (Cond P1 Q1 X1) s (Cond P1' Q1' X1').
Proof.
  intros V En L IX En' L' IX' sigma T o d Sat R. cbn [facts potential uniforms] in *.
  assert (Sat2 : sat M U sigma T P2 X2).
  { apply (sat_within M U _ _ _ _ _ _ _ Sat); auto using incl_refl; [apply Sat |].
    destruct Sat as (_ & HU & Hold & _). intros t I. apply En; auto. }
  pose proof (V _ _ _ _ Sat2 R) as W. destruct o as [sigma' | |]; auto.
  - destruct W as [Sat3 E]. pose proof Sat3 as (NT & HU & Hold3 & _). split.
    + apply (sat_within M U _ _ _ _ _ _ _ Sat3); auto using incl_refl.
    + intros t I. specialize (E t I). specialize (L sigma T t Sat I). specialize (L' sigma' T t Sat3 I).
      cbn [potential] in *. lra.
  - destruct W as [W | W]; [left | right; exact W]. intros t I. specialize (W t I). specialize (L sigma T t Sat I).
    cbn [potential] in *. lra.
Qed.

Ltac leaf := intros ? [<- | []]; split; reflexivity.
Ltac is_good := split; [intros ? I; cbn in I; repeat (destruct I as [<- | I]; [reflexivity |]); destruct I
                       | split; [intros ? I; cbn in *; tauto | cbn; leaf]].

Lemma larger_int z : larger 0 (inject_Z z) == inject_Z (Z.max 0 z).
Proof.
  unfold larger. destruct (Qle_bool 0 (inject_Z z)) eqn:E.
  - apply Qle_bool_iff in E. change 0 with (inject_Z 0) in E. rewrite <- Zle_Qle in E. rewrite Z.max_r; auto. reflexivity.
  - rewrite Z.max_l; [reflexivity |]. destruct (Z.leb_spec z 0); auto. assert (0 <= inject_Z z) as W.
    { change 0 with (inject_Z 0). rewrite <- Zle_Qle. lia. } apply Qle_bool_iff in W. congruence.
Qed.

(** A turn of both loops: [tick 1; v <- v + 1] *)
Lemma subst_sees y e p X :
  incl (vars e) X -> plain e = true -> no_tid e = true -> incl (vars p) X -> plain p = true -> no_tid p = true ->
  incl (vars (subst y e p)) X /\ plain (subst y e p) = true /\ no_tid (subst y e p) = true.
Proof.
  intros V Pe Ne. induction p; cbn [subst vars plain no_tid]; intros I Pp Np; try discriminate; auto.
  - destruct (String.eqb _ _); auto.
  - apply andb_true_iff in Pp as [P1 P2], Np as [N1 N2]. apply incl_app_inv in I as [I1 I2].
    destruct (IHp1 I1 P1 N1) as (A1 & A2 & A3), (IHp2 I2 P2 N2) as (B1 & B2 & B3). rewrite A2, A3, B2, B3.
    split; [apply incl_app; assumption | auto].
  - apply andb_true_iff in Pp as [Pp P3], Np as [Np N3]. apply andb_true_iff in Pp as [P1 P2], Np as [N1 N2].
    apply incl_app_inv in I as [I1 I]. apply incl_app_inv in I as [I2 I3].
    destruct (IHp1 I1 P1 N1) as (A1 & A2 & A3), (IHp2 I2 P2 N2) as (B1 & B2 & B3), (IHp3 I3 P3 N3) as (C1 & C2 & C3).
    rewrite A2, A3, B2, B3, C2, C3. split; [repeat apply incl_app; assumption | auto].
Qed.

Lemma leaves_psubst y e q : leaves (psubst y e q) = map (subst y e) (leaves q).
Proof. induction q; cbn; rewrite ?map_app; congruence. Qed.

Lemma over_psubst y e X q :
  incl (vars e) X -> plain e = true -> no_tid e = true -> over X q -> over X (psubst y e q).
Proof.
  intros V Pe Ne [I L]. unfold over, pvars. rewrite leaves_psubst.
  assert (K : forall p, In p (leaves q) -> incl (vars (subst y e p)) X /\ plain (subst y e p) = true /\ no_tid (subst y e p) = true).
  { intros p J. destruct (L p J) as [L1 L2]. apply subst_sees; auto. intros z Z. apply I. apply in_flat_map. eauto. }
  split.
  - intros z J. apply in_flat_map in J as (p' & J & Z). apply in_map_iff in J as (p & <- & J). apply (K p J), Z.
  - intros p' J. apply in_map_iff in J as (p & <- & J). destruct (K p J) as (_ & K1 & K2). auto.
Qed.

Definition turn (v : string) : stmt := Seq Sync (Assign v (Op2 Add (Var v) (int 1))).

Lemma valid_turn n P P' v Q :
  let M := machine_of n ticks in
  (forall p, In p P -> plain p = true) -> (forall p, In p P' -> plain p = true) -> over [v] Q ->
  entails M everywhere P (map (subst v (Op2 Add (Var v) (int 1))) P') ->
  at_least M everywhere P [v] Q (charged (psubst v (Op2 Add (Var v) (int 1)) Q) 1) ->
  valid M everywhere (Cond P Q [v]) (turn v) (Cond P' Q [v]).
Proof.
  intros M GP0 GP O En L. pose proof (ticks_sane n) as S.
  set (e := Op2 Add (Var v) (int 1)) in *. set (Q0 := psubst v e Q).
  apply valid_seq with (B := Cond P (charged Q0 (m_vwrite (price M) + (0 + 0 + 0))) [v]).
  - eapply valid_conseq; [apply (valid_sync M everywhere S P (charged Q0 (m_vwrite (price M) + (0 + 0 + 0))) [v]) | | | | | |];
      [split; [exact GP0 | apply over_charged, over_psubst; auto using incl_refl] | .. ];
      try (intros ? ? ? ?; assumption); try apply incl_refl.
    + intros sigma T t Sat I. specialize (L sigma T t Sat I). rewrite !charged_value in *.
      change (m_sync (price M)) with 1. change (m_vwrite (price M)) with 0. fold Q0 in L. lra.
    + intros sigma T t Sat I. apply Qle_refl.
  - eapply valid_conseq; [apply (valid_vwrite1 M everywhere S P Q0 [v] v e (0 + 0 + 0) P' Q) | | | | | |];
      try (intros ? ? ? ?; assumption); try apply incl_refl.
    + apply (EQ_Op M everywhere P [v] Add (Var v) (int 1) 0 0); constructor.
    + intros sigma T t u Sat I J. cbn. destruct Sat as (_ & _ & _ & A). rewrite (A v t u); auto. left. reflexivity.
    + assumption.
    + intros sigma T t Sat I. apply Qle_refl.
    + split; [exact GP |]. destruct O as [O1 O2]. split; [intros y I; right; apply O1, I | exact O2].
    + intros sigma T t Sat I. apply Qle_refl.
    + intros sigma T t Sat I. apply Qle_refl.
    + intros y I. right. exact I.
Qed.

(** * Erratum 1: Q:If4 as printed

    if (x >= 2) skip else while (x < 2) { tick 1; x <- x + 1 }, x = 0, one thread: claims 0, costs 2. *)

Definition first_erratum : stmt := If (Op2 Ge x (int 2)) Skip (While (Op2 Lt x (int 2)) (turn "x")).
Definition up_to_two : pot := Max0 (Leaf (Op2 Sub (int 2) x)).

Lemma up_to_two_value M sigma t :
  peval M sigma up_to_two t == inject_Z (Z.max 0 (2 - as_int (local sigma "x" t))).
Proof. apply larger_int. Qed.

(** Its loop is paid by |[x, 2]|, whatever x is. *)
Lemma paid_by_the_distance :
  valid (machine_of 0 ticks) everywhere (Cond [] up_to_two ["x"]) (While (Op2 Lt x (int 2)) (turn "x"))
    (Cond [] zero ["x"]).
Proof.
  set (M := machine_of 0 ticks).
  eapply valid_conseq.
  - apply (valid_loop M everywhere (ticks_sane 0) [] ["x"] up_to_two up_to_two (Op2 Lt x (int 2)) truth (0 + 0 + 0) (turn "x") zero ["x"]).
    + apply (EQ_Op M everywhere [] ["x"] Lt x (int 2) 0 0); constructor.
    + intros sigma T t u _ _ _. reflexivity.
    + intros sigma T t u (_ & _ & _ & A) I J. cbn. rewrite (A "x" t u); auto. left. reflexivity.
    + intros sigma T t _ _. apply larger_l.
    + intros sigma T t _ _. rewrite charged_value. change (m_if (price M)) with 0. lra.
    + intros sigma T t _ _. rewrite charged_value. change (m_if (price M)) with 0. change (m_div (price M)) with 0. lra.
    + apply valid_turn.
      * apply plain_with. intros p [].
      * intros p [].
      * split; [intros y I; exact I | leaf].
      * intros sigma t _ _ p [].
      * intros sigma T t (_ & _ & H & _) I. rewrite charged_value.
        specialize (H t I _ (or_introl eq_refl)). cbn in H. apply Z.ltb_lt in H.
        pose proof (up_to_two_value M sigma t) as E0. pose proof (larger_int (2 - (as_int (local sigma "x" t) + 1))) as E1.
        assert (inject_Z (Z.max 0 (2 - (as_int (local sigma "x" t) + 1))) + inject_Z 1
                <= inject_Z (Z.max 0 (2 - as_int (local sigma "x" t)))) as E2.
        { rewrite <- inject_Z_plus, <- Zle_Qle. lia. }
        change (inject_Z 1) with 1 in E2. fold M.
        change (peval M sigma (psubst "x" (Op2 Add (Var "x") (int 1)) up_to_two) t)
          with (larger 0 (inject_Z (2 - (as_int (local sigma "x" t) + 1)))). lra.
    + intros sigma T t _ _. rewrite charged_value. change (m_if (price M)) with 0. change (peval M sigma zero t) with 0.
      assert (0 <= peval M sigma up_to_two t) by apply larger_l. lra.
    + apply incl_refl.
    + left. intros sigma T t u (_ & _ & _ & A) I J. cbn. rewrite (A "x" t u); auto. left. reflexivity.
    + split; [intros y I; exact I | leaf].
    + split; [intros y [] | intros e []].
    + intros p [].
  - intros sigma t _ H. exact H.
  - intros sigma T t _ _. apply Qle_refl.
  - apply incl_refl.
  - intros sigma t _ _ p [].
  - intros sigma T t _ _. apply Qle_refl.
  - apply incl_refl.
Qed.

(** All premises of the printed rule, and its conclusion fails: it claims 0 where 2 is paid. *)
Theorem printed_if4_is_unsound :
  exists P Q X e c s1 s2 P1 Q1 X1 P' P2 Q2 X2 P'',
    let M := machine_of 0 ticks in
    costs M everywhere P X e c
    /\ valid M everywhere (Cond (with_ P e) Q X) s1 (Cond P1 Q1 X1)
    /\ valid M everywhere (Cond P' Q1 (except X1 (writes s1))) s2 (Cond P2 Q2 X2)
    /\ entails M everywhere (without P e) P' /\ entails M everywhere P1 P'
    /\ entails M everywhere P1 P'' /\ entails M everywhere P2 P''
    /\ If e s1 s2 = first_erratum
    /\ sat M everywhere zeros (row 1) P X
    /\ (forall t, peval M zeros (charged Q (m_if (price M) + c + m_div (price M))) t == 0)
    /\ (forall sigma t, peval M sigma Q2 t == 0)
    /\ exists sigma' c', run M zeros (row 1) first_erratum (End sigma') c' /\ c' == 2.
Proof.
  exists [], zero, ["x"], (Op2 Ge x (int 2)), (0 + 0 + 0), Skip, (While (Op2 Lt x (int 2)) (turn "x")),
    [Op2 Ge x (int 2)], up_to_two, ["x"], [], [], zero, ["x"], [].
  cbn zeta. set (M := machine_of 0 ticks). repeat split.
  - apply (EQ_Op M everywhere [] ["x"] Ge x (int 2) 0 0); constructor.
  - apply (valid_conseq M everywhere _ _ _ _ _ _ [Op2 Ge x (int 2)] zero ["x"] [Op2 Ge x (int 2)] zero ["x"] Skip).
    + apply valid_skip.
    + intros sigma t _ H. exact H.
    + intros sigma T t _ _. apply Qle_refl.
    + apply incl_refl.
    + intros sigma t _ H. exact H.
    + intros sigma T t (_ & _ & H & _) I. specialize (H t I _ (or_introl eq_refl)). cbn in H. apply Z.leb_le in H.
      rewrite up_to_two_value. change (peval M sigma zero t) with (inject_Z 0). rewrite <- Zle_Qle. lia.
    + apply incl_refl.
  - exact paid_by_the_distance.
  - intros sigma t _ _ p [].
  - intros sigma t _ _ p [].
  - intros sigma t _ _ p [].
  - intros sigma t _ _ p [].
  - discriminate.
  - intros t _ p [].
  - apply (ends_at 20). vm_compute. reflexivity.
Qed.

(** * Erratum 3: Q:While2 as printed

    0 <= i <= tid < n, i = 0, Q = n - i; while (i < tid) { tick 1; i <- i + 1 }, lanes 0 to 31, n = 32: the loop costs
    31, and lane 0 "has" 32 afterwards. With [if (tid == 0) tick n] after it the program costs 63, and 32 is claimed. *)

Definition third_loop : stmt := While (Op2 Lt i tid) (turn "i").
Definition left_over : pot := Leaf (Op2 Sub n_ i).
Definition around : list expr := [Op2 Le (int 0) i; Op2 Le i tid; Op2 Lt tid n_].

Fixpoint tick (n : nat) : stmt := match n with O => Skip | S n => Seq Sync (tick n) end.
Definition third_program : stmt := Seq third_loop (If (Op2 Eq tid (int 0)) (tick 32) Skip).

Lemma third_body :
  valid (machine_of 32 ticks) everywhere (Cond (with_ around (Op2 Lt i tid)) left_over ["i"]) (turn "i")
    (Cond around left_over ["i"]).
Proof.
  apply valid_turn.
  - apply plain_with. intros p I. cbn in I. repeat (destruct I as [<- | I]; [reflexivity |]). destruct I.
  - intros p I. cbn in I. repeat (destruct I as [<- | I]; [reflexivity |]). destruct I.
  - split; [intros y I; exact I | leaf].
  - intros sigma t _ H p I. cbn in I.
    pose proof (H _ (or_introl eq_refl)) as H0. pose proof (H _ (or_intror (or_introl eq_refl))) as H1.
    pose proof (H _ (or_intror (or_intror (or_introl eq_refl)))) as H2.
    pose proof (H _ (or_intror (or_intror (or_intror (or_introl eq_refl))))) as H3.
    destruct t as [[tx ty] tz]. cbn in *.
    destruct I as [<- | [<- | [<- | []]]]; cbn; lia.
  - intros sigma T t _ _. rewrite charged_value.
    change (inject_Z (32 - (as_int (local sigma "i" t) + 1)) + 1 <= inject_Z (32 - as_int (local sigma "i" t))).
    change 1 with (inject_Z 1). rewrite <- inject_Z_plus, <- Zle_Qle. lia.
Qed.

Theorem printed_while2_is_unsound :
  let M := machine_of 32 ticks in
  let K := m_if (price M) + (0 + 0 + 0) + m_div (price M) in
  costs M everywhere around ["i"] (Op2 Lt i tid) (0 + 0 + 0)
  /\ K == 0
  /\ valid M everywhere (Cond (with_ around (Op2 Lt i tid)) left_over ["i"]) (turn "i") (Cond around left_over ["i"])
  /\ sat M everywhere zeros (row 32) around ["i"]
  /\ (forall t, peval M zeros left_over t == 32)
  /\ (exists sigma' c, run M zeros (row 32) third_loop (End sigma') c /\ c == 31
                       /\ peval M sigma' left_over (0, 0, 0)%Z == 32)
  /\ exists sigma' c, run M zeros (row 32) third_program (End sigma') c /\ c == 63.
Proof.
  cbn zeta. split; [| split; [| split; [| split; [| split; [| split]]]]].
  - apply (EQ_Op (machine_of 32 ticks) everywhere around ["i"] Lt i tid 0 0); constructor.
  - reflexivity.
  - exact third_body.
  - repeat split.
    + discriminate.
    + intros t I. unfold row, range in I. rewrite map_map in I. apply in_map_iff in I as (k & <- & I).
      apply in_seq in I. intros p J. cbn in J.
      destruct J as [<- | [<- | [<- | []]]]; cbn; lia.
  - intros t. reflexivity.
  - destruct (executed 200 (machine_of 32 ticks) zeros (row 32) third_loop
      (fun s c => Qeq_bool c 31 && Qeq_bool (peval (machine_of 32 ticks) s left_over (0, 0, 0)%Z) 32)%bool)
      as (sigma' & c & c' & R & E & K); [vm_compute; reflexivity |].
    apply andb_true_iff in K as [K1 K2]. apply Qeq_bool_iff in K1, K2. exists sigma', c'. repeat split; auto. lra.
  - apply (ends_at 200). vm_compute. reflexivity.
Qed.

(** * Erratum 13: Q:VWrite2 that keeps x in Q; x <- 1 with Q = x, x = 0, where an assignment costs 1: claims 0, costs 1 *)

Definition writes_cost := Metric 0 0 0 0 0 0 1 0 free free free free.

Theorem printed_vwrite2_is_unsound :
  let M := machine_of 0 writes_cost in
  let Q := Leaf x in
  exists sigma', run M zeros (row 1) (Assign "x" (int 1)) (End sigma') 1
    /\ peval M zeros (charged Q (m_vwrite (price M) + m_const (price M))) (0, 0, 0)%Z
       - peval M sigma' Q (0, 0, 0)%Z == 0.
Proof.
  cbn zeta. eexists. split.
  - apply (R_Assign (machine_of 0 writes_cost) zeros (row 1) "x" (int 1)).
  - vm_compute. reflexivity.
Qed.

(** * A broken assumption

    tick 1; assume false: what follows [assume false] may be promised anything, so Q:Weak pays the tick from it. The claim
    is true, since it speaks of no run that breaks its assumption; but such a run has paid 1, and Q is 0. *)

Theorem a_broken_run_may_pay_more :
  let M := machine_of 0 ticks in
  let false_ := Const (VBool false) in
  exists A B c,
    derivable M everywhere A (Seq Sync (Assume false_)) B
    /\ sat M everywhere zeros (row 1) (facts A) (uniforms A)
    /\ (forall t, peval M zeros (potential A) t == 0) /\ (forall sigma t, peval M sigma (potential B) t == 0)
    /\ run M zeros (row 1) (Seq Sync (Assume false_)) Broken c /\ c == 1.
Proof.
  cbn zeta. set (M := machine_of 0 ticks). set (debt := PConst (-1)). set (f := Const (VBool false)).
  assert (G : forall P q, (forall p, In p P -> plain p = true) -> good (Cond P (PConst q) [])).
  { intros P q H. split; [exact H |]. split; [intros y [] | intros e []]. }
  exists (Cond [] (charged (charged debt 0) (m_sync (price M))) []), (Cond [f] (charged zero 0) []), (1 + 0).
  split; [| split; [| split; [| split; [| split]]]].
  - eapply Q_Seq.
    + apply Q_Sync. split; [intros p [] |]. split; [intros y [] | intros e []].
    + apply (Q_Weak M everywhere [] debt [] [f] zero [] [] debt [] [f] debt []).
      * apply (Q_Assume M everywhere [] debt [] f). apply G. intros p [].
      * intros sigma t _ H. exact H.
      * intros sigma T t _ _. apply Qle_refl.
      * intros y [].
      * intros sigma t _ H. exact H.
      * intros sigma T t (_ & _ & H & _) I. specialize (H t I f (or_introl eq_refl)). discriminate H.
      * apply incl_refl.
      * apply Qle_refl.
      * apply G. intros p [].
      * apply G. intros p [<- | []]. reflexivity.
  - split; [discriminate |]. split; [intros t _; exact I |]. split; [intros t _ p [] | intros y t u []].
  - intros t. reflexivity.
  - intros sigma t. reflexivity.
  - eapply R_Seq; [apply (R_Sync M) | apply R_AssumeBroken; discriminate].
  - reflexivity.
Qed.

(** * Errata 7 and 8: counts *)

Open Scope Z_scope.

(** MemReads with ceil(i / m), m elements a sector *)
Definition mem_reads_with_ceil (m : Z) (indices : list Z) : Z :=
  count (nodup Z.eq_dec (map (fun i => (i + m - 1) / m) indices)).

(** 32 aligned consecutive 4-byte reads, 8 a sector: 5 blocks, above the paper's own bound ceil(32 / 8); they are 4. *)
Theorem mem_reads_with_ceil_is_wrong :
  mem_reads_with_ceil 8 (range 0 32) = 5 /\ mem_reads nvidia 4 (map (Z.mul 4) (range 0 32)) = 4.
Proof. split; vm_compute; reflexivity. Qed.

(** All lanes read one word: 32 threads in its bank, and no conflict. *)
Theorem a_broadcast_is_no_conflict : bank_conflicts nvidia 4 (map (fun _ => 0) (range 0 32)) = 1.
Proof. vm_compute. reflexivity. Qed.

Definition ceiling (a b : Z) : Z := (a + b - 1) / b.

(** Theorem 5 on a closed interval [t, t'] of lanes: the length t' - t over the smaller of it and B / gcd(k, B). *)
Definition theorem_5 (k banks t t' : Z) : Z := ceiling (t' - t) (Z.min (t' - t) (banks / Z.gcd k banks)).

Theorem printed_theorem_5_is_wrong :
  theorem_5 32 32 0 31 = 31 /\ bank_conflicts nvidia 4 (map (fun l => 4 * (32 * l)) (range 0 32)) = 32.
Proof. split; vm_compute; reflexivity. Qed.

(** Theorem 4: ceil(k (t' - t) / m) + 1 sectors for a stride k; k = -3, one element a sector, lanes 0 and 1. *)
Theorem printed_theorem_4_is_wrong :
  ceiling (-3 * (1 - 0)) 1 + 1 = -2
  /\ mem_reads {| sector := 4; banks := 32; word := 4; warp := 32 |} 4 (map (fun l => 4 * (-3 * l)) (range 0 2)) = 2.
Proof. split; vm_compute; reflexivity. Qed.
