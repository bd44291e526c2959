(** Warps that mix as they like: what the warps of a block, or of a grid, pay, where any of them takes the next step at any
    time, and each step sees what the others have written to arrays until then. *)

From Coq Require Import ZArith QArith List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic Lemmas Rules Ghost Soundness Sums.
Import ListNotations.
Open Scope Q_scope.

(** * Statements

    A warp is what it has left to do, a stack of statements with their threads, and its locals. A step is one condition, or
    one statement that is no compound: it looks at arrays at one time. *)

Definition locals := string -> thread -> value.
Definition memory := string -> Z -> value.
Definition stack := list (list thread * stmt).

Definition at_ (L : locals) (d : memory) : store := Store L d [].

(** [step M L d k c L' d' k']: with locals L, arrays d and the stack k, a warp pays c and goes on with L', d' and k'. A
    barrier lets all pass: where warps wait there for others, fewer orders of steps are left. *)
Inductive step (M : machine) (L : locals) (d : memory) : stack -> Q -> locals -> memory -> stack -> Prop :=
  | S_Skip T k : step M L d ((T, Skip) :: k) 0 L d k
  | S_Sync T k : step M L d ((T, Sync) :: k) (m_sync (price M)) L d k
  | S_Seq T s1 s2 k : step M L d ((T, Seq s1 s2) :: k) 0 L d ((T, s1) :: (T, s2) :: k)
  | S_Assign T x e k :
      step M L d ((T, Assign x e) :: k) (ecost M (at_ L d) T e + m_vwrite (price M)) (local (assign M (at_ L d) T x e)) d k
  | S_Write T A i e k :
      step M L d ((T, Write A i e) :: k)
        (ecost M (at_ L d) T i + ecost M (at_ L d) T e + at_count (write_price M A) (accesses M (at_ L d) T A i))
        L (contents (write M (at_ L d) T A i e)) k
  | S_Assume T e k : no M (at_ L d) T e = [] -> step M L d ((T, Assume e) :: k) 0 L d k
  | S_IfT T e s1 s2 k :
      no M (at_ L d) T e = [] ->
      step M L d ((T, If e s1 s2) :: k) (ecost M (at_ L d) T e + m_if (price M)) L d ((T, s1) :: k)
  | S_IfF T e s1 s2 k :
      yes M (at_ L d) T e = [] ->
      step M L d ((T, If e s1 s2) :: k) (ecost M (at_ L d) T e + m_if (price M)) L d ((T, s2) :: k)
  | S_IfD T e s1 s2 k :
      yes M (at_ L d) T e <> [] -> no M (at_ L d) T e <> [] ->
      step M L d ((T, If e s1 s2) :: k) (ecost M (at_ L d) T e + m_if (price M) + m_div (price M)) L d
        ((yes M (at_ L d) T e, s1) :: (no M (at_ L d) T e, s2) :: k)
  | S_WhileAll T e s k :
      no M (at_ L d) T e = [] ->
      step M L d ((T, While e s) :: k) (ecost M (at_ L d) T e + m_if (price M)) L d ((T, s) :: (T, While e s) :: k)
  | S_WhileSome T e s k :
      yes M (at_ L d) T e <> [] -> no M (at_ L d) T e <> [] ->
      step M L d ((T, While e s) :: k) (ecost M (at_ L d) T e + m_if (price M) + m_div (price M)) L d
        ((yes M (at_ L d) T e, s) :: (yes M (at_ L d) T e, While e s) :: k)
  | S_WhileNone T e s k :
      yes M (at_ L d) T e = [] -> step M L d ((T, While e s) :: k) (ecost M (at_ L d) T e + m_if (price M)) L d k.

(** A warp, and what it has paid *)
Record member := Member { its : machine; now : locals; todo : stack; paid : Q }.

(** One warp takes one step. *)
Inductive turn : memory -> list member -> memory -> list member -> Prop :=
  | Turn before w after d c L' d' k' :
      step (its w) (now w) d (todo w) c L' d' k' ->
      turn d (before ++ w :: after) d' (before ++ Member (its w) L' k' (paid w + c) :: after).

(** Any warps take any number of steps; in between, arrays may change by themselves, as blocks beside this one write. *)
Inductive turns : memory -> list member -> memory -> list member -> Prop :=
  | T_None d ws : turns d ws d ws
  | T_Turn d ws d1 ws1 d2 ws2 : turns d ws d1 ws1 -> turn d1 ws1 d2 ws2 -> turns d ws d2 ws2
  | T_Outside d ws d1 ws1 d2 : turns d ws d1 ws1 -> turns d ws d2 ws1.

(** s where other warps run before each step *)
Fixpoint mixed (s : stmt) : stmt :=
  match s with
  | Seq s1 s2 => Seq (mixed s1) (mixed s2)
  | If e s1 s2 => Seq Others (If e (mixed s1) (mixed s2))
  | While e s => Seq Others (While e (Seq (mixed s) Others))
  | s => Seq Others s
  end.

(** A warp at the start of s, of which a derivation says that it pays at most q *)
Definition bounded (s : stmt) (q : Q) (w : member) : Prop :=
  exists U T A B,
    sane (price (its w)) /\ derivable (its w) U A s B /\ at_least (its w) U (facts B) (uniforms B) (potential B) zero
    /\ sat (its w) U (at_ (now w) (fun _ _ => VInt 0)) T (facts A) (uniforms A)
    /\ (forall t, In t T -> peval (its w) (at_ (now w) (fun _ _ => VInt 0)) (potential A) t <= q)
    /\ todo w = [(T, s)] /\ paid w == 0.

(** There is an order of steps in which it breaks an assumption. *)
Definition may_break (w : member) : Prop :=
  exists T s sigma c, todo w = [(T, s)] /\ local sigma = now w /\ run (its w) sigma T (mixed s) Broken c.

(** * The rules hold of warps that mix *)

Lemma others_first M sigma T s o c :
  run M sigma T (Seq Others s) o c -> (o = Cut /\ c == 0) \/ exists c', run M (behind sigma) T s o c' /\ c == c'.
Proof.
  intros R. inversion R; subst.
  - auto using Qeq_refl.
  - match goal with H : run _ _ _ Others _ _ |- _ => inversion H; subst end. right. eexists. split; [eassumption | lra].
  - match goal with H : run _ _ _ Others _ _ |- _ => inversion H; subst end; [auto using Qeq_refl | contradiction].
Qed.

Lemma behind_sat M U sigma T P X :
  (forall p, In p P -> plain p = true) -> sat M U (behind sigma) T P X <-> sat M U sigma T P X.
Proof.
  intros G. pose proof (behind_local sigma) as L. unfold sat.
  split; intros (NT & HU & H & A); (split; [exact NT |]; split; [exact HU |]; split).
  - intros t I. apply (holds_same M (behind sigma)); auto. intros y. rewrite L. reflexivity.
  - intros y t u I J1 J2. rewrite <- L. apply A; auto.
  - intros t I. apply (holds_same M sigma); auto. intros y. rewrite L. reflexivity.
  - intros y t u I J1 J2. rewrite L. apply A; auto.
Qed.

Lemma behind_value M X sigma q t : over X q -> peval M (behind sigma) q t = peval M sigma q t.
Proof. intros O. apply (peval_uniform M X); auto. intros y _. rewrite behind_local. reflexivity. Qed.

(** ** A loop that goes round once more *)

(** Outcomes that differ in what arrays hold *)
Definition alike_ends (o o' : outcome) : Prop :=
  match o, o' with
  | End sigma, End tau => local sigma = local tau
  | Broken, Broken | Cut, Cut => True
  | _, _ => False
  end.

Lemma alike_refl o : alike_ends o o.
Proof. destruct o; cbn; auto. Qed.

(** What s does s' does, too, with the same outcome, or one that is alike *)
Definition does (same : outcome -> outcome -> Prop) (M : machine) (s s' : stmt) : Prop :=
  forall sigma T o c, T <> [] -> run M sigma T s o c -> exists o' c', run M sigma T s' o' c' /\ same o o' /\ c == c'.

Lemma to_left M a b d : does eq M (Seq a (Seq b d)) (Seq (Seq a b) d).
Proof.
  intros sigma T o c _ R. inversion R; subst.
  - exists Cut, 0. refine (conj _ (conj _ _)); [constructor | reflexivity || exact I | reflexivity].
  - match goal with H : run _ _ _ (Seq b d) _ _ |- _ => inversion H; subst end.
    + exists Cut, (c1 + 0). refine (conj _ (conj eq_refl (Qeq_refl _))).
      apply R_SeqStop; [| exact I]. eapply R_Seq; [eassumption | constructor].
    + eexists o, _. refine (conj _ (conj eq_refl _)); [eapply R_Seq; [eapply R_Seq; eassumption | eassumption] | lra].
    + eexists o, _. refine (conj _ (conj eq_refl _)); [apply R_SeqStop; [eapply R_Seq; eassumption | assumption] | lra].
  - exists o, c. refine (conj _ (conj eq_refl (Qeq_refl _))). apply R_SeqStop; [apply R_SeqStop; assumption | assumption].
Qed.

Lemma to_right M a b d : does eq M (Seq (Seq a b) d) (Seq a (Seq b d)).
Proof.
  intros sigma T o c _ R. inversion R; subst.
  - exists Cut, 0. refine (conj _ (conj _ _)); [constructor | reflexivity || exact I | reflexivity].
  - match goal with H : run _ _ _ (Seq a b) (End _) _ |- _ => inversion H; subst end; [| contradiction].
    eexists o, _. refine (conj _ (conj eq_refl _)); [eapply R_Seq; [eassumption | eapply R_Seq; eassumption] | lra].
  - match goal with H : run _ _ _ (Seq a b) _ _ |- _ => inversion H; subst end.
    + exists Cut, 0. refine (conj _ (conj _ _)); [constructor | reflexivity || exact I | reflexivity].
    + eexists o, _. refine (conj _ (conj eq_refl _)); [eapply R_Seq; [eassumption | apply R_SeqStop; eassumption] | lra].
    + exists o, c. refine (conj _ (conj eq_refl (Qeq_refl _))). apply R_SeqStop; assumption.
Qed.

Lemma skip_later M : does alike_ends M Skip (Seq Others Skip).
Proof.
  intros sigma T o c _ R. inversion R; subst; eexists _, _; (split; [| split]);
    [apply R_Cut | exact I | reflexivity | eapply R_Seq; [apply R_Others | apply R_Skip] | cbn; rewrite behind_local; reflexivity | lra].
Qed.

Lemma skip_now M : does alike_ends M (Seq Others Skip) Skip.
Proof.
  intros sigma T o c _ R. apply others_first in R as [[-> E] | (c' & R & E)].
  - exists Cut, 0. refine (conj _ (conj I E)). constructor.
  - inversion R; subst.
    + exists Cut, 0. refine (conj _ (conj I E)). constructor.
    + exists (End sigma), 0. refine (conj _ (conj _ E)); [apply R_Skip | cbn; apply behind_local].
Qed.

Lemma does_if M e s1 s1' s2 s2' :
  does eq M s1 s1' -> does alike_ends M s2 s2' -> does alike_ends M (If e s1 s2) (If e s1' s2').
Proof.
  intros D1 D2 sigma T o c NT R. inversion R; subst.
  - exists Cut, 0. refine (conj _ (conj _ _)); [constructor | reflexivity || exact I | reflexivity].
  - edestruct D1 as (o' & k & R' & <- & E); [| eassumption |]; [exact NT |].
    eexists _, _. split; [apply R_IfT; eassumption |]. split; [apply alike_refl | lra].
  - edestruct D2 as (o' & k & R' & A & E); [| eassumption |]; [exact NT |].
    eexists _, _. split; [apply R_IfF; eassumption |]. split; [exact A | lra].
  - edestruct D1 as (o1 & k & R1 & <- & E); [| eassumption |]; [assumption |].
    edestruct D2 as (o' & k' & R' & A & E'); [| eassumption |]; [assumption |].
    eexists _, _. split; [eapply R_IfD; eassumption |]. split; [exact A | lra].
  - edestruct D1 as (o1 & k & R1 & <- & E); [| eassumption |]; [assumption |].
    eexists _, _. split; [eapply R_IfDStop; eassumption |]. split; [apply alike_refl | lra].
Qed.

Section Rules.

Variable M : machine.
Variable U : thread -> Prop.
Hypothesis S : sane (price M).

Lemma valid_others A : good A -> valid M U A Others A.
Proof.
  intros [G1 G2] sigma T o c Sat R. inversion R; subst.
  - apply (covered_now M _ _ _ _ (End (behind sigma)) 0); [discriminate | constructor | lra].
  - split; [apply behind_sat; assumption |]. intros t I. rewrite (behind_value M (uniforms A)) by exact G2. lra.
Qed.

Lemma valid_before A s B : good A -> valid M U A s B -> valid M U A (Seq Others s) B.
Proof. intros G V. apply valid_seq with (B := A); [apply valid_others, G | exact V]. Qed.

(** Whatever arrays hold at first *)
Lemma valid_now A s B : good A -> valid M U A (Seq Others s) B -> valid M U A s B.
Proof.
  intros [G1 G2] V sigma T o c Sat R. set (rho := Store (local sigma) (contents sigma) (contents sigma :: later sigma)).
  assert (E : behind rho = sigma) by (destruct sigma; reflexivity).
  assert (Sat' : sat M U rho T (facts A) (uniforms A)) by (apply behind_sat; [exact G1 | rewrite E; exact Sat]).
  assert (Val : forall t, peval M rho (potential A) t = peval M sigma (potential A) t).
  { intros t. rewrite <- (behind_value M (uniforms A) rho) by exact G2. rewrite E. reflexivity. }
  assert (R' : run M rho T (Seq Others s) o (0 + c)) by (eapply R_Seq; [constructor | rewrite E; exact R]).
  specialize (V _ _ _ _ Sat' R'). destruct o as [sigma' | |]; auto.
  - destruct V as [V1 V2]. split; [exact V1 |]. intros t I. specialize (V2 t I). rewrite Val in V2. lra.
  - destruct V as [L | (o1 & c1 & N & R1 & L)]; [left | right].
    + intros t I. specialize (L t I). rewrite Val in L. lra.
    + apply others_first in R1 as [[-> _] | (c2 & R2 & E2)]; [congruence |]. rewrite E in R2. exists o1, c2.
      repeat split; auto. lra.
Qed.

Lemma valid_does A s s' B :
  good B -> does alike_ends M s s' -> does alike_ends M s' s -> valid M U A s' B -> valid M U A s B.
Proof.
  intros [G1 G2] D D' V sigma T o c Sat R. pose proof Sat as (NT & _).
  destruct (D _ _ _ _ NT R) as (o' & c' & R' & Al & E). specialize (V _ _ _ _ Sat R').
  destruct o as [sigma' | |], o' as [tau | |]; try contradiction; auto.
  - cbn in Al. destruct V as [(_ & HU & H & A') L]. split.
    + split; [exact NT |]. split; [exact HU |]. split.
      * intros t I. apply (holds_same M tau); auto. intros y. rewrite Al. reflexivity.
      * intros y t u I J1 J2. rewrite Al. apply A'; auto.
    + intros t I. specialize (L t I). rewrite (peval_uniform M (uniforms B) sigma' tau t t (potential B) G2); [lra |].
      intros y _. rewrite Al. reflexivity.
  - destruct V as [L | (o1 & c1 & N & R1 & L)]; [left; intros t I; specialize (L t I); lra | right].
    destruct (D' _ _ _ _ NT R1) as (o2 & c2 & R2 & Al2 & E2). exists o2, c2. split; [| split; [exact R2 | lra]].
    destruct o1, o2; cbn in Al2; congruence || contradiction.
Qed.

Lemma valid_round A e s B :
  good A -> good B -> valid M U A (mixed (If e (Seq s (While e s)) Skip)) B -> valid M U A (mixed (While e s)) B.
Proof.
  intros GA GB V. cbn [mixed] in *. apply valid_before; [exact GA |]. apply valid_unroll.
  apply (valid_now A _ B GA) in V. revert V. apply valid_does; [exact GB | |]; apply does_if.
  - apply to_right.
  - apply skip_later.
  - apply to_left.
  - apply skip_now.
Qed.

Lemma writes_mixed s : writes (mixed s) = writes s.
Proof. induction s; cbn [mixed writes app]; rewrite ?app_nil_r; congruence. Qed.

Lemma ghost_mixed x s : ghost x s -> ghost x (mixed s).
Proof. induction s; cbn [mixed ghost]; tauto. Qed.

Lemma erase_mixed x s : erase x (mixed s) = mixed (erase x s).
Proof.
  induction s; cbn [mixed erase]; try reflexivity; try congruence. destruct (String.eqb x0 x); reflexivity.
Qed.

(** The rules are sound of warps that mix: soundness again, where others may run before each step. *)
Theorem mixed_sound A s B : derivable M U A s B -> valid M U A (mixed s) B.
Proof.
  intros D. induction D;
    repeat match goal with
    | H : derivable _ _ ?A _ ?B, V : valid _ _ ?A _ ?B |- _ =>
        let G1 := fresh "G" in let G2 := fresh "G" in
        destruct (derivable_good M U A _ B H) as [G1 G2]; clear H; rename V into V
    end; cbn [mixed].
  - apply valid_before; [assumption | apply valid_skip].
  - apply valid_before; [apply good_charged; assumption | apply valid_sync; auto].
  - eapply valid_seq; eassumption.
  - apply valid_before; [apply good_charged; eapply good_less; eassumption | eapply valid_if1; eassumption].
  - apply valid_before; [apply good_charged; assumption | eapply valid_if2; eassumption].
  - apply valid_before; [apply good_charged; assumption | eapply valid_if3; eassumption].
  - match goal with H : good (Cond (with_ P e) Q X) |- _ => apply good_less in H; pose proof H as [_ ?] end.
    apply valid_before; [apply good_charged; assumption | eapply valid_if4; rewrite ?writes_mixed; eassumption].
  - apply valid_before; [assumption |]. apply valid_while1; auto; [| apply good_charged in G0; exact G0].
    eapply valid_seq; [eassumption | apply valid_others; assumption].
  - apply valid_before; [assumption |].
    eapply valid_while2; cbn [writes]; rewrite ?writes_mixed, ?app_nil_r; try eassumption; [| apply good_charged in G0; exact G0].
    eapply valid_seq; [eassumption | apply valid_others; assumption].
  - apply valid_before; [assumption |].
    eapply valid_whilecase; cbn [writes]; rewrite ?writes_mixed, ?app_nil_r; try eassumption; [| apply good_charged in G0; exact G0].
    eapply valid_seq; [eassumption | apply valid_others; assumption].
  - apply valid_before; [apply good_charged; assumption | apply valid_vwrite1; assumption].
  - apply valid_before; [apply good_charged; assumption | apply valid_vwrite2; assumption].
  - apply valid_before; [apply good_charged; assumption | eapply valid_write; eassumption].
  - eapply valid_weak; eassumption.
  - eapply valid_equal; eassumption.
  - apply valid_frame; rewrite ?writes_mixed; assumption.
  - apply valid_round; assumption.
  - eapply valid_casesplit; eassumption.
  - apply valid_before; [assumption | apply valid_assume].
  - destruct G0 as [G1 G2]. rewrite <- erase_mixed. eapply valid_ghost; eauto using ghost_mixed.
    intros p I. apply H0, in_app_iff. auto.
Qed.

End Rules.

(** * From steps to runs *)

(** What arrays will hold later is no matter now. *)
Section Now.

Variable M : machine.
Variables (L : locals) (d : memory) (W : list memory).

Notation sigma := (Store L d W).

Lemma eval_now e t : eval M sigma e t = eval M (at_ L d) e t.
Proof.
  induction e; cbn [eval]; auto.
  - rewrite IHe. reflexivity.
  - rewrite IHe1, IHe2. reflexivity.
  - rewrite IHe1, IHe2, IHe3. reflexivity.
  - rewrite IHe. reflexivity.
Qed.

Lemma yes_now T e : yes M sigma T e = yes M (at_ L d) T e.
Proof. apply filter_ext. intros t. rewrite eval_now. reflexivity. Qed.

Lemma no_now T e : no M sigma T e = no M (at_ L d) T e.
Proof. apply filter_ext. intros t. rewrite eval_now. reflexivity. Qed.

Lemma accesses_now T A i : accesses M sigma T A i = accesses M (at_ L d) T A i.
Proof.
  unfold accesses. f_equal. apply map_ext. intros w. f_equal. apply map_ext. intros t. rewrite eval_now. reflexivity.
Qed.

Lemma ecost_now T e : ecost M sigma T e = ecost M (at_ L d) T e.
Proof. induction e; cbn [ecost]; rewrite ?accesses_now; congruence. Qed.

Lemma assign_now T x e : assign M sigma T x e = Store (local (assign M (at_ L d) T x e)) d W.
Proof.
  unfold assign. cbn [local contents later at_]. f_equal.
  rewrite (map_ext (fun t => (t, eval M sigma e t)) (fun t => (t, eval M (at_ L d) e t))) by (intros; rewrite eval_now; reflexivity).
  reflexivity.
Qed.

Lemma write_now T A i e : write M sigma T A i e = Store L (contents (write M (at_ L d) T A i e)) W.
Proof.
  unfold write. cbn [local contents later at_].
  rewrite (map_ext (fun t => (as_int (eval M sigma i t), eval M sigma e t))
                   (fun t => (as_int (eval M (at_ L d) i t), eval M (at_ L d) e t))) by (intros; rewrite !eval_now; reflexivity).
  reflexivity.
Qed.

End Now.

(** A stack that is run to a time when it is cut *)
Inductive cut (M : machine) : store -> stack -> Q -> Prop :=
  | C_Now sigma k : cut M sigma k 0
  | C_In sigma T s k c : run M sigma T (mixed s) Cut c -> cut M sigma ((T, s) :: k) c
  | C_Past sigma T s k sigma1 c1 c2 :
      run M sigma T (mixed s) (End sigma1) c1 -> cut M sigma1 k c2 -> cut M sigma ((T, s) :: k) (c1 + c2).

(** A statement before a stack *)
Definition goes (M : machine) (sigma : store) (T : list thread) (s : stmt) (k : stack) (c : Q) : Prop :=
  (exists c', run M sigma T s Cut c' /\ c' == c)
  \/ exists sigma1 c1 c2, run M sigma T s (End sigma1) c1 /\ cut M sigma1 k c2 /\ c1 + c2 == c.

Lemma cut_goes M sigma T s k c : cut M sigma ((T, s) :: k) c -> goes M sigma T (mixed s) k c.
Proof.
  intros H. inversion H; subst.
  - left. exists 0. split; [constructor | reflexivity].
  - left. exists c. split; [assumption | reflexivity].
  - right. exists sigma1, c1, c2. auto using Qeq_refl.
Qed.

Lemma goes_cut M sigma T s k c : goes M sigma T (mixed s) k c -> exists c', cut M sigma ((T, s) :: k) c' /\ c' == c.
Proof.
  intros [(c' & R & E) | (sigma1 & c1 & c2 & R & C & E)].
  - exists c'. split; [apply C_In, R | exact E].
  - exists (c1 + c2). split; [eapply C_Past; eassumption | exact E].
Qed.

Lemma others_then M L e d W T s k c : goes M (Store L d W) T s k c -> goes M (Store L e (d :: W)) T (Seq Others s) k c.
Proof.
  intros [(c' & R & E) | (sigma1 & c1 & c2 & R & C & E)].
  - left. exists (0 + c'). split; [eapply R_Seq; [apply R_Others | exact R] | lra].
  - right. exists sigma1, (0 + c1), c2. refine (conj _ (conj _ _)); [eapply R_Seq; [apply R_Others | exact R] | exact C | lra].
Qed.

(** One statement after the other *)
Lemma goes_seq M sigma T s1 T2 s2 k c :
  goes M sigma T s1 ((T2, s2) :: k) c ->
  (exists c', run M sigma T s1 Cut c' /\ c' == c)
  \/ exists sigma1 c1 c2, run M sigma T s1 (End sigma1) c1 /\ goes M sigma1 T2 (mixed s2) k c2 /\ c1 + c2 == c.
Proof.
  intros [H | (sigma1 & c1 & c2 & R & C & E)]; [left; exact H | right].
  exists sigma1, c1, c2. refine (conj _ (conj _ _)); [exact R | apply cut_goes, C | exact E].
Qed.

(** A step, and what the rest pays until it is cut, whatever arrays hold then *)
Lemma one_step M L d k c L1 d1 k1 W c1 :
  step M L d k c L1 d1 k1 -> (forall e, exists c', cut M (Store L1 e W) k1 c' /\ c' == c1) ->
  exists W', forall e, exists c', cut M (Store L e W') k c' /\ c' == c + c1.
Proof.
  intros St H.
  assert (Past : forall T s b W1 k d', mixed s = Seq Others b ->
            run M (Store L d W1) T b (End (Store L1 d' W)) c -> (forall e, exists c', cut M (Store L1 e W) k c' /\ c' == c1) ->
            exists W', forall e, exists c', cut M (Store L e W') ((T, s) :: k) c' /\ c' == c + c1).
  { intros T s b W1 k' d' Es R K. exists (d :: W1). intros e. apply goes_cut. rewrite Es. apply others_then. right.
    destruct (K d') as (c2 & C & E). exists (Store L1 d' W), c, c2. refine (conj _ (conj _ _)); [exact R | exact C | lra]. }
  assert (Into : forall T s b k, mixed s = Seq Others b -> goes M (Store L d W) T b k (c + c1) ->
            exists W', forall e, exists c', cut M (Store L e W') ((T, s) :: k) c' /\ c' == c + c1).
  { intros T s b k' Es G. exists (d :: W). intros e. apply goes_cut. rewrite Es. apply others_then, G. }
  destruct St.
  - eapply Past with (W1 := W); [reflexivity | apply R_Skip | exact H].
  - eapply Past with (W1 := d :: W); [reflexivity | exact (R_Sync M (Store L d (d :: W)) T) | exact H].
  - exists W. intros e. apply goes_cut. destruct (H e) as (c2 & C & E). cbn [mixed].
    apply cut_goes, goes_seq in C as [(c3 & R & E3) | (sigma1 & a & b & R & G & E3)].
    + left. exists c3. split; [apply R_SeqStop; [exact R | exact I] | lra].
    + destruct G as [(b' & R' & E') | (sigma2 & b1 & b2 & R' & C & E')].
      * left. exists (a + b'). split; [eapply R_Seq; eassumption | lra].
      * right. exists sigma2, (a + b1), b2. refine (conj _ (conj _ _)); [eapply R_Seq; eassumption | exact C | lra].
  - eapply Past with (W1 := W) (d' := d); [reflexivity | | exact H].
    rewrite <- (assign_now M L d W), <- (ecost_now M L d W). apply R_Assign.
  - eapply Past with (W1 := W); [reflexivity | | exact H].
    rewrite <- write_now, <- !(ecost_now M L d W), <- (accesses_now M L d W). apply R_Write.
  - eapply Past with (W1 := W) (d' := d); [reflexivity | | exact H]. apply R_Assume. rewrite no_now. assumption.
  - eapply Into; [reflexivity |]. destruct (H d) as (c2 & C & E). rewrite <- (no_now M L d W) in *.
    apply cut_goes in C as [(c3 & R & E3) | (sigma1 & a & b & R & C & E3)]; [left | right].
    + eexists. split; [apply R_IfT; eassumption | rewrite ecost_now; lra].
    + eexists sigma1, _, b. refine (conj _ (conj _ _)); [apply R_IfT; eassumption | exact C | rewrite ecost_now; lra].
  - eapply Into; [reflexivity |]. destruct (H d) as (c2 & C & E). rewrite <- (yes_now M L d W) in *.
    apply cut_goes in C as [(c3 & R & E3) | (sigma1 & a & b & R & C & E3)]; [left | right].
    + eexists. split; [apply R_IfF; eassumption | rewrite ecost_now; lra].
    + eexists sigma1, _, b. refine (conj _ (conj _ _)); [apply R_IfF; eassumption | exact C | rewrite ecost_now; lra].
  - eapply Into; [reflexivity |]. destruct (H d) as (c2 & C & E). rewrite <- (yes_now M L d W), <- (no_now M L d W) in *.
    apply cut_goes, goes_seq in C as [(c3 & R & E3) | (sigma1 & a & b & R & G & E3)].
    + left. eexists. split; [eapply R_IfDStop; try eassumption; exact I | rewrite ecost_now; lra].
    + destruct G as [(b' & R' & E') | (sigma2 & b1 & b2 & R' & C & E')].
      * left. eexists. split; [eapply R_IfD; eassumption | rewrite ecost_now; lra].
      * right. eexists sigma2, _, b2. refine (conj _ (conj _ _)); [eapply R_IfD; eassumption | exact C | rewrite ecost_now; lra].
  - eapply Into; [reflexivity |]. destruct (H d) as (c2 & C & E). rewrite <- (no_now M L d W) in *.
    apply cut_goes, goes_seq in C as [(c3 & R & E3) | (sigma1 & a & b & R & G & E3)]; cbn [mixed] in *.
    + left. eexists. split;
      [eapply R_WhileAllStop; [eassumption | apply R_SeqStop; [exact R |] |]; exact I
      | rewrite ecost_now; lra].
    + destruct G as [(b' & R' & E') | (sigma2 & b1 & b2 & R' & C & E')];
        apply others_first in R' as [[Eo Z0] | (c4 & R' & E4)]; try discriminate.
      * left. eexists. split;
        [eapply R_WhileAllStop; [eassumption | eapply R_Seq; [exact R | apply R_Cut] | exact I]
        | rewrite ecost_now; lra].
      * left. eexists. split;
        [eapply R_WhileAll; [eassumption | eapply R_Seq; [exact R | apply R_Others] | exact R']
        | rewrite ecost_now; lra].
      * right. eexists sigma2, _, b2. refine (conj _ (conj _ _));
          [eapply R_WhileAll; [eassumption | eapply R_Seq; [exact R | apply R_Others] | exact R'] | exact C | rewrite ecost_now; lra].
  - eapply Into; [reflexivity |]. destruct (H d) as (c2 & C & E). rewrite <- (yes_now M L d W), <- (no_now M L d W) in *.
    apply cut_goes, goes_seq in C as [(c3 & R & E3) | (sigma1 & a & b & R & G & E3)]; cbn [mixed] in *.
    + left. eexists. split;
      [eapply R_WhileSomeStop; [eassumption | eassumption | apply R_SeqStop; [exact R |] |]; exact I
      | rewrite ecost_now; lra].
    + destruct G as [(b' & R' & E') | (sigma2 & b1 & b2 & R' & C & E')];
        apply others_first in R' as [[Eo Z0] | (c4 & R' & E4)]; try discriminate.
      * left. eexists. split;
        [eapply R_WhileSomeStop; [eassumption | eassumption | eapply R_Seq; [exact R | apply R_Cut] | exact I]
        | rewrite ecost_now; lra].
      * left. eexists. split;
        [eapply R_WhileSome; [eassumption | eassumption | eapply R_Seq; [exact R | apply R_Others] | exact R']
        | rewrite ecost_now; lra].
      * right. eexists sigma2, _, b2. refine (conj _ (conj _ _));
          [eapply R_WhileSome; [eassumption | eassumption | eapply R_Seq; [exact R | apply R_Others] | exact R'] | exact C | rewrite ecost_now; lra].
  - eapply Past with (W1 := W) (d' := d) (s := While e s); [reflexivity | | exact H].
    rewrite <- (ecost_now M L d W). apply R_WhileNone. rewrite yes_now. assumption.
Qed.

(** The steps of one warp, with any arrays at each *)
Inductive goes_on (M : machine) : locals -> stack -> Q -> locals -> stack -> Prop :=
  | G_None L k : goes_on M L k 0 L k
  | G_Step L k d c L1 d1 k1 c' L' k' : step M L d k c L1 d1 k1 -> goes_on M L1 k1 c' L' k' -> goes_on M L k (c + c') L' k'.

Lemma goes_on_more M L k c L1 k1 d c1 L2 d2 k2 :
  goes_on M L k c L1 k1 -> step M L1 d k1 c1 L2 d2 k2 -> exists c', goes_on M L k c' L2 k2 /\ c' == c + c1.
Proof.
  induction 1 as [| L k d0 c0 L3 d3 k3 c3 L1 k1 St G IH]; intros R.
  - exists (c1 + 0). split; [eapply G_Step; [exact R | apply G_None] | lra].
  - destruct (IH R) as (c' & G' & E). exists (c0 + c'). split; [eapply G_Step; eassumption | lra].
Qed.

Lemma steps_are_a_run M L k c L' k' :
  goes_on M L k c L' k' -> exists W, forall e, exists c', cut M (Store L e W) k c' /\ c' == c.
Proof.
  induction 1 as [L k | L k d c L1 d1 k1 c' L' k' St G IH].
  - exists []. intros e. exists 0. split; [apply C_Now | reflexivity].
  - destruct IH as (W & H). exact (one_step M L d k c L1 d1 k1 W c' St H).
Qed.

(** * What warps that mix pay *)

(** How a warp has come here *)
Definition came (w w' : member) : Prop :=
  its w' = its w /\ exists c, goes_on (its w) (now w) (todo w) c (now w') (todo w') /\ paid w' == paid w + c.

Lemma all_came d ws d' ws' : turns d ws d' ws' -> Forall2 came ws ws'.
Proof.
  induction 1 as [d ws | d ws d1 ws1 d2 ws2 _ IH R |]; [| | assumption].
  - induction ws as [| w ws IH]; constructor; [| exact IH]. split; [reflexivity |]. exists 0. split; [apply G_None | lra].
  - destruct R as [before w after e c L' e' k' St]. apply Forall2_app_inv_r in IH as (b0 & a0 & Fb & Fa & ->).
    apply Forall2_app; [exact Fb |]. inversion Fa as [| w0 ? l ? (Ei & k & G & Ep) Fa']; subst. constructor; [| exact Fa'].
    rewrite Ei in St. destruct (goes_on_more _ _ _ _ _ _ _ _ _ _ _ G St) as (k1 & G1 & E1).
    split; [exact Ei |]. exists k1. split; [exact G1 | cbn [paid]; lra].
Qed.

(** What a warp has paid, whenever it is looked at and whatever the others do *)
Theorem mixed_warp s q w w' : bounded s q w -> came w w' -> paid w' <= q \/ may_break w.
Proof.
  intros (U & T & A & B & S & D & N & Sat & Le & Ek & Z0) (_ & c & G & Ep). rewrite Ek in G.
  destruct (steps_are_a_run _ _ _ _ _ _ G) as (W & H). destruct (H (fun _ _ => VInt 0)) as (c' & C & E).
  set (sigma := Store (now w) (fun _ _ => VInt 0) W) in *. destruct (derivable_good _ _ _ _ _ D) as [[GA1 GA2] _].
  pose proof Sat as (NT & HU & Hold & Al).
  assert (Sat' : sat (its w) U sigma T (facts A) (uniforms A)).
  { split; [exact NT |]. split; [exact HU |]. split; [| exact Al]. intros t I.
    apply (holds_same (its w) (at_ (now w) (fun _ _ => VInt 0))); auto. }
  assert (Val : forall t, peval (its w) sigma (potential A) t = peval (its w) (at_ (now w) (fun _ _ => VInt 0)) (potential A) t).
  { intros t. apply (peval_uniform _ (uniforms A)); auto. }
  pose proof (mixed_sound (its w) U S A s B D) as V. destruct (one T NT) as [t I].
  apply cut_goes in C as [(c1 & R & E1) | (sigma1 & c1 & c2 & R & C & E1)].
  - destruct (settle (its w) U sigma T (mixed s) (potential A) B c1) as [L | (c2 & R' & _)]; auto.
    + apply valid_ok; assumption.
    + left. specialize (L t I). rewrite Val in L. specialize (Le t I). lra.
    + right. exists T, s, sigma, c2. auto.
  - left. destruct (V _ _ _ _ Sat' R) as [Sat1 L]. specialize (L t I). specialize (N sigma1 T t Sat1 I).
    cbn in N. rewrite Val in L. specialize (Le t I). inversion C; subst. lra.
Qed.

(** The warps of a block, or of a grid: together at most the sum of what their derivations say, at any time, in any order
    of steps. *)
Theorem mixed_warps s qs ws d d' ws' :
  Forall2 (bounded s) qs ws -> Forall (fun w => ~ may_break w) ws -> turns d ws d' ws' ->
  sum (map paid ws') <= sum qs.
Proof.
  intros F N R. apply all_came in R. revert qs F N. induction R as [| w w' ws ws' C R IH]; intros qs F N; inversion F; subst.
  - cbn. lra.
  - inversion N; subst. cbn [map sum].
    match goal with H : Forall2 _ ?l ws |- _ => specialize (IH l H ltac:(assumption)) end.
    match goal with H : bounded s ?q w |- _ => destruct (mixed_warp s q w w' H C) as [L | L]; [lra | contradiction] end.
Qed.

(** A program without assumptions breaks none. *)
Fixpoint no_assume (s : stmt) : Prop :=
  match s with
  | Assume _ => False
  | Seq s1 s2 | If _ s1 s2 => no_assume s1 /\ no_assume s2
  | While _ s => no_assume s
  | _ => True
  end.

Lemma no_assume_mixed s : no_assume s -> no_assume (mixed s).
Proof. induction s; cbn [mixed no_assume]; tauto. Qed.

Lemma never_broken M sigma T s o c : run M sigma T s o c -> no_assume s -> o <> Broken.
Proof. induction 1; cbn [no_assume] in *; intros N; try discriminate; tauto. Qed.

Theorem without_assumptions s T w : no_assume s -> todo w = [(T, s)] -> ~ may_break w.
Proof.
  intros N E (T' & s' & sigma & c & E' & _ & R). rewrite E in E'. assert (s = s') as <- by congruence.
  apply (never_broken _ _ _ _ _ _ R); [apply no_assume_mixed, N | reflexivity].
Qed.

(** What a warp of this machine, at the start of s, may have paid when it is looked at *)
Definition pays_mixed (M : machine) (U : thread -> Prop) (s : stmt) (c : Q) : Prop :=
  exists T w w', its w = M /\ todo w = [(T, s)] /\ paid w == 0 /\ T <> [] /\ (forall t, In t T -> U t)
    /\ ~ may_break w /\ came w w' /\ paid w' == c.

(** [grid_bound], of warps that mix *)
Theorem mixed_grid_bound L U s q B sums c :
  over [] q -> telescope L sums (value_in q) ->
  (forall M, L M -> sane (price M) /\ derivable M (U M) (Cond [] q []) s (B M)
                    /\ at_least M (U M) (facts (B M)) (uniforms (B M)) (potential (B M)) zero) ->
  (forall M, L M -> pays_mixed M (U M) s (c M)) ->
  forall M, L M -> totals sums c M <= claims sums (value_in q) M.
Proof.
  intros O T D P M LM. apply (totals_claimed L); auto. intros M' L'. destruct (D M' L') as (S & D' & N).
  destruct (P M' L') as (T0 & w & w' & <- & Ek & Z0 & NT & HU & NB & C & Ep). rewrite <- Ep.
  destruct (mixed_warp s (value_in q (its w)) w w') as [Le | Br]; [| exact C | exact Le | contradiction].
  exists (U (its w)), T0, (Cond [] q []), (B (its w)). split; [exact S |]. split; [exact D' |]. split; [exact N |].
  split; [split; [exact NT |]; split; [exact HU |]; split; [intros t _ p [] | intros y t u []] |].
  split; [| auto]. intros t _. cbn [potential]. rewrite (over_parameters _ _ t q O). apply Qle_refl.
Qed.

(** * The steps of a warp that is alone are its run *)

Inductive alone (M : machine) : locals -> memory -> stack -> Q -> locals -> memory -> stack -> Prop :=
  | A_None L d k : alone M L d k 0 L d k
  | A_Step L d k c L1 d1 k1 c' L' d' k' :
      step M L d k c L1 d1 k1 -> alone M L1 d1 k1 c' L' d' k' -> alone M L d k (c + c') L' d' k'.

Lemma alone_then M L d k c L1 d1 k1 c' L' d' k' :
  alone M L d k c L1 d1 k1 -> alone M L1 d1 k1 c' L' d' k' -> exists c2, alone M L d k c2 L' d' k' /\ c2 == c + c'.
Proof.
  induction 1 as [| L d k a L2 d2 k2 a' L1 d1 k1 St A IH]; intros B.
  - exists c'. split; [exact B | lra].
  - destruct (IH B) as (c2 & C & E). exists (a + c2). split; [eapply A_Step; eassumption | lra].
Qed.

Fixpoint no_others (s : stmt) : Prop :=
  match s with
  | Others => False
  | Seq s1 s2 | If _ s1 s2 => no_others s1 /\ no_others s2
  | While _ s => no_others s
  | _ => True
  end.

Lemma alone_first M L d T s k c L1 d1 k1 c1 L2 d2 k2 c2 :
  step M L d ((T, s) :: k) c L1 d1 k1 -> alone M L1 d1 k1 c1 L2 d2 k2 -> c + c1 == c2 ->
  exists c', alone M L d ((T, s) :: k) c' L2 d2 k2 /\ c' == c2.
Proof. intros St A E. exists (c + c1). split; [eapply A_Step; eassumption | exact E]. Qed.

Theorem a_run_is_steps M sigma T s o c : run M sigma T s o c -> forall sigma' k, o = End sigma' -> later sigma = [] -> no_others s ->
  later sigma' = [] /\ exists c', alone M (local sigma) (contents sigma) ((T, s) :: k) c' (local sigma') (contents sigma') k /\ c' == c.
Proof.
  induction 1; intros sigma' k Eo El No; try discriminate; try contradiction; cbn [no_others] in No; try (injection Eo as <-);
    try match goal with H : stopped o, E : o = End _ |- _ => rewrite E in H; contradiction end;
    try match type of No with _ /\ _ => destruct No as [No1 No2] end;
    destruct sigma as [L d W]; cbn [later] in El; subst W; cbn [local contents].
  - split; [reflexivity |]. eapply alone_first; [apply S_Skip | apply A_None | lra].
  - split; [reflexivity |]. eapply alone_first; [apply S_Sync | apply A_None | lra].
  - destruct (IHrun1 sigma1 ((T, s2) :: k) eq_refl eq_refl No1) as [El1 (a & A1 & E1)].
    destruct (IHrun2 sigma' k Eo El1 No2) as [El2 (b & A2 & E2)]. split; [exact El2 |].
    destruct (alone_then _ _ _ _ _ _ _ _ _ _ _ _ A1 A2) as (c3 & A3 & E3).
    eapply alone_first; [apply S_Seq | exact A3 | lra].
  - split; [reflexivity |]. eapply alone_first; [apply S_Assign | apply A_None | unfold at_; lra].
  - split; [reflexivity |]. eapply alone_first; [apply S_Write | apply A_None | unfold at_; lra].
  - split; [reflexivity |]. eapply alone_first; [apply S_Assume; assumption | apply A_None | lra].
  - destruct (IHrun sigma' k Eo eq_refl No1) as [El2 (b & A2 & E2)]. split; [exact El2 |].
    eapply alone_first; [apply S_IfT; assumption | exact A2 | unfold at_; lra].
  - destruct (IHrun sigma' k Eo eq_refl No2) as [El2 (b & A2 & E2)]. split; [exact El2 |].
    eapply alone_first; [apply S_IfF; assumption | exact A2 | unfold at_; lra].
  - destruct (IHrun1 sigma1 ((no M (Store L d []) T e, s2) :: k) eq_refl eq_refl No1) as [El1 (a & A1 & E1)].
    destruct (IHrun2 sigma' k Eo El1 No2) as [El2 (b & A2 & E2)]. split; [exact El2 |].
    destruct (alone_then _ _ _ _ _ _ _ _ _ _ _ _ A1 A2) as (c3 & A3 & E3).
    eapply alone_first; [apply S_IfD; assumption | exact A3 | unfold at_; lra].
  - destruct (IHrun1 sigma1 ((T, While e s) :: k) eq_refl eq_refl No) as [El1 (a & A1 & E1)].
    destruct (IHrun2 sigma' k Eo El1 No) as [El2 (b & A2 & E2)]. split; [exact El2 |].
    destruct (alone_then _ _ _ _ _ _ _ _ _ _ _ _ A1 A2) as (c3 & A3 & E3).
    eapply alone_first; [apply S_WhileAll; assumption | exact A3 | unfold at_; lra].
  - destruct (IHrun1 sigma1 ((yes M (Store L d []) T e, While e s) :: k) eq_refl eq_refl No) as [El1 (a & A1 & E1)].
    destruct (IHrun2 sigma' k Eo El1 No) as [El2 (b & A2 & E2)]. split; [exact El2 |].
    destruct (alone_then _ _ _ _ _ _ _ _ _ _ _ _ A1 A2) as (c3 & A3 & E3).
    eapply alone_first; [apply S_WhileSome; assumption | exact A3 | unfold at_; lra].
  - split; [reflexivity |]. eapply alone_first; [apply S_WhileNone; assumption | apply A_None | unfold at_; lra].
Qed.
