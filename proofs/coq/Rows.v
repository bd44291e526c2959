(** The counts of checker/oracles/counts.py, each an upper bound of MemReads or Conflicts on byte addresses.

    An index is known at each lane as a sum over unknowns that all lanes share, and a constant of the lane. Lanes whose
    sums have the same terms are a row. Of an unknown, only what it moves a row by counts, modulo a sector, or modulo a
    word and all banks of it; so does the base of the array, which is aligned. *)

From Coq Require Import ZArith Znumtheory List Bool Lia.
From Warpbound Require Import Syntax Metrics Lockstep Logic Counts.
Import ListNotations.
Open Scope Z_scope.

(** * Statements *)

(** MemReads of global memory, Conflicts of shared memory, and the block of bytes that they count *)
Definition measure (s : space) : hardware -> Z -> list Z -> Z :=
  match s with Global => mem_reads | Shared => bank_conflicts end.

Definition unit_of (s : space) (h : hardware) : Z := match s with Global => sector h | Shared => word h end.

(** Moving all accesses of a row by this leaves every sector, and every bank, as full as before. *)
Definition period (s : space) (h : hardware) : Z := match s with Global => sector h | Shared => banks h * word h end.

Definition real (h : hardware) : Prop := 0 < sector h /\ 0 < banks h /\ 0 < word h.

(** Where element i is, from the base of its array on *)
Definition place (a : array) (i : Z) : Z := stride a * i + offset a.

(** Distinct words of one bank *)
Definition in_bank (h : hardware) (width : Z) (l : list Z) (b : Z) : Z :=
  count (filter (fun w => w mod banks h =? b) (touched width (word h) l)).

Definition total (l : list Z) : Z := fold_right Z.add 0 l.

(** Rows that are taken to share nothing: their sectors add up, and their words in each bank. *)
Definition together (s : space) (h : hardware) (width : Z) (rows : list (list Z)) : Z :=
  match s with
  | Global => total (map (mem_reads h width) rows)
  | Shared => largest (map (fun b => total (map (fun l => in_bank h width l b) rows)) (range 0 (Z.to_nat (banks h))))
  end.

(** The unknowns have numbers; the value of one is that of a product of atoms. *)
Record row := Row { terms : list (nat * Z); consts : list Z }.

Definition sum_of (V : nat -> Z) (ts : list (nat * Z)) : Z := fold_right (fun t z => snd t * V (fst t) + z) 0 ts.

Definition indices (V : nat -> Z) (r : row) : list Z := map (fun c => sum_of V (terms r) + c) (consts r).

(** All ways to choose a value for each unknown *)
Fixpoint choices (values : list (nat * list Z)) : list (nat -> Z) :=
  match values with
  | [] => [fun _ => 0]
  | (m, vs) :: more =>
      flat_map (fun f => map (fun v => fun n => if Nat.eqb n m then v else f n) vs) (choices more)
  end.

(** [_known_lanes]: the worst choice *)
Definition known_lanes (s : space) (h : hardware) (a : array) (rows : list row) (values : list (nat * list Z)) : Z :=
  largest (map (fun V => together s h (width a) (map (fun r => map (place a) (indices V r)) rows)) (choices values)).

(** [span_count]: all elements of index c .. c + n, for the worst c; [one_access] is n = 0 *)
Definition span_count (s : space) (h : hardware) (a : array) (n : nat) : Z :=
  largest (map (fun c => measure s h (width a) (map (place a) (range c (S n))))
             (range 0 (Z.to_nat (unit_of s h / Z.gcd (unit_of s h) (stride a))))).

(** [_by_class]: each row moves by itself, by a multiple of k banks; of each, the worst bank of a class counts. *)
Definition by_class (h : hardware) (a : array) (rows : list row) (k : Z) : Z :=
  let worst r c :=
    largest (map (in_bank h (width a) (map (place a) (consts r))) (filter (fun b => b mod k =? c) (range 0 (Z.to_nat (banks h))))) in
  largest (map (fun c => total (map (fun r => worst r c) rows)) (range 0 (Z.to_nat k))).

(** * Moving accesses *)

Definition shifted (d : Z) (l : list Z) : list Z := map (Z.add d) l.

Lemma shifted_back d l : shifted (- d) (shifted d l) = l.
Proof. unfold shifted. rewrite map_map. rewrite <- (map_id l) at 2. apply map_ext. intros. lia. Qed.

Lemma in_touched_shifted width unit q l k :
  0 < unit -> In k (touched width unit (shifted (unit * q) l)) -> In (k - q) (touched width unit l).
Proof.
  intros U H. apply in_touched in H as (a & I & H). apply in_map_iff in I as (b & <- & I). apply in_touched. exists b.
  split; [exact I |]. replace (unit * q + b) with (b + q * unit) in H by lia.
  replace (b + q * unit + width - 1) with (b + width - 1 + q * unit) in H by lia. rewrite !Z.div_add in H by lia. lia.
Qed.

