(** Arithmetic proofs of certificates (docs/certificate.md, "Side conditions and their evidence"): their syntax, a
    function that checks them, and that what it accepts holds for all integer values of all leaves that satisfy the
    facts, and whatever arrays hold that satisfies the contracts. *)

From Coq Require Import ZArith QArith Qround List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic Normal Contracts.
Import ListNotations.

(** * Syntax *)

Inductive law :=
  Over | Under | Rest | Sign | Below | Negative | SignOf2nd | BelowThe2nd | Above1st | Above2nd | SumBy1st | SumBy2nd.

(** A quantity that is nonnegative; products of such; sums of products with coefficients. *)
Inductive factor :=
  | Fact (e : expr) (right_less_left : bool)      (** what a comparison says of right - left, or of left - right *)
  | Case (i : nat)                                (** what the i-th split allows to use *)
  | Apart (e : expr) (i : nat)                    (** that, less 1, for a fact a != b *)
  | Larger0 (p : pot)                             (** max(0, p) *)
  | Excess (p : pot)                              (** max(0, p) - p *)
  | Low (p : pot) (k : positive)                  (** p - k*floor(p/k) *)
  | High (p : pot) (k : positive)                 (** k*floor(p/k) - p + k - 1 *)
  | Log (p : pot)                                 (** log2(p) *)
  | Least (p q : pot) (k : N) (big small : sum)   (** log2(p) - log2(q) - k *)
  | Most (p q : pot) (k : N) (because : sum)      (** log2(q) + k - log2(p) *)
  | Law (o : op2) (n : law) (p q : pot) (because : sums)
  | Instance (k : nat) (ts : list pot) (because : sums)     (** the k-th contract at these indices *)
  | Telescope (k : nat) (A : string) (c : Q) (w s t : pot) (because : sums)
      (** where the k-th contract is c (A[i+1] - A[i]) + w >= 0: that from s to before t, added up *)
with factors := One | And_ (f : factor) (fs : factors)
with sum := Nothing | Plus (c : Q) (fs : factors) (s : sum)
with sums := NoSums | Sums (s : sum) (ss : sums).

Inductive proof :=
  | Sum (s : sum)
  | Split (p : pot) (yes no : proof)
  | Put (e : expr) (then_ : proof).

(** * What facts say *)

Open Scope Q_scope.

(** An integer expression as a potential. *)
Fixpoint worth (e : expr) : option poly :=
  let two a b (f : poly -> poly -> option poly) :=
    match worth a, worth b with Some p, Some q => f p q | _, _ => None end in
  match e with
  | Var _ | Param _ | Tid _ => Some (atom (Leaf e))
  | Const (VInt z) => Some (constant (inject_Z z))
  | Op1 Neg a => match worth a with Some p => Some (scale (-1) p) | None => None end
  | Op1 ToInt a => worth a
  | Op2 Add a b => two a b (fun p q => Some (plus p q))
  | Op2 Sub a b => two a b (fun p q => Some (minus p q))
  | Op2 Mul a b => two a b (fun p q => Some (times p q))
  | Op2 Min a b => two a b (fun p q => Some (minus p (max0 (minus p q))))
  | Op2 Max a b => two a b (fun p q => Some (plus p (max0 (minus q p))))
  | Op2 Mod a b => two a b (fun p q => Some (minus p (times q (operated Div p q))))
  | Op2 Shl a b => two a b (fun p q =>
      match only_constant q with
      | Some c => let k := Qfloor c in
                  if (0 <=? k)%Z && (k <? 64)%Z then Some (scale (inject_Z (2 ^ k)) p) else None
      | None => None
      end)
  | Op2 ((Div | Shr | BitAnd | BitOr | BitXor) as o) a b => two a b (fun p q => Some (operated o p q))
  | Op2 (Call2 A) (Op1 ToInt a) (Const (VInt 0)) =>
      match worth a with Some p => Some (operated (Call2 A) p (constant 0)) | None => None end
  | _ => None
  end.

(** The difference of two sides, and how much it is at least. *)
Definition gap (a b : expr) (less : Q) : option poly :=
  match worth a, worth b with Some p, Some q => Some (minus (minus p q) (constant less)) | _, _ => None end.

(** What a comparison makes nonnegative: right - left, or left - right. *)
Definition comparison (e : expr) (up : bool) : option poly :=
  match e, up with
  | Op2 Lt a b, true => gap b a 1
  | Op2 (Le | Eq) a b, true => gap b a 0
  | Op2 Gt a b, false => gap a b 1
  | Op2 (Ge | Eq) a b, false => gap a b 0
  | _, _ => None
  end.

(** What a law says of v, the value of p o q, and what has to be nonnegative for it. *)
Definition says (o : op2) (n : law) (p q : poly) : option (poly * list poly) :=
  let v := operated o p q in
  let rest := minus p (times q v) in
  let less := minus q (constant 1) in
  match o, n with
  | Div, Over => Some (minus less rest, [less])
  | Div, Under => Some (plus less rest, [less])
  | Div, Rest => Some (rest, [p])
  | Div, Sign | BitXor, Sign => Some (v, [p; q])
  | Div, Negative => Some (scale (-1) v, [scale (-1) p; q])
  | (Div | Shr | BitAnd), Below => Some (minus p v, [p])
  | (Shr | BitAnd), Sign => Some (v, [p])
  | Shr, Negative => Some (scale (-1) v, [scale (-1) p])
  | BitAnd, SignOf2nd => Some (v, [q])
  | BitAnd, BelowThe2nd => Some (minus q v, [q])
  | BitOr, Above1st => Some (minus v p, [q])
  | BitOr, Above2nd => Some (minus v q, [p])
  | (BitOr | BitXor), SumBy1st => Some (minus (plus p q) v, [p])
  | (BitOr | BitXor), SumBy2nd => Some (minus (plus p q) v, [q])
  | _, _ => None
  end.

