(** Each rule keeps meanings: what its premises say of their statements, its conclusion says of its own. *)

From Coq Require Import ZArith QArith List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic Lemmas.
Import ListNotations.
Open Scope Q_scope.

Section Rules.

Variable M : machine.
Variable U : thread -> Prop.
Hypothesis S : sane (price M).

(** [valid] for one store and one T *)
Definition ok (sigma : store) (T : list thread) (s : stmt) (q : pot) (B : cond) : Prop :=
  forall o c, run M sigma T s o c ->
    match o with
    | End sigma' =>
        sat M U sigma' T (facts B) (uniforms B)
        /\ forall t, In t T -> c + peval M sigma' (potential B) t <= peval M sigma q t
    | Cut => covered M sigma T s q c
    | Broken => True
    end.

Lemma valid_ok A s B : valid M U A s B <-> forall sigma T, sat M U sigma T (facts A) (uniforms A) -> ok sigma T s (potential A) B.
Proof. unfold valid, ok. split; intros H; intros; eapply H; eauto. Qed.

Lemma covered_less sigma T s q c d : covered M sigma T s q c -> d <= c -> covered M sigma T s q d.
Proof.
  intros [H | (o & c' & N & R & L)] D; [left | right].
  - intros t I. specialize (H t I). lra.
  - exists o, c'. repeat split; auto. lra.
Qed.

(** A run that can go on at once is covered at its beginning. *)
Lemma covered_now sigma T s q o c : o <> Cut -> run M sigma T s o c -> 0 <= c -> covered M sigma T s q 0.
Proof. intros N R L. right. exists o, c. auto. Qed.

Lemma ok_more sigma T s q q' B :
  ok sigma T s q B -> (forall t, In t T -> peval M sigma q t <= peval M sigma q' t) -> ok sigma T s q' B.
Proof.
  intros H L o c R. specialize (H o c R). destruct o; auto.
  - destruct H as [H E]. split; [exact H |]. intros t I. specialize (E t I). specialize (L t I). lra.
  - destruct H as [H | H]; [left | right; exact H]. intros t I. specialize (H t I). specialize (L t I). lra.
Qed.

(** Where what is left at the end is not negative, every prefix is within Q, or the run breaks an assumption. *)
Lemma settle sigma T s q B c :
  ok sigma T s q B -> at_least M U (facts B) (uniforms B) (potential B) zero -> run M sigma T s Cut c ->
  (forall t, In t T -> c <= peval M sigma q t) \/ exists c', run M sigma T s Broken c' /\ c <= c'.
Proof.
  intros H N R. destruct (H Cut c R) as [L | (o & c' & NC & R' & L)]; [left; exact L |].
  destruct o as [sigma' | |]; [| right; eauto | congruence].
  left. intros t I. destruct (H _ _ R') as [Sat E]. specialize (E t I). specialize (N sigma' T t Sat I). cbn in N. lra.
Qed.

Lemma sat_within sigma T T1 P X P1 X1 :
  sat M U sigma T P X -> T1 <> [] -> incl T1 T -> (forall t, In t T1 -> holds M sigma t P1) -> incl X1 X ->
  sat M U sigma T1 P1 X1.
Proof.
  intros (_ & HU & _ & A) N I H IX. repeat split; auto. intros x t u Ix It Iu. apply A; auto.
Qed.

Lemma one {A} (T : list A) : T <> [] -> exists t, In t T.
Proof. destruct T as [| t T]; [congruence |]. exists t. left. reflexivity. Qed.

Lemma yes_in sigma T e : incl (yes M sigma T e) T.
Proof. intros t H. apply in_yes in H. tauto. Qed.

Lemma no_in sigma T e : incl (no M sigma T e) T.
Proof. intros t H. apply in_no in H. tauto. Qed.

Lemma charged_value sigma q c t : peval M sigma (charged q c) t = peval M sigma q t + c.
Proof. reflexivity. Qed.

Lemma over_charged X q c : over X (charged q c) <-> over X q.
Proof. unfold over, pvars, charged. cbn. rewrite app_nil_r. reflexivity. Qed.

Lemma in_except x X W : In x (except X W) <-> In x X /\ ~ In x W.
Proof.
  unfold except. rewrite filter_In, negb_true_iff. split; intros [H E]; split; auto.
  - intros I. assert (existsb (String.eqb x) W = true); [| congruence].
    apply existsb_exists. exists x. split; auto. apply String.eqb_refl.
  - apply not_true_is_false. intros B. apply existsb_exists in B as (y & I & E').
    apply String.eqb_eq in E' as <-. auto.
Qed.

Lemma same_potential sigma T P X q t u :
  sat M U sigma T P X -> over X q -> In t T -> In u T -> peval M sigma q t = peval M sigma q u.
Proof. intros (_ & _ & _ & A) O I J. apply (peval_uniform M X); auto. Qed.

Ltac prices := destruct S as (S1 & S2 & S3 & S4 & S5 & S6 & S7 & S8 & S9 & S10 & S11 & S12).

(** * Statements of one step *)

Lemma valid_skip P Q X : valid M U (Cond P Q X) Skip (Cond P Q X).
Proof.
  intros sigma T o c Sat R. inversion R; subst.
  - apply (covered_now _ _ _ _ (End sigma) 0); [discriminate | constructor | lra].
  - split; [exact Sat |]. intros. lra.
Qed.

Lemma valid_sync P Q X :
  good (Cond P Q X) -> valid M U (Cond P (charged Q (m_sync (price M))) X) Sync (Cond P Q X).
Proof.
  intros [G1 G2] sigma T o c Sat R. prices. inversion R; subst.
  - eapply (covered_now _ _ _ _ (End _)); [discriminate | constructor | lra].
  - pose proof (behind_local sigma) as L. split.
    + destruct Sat as (NT & HU & H & A). split; [exact NT |]. split; [exact HU |]. split.
      * intros t I. apply (holds_same M sigma); auto. intros y. rewrite L. reflexivity.
      * intros y t u I J1 J2. rewrite L. apply A; auto.
    + intros t I. cbn [potential]. rewrite charged_value.
      rewrite (peval_uniform M X (behind sigma) sigma t t Q G2) by (intros y _; rewrite L; reflexivity). lra.
Qed.

Lemma valid_assume P Q X e : valid M U (Cond P Q X) (Assume e) (Cond (with_ P e) Q X).
Proof.
  intros sigma T o c Sat R. inversion R; subst; auto.
  - destruct (no M sigma T e) eqn:N.
    + apply (covered_now _ _ _ _ (End sigma) 0); [discriminate | constructor; auto | lra].
    + apply (covered_now _ _ _ _ Broken 0); [discriminate | constructor; congruence | lra].
  - split; [| intros; cbn; lra]. destruct Sat as (NT & HU & H & A). repeat split; auto.
    intros t I. apply holds_with; auto. eapply in_no_one; eauto.
Qed.

Lemma valid_vwrite1 P Q X x e c P' Q' :
  costs M U P X e c -> uniform M U P X e -> entails M U P (map (subst x e) P') ->
  at_least M U P X Q (psubst x e Q') -> good (Cond P' Q' (x :: X)) ->
  valid M U (Cond P (charged Q (m_vwrite (price M) + c)) X) (Assign x e) (Cond P' Q' (x :: X)).
Proof.
  intros C Un En L [G1 [G2 G3]] sigma T o d Sat R. prices.
  pose proof (costs_sound M S U _ _ _ _ sigma T C Sat) as CE. pose proof (ecost_nonneg M S sigma T e) as CN.
  inversion R; subst.
  - eapply (covered_now _ _ _ _ (End _)); [discriminate | constructor | lra].
  - split.
    + destruct Sat as (NT & HU & H & A). repeat split; auto; cbn [facts uniforms].
      * intros t I p J. rewrite (eval_subst M sigma T x e t p I) by (apply G1; exact J).
        apply (En sigma t); auto. apply in_map. exact J.
      * intros y t u [<- | J] I1 I2.
        -- rewrite !assign_hit; auto. apply (Un sigma T); auto. repeat split; auto.
        -- destruct (string_dec y x) as [-> | N].
           ++ rewrite !assign_hit; auto. apply (Un sigma T); auto. repeat split; auto.
           ++ rewrite !assign_miss; auto.
    + intros t I. cbn [potential]. rewrite charged_value.
      rewrite (peval_subst M sigma T x e t Q' I) by (intros p J; apply G3; exact J).
      specialize (L sigma T t Sat I). lra.
Qed.

Lemma valid_vwrite2 P Q X x e c P' :
  costs M U P X e c -> entails M U P (map (subst x e) P') -> good (Cond P' Q (except X [x])) ->
  valid M U (Cond P (charged Q (m_vwrite (price M) + c)) X) (Assign x e) (Cond P' Q (except X [x])).
Proof.
  intros C En [G1 G2] sigma T o d Sat R. prices.
  pose proof (costs_sound M S U _ _ _ _ sigma T C Sat) as CE. pose proof (ecost_nonneg M S sigma T e) as CN.
  assert (K : forall y t, In y (except X [x]) -> local (assign M sigma T x e) y t = local sigma y t).
  { intros y t I. apply in_except in I as [_ N]. apply assign_miss. left. intros ->. apply N. left. reflexivity. }
  inversion R; subst.
  - eapply (covered_now _ _ _ _ (End _)); [discriminate | constructor | lra].
  - split.
    + destruct Sat as (NT & HU & H & A). repeat split; auto; cbn [facts uniforms].
      * intros t I p J. rewrite (eval_subst M sigma T x e t p I) by (apply G1; exact J).
        apply (En sigma t); auto. apply in_map. exact J.
      * intros y t u J I1 I2. rewrite !K by auto. apply A; auto. apply in_except in J. tauto.
    + intros t I. cbn [potential]. rewrite charged_value.
      rewrite (peval_uniform M (except X [x]) _ sigma t t Q) by auto. lra.
Qed.

Lemma valid_write P Q X A i e c1 c2 n :
  costs M U P X i c1 -> costs M U P X e c2 -> at_most M U P X A i n -> good (Cond P Q X) ->
  valid M U (Cond P (charged Q (at_count (write_price M A) n + c1 + c2)) X) (Write A i e) (Cond P Q X).
Proof.
  intros C1 C2 L [G1 G2] sigma T o d Sat R.
  pose proof (costs_sound M S U _ _ _ _ sigma T C1 Sat). pose proof (ecost_nonneg M S sigma T i).
  pose proof (costs_sound M S U _ _ _ _ sigma T C2 Sat). pose proof (ecost_nonneg M S sigma T e).
  pose proof (write_mono M S A _ _ (L sigma T Sat)).
  pose proof (at_count_nonneg (write_price M A) (accesses M sigma T A i)).
  inversion R; subst.
  - eapply (covered_now _ _ _ _ (End _)); [discriminate | constructor | lra].
  - split.
    + destruct Sat as (NT & HU & H' & Al). repeat split; auto. intros t I.
      apply (holds_same M sigma); auto.
    + intros t I. cbn [potential]. rewrite charged_value.
      rewrite (peval_uniform M X _ sigma t t Q) by auto. lra.
Qed.

(** * Sequences *)

Lemma valid_seq A s1 B s2 C : valid M U A s1 B -> valid M U B s2 C -> valid M U A (Seq s1 s2) C.
Proof.
  intros V1 V2 sigma T o c Sat R.
  assert (First : forall c, covered M sigma T s1 (potential A) c -> covered M sigma T (Seq s1 s2) (potential A) c).
  { clear R c. intros c [L | (o1 & c1 & N & R1 & L)]; [left; exact L |]. destruct o1 as [sigma1 | |]; [| | congruence].
    - destruct (V1 _ _ _ _ Sat R1) as [Sat1 E]. destruct (V2 _ _ _ _ Sat1 (R_Cut M sigma1 T s2)) as [L2 | (o2 & c2 & N2 & R2 & L2)].
      + left. intros t I. specialize (E t I). specialize (L2 t I). lra.
      + right. exists o2, (c1 + c2). repeat split; auto; [eapply R_Seq; eauto | lra].
    - right. exists Broken, c1. repeat split; auto. apply R_SeqStop; auto. exact I. }
  inversion R; subst.
  - apply First, (V1 _ _ _ _ Sat (R_Cut M sigma T s1)).
  - match goal with R1 : run M sigma T s1 (End _) _, R2 : run M _ T s2 _ _ |- _ => rename R1 into Ra; rename R2 into Rb end.
    destruct (V1 _ _ _ _ Sat Ra) as [Sat1 E]. pose proof (V2 _ _ _ _ Sat1 Rb) as W. destruct o as [sigma' | |]; auto.
    + destruct W as [Sat2 E2]. split; auto. intros t I. specialize (E t I). specialize (E2 t I). lra.
    + destruct W as [L | (o2 & c3 & N & R2 & L)].
      * left. intros t I. specialize (E t I). specialize (L t I). lra.
      * right. exists o2, (c1 + c3). repeat split; auto; [eapply R_Seq; eauto | lra].
  - match goal with R1 : run M sigma T s1 _ _ |- _ => rename R1 into Ra end.
    destruct o; [contradiction | exact I |]. apply First, (V1 _ _ _ _ Sat Ra).
Qed.

(** * Conditionals *)

Lemma ok_if_true sigma T e s1 s2 q c B :
  T <> [] -> no M sigma T e = [] -> ecost M sigma T e <= c -> ok sigma T s1 q B ->
  ok sigma T (If e s1 s2) (charged q (m_if (price M) + c)) B.
Proof.
  intros NT N C H o d R. pose proof (ecost_nonneg M S sigma T e). prices.
  assert (First : forall d, covered M sigma T s1 q d ->
    covered M sigma T (If e s1 s2) (charged q (m_if (price M) + c)) (ecost M sigma T e + m_if (price M) + d)).
  { intros k [L | (o1 & k1 & NC & R1 & L)].
    - left. intros t I. rewrite charged_value. specialize (L t I). lra.
    - right. eexists o1, _. split; [auto |]. split; [apply R_IfT; eauto | lra]. }
  inversion R; subst; try congruence.
  - eapply covered_less; [apply (First 0), (H _ _ (R_Cut M sigma T s1)) | lra].
  - match goal with Ra : run M sigma T _ o _ |- _ => specialize (H _ _ Ra) end. destruct o as [sigma' | |]; auto. destruct H as [Sat E]. split; auto.
    intros t I. rewrite charged_value. specialize (E t I). lra.
  - match goal with Y : yes M sigma T e = [] |- _ => rewrite (all_yes M) in Y end; congruence.
Qed.

Lemma ok_if_false sigma T e s1 s2 q c B :
  T <> [] -> yes M sigma T e = [] -> ecost M sigma T e <= c -> ok sigma T s2 q B ->
  ok sigma T (If e s1 s2) (charged q (m_if (price M) + c)) B.
Proof.
  intros NT N C H o d R. pose proof (ecost_nonneg M S sigma T e). prices.
  assert (First : forall d, covered M sigma T s2 q d ->
    covered M sigma T (If e s1 s2) (charged q (m_if (price M) + c)) (ecost M sigma T e + m_if (price M) + d)).
  { intros k [L | (o1 & k1 & NC & R1 & L)].
    - left. intros t I. rewrite charged_value. specialize (L t I). lra.
    - right. eexists o1, _. split; [auto |]. split; [apply R_IfF; eauto | lra]. }
  inversion R; subst; try congruence.
  - eapply covered_less; [apply (First 0), (H _ _ (R_Cut M sigma T s2)) | lra].
  - rewrite (all_yes M) in N; congruence.
  - match goal with Ra : run M sigma T _ o _ |- _ => specialize (H _ _ Ra) end. destruct o as [sigma' | |]; auto. destruct H as [Sat E]. split; auto.
    intros t I. rewrite charged_value. specialize (E t I). lra.
Qed.

(** Threads that agree on e all take one side. *)
Lemma agree sigma T P X e :
  sat M U sigma T P X -> uniform M U P X e -> no M sigma T e = [] \/ yes M sigma T e = [].
Proof.
  intros Sat Un. destruct (no M sigma T e) as [| u n] eqn:N; [auto |]. destruct (yes M sigma T e) as [| t y] eqn:Y; [auto |].
  assert (In u (no M sigma T e)) as I by (rewrite N; left; reflexivity). apply in_no in I as [I Eu].
  assert (In t (yes M sigma T e)) as J by (rewrite Y; left; reflexivity). apply in_yes in J as [J Et].
  rewrite (Un sigma T t u) in Et; auto. congruence.
Qed.

Lemma sat_with sigma T P X e : sat M U sigma T P X -> no M sigma T e = [] -> sat M U sigma T (with_ P e) X.
Proof.
  intros (NT & HU & H & A) N. repeat split; auto. intros t I. apply holds_with; auto. eapply in_no_one; eauto.
Qed.

Lemma sat_without sigma T P X e : sat M U sigma T P X -> yes M sigma T e = [] -> sat M U sigma T (without P e) X.
Proof.
  intros (NT & HU & H & A) N. repeat split; auto. intros t I. apply holds_without; auto. eapply in_yes_one; eauto.
Qed.

Lemma sat_yes sigma T P X e :
  sat M U sigma T P X -> yes M sigma T e <> [] -> sat M U sigma (yes M sigma T e) (with_ P e) X.
Proof.
  intros Sat N. pose proof Sat as (_ & _ & H & _). apply (sat_within sigma T _ P X); auto.
  - apply yes_in.
  - intros t I. apply in_yes in I as [I E]. apply holds_with; auto.
  - apply incl_refl.
Qed.

Lemma sat_no sigma T P X e :
  sat M U sigma T P X -> no M sigma T e <> [] -> sat M U sigma (no M sigma T e) (without P e) X.
Proof.
  intros Sat N. pose proof Sat as (_ & _ & H & _). apply (sat_within sigma T _ P X); auto.
  - apply no_in.
  - intros t I. apply in_no in I as [I E]. apply holds_without; auto.
  - apply incl_refl.
Qed.

Lemma valid_if1 P Q X e c s1 s2 B :
  costs M U P X e c -> uniform M U P X e ->
  valid M U (Cond (with_ P e) Q X) s1 B -> valid M U (Cond (without P e) Q X) s2 B ->
  valid M U (Cond P (charged Q (m_if (price M) + c)) X) (If e s1 s2) B.
Proof.
  intros C Un V1 V2. apply valid_ok. intros sigma T Sat. pose proof Sat as (NT & _).
  pose proof (costs_sound M S U _ _ _ _ sigma T C Sat).
  destruct (agree _ _ _ _ _ Sat Un) as [N | N].
  - apply ok_if_true; auto. apply (proj1 (valid_ok _ _ _) V1). apply sat_with; auto.
  - apply ok_if_false; auto. apply (proj1 (valid_ok _ _ _) V2). apply sat_without; auto.
Qed.

Lemma valid_if2 P Q X e c s1 s2 B :
  costs M U P X e c -> proves M U P e true -> valid M U (Cond P Q X) s1 B ->
  valid M U (Cond P (charged Q (m_if (price M) + c)) X) (If e s1 s2) B.
Proof.
  intros C Pr V1. apply valid_ok. intros sigma T Sat. pose proof Sat as (NT & HU & H & _).
  pose proof (costs_sound M S U _ _ _ _ sigma T C Sat). apply ok_if_true; auto.
  - destruct (no M sigma T e) as [| u n] eqn:N; auto. assert (In u (no M sigma T e)) as I by (rewrite N; left; reflexivity).
    apply in_no in I as [I E]. rewrite (Pr sigma u) in E; auto. discriminate.
  - apply (proj1 (valid_ok _ _ _) V1). exact Sat.
Qed.

Lemma valid_if3 P Q X e c s1 s2 B :
  costs M U P X e c -> proves M U P e false -> valid M U (Cond P Q X) s2 B ->
  valid M U (Cond P (charged Q (m_if (price M) + c)) X) (If e s1 s2) B.
Proof.
  intros C Pr V1. apply valid_ok. intros sigma T Sat. pose proof Sat as (NT & HU & H & _).
  pose proof (costs_sound M S U _ _ _ _ sigma T C Sat). apply ok_if_false; auto.
  - destruct (yes M sigma T e) as [| u n] eqn:N; auto. assert (In u (yes M sigma T e)) as I by (rewrite N; left; reflexivity).
    apply in_yes in I as [I E]. rewrite (Pr sigma u) in E; auto. discriminate.
  - apply (proj1 (valid_ok _ _ _) V1). exact Sat.
Qed.

Lemma valid_casesplit P Q X e s B :
  uniform M U P X e -> valid M U (Cond (with_ P e) Q X) s B -> valid M U (Cond (without P e) Q X) s B ->
  valid M U (Cond P Q X) s B.
Proof.
  intros Un V1 V2 sigma T o c Sat R. destruct (agree _ _ _ _ _ Sat Un) as [N | N].
  - apply (V1 sigma T); auto. apply sat_with; auto.
  - apply (V2 sigma T); auto. apply sat_without; auto.
Qed.

Lemma ok_post sigma T s q B P' Q' X' :
  ok sigma T s q B -> entails M U (facts B) P' -> at_least M U (facts B) (uniforms B) (potential B) Q' ->
  incl X' (uniforms B) -> ok sigma T s q (Cond P' Q' X').
Proof.
  intros H En L IX o c R. specialize (H o c R). destruct o as [sigma' | |]; auto. destruct H as [Sat E].
  pose proof Sat as (NT & HU & Hold & A). split.
  - apply (sat_within sigma' T T _ _ _ _ Sat); auto using incl_refl.
  - intros t I. specialize (E t I). specialize (L sigma' T t Sat I). cbn [potential]. lra.
Qed.

Lemma unchanged sigma T s sigma' c x t :
  run M sigma T s (End sigma') c -> ~ In x (writes s) \/ ~ In t T -> local sigma' x t = local sigma x t.
Proof. intros R. apply (run_frame M _ _ _ _ _ R sigma' eq_refl). Qed.

Lemma not_both sigma T e t : In t (yes M sigma T e) -> In t (no M sigma T e) -> False.
Proof. rewrite in_yes, in_no. intros [_ H] [_ H']. congruence. Qed.

Lemma either sigma T e t : In t T -> In t (yes M sigma T e) \/ In t (no M sigma T e).
Proof. intros I. rewrite in_yes, in_no. destruct (as_bool (eval M sigma e t)); auto. Qed.

Lemma valid_if4 P Q X e c s1 s2 P1 Q1 X1 P2 Q2 X2 P' Q' X' P'' Q'' X'' :
  costs M U P X e c ->
  valid M U (Cond (with_ P e) Q X) s1 (Cond P1 Q1 X1) ->
  valid M U (Cond P' Q' X') s2 (Cond P2 Q2 X2) ->
  entails M U (without P e) P' -> at_least M U (without P e) X Q Q' -> at_least M U P1 X1 Q1 Q' ->
  entails M U P1 P'' -> at_least M U P1 X1 Q1 Q'' ->
  entails M U P2 P'' -> at_least M U P2 X2 Q2 Q'' ->
  (forall x, In x X' -> In x X /\ In x X1 /\ ~ In x (writes s1)) ->
  (forall x, In x X'' -> In x X2 /\ In x X' /\ ~ In x (writes s2)) ->
  over X Q -> good (Cond P' Q' X') -> good (Cond P'' Q'' X'') ->
  valid M U (Cond P (charged Q (m_if (price M) + c + m_div (price M))) X) (If e s1 s2) (Cond P'' Q'' X'').
Proof.
  intros C V1 V2 En LQ LQ1 En1 L1 En2 L2 IX' IX'' OQ [G1 G2] [G3 G4].
  apply valid_ok. intros sigma T Sat. cbn [facts potential uniforms] in *. pose proof Sat as (NT & HU & Hold & Al).
  pose proof (costs_sound M S U _ _ _ _ sigma T C Sat) as CE. pose proof (ecost_nonneg M S sigma T e) as CN.
  assert (D : 0 <= m_div (price M)) by (prices; assumption).
  assert (F : 0 <= m_if (price M)) by (prices; assumption).
  assert (More : forall B, ok sigma T (If e s1 s2) (charged Q (m_if (price M) + c)) B ->
    ok sigma T (If e s1 s2) (charged Q (m_if (price M) + c + m_div (price M))) B).
  { intros B H. apply (ok_more _ _ _ _ _ _ H). intros t I. rewrite !charged_value. lra. }
  destruct (no M sigma T e) as [| u0 n] eqn:N.
  { apply More, ok_if_true; auto. apply (ok_post _ _ _ _ (Cond P1 Q1 X1)); auto.
    - apply (proj1 (valid_ok _ _ _) V1). apply sat_with; auto.
    - intros x I. apply IX'' in I as (_ & I & _). apply IX' in I. tauto. }
  destruct (yes M sigma T e) as [| t0 y] eqn:Y.
  { pose proof (sat_without _ _ _ _ _ Sat Y) as Sat'. pose proof Sat' as (_ & _ & Hold' & _).
    apply More, ok_if_false; auto. apply (ok_post _ _ _ _ (Cond P2 Q2 X2)); auto.
    - apply (ok_more _ _ _ Q').
      + apply (proj1 (valid_ok _ _ _) V2). apply (sat_within _ _ _ _ _ _ _ Sat'); auto using incl_refl.
        intros x I. apply IX' in I. tauto.
      + intros t I. apply (LQ sigma T); auto.
    - intros x I. apply IX'' in I. tauto. }
  assert (NY : yes M sigma T e <> []) by (rewrite Y; discriminate).
  assert (NN : no M sigma T e <> []) by (rewrite N; discriminate).
  assert (It0 : In t0 (yes M sigma T e)) by (rewrite Y; left; reflexivity).
  assert (Iu0 : In u0 (no M sigma T e)) by (rewrite N; left; reflexivity).
  clear Y N.
  pose proof (sat_yes _ _ _ _ e Sat NY) as Sat1. pose proof (sat_no _ _ _ _ e Sat NN) as Sat2.
  assert (After : forall sigma1 c1, run M sigma (yes M sigma T e) s1 (End sigma1) c1 ->
    sat M U sigma1 (yes M sigma T e) P1 X1 /\ sat M U sigma1 (no M sigma T e) P' X'
    /\ forall t u, In t T -> In u (no M sigma T e) -> c1 + peval M sigma1 Q' u <= peval M sigma Q t).
  { intros sigma1 c1 R. destruct (V1 _ _ _ _ Sat1 R) as [SatA E]. cbn [facts potential uniforms] in *.
    assert (K : forall x t, In x X' -> local sigma1 x t = local sigma x t).
    { intros x t I. apply (unchanged _ _ _ _ _ _ _ R). apply IX' in I. tauto. }
    assert (Al' : alike sigma1 T X').
    { intros x t u I J1 J2. rewrite !K by auto. apply Al; auto. apply IX' in I. tauto. }
    split; [exact SatA |]. split.
    - split; [exact NN |]. split; [| split].
      + intros u I. apply HU. apply no_in in I. exact I.
      + intros u I. apply (holds_same M sigma); auto.
        * intros x. symmetry. apply (unchanged _ _ _ _ _ _ _ R). right. intros J. apply (not_both _ _ _ _ J I).
        * destruct Sat2 as (_ & _ & H2 & _). apply En; auto. apply HU, (no_in _ _ _ _ I).
      + intros x t u I J1 J2. apply Al'; auto; apply (no_in sigma T e); assumption.
    - intros t u I J. assert (I0 : In t0 T) by (apply (yes_in _ _ _ _ It0)).
      rewrite (peval_uniform M X' sigma1 sigma1 u t0 Q') by
        (auto; intros x Ix; apply Al'; auto; apply (no_in sigma T e); assumption).
      specialize (LQ1 sigma1 _ t0 SatA It0). specialize (E t0 It0).
      rewrite (same_potential sigma T P X Q t t0) by auto. lra. }
  assert (First : forall d, covered M sigma (yes M sigma T e) s1 Q d ->
    covered M sigma T (If e s1 s2) (charged Q (m_if (price M) + c + m_div (price M)))
      (ecost M sigma T e + m_if (price M) + m_div (price M) + d)).
  { intros d [L | (o1 & c1 & NC & R1 & L)].
    - left. intros t I. rewrite charged_value. specialize (L t0 It0).
      rewrite (same_potential sigma T P X Q t t0); auto; [lra |]. apply (yes_in _ _ _ _ It0).
    - destruct o1 as [sigma1 | |]; [| | congruence].
      + destruct (After _ _ R1) as (_ & SatB & E).
        destruct (V2 _ _ _ _ SatB (R_Cut M sigma1 _ s2)) as [LB | (o2 & c2 & NC2 & R2 & L')].
        * left. intros t I. rewrite charged_value. specialize (E t u0 I Iu0). specialize (LB u0 Iu0). cbn [potential] in LB. lra.
        * right. eexists o2, _. split; [auto |]. split; [eapply R_IfD; eauto | lra].
      + right. eexists Broken, _. split; [discriminate |]. split; [eapply R_IfDStop; eauto; exact I | lra]. }
  intros o d R. inversion R; subst; try congruence.
  - eapply covered_less; [apply (First 0), (V1 _ _ _ _ Sat1 (R_Cut M sigma _ s1)) | lra].
  - match goal with
    | A : run M sigma _ s1 (End _) _, B : run M _ _ s2 o _ |- _ => rename A into Ra; rename B into Rb
    end.
    destruct (After _ _ Ra) as (SatA & SatB & E). pose proof (V2 _ _ _ _ SatB Rb) as W.
    cbn [facts potential uniforms] in *.
    destruct o as [sigma2 | |]; auto.
    + destruct W as [SatC EC].
      assert (SatF : sat M U sigma2 T P'' X'').
      { split; [exact NT |]. split; [exact HU |]. split.
        - intros t I. destruct (either sigma T e t I) as [J | J].
          + apply (holds_same M sigma1); auto.
            * intros x. symmetry. apply (unchanged _ _ _ _ _ _ _ Rb). right. intros J'. apply (not_both _ _ _ _ J J').
            * destruct SatA as (_ & _ & HA & _). apply En1; auto.
          + destruct SatC as (_ & _ & HC & _). apply En2; auto.
        - intros x t u I J1 J2. apply IX'' in I as (_ & I & W2). apply IX' in I as (Ix & _ & W1).
          rewrite !(unchanged _ _ _ _ _ x _ Rb) by auto. rewrite !(unchanged _ _ _ _ _ x _ Ra) by auto. apply Al; auto. }
      split; [exact SatF |]. intros t I. rewrite charged_value.
      rewrite (same_potential sigma2 T P'' X'' Q'' t u0) by (auto; apply (no_in _ _ _ _ Iu0)).
      specialize (L2 sigma2 _ u0 SatC Iu0). specialize (EC u0 Iu0). specialize (E t u0 I Iu0). lra.
    + destruct W as [L | (o2 & c3 & NC & R2 & L)].
      * left. intros t I. rewrite charged_value. specialize (L u0 Iu0). specialize (E t u0 I Iu0). lra.
      * right. eexists o2, _. split; [auto |]. split; [eapply R_IfD; eauto | lra].
  - match goal with A : run M sigma _ s1 o _ |- _ => rename A into Ra end.
    destruct o; [contradiction | exact I |]. apply First, (V1 _ _ _ _ Sat1 Ra).
Qed.

(** * Loops

    All three rules are this one: H is the potential at the head. *)

Lemma valid_loop P X H Q1 e e1 c s Q' X' :
  costs M U P X e c -> uniform M U P X e1 -> uniform M U (with_ P e1) X e -> at_least M U P X H zero ->
  at_least M U (with_ (with_ P e) e1) X H (charged Q1 (m_if (price M) + c)) ->
  at_least M U (without (with_ P e) e1) X H (charged Q1 (m_if (price M) + c + m_div (price M))) ->
  valid M U (Cond (with_ P e) Q1 X) s (Cond P H X) ->
  at_least M U (without P e) X H (charged Q' (m_if (price M) + c)) ->
  incl X' X -> uniform M U P X e \/ (forall x, In x X' -> ~ In x (writes s)) ->
  over X H -> over X' Q' -> (forall p, In p P -> plain p = true) ->
  valid M U (Cond P H X) (While e s) (Cond (without P e) Q' X').
Proof.
  intros C Un1 Un HN LT LF V LE IX W OH OQ GP sigma T o d Sat R. cbn [facts potential uniforms] in *.
  remember (While e s) as w eqn:Ew. revert Ew Sat.
  assert (D : 0 <= m_div (price M)) by (prices; assumption).
  assert (F : 0 <= m_if (price M)) by (prices; assumption).
  (* what a turn may spend *)
  assert (Turn : forall sigma T t, sat M U sigma T P X -> no M sigma T e = [] -> In t T ->
    peval M sigma Q1 t + (m_if (price M) + c) <= peval M sigma H t).
  { intros sg Tg t Sg N I. pose proof (sat_with _ _ _ _ _ Sg N) as Sw.
    destruct (agree sg Tg P X e1 Sg Un1) as [N1 | N1].
    - specialize (LT sg Tg t (sat_with _ _ _ _ _ Sw N1) I). rewrite charged_value in LT. lra.
    - specialize (LF sg Tg t (sat_without _ _ _ _ _ Sw N1) I). rewrite charged_value in LF. lra. }
  assert (Split : forall sigma T t, sat M U sigma T P X -> yes M sigma T e <> [] -> no M sigma T e <> [] ->
    In t (yes M sigma T e) -> peval M sigma Q1 t + (m_if (price M) + c + m_div (price M)) <= peval M sigma H t).
  { intros sg Tg t Sg NY NN I. destruct (agree sg Tg P X e1 Sg Un1) as [N1 | N1].
    - exfalso. destruct (agree sg Tg _ X e (sat_with _ _ _ _ _ Sg N1) Un); congruence.
    - pose proof (sat_yes _ _ _ _ e Sg NY) as Sy.
      assert (yes M sg (yes M sg Tg e) e1 = []) as N2.
      { destruct (yes M sg (yes M sg Tg e) e1) as [| v l] eqn:E; auto.
        assert (In v (yes M sg (yes M sg Tg e) e1)) as J by (rewrite E; left; reflexivity).
        apply in_yes in J as [J Ev]. apply yes_in in J. rewrite (in_yes_one M sg Tg e1 v N1 J) in Ev. discriminate. }
      specialize (LF sg _ t (sat_without _ _ _ _ _ Sy N2) I). rewrite charged_value in LF. lra. }
  induction R; intros Ew Sat; try discriminate; try (injection Ew as -> ->);
    try pose proof (costs_sound M S U _ _ _ _ sigma T C Sat) as CE; try pose proof (ecost_nonneg M S sigma T e) as CN.
  - left. intros t I. exact (HN sigma T t Sat I).
  - (* all *)
    pose proof (sat_with _ _ _ _ _ Sat H0) as Sw. destruct (V _ _ _ _ Sw R1) as [Sat1 E]. cbn [facts potential uniforms] in *.
    specialize (IHR2 eq_refl Sat1). destruct o as [sigma' | |]; auto.
    + destruct IHR2 as [SatE EE]. split; auto. intros t I. specialize (E t I). specialize (EE t I).
      pose proof (Turn sigma T t Sat H0 I). lra.
    + destruct IHR2 as [L | (o2 & c3 & NC & R3 & L)].
      * left. intros t I. specialize (E t I). specialize (L t I). pose proof (Turn sigma T t Sat H0 I). lra.
      * right. eexists o2, _. split; [auto |]. split; [eapply R_WhileAll; eauto | lra].
  - (* all, stopped in the body *)
    pose proof (sat_with _ _ _ _ _ Sat H0) as Sw. destruct o; [contradiction | exact I |].
    destruct (settle _ _ _ _ _ _ (proj1 (valid_ok _ _ _) V _ _ Sw) HN R) as [L | (c' & R' & L)].
    + left. intros t I. specialize (L t I). cbn [potential] in L. pose proof (Turn sigma T t Sat H0 I). lra.
    + right. eexists Broken, _. split; [discriminate |]. split; [eapply R_WhileAllStop; eauto; exact I | lra].
  - (* some *)
    pose proof (sat_yes _ _ _ _ e Sat H0) as Sy. destruct (V _ _ _ _ Sy R1) as [Sat1 E]. cbn [facts potential uniforms] in *.
    specialize (IHR2 eq_refl Sat1). destruct (one _ H0) as [t0 I0]. pose proof (yes_in _ _ _ _ I0) as J0.
    assert (HS : forall t, In t T -> peval M sigma H t = peval M sigma H t0).
    { intros t I. apply (same_potential sigma T P X); auto. }
    pose proof (Split sigma T t0 Sat H0 H1 I0) as Sp. pose proof (E t0 I0) as E0. destruct o as [sigma' | |]; auto.
    + destruct IHR2 as [SatE EE]. cbn [facts potential uniforms] in *.
      destruct W as [W | W]; [exfalso; destruct (agree sigma T P X e Sat W); congruence |].
      pose proof Sat as (NT & HU & Hold & Al).
      assert (SatF : sat M U sigma' T (without P e) X').
      { split; [exact NT |]. split; [exact HU |]. split.
        - intros t I. destruct (either sigma T e t I) as [J | J]; [apply SatE; auto |].
          apply (holds_same M sigma).
          + apply plain_without, GP.
          + intros x. assert (~ In t (yes M sigma T e)) as NJ by (intros J'; apply (not_both _ _ _ _ J' J)).
            rewrite (unchanged _ _ _ _ _ x t R2), (unchanged _ _ _ _ _ x t R1); auto.
          + apply in_no in J as [J EJ]. apply holds_without; auto.
        - intros x t u I J1 J2.
          rewrite !(unchanged _ _ _ _ _ x _ R2) by (left; apply W; auto).
          rewrite !(unchanged _ _ _ _ _ x _ R1) by (left; apply W; auto). apply Al; auto. }
      split; [exact SatF |]. intros t I. rewrite (HS t I).
      rewrite (same_potential sigma' T (without P e) X' Q' t t0) by auto.
      specialize (EE t0 I0). lra.
    + destruct IHR2 as [L | (o2 & c3 & NC & R3 & L)].
      * left. intros t I. rewrite (HS t I). specialize (L t0 I0). lra.
      * right. eexists o2, _. split; [auto |]. split; [eapply R_WhileSome; eauto | lra].
  - (* some, stopped in the body *)
    pose proof (sat_yes _ _ _ _ e Sat H0) as Sy. destruct o; [contradiction | exact I |].
    destruct (one _ H0) as [t0 I0]. pose proof (yes_in _ _ _ _ I0) as J0.
    destruct (settle _ _ _ _ _ _ (proj1 (valid_ok _ _ _) V _ _ Sy) HN R) as [L | (c' & R' & L)].
    + left. intros t I. rewrite (same_potential sigma T P X H t t0) by auto. specialize (L t0 I0). cbn [potential] in L.
      pose proof (Split sigma T t0 Sat H0 H1 I0). lra.
    + right. eexists Broken, _. split; [discriminate |]. split; [eapply R_WhileSomeStop; eauto; exact I | lra].
  - (* none *)
    pose proof (sat_without _ _ _ _ _ Sat H0) as Sn. split.
    + pose proof Sn as (_ & _ & Hold & _). apply (sat_within _ _ _ _ _ _ _ Sn); auto using incl_refl. apply Sat.
    + intros t I. specialize (LE sigma T t Sn I). rewrite charged_value in LE. cbn [potential]. lra.
Qed.

Lemma impossible_with sigma T P X e :
  (forall t, as_bool (eval M sigma (nnf true e) t) = false) -> ~ sat M U sigma T (with_ P e) X.
Proof.
  intros H (NT & _ & Hold & _). destruct (one _ NT) as [t I]. specialize (Hold t I _ (or_introl eq_refl)).
  rewrite H in Hold. discriminate.
Qed.

Lemma impossible_without sigma T P X e :
  (forall t, as_bool (eval M sigma (nnf false e) t) = false) -> ~ sat M U sigma T (without P e) X.
Proof.
  intros H (NT & _ & Hold & _). destruct (one _ NT) as [t I]. specialize (Hold t I _ (or_introl eq_refl)).
  rewrite H in Hold. discriminate.
Qed.

Lemma valid_while1 P Q X e c s :
  costs M U P X e c -> uniform M U P X e -> at_least M U P X (charged Q (m_if (price M) + c)) zero ->
  valid M U (Cond (with_ P e) Q X) s (Cond P (charged Q (m_if (price M) + c)) X) -> good (Cond P Q X) ->
  valid M U (Cond P (charged Q (m_if (price M) + c)) X) (While e s) (Cond (without P e) Q X).
Proof.
  intros C Un N V [G1 G2]. apply (valid_loop _ _ _ Q _ truth c); auto.
  - intros sigma T t u _ _ _. reflexivity.
  - intros sigma T t u Sat. apply Un. apply (sat_within _ _ _ _ _ _ _ Sat); auto using incl_refl; [apply Sat |].
    intros v I p J. apply Sat; auto. right. exact J.
  - intros sigma T t _ _. apply Qle_refl.
  - intros sigma T t Sat. exfalso. revert Sat. apply impossible_without. reflexivity.
  - intros sigma T t _ _. apply Qle_refl.
  - apply incl_refl.
  - apply over_charged. exact G2.
Qed.

Lemma valid_while2 P Q X e c s Q' X' :
  costs M U P X e c -> at_least M U P X (charged Q (m_if (price M) + c + m_div (price M))) zero ->
  valid M U (Cond (with_ P e) Q X) s (Cond P (charged Q (m_if (price M) + c + m_div (price M))) X) ->
  at_least M U (without P e) X Q Q' ->
  (forall x, In x X' -> In x X /\ ~ In x (writes s)) -> over X' Q' -> good (Cond P Q X) ->
  valid M U (Cond P (charged Q (m_if (price M) + c + m_div (price M))) X) (While e s) (Cond (without P e) Q' X').
Proof.
  intros C N V L IX O [G1 G2]. assert (D : 0 <= m_div (price M)) by (prices; assumption).
  apply (valid_loop _ _ _ Q _ (Const (VBool false)) c); auto.
  - intros sigma T t u _ _ _. reflexivity.
  - intros sigma T t u Sat. exfalso. revert Sat. apply impossible_with. reflexivity.
  - intros sigma T t Sat. exfalso. revert Sat. apply impossible_with. reflexivity.
  - intros sigma T t _ _. apply Qle_refl.
  - intros sigma T t Sat I. specialize (L sigma T t Sat I). rewrite !charged_value. lra.
  - intros x I. apply IX, I.
  - right. intros x I. apply IX, I.
  - apply over_charged. exact G2.
Qed.

Lemma valid_whilecase P Q Q1 X e e1 c s Q' X' :
  costs M U P X e c -> uniform M U P X e1 -> uniform M U (with_ P e1) X e ->
  at_least M U P X (charged Q (m_if (price M) + c)) zero ->
  at_least M U (with_ (with_ P e) e1) X Q Q1 ->
  at_least M U (without (with_ P e) e1) X Q (charged Q1 (m_div (price M))) ->
  valid M U (Cond (with_ P e) Q1 X) s (Cond P (charged Q (m_if (price M) + c)) X) ->
  at_least M U (without P e) X Q Q' ->
  (forall x, In x X' -> In x X /\ ~ In x (writes s)) -> over X' Q' -> good (Cond P Q X) ->
  valid M U (Cond P (charged Q (m_if (price M) + c)) X) (While e s) (Cond (without P e) Q' X').
Proof.
  intros C Un1 Un N LT LF V L IX O [G1 G2]. apply (valid_loop _ _ _ Q1 _ e1 c); auto.
  - intros sigma T t Sat I. specialize (LT sigma T t Sat I). rewrite !charged_value. lra.
  - intros sigma T t Sat I. specialize (LF sigma T t Sat I). rewrite !charged_value in *. lra.
  - intros sigma T t Sat I. specialize (L sigma T t Sat I). rewrite !charged_value. lra.
  - intros x I. apply IX, I.
  - right. intros x I. apply IX, I.
  - apply over_charged. exact G2.
Qed.

(** * Weakening, frames, unrolling *)

Lemma valid_weak P1 Q1 X1 P1' Q1' X1' P2 Q2 X2 P2' Q2' X2' s c :
  valid M U (Cond P2 Q2 X2) s (Cond P2' Q2' X2') ->
  entails M U P1 P2 -> at_least M U P1 X1 Q1 Q2 -> (forall x, In x X2 -> uniform M U P1 X1 (Var x)) ->
  entails M U P2' P1' -> at_least M U P2' X2' Q2' Q1' -> incl X1' X2' -> 0 <= c ->
  valid M U (Cond P1 (charged Q1 c) X1) s (Cond P1' (charged Q1' c) X1').
Proof.
  intros V En L IX En' L' IX' C sigma T o d Sat R. cbn [facts potential uniforms] in *.
  pose proof Sat as (NT & HU & Hold & Al).
  assert (Sat2 : sat M U sigma T P2 X2).
  { repeat split; auto. intros x t u I J1 J2. apply (IX x I sigma T t u); auto. }
  pose proof (V _ _ _ _ Sat2 R) as W. destruct o as [sigma' | |]; auto.
  - destruct W as [Sat3 E]. pose proof Sat3 as (_ & _ & Hold3 & _). split.
    + apply (sat_within _ _ _ _ _ _ _ Sat3); auto using incl_refl.
    + intros t I. rewrite !charged_value. specialize (E t I). cbn [potential] in *.
      specialize (L sigma T t Sat I). specialize (L' sigma' T t Sat3 I). lra.
  - destruct W as [W | W]; [left | right; exact W]. intros t I. specialize (W t I). specialize (L sigma T t Sat I).
    cbn [potential] in *. rewrite charged_value. lra.
Qed.

Lemma valid_equal P Q X P' Q' X' s R R' :
  valid M U (Cond P Q X) s (Cond P' Q' X') -> equal M Q R -> equal M Q' R' ->
  valid M U (Cond P R X) s (Cond P' R' X').
Proof.
  intros V E E' sigma T o d Sat Rn. pose proof (V _ _ _ _ Sat Rn) as W. cbn [facts potential uniforms] in *.
  destruct o as [sigma' | |]; auto.
  - destruct W as [Sat' L]. split; auto. intros t I. specialize (L t I).
    pose proof (E sigma t). pose proof (E' sigma' t). lra.
  - destruct W as [W | W]; [left | right; exact W]. intros t I. specialize (W t I). pose proof (E sigma t). lra.
Qed.

Lemma valid_frame P Q X P' Q' X' s F :
  valid M U (Cond P Q X) s (Cond P' Q' X') -> over (except X (writes s)) F -> at_least M U P X F zero ->
  valid M U (Cond P (PAdd Q F) X) s (Cond P' (PAdd Q' F) (X' ++ pvars F)).
Proof.
  intros V O N sigma T o d Sat R. pose proof (V _ _ _ _ Sat R) as W. cbn [facts potential uniforms] in *.
  destruct o as [sigma' | |]; auto.
  - destruct W as [(NT & HU & Hold & Al) E].
    assert (K : forall x t, In x (except X (writes s)) -> local sigma' x t = local sigma x t).
    { intros x t I. apply (unchanged _ _ _ _ _ _ _ R). apply in_except in I. tauto. }
    split.
    + repeat split; auto. intros x t u I J1 J2. apply in_app_or in I as [I | I]; [apply Al; auto |].
      apply (proj1 O) in I. rewrite !K by auto. apply Sat; auto. apply in_except in I. tauto.
    + intros t I. specialize (E t I). cbn [potential peval].
      rewrite (peval_uniform M _ sigma' sigma t t F O) by auto. lra.
  - destruct W as [W | W]; [left | right; exact W]. intros t I. specialize (W t I). specialize (N sigma T t Sat I).
    cbn [potential peval] in *. unfold zero in N. cbn in N. lra.
Qed.

Lemma unroll sigma T e s o c :
  run M sigma T (While e s) o c -> exists c', run M sigma T (If e (Seq s (While e s)) Skip) o c' /\ c' == c.
Proof.
  intros R. inversion R; subst.
  - eexists. split; [constructor | lra].
  - eexists. split; [eapply R_IfT; [assumption |]; eapply R_Seq; eauto | lra].
  - eexists. split; [eapply R_IfT; [assumption |]; eapply R_SeqStop; eauto | lra].
  - destruct o as [sigma' | |].
    + eexists. split; [eapply R_IfD; eauto; [eapply R_Seq; eauto | apply R_Skip] | lra].
    + eexists. split; [eapply R_IfDStop; eauto; [eapply R_Seq; eauto | exact I] | lra].
    + eexists. split; [eapply R_IfDStop; eauto; [eapply R_Seq; eauto | exact I] | lra].
  - eexists. split; [eapply R_IfDStop; eauto; eapply R_SeqStop; eauto | lra].
  - eexists. split; [eapply R_IfF; [assumption | apply R_Skip] | lra].
Qed.

Lemma reroll sigma T e s o c :
  run M sigma T (If e (Seq s (While e s)) Skip) o c -> T <> [] -> o <> Cut ->
  exists c', run M sigma T (While e s) o c' /\ c' == c.
Proof.
  intros R NT NC. inversion R; subst; try congruence.
  - match goal with A : run M sigma T (Seq _ _) _ _ |- _ => inversion A; subst end; try congruence.
    + eexists. split; [eapply R_WhileAll; eauto | lra].
    + eexists. split; [eapply R_WhileAllStop; eauto | lra].
  - match goal with A : run M sigma T Skip _ _ |- _ => inversion A; subst end; try congruence.
    eexists. split; [eapply R_WhileNone; eauto | lra].
  - match goal with A : run M _ _ Skip _ _ |- _ => inversion A; subst end; try congruence.
    match goal with A : run M sigma _ (Seq _ _) _ _ |- _ => inversion A; subst end.
    + eexists. split; [eapply R_WhileSome; eauto | lra].
    + match goal with A : stopped (End _) |- _ => contradiction end.
  - match goal with A : run M sigma _ (Seq _ _) _ _ |- _ => inversion A; subst end; try congruence.
    + eexists. split; [eapply R_WhileSome; eauto | lra].
    + eexists. split; [eapply R_WhileSomeStop; eauto | lra].
Qed.

Lemma valid_unroll A e s B :
  valid M U A (If e (Seq s (While e s)) Skip) B -> valid M U A (While e s) B.
Proof.
  intros V sigma T o c Sat R. destruct (unroll _ _ _ _ _ _ R) as (c' & R' & E). pose proof (V _ _ _ _ Sat R') as W.
  destruct o as [sigma' | |]; auto.
  - destruct W as [Sat' L]. split; auto. intros t I. specialize (L t I). lra.
  - destruct W as [L | (o1 & c1 & N & R1 & L)].
    + left. intros t I. specialize (L t I). lra.
    + right. apply reroll in R1 as (c2 & R2 & E2); auto; [| apply Sat]. exists o1, c2. repeat split; auto. lra.
Qed.

End Rules.
