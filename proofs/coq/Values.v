(** Each operator's form has the operator's value, and what is noted with it is true. *)

From Coq Require Import ZArith List Bool Lia.
From Warpbound Require Import Syntax Forms Bits.
Import ListNotations.
Open Scope Z_scope.

Lemma within_both l h z : l <= z <= h -> within (Some l, Some h) z.
Proof. intros B. split; intros y E; cbn [fst snd] in E; injection E; intros; lia. Qed.

(** A form has this value, and what was noted with it is so. *)
Definition gives (call : calls) (V : nat -> Z) (r : num * list num) (z : Z) : Prop :=
  value_of call V (fst r) = z /\ forall n, In n (snd r) -> 0 <= value_of call V n.

Section Proofs.

Variable call : calls.
Variable V : nat -> Z.
Variable t : table.
Hypothesis T : true_of call V t.

Notation val := (value_of call V).
Notation sum := (sum_of call V).
Notation "r ~> z" := (gives call V r z) (at level 70).

Lemma sum_app ts us : sum (ts ++ us) = sum ts + sum us.
Proof. induction ts as [| [m q] ts IH]; cbn; [reflexivity |]. rewrite IH. lia. Qed.

Lemma product_app m n : product_of call V (m ++ n) = product_of call V m * product_of call V n.
Proof. induction m as [| x m IH]; cbn [app product_of]; [ring |]. rewrite IH. ring. Qed.

Lemma sum_nonzero ts : sum (filter (fun m => negb (snd m =? 0)) ts) = sum ts.
Proof.
  induction ts as [| [m q] ts IH]; cbn; [reflexivity |]. destruct (Z.eqb_spec q 0) as [-> |]; cbn; rewrite IH; lia.
Qed.

Lemma make_value ts c : val (make t ts c) = sum ts + c.
Proof. unfold make. rewrite value_num, (tidy_keeps _ _ _ T), sum_nonzero. reflexivity. Qed.

Lemma const_value z : val (const z) = z.
Proof. reflexivity. Qed.

Lemma one_value x : val (one x) = atom_of call V x.
Proof. unfold one. rewrite value_num. cbn [sum_of product_of]. lia. Qed.

Lemma plus_value a b : val (plus t a b) = val a + val b.
Proof. destruct a as [ts c], b as [us d]. unfold plus. rewrite make_value, !value_num, sum_app. lia. Qed.

Lemma sum_scaled ts k : sum (map (fun m => (fst m, snd m * k)) ts) = sum ts * k.
Proof. induction ts as [| [m q] ts IH]; cbn [map sum_of fst snd]; [reflexivity |]. rewrite IH. ring. Qed.

Lemma scaled_value a k : val (scaled t a k) = val a * k.
Proof. destruct a as [ts c]. unfold scaled. rewrite make_value, value_num, sum_scaled. ring. Qed.

Lemma minus_value a b : val (minus t a b) = val a - val b.
Proof. unfold minus. rewrite plus_value, scaled_value. lia. Qed.

Lemma times_value a b : val (times t a b) = val a * val b.
Proof.
  destruct a as [ts c], b as [us d]. unfold times. rewrite make_value, !value_num, !sum_app, sum_scaled.
  assert (R : sum (map (fun n => (fst n, c * snd n)) us) = c * sum us).
  { induction us as [| [m q] us IH]; cbn [map sum_of fst snd]; [lia |]. rewrite IH. ring. }
  assert (L : sum (flat_map (fun m => map (fun n => (fst m ++ fst n, snd m * snd n)) us) ts) = sum ts * sum us).
  { clear R. induction ts as [| [m q] ts IH]; [reflexivity |]. cbn [flat_map sum_of]. rewrite sum_app, IH. cbn [fst snd].
    assert (sum (map (fun n => (m ++ fst n, q * snd n)) us) = q * product_of call V m * sum us) as ->; [| ring].
    clear. induction us as [| [n r] us IH]; cbn [map sum_of fst snd]; [ring |]. rewrite IH, product_app. ring. }
  rewrite L, R. ring.
Qed.

Lemma split_value a k q r : 0 < k -> split t a k = (q, r) -> val a = k * val q + val r.
Proof.
  intros K E. destruct a as [ts c]. unfold split in E. injection E as <- <-. rewrite !make_value, value_num.
  assert (sum ts = k * sum (map (fun m => (fst m, snd m / k)) ts) + sum (map (fun m => (fst m, snd m mod k)) ts)) as ->.
  { induction ts as [| [m z] ts IH]; cbn [map sum_of fst snd]; [lia |]. rewrite IH.
    rewrite (Z.div_mod z k) at 1 by lia. ring. }
  rewrite (Z.div_mod c k) at 1 by lia. ring.
Qed.

Lemma bounded a : within (bounds t a) (val a).
Proof. apply (bounds_hold _ _ _ T). Qed.

Lemma known_value a z : known a = Some z -> val a = z.
Proof. destruct a as [[| m ts] c]; cbn; [intros E; injection E as ->; reflexivity | discriminate]. Qed.

Lemma is_zero_value a : is_zero a = true -> val a = 0.
Proof.
  unfold is_zero. destruct (known a) as [z |] eqn:K; [| discriminate]. intros E. apply Z.eqb_eq in E as ->.
  apply known_value, K.
Qed.

Lemma above_value a : above t a = true -> 0 <= val a.
Proof.
  unfold above. destruct (bounded a) as [L _]. destruct (fst (bounds t a)) as [l |]; [| discriminate].
  intros E. apply Z.leb_le in E. specialize (L l eq_refl). lia.
Qed.

Lemma below_value a : below t a = true -> val a <= 0.
Proof.
  unfold below. destruct (bounded a) as [_ H]. destruct (snd (bounds t a)) as [h |]; [| discriminate].
  intros E. apply Z.leb_le in E. specialize (H h eq_refl). lia.
Qed.

Lemma key_value a x : key a = Some x -> val a = atom_of call V x.
Proof.
  destruct a as [ts c]. unfold key. destruct ts as [| [[| y [| ? ?]] q] [| ? ?]]; try discriminate.
  all: destruct q as [| [? | ? |] | ?]; try discriminate; destruct c; try discriminate; intros E; injection E as ->; apply one_value.