(** * The check *)

Definition in_ (e : expr) (fs : list expr) : bool := existsb (same e) fs.

(** After the replacements on the way here. *)
Definition after (swaps : list swap) (p : poly) : poly := fold_left (fun p s => replaced s (to_pot p)) swaps p.

Section Check.

Variable contracts : list contract.
Variable facts : list expr.
Variable swaps : list swap.
Variable cases : list poly.

(** A sum is as much as the goal, or -1: then there is no such state. *)
Definition meets (found : option poly) (goal : poly) : bool :=
  match found with
  | Some p => equal_polys p (after swaps goal) || equal_polys p (constant (-1))
  | None => false
  end.

Definition guarded (b : bool) (p : poly) : option poly := if b then Some p else None.

Fixpoint quantity (f : factor) : option poly :=
  match f with
  | Fact e up => if in_ e facts then comparison e up else None
  | Case i => nth_error cases i
  | Apart e i =>
      match e, nth_error cases i with
      | Op2 Ne a b, Some case =>
          match gap a b 0 with
          | Some d =>
              let d := after swaps d in
              let at_ := after swaps case in
              guarded (in_ e facts && (equal_polys at_ d || equal_polys at_ (scale (-1) d))) (minus case (constant 1))
          | None => None
          end
      | _, _ => None
      end
  | Larger0 p => Some (max0 (normal p))
  | Excess p => Some (minus (max0 (normal p)) (normal p))
  | Low p k => let p := normal p in Some (minus p (scale (inject_Z (Zpos k)) (floor_ p k)))
  | High p k =>
      let p := normal p in
      guarded (whole_poly p)
        (minus (constant (inject_Z (Zpos k - 1))) (minus p (scale (inject_Z (Zpos k)) (floor_ p k))))
  | Log p => Some (log2 (normal p))
  | Least p q k big small =>
      let (p, q) := (normal p, normal q) in
      guarded
        (whole_poly p && whole_poly q
         && meets (total big) (minus p (scale (inject_Z (2 ^ Z.of_N k)) q))
         && meets (total small) (minus q (constant 1)))
        (minus (minus (log2 p) (log2 q)) (constant (inject_Z (Z.of_N k))))
  | Most p q k because =>
      let (p, q) := (normal p, normal q) in
      guarded
        (whole_poly p && whole_poly q
         && meets (total because)
              (minus (minus (scale (inject_Z (2 ^ Z.of_N k)) (plus q (constant 1))) (constant 1)) p))
        (plus (minus (log2 q) (log2 p)) (constant (inject_Z (Z.of_N k))))
  | Law o n p q because =>
      let (p, q) := (normal p, normal q) in
      match says o n p q with
      | Some (v, needs) => guarded (whole_poly p && whole_poly q && all_met because needs) v
      | None => None
      end
  | Instance k ts because =>
      match nth_error contracts k with
      | Some c => match instance c ts with Some (v, needs) => guarded (all_met because needs) v | None => None end
      | None => None
      end
  | Telescope k A c w s t because =>
      match nth_error contracts k with
      | Some d => match telescoped d A c w s t with Some (v, needs) => guarded (all_met because needs) v | None => None end
      | None => None
      end
  end
with all (fs : factors) : option poly :=
  match fs with
  | One => Some (constant 1)
  | And_ f fs =>
      match quantity f, all fs with Some p, Some q => Some (times (after swaps p) q) | _, _ => None end
  end
with total (s : sum) : option poly :=
  match s with
  | Nothing => Some []
  | Plus c fs s =>
      match all fs, total s with
      | Some p, Some q => guarded (Qle_bool 0 c) (plus (scale c p) q)
      | _, _ => None
      end
  end
with all_met (ss : sums) (goals : list poly) : bool :=
  match ss, goals with
  | NoSums, [] => true
  | Sums s ss, g :: gs => meets (total s) g && all_met ss gs
  | _, _ => false
  end.

End Check.

Definition is_leaf (e : expr) : bool := match e with Var _ | Param _ | Tid _ => true | _ => false end.

Fixpoint checks (contracts : list contract) (facts : list expr) (swaps : list swap) (cases : list poly) (goal : poly) (by_ : proof) : bool :=
  match by_ with
  | Sum s => meets swaps (total contracts facts swaps cases s) goal
  | Split p yes no =>
      let p := normal p in
      let up := scale (/ content p) p in
      let down := scale (-1) up in
      let (a, b) := (Max0 (to_pot up), Max0 (to_pot down)) in
      whole_poly p && negb (Qle_bool (content p) 0)
      && checks contracts facts (swaps ++ [[(a, up); (b, [])]]) (cases ++ [p]) goal yes
      && checks contracts facts (swaps ++ [[(a, []); (b, down)]]) (cases ++ [minus (constant (-1)) p]) goal no
  | Put e then_ =>
      match e with
      | Op2 Eq x b =>
          match worth b with
          | Some p => in_ e facts && is_leaf x && checks contracts facts (swaps ++ [[(Leaf x, p)]]) cases goal then_
          | None => false
          end
      | _ => false
      end
  end.

(** Whether a proof shows that a potential is nonnegative wherever the facts and contracts hold. *)
Definition accepts (contracts : list contract) (facts : list expr) (goal : pot) (by_ : proof) : bool :=
  checks contracts facts [] [] (normal goal) by_.