Lemma count_inject f (l l' : list Z) :
  (forall a b, f a = f b -> a = b) -> NoDup l -> (forall a, In a l -> In (f a) l') -> count l <= count l'.
Proof.
  intros F N H. replace (count l) with (count (map f l)) by (unfold count; rewrite map_length; reflexivity).
  apply count_incl; [apply NoDup_map_on; auto |]. intros b I. apply in_map_iff in I as (a & <- & I). auto.
Qed.

Lemma in_bank_shifted h width q l b :
  0 < banks h -> 0 < word h -> 0 <= b < banks h ->
  in_bank h width (shifted (word h * q) l) b <= in_bank h width l ((b - q) mod banks h).
Proof.
  intros B W R. apply (count_inject (fun w => w - q)); [intros; lia | apply NoDup_filter, touched_once |].
  intros w I. apply filter_In in I as [I E]. apply filter_In. split; [apply in_touched_shifted; auto |].
  apply Z.eqb_eq in E. apply Z.eqb_eq. rewrite <- E, Zminus_mod_idemp_l. reflexivity.
Qed.

Lemma in_bank_largest h width l b :
  0 <= b < banks h -> in_bank h width l b <= bank_conflicts h width l.
Proof.
  intros R. apply largest_in, in_map_iff. exists b. split; [reflexivity |]. apply in_range. rewrite Z2Nat.id; lia.
Qed.

Lemma measure_le_shifted s h width q l :
  real h -> measure s h width (shifted (unit_of s h * q) l) <= measure s h width l.
Proof.
  intros (S & B & W). destruct s; cbn.
  - apply (count_inject (fun w => w - q)); [intros; lia | apply touched_once | intros w I; apply in_touched_shifted; auto].
  - apply largest_least; [apply largest_nonneg |]. intros z I. apply in_map_iff in I as (b & <- & I).
    apply in_range in I. rewrite Z2Nat.id in I by lia.
    eapply Z.le_trans; [apply (in_bank_shifted h width q l b); lia |].
    apply in_bank_largest, Z.mod_pos_bound, B.
Qed.

(** Whole sectors, or whole words, change nothing. *)
Theorem measure_shifted s h width q l :
  real h -> measure s h width (shifted (unit_of s h * q) l) = measure s h width l.
Proof.
  intros R. apply Z.le_antisymm; [apply measure_le_shifted, R |].
  rewrite <- (shifted_back (unit_of s h * q) l) at 1. rewrite <- Z.mul_opp_r. apply measure_le_shifted, R.
Qed.

(** A whole round of the banks leaves each bank as it was. *)
Lemma in_bank_period h width q l b :
  real h -> 0 <= b < banks h -> in_bank h width (shifted (banks h * word h * q) l) b = in_bank h width l b.
Proof.
  intros (S & B & W) R.
  assert (L : forall q l, in_bank h width (shifted (banks h * word h * q) l) b <= in_bank h width l b).
  { intros p m. replace (banks h * word h * p) with (word h * (p * banks h)) by ring.
    eapply Z.le_trans; [apply in_bank_shifted; lia |]. replace (b - p * banks h) with (b + (- p) * banks h) by ring.
    rewrite Z.mod_add, Z.mod_small by lia. lia. }
  apply Z.le_antisymm; [apply L |]. rewrite <- (shifted_back (banks h * word h * q) l) at 1.
  rewrite <- Z.mul_opp_r. apply L.
Qed.

(** * Rows *)

Lemma in_touched_app width unit l l' k :
  In k (touched width unit (l ++ l')) -> In k (touched width unit l) \/ In k (touched width unit l').
Proof.
  intros H. apply in_touched in H as (a & I & H). apply in_app_iff in I as [I | I]; [left | right]; apply in_touched; eauto.
Qed.

Lemma count_app {A} (l l' : list A) : count (l ++ l') = count l + count l'.
Proof. unfold count. rewrite app_length. lia. Qed.

Lemma mem_reads_app h width l l' : mem_reads h width (l ++ l') <= mem_reads h width l + mem_reads h width l'.
Proof.
  unfold mem_reads. rewrite <- count_app. apply count_incl; [apply touched_once |]. intros k I.
  apply in_app_iff, in_touched_app, I.
Qed.

Lemma in_bank_app h width l l' b : in_bank h width (l ++ l') b <= in_bank h width l b + in_bank h width l' b.
Proof.
  unfold in_bank. rewrite <- count_app. apply count_incl; [apply NoDup_filter, touched_once |]. intros k I.
  apply filter_In in I as [I E]. apply in_touched_app in I as [I | I]; apply in_app_iff; [left | right]; apply filter_In; auto.
Qed.

Lemma in_bank_nil h width b : in_bank h width [] b = 0.
Proof. reflexivity. Qed.

Theorem measure_app s h width l l' : measure s h width (l ++ l') <= measure s h width l + measure s h width l'.
Proof.
  destruct s; [apply mem_reads_app |]. cbn.
  apply largest_least; [pose proof (largest_nonneg); unfold bank_conflicts; apply Z.add_nonneg_nonneg; apply largest_nonneg |].
  intros z I. apply in_map_iff in I as (b & <- & I). apply in_range in I.
  change (in_bank h width (l ++ l') b <= bank_conflicts h width l + bank_conflicts h width l').
  assert (0 <= b < banks h) as Hb by lia. pose proof (in_bank_app h width l l' b).
  pose proof (in_bank_largest h width l b Hb). pose proof (in_bank_largest h width l' b Hb). lia.
Qed.

Theorem rows_apart s h width rows : measure s h width (concat rows) <= together s h width rows.
Proof.
  destruct s; cbn.
  - induction rows as [| l rows IH]; [discriminate |]. cbn in IH |- *. unfold total in *.
    pose proof (mem_reads_app h width l (concat rows)). lia.
  - apply largest_least; [apply largest_nonneg |]. intros z I. apply in_map_iff in I as (b & <- & I).
    apply (Z.le_trans _ (total (map (fun l => in_bank h width l b) rows))).
    + clear I. change (in_bank h width (concat rows) b <= total (map (fun l => in_bank h width l b) rows)).
      induction rows as [| l rows IH]; [discriminate |]. cbn [concat map total fold_right].
      pose proof (in_bank_app h width l (concat rows) b). unfold total in IH. lia.
    + apply largest_in, in_map_iff. exists b. auto.
Qed.

(** The same rows, each moved by whole periods *)
Lemma together_moved s h width rows rows' :
  real h -> Forall2 (fun l l' => exists q, l = shifted (period s h * q) l') rows rows' ->
  together s h width rows = together s h width rows'.
Proof.
  intros R F. destruct s; cbn in *.
  - f_equal. induction F as [| l l' rows rows' (q & ->) F IH]; [reflexivity |]. cbn. f_equal; [| exact IH].
    exact (measure_shifted Global h width q l' R).
  - f_equal. apply map_ext_in. intros b I. apply in_range in I. f_equal.
    induction F as [| l l' rows rows' (q & ->) F IH]; [reflexivity |]. cbn. f_equal; [| exact IH].
    apply in_bank_period; [exact R |]. destruct R as (_ & B & _). lia.
Qed.

(** * Unknowns *)

Definition in_row (a : array) (V : nat -> Z) (r : row) : list Z := map (place a) (indices V r).

Lemma in_row_moved a V V' r :
  in_row a V r = shifted (stride a * (sum_of V (terms r) - sum_of V' (terms r))) (in_row a V' r).
Proof. unfold in_row, indices, shifted, place. rewrite !map_map. apply map_ext. intros c. ring. Qed.

Lemma sum_of_cons V m c ts : sum_of V ((m, c) :: ts) = c * V m + sum_of V ts.
Proof. reflexivity. Qed.

Lemma sum_of_zero ts : sum_of (fun _ => 0) ts = 0.
Proof. induction ts as [| [m c] ts IH]; [reflexivity |]. rewrite sum_of_cons. lia. Qed.

Lemma sum_of_moved d k V V' ts :
  (forall m c, In (m, c) ts -> (d | k * c * (V m - V' m))) -> (d | k * (sum_of V ts - sum_of V' ts)).
Proof.
  induction ts as [| [m c] ts IH]; intros H; [cbn; rewrite Z.mul_0_r; apply Z.divide_0_r |].
  rewrite !sum_of_cons.
  replace (k * (c * V m + sum_of V ts - (c * V' m + sum_of V' ts)))
    with (k * c * (V m - V' m) + k * (sum_of V ts - sum_of V' ts)) by ring.
  apply Z.divide_add_r; [apply H; left; reflexivity | apply IH; intros; apply H; right; assumption].
Qed.

Lemma chosen (V : nat -> Z) (values : list (nat * list Z)) (ok : nat -> Z -> Z -> Prop) :
  (forall m vs, In (m, vs) values -> exists v, In v vs /\ ok m (V m) v) ->
  exists V', In V' (choices values) /\ forall m, In m (map fst values) -> ok m (V m) (V' m).
Proof.
  induction values as [| [m vs] values IH]; intros H.
  - exists (fun _ => 0). split; [left; reflexivity | intros m []].
  - destruct IH as (f & F & G); [intros; apply H; right; assumption |].
    destruct (H m vs (or_introl eq_refl)) as (v & I & Ok).
    exists (fun n => if Nat.eqb n m then v else f n). split.
    + cbn. apply in_flat_map. exists f. split; [exact F |]. apply in_map_iff. exists v. auto.
    + intros n J. destruct (Nat.eqb_spec n m) as [-> | E]; [exact Ok |]. apply G. destruct J as [J | J]; [cbn in J; congruence | exact J].
Qed.

Lemma map_concat {A B} (f : A -> B) ls : map f (concat ls) = concat (map (map f) ls).
Proof. induction ls as [| l ls IH]; [reflexivity |]. cbn. rewrite map_app, IH. reflexivity. Qed.

(** An aligned base changes nothing. *)
Lemma based s h a b l :
  real h -> (unit_of s h | b) ->
  measure s h (width a) (map (fun i => b + place a i) l) = measure s h (width a) (map (place a) l).
Proof.
  intros R [q ->]. rewrite (Z.mul_comm q). rewrite <- (measure_shifted s h (width a) q (map (place a) l) R).
  unfold shifted. rewrite map_map. reflexivity.
Qed.

(** [_known_lanes]: enough that each unknown has, among the values that are tried, one that moves every row by whole
    periods less or more. *)
Theorem by_residues s h a b V rows values :
  real h -> (unit_of s h | b) ->
  (forall r m c, In r rows -> In (m, c) (terms r) -> In m (map fst values)) ->
  (forall m vs, In (m, vs) values -> exists v, In v vs /\
     forall r c, In r rows -> In (m, c) (terms r) -> (period s h | stride a * c * (V m - v))) ->
  measure s h (width a) (map (fun i => b + place a i) (concat (map (indices V) rows))) <= known_lanes s h a rows values.
Proof.
  intros R Al All H. rewrite based by assumption.
  destruct (chosen V values (fun m x v => forall r c, In r rows -> In (m, c) (terms r) -> (period s h | stride a * c * (x - v))) H)
    as (V' & I & Ok).
  rewrite map_concat, map_map. eapply Z.le_trans; [apply rows_apart |].
  rewrite (together_moved s h (width a) _ (map (in_row a V') rows) R).
  - apply largest_in, in_map_iff. exists V'. auto.
  - clear I H. assert (K : forall r, In r rows -> exists q, in_row a V r = shifted (period s h * q) (in_row a V' r)).
    { intros r J. destruct (sum_of_moved (period s h) (stride a) V V' (terms r)) as [q Q].
      - intros m c T. apply (Ok m (All r m c J T) r c J T).
      - exists q. rewrite (in_row_moved a V V' r), Q. f_equal. ring. }
    clear All Ok. induction rows as [| r rows IH]; constructor.
    + apply K. left. reflexivity.
    + apply IH. intros. apply K. right. assumption.
Qed.

(** Such a value: among the first [period / gcd(period, stride * c)] numbers, c a divisor of the unknown's factors. *)
Theorem residue_tried p k c x :
  0 < p -> let size := p / Z.gcd p (k * c) in
  In (x mod size) (range 0 (Z.to_nat size)) /\ forall d, (c | d) -> (p | k * d * (x - x mod size)).
Proof.
  intros P size.
  assert (G : 0 < Z.gcd p (k * c)).
  { pose proof (Z.gcd_nonneg p (k * c)). assert (Z.gcd p (k * c) <> 0); [| lia]. intros E. apply Z.gcd_eq_0_l in E. lia. }
  destruct (Z.gcd_divide_l p (k * c)) as [u Hu]. destruct (Z.gcd_divide_r p (k * c)) as [v Hv].
  assert (E : size = u) by (unfold size; rewrite Hu at 1; apply Z.div_mul; lia).
  assert (0 < u) by nia. rewrite E. split.
  - apply in_range. pose proof (Z.mod_pos_bound x u ltac:(lia)). rewrite Z2Nat.id; lia.
  - intros d [w ->]. pose proof (Z.div_mod x u ltac:(lia)) as D. exists (v * w * (x / u)).
    replace (x - x mod u) with (u * (x / u)) by lia.
    clear E. set (g := Z.gcd p (k * c)) in *. clearbody g.
    replace (k * (w * c) * (u * (x / u))) with (k * c * (w * u * (x / u))) by ring. rewrite Hv, Hu. ring.
Qed.

Lemma together_one s h width l : together s h width [l] = measure s h width l.
Proof.
  destruct s; cbn; [lia |]. unfold bank_conflicts. f_equal. apply map_ext. intros b. rewrite Z.add_0_r. reflexivity.
Qed.

(** For a row alone, whole words are enough. *)
Theorem one_row_by_residues s h a b V r values :
  real h -> (unit_of s h | b) ->
  (forall m c, In (m, c) (terms r) -> In m (map fst values)) ->
  (forall m vs, In (m, vs) values -> exists v, In v vs /\
     forall c, In (m, c) (terms r) -> (unit_of s h | stride a * c * (V m - v))) ->
  measure s h (width a) (map (fun i => b + place a i) (indices V r)) <= known_lanes s h a [r] values.
Proof.
  intros R Al All H. rewrite based by assumption.
  destruct (chosen V values (fun m x v => forall c, In (m, c) (terms r) -> (unit_of s h | stride a * c * (x - v))) H)
    as (V' & I & Ok).
  destruct (sum_of_moved (unit_of s h) (stride a) V V' (terms r)) as [q Q].
  - intros m c T. apply (Ok m (All m c T) c T).
  - fold (in_row a V r). rewrite (in_row_moved a V V' r), Q, (Z.mul_comm q), measure_shifted by exact R.
    rewrite <- together_one. apply largest_in, in_map_iff. exists V'. auto.
Qed.

(** One row is moved by a multiple of the greatest common divisor: few shifts are enough. *)
Theorem one_row s h a b V r d :
  real h -> (unit_of s h | b) -> (forall m c, In (m, c) (terms r) -> (d | c)) ->
  let g := Z.gcd (unit_of s h) (stride a * d) in
  measure s h (width a) (map (fun i => b + place a i) (indices V r))
  <= largest (map (fun k => measure s h (width a) (map (fun c => place a c + k * g) (consts r)))
                (range 0 (Z.to_nat (unit_of s h / g)))).
Proof.
  intros R Al D g. rewrite based by assumption. fold (in_row a V r).
  assert (U : 0 < unit_of s h) by (destruct R as (? & ? & ?); destruct s; assumption).
  assert (G : 0 < g).
  { unfold g. pose proof (Z.gcd_nonneg (unit_of s h) (stride a * d)).
    assert (Z.gcd (unit_of s h) (stride a * d) <> 0); [| lia]. intros E. apply Z.gcd_eq_0_l in E. lia. }
  destruct (Z.gcd_divide_l (unit_of s h) (stride a * d)) as [u Hu]. fold g in Hu.
  destruct (Z.gcd_divide_r (unit_of s h) (stride a * d)) as [v Hv]. fold g in Hv.
  assert (S : exists q, sum_of V (terms r) = d * q).
  { destruct (sum_of_moved d 1 V (fun _ => 0) (terms r)) as [q Q].
    - intros m c I. rewrite Z.mul_1_l. apply Z.divide_mul_l. eauto.
    - exists q. rewrite sum_of_zero in Q. lia. }
  destruct S as [q Q]. assert (E : unit_of s h / g = u) by (rewrite Hu; apply Z.div_mul; lia).
  assert (0 < u) by nia. rewrite E. set (k := (v * q) mod u).
  assert (K : stride a * sum_of V (terms r) = unit_of s h * (v * q / u) + k * g).
  { rewrite Q. replace (stride a * (d * q)) with (stride a * d * q) by ring. rewrite Hv, Hu.
    pose proof (Z.div_mod (v * q) u ltac:(lia)). unfold k. nia. }
  eapply Z.le_trans; [| apply largest_in, in_map_iff; exists k; split; [reflexivity |]].
  - rewrite <- (measure_shifted s h (width a) (v * q / u) (map (fun c => place a c + k * g) (consts r)) R).
    apply Z.eq_le_incl. f_equal. unfold in_row, indices, shifted, place. rewrite !map_map. apply map_ext. intros c. lia.
  - apply in_range. pose proof (Z.mod_pos_bound (v * q) u ltac:(lia)). unfold k. rewrite Z2Nat.id; lia.
Qed.

(** * Classes of banks *)

Theorem classes_of_banks h a b V rows k :
  real h -> (word h | b) -> 0 < k -> (k | banks h) ->
  (forall r m c, In r rows -> In (m, c) (terms r) -> (k * word h | stride a * c)) ->
  bank_conflicts h (width a) (map (fun i => b + place a i) (concat (map (indices V) rows))) <= by_class h a rows k.
Proof.
  intros R Al K Kb H. rewrite (based Shared h a b) by assumption. rewrite map_concat, map_map.
  change (measure Shared h (width a) (concat (map (in_row a V) rows)) <= by_class h a rows k).
  eapply Z.le_trans; [apply rows_apart |]. apply largest_least; [apply largest_nonneg |].
  intros z I. apply in_map_iff in I as (c & <- & I). apply in_range in I. destruct R as (S & B & W).
  rewrite Z2Nat.id in I by lia. rewrite map_map.
  eapply Z.le_trans; [| apply largest_in, in_map_iff; exists (c mod k); split; [reflexivity |]].
  - induction rows as [| r rows IH]; [reflexivity |]. cbn [map total fold_right]. apply Z.add_le_mono.
    + destruct (sum_of_moved (k * word h) (stride a) V (fun _ => 0) (terms r)) as [q Q].
      { intros m d J. apply Z.divide_mul_l. apply (H r m d); [left; reflexivity | exact J]. }
      pose proof (sum_of_zero (terms r)) as Z0.
      assert (in_row a V r = shifted (word h * (q * k)) (map (place a) (consts r))) as ->.
      { rewrite (in_row_moved a V (fun _ => 0)), Q. unfold in_row, indices. rewrite Z0.
        replace (map (fun d => 0 + d) (consts r)) with (consts r) by (symmetry; apply map_id). f_equal. ring. }
      eapply Z.le_trans; [apply in_bank_shifted; lia |]. apply largest_in, in_map_iff. exists ((c - q * k) mod banks h).
      split; [reflexivity |]. apply filter_In. pose proof (Z.mod_pos_bound (c - q * k) (banks h) B).
      split; [apply in_range; rewrite Z2Nat.id; lia |]. apply Z.eqb_eq.
      rewrite <- (Znumtheory.Zmod_div_mod k (banks h)) by assumption.
      replace (c - q * k) with (c + (- q) * k) by ring. apply Z.mod_add. lia.
    + apply IH. intros r' m d J T. apply (H r' m d); [right; exact J | exact T].
  - apply in_range. pose proof (Z.mod_pos_bound c k K). rewrite Z2Nat.id; lia.
Qed.

(** * Windows, lanes that may be anywhere, joined rows *)

Lemma measure_mono s h width l l' : incl l l' -> measure s h width l <= measure s h width l'.
Proof. intros I. destruct s; [apply mem_reads_mono | apply bank_conflicts_mono]; exact I. Qed.

(** [_window], [_joined]: more indices count for no less, so a row may take in what lies within bounds of another. *)
Theorem window s h a b l l' :
  incl l l' -> measure s h (width a) (map (fun i => b + place a i) l) <= measure s h (width a) (map (fun i => b + place a i) l').
Proof. intros I. apply measure_mono. intros z J. apply in_map_iff in J as (i & <- & J). apply in_map_iff. eauto. Qed.

(** [span_count]: any n + 1 elements in a row *)
Theorem span s h a b l c n :
  real h -> (unit_of s h | b) -> (forall i, In i l -> c <= i <= c + Z.of_nat n) ->
  measure s h (width a) (map (fun i => b + place a i) l) <= span_count s h a n.
Proof.
  intros R Al H. rewrite based by assumption.
  assert (U : 0 < unit_of s h) by (destruct R as (? & ? & ?); destruct s; assumption).
  set (size := unit_of s h / Z.gcd (unit_of s h) (stride a)).
  destruct (residue_tried (unit_of s h) (stride a) 1 c U) as [I D]. rewrite Z.mul_1_r in I, D. fold size in I, D.
  specialize (D 1 (Z.divide_refl 1)). rewrite Z.mul_1_r in D. destruct D as [q D].
  eapply Z.le_trans; [| apply largest_in, in_map_iff; exists (c mod size); split; [reflexivity | exact I]].
  rewrite <- (measure_shifted s h (width a) q (map (place a) (range (c mod size) (S n))) R). apply measure_mono.
  intros z J. apply in_map_iff in J as (i & <- & J). specialize (H i J). unfold shifted. rewrite map_map. apply in_map_iff.
  exists (c mod size + (i - c)). split; [unfold place; lia |]. apply in_range. lia.
Qed.

(** A lane that may be anywhere touches what one element can. *)
Theorem anywhere s h a b l l' n :
  real h -> (unit_of s h | b) -> measure s h (width a) (map (fun i => b + place a i) l) <= n ->
  measure s h (width a) (map (fun i => b + place a i) (l ++ l')) <= n + count l' * span_count s h a 0.
Proof.
  intros R Al H. rewrite map_app. eapply Z.le_trans; [apply measure_app |]. apply Z.add_le_mono; [exact H |].
  induction l' as [| i l' IH].
  - destruct s; cbn; [discriminate |]. apply largest_least; [discriminate |]. intros z J.
    apply in_map_iff in J as (d & <- & _). discriminate.
  - change (i :: l') with ([i] ++ l'). rewrite map_app, count_app. eapply Z.le_trans; [apply measure_app |].
    pose proof (span s h a b [i] i 0 R Al) as One. assert (forall j, In j [i] -> i <= j <= i + Z.of_nat 0) as K.
    { intros j [<- | []]. lia. }
    specialize (One K). change (count [i]) with 1. lia.
Qed.

(** * The two closed forms *)

(** A row whose constants have one distance k is that of L lanes in a row. *)
Definition steps (c k L : Z) : list Z := map (fun l => k * l + c) (range 0 (Z.to_nat L)).

Lemma words_of_any_size h w width l b :
  0 < w -> word h = w -> width = w ->
  in_bank h width (map (Z.mul w) l) b = in_bank (Hardware (sector h) (banks h) 4 (warp h)) 4 (map (Z.mul 4) l) b.
Proof.
  intros P E ->. unfold in_bank. cbn [word banks]. rewrite E.
  assert (T : forall u k, 0 < u -> In k (touched u u (map (Z.mul u) l)) <-> In k l).
  { intros u k U. rewrite in_touched. assert (D : forall i, u * i / u = i /\ (u * i + u - 1) / u = i).
    { intros i. rewrite (Z.mul_comm u i). split; [apply Z.div_mul; lia |].
      replace (i * u + u - 1) with (u - 1 + i * u) by lia. rewrite Z.div_add, Z.div_small by lia. lia. }
    split.
    - intros (a & I & K). apply in_map_iff in I as (i & <- & I). destruct (D i) as [D1 D2]. rewrite D1, D2 in K.
      replace k with i by lia. exact I.
    - intros I. exists (u * k). destruct (D k) as [D1 D2]. rewrite D1, D2. split; [apply in_map, I | lia]. }
  apply Z.le_antisymm; (apply count_incl; [apply NoDup_filter, touched_once |]); intros k I; apply filter_In in I as [I Eb];
    apply filter_In; (split; [| exact Eb]); apply T in I; try lia; apply T; auto; lia.
Qed.

(** [gcd_lemma]: Theorem 5, repaired, for elements of one word each *)
Theorem gcd_lemma h a b u c k L :
  real h -> (word h | b) -> stride a = word h -> width a = word h -> (word h | offset a) -> 0 < L ->
  let n := Z.min L (banks h / Z.gcd k (banks h)) in
  bank_conflicts h (width a) (map (fun i => b + place a i) (map (Z.add u) (steps c k L))) <= (L + n - 1) / n.
Proof.
  intros R [b' Hb] Hs Hw [o Ho] HL n. pose proof R as (S & B & W).
  set (h4 := Hardware (sector h) (banks h) 4 (warp h)). set (d := b' + o + u + c).
  assert (E : map (fun i => b + place a i) (map (Z.add u) (steps c k L))
              = map (Z.mul (word h)) (map (fun l => k * l + d) (range 0 (Z.to_nat L)))).
  { unfold steps, place. rewrite !map_map. apply map_ext. intros l. rewrite Hs, Ho, Hb. unfold d. ring. }
  rewrite E. clear E.
  assert (F : bank_conflicts h (width a) (map (Z.mul (word h)) (map (fun l => k * l + d) (range 0 (Z.to_nat L))))
              = bank_conflicts h4 4 (map (fun l => 4 * (k * l + d)) (range 0 (Z.to_nat L)))).
  { unfold bank_conflicts. cbn [banks h4]. f_equal. apply map_ext. intros z.
    etransitivity; [exact (words_of_any_size h (word h) (width a) _ z W eq_refl Hw) |]. rewrite map_map. reflexivity. }
  rewrite F. eapply Z.le_trans; [exact (theorem_5_repaired h4 k d 0 L eq_refl B ltac:(lia)) |]. cbn [banks h4].
  set (p := banks h / Z.gcd k (banks h)) in *.
  assert (P : 0 < p).
  { assert (G : 0 < Z.gcd k (banks h)).
    { pose proof (Z.gcd_nonneg k (banks h)). assert (Z.gcd k (banks h) <> 0); [| lia]. intros Z0. apply Z.gcd_eq_0_r in Z0. lia. }
    apply Z.div_str_pos. split; [exact G |]. apply Z.divide_pos_le; [exact B | apply Z.gcd_divide_r]. }
  unfold n. destruct (Z.le_gt_cases p L) as [Le | Gt]; [rewrite Z.min_r by lia; lia |].
  rewrite Z.min_l by lia. replace (L + p - 1) with (L - 1 + 1 * p) by lia. rewrite Z.div_add, Z.div_small by lia.
  replace (L + L - 1) with (L - 1 + 1 * L) by lia. rewrite Z.div_add, Z.div_small by lia. lia.
Qed.

(** [stride_lemma]: Theorem 4, repaired, for elements of which m fill a sector *)
Theorem stride_lemma h a b u c k L m :
  real h -> (sector h | b) -> 0 < stride a -> width a = stride a -> sector h = m * stride a -> (stride a | offset a) -> 0 < L ->
  mem_reads h (width a) (map (fun i => b + place a i) (map (Z.add u) (steps c k L)))
  <= Z.min L ((Z.abs k * (L - 1) + m - 1) / m + 1).
Proof.
  intros R Al Ps Hw Hm [o Ho] HL. pose proof R as (S & _). set (w := stride a) in *. assert (M : 0 < m) by nia.
  rewrite (based Global h a b) by assumption. cbn [measure]. rewrite Hw.
  assert (At : forall z, In z (map (place a) (map (Z.add u) (steps c k L))) ->
               exists l, 0 <= l < L /\ z = w * (k * l + (c + u + o))).
  { intros z I. apply in_map_iff in I as (i & <- & I). apply in_map_iff in I as (j & <- & I).
    apply in_map_iff in I as (l & <- & I). apply in_range in I. exists l. split; [lia |].
    unfold place. fold w. rewrite Ho. ring. }
  set (d := c + u + o) in *. apply Z.min_glb.
  - eapply Z.le_trans; [apply mem_reads_by_lanes |].
    + intros z I. apply At in I as (l & _ & ->). rewrite Hm, (Z.mul_comm m w). rewrite <- !Z.div_div by lia.
      rewrite (Z.mul_comm w). rewrite Z.div_mul by lia. f_equal.
      replace ((k * l + d) * w + w - 1) with (w - 1 + (k * l + d) * w) by lia. rewrite Z.div_add, Z.div_small by lia. lia.
    + unfold count, steps. rewrite !map_length. pose proof (count_range 0 (Z.to_nat L)) as C. unfold count in C. lia.
  - set (lo := Z.min d (k * (L - 1) + d)). set (e := Z.abs k * (L - 1)). assert (D : 0 <= e) by (unfold e; nia).
    eapply Z.le_trans; [apply (mem_reads_in_range h w _ (w * lo) (w * (lo + e))); [lia | lia | nia |] |].
    + intros z I. apply At in I as (l & Hl & ->). assert (lo <= k * l + d <= lo + e); [| nia].
      unfold lo, e. destruct (Z.le_gt_cases 0 k).
      * rewrite Z.abs_eq by lia. nia.
      * rewrite Z.abs_neq by lia. nia.
    + rewrite Hm, (Z.mul_comm m w). rewrite <- !Z.div_div by lia. rewrite !(Z.mul_comm w).
      replace ((lo + e) * w + w - 1) with (w - 1 + (lo + e) * w) by lia. rewrite Z.div_add, (Z.div_small (w - 1)), Z.div_mul by lia.
      rewrite Z.add_0_l. assert ((lo + e) / m <= lo / m + (e + m - 1) / m); [| lia].
      pose proof (Z.div_mod lo m ltac:(lia)). pose proof (Z.mod_pos_bound lo m M).
      pose proof (Z.div_mod (e + m - 1) m ltac:(lia)). pose proof (Z.mod_pos_bound (e + m - 1) m M).
      apply Z.lt_succ_r. apply Z.div_lt_upper_bound; [lia |]. nia.
Qed.

(** * From indices to the judgement *)

(** What a warp's indices may be, and a bound on these, bounds MemReads or Conflicts. *)
Theorem indices_bound M U P X A i n :
  0 <= n ->
  (forall sigma T w, sat M U sigma T P X -> exists l,
     (forall t, In t T -> warp_of M t = w -> In (as_int (eval M sigma i t)) l)
     /\ measure (in_space (arrays M A)) (hw M) (width (arrays M A)) (map (fun j => base M A + place (arrays M A) j) l) <= n) ->
  at_most M U P X A i n.
Proof.
  intros N H sigma T Sat. apply accesses_least; [exact N |]. intros w. destruct (H sigma T w Sat) as (l & I & L).
  eapply Z.le_trans; [| exact L].
  assert (forall l', units M A (hw M) (width (arrays M A)) l' = measure (in_space (arrays M A)) (hw M) (width (arrays M A)) l') as ->.
  { intros l'. unfold units, measure. destruct (in_space (arrays M A)); reflexivity. }
  apply measure_mono. intros z J. apply in_map_iff in J as (t & <- & J). apply filter_In in J as [J W].
  apply Z.eqb_eq in W. apply in_map_iff. exists (as_int (eval M sigma i t)). split; [unfold address, place; lia | auto].
Qed.

(** * Lemma 4: k, .., k + m - 1, m <= n, have min(m, n / gcd(a, n)) residues of a i modulo n *)

Definition residues (a n k m : Z) : list Z := nodup Z.eq_dec (map (fun i => (a * i) mod n) (range k (Z.to_nat m))).

Theorem lemma_4 a n k m : 0 < n -> 0 <= m <= n -> count (residues a n k m) = Z.min m (n / Z.gcd a n).
Proof.
  intros N Hm. set (p := n / Z.gcd a n).
  assert (G : 0 < Z.gcd a n).
  { pose proof (Z.gcd_nonneg a n). assert (Z.gcd a n <> 0); [| lia]. intros E. apply Z.gcd_eq_0_r in E. lia. }
  destruct (Z.gcd_divide_r a n) as [q Hq]. destruct (Z.gcd_divide_l a n) as [r Hr].
  assert (Ep : p = q) by (unfold p; rewrite Hq at 1; apply Z.div_mul; lia).
  assert (Pp : 0 < p) by (rewrite Ep; nia).
  assert (Co : Z.gcd r q = 1).
  { assert (Z.gcd a n = Z.gcd a n * Z.gcd r q) as E; [| nia].
    set (g := Z.gcd a n) in *. unfold g at 1. rewrite Hr, Hq.
    rewrite (Z.mul_comm r g), (Z.mul_comm q g), Z.gcd_mul_mono_l, Z.abs_eq by lia. reflexivity. }
  assert (Eq : forall i j, (a * i) mod n = (a * j) mod n <-> (p | i - j)).
  { intros i j. rewrite Ep. split.
    - intros E. assert (D : (n | a * (i - j))).
      { apply Z.mod_divide; [lia |]. replace (a * (i - j)) with (a * i - a * j) by ring.
        rewrite Zminus_mod, E, Z.sub_diag. apply Z.mod_0_l. lia. }
      apply (Z.gauss q r (i - j)); [| rewrite Z.gcd_comm; exact Co].
      destruct D as [v Hv]. exists v. apply (Z.mul_reg_l _ _ (Z.gcd a n)); [lia |].
      transitivity (r * Z.gcd a n * (i - j)); [ring |]. rewrite <- Hr. rewrite Hv, Hq at 1. ring.
    - intros [v Hv]. replace (a * i) with (a * j + (r * v) * n); [apply Z.mod_add; lia |].
      replace i with (j + v * q) by lia. rewrite Hq at 1. rewrite Hr at 1 3. ring. }
  apply Z.le_antisymm; [apply Z.min_glb |].
  - unfold residues. rewrite <- (Z2Nat.id m) at 2 by lia. rewrite <- (count_range k (Z.to_nat m)).
    eapply Z.le_trans; [apply (count_incl _ (map (fun i => (a * i) mod n) (range k (Z.to_nat m))));
                        [apply NoDup_nodup | intros z; apply nodup_In] |].
    unfold count. rewrite map_length. lia.
  - rewrite <- (Z2Nat.id p) by lia. rewrite <- (count_range k (Z.to_nat p)).
    eapply Z.le_trans; [apply (count_incl _ (map (fun i => (a * i) mod n) (range k (Z.to_nat p)))); [apply NoDup_nodup |] |].
    + intros z I. apply nodup_In in I. apply in_map_iff in I as (i & <- & I). apply in_map_iff.
      exists (k + (i - k) mod p). pose proof (Z.mod_pos_bound (i - k) p Pp). split.
      * apply Eq. exists (- ((i - k) / p)). pose proof (Z.div_mod (i - k) p ltac:(lia)). lia.
      * apply in_range. lia.
    + unfold count. rewrite map_length. lia.
  - set (l := Z.min m p). assert (L : 0 <= l) by (unfold l; lia). rewrite <- (Z2Nat.id l) by lia.
    rewrite <- (count_range k (Z.to_nat l)).
    replace (count (range k (Z.to_nat l))) with (count (map (fun i => (a * i) mod n) (range k (Z.to_nat l))))
      by (unfold count; rewrite map_length; reflexivity).
    apply count_incl.
    + apply NoDup_map_on; [| apply range_once]. intros i j I J E. apply in_range in I. apply in_range in J.
      apply Eq in E. destruct E as [v Hv]. assert (v = 0) by nia. lia.
    + intros z I. apply in_map_iff in I as (i & <- & I). apply nodup_In, in_map_iff. exists i. split; [reflexivity |].
      apply in_range in I. apply in_range. lia.
Qed.

(** * Rows modulo whole sectors, or whole rounds of the banks

    [_unreduced]: rows g * (d mod k) + r touch no more than rows g * d + r do, each lane with a d of its own, where a
    move by g * k elements is a period, and r elements are whole sectors or words: in which of these an access is says how
    often k was taken from d. *)

Record reduced := Reduced { factor : Z; modulus : Z; unreduced : Z }.

Theorem residue_lemma s h a b G r (lanes : list reduced) :
  real h -> (unit_of s h | b) -> 0 <= offset a -> 0 < width a -> offset a + width a <= stride a ->
  0 < G -> (period s h | stride a * G) -> (unit_of s h | stride a * r) ->
  (forall l, In l lanes -> 0 < modulus l /\ factor l * modulus l = G) ->
  measure s h (width a) (map (fun i => b + place a i) (map (fun l => factor l * (unreduced l mod modulus l) + r) lanes))
  <= measure s h (width a) (map (fun i => b + place a i) (map (fun l => factor l * unreduced l + r) lanes)).
Proof.
  intros R Al Of Wd Fit GP [n Pn] [m Um] H. rewrite !based by assumption. clear b Al. pose proof R as (Sp & Bp & Wp).
  set (u := unit_of s h) in *. assert (U : 0 < u) by (unfold u; destruct s; assumption).
  assert (Bank : exists z, period s h = z * u /\ 0 < z /\ (s = Shared -> z = banks h)).
  { unfold u. destruct s; cbn [period unit_of]; [exists 1 | exists (banks h)]; repeat split; intros; lia || discriminate || reflexivity. }
  destruct Bank as (z & Ez & Zp & Zb). set (P := stride a * G). assert (PG : 0 < P) by (unfold P; nia).
  (* a whole turn is [turn] units *)
  set (turn := n * z). assert (EP : P = turn * u) by (unfold P, turn; rewrite Pn, Ez; ring).
  assert (Tp : 0 < turn) by nia.
  set (back := fun w => w - turn * ((w - m) / turn)).
  set (low := map (place a) (map (fun l => factor l * (unreduced l mod modulus l) + r) lanes)).
  set (all := map (place a) (map (fun l => factor l * unreduced l + r) lanes)).
  assert (Moved : forall w, In w (touched (width a) u low) -> exists v, In v (touched (width a) u all) /\ back v = w).
  { intros w I. apply in_touched in I as (x & I & Hx). unfold low in I. rewrite map_map in I.
    apply in_map_iff in I as (l & <- & I). destruct (H l I) as [K E]. set (q := unreduced l / modulus l).
    set (e := unreduced l mod modulus l) in *. pose proof (Z.mod_pos_bound (unreduced l) (modulus l) K) as Be. fold e in Be.
    assert (Ed : unreduced l = modulus l * q + e) by (apply Z.div_mod; lia).
    exists (w + turn * q). split.
    - apply in_touched. exists (place a (factor l * unreduced l + r)). split.
      { unfold all. rewrite map_map. apply in_map_iff. exists l. auto. }
      assert (place a (factor l * unreduced l + r) = place a (factor l * e + r) + turn * q * u) as ->.
      { unfold place. rewrite Ed. replace (turn * q * u) with (q * P) by (rewrite EP; ring). unfold P. rewrite <- E. ring. }
      replace (place a (factor l * e + r) + turn * q * u + width a - 1)
        with (place a (factor l * e + r) + width a - 1 + turn * q * u) by ring.
      rewrite !Z.div_add by lia. lia.
    - unfold back. assert (Fg : 0 < factor l) by nia.
      assert (In0 : 0 <= stride a * (factor l * e) + offset a /\ stride a * (factor l * e) + offset a + width a <= P).
      { assert (Fe : 0 <= factor l * e /\ factor l * e + 1 <= G) by (rewrite <- E; nia). unfold P.
        set (fe := factor l * e) in *. assert (0 < stride a) by lia. clearbody fe. nia. }
      assert (Pl : place a (factor l * e + r) = stride a * (factor l * e) + offset a + m * u).
      { unfold place. rewrite <- Um. ring. }
      rewrite Pl in Hx. set (y := stride a * (factor l * e) + offset a) in *.
      replace (y + m * u + width a - 1) with (y + width a - 1 + m * u) in Hx by ring.
      rewrite !Z.div_add in Hx by lia. assert (L0 : 0 <= y / u) by (apply Z.div_pos; lia).
      assert (L1 : (y + width a - 1) / u < turn) by (apply Z.div_lt_upper_bound; nia).
      replace (w + turn * q - m) with (w - m + q * turn) by ring. rewrite Z.div_add, (Z.div_small (w - m)) by lia. ring. }
  assert (Count : forall f g, (forall w, In w (touched (width a) u low) -> f w = true ->
                    forall v, back v = w -> g v = true) ->
            count (filter f (touched (width a) u low)) <= count (filter g (touched (width a) u all))).
  { intros f g Fg. replace (count (filter g (touched (width a) u all)))
      with (count (map back (filter g (touched (width a) u all)))) by (unfold count; rewrite map_length; reflexivity).
    apply count_incl; [apply NoDup_filter, touched_once |]. intros w I. apply filter_In in I as [I F].
    destruct (Moved w I) as (v & J & B). apply in_map_iff. exists v. split; [exact B |]. apply filter_In. eauto. }
  destruct s; cbn [measure] in *.
  - unfold mem_reads. change (sector h) with u. 
    assert (T : forall l : list Z, filter (fun _ => true) l = l) by (induction l as [| ? l IH]; cbn; [| rewrite IH]; reflexivity).
    rewrite <- (T (touched (width a) u low)), <- (T (touched (width a) u all)). apply Count. reflexivity.
  - unfold bank_conflicts. apply largest_least; [apply largest_nonneg |]. intros c I. apply in_map_iff in I as (k & <- & I).
    eapply Z.le_trans; [| apply largest_in, in_map_iff; exists k; split; [reflexivity | exact I]].
    apply Count. intros w _ E v B. apply Z.eqb_eq in E. apply Z.eqb_eq. rewrite <- E, <- B. unfold back.
    unfold turn. rewrite (Zb eq_refl). replace (v - n * banks h * ((v - m) / (n * banks h)))
      with (v + (- (n * ((v - m) / (n * banks h)))) * banks h) by ring. symmetry. apply Z.mod_add. lia.
Qed.