Qed.

Lemma pure_gives a z : val a = z -> pure a ~> z.
Proof. intros E. split; [exact E | intros n []]. Qed.

Lemma meet_within i j z : within i z -> within j z -> within (meet i j) z.
Proof.
  intros [L H] [L' H']. destruct i as [[l |] [h |]], j as [[l' |] [h' |]]; cbn in *; split; cbn; intros y E;
    try discriminate; injection E as <-;
    try specialize (L _ eq_refl); try specialize (L' _ eq_refl); try specialize (H _ eq_refl); try specialize (H' _ eq_refl); lia.
Qed.

Lemma noted_gives x i : within i (atom_of call V x) -> noted t x i ~> atom_of call V x.
Proof.
  intros W. pose proof W as [L H]. split.
  - pose proof (bounded (one x)) as B. rewrite one_value in B. pose proof (meet_within _ _ _ B W) as [ML MH]. cbn [noted fst].
    destruct (meet (bounds t (one x)) i) as [[l |] [h |]]; try apply one_value.
    destruct (Z.eqb_spec l h) as [-> |]; [| apply one_value].
    specialize (ML h eq_refl). specialize (MH h eq_refl). rewrite const_value. lia.
  - intros n I. cbn in I. apply in_app_iff in I as [I | I].
    + destruct (fst i) as [l |]; [destruct I as [<- | []] | destruct I]. specialize (L l eq_refl). rewrite value_num.
      cbn [sum_of product_of]. lia.
    + destruct (snd i) as [h |]; [destruct I as [<- | []] | destruct I]. specialize (H h eq_refl). rewrite value_num.
      cbn [sum_of product_of]. lia.
Qed.

Lemma fresh_value x : val (fresh t x) = atom_of call V x.
Proof. apply (noted_gives x (None, None)). split; discriminate. Qed.

Lemma floor_rest z q r k : 0 < k -> z = k * q + r -> z / k = q + r / k.
Proof. intros K ->. replace (k * q + r) with (r + q * k) by lia. rewrite Z.div_add by lia. lia. Qed.

Lemma div_all_within i k z : 0 < k -> within i z -> within (div_all i k) (z / k).
Proof.
  intros K [L H]. destruct i as [[l |] [h |]]; split; cbn in *; intros y E; try discriminate; injection E as <-;
    apply Z.div_le_mono; auto.
Qed.

Lemma floor_gives a k : 0 < k -> floor t a k ~> val a / k.
Proof.
  intros K. unfold floor. destruct (split t a k) as [q r] eqn:E. apply split_value in E; [| exact K].
  rewrite (floor_rest _ _ _ _ K E). pose proof (div_all_within _ k _ K (bounded r)) as B.
  set (i := div_all (bounds t r) k) in *.
  assert (O : (let (x, f) := noted t (AFloor r k) i in (plus t q x, f)) ~> val q + val r / k).
  { pose proof (noted_gives (AFloor r k) i B) as [N1 N2]. destruct (noted t (AFloor r k) i) as [x f].
    split; [cbn [fst] in *; rewrite plus_value, N1; reflexivity | exact N2]. }
  destruct i as [[l |] [h |]]; try exact O. destruct (Z.eqb_spec l h) as [-> |]; [| exact O].
  apply pure_gives. rewrite plus_value, const_value. destruct B as [L H]. specialize (L h eq_refl). specialize (H h eq_refl). lia.
Qed.

Lemma residue_gives a k : 0 < k -> residue t a k ~> val a mod k.
Proof.
  intros K. unfold residue. destruct (split t a k) as [q r] eqn:E. apply split_value in E; [| exact K].
  assert (M : val a mod k = val r mod k).
  { rewrite E. replace (k * val q + val r) with (val r + val q * k) by lia. apply Z.mod_add. lia. }
  rewrite M. pose proof (Z.mod_pos_bound (val r) k K) as P. pose proof (Z.div_mod (val r) k ltac:(lia)) as D.
  set (other := if k <=? low_bits then noted t (AResidue r k) (Some 0, Some (k - 1)) else _).
  assert (O : other ~> val r mod k).
  { unfold other. destruct (k <=? low_bits).
    - apply (noted_gives (AResidue r k)). change (atom_of call V (AResidue r k)) with (val r mod k). apply within_both. lia.
    - pose proof (floor_gives r k K) as [F1 F2]. destruct (floor t r k) as [x f]. cbn [fst snd] in *.
      assert (W : val (minus t r (scaled t x k)) = val r mod k) 
        by (rewrite minus_value, scaled_value, F1, (Z.mul_comm _ k); rewrite D at 1; ring).
      split; [exact W |]. intros n [<- | [<- | I]]; [| | apply F2, I].
      + rewrite W. lia.
      + rewrite minus_value, W, const_value. lia. }
  destruct (bounds t r) as [[l |] [h |]] eqn:Eb; try exact O. destruct (Z.eqb_spec (l / k) (h / k)) as [El |]; [| exact O].
  apply pure_gives. rewrite minus_value, const_value. pose proof (bounded r) as [L H]. rewrite Eb in L, H.
  specialize (L l eq_refl). specialize (H h eq_refl).
  pose proof (Z.div_le_mono _ _ k K L). pose proof (Z.div_le_mono _ _ k K H).
  assert (val r / k = l / k) as <- by lia. lia.
Qed.