(** * That it is right *)

(** ** Bits *)

Ltac bits :=
  apply Z.bits_inj'; intros ? _;
  repeat rewrite ?Z.lor_spec, ?Z.lxor_spec, ?Z.land_spec, ?Z.ldiff_spec, ?Z.bits_0;
  repeat match goal with |- context [Z.testbit ?a ?n] => destruct (Z.testbit a n) end; reflexivity.

Lemma disjoint a b : Z.land a b = 0%Z -> (a + b)%Z = Z.lor a b.
Proof. intros H. rewrite Z.add_nocarry_lxor by exact H. apply Z.lxor_lor, H. Qed.

Lemma and_rest a b : a = (Z.land a b + Z.ldiff a b)%Z.
Proof. rewrite disjoint; bits. Qed.

Lemma or_and a b : (Z.lor a b + Z.land a b = a + b)%Z.
Proof.
  pose proof (and_rest a b). assert (b + Z.ldiff a b = Z.lor a b)%Z; [| lia]. rewrite disjoint; bits.
Qed.

Lemma xor_and a b : (Z.lxor a b + Z.land a b = Z.lor a b)%Z.
Proof. rewrite disjoint; bits. Qed.

Lemma and_below a b : (0 <= a -> Z.land a b <= a)%Z.
Proof.
  intros H. pose proof (and_rest a b). assert (0 <= Z.ldiff a b)%Z by (apply Z.ldiff_nonneg; auto). lia.
Qed.

Lemma quot_below a b : (0 <= a -> Z.quot a b <= a)%Z.
Proof.
  intros H. destruct (Z.eq_dec b 0) as [-> | N]; [rewrite Z.quot_0_r_ext by reflexivity; lia |].
  pose proof (Z.quot_abs a b N) as A. pose proof (Z.abs_eq a H).
  assert (Z.quot (Z.abs a) (Z.abs b) <= Z.abs a)%Z by (apply Z.quot_le_upper_bound; nia). lia.
Qed.

