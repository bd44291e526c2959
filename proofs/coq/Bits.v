(** Integers: operators on bits, a part of the bits at a time; C's quotients. *)

From Coq Require Import ZArith Bool Lia.
From Warpbound Require Import Syntax Forms.
Open Scope Z_scope.

Lemma joined_bits x y n i :
  0 <= n -> 0 <= y < 2 ^ n -> 0 <= i -> Z.testbit (x * 2 ^ n + y) i = if i <? n then Z.testbit y i else Z.testbit x (i - n).
Proof.
  intros N Y I. assert (P : 0 < 2 ^ n) by (apply Z.pow_pos_nonneg; lia). destruct (Z.ltb_spec i n).
  - rewrite <- (Z.mod_pow2_bits_low _ n i) by lia. rewrite Z.add_comm, Z.mod_add, Z.mod_small by lia. reflexivity.
  - replace i with (i - n + n) at 1 by lia. rewrite <- Z.div_pow2_bits by lia.
    rewrite Z.add_comm, Z.div_add, Z.div_small by lia. reflexivity.
Qed.

Lemma high_bits y n i : 0 <= n -> 0 <= y < 2 ^ n -> n <= i -> Z.testbit y i = false.
Proof. intros N Y I. rewrite <- (Z.mod_small y (2 ^ n)) by lia. apply Z.mod_pow2_bits_high. lia. Qed.

(** An operator bit by bit, of which the lower n bits are told from the others *)
Lemma bit_by_bit f g x y x' y' n :
  (forall a b i, Z.testbit (g a b) i = f (Z.testbit a i) (Z.testbit b i)) -> f false false = false ->
  0 <= n -> 0 <= y < 2 ^ n -> 0 <= y' < 2 ^ n ->
  0 <= g y y' < 2 ^ n /\ g (x * 2 ^ n + y) (x' * 2 ^ n + y') = g x x' * 2 ^ n + g y y'.
Proof.
  intros G F N Y Y'. assert (P : 0 < 2 ^ n) by (apply Z.pow_pos_nonneg; lia).
  assert (Gy : 0 <= g y y' < 2 ^ n).
  { assert (g y y' = g y y' mod 2 ^ n) as ->; [| apply Z.mod_pos_bound, P]. apply Z.bits_inj'. intros i I.
    destruct (Z.ltb_spec i n); [rewrite Z.mod_pow2_bits_low by lia; reflexivity |].
    rewrite Z.mod_pow2_bits_high by lia. rewrite G, (high_bits y n), (high_bits y' n) by lia. exact F. }
  split; [exact Gy |]. apply Z.bits_inj'. intros i I. rewrite G, !joined_bits by assumption.
  destruct (i <? n); rewrite G; reflexivity.
Qed.

Definition bit_op (o : op2) : option (Z -> Z -> Z) :=
  match o with BitAnd => Some Z.land | BitOr => Some Z.lor | BitXor => Some Z.lxor | _ => None end.

Lemma bit_op_splits o g x y x' y' n :
  bit_op o = Some g -> 0 <= n -> 0 <= y < 2 ^ n -> 0 <= y' < 2 ^ n ->
  0 <= g y y' < 2 ^ n /\ g (x * 2 ^ n + y) (x' * 2 ^ n + y') = g x x' * 2 ^ n + g y y'.
Proof.
  intros B. destruct o; try discriminate; injection B as <-.
  - apply (bit_by_bit andb); [apply Z.land_spec | reflexivity].
  - apply (bit_by_bit orb); [apply Z.lor_spec | reflexivity].
  - apply (bit_by_bit xorb); [apply Z.lxor_spec | reflexivity].
Qed.

Lemma bit_op_commutes o g x y : bit_op o = Some g -> g x y = g y x.
Proof.
  destruct o; try discriminate; intros B; injection B as <-; [apply Z.land_comm | apply Z.lor_comm | apply Z.lxor_comm].
Qed.

Lemma in_parts z n : 0 <= n -> z = z / 2 ^ n * 2 ^ n + z mod 2 ^ n /\ 0 <= z mod 2 ^ n < 2 ^ n.
Proof.
  intros N. assert (P : 0 < 2 ^ n) by (apply Z.pow_pos_nonneg; lia).
  pose proof (Z.div_mod z (2 ^ n) ltac:(lia)). pose proof (Z.mod_pos_bound z (2 ^ n) P). lia.
Qed.

Lemma land_small x y : 0 <= y -> 0 <= Z.land x y <= y.
Proof.
  intros Y. split; [apply Z.land_nonneg; auto |].
  assert (D : Z.ldiff (Z.land x y) y = 0); [| pose proof (Z.ldiff_le _ _ Y D); lia].
  apply Z.bits_inj'. intros i I. rewrite Z.ldiff_spec, Z.land_spec, Z.bits_0. destruct (Z.testbit x i), (Z.testbit y i); reflexivity.
Qed.

Lemma bits_bound z : 0 <= z -> 0 <= bits z /\ z < 2 ^ bits z.
Proof.
  intros P. unfold bits. destruct (Z.eqb_spec z 0) as [-> |]; [split; [lia | reflexivity] |].
  pose proof (Z.log2_nonneg z). pose proof (Z.log2_spec z ltac:(lia)). split; [lia |]. rewrite Z.add_1_r. lia.
Qed.

(** * Quotients *)

Lemma quot_floor z k : 0 < k -> 0 <= z -> Z.quot z k = z / k.
Proof. intros K H. apply Z.quot_div_nonneg; lia. Qed.

Lemma quot_quot a b c : Z.quot (Z.quot a b) c = Z.quot a (b * c).
Proof.
  assert (By0 : forall z, Z.quot z 0 = 0) by (intros; apply Z.quot_0_r_ext; reflexivity).
  destruct (Z.eq_dec b 0) as [-> | B]; [rewrite Z.mul_0_l, !By0; reflexivity |].
  destruct (Z.eq_dec c 0) as [-> | C]; [rewrite Z.mul_0_r, !By0; reflexivity |].
  apply Z.quot_quot; assumption.
Qed.

Lemma quot_slow p q k : 0 < k -> q <= p -> 0 <= Z.quot p k - Z.quot q k <= p - q.
Proof.
  intros K Le. split; [pose proof (Z.quot_le_mono q p k K Le); lia |].
  assert (Up : forall x y, 0 <= x -> x <= y -> y / k - x / k <= y - x).
  { intros x y P L. pose proof (Z.div_mod x k ltac:(lia)). pose proof (Z.mod_pos_bound x k K).
    pose proof (Z.div_mod y k ltac:(lia)). pose proof (Z.mod_pos_bound y k K). pose proof (Z.div_le_mono x y k K L). nia. }
  assert (Neg : forall x, x < 0 -> Z.quot x k = - (- x / k)).
  { intros x N. replace x with (- - x) at 1 by lia. rewrite Z.quot_opp_l by lia. rewrite quot_floor by lia. reflexivity. }
  destruct (Z.le_gt_cases 0 q); [rewrite !quot_floor by lia; apply Up; lia |].
  rewrite (Neg q) by lia. destruct (Z.le_gt_cases 0 p).
  - rewrite quot_floor by lia. pose proof (Up 0 p ltac:(lia) ltac:(lia)). pose proof (Up 0 (- q) ltac:(lia) ltac:(lia)).
    rewrite Z.div_0_l in * by lia. lia.
  - rewrite (Neg p) by lia. pose proof (Up (- p) (- q) ltac:(lia) ltac:(lia)). lia.
Qed.

Lemma quot_farther p q k l h : 0 < k -> l <= p - q <= h -> Z.min 0 l <= Z.quot p k - Z.quot q k <= Z.max 0 h.
Proof.
  intros K B. destruct (Z.le_gt_cases q p); [pose proof (quot_slow p q k K ltac:(lia)) | pose proof (quot_slow q p k K ltac:(lia))]; lia.
Qed.

Lemma floor_near p q k l h : 0 < k -> l <= p - q <= h -> l / k <= p / k - q / k <= - (- h / k).
Proof.
  intros K B. pose proof (Z.div_mod p k ltac:(lia)). pose proof (Z.mod_pos_bound p k K).
  pose proof (Z.div_mod q k ltac:(lia)). pose proof (Z.mod_pos_bound q k K).
  pose proof (Z.div_mod l k ltac:(lia)). pose proof (Z.mod_pos_bound l k K).
  pose proof (Z.div_mod (- h) k ltac:(lia)). pose proof (Z.mod_pos_bound (- h) k K). nia.
Qed.

Lemma quot_signed p k : 0 < k -> Z.quot p k = if p <? 0 then - (- p / k) else p / k.
Proof.
  intros K. destruct (Z.ltb_spec p 0); [| apply Z.quot_div_nonneg; lia].
  rewrite <- Z.quot_div_nonneg by lia. rewrite Z.quot_opp_l by lia. lia.
Qed.

Lemma quot_up p q k h : 0 < k -> q <= p -> p - q <= h -> 0 <= Z.quot p k - Z.quot q k <= - (- h / k).
Proof.
  intros K O B. rewrite !quot_signed by exact K. pose proof (Z.div_0_l k ltac:(lia)) as Z0.
  destruct (Z.ltb_spec p 0), (Z.ltb_spec q 0); try lia.
  - pose proof (floor_near (- q) (- p) k 0 h K ltac:(lia)). lia.
  - pose proof (Z.div_pos p k ltac:(lia) K). pose proof (Z.div_pos (- q) k ltac:(lia) K).
    pose proof (Z.mul_div_le p k K). pose proof (Z.mul_div_le (- q) k K). pose proof (Z.mul_div_le (- h) k K). nia.
  - pose proof (floor_near p q k 0 h K ltac:(lia)). lia.
Qed.

Lemma quot_near p q k l h : 0 < k -> l <= p - q <= h -> Z.min 0 (l / k) <= Z.quot p k - Z.quot q k <= Z.max 0 (- (- h / k)).
Proof.
  intros K B. destruct (Z.le_gt_cases q p).
  - pose proof (quot_up p q k h K ltac:(lia) ltac:(lia)). lia.
  - pose proof (quot_up q p k (- l) K ltac:(lia) ltac:(lia)) as H'. rewrite Z.opp_involutive in H'. lia.
Qed.
