(** Bounds of forms: by interval arithmetic, and of the difference of two. *)

From Coq Require Import ZArith List Bool Lia.
From Warpbound Require Import Syntax Forms Bits Values.
Import ListNotations.
Open Scope Z_scope.

Section Bounds.

Variable call : calls.
Variable V : nat -> Z.
Variable sizes : atom -> interval.
Hypothesis Sizes : forall x, within (sizes x) (atom_of call V x).

Lemma sum_within_sound i j y z : within i y -> within j z -> within (sum_within i j) (y + z).
Proof.
  intros [L H] [L' H']. destruct i as [[l |] [h |]], j as [[l' |] [h' |]]; cbn in *; split; cbn; intros x E;
    try discriminate; injection E as <-;
    try specialize (L _ eq_refl); try specialize (L' _ eq_refl); try specialize (H _ eq_refl); try specialize (H' _ eq_refl); lia.
Qed.

Lemma times_within_sound c i z : within i z -> within (times_within c i) (c * z).
Proof.
  intros [L H]. unfold times_within. destruct (Z.ltb_spec c 0); destruct i as [[l |] [h |]]; cbn [fst snd option_map] in *;
    split; cbn [fst snd]; intros x E; try discriminate; assert (E' := f_equal (fun o => match o with Some y => y | None => 0 end) E);
    cbv beta iota in E'; subst x;
    try specialize (L _ eq_refl); try specialize (H _ eq_refl); nia.
Qed.

Lemma least_sound m l : least sizes m = Some l -> 0 <= l <= product_of call V m /\ forall h, most sizes m = Some h -> product_of call V m <= h.
Proof.
  revert l. induction m as [| x m IH]; cbn [least most product_of]; intros l E.
  - injection E as <-. split; [lia |]. intros h F. injection F as <-. lia.
  - destruct (Sizes x) as [L H]. destruct (fst (sizes x)) as [lx |]; [| discriminate].
    destruct (Z.leb_spec 0 lx); [| discriminate]. specialize (L lx eq_refl).
    destruct (least sizes m) as [lm |]; [| discriminate]. assert (l = lx * lm) as -> by (cbn in E; congruence).
    destruct (IH lm eq_refl) as [B T]. split; [nia |]. intros h F.
    destruct (snd (sizes x)) as [hx |]; [| discriminate]. destruct (most sizes m) as [hm |]; [| discriminate].
    assert (h = hx * hm) as -> by (cbn in F; congruence). specialize (H hx eq_refl). specialize (T hm eq_refl). nia.
Qed.

Lemma size_sound m : within (size_of sizes m) (product_of call V m).
Proof.
  assert (O : within (match least sizes m with Some l => (Some l, most sizes m) | None => (None, None) end) (product_of call V m)).
  { destruct (least sizes m) as [l |] eqn:E; [| split; discriminate]. destruct (least_sound m l E) as [B T].
    split; cbn [fst snd]; [intros y F; assert (y = l) by congruence; lia | exact T]. }
  destruct m as [| x [| y m]]; try exact O. cbn [size_of product_of]. rewrite Z.mul_1_r. apply Sizes.
Qed.

(** [bounds]: interval arithmetic is right where the atoms' bounds are. *)
Theorem interval_holds a : within (interval_of sizes a) (value_of call V a).
Proof.
  destruct a as [ts c]. rewrite value_num. unfold interval_of. induction ts as [| [m q] ts IH]; cbn [fold_right sum_of fst snd].
  - apply within_both. lia.
  - rewrite <- Z.add_assoc. apply sum_within_sound; [| exact IH]. apply times_within_sound, size_sound.
Qed.

Variable rows : list (list atom * Z) -> interval.
Hypothesis Rows : forall ts, within (rows ts) (sum_of call V ts).

(** What is known of rows bounds what is made of them. *)
Theorem rowed_holds a : within (rowed sizes rows a) (value_of call V a).
Proof.
  pose proof (interval_holds a) as I. destruct a as [ts c]. unfold rowed. destruct ts as [| m1 [| m2 ts]]; try exact I.
  set (us := m1 :: m2 :: ts) in *. destruct (row_of (Num us c)) as [row f] eqn:R. destruct (Z.eqb_spec f 0) as [| F]; [exact I |].
  apply meet_within; [exact I |]. rewrite value_num. rewrite Z.add_comm.
  apply sum_within_sound; [apply within_both; lia |].
  assert (E : sum_of call V us = f * sum_of call V row); [| rewrite E; apply times_within_sound, Rows].
  unfold row_of in R. injection R as <- Ef.
  assert (D : forall m q, In (m, q) us -> (f | q)).
  { intros m q J. pose proof (content_divides us c m q J) as G.
    assert (Ef' : f = content (Num us c) \/ f = - content (Num us c))
      by (rewrite <- Ef; unfold us; destruct m1 as [n1 q1]; destruct (q1 <? 0); auto).
    destruct Ef' as [-> | ->]; [| apply Z.divide_opp_l]; exact G. }
  rewrite Ef. change (sum_of call V us = f * sum_of call V (map (fun m => (fst m, snd m / f)) us)).
  clear -F D. clearbody us. induction us as [| [m q] us IH]; cbn [map sum_of fst snd]; [lia |].
  rewrite IH by (intros; eapply D; right; eassumption). destruct (D m q (or_introl eq_refl)) as [k ->].
  rewrite Z.div_mul by exact F. ring.
Qed.

(** So the operators' forms are right, with nothing left open: [plain_table] is such a table. *)
Theorem plain_table_true : true_of call V (plain_table sizes).
Proof. split; [reflexivity | exact interval_holds]. Qed.

End Bounds.

(** ** Distances *)

Scheme apart_two := Induction for apart Sort Prop
  with pair_two := Induction for pair Sort Prop.
Combined Scheme apart_pair_ind from apart_two, pair_two.

(** [apart], where the sign of the divisor is right; by 0 all quotients are 0. *)
Theorem distance call V t (D : num) sign :
  true_of call V t -> 0 <= sign * value_of call V D -> sign = 1 \/ sign = -1 ->
  (forall d l h, apart t D sign d l h -> l <= value_of call V d <= h)
  /\ (forall x y l h, pair t D sign x y l h -> l <= atom_of call V x - atom_of call V y <= h).
Proof.
  intros T Pos Sg.
  pose (A := fun (d : num) (l h : Z) (_ : apart t D sign d l h) => l <= value_of call V d <= h).
  pose (B := fun (x y : atom) (l h : Z) (_ : pair t D sign x y l h) => l <= atom_of call V x - atom_of call V y <= h).
  cut ((forall d l h p, A d l h p) /\ (forall x y l h p, B x y l h p)); 
    [intros [H1 H2]; split; [intros d l h p; exact (H1 d l h p) | intros x y l h p; exact (H2 x y l h p)] |].
  apply (apart_pair_ind t D sign A B); unfold A, B; clear A B.
  - intros c. rewrite const_value. lia.
  - intros c x y rest low high l h C _ IH1 _ IH2.
    rewrite (plus_value call V t T), (minus_value call V t T), !(scaled_value call V t T), !one_value. nia.
  - intros a b low high E _ IH. rewrite <- (E call V T). exact IH.
  - intros p q k l h K _ IH. rewrite (minus_value call V t T) in IH. apply floor_near; assumption.
  - intros p q k l h K _ IH. rewrite (minus_value call V t T) in IH. apply (quot_near _ _ k); assumption.
  - intros p q l h _ IH. rewrite (scaled_value call V t T), (minus_value call V t T) in IH.
    change (Z.min 0 l <= Z.quot (value_of call V p) (value_of call V D) - Z.quot (value_of call V q) (value_of call V D) <= Z.max 0 h).
    set (d := value_of call V D) in *. destruct (Z.eq_dec d 0) as [-> | N].
    + rewrite !Z.quot_0_r_ext by reflexivity. lia.
    + destruct Sg as [-> | ->].
      * apply quot_near; lia.
      * rewrite <- (Z.quot_opp_opp (value_of call V p) d), <- (Z.quot_opp_opp (value_of call V q) d) by lia.
        apply quot_near; lia.
  - intros o p q p' q' l h l' h' O _ IH1 _ IH2. rewrite !(minus_value call V t T) in *.
    destruct O as [-> | ->].
    + change (Z.min l l' <= Z.min (value_of call V p) (value_of call V p') - Z.min (value_of call V q) (value_of call V q') <= Z.max h h').
      lia.
    + change (Z.min l l' <= Z.max (value_of call V p) (value_of call V p') - Z.max (value_of call V q) (value_of call V q') <= Z.max h h').
      lia.
  - intros o p q p' q' l h l' h' O _ IH1 _ IH2. rewrite !(minus_value call V t T) in *.
    destruct O as [-> | ->].
    + change (Z.min l l' <= Z.min (value_of call V p) (value_of call V p') - Z.min (value_of call V q') (value_of call V q) <= Z.max h h').
      lia.
    + change (Z.min l l' <= Z.max (value_of call V p) (value_of call V p') - Z.max (value_of call V q') (value_of call V q) <= Z.max h h').
      lia.
Qed.

(** c = ((32 n + 5) & 31) is 5, whatever n is. *)
Example a_mask call : apply2 (plain_table (fun _ => (None, None))) call BitAnd (Num [([Unknown 0], 32)] 5) (const 31) = (const 5, []).
Proof. reflexivity. Qed.