Lemma rem_sign a b : (0 <= a -> 0 <= a - b * Z.quot a b)%Z.
Proof.
  intros H. pose proof (Z.quot_rem' a b). destruct (Z.eq_dec b 0) as [-> | N]; [lia |].
  pose proof (Z.rem_nonneg a b N H). lia.
Qed.

Lemma rem_small a b : (0 < b -> - b < a - b * Z.quot a b < b)%Z.
Proof.
  intros H. pose proof (Z.quot_rem' a b). pose proof (Z.rem_bound_abs a b ltac:(lia)) as B.
  rewrite (Z.abs_eq b) in B by lia. apply Z.abs_lt in B. lia.
Qed.

Lemma shift_down a k : (0 <= k -> (0 <= a -> 0 <= Z.shiftr a k <= a) /\ (a <= 0 -> Z.shiftr a k <= 0))%Z.
Proof.
  intros K. rewrite Z.shiftr_div_pow2 by auto. assert (0 < 2 ^ k)%Z by (apply Z.pow_pos_nonneg; lia).
  split; intros H1.
  - split; [apply Z.div_pos; lia |]. apply Z.div_le_upper_bound; [lia |]. nia.
  - apply Z.div_le_upper_bound; lia.
Qed.

(** ** Potentials *)

Section Values.

Variable M : machine.
Variable sigma : store.
Variable t : thread.

Notation val p := (poly_value M sigma t p).
Notation is e := (as_int (eval M sigma e t)).

Lemma worth_value e : forall p, worth e = Some p -> val p == inject_Z (is e).
Proof.
  assert (Two : forall o a b (f : poly -> poly -> option poly) p,
    (forall p, worth a = Some p -> val p == inject_Z (is a)) ->
    (forall p, worth b = Some p -> val p == inject_Z (is b)) ->
    match worth a, worth b with Some p, Some q => f p q | _, _ => None end = Some p ->
    (forall x y r, val x == inject_Z (is a) -> val y == inject_Z (is b) -> f x y = Some r ->
       val r == inject_Z (as_int (denote2 (call M) o (eval M sigma a t) (eval M sigma b t)))) ->
    val p == inject_Z (as_int (denote2 (call M) o (eval M sigma a t) (eval M sigma b t)))).
  { intros o a b f p A B E F. destruct (worth a) as [x |]; [| discriminate]. destruct (worth b) as [y |]; [| discriminate].
    apply (F x y); auto. }
  assert (Op : forall o x y a b, val x == inject_Z a -> val y == inject_Z b ->
    val (operated o x y) == inject_Z (as_int (denote2 (call M) o (VInt a) (VInt b)))).
  { intros o x y a b A B. rewrite operated_value. unfold operator. rewrite (Qfloor_comp _ _ A), (Qfloor_comp _ _ B), !Qfloor_Z.
    reflexivity. }
  induction e as [x | x | v | a | o a IHa | o a IHa b IHb | o a _ b _ c _ | A i _]; intros p H; try discriminate;
    try (injection H as <-; apply atom_value).
  - destruct v; try discriminate. injection H as <-. apply constant_value.
  - destruct o; try discriminate; cbn [worth] in H; [| exact (IHa p H)].
    destruct (worth a) as [q |]; [| discriminate]. injection H as <-.
    rewrite scale_value, (IHa q eq_refl). cbn [eval denote1 as_int]. rewrite inject_Z_opp. ring.
  - assert (Elem : forall f, o = Call2 f -> val p == inject_Z (as_int (eval M sigma (Op2 o a b) t))).
    { intros f ->. destruct a as [| | | | o1 a' | | |]; try discriminate. destruct o1; try discriminate.
      destruct b as [| | v | | | | |]; try discriminate. destruct v as [z | |]; try discriminate. destruct z; try discriminate.
      cbn [worth] in H, IHa. destruct (worth a') as [q |]; [| discriminate]. injection H as <-.
      exact (Op (Call2 f) q (constant 0) _ _ (IHa q eq_refl) (constant_value M sigma t 0)). }
    destruct o; try discriminate; try (eapply Elem; reflexivity); clear Elem; cbn [worth] in H; cbn [eval];
      (eapply (Two _ a b _ p IHa IHb H)); clear p H;
      intros x y r X Y E; cbn [denote2 as_int]; try (injection E as <-).
    + rewrite plus_value, X, Y, inject_Z_plus. reflexivity.
    + rewrite minus_value, X, Y. rewrite inject_Z_sub. reflexivity.
    + rewrite times_value, X, Y, inject_Z_mult. reflexivity.
    + rewrite (Op _ _ _ _ _ X Y). reflexivity.
    + rewrite minus_value, times_value, (Op _ _ _ _ _ X Y), X, Y. cbn.
      pose proof (Z.quot_rem' (is a) (is b)) as R. rewrite R at 1. rewrite inject_Z_plus, inject_Z_mult. ring.
    + destruct (only_constant y) eqn:C; [| discriminate]. apply only_constant_value with (M := M) (sigma := sigma) (t := t) in C.
      assert (F : Qfloor q = is b) by (rewrite <- (Qfloor_comp _ _ C), (Qfloor_comp _ _ Y), Qfloor_Z; reflexivity).
      cbv zeta in E. rewrite F in E.
      destruct ((0 <=? is b)%Z && (is b <? 64)%Z) eqn:K; [| discriminate]. injection E as <-.
      apply andb_true_iff in K as [K _]. apply Z.leb_le in K.
      replace (is b <? 0)%Z with false by (symmetry; apply Z.ltb_ge; lia).
      rewrite scale_value, X, Z.shiftl_mul_pow2, inject_Z_mult by auto. ring.
    + rewrite (Op _ _ _ _ _ X Y). reflexivity.
    + rewrite (Op _ _ _ _ _ X Y). reflexivity.
    + rewrite (Op _ _ _ _ _ X Y). reflexivity.
    + rewrite (Op _ _ _ _ _ X Y). reflexivity.
    + rewrite minus_value, max0_value.
      rewrite (larger_eq _ (inject_Z (is a - is b))) by (rewrite minus_value, X, Y; rewrite inject_Z_sub; reflexivity).
      destruct (Z.le_gt_cases (is b) (is a)).
      * rewrite Z.min_r, larger_pos by (auto; change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia).
        rewrite X. rewrite inject_Z_sub. ring.
      * rewrite Z.min_l, larger_neg by (try lia; change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia). rewrite X. ring.
    + rewrite plus_value, max0_value.
      rewrite (larger_eq _ (inject_Z (is b - is a))) by (rewrite minus_value, X, Y; rewrite inject_Z_sub; reflexivity).
      destruct (Z.le_gt_cases (is a) (is b)).
      * rewrite Z.max_r, larger_pos by (auto; change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia).
        rewrite X. rewrite inject_Z_sub. ring.
      * rewrite Z.max_l, larger_neg by (try lia; change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia). rewrite X. ring.
Qed.

Lemma gap_value a b c p : gap a b c = Some p -> val p == inject_Z (is a - is b) - c.
Proof.
  unfold gap. destruct (worth a) eqn:A; [| discriminate]. destruct (worth b) eqn:B; [| discriminate]. intros [= <-].
  apply worth_value in A, B. rewrite !minus_value, constant_value, A, B. rewrite inject_Z_sub.
  ring.
Qed.

Lemma comparison_value e up p : comparison e up = Some p -> as_bool (eval M sigma e t) = true -> 0 <= val p.
Proof.
  intros C H. destruct e as [| | | | | o a b | |]; try (destruct up; discriminate).
  destruct o; destruct up; try discriminate; cbn [comparison] in C; cbn [eval denote2 as_bool] in H;
    apply gap_value in C; rewrite C;
    first [apply Z.ltb_lt in H | apply Z.leb_le in H | apply Z.eqb_eq in H];
    match goal with
    | |- 0 <= inject_Z ?x - 1 => assert (L : inject_Z 1 <= inject_Z x) by (rewrite <- Zle_Qle; lia)
    | |- 0 <= inject_Z ?x - 0 => assert (L : inject_Z 0 <= inject_Z x) by (rewrite <- Zle_Qle; lia)
    end; change (inject_Z 1) with 1 in L; change (inject_Z 0) with 0 in L; lra.
Qed.

Lemma says_value o n p q v needs :
  says o n p q = Some (v, needs) -> is_whole (val p) -> is_whole (val q) -> (forall r, In r needs -> 0 <= val r) -> 0 <= val v.
Proof.
  intros S P Q N.
  assert (O : val (operated o p q) == inject_Z (as_int (denote2 (call M) o (VInt (Qfloor (val p))) (VInt (Qfloor (val q))))))
    by apply operated_value.
  unfold is_whole in P, Q. set (a := Qfloor (val p)) in *. set (b := Qfloor (val q)) in *.
  assert (Zero : forall z, 0 <= inject_Z z <-> (0 <= z)%Z) by (intros z; rewrite (Zle_Qle 0 z); reflexivity).
  pose proof (or_and a b). pose proof (xor_and a b). pose proof (proj2 (Z.land_nonneg a b)).
  pose proof (and_below a b). pose proof (and_below b a). rewrite (Z.land_comm b a) in *.
  pose proof (quot_below a b). pose proof (rem_sign a b). pose proof (rem_small a b). pose proof (shift_down a b).
  assert (Sg : (0 <= a -> 0 <= b -> 0 <= Z.lxor a b)%Z) by (intros; apply Z.lxor_nonneg; tauto).
  assert (Qt : (0 <= a -> 0 <= b -> 0 <= Z.quot a b)%Z).
  { intros. destruct (Z.eq_dec b 0) as [-> |]; [rewrite Z.quot_0_r_ext by reflexivity; lia | apply Z.quot_pos; lia]. }
  assert (Qn : (0 <= - a -> 0 <= b -> 0 <= - Z.quot a b)%Z).
  { intros. destruct (Z.eq_dec b 0) as [-> | B]; [rewrite Z.quot_0_r_ext by reflexivity; lia |].
    rewrite <- Z.quot_opp_l by exact B. apply Z.quot_pos; lia. }
  destruct o, n; try discriminate; cbn [says] in S; injection S as <- <-; cbn [denote2 as_int] in O;
    pose proof (N _ (or_introl eq_refl)) as N1;
    try pose proof (N _ (or_intror (or_introl eq_refl))) as N2;
    clear N; revert N1; try (revert N2);
    rewrite ?minus_value, ?plus_value, ?scale_value, ?times_value, ?minus_value, ?plus_value, ?times_value, ?constant_value,
      ?O, ?P, ?Q;
    clear O P Q; change 1 with (inject_Z 1); change (-1) with (inject_Z (-1));
    rewrite <- ?inject_Z_mult, <- ?inject_Z_sub, <- ?inject_Z_plus, <- ?inject_Z_sub, ?Zero; intros;
    try (destruct (Z.ltb_spec b 0)); lia.
Qed.

Lemma after_value swaps : (forall s, In s swaps -> fair M sigma t s) -> forall p, val (after swaps p) == val p.
Proof.
  induction swaps as [| s swaps IH]; intros F p; cbn; [reflexivity |].
  rewrite IH by (intros; apply F; cbn; auto). rewrite replaced_value by (apply F; cbn; auto). apply to_pot_value.
Qed.

Section Here.

Variable contracts : list contract.
Variable facts : list expr.
Variable swaps : list swap.
Variable cases : list poly.
Hypothesis Contracts : forall c, In c contracts -> kept M sigma t c.
Hypothesis Facts : holds M sigma t facts.
Hypothesis Swaps : forall s, In s swaps -> fair M sigma t s.
Hypothesis Cases : forall p, In p cases -> 0 <= val p.

Lemma in_facts e : in_ e facts = true -> as_bool (eval M sigma e t) = true.
Proof. unfold in_. intros H. apply existsb_exists in H as (f & I & S). apply same_eq in S as ->. apply Facts, I. Qed.

Lemma meets_value found goal :
  (forall p, found = Some p -> 0 <= val p) -> meets swaps found goal = true -> 0 <= val goal.
Proof.
  intros F H. unfold meets in H. destruct found as [p |]; [| discriminate]. specialize (F p eq_refl).
  apply orb_true_iff in H as [H | H]; apply (equal_polys_value M sigma t) in H.
  - rewrite after_value in H by auto. lra.
  - rewrite constant_value in H. lra.
Qed.

Scheme factor_ind' := Induction for factor Sort Prop
  with factors_ind' := Induction for factors Sort Prop
  with sum_ind' := Induction for sum Sort Prop
  with sums_ind' := Induction for sums Sort Prop.
Combined Scheme proofs_ind from factor_ind', factors_ind', sum_ind', sums_ind'.

Lemma guarded_value b p q : guarded b p = Some q -> b = true /\ p = q.
Proof. unfold guarded. destruct b; [intros [= ->]; auto | discriminate]. Qed.

Lemma low_value x k : 0 <= x - inject_Z (Zpos k) * inject_Z (Qfloor (x / inject_Z (Zpos k))).
Proof.
  pose proof (Qfloor_le (x / inject_Z (Zpos k))) as L.
  apply (Qmult_le_l _ _ (inject_Z (Zpos k))) in L; [| reflexivity].
  setoid_replace (inject_Z (Zpos k) * (x / inject_Z (Zpos k))) with x in L by (field; discriminate). lra.
Qed.

Lemma high_value x k :
  is_whole x -> x - inject_Z (Zpos k) * inject_Z (Qfloor (x / inject_Z (Zpos k))) <= inject_Z (Zpos k - 1).
Proof.
  intros W. unfold is_whole in W. set (z := Qfloor x) in *.
  rewrite (Qfloor_comp (x / inject_Z (Zpos k)) (inject_Z z / inject_Z (Zpos k))) by (rewrite W; reflexivity).
  rewrite <- Zdiv_Qdiv, <- inject_Z_mult, W, <- inject_Z_sub, <- Zle_Qle.
  pose proof (Z.div_mod z (Zpos k) ltac:(lia)). pose proof (Z.mod_pos_bound z (Zpos k) ltac:(lia)). lia.
Qed.

Definition log_of (n : Z) : Z := if Z.ltb n 1 then 0 else Z.log2 n.

Lemma log_nonneg n : (0 <= log_of n)%Z.
Proof. unfold log_of. destruct Z.ltb; [lia | apply Z.log2_nonneg]. Qed.

Lemma least_value p q k : (0 <= k -> 1 <= q -> 2 ^ k * q <= p -> log_of q + k <= log_of p)%Z.
Proof.
  intros K Q1 L. assert (0 < 2 ^ k)%Z by (apply Z.pow_pos_nonneg; lia). unfold log_of.
  replace (q <? 1)%Z with false by (symmetry; apply Z.ltb_ge; lia).
  replace (p <? 1)%Z with false by (symmetry; apply Z.ltb_ge; nia).
  rewrite Z.add_comm, <- Z.log2_mul_pow2 by lia. apply Z.log2_le_mono. lia.
Qed.

Lemma most_value p q k : (0 <= k -> p < 2 ^ k * (q + 1) -> log_of p <= log_of q + k)%Z.
Proof.
  intros K L. assert (0 < 2 ^ k)%Z by (apply Z.pow_pos_nonneg; lia). pose proof (log_nonneg q) as G. unfold log_of in *.
  destruct (Z.ltb_spec p 1) as [P | P]; [lia |].
  assert (Pw : (p < 2 ^ (k + (if q <? 1 then 0 else Z.log2 q) + 1))%Z).
  { destruct (Z.ltb_spec q 1) as [Q1 | Q1].
    - rewrite !Z.pow_add_r by lia. change (2 ^ 0)%Z with 1%Z. change (2 ^ 1)%Z with 2%Z. nia.
    - pose proof (Z.log2_spec q ltac:(lia)) as [_ S]. replace (k + Z.log2 q + 1)%Z with (k + Z.succ (Z.log2 q))%Z by lia.
      rewrite Z.pow_add_r by lia. nia. }
  apply Z.log2_lt_pow2 in Pw; lia.
Qed.

Lemma log2_is p : val (log2 p) == inject_Z (log_of (Qfloor (val p))).
Proof. apply log2_value. Qed.

Lemma all_and f fs : all contracts facts swaps cases (And_ f fs) =
  match quantity contracts facts swaps cases f, all contracts facts swaps cases fs with
  | Some p, Some q => Some (times (after swaps p) q) | _, _ => None end.
Proof. reflexivity. Qed.

Lemma total_plus c fs s : total contracts facts swaps cases (Plus c fs s) =
  match all contracts facts swaps cases fs, total contracts facts swaps cases s with
  | Some p, Some q => guarded (Qle_bool 0 c) (plus (scale c p) q) | _, _ => None end.
Proof. reflexivity. Qed.

Lemma all_met_sums s ss g gs : all_met contracts facts swaps cases (Sums s ss) (g :: gs) =
  meets swaps (total contracts facts swaps cases s) g && all_met contracts facts swaps cases ss gs.
Proof. reflexivity. Qed.

Lemma evidence_sound :
  (forall f p, quantity contracts facts swaps cases f = Some p -> 0 <= val p)
  /\ (forall fs p, all contracts facts swaps cases fs = Some p -> 0 <= val p)
  /\ (forall s p, total contracts facts swaps cases s = Some p -> 0 <= val p)
  /\ (forall ss goals, all_met contracts facts swaps cases ss goals = true -> forall g, In g goals -> 0 <= val g).
Proof.
  apply proofs_ind; cbn [quantity].
  - intros e up p H. destruct (in_ e facts) eqn:I; [| discriminate]. eapply comparison_value; [exact H | apply in_facts, I].
  - intros i p H. apply Cases. eapply nth_error_In, H.
  - intros e i p H. destruct e as [| | | | | o a b | |]; try discriminate. destruct o; try discriminate.
    destruct (nth_error cases i) as [c |] eqn:C; [| discriminate]. destruct (gap a b 0) as [d |] eqn:G; [| discriminate].
    apply guarded_value in H as [H <-]. apply andb_true_iff in H as [I E]. apply in_facts in I. cbn in I.
    apply negb_true_iff, Z.eqb_neq in I. apply nth_error_In, Cases in C. apply gap_value in G.
    rewrite minus_value, constant_value.
    assert (V : val c == inject_Z (is a - is b) \/ val c == inject_Z (is b - is a)).
    { apply orb_true_iff in E as [E | E]; apply (equal_polys_value M sigma t) in E; rewrite ?scale_value, !after_value, G in E by auto; [left | right].
      - rewrite E. ring.
      - rewrite E. rewrite !inject_Z_sub. ring. }
    assert (L : inject_Z 1 <= val c); [| change (inject_Z 1) with 1 in L; lra].
    destruct V as [V | V]; rewrite V in C |- *; change 0 with (inject_Z 0) in C; rewrite <- Zle_Qle in *; lia.
  - intros p r [= <-]. rewrite max0_value. apply larger_l.
  - intros p r [= <-]. rewrite minus_value, max0_value. pose proof (larger_r 0 (val (normal p))). lra.
  - intros p k r [= <-]. rewrite minus_value, scale_value, floor_value. apply low_value.
  - intros p k r H. apply guarded_value in H as [W <-]. apply whole_poly_value with (M := M) (sigma := sigma) (t := t) in W.
    rewrite !minus_value, constant_value, scale_value, floor_value. pose proof (high_value _ k W). lra.
  - intros p r [= <-]. rewrite log2_is. change 0 with (inject_Z 0). rewrite <- Zle_Qle. apply log_nonneg.
  - intros p q k big IHb small IHs r H. apply guarded_value in H as [H <-]. rewrite !andb_true_iff in H.
    destruct H as [[[P Q] B] S]. apply whole_poly_value with (M := M) (sigma := sigma) (t := t) in P, Q.
    apply meets_value in B; [| exact IHb]. apply meets_value in S; [| exact IHs].
    rewrite minus_value, scale_value in B. rewrite minus_value, constant_value in S. rewrite !minus_value, constant_value, !log2_is.
    unfold is_whole in P, Q. rewrite P, Q in B. rewrite Q in S. set (x := Qfloor (val (normal p))) in *. set (y := Qfloor (val (normal q))) in *.
    assert (L : (log_of y + Z.of_N k <= log_of x)%Z).
    { apply least_value; [lia | |]; rewrite Zle_Qle, ?inject_Z_mult; change (inject_Z 1) with 1; lra. }
    rewrite Zle_Qle, inject_Z_plus in L. lra.
  - intros p q k because IHb r H. apply guarded_value in H as [H <-]. rewrite !andb_true_iff in H.
    destruct H as [[P Q] B]. apply whole_poly_value with (M := M) (sigma := sigma) (t := t) in P, Q.
    apply meets_value in B; [| exact IHb].
    rewrite !minus_value, scale_value, plus_value, !constant_value in B. rewrite plus_value, !minus_value, constant_value, !log2_is.
    unfold is_whole in P, Q. rewrite P, Q in B. set (x := Qfloor (val (normal p))) in *. set (y := Qfloor (val (normal q))) in *.
    assert (L : (log_of x <= log_of y + Z.of_N k)%Z).
    { apply most_value; [lia |]. assert (x <= 2 ^ Z.of_N k * (y + 1) - 1)%Z; [| lia].
      rewrite Zle_Qle. unfold Z.sub. rewrite inject_Z_plus, inject_Z_mult, inject_Z_plus. change (inject_Z 1) with 1.
      change (inject_Z (- (1))) with (- (1)). lra. }
    rewrite Zle_Qle, inject_Z_plus in L. lra.
  - intros o n p q because IH r H. destruct (says o n (normal p) (normal q)) as [[v needs] |] eqn:S; [| discriminate].
    apply guarded_value in H as [H <-]. rewrite !andb_true_iff in H. destruct H as [[P Q] B].
    eapply says_value; [exact S | apply whole_poly_value, P | apply whole_poly_value, Q | apply IH, B].
  - intros k ts because IH r H. destruct (nth_error contracts k) as [c |] eqn:Ck; [| discriminate].
    destruct (instance c ts) as [[v needs] |] eqn:I; [| discriminate]. apply guarded_value in H as [B <-].
    eapply instance_value; [exact I | apply Contracts; eapply nth_error_In, Ck | apply IH, B].
  - intros k A c w u v because IH r H. destruct (nth_error contracts k) as [d |] eqn:Ck; [| discriminate].
    destruct (telescoped d A c w u v) as [[x needs] |] eqn:I; [| discriminate]. apply guarded_value in H as [B <-].
    eapply telescoped_value; [exact I | apply Contracts; eapply nth_error_In, Ck | apply IH, B].
  - intros p [= <-]. rewrite constant_value. lra.
  - intros f IHf fs IHfs p H. rewrite all_and in H. destruct (quantity contracts facts swaps cases f) as [x |]; [| discriminate].
    destruct (all contracts facts swaps cases fs) as [y |]; [| discriminate]. injection H as <-.
    rewrite times_value, after_value by auto. apply Qmult_le_0_compat; auto.
  - intros p [= <-]. cbn. lra.
  - intros c fs IHfs s IHs p H. rewrite total_plus in H. destruct (all contracts facts swaps cases fs) as [x |]; [| discriminate].
    destruct (total contracts facts swaps cases s) as [y |]; [| discriminate]. apply guarded_value in H as [C <-].
    apply Qle_bool_iff in C. rewrite plus_value, scale_value.
    pose proof (Qmult_le_0_compat _ _ C (IHfs x eq_refl)). specialize (IHs y eq_refl). lra.
  - intros [| g goals]; [intros _ g [] | discriminate].
  - intros s IHs ss IHss [| g goals]; [discriminate |]. rewrite all_met_sums. intros H. apply andb_true_iff in H as [H1 H2].
    intros h [<- | I]; [| exact (IHss _ H2 h I)]. eapply meets_value; [exact IHs | exact H1].
Qed.

End Here.

Lemma checks_sound contracts facts by_ :
  (forall c, In c contracts -> kept M sigma t c) -> holds M sigma t facts -> forall swaps cases goal,
  (forall s, In s swaps -> fair M sigma t s) -> (forall p, In p cases -> 0 <= val p) ->
  checks contracts facts swaps cases goal by_ = true -> 0 <= val goal.
Proof.
  intros Contracts Facts. induction by_ as [s | p yes IHy no IHn | e by_ IH]; intros swaps cases goal Swaps Cases H; cbn [checks] in H.
  - eapply meets_value; [exact Swaps | | exact H]. apply evidence_sound; auto.
  - rewrite !andb_true_iff, negb_true_iff in H. destruct H as [[[W G] Y] N].
    apply whole_poly_value with (M := M) (sigma := sigma) (t := t) in W.
    assert (P : 0 < content (normal p)).
    { apply Qnot_le_lt. intros L. apply Qle_bool_iff in L. congruence. }
    set (r := normal p) in *. set (g := content r) in *. set (up := scale (/ g) r) in *.
    assert (U : val r == g * val up) by (unfold up; rewrite scale_value; field; lra).
    assert (D : val (scale (-1) up) == - val up) by (rewrite scale_value; ring).
    destruct (Qlt_le_dec (val r) 0) as [L | L].
    + assert (Neg : val up <= 0).
      { apply Qnot_lt_le. intros L'. assert (0 <= g * val up) by (apply Qmult_le_0_compat; lra). lra. }
      assert (One : val r <= - (1)).
      { unfold is_whole in W. rewrite W in L |- *. change (- (1)) with (inject_Z (-1)). change 0 with (inject_Z 0) in L.
        rewrite <- Zle_Qle. rewrite <- Zlt_Qlt in L. lia. }
      eapply (IHn _ _ _ _ _ N). Unshelve.
      * intros s I. apply in_app_iff in I as [I | [<- | []]]; [auto |]. intros a q [[= <- <-] | [[= <- <-] | []]]; cbn [peval].
        -- rewrite (larger_eq _ _ (to_pot_value M sigma t up)), larger_neg by auto. reflexivity.
        -- rewrite (larger_eq _ _ (to_pot_value M sigma t (scale (-1) up))), larger_pos by (rewrite D; lra). reflexivity.
      * intros q I. apply in_app_iff in I as [I | [<- | []]]; [auto |]. rewrite minus_value, constant_value. lra.
    + assert (Pos : 0 <= val up).
      { apply Qnot_lt_le. intros L'. assert (0 < g * - val up) by (apply Qmult_lt_0_compat; lra). lra. }
      eapply (IHy _ _ _ _ _ Y). Unshelve.
      * intros s I. apply in_app_iff in I as [I | [<- | []]]; [auto |]. intros a q [[= <- <-] | [[= <- <-] | []]]; cbn [peval].
        -- rewrite (larger_eq _ _ (to_pot_value M sigma t up)), larger_pos by auto. reflexivity.
        -- rewrite (larger_eq _ _ (to_pot_value M sigma t (scale (-1) up))), larger_neg by (rewrite D; lra). reflexivity.
      * intros q I. apply in_app_iff in I as [I | [<- | []]]; [auto | exact L].
  - destruct e as [| | | | | o x b | |]; try discriminate. destruct o; try discriminate.
    destruct (worth b) as [p |] eqn:B; [| discriminate]. rewrite !andb_true_iff in H. destruct H as [[I _] H].
    apply (in_facts facts Facts) in I. cbn in I. apply Z.eqb_eq in I. apply worth_value in B.
    refine (IH _ _ _ _ Cases H). intros s J. apply in_app_iff in J as [J | [<- | []]]; [auto |].
    intros a q [[= <- <-] | []]. cbn [peval]. rewrite B, I. reflexivity.
Qed.

End Values.

(** * The theorems *)

(** What is accepted holds for all stores, and whatever arrays hold: for all integer values of leaves and elements that
    satisfy the facts and contracts. *)
Theorem accepted_holds contracts facts goal by_ :
  accepts contracts facts goal by_ = true ->
  forall M sigma t, holds M sigma t facts -> (forall c, In c contracts -> kept M sigma t c) -> 0 <= peval M sigma goal t.
Proof.
  intros H M sigma t F C. rewrite <- normal_value. eapply checks_sound; [exact C | exact F | | | exact H]; intros ? [].
Qed.

Definition less (q q' : pot) : pot := PAdd q (PMul (PConst (-1)) q').

(** P; X |- Q >= Q', where the facts that the proof uses follow from P, and the contracts are kept. *)
Theorem accepted_at_least M U P X q q' contracts facts by_ :
  entails M U P facts -> (forall sigma t c, In c contracts -> kept M sigma t c) ->
  accepts contracts facts (less q q') by_ = true -> at_least M U P X q q'.
Proof.
  intros E C H sigma T t (_ & Sc & Ps & _) I.
  pose proof (accepted_holds _ _ _ _ H M sigma t (E _ _ (Sc _ I) (Ps _ I)) (C sigma t)) as V.
  unfold less in V. cbn [peval] in V. lra.
Qed.

(** An arithmetic proof of a certificate: the contracts and facts that it uses, what is shown to be nonnegative, and by
    what. *)
Record obligation := Obligation { granted : list contract; given : list expr; shown : pot; proved_by : proof }.

(** The numbers of those that are not accepted, from 0. *)
Definition failing (os : list obligation) : list nat :=
  map fst (filter (fun o => negb (accepts (granted (snd o)) (given (snd o)) (shown (snd o)) (proved_by (snd o))))
    (combine (seq 0 (List.length os)) os)).

Theorem none_failing os : failing os = [] -> forall o, In o os ->
  forall M sigma t, holds M sigma t (given o) -> (forall c, In c (granted o) -> kept M sigma t c) ->
  0 <= peval M sigma (shown o) t.
Proof.
  intros F o I M sigma t. apply accepted_holds with (by_ := proved_by o).
  destruct (accepts (granted o) (given o) (shown o) (proved_by o)) eqn:A; [reflexivity | exfalso].
  unfold failing in F. apply map_eq_nil in F. apply In_nth_error in I as (n & I).
  assert (J : In (n, o) (combine (seq 0 (List.length os)) os)).
  { assert (G : forall l from n, nth_error l n = Some o ->
      nth_error (combine (seq from (List.length l)) l) n = Some ((from + n)%nat, o)).
    { clear. induction l as [| x l IH]; intros from [| n] H; try discriminate; cbn in *.
      - injection H as ->. do 2 f_equal. lia.
      - rewrite (IH _ _ H). do 2 f_equal. lia. }
    exact (nth_error_In _ n (G os 0%nat n I)). }
  assert (K : In (n, o) []) by (rewrite <- F; apply filter_In; cbn; rewrite A; auto). exact K.
Qed.
