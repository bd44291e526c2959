(** What MemReads and Conflicts are at most: monotone in T, one for a uniform index, and Theorems 4 and 5, repaired. *)

From Coq Require Import ZArith QArith List String Bool Lia Permutation.
From Warpbound Require Import Syntax Metrics Lockstep Logic.
Import ListNotations.
Open Scope Z_scope.

Lemma count_incl {A} (l l' : list A) : NoDup l -> incl l l' -> count l <= count l'.
Proof. intros N I. unfold count. pose proof (NoDup_incl_length N I). lia. Qed.

Lemma in_range z from n : In z (range from n) <-> from <= z < from + Z.of_nat n.
Proof.
  unfold range. rewrite in_map_iff. split.
  - intros (k & <- & I). apply in_seq in I. lia.
  - intros H. exists (Z.to_nat (z - from)). split; [lia | apply in_seq; lia].
Qed.

Lemma in_blocks width unit a k : In k (blocks width unit a) <-> a / unit <= k <= (a + width - 1) / unit.
Proof. unfold blocks. rewrite in_range. lia. Qed.

Lemma in_touched width unit l k :
  In k (touched width unit l) <-> exists a, In a l /\ a / unit <= k <= (a + width - 1) / unit.
Proof.
  unfold touched. rewrite nodup_In, in_flat_map. split; intros (a & I & H); exists a; split; auto; apply in_blocks; auto.
Qed.

Lemma touched_once width unit l : NoDup (touched width unit l).
Proof. apply NoDup_nodup. Qed.

Lemma touched_incl width unit l l' : incl l l' -> incl (touched width unit l) (touched width unit l').
Proof. intros I k H. apply in_touched in H as (a & J & H). apply in_touched. eauto. Qed.

Lemma largest_cons z l : largest (z :: l) = Z.max z (largest l).
Proof. reflexivity. Qed.

Lemma largest_nonneg l : 0 <= largest l.
Proof. induction l as [| z l IH]; [reflexivity | rewrite largest_cons; lia]. Qed.

Lemma largest_least l n : 0 <= n -> (forall z, In z l -> z <= n) -> largest l <= n.
Proof.
  intros N. induction l as [| z l IH]; intros H; [exact N |]. rewrite largest_cons.
  assert (z <= n) by (apply H; left; reflexivity). assert (largest l <= n) by (apply IH; intros y I; apply H; right; exact I). lia.
Qed.

Lemma largest_in l z : In z l -> z <= largest l.
Proof.
  induction l as [| y l IH]; [contradiction |]. intros [-> | I]; rewrite largest_cons; [lia |]. specialize (IH I). lia.
Qed.

(** * More threads, no smaller counts *)

Theorem mem_reads_mono h width l l' : incl l l' -> mem_reads h width l <= mem_reads h width l'.
Proof. intros I. apply count_incl; [apply touched_once | apply touched_incl, I]. Qed.

Theorem bank_conflicts_mono h width l l' : incl l l' -> bank_conflicts h width l <= bank_conflicts h width l'.
Proof.
  intros I. unfold bank_conflicts. apply largest_least; [apply largest_nonneg |]. intros z J.
  apply in_map_iff in J as (b & <- & J).
  eapply Z.le_trans; [| apply largest_in, in_map_iff; exists b; split; [reflexivity | exact J]].
  apply count_incl; [apply NoDup_filter, touched_once |]. intros k K. apply filter_In in K as [K E]. apply filter_In.
  split; [| exact E]. exact (touched_incl _ _ _ _ I k K).
Qed.

(** MemReads or Conflicts, by the space of an array *)
Definition units (M : machine) (A : string) : hardware -> Z -> list Z -> Z :=
  match in_space (arrays M A) with Global => mem_reads | Shared => bank_conflicts end.

Definition addresses (M : machine) (sigma : store) (T : list thread) (A : string) (i : expr) : list Z :=
  map (fun t => address M A (as_int (eval M sigma i t))) T.

Definition of_warp (M : machine) (T : list thread) (w : Z) : list thread :=
  filter (fun t => Z.eqb (warp_of M t) w) T.

(** A bound on every warp's count is a bound. *)
Lemma accesses_least M sigma T A i n :
  0 <= n ->
  (forall w, units M A (hw M) (width (arrays M A)) (addresses M sigma (of_warp M T w) A i) <= n) ->
  accesses M sigma T A i <= n.
Proof.
  intros N H. unfold accesses. apply largest_least; [exact N |]. intros z I. apply in_map_iff in I as (w & <- & _). apply H.
Qed.

Lemma units_mono M A l l' : incl l l' -> units M A (hw M) (width (arrays M A)) l <= units M A (hw M) (width (arrays M A)) l'.
Proof. intros I. unfold units. destruct (in_space (arrays M A)); [apply mem_reads_mono | apply bank_conflicts_mono]; exact I. Qed.

Lemma units_nil M A : units M A (hw M) (width (arrays M A)) [] = 0.
Proof.
  unfold units. destruct (in_space (arrays M A)); [reflexivity |]. unfold bank_conflicts, touched. cbn.
  induction (range 0 (Z.to_nat (banks (hw M)))) as [| b l IH]; [reflexivity |]. cbn [map]. rewrite largest_cons, IH. reflexivity.
Qed.

(** The whole warp is the worst case. *)
Theorem accesses_mono M sigma T T' A i : incl T T' -> accesses M sigma T A i <= accesses M sigma T' A i.
Proof.
  intros I. apply accesses_least; [apply largest_nonneg |]. intros w.
  destruct (of_warp M T w) as [| t l] eqn:E; [rewrite units_nil; apply largest_nonneg |].
  eapply Z.le_trans; [| apply largest_in, in_map_iff; exists w; split; [reflexivity |]].
  - rewrite <- E. apply units_mono. intros a H. apply in_map_iff in H as (u & <- & H). apply in_map_iff. exists u.
    split; [reflexivity |]. apply filter_In in H as [H W]. apply filter_In. auto.
  - apply nodup_In, in_map_iff. exists t. assert (In t (of_warp M T w)) as H by (rewrite E; left; reflexivity).
    apply filter_In in H as [H W]. apply Z.eqb_eq in W. auto.
Qed.

(** * A uniform index *)

Lemma touched_one width unit l a :
  (forall b, In b l -> b = a) -> a / unit = (a + width - 1) / unit -> count (touched width unit l) <= 1.
Proof.
  intros H W. apply (count_incl _ [a / unit]); [apply touched_once |]. intros k K.
  apply in_touched in K as (b & I & K). apply H in I as ->. left. lia.
Qed.

Lemma count_filter {A} f (l : list A) : count (filter f l) <= count l.
Proof. unfold count. induction l as [| a l IH]; cbn; [lia |]. destruct (f a); cbn; lia. Qed.

(** No element of an array crosses the end of a sector, or of a word. *)
Definition uncut (M : machine) (A : string) : Prop :=
  let unit := match in_space (arrays M A) with Global => sector (hw M) | Shared => word (hw M) end in
  forall j, address M A j / unit = (address M A j + width (arrays M A) - 1) / unit.

Theorem uniform_access M U P X A i : uniform M U P X i -> uncut M A -> at_most M U P X A i 1.
Proof.
  intros Un W sigma T Sat. apply accesses_least; [lia |]. intros w.
  destruct (of_warp M T w) as [| t l] eqn:E; [rewrite units_nil; lia |]. rewrite <- E.
  assert (In t T) as It.
  { assert (In t (of_warp M T w)) as H by (rewrite E; left; reflexivity). apply filter_In in H. tauto. }
  assert (H : forall b, In b (addresses M sigma (of_warp M T w) A i) -> b = address M A (as_int (eval M sigma i t))).
  { intros b I. apply in_map_iff in I as (u & <- & I). apply filter_In in I as [I _]. rewrite (Un sigma T u t); auto. }
  unfold units. unfold uncut in W. destruct (in_space (arrays M A)).
  - eapply touched_one; [exact H | apply W].
  - apply largest_least; [lia |]. intros z I. apply in_map_iff in I as (b & <- & _).
    eapply Z.le_trans; [apply count_filter |]. eapply touched_one; [exact H | apply W].
Qed.

(** * Theorem 4, repaired *)

Lemma count_range from n : count (range from n) = Z.of_nat n.
Proof. unfold count, range. rewrite map_length, seq_length. reflexivity. Qed.

(** Addresses between lo and hi touch at most the sectors from lo's first byte to hi's last. *)
Theorem mem_reads_in_range h width l lo hi :
  0 < sector h -> 1 <= width -> lo <= hi -> (forall a, In a l -> lo <= a <= hi) ->
  mem_reads h width l <= (hi + width - 1) / sector h - lo / sector h + 1.
Proof.
  intros S W L H. pose proof (Z.div_le_mono lo (hi + width - 1) (sector h) S ltac:(lia)).
  eapply Z.le_trans.
  - apply (count_incl _ (range (lo / sector h) (Z.to_nat ((hi + width - 1) / sector h - lo / sector h + 1)))); [apply touched_once |].
    intros k K. apply in_touched in K as (a & I & K). specialize (H a I). apply in_range.
    pose proof (Z.div_le_mono lo a (sector h) S ltac:(lia)).
    pose proof (Z.div_le_mono (a + width - 1) (hi + width - 1) (sector h) S ltac:(lia)). lia.
  - rewrite count_range. lia.
Qed.

(** No more sectors than threads, where no element crosses one. *)
Theorem mem_reads_by_lanes h width l :
  (forall a, In a l -> a / sector h = (a + width - 1) / sector h) -> mem_reads h width l <= count l.
Proof.
  intros H. unfold mem_reads. eapply Z.le_trans.
  - apply (count_incl _ (map (fun a => a / sector h) l)); [apply touched_once |]. intros k K.
    apply in_touched in K as (a & I & K). apply in_map_iff. exists a. split; [| exact I]. specialize (H a I). lia.
  - unfold count. rewrite map_length. lia.
Qed.

(** 4-byte elements, m a sector, stride k of either sign, L lanes from t on: at most ceil(|k| (L - 1) / m) + 1 sectors. *)
Theorem theorem_4_repaired h m k c t L :
  sector h = 4 * m -> 0 < m -> 0 < L ->
  mem_reads h 4 (map (fun l => 4 * (k * l + c)) (range t (Z.to_nat L))) <= (Z.abs k * (L - 1) + m - 1) / m + 1.
Proof.
  intros S Hm HL.
  set (lo := Z.min (k * t + c) (k * (t + L - 1) + c)). set (d := Z.abs k * (L - 1)).
  assert (D : 0 <= d) by (unfold d; nia).
  assert (R : forall a, In a (map (fun l => 4 * (k * l + c)) (range t (Z.to_nat L))) -> 4 * lo <= a <= 4 * (lo + d)).
  { intros a I. apply in_map_iff in I as (l & <- & I). apply in_range in I. unfold lo, d.
    destruct (Z.le_gt_cases 0 k).
    - rewrite Z.abs_eq by lia. assert (k * t <= k * l <= k * (t + L - 1)) by nia. nia.
    - rewrite Z.abs_neq by lia. assert (k * (t + L - 1) <= k * l <= k * t) by nia. nia. }
  eapply Z.le_trans; [apply (mem_reads_in_range h 4 _ (4 * lo) (4 * (lo + d))); auto; lia |].
  rewrite S. replace (4 * (lo + d) + 4 - 1) with (3 + (lo + d) * 4) by lia.
  rewrite <- !Z.div_div by lia. rewrite Z.div_add by lia. replace (4 * lo) with (lo * 4) by lia. rewrite Z.div_mul by lia.
  change (3 / 4) with 0. rewrite Z.add_0_l.
  assert ((lo + d) / m <= lo / m + (d + m - 1) / m); [| lia].
  pose proof (Z.div_mod lo m ltac:(lia)). pose proof (Z.mod_pos_bound lo m Hm).
  pose proof (Z.div_mod (d + m - 1) m ltac:(lia)). pose proof (Z.mod_pos_bound (d + m - 1) m Hm).
  apply Z.lt_succ_r. apply Z.div_lt_upper_bound; [lia |]. nia.
Qed.

(** * Theorem 5, repaired *)

Lemma NoDup_map_on {A B} (f : A -> B) (l : list A) :
  (forall a b, In a l -> In b l -> f a = f b -> a = b) -> NoDup l -> NoDup (map f l).
Proof.
  intros I N. induction N as [| a l NI N IH]; cbn; constructor.
  - intros H. apply in_map_iff in H as (b & E & J). assert (b = a) by (apply I; cbn; auto). subst. auto.
  - apply IH. intros x y J K. apply I; cbn; auto.
Qed.

Lemma range_once from n : NoDup (range from n).
Proof. apply NoDup_map_on; [intros a b _ _; lia | apply seq_NoDup]. Qed.

(** Of L numbers in a row, at most ceil(L / p) are equal modulo p. *)
Lemma same_residue t L p f :
  0 < p -> 0 <= L ->
  (forall l l', In l (range t (Z.to_nat L)) -> In l' (range t (Z.to_nat L)) -> f l = true -> f l' = true -> (p | l - l')) ->
  count (filter f (range t (Z.to_nat L))) <= (L + p - 1) / p.
Proof.
  intros P HL F. set (ls := filter f (range t (Z.to_nat L))).
  assert (E : count ls = count (map (fun l => (l - t) / p) ls)) by (unfold count; rewrite map_length; reflexivity).
  assert (D : 0 <= (L + p - 1) / p) by (apply Z.div_pos; lia).
  rewrite E. eapply Z.le_trans.
  - apply (count_incl _ (range 0 (Z.to_nat ((L + p - 1) / p)))).
    + apply NoDup_map_on; [| apply NoDup_filter, range_once]. intros a b Ia Ib Q.
      apply filter_In in Ia as [Ia Fa]. apply filter_In in Ib as [Ib Fb].
      destruct (F a b Ia Ib Fa Fb) as [q Hq].
      pose proof (Z.div_mod (a - t) p ltac:(lia)). pose proof (Z.mod_pos_bound (a - t) p P).
      pose proof (Z.div_mod (b - t) p ltac:(lia)). pose proof (Z.mod_pos_bound (b - t) p P).
      rewrite Q in *. assert (q = 0) by nia. nia.
    + intros z I. apply in_map_iff in I as (l & <- & I). apply filter_In in I as [I _]. apply in_range in I. apply in_range.
      rewrite Z2Nat.id in * by lia. split; [apply Z.div_pos; lia |].
      apply Z.div_lt_upper_bound; [lia |]. pose proof (Z.div_mod (L + p - 1) p ltac:(lia)).
      pose proof (Z.mod_pos_bound (L + p - 1) p P). nia.
  - rewrite count_range. lia.
Qed.

(** 4-byte elements, one a word, index k * lane + c for L lanes from t on: at most ceil(L / (B / gcd(k, B))). *)
Theorem theorem_5_repaired h k c t L :
  word h = 4 -> 0 < banks h -> 0 <= L ->
  let p := banks h / Z.gcd k (banks h) in
  bank_conflicts h 4 (map (fun l => 4 * (k * l + c)) (range t (Z.to_nat L))) <= (L + p - 1) / p.
Proof.
  intros W B HL p. set (g := Z.gcd k (banks h)).
  assert (G : 0 < g).
  { assert (0 <= g) by apply Z.gcd_nonneg. assert (g <> 0); [| lia]. intros E. apply Z.gcd_eq_0_r in E. lia. }
  destruct (Z.gcd_divide_r k (banks h)) as [q Hq]. fold g in Hq.
  assert (Ep : p = q) by (unfold p; fold g; rewrite Hq; apply Z.div_mul; lia).
  destruct (Z.gcd_divide_l k (banks h)) as [r Hr]. fold g in Hr.
  assert (Pp : 0 < p) by (rewrite Ep; nia).
  assert (Co : Z.gcd r q = 1).
  { assert (Z.gcd k (banks h) = g * Z.gcd r q) as E.
    { rewrite Hr, Hq at 1. rewrite (Z.mul_comm r g), (Z.mul_comm q g), Z.gcd_mul_mono_l, Z.abs_eq by lia. reflexivity. }
    fold g in E. nia. }
  unfold bank_conflicts. rewrite W. apply largest_least; [apply Z.div_pos; lia |]. intros z I.
  apply in_map_iff in I as (b & <- & _).
  set (f := fun l => (k * l + c) mod banks h =? b).
  eapply Z.le_trans; [| apply (same_residue t L p f Pp HL)].
  - eapply Z.le_trans; [apply (count_incl _ (map (fun l => k * l + c) (filter f (range t (Z.to_nat L)))))|].
    + apply NoDup_filter, touched_once.
    + intros w Iw. apply filter_In in Iw as [Iw Eb]. apply in_touched in Iw as (a & Ia & Iw).
      apply in_map_iff in Ia as (l & <- & Il).
      assert (w = k * l + c) as ->.
      { replace (4 * (k * l + c) + 4 - 1) with (3 + (k * l + c) * 4) in Iw by lia.
        rewrite Z.div_add in Iw by lia. replace (4 * (k * l + c)) with ((k * l + c) * 4) in Iw by lia.
        rewrite Z.div_mul in Iw by lia. change (3 / 4) with 0 in Iw. lia. }
      apply in_map_iff. exists l. split; [reflexivity |]. apply filter_In. split; [exact Il | exact Eb].
    + unfold count. rewrite map_length. lia.
  - intros l l' _ _ E E'. unfold f in *. apply Z.eqb_eq in E, E'. rewrite Ep.
    assert (Dv : (banks h | k * (l - l'))).
    { apply Z.mod_divide; [lia |]. replace (k * (l - l')) with ((k * l + c) - (k * l' + c)) by lia.
      rewrite Zminus_mod, E, E', Z.sub_diag. apply Z.mod_0_l. lia. }
    apply (Z.gauss q r (l - l')).
    + destruct Dv as [v Hv]. exists v. apply (Z.mul_reg_l _ _ g); [lia |]. rewrite Hr, Hq in Hv.
      transitivity (r * g * (l - l')); [ring |]. rewrite Hv. ring.
    + rewrite Z.gcd_comm. exact Co.
Qed.
