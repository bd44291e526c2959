(** An interpreter that runs for a given depth, and that it is the semantics: what it says is a run, and every run that
    ends is what it says from some depth on. It keeps costs in lowest terms. *)

From Coq Require Import ZArith QArith List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep.
Import ListNotations.

Definition plus (a b : Q) : Q := Qred (a + b).

(** A run of the statement, then of what follows where it ends; [paid] is what was paid before. *)
Definition after (paid : Q) (first : outcome * Q) (rest : store -> outcome * Q) : outcome * Q :=
  match first with
  | (End sigma, c) => let '(o, c') := rest sigma in (o, plus (plus paid c) c')
  | (o, c) => (o, plus paid c)
  end.

Definition paying (paid : Q) (r : outcome * Q) : outcome * Q := let '(o, c) := r in (o, plus paid c).

Fixpoint exec (depth : nat) (M : machine) (sigma : store) (T : list thread) (s : stmt) : outcome * Q :=
  match depth with
  | O => (Cut, 0)
  | S depth =>
      match s with
      | Skip => (End sigma, 0)
      | Sync => (End (behind sigma), m_sync (price M))
      | Others => (End (behind sigma), 0)
      | Seq s1 s2 => after 0 (exec depth M sigma T s1) (fun sigma1 => exec depth M sigma1 T s2)
      | Assign x e => (End (assign M sigma T x e), plus (ecost M sigma T e) (m_vwrite (price M)))
      | Write A i e =>
          (End (write M sigma T A i e),
            plus (plus (ecost M sigma T i) (ecost M sigma T e))
                 (at_count (write_price M A) (accesses M sigma T A i)))
      | Assume e => (match no M sigma T e with [] => End sigma | _ => Broken end, 0)
      | If e s1 s2 =>
          let paid := plus (ecost M sigma T e) (m_if (price M)) in
          match yes M sigma T e, no M sigma T e with
          | _, [] => paying paid (exec depth M sigma T s1)
          | [], _ => paying paid (exec depth M sigma T s2)
          | t1, t2 =>
              after (plus paid (m_div (price M))) (exec depth M sigma t1 s1) (fun sigma1 => exec depth M sigma1 t2 s2)
          end
      | While e s1 =>
          let paid := plus (ecost M sigma T e) (m_if (price M)) in
          match yes M sigma T e, no M sigma T e with
          | [], _ => (End sigma, paid)
          | _, [] => after paid (exec depth M sigma T s1) (fun sigma1 => exec depth M sigma1 T (While e s1))
          | t1, _ =>
              after (plus paid (m_div (price M))) (exec depth M sigma t1 s1)
                (fun sigma1 => exec depth M sigma1 t1 (While e s1))
          end
      end
  end.

Lemma plus_ok a b : plus a b == a + b.
Proof. apply Qred_correct. Qed.

(** * What it says is a run *)

Lemma nonempty {A} (l : list A) (x : A) : x :: l <> [].
Proof. discriminate. Qed.

Lemma after_cases paid first rest o c :
  after paid first rest = (o, c) ->
  (exists sigma c1 c2, first = (End sigma, c1) /\ rest sigma = (o, c2) /\ c == paid + c1 + c2)
  \/ (exists c1, first = (o, c1) /\ stopped o /\ c == paid + c1).
Proof.
  unfold after. destruct first as [[sigma | |] c1].
  - destruct (rest sigma) as [o' c2] eqn:E. intros [= <- <-]. left. exists sigma, c1, c2.
    repeat split; auto. rewrite !plus_ok. reflexivity.
  - intros [= <- <-]. right. exists c1. split; [reflexivity | split; [exact I | apply plus_ok]].
  - intros [= <- <-]. right. exists c1. split; [reflexivity | split; [exact I | apply plus_ok]].
Qed.

Ltac same := repeat rewrite plus_ok; lra.

Theorem exec_is_a_run depth M sigma T s o c :
  exec depth M sigma T s = (o, c) -> exists c', run M sigma T s o c' /\ c' == c.
Proof.
  revert sigma T s o c. induction depth as [| depth IH]; intros sigma T s o c.
  { intros [= <- <-]. exists 0. split; [constructor | reflexivity]. }
  assert (IHa : forall paid T1 s1 T2 s2, after paid (exec depth M sigma T1 s1) (fun u => exec depth M u T2 s2) = (o, c) ->
    (exists u c1 c2, run M sigma T1 s1 (End u) c1 /\ run M u T2 s2 o c2 /\ c == paid + c1 + c2)
    \/ (exists c1, run M sigma T1 s1 o c1 /\ stopped o /\ c == paid + c1)).
  { intros * H. apply after_cases in H as [(u & c1 & c2 & H1 & H2 & E) | (c1 & H1 & S & E)].
    - apply IH in H1 as (d1 & R1 & E1). apply IH in H2 as (d2 & R2 & E2).
      left. exists u, d1, d2. repeat split; auto. lra.
    - apply IH in H1 as (d1 & R1 & E1). right. exists d1. repeat split; auto. lra. }
  destruct s; cbn [exec].
  - intros [= <- <-]. eexists. split; [constructor | reflexivity].
  - intros H. apply IHa in H as [(u & c1 & c2 & R1 & R2 & E) | (c1 & R1 & S & E)].
    + eexists. split; [eapply R_Seq; eauto | lra].
    + eexists. split; [eapply R_SeqStop; eauto | lra].
  - intros [= <- <-]. eexists. split; [constructor | same].
  - intros [= <- <-]. eexists. split; [constructor | same].
  - destruct (no M sigma T e) as [| u n] eqn:N.
    + assert (P : paying (plus (ecost M sigma T e) (m_if (price M))) (exec depth M sigma T s1) = (o, c) ->
        exists c', run M sigma T (If e s1 s2) o c' /\ c' == c).
      { unfold paying. destruct (exec depth M sigma T s1) as [o' c1] eqn:E. intros [= <- <-].
        apply IH in E as (d & R & E). eexists. split; [apply R_IfT; eauto | rewrite E; same]. }
      destruct (yes M sigma T e); exact P.
    + destruct (yes M sigma T e) as [| v y] eqn:V.
      * unfold paying. destruct (exec depth M sigma T s2) as [o' c1] eqn:E. intros [= <- <-].
        apply IH in E as (d & R & E). eexists. split; [apply R_IfF; eauto | rewrite E; same].
      * assert (NV : yes M sigma T e <> []) by (rewrite V; apply nonempty).
        assert (NN : no M sigma T e <> []) by (rewrite N; apply nonempty).
        intros H. rewrite <- V, <- N in H. apply IHa in H as [(w & c1 & c2 & R1 & R2 & E) | (c1 & R1 & S & E)];
          rewrite !plus_ok in E.
        -- eexists. split; [eapply R_IfD; eauto | lra].
        -- eexists. split; [eapply R_IfDStop; eauto | lra].
  - destruct (yes M sigma T e) as [| v y] eqn:V.
    + intros [= <- <-]. eexists. split; [apply R_WhileNone; auto | same].
    + destruct (no M sigma T e) as [| u n] eqn:N.
      * intros H. apply IHa in H as [(w & c1 & c2 & R1 & R2 & E) | (c1 & R1 & S & E)]; rewrite !plus_ok in E.
        -- eexists. split; [eapply R_WhileAll; eauto | lra].
        -- eexists. split; [eapply R_WhileAllStop; eauto | lra].
      * assert (NV : yes M sigma T e <> []) by (rewrite V; apply nonempty).
        assert (NN : no M sigma T e <> []) by (rewrite N; apply nonempty).
        intros H. rewrite <- V in H. apply IHa in H as [(w & c1 & c2 & R1 & R2 & E) | (c1 & R1 & S & E)];
          rewrite !plus_ok in E.
        -- eexists. split; [eapply R_WhileSome; eauto | lra].
        -- eexists. split; [eapply R_WhileSomeStop; eauto | lra].
  - intros [= <- <-]. eexists. split; [constructor | reflexivity].
  - intros [= <- <-]. destruct (no M sigma T e) eqn:N; eexists; (split; [| reflexivity]).
    + apply R_Assume, N.
    + apply R_AssumeBroken. rewrite N. apply nonempty.
  - intros [= <- <-]. eexists. split; [constructor | reflexivity].
Qed.

(** * More depth changes nothing *)

Lemma after_mono paid first first' (rest rest' : store -> outcome * Q) o c :
  (forall o c, first = (o, c) -> o <> Cut -> first' = (o, c)) ->
  (forall u o c, rest u = (o, c) -> o <> Cut -> rest' u = (o, c)) ->
  after paid first rest = (o, c) -> o <> Cut -> after paid first' rest' = (o, c).
Proof.
  intros F R H NC. unfold after in *. destruct first as [[u | |] c1].
  - rewrite (F (End u) c1) by (auto; discriminate). destruct (rest u) as [o' c2] eqn:E.
    injection H as <- <-. rewrite (R u o' c2 E NC). reflexivity.
  - rewrite (F Broken c1) by (auto; discriminate). exact H.
  - injection H as <- <-. congruence.
Qed.

Lemma exec_more depth M sigma T s o c :
  exec depth M sigma T s = (o, c) -> o <> Cut -> exec (S depth) M sigma T s = (o, c).
Proof.
  revert sigma T s o c. induction depth as [| depth IH]; intros sigma T s o c H NC.
  { cbn in H. injection H as <- <-. congruence. }
  assert (P : forall paid T1 s1, paying paid (exec depth M sigma T1 s1) = (o, c) ->
    paying paid (exec (S depth) M sigma T1 s1) = (o, c)).
  { intros paid T1 s1 E. unfold paying in *. destruct (exec depth M sigma T1 s1) as [o' c'] eqn:E1.
    injection E as <- <-. rewrite (IH _ _ _ _ _ E1 NC). reflexivity. }
  remember (S depth) as deep eqn:D. rewrite D in H. destruct s; cbn [exec] in *; auto.
  - revert H NC. apply after_mono; auto.
  - destruct (yes M sigma T e), (no M sigma T e); auto; revert H NC; apply after_mono; auto.
  - destruct (yes M sigma T e), (no M sigma T e); auto; revert H NC; apply after_mono; auto.
Qed.

Lemma exec_deeper depth more M sigma T s o c :
  exec depth M sigma T s = (o, c) -> o <> Cut -> (depth <= more)%nat -> exec more M sigma T s = (o, c).
Proof. intros H NC. induction 1; auto. apply exec_more; auto. Qed.

(** * Every run that ends is found *)

Lemma after_end paid sigma c1 rest o c2 :
  rest sigma = (o, c2) -> exists c, after paid (End sigma, c1) rest = (o, c) /\ c == paid + c1 + c2.
Proof. intros H. unfold after. rewrite H. eexists. split; [reflexivity | same]. Qed.

Lemma after_stop paid o c1 rest :
  stopped o -> exists c, after paid (o, c1) rest = (o, c) /\ c == paid + c1.
Proof. intros S. destruct o; try contradiction; eexists; (split; [reflexivity | same]). Qed.

Lemma both_ways M sigma T e : T <> [] -> no M sigma T e = [] -> yes M sigma T e <> [].
Proof.
  unfold yes, no. destruct T as [| t T]; [congruence |]. cbn.
  destruct (as_bool (eval M sigma e t)); cbn; discriminate.
Qed.

Theorem a_run_is_executed M sigma T s o c :
  run M sigma T s o c -> T <> [] -> o <> Cut ->
  exists depth c', exec depth M sigma T s = (o, c') /\ c' == c.
Proof.
  assert (DEEP : forall d k, (d <= Nat.max d k)%nat /\ (k <= Nat.max d k)%nat) by (split; lia).
  induction 1; intros NT NC; try congruence.
  - exists 1%nat. eexists. split; reflexivity.
  - exists 1%nat. eexists. split; reflexivity.
  - exists 1%nat. eexists. split; reflexivity.
  - destruct IHrun1 as (d1 & k1 & E1 & Q1); auto; [discriminate |]. destruct IHrun2 as (d2 & k2 & E2 & Q2); auto.
    apply exec_deeper with (more := Nat.max d1 d2) in E1; [| discriminate | lia].
    apply exec_deeper with (more := Nat.max d1 d2) in E2; [| auto | lia].
    exists (S (Nat.max d1 d2)). cbn [exec]. rewrite E1.
    destruct (after_end 0 sigma1 k1 (fun u => exec (Nat.max d1 d2) M u T s2) o k2 E2) as (k & -> & E).
    eexists. split; [reflexivity | lra].
  - destruct IHrun as (d1 & k1 & E1 & Q1); auto. exists (S d1). cbn [exec]. rewrite E1.
    destruct (after_stop 0 o k1 (fun u => exec d1 M u T s2)) as (k & -> & E); auto.
    eexists. split; [reflexivity | lra].
  - exists 1%nat. eexists. split; [reflexivity | same].
  - exists 1%nat. eexists. split; [reflexivity | same].
  - exists 1%nat. cbn. rewrite H. eexists. split; reflexivity.
  - exists 1%nat. cbn. destruct (no M sigma T e); [congruence |]. eexists. split; reflexivity.
  - destruct IHrun as (d & k & E & Q1); auto. exists (S d). cbn [exec]. rewrite H, E.
    destruct (yes M sigma T e); cbn [paying]; (eexists; split; [reflexivity | same]).
  - destruct IHrun as (d & k & E & Q1); auto. exists (S d). cbn [exec]. rewrite H, E.
    assert (no M sigma T e <> []) by (intro N; apply both_ways in N; auto).
    destruct (no M sigma T e); [congruence |]. cbn [paying]. eexists. split; [reflexivity | same].
  - destruct IHrun1 as (d1 & k1 & E1 & Q1); auto; [discriminate |]. destruct IHrun2 as (d2 & k2 & E2 & Q2); auto.
    apply exec_deeper with (more := Nat.max d1 d2) in E1; [| discriminate | lia].
    apply exec_deeper with (more := Nat.max d1 d2) in E2; [| auto | lia].
    exists (S (Nat.max d1 d2)). cbn [exec].
    destruct (yes M sigma T e); [congruence |]. destruct (no M sigma T e) as [| u n]; [congruence |]. rewrite E1.
    match goal with |- context [after ?p _ ?r] => destruct (after_end p sigma1 k1 r o k2 E2) as (k & -> & E) end.
    rewrite !plus_ok in E. eexists. split; [reflexivity | lra].
  - destruct IHrun as (d1 & k1 & E1 & Q1); auto. exists (S d1). cbn [exec].
    destruct (yes M sigma T e); [congruence |]. destruct (no M sigma T e) as [| u n]; [congruence |]. rewrite E1.
    match goal with |- context [after ?p _ ?r] => destruct (after_stop p o k1 r) as (k & -> & E); auto end.
    rewrite !plus_ok in E. eexists. split; [reflexivity | lra].
  - destruct IHrun1 as (d1 & k1 & E1 & Q1); auto; [discriminate |]. destruct IHrun2 as (d2 & k2 & E2 & Q2); auto.
    apply exec_deeper with (more := Nat.max d1 d2) in E1; [| discriminate | lia].
    apply exec_deeper with (more := Nat.max d1 d2) in E2; [| auto | lia].
    exists (S (Nat.max d1 d2)). cbn [exec]. pose proof (both_ways _ _ _ _ NT H).
    destruct (yes M sigma T e); [congruence |]. rewrite H, E1.
    match goal with |- context [after ?p _ ?r] => destruct (after_end p sigma1 k1 r o k2 E2) as (k & -> & E) end.
    rewrite !plus_ok in E. eexists. split; [reflexivity | lra].
  - destruct IHrun as (d1 & k1 & E1 & Q1); auto. exists (S d1). cbn [exec]. pose proof (both_ways _ _ _ _ NT H).
    destruct (yes M sigma T e); [congruence |]. rewrite H, E1.
    match goal with |- context [after ?p _ ?r] => destruct (after_stop p o k1 r) as (k & -> & E); auto end.
    rewrite !plus_ok in E. eexists. split; [reflexivity | lra].
  - destruct IHrun1 as (d1 & k1 & E1 & Q1); auto; [discriminate |]. destruct IHrun2 as (d2 & k2 & E2 & Q2); auto.
    apply exec_deeper with (more := Nat.max d1 d2) in E1; [| discriminate | lia].
    apply exec_deeper with (more := Nat.max d1 d2) in E2; [| auto | lia].
    exists (S (Nat.max d1 d2)). cbn [exec].
    destruct (yes M sigma T e); [congruence |]. destruct (no M sigma T e) as [| u n]; [congruence |]. rewrite E1.
    match goal with |- context [after ?p _ ?r] => destruct (after_end p sigma1 k1 r o k2 E2) as (k & -> & E) end.
    rewrite !plus_ok in E. eexists. split; [reflexivity | lra].
  - destruct IHrun as (d1 & k1 & E1 & Q1); auto. exists (S d1). cbn [exec].
    destruct (yes M sigma T e); [congruence |]. destruct (no M sigma T e) as [| u n]; [congruence |]. rewrite E1.
    match goal with |- context [after ?p _ ?r] => destruct (after_stop p o k1 r) as (k & -> & E); auto end.
    rewrite !plus_ok in E. eexists. split; [reflexivity | lra].
  - exists 1%nat. cbn [exec]. rewrite H. eexists. split; [reflexivity | same].
Qed.