Lemma small_quotient a b : within (small t a b) (Z.quot (val a) (val b)) /\ within (small t a b) (Z.rem (val a) (val b)).
Proof.
  unfold small. pose proof (bounded a) as [La Ha]. pose proof (bounded b) as [Lb _].
  destruct (bounds t a) as [[l |] h]; [| split; split; discriminate].
  destruct (bounds t b) as [[d |] e]; [| split; split; discriminate].
  destruct (Z.leb_spec 0 l), (Z.leb_spec 0 d); cbn [andb]; try (split; split; discriminate).
  specialize (La l eq_refl). specialize (Lb d eq_refl). cbn [fst snd] in *.
  assert (A : 0 <= val a) by lia. assert (B : 0 <= val b) by lia.
  assert (Q : 0 <= Z.quot (val a) (val b) <= val a /\ 0 <= Z.rem (val a) (val b) <= val a).
  { destruct (Z.eq_dec (val b) 0) as [-> | N]; [rewrite Z.quot_0_r_ext, Z.rem_0_r_ext by reflexivity; lia |].
    pose proof (Z.quot_pos (val a) (val b) A ltac:(lia)). pose proof (Z.quot_le_upper_bound (val a) (val b) (val a) ltac:(lia) ltac:(nia)).
    pose proof (Z.rem_bound_pos (val a) (val b) A ltac:(lia)). pose proof (Z.quot_rem' (val a) (val b)). nia. }
  split; split; cbn [fst snd]; intros z E; try (injection E as <-); subst; try lia; specialize (Ha z eq_refl); lia.
Qed.

Lemma quotient_by_gives a k : 0 < k -> quotient_by t a k ~> Z.quot (val a) k.
Proof.
  intros K. unfold quotient_by. destruct (split t a k) as [q r] eqn:E. apply split_value in E; [| exact K].
  destruct (is_zero r) eqn:Er.
  { apply is_zero_value in Er. apply pure_gives. rewrite E, Er, Z.add_0_r, Z.mul_comm, Z.quot_mul by lia. reflexivity. }
  destruct (above t a) eqn:Ea.
  { apply above_value in Ea. rewrite quot_floor by assumption. apply floor_gives, K. }
  destruct (below t a) eqn:Eb; [| apply pure_gives; rewrite fresh_value; reflexivity].
  apply below_value in Eb. pose proof (floor_gives (scaled t a (-1)) k K) as [F1 F2].
  destruct (floor t (scaled t a (-1)) k) as [x f]. split; [| exact F2]. cbn [fst] in *. rewrite scaled_value, F1, scaled_value.
  replace (val a) with (- (val a * -1)) at 2 by lia. rewrite Z.quot_opp_l by lia. rewrite quot_floor by lia. ring.
Qed.

Lemma quotient_gives a b : quotient t a b ~> Z.quot (val a) (val b).
Proof.
  unfold quotient. destruct (known b) as [z |] eqn:Kb.
  - apply known_value in Kb. rewrite Kb. destruct (Z.eqb_spec z 0) as [-> | N].
    + apply pure_gives. rewrite Z.quot_0_r_ext by reflexivity. reflexivity.
    + destruct (Z.ltb_spec 0 z); [apply quotient_by_gives; assumption |].
      pose proof (quotient_by_gives a (- z) ltac:(lia)) as [F1 F2]. destruct (quotient_by t a (- z)) as [x f].
      split; [| exact F2]. cbn [fst] in *. rewrite scaled_value, F1, Z.quot_opp_r by lia. lia.
  - assert (O : noted t (AOp2 Div a b) (small t a b) ~> Z.quot (val a) (val b)).
    { apply (noted_gives (AOp2 Div a b)). apply small_quotient. }
    destruct (key a) as [x |] eqn:Ka; [| exact O]. destruct x as [| | | | | | o a' b' |]; try exact O.
    destruct o; try exact O. apply key_value in Ka.
    assert (val a = Z.quot (val a') (val b')) as -> by exact Ka.
    rewrite quot_quot, <- times_value. apply (noted_gives (AOp2 Div a' (times t b' b))). apply small_quotient.
Qed.

Lemma rem_abs a z : z <> 0 -> Z.rem a z = Z.rem a (Z.abs z).
Proof. intros N. symmetry. apply Z.rem_abs_r, N. Qed.

Lemma remainder_gives a b : remainder t a b ~> Z.rem (val a) (val b).
Proof.
  unfold remainder. destruct (known b) as [z |] eqn:Kb.
  - apply known_value in Kb. rewrite Kb. destruct (Z.eqb_spec z 0) as [-> | N].
    { apply pure_gives. rewrite Z.rem_0_r_ext by reflexivity. reflexivity. }
    rewrite (rem_abs _ _ N). set (k := Z.abs z). assert (K : 0 < k) by (unfold k; lia).
    destruct (split t a k) as [q r] eqn:E. cbn [snd]. apply split_value in E; [| exact K].
    destruct (is_zero r) eqn:Er.
    { apply is_zero_value in Er. apply pure_gives. rewrite E, Er, Z.add_0_r, Z.mul_comm, Z.rem_mul by lia. reflexivity. }
    destruct (above t a) eqn:Ea.
    { apply above_value in Ea. rewrite Z.rem_mod_nonneg by lia. apply residue_gives, K. }
    destruct (below t a) eqn:Eb.
    + apply below_value in Eb. pose proof (residue_gives (scaled t a (-1)) k K) as [F1 F2].
      destruct (residue t (scaled t a (-1)) k) as [x f]. split; [| exact F2]. cbn [fst] in *.
      rewrite scaled_value, F1, scaled_value. replace (val a) with (- (val a * -1)) at 2 by lia. rewrite Z.rem_opp_l by lia.
      rewrite Z.rem_mod_nonneg by lia. ring.
    + apply (noted_gives (AOp2 Mod a (const k))). change (atom_of call V (AOp2 Mod a (const k))) with (Z.rem (val a) k).
      pose proof (Z.rem_bound_abs (val a) k ltac:(lia)) as B.
      apply within_both. lia.
  - pose proof (quotient_gives a b) as [F1 F2]. destruct (quotient t a b) as [x f]. cbn [fst snd] in *.
    assert (W : val (minus t a (times t b x)) = Z.rem (val a) (val b)).
    { rewrite minus_value, times_value, F1. pose proof (Z.quot_rem' (val a) (val b)). lia. }
    split; [exact W |]. destruct (small_quotient a b) as [_ [L H]]. intros n I. cbn [snd] in I.
    apply in_app_iff in I as [I | I]; [| apply in_app_iff in I as [I | I]; [| apply F2, I]].
    + unfold small in *. destruct (bounds t a) as [[l |] h]; [| destruct I]. destruct (bounds t b) as [[d |] e]; [| destruct I].
      destruct ((0 <=? l) && (0 <=? d)); [| destruct I]. destruct I as [<- | []]. rewrite W. apply L. reflexivity.
    + destruct (snd (small t a b)) as [h |]; [| destruct I]. destruct I as [<- | []].
      rewrite minus_value, const_value, W. specialize (H h eq_refl). lia.
Qed.

(** ** Signs and zero *)

Lemma content_divides ts (c : Z) m q : In (m, q) ts -> (content (Num ts c) | q).
Proof.
  unfold content. induction ts as [| [n r] ts IH]; [intros [] |]. cbn. intros [E | I].
  - injection E as -> ->. apply Z.gcd_divide_l.
  - eapply Z.divide_trans; [apply Z.gcd_divide_r | apply IH, I].
Qed.

Lemma content_nonneg a : 0 <= content a.
Proof. destruct a as [[| m ts] c]; cbn; [lia | apply Z.gcd_nonneg]. Qed.

Lemma divided_value ts g :
  0 < g -> (forall m q, In (m, q) ts -> (g | q)) -> sum ts = g * sum (map (fun m => (fst m, snd m / g)) ts).
Proof.
  intros G D. induction ts as [| [m q] ts IH]; cbn [map sum_of fst snd]; [lia |].
  rewrite IH by (intros; eapply D; right; eassumption). destruct (D m q (or_introl eq_refl)) as [k ->].
  rewrite Z.div_mul by lia. ring.
Qed.

Lemma divided_content a : content a <> 0 -> exists y, val (divided a (content a)) = y + (let '(Num _ c) := a in c / content a)
  /\ val a = content a * y + (let '(Num _ c) := a in c).
Proof.
  intros N. destruct a as [ts c]. pose proof (content_nonneg (Num ts c)) as P. set (g := content (Num ts c)) in *.
  exists (sum (map (fun m => (fst m, snd m / g)) ts)). split; [reflexivity |]. rewrite value_num.
  rewrite (divided_value ts g) at 1; [reflexivity | lia | intros m q; apply content_divides].
Qed.

Lemma as_num_within b : within (Some 0, Some 1) (as_num b).
Proof. apply within_both. destruct b; cbn; lia. Qed.

Lemma nonnegative_gives a : nonnegative t a ~> as_num (0 <=? val a).
Proof.
  unfold nonnegative. set (other := if content a =? 0 then _ else _).
  assert (O : other ~> as_num (0 <=? val a)).
  { unfold other. destruct (Z.eqb_spec (content a) 0) as [_ | N].
    - apply (noted_gives (ANonneg a)), as_num_within.
    - assert (E : as_num (0 <=? val a) = as_num (0 <=? val (divided a (content a)))).
      { destruct (divided_content a N) as (y & Y & A). rewrite Y, A. destruct a as [ts c]. f_equal.
        pose proof (content_nonneg (Num ts c)). set (g := content (Num ts c)) in *.
        pose proof (Z.div_mod c g N). pose proof (Z.mod_pos_bound c g ltac:(lia)).
        apply eq_true_iff_eq. rewrite !Z.leb_le. split; nia. }
      rewrite E. apply (noted_gives (ANonneg (divided a (content a)))), as_num_within. }
  destruct (above t a) eqn:Ea.
  { apply above_value, Z.leb_le in Ea. rewrite Ea. apply pure_gives. reflexivity. }
  destruct (above t (minus t (const (-1)) a)) eqn:Eb; [| exact O].
  apply above_value in Eb. rewrite minus_value, const_value in Eb. assert (N : val a < 0) by lia. apply Z.leb_gt in N.
  rewrite N. apply pure_gives. reflexivity.
Qed.

Lemma opposite_value ts c : val (Num (map (fun m => (fst m, - snd m)) ts) (- c)) = - val (Num ts c).
Proof.
  rewrite !value_num. induction ts as [| [m q] ts IH]; cbn [map sum_of fst snd]; [lia |].
  cbn [sum_of] in IH. lia.
Qed.

Lemma zero_noted a : (if content a =? 0 then noted t (AZero a) (Some 0, Some 1)
                      else noted t (AZero (divided a (content a))) (Some 0, Some 1)) ~> as_num (val a =? 0)
  \/ (let '(Num _ c) := a in content a <> 0 /\ c mod content a <> 0).
Proof.
  destruct (Z.eqb_spec (content a) 0) as [E | N]; [left; apply (noted_gives (AZero a)), as_num_within |].
  destruct (divided_content a N) as (y & Y & A). destruct a as [ts c]. set (g := content (Num ts c)) in *.
  destruct (Z.eq_dec (c mod g) 0) as [M | M]; [left | right; split; assumption].
  assert (E : as_num (val (Num ts c) =? 0) = as_num (val (divided (Num ts c) g) =? 0)).
  { rewrite Y, A. f_equal. pose proof (Z.div_mod c g N). apply eq_true_iff_eq. rewrite !Z.eqb_eq. split; nia. }
  rewrite E. apply (noted_gives (AZero (divided (Num ts c) g))), as_num_within.
Qed.

Lemma content_opposite ts (c d : Z) : content (Num (map (fun m => (fst m, - snd m)) ts) c) = content (Num ts d).
Proof.
  unfold content. induction ts as [| [m q] ts IH]; cbn [map fold_right fst snd]; [reflexivity |].
  rewrite IH, Z.gcd_opp_l. reflexivity.
Qed.

Lemma zero_gives fuel : forall a, zero t fuel a ~> as_num (val a =? 0).
Proof.
  induction fuel as [| fuel IH]; intros [ts c]; (destruct ts as [| [m q] ts]; [apply pure_gives; reflexivity |]);
    cbn [zero]; set (a := Num ((m, q) :: ts) c);
    (destruct (above t (plus t a (const (-1))) || above t (minus t (const (-1)) a)
               || negb (content a =? 0) && negb (c mod content a =? 0)) eqn:Ap;
     [apply pure_gives; rewrite const_value; symmetry;
      assert (N : val a <> 0) by
        (apply orb_true_iff in Ap as [Ap | Ap];
         [apply orb_true_iff in Ap as [Ap | Ap]; apply above_value in Ap; rewrite ?plus_value, ?minus_value, const_value in Ap; lia
         | apply andb_true_iff in Ap as [Ap1 Ap2]; apply negb_true_iff, Z.eqb_neq in Ap1, Ap2; intros V0;
           destruct (divided_content a Ap1) as (y & _ & A); change (val a = content a * y + c) in A; rewrite V0 in A; apply Ap2;
           replace c with ((- y) * content a) by lia; apply Z.mod_mul, Ap1]);
      apply Z.eqb_neq in N; rewrite N; reflexivity |]);
    apply orb_false_iff in Ap as [_ Ap];
    set (a' := if q <? 0 then _ else a);
    (assert (Same : val a' = val a \/ val a' = - val a) by
       (unfold a'; destruct (q <? 0); [right; exact (opposite_value ((m, q) :: ts) c) | left; reflexivity]));
    (assert (Even : content a' = 0 \/ (let '(Num _ d) := a' in d mod content a' = 0)) by
       (assert (E : content a = 0 \/ c mod content a = 0) by
          (apply andb_false_iff in Ap as [Ap | Ap]; apply negb_false_iff, Z.eqb_eq in Ap; auto);
        unfold a'; destruct (q <? 0); [| exact E];
        pose proof (content_opposite ((m, q) :: ts) (- c) c) as C; fold a in C; rewrite C;
        destruct E as [E | E]; [left; exact E |];
        destruct (Z.eq_dec (content a) 0) as [Z0 | Z0]; [left; exact Z0 | right; apply Z.mod_opp_l_z; assumption]));
    (assert (R : (val a =? 0) = (val a' =? 0)) by (apply eq_true_iff_eq; rewrite !Z.eqb_eq; lia)); rewrite R;
    clearbody a'; clear R Same Ap a; destruct a' as [us d];
    (destruct (zero_noted (Num us d)) as [O | [N1 N2]]; [| destruct Even; contradiction]);
    [exact O |].
  destruct (key (Num us 0)) as [x |] eqn:Kx; [| exact O].
  destruct x as [| | | | | | o e k |]; try exact O. destruct o; try exact O. destruct k as [[|] k]; try exact O.
  destruct (Z.ltb_spec 0 k) as [K |]; [| exact O]. apply key_value in Kx.
  assert (Vu : val (Num us d) = Z.rem (val e) k + d).
  { rewrite value_num in *. change (atom_of call V (AOp2 Mod e (Num [] k))) with (Z.rem (val e) k) in Kx. lia. }
  pose proof (residue_gives (plus t e (const d)) k K) as [R1 R2].
  destruct (residue t (plus t e (const d)) k) as [r f]. cbn [fst snd] in R1, R2.
  pose proof (IH r) as [Z1 Z2]. destruct (zero t fuel r) as [same f']. cbn [fst snd] in Z1, Z2.
  rewrite R1, plus_value, const_value in Z1.
  assert (Co : Z.rem (val e) k + d = 0 -> (val e + d) mod k = 0).
  { intros E0. pose proof (Z.quot_rem' (val e) k). apply Z.mod_divide; [lia |]. exists (Z.quot (val e) k). lia. }
  destruct (is_zero same) eqn:Is; cbn [orb].
  - apply is_zero_value in Is. split; [| intros n I; cbn [snd] in I; apply in_app_iff in I as [I | I]; auto]. cbn [fst].
    rewrite Is in *. destruct (Z.eqb_spec (val (Num us d)) 0) as [E0 |]; [| reflexivity].
    rewrite Vu in E0. apply Co, Z.eqb_eq in E0. rewrite E0 in Z1. discriminate.
  - destruct (Z.eqb_spec d 0) as [-> |].
    2: { destruct O as [O1 O2]. split; [exact O1 |]. intros w I. cbn [snd] in I.
         apply in_app_iff in I as [I | I]; [exact (O2 w I) | apply in_app_iff in I as [I | I]; auto]. }
    split; [| intros n I; cbn [snd] in I; apply in_app_iff in I as [I | I]; auto]. cbn [fst].
    rewrite Z1, Vu, !Z.add_0_r in *. f_equal. apply eq_true_iff_eq. rewrite !Z.eqb_eq. split; [| exact Co].
    intros E0. apply Z.rem_divide; [lia |]. apply Z.mod_divide; [lia | exact E0].
Qed.

(** ** Bits *)

Lemma bit_op_value o g x y : bit_op o = Some g -> as_int (denote2 call o (VInt x) (VInt y)) = g x y.
Proof. destruct o; try discriminate; intros B; injection B as <-; reflexivity. Qed.

Lemma parted_gives o g a b : bit_op o = Some g -> o <> BitAnd -> parted t call o a b ~> g (val a) (val b).
Proof.
  intros B NA. unfold parted.
  assert (Id : forall z, g 0 z = z /\ g z 0 = z).
  { intros z. destruct o; try discriminate; try congruence; injection B as <-.
    - split; [apply Z.lor_0_l | apply Z.lor_0_r].
    - split; [apply Z.lxor_0_l | apply Z.lxor_0_r]. }
  assert (Lb : 0 < low_bits) by reflexivity.
  pose proof (floor_gives a low_bits Lb) as [A1 A2]. destruct (floor t a low_bits) as [ha f1].
  pose proof (floor_gives b low_bits Lb) as [B1 B2]. destruct (floor t b low_bits) as [hb f2].
  pose proof (residue_gives a low_bits Lb) as [C1 C2]. destruct (residue t a low_bits) as [la f3].
  pose proof (residue_gives b low_bits Lb) as [D1 D2]. destruct (residue t b low_bits) as [lb f4]. cbn [fst snd] in *.
  destruct (in_parts (val a) 5 ltac:(lia)) as [Ea Ra]. destruct (in_parts (val b) 5 ltac:(lia)) as [Eb Rb].
  change (2 ^ 5) with low_bits in *. rewrite <- A1, <- C1 in Ea. rewrite <- B1, <- D1 in Eb. rewrite <- C1 in Ra. rewrite <- D1 in Rb.
  destruct (bit_op_splits o g (val ha) (val la) (val hb) (val lb) 5 B ltac:(lia) Ra Rb) as [Low S].
  change (2 ^ 5) with low_bits in *. rewrite <- Ea, <- Eb in S. rewrite S.
  set (high := if is_zero ha then hb else if is_zero hb then ha else fresh t (AOp2 o ha hb)).
  assert (H : val high = g (val ha) (val hb)).
  { unfold high. destruct (is_zero ha) eqn:Za; [apply is_zero_value in Za; rewrite Za; symmetry; apply Id |].
    destruct (is_zero hb) eqn:Zb; [apply is_zero_value in Zb; rewrite Zb; symmetry; apply Id |].
    rewrite fresh_value. exact (bit_op_value o g _ _ B). }
  assert (N : forall n, In n (f1 ++ f2 ++ f3 ++ f4) -> 0 <= val n).
  { intros n I. repeat (apply in_app_iff in I as [I | I]; auto). }
  assert (Mixed : (let (low, f) := noted t (AOp2 o la lb) (Some 0, Some (low_bits - 1)) in
                   (plus t (scaled t high low_bits) low, f ++ f1 ++ f2 ++ f3 ++ f4)) ~> g (val ha) (val hb) * low_bits + g (val la) (val lb)).
  { assert (Va : atom_of call V (AOp2 o la lb) = g (val la) (val lb)) by exact (bit_op_value o g _ _ B).
    pose proof (noted_gives (AOp2 o la lb) (Some 0, Some (low_bits - 1))) as G. rewrite Va in G.
    destruct G as [G1 G2]; [apply within_both; lia |].
    destruct (noted t (AOp2 o la lb) (Some 0, Some (low_bits - 1))) as [low f]. cbn [fst snd] in *. split; cbn [fst snd].
    - rewrite plus_value, scaled_value, H, G1. reflexivity.
    - intros n I. apply in_app_iff in I as [I | I]; auto. }
  destruct (known la) as [x |] eqn:Ka, (known lb) as [y |] eqn:Kb; try exact Mixed.
  - apply known_value in Ka, Kb. split; [| exact N]. cbn [fst].
    rewrite plus_value, scaled_value, H, const_value, (bit_op_value o g _ _ B), Ka, Kb. reflexivity.
  - split; [| exact N]. cbn [fst]. rewrite fresh_value, <- S. exact (bit_op_value o g _ _ B).
Qed.

Lemma and_within a b : within (and_bounds t a b) (Z.land (val a) (val b)).
Proof.
  unfold and_bounds. pose proof (bounded a) as [La Ha]. pose proof (bounded b) as [Lb Hb].
  pose proof (land_small (val a) (val b)) as Sb. pose proof (land_small (val b) (val a)) as Sa. rewrite Z.land_comm in Sa.
  destruct (bounds t a) as [[l |] ha], (bounds t b) as [[m |] hb]; cbn [fst snd] in *;
    try (destruct (Z.leb_spec 0 l) as [Pl |]); try (destruct (Z.leb_spec 0 m) as [Pm |]);
    repeat match goal with P : forall l', Some ?l = Some l' -> _ |- _ => specialize (P l eq_refl) end;
    try destruct ha as [ha |]; try destruct hb as [hb |];
    repeat match goal with P : forall l', Some ?l = Some l' -> _ |- _ => specialize (P l eq_refl) end;
    try (assert (0 <= Z.land (val a) (val b) <= val a) by (apply Sa; lia));
    try (assert (0 <= Z.land (val a) (val b) <= val b) by (apply Sb; lia));
    split; cbn [fst snd]; intros z E; try discriminate; injection E as <-; lia.
Qed.

Lemma known_rest a k q r y : 0 < k -> split t a k = (q, r) -> known r = Some y -> 0 <= y < k.
Proof.
  intros K E Ky. destruct a as [ts c]. unfold split in E. injection E as _ <-. unfold make, known in Ky.
  destruct (tidy t _); [| discriminate]. injection Ky as <-. apply Z.mod_pos_bound, K.
Qed.

Lemma masked_gives o g a b : bit_op o = Some g -> masked t call o a b ~> g (val a) (val b).
Proof.
  intros B. unfold masked. set (rest := match o with BitAnd => _ | _ => _ end).
  assert (O : rest ~> g (val a) (val b)).
  { unfold rest. destruct o; try discriminate; try (apply (parted_gives _ g); [exact B | discriminate]).
    injection B as <-. apply (noted_gives (AOp2 BitAnd a b)). apply and_within. }
  clearbody rest. destruct (known b) as [z |] eqn:Kb; [| exact O]. apply known_value in Kb.
  destruct (Z.leb_spec 0 z) as [P |]; [| exact O]. destruct (bits_bound z P) as [Nb Lt].
  assert (K : 0 < 2 ^ bits z) by (apply Z.pow_pos_nonneg; lia).
  destruct (split t a (2 ^ bits z)) as [q r] eqn:E. cbn [snd]. pose proof (split_value _ _ _ _ K E) as Va.
  destruct (known r) as [y |] eqn:Ky.
  - pose proof (known_rest _ _ _ _ _ K E Ky) as Ry. apply known_value in Ky. rewrite Ky in Va.
    destruct (bit_op_splits o g (val q) y 0 z (bits z) B Nb Ry ltac:(lia)) as [_ S].
    replace (val q * 2 ^ bits z + y) with (val a) in S by lia. rewrite Z.add_0_l in S. rewrite Kb.
    destruct o; try discriminate; injection B as <-.
    + apply pure_gives. rewrite const_value, S, Z.land_0_r. lia.
    + destruct (Z.eqb_spec z 0) as [-> |]; [rewrite Kb in O; exact O |]. apply pure_gives.
      rewrite plus_value, minus_value, !const_value, S, Z.lor_0_r. cbn [denote2 as_int]. lia.
    + destruct (Z.eqb_spec z 0) as [-> |]; [rewrite Kb in O; exact O |]. apply pure_gives.
      rewrite plus_value, minus_value, !const_value, S, Z.lxor_0_r. cbn [denote2 as_int]. lia.
  - destruct o; try discriminate; try exact O. injection B as <-.
    destruct (Z.eqb_spec z (2 ^ bits z - 1)) as [Ez |]; [| exact O].
    assert (W : Z.land (val a) (val b) = val a mod 2 ^ bits z).
    { rewrite Kb. replace z with (Z.ones (bits z)) at 1 by (rewrite Z.ones_equiv; lia). apply Z.land_ones, Nb. }
    rewrite W. apply residue_gives, K.
Qed.

Lemma land_left a z : Z.land a z = a - Z.land a (-1 - z).
Proof.
  replace (-1 - z) with (Z.lnot z) by (unfold Z.lnot; lia). symmetry. rewrite Z.sub_nocarry_ldiff; apply Z.bits_inj'; intros i I;
    rewrite !Z.ldiff_spec, !Z.land_spec, Z.lnot_spec by exact I.
  - destruct (Z.testbit a i), (Z.testbit z i); reflexivity.
  - rewrite Z.bits_0. destruct (Z.testbit a i), (Z.testbit z i); reflexivity.
Qed.

Lemma cleared_gives o g a b : bit_op o = Some g -> cleared t call o a b ~> g (val a) (val b).
Proof.
  intros B. unfold cleared. destruct o; try discriminate; try (apply masked_gives, B).
  destruct (known b) as [z |] eqn:Kb; [| apply masked_gives, B]. destruct (z <? 0); [| apply masked_gives, B].
  apply known_value in Kb. injection B as <-. rewrite Kb, land_left.
  pose proof (masked_gives BitAnd Z.land a (const (-1 - z)) eq_refl) as G. rewrite const_value in G.
  destruct (masked t call BitAnd a (const (-1 - z))) as [x f]. destruct G as [E F]. cbn [fst snd] in *.
  split; cbn [fst snd]; [rewrite minus_value, E; reflexivity | exact F].
Qed.

Lemma turned_gives o g a b : bit_op o = Some g -> turned t call o a b ~> g (val a) (val b).
Proof.
  intros B. unfold turned. destruct (known a); [rewrite (bit_op_commutes o g _ _ B) |]; apply cleared_gives, B.
Qed.

Lemma anded_gives fuel : forall a b, anded t call fuel a b ~> Z.land (val a) (val b).
Proof.
  assert (Lb : 0 < low_bits) by reflexivity. assert (O : forall a b, turned t call BitAnd a b ~> Z.land (val a) (val b)).
  { intros a b. exact (turned_gives BitAnd Z.land a b eq_refl). }
  induction fuel as [| fuel IH]; intros a b; cbn [anded];
    destruct (split t a low_bits) as [ha la] eqn:Ea; destruct (split t b low_bits) as [hb lb] eqn:Eb; try apply O.
  destruct (known la) as [x |] eqn:Ka; [| apply O]. destruct (known lb) as [y |] eqn:Kb; [| apply O].
  pose proof (known_rest _ _ _ _ _ Lb Ea Ka) as Rx. pose proof (known_rest _ _ _ _ _ Lb Eb Kb) as Ry.
  apply known_value in Ka, Kb. apply split_value in Ea, Eb; try exact Lb.
  destruct (bit_op_splits BitAnd Z.land (val ha) x (val hb) y 5 eq_refl ltac:(lia) Rx Ry) as [_ S].
  change (2 ^ 5) with low_bits in S.
  replace (val ha * low_bits + x) with (val a) in S by lia. replace (val hb * low_bits + y) with (val b) in S by lia.
  set (high := match known ha with Some _ => _ | None => _ end).
  assert (H : high ~> Z.land (val ha) (val hb)).
  { unfold high. destruct (known ha) as [z |] eqn:Kz; [| apply IH]. destruct (known hb) as [w |] eqn:Kw; [| apply IH].
    apply known_value in Kz, Kw. apply pure_gives. rewrite Kz, Kw. reflexivity. }
  clearbody high. destruct high as [h f], H as [H1 H2]. split; [| exact H2]. cbn [fst] in *.
  rewrite plus_value, scaled_value, const_value, H1, S. reflexivity.
Qed.

Lemma bitwise_gives o g a b : bit_op o = Some g -> bitwise t call o a b ~> g (val a) (val b).
Proof.
  intros B. destruct o; try discriminate; try (apply turned_gives, B). injection B as <-. apply anded_gives.
Qed.

(** ** The rest *)

Lemma extreme_gives o a b :
  o = Min \/ o = Max -> extreme t o a b ~> match o with Max => Z.max (val a) (val b) | _ => Z.min (val a) (val b) end.
Proof.
  intros Ho. unfold extreme.
  pose proof (nonnegative_gives (match o with Max => minus t a b | _ => minus t b a end)) as [F1 F2].
  destruct (nonnegative t (match o with Max => minus t a b | _ => minus t b a end)) as [first f]. cbn [fst snd] in *.
  destruct (known first) as [z |] eqn:Kf.
  - apply known_value in Kf. rewrite Kf in F1. clear Kf.
    destruct Ho as [-> | ->]; rewrite minus_value in F1;
      match type of F1 with _ = as_num (0 <=? ?d) => destruct (Z.leb_spec 0 d) end; cbn in F1; subst z; cbn [Z.eqb];
      (split; [cbn [fst]; lia | exact F2]).
  - destruct Ho as [-> | ->]; (split; [cbn [fst]; rewrite fresh_value; reflexivity | exact F2]).
Qed.

Lemma negated_gives r b : r ~> as_num b -> negated t r ~> as_num (negb b).
Proof.
  intros [F1 F2]. destruct r as [x f]. split; [| exact F2]. cbn [fst negated] in *.
  rewrite minus_value, F1, const_value. destruct b; reflexivity.
Qed.

Lemma as_bool_int v : as_bool v = negb (as_int v =? 0).
Proof. destruct v as [z | [] | z]; reflexivity. Qed.

(** Operators on one operand; [!] is on truth values. *)
Theorem apply1_gives o a v :
  integral1 o = true -> as_int v = val a -> (o = Not -> exists b, v = VBool b) ->
  apply1 t o a ~> as_int (denote1 call o v).
Proof.
  intros I E Bool. destruct o; try discriminate; cbn [apply1 denote1 as_int].
  - apply pure_gives. rewrite scaled_value, E. lia.
  - apply pure_gives. rewrite minus_value, const_value, E. unfold Z.lnot. lia.
  - destruct (Bool eq_refl) as [b ->]. apply pure_gives. rewrite minus_value, const_value, <- E. destruct b; reflexivity.
  - apply pure_gives. rewrite E. reflexivity.
  - rewrite as_bool_int, E. apply negated_gives, zero_gives.
  - rewrite E. replace (Z.abs (val a)) with (Z.max (val a) (val (scaled t a (-1)))) by (rewrite scaled_value; lia).
    exact (extreme_gives Max a (scaled t a (-1)) (or_intror eq_refl)).
Qed.

Lemma denote2_ints o v w :
  integral2 o = true -> as_int (denote2 call o v w) = as_int (denote2 call o (VInt (as_int v)) (VInt (as_int w))).
Proof. intros I. destruct o; try discriminate; try reflexivity; cbn; rewrite !as_bool_int; reflexivity. Qed.

(** Operators on two operands *)
Theorem apply2_gives o a b v w :
  integral2 o = true -> as_int v = val a -> as_int w = val b -> apply2 t call o a b ~> as_int (denote2 call o v w).
Proof.
  intros I Ev Ew. rewrite denote2_ints, Ev, Ew by exact I. clear v w Ev Ew.
  assert (Opaque : pure (fresh t (AOp2 o a b)) ~> as_int (denote2 call o (VInt (val a)) (VInt (val b)))).
  { apply pure_gives. rewrite fresh_value. reflexivity. }
  unfold apply2. set (far := match o, known b with Shl, Some z => 64 <? z | _, _ => false end).
  match goal with |- match known a with Some _ => _ | None => ?e end ~> ?z => assert (O : e ~> z) end.
  { clear far. destruct o; try discriminate; cbn [denote2 as_int] in *.
    - apply pure_gives, plus_value.
    - apply pure_gives, minus_value.
    - destruct (few a b); [apply pure_gives, times_value | exact Opaque].
    - apply quotient_gives.
    - apply remainder_gives.
    - destruct (known b) as [z |] eqn:Kb; [| exact Opaque]. apply known_value in Kb. rewrite Kb in *.
      destruct (Z.ltb_spec z 0); [apply pure_gives; reflexivity |].
      destruct (Z.leb_spec z 64); [| exact Opaque]. apply pure_gives. rewrite scaled_value, Z.shiftl_mul_pow2 by lia. reflexivity.
    - destruct (known b) as [z |] eqn:Kb; [| exact Opaque]. apply known_value in Kb. rewrite Kb in *.
      destruct (Z.ltb_spec z 0); [apply pure_gives; reflexivity |].
      destruct (Z.leb_spec z 64); [| exact Opaque]. rewrite Z.shiftr_div_pow2 by lia. apply floor_gives.
      apply Z.pow_pos_nonneg; lia.
    - apply (bitwise_gives BitAnd Z.land); reflexivity.
    - apply (bitwise_gives BitOr Z.lor); reflexivity.
    - apply (bitwise_gives BitXor Z.lxor); reflexivity.
    - exact (extreme_gives Min a b (or_introl eq_refl)).
    - exact (extreme_gives Max a b (or_intror eq_refl)).
    - replace (val a <? val b) with (negb (0 <=? val (minus t a b))).
      + apply negated_gives, nonnegative_gives.
      + rewrite minus_value. apply eq_true_iff_eq. rewrite negb_true_iff, Z.leb_gt, Z.ltb_lt. lia.
    - replace (val a <=? val b) with (0 <=? val (minus t b a)); [apply nonnegative_gives |].
      rewrite minus_value. apply eq_true_iff_eq. rewrite !Z.leb_le. lia.
    - replace (val b <? val a) with (negb (0 <=? val (minus t b a))).
      + apply negated_gives, nonnegative_gives.
      + rewrite minus_value. apply eq_true_iff_eq. rewrite negb_true_iff, Z.leb_gt, Z.ltb_lt. lia.
    - replace (val b <=? val a) with (0 <=? val (minus t a b)); [apply nonnegative_gives |].
      rewrite minus_value. apply eq_true_iff_eq. rewrite !Z.leb_le. lia.
    - replace (val a =? val b) with (val (minus t a b) =? 0); [apply zero_gives |].
      rewrite minus_value. apply eq_true_iff_eq. rewrite !Z.eqb_eq. lia.
    - replace (val a =? val b) with (val (minus t a b) =? 0); [apply negated_gives, zero_gives |].
      rewrite minus_value. apply eq_true_iff_eq. rewrite !Z.eqb_eq. lia.
    - apply (noted_gives (AOp2 And a b)). exact (as_num_within _).
    - apply (noted_gives (AOp2 Or a b)). exact (as_num_within _). }
  destruct (known a) as [x |] eqn:Ka; [| exact O]. destruct (known b) as [y |] eqn:Kb; [| exact O].
  destruct far; [exact O |]. apply known_value in Ka, Kb. apply pure_gives. rewrite const_value, Ka, Kb. reflexivity.
Qed.

(** c ? a : b, where c is a truth value *)
Theorem choose_gives c a b p v w :
  as_num p = val c -> as_int v = val a -> as_int w = val b ->
  val (choose t c a b) = as_int (denote3 call Choose (VBool p) v w).
Proof.
  intros Ep Ev Ew. unfold choose.
  assert (O : val (fresh t (AOp3 Choose c a b)) = as_int (denote3 call Choose (VBool p) v w)).
  { rewrite fresh_value.
    change (atom_of call V (AOp3 Choose c a b)) with (as_int (denote3 call Choose (VInt (val c)) (VInt (val a)) (VInt (val b)))).
    rewrite <- Ep, <- Ev, <- Ew. destruct p; reflexivity. }
  destruct (few c (minus t a b)); [clear O | exact O]. rewrite plus_value, times_value, minus_value, <- Ep, <- Ev, <- Ew. cbn [denote3 as_bool].
  destruct p; cbn [as_num]; lia.
Qed.

(** ** Bounds *)

(** [at_least]: what c * x + rest >= 0 says of x, an atom or a row, where rest <= most *)
Theorem says_so c x rest most : c <> 0 -> 0 <= c * x + rest -> rest <= most -> within (says c most) x.
Proof.
  intros N H R. unfold says. destruct (Z.ltb_spec 0 c) as [P |]; split; cbn; intros y E; try discriminate; injection E as <-.
  - pose proof (Z.div_mod most c N). pose proof (Z.mod_pos_bound most c P). nia.
  - apply Z.div_le_lower_bound; lia.
Qed.

End Proofs.
