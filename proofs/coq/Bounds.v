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

Section Distances.

Variable call : calls.
Variable V : nat -> Z.
Variable t : table.
Hypothesis T : true_of call V t.
Variables (D : num) (sign : Z).
Hypothesis Pos : 0 <= sign * value_of call V D.
Hypothesis Sign : sign = 1 \/ sign = -1.

Notation val := (value_of call V).
Notation product := (product_of call V).
Notation sum := (sum_of call V).

Lemma same_value a b : same t a b = true -> val a = val b.
Proof. intros H. apply (is_zero_value call V) in H. rewrite (minus_value call V t T) in H. lia. Qed.

(** What [near] says of differences is so. *)
Definition right (near : num -> option (Z * Z)) : Prop := forall d l h, near d = Some (l, h) -> l <= val d <= h.

Lemma extremes_near near p b q c l h o :
  right near -> o = Min \/ o = Max ->
  match near (minus t p q), near (minus t b c) with
  | Some e, Some f => Some (Z.min (fst e) (fst f), Z.max (snd e) (snd f))
  | _, _ => None
  end = Some (l, h) ->
  l <= match o with Min => Z.min (val p) (val b) - Z.min (val q) (val c) | _ => Z.max (val p) (val b) - Z.max (val q) (val c) end <= h.
Proof.
  intros R O E. destruct (near (minus t p q)) as [[l1 h1] |] eqn:E1; [| discriminate].
  destruct (near (minus t b c)) as [[l2 h2] |] eqn:E2; [| discriminate]. cbn [fst snd] in E.
  apply R in E1, E2. rewrite (minus_value call V t T) in *. assert (l = Z.min l1 l2 /\ h = Z.max h1 h2) as [-> ->] by (split; congruence).
  destruct O as [-> | ->]; lia.
Qed.

Lemma pair_near near m n l h : right near -> pair t D sign near m n = Some (l, h) -> l <= product m - product n <= h.
Proof.
  intros R E. unfold pair in E.
  destruct m as [| x [| ? ?]]; [discriminate | |
    exfalso; repeat match type of E with match ?z with _ => _ end = _ => destruct z; try discriminate end].
  destruct n as [| y [| ? ?]];
    [exfalso; repeat match type of E with match ?z with _ => _ end = _ => destruct z; try discriminate end | |
     exfalso; repeat match type of E with match ?z with _ => _ end = _ => destruct z; try discriminate end].
  assert (P : forall z, product [z] = atom_of call V z) by (intros; cbn [product_of]; lia). rewrite !P. clear P.
  destruct x; try discriminate; try (destruct o; discriminate); destruct y; try discriminate; try (destruct o; discriminate).
  - destruct (Z.ltb_spec 0 k) as [K |]; [| discriminate]. destruct (Z.eqb_spec k k0) as [<- |]; [| discriminate]. cbn [andb] in E.
    destruct (near (minus t a a0)) as [[l1 h1] |] eqn:N; [| discriminate]. cbn [option_map fst snd] in E.
    assert (l = l1 / k /\ h = - (- h1 / k)) as [-> ->] by (split; congruence). apply R in N.
    rewrite (minus_value call V t T) in N. apply floor_near; assumption.
  - assert (Ext : o = o0 -> o = Min \/ o = Max -> forall l h, 
      match (match near (minus t a a0), near (minus t b b0) with
             | Some e, Some f => Some (Z.min (fst e) (fst f), Z.max (snd e) (snd f)) | _, _ => None end) with
      | Some e => Some e
      | None => match near (minus t b a0), near (minus t a b0) with
             | Some e, Some f => Some (Z.min (fst e) (fst f), Z.max (snd e) (snd f)) | _, _ => None end
      end = Some (l, h) -> l <= atom_of call V (AOp2 o a b) - atom_of call V (AOp2 o0 a0 b0) <= h).
    { intros <- O l' h' X.
      assert (Va : forall p q, atom_of call V (AOp2 o p q) = match o with Min => Z.min (val p) (val q) | _ => Z.max (val p) (val q) end).
      { intros p q. destruct O as [-> | ->]; reflexivity. }
      rewrite !Va.
      match type of X with match ?e with _ => _ end = _ => destruct e as [[l1 h1] |] eqn:E1 end.
      - pose proof (extremes_near near a b a0 b0 l1 h1 o R O E1) as H. assert (l' = l1 /\ h' = h1) as [-> ->] by (split; congruence).
        destruct O as [-> | ->]; exact H.
      - pose proof (extremes_near near b a a0 b0 l' h' o R O X) as H.
        destruct O as [-> | ->]; [rewrite (Z.min_comm (val a)) | rewrite (Z.max_comm (val a))]; exact H. }
    destruct o; try discriminate; destruct o0; try discriminate; try (apply Ext; auto; fail). clear Ext.
    destruct (same t b b0) eqn:Sb; [| discriminate]. apply same_value in Sb.
    change (l <= Z.quot (val a) (val b) - Z.quot (val a0) (val b0) <= h). rewrite <- Sb.
    destruct (known b) as [k |] eqn:Kb.
    + destruct (Z.ltb_spec 0 k) as [K |]; [| discriminate]. apply (known_value call V) in Kb. rewrite Kb.
      destruct (near (minus t a a0)) as [[l1 h1] |] eqn:N; [| discriminate]. cbn [option_map fst snd] in E.
      assert (l = Z.min 0 (l1 / k) /\ h = Z.max 0 (- (- h1 / k))) as [-> ->] by (split; congruence). apply R in N.
      rewrite (minus_value call V t T) in N. apply quot_near; assumption.
    + destruct (same t b D) eqn:Sd; [| discriminate]. apply same_value in Sd. rewrite Sd. clear Sb Sd Kb.
      destruct (near (scaled t (minus t a a0) sign)) as [[l1 h1] |] eqn:N; [| discriminate]. cbn [option_map fst snd] in E.
      rewrite !Z.div_1_r, Z.opp_involutive in E.
      assert (l = Z.min 0 l1 /\ h = Z.max 0 h1) as [-> ->] by (split; congruence). apply R in N.
      rewrite (scaled_value call V t T), (minus_value call V t T) in N.
      set (d := val D) in *. destruct (Z.eq_dec d 0) as [-> | Nz].
      * rewrite !Z.quot_0_r_ext by reflexivity. lia.
      * destruct Sign as [-> | ->].
        -- apply quot_farther; lia.
        -- rewrite <- (Z.quot_opp_opp (val a) d), <- (Z.quot_opp_opp (val a0) d) by lia. apply quot_farther; lia.
Qed.

Lemma pick_near near m c down e rest :
  right near -> pick t D sign near m c down = Some (e, rest) ->
  exists n, fst e <= product m - product n <= snd e /\ sum down = c * product n + sum rest.
Proof.
  intros R. revert e rest. induction down as [| [n d] more IH]; intros e rest E; [discriminate |]. cbn [pick] in E.
  assert (Here : forall e', (if c =? d then pair t D sign near m n else None) = Some e' ->
            exists n', fst e' <= product m - product n' <= snd e' /\ sum ((n, d) :: more) = c * product n' + sum more).
  { intros [l h] X. destruct (Z.eqb_spec c d) as [<- |]; [| discriminate]. exists n. split; [eapply pair_near; eassumption | reflexivity]. }
  assert (There : option_map (fun r => (fst r, (n, d) :: snd r)) (pick t D sign near m c more) = Some (e, rest) ->
            exists n', fst e <= product m - product n' <= snd e /\ sum ((n, d) :: more) = c * product n' + sum rest).
  { intros X. destruct (pick t D sign near m c more) as [[e' r'] |]; [| discriminate]. cbn [option_map fst snd] in X.
    assert (e = e' /\ rest = (n, d) :: r') as [-> ->] by (split; congruence).
    destruct (IH e' r' eq_refl) as (n' & B & S). exists n'. split; [exact B |]. cbn [sum_of]. lia. }
  destruct (if c =? d then pair t D sign near m n else None) as [e0 |] eqn:Eh; [| exact (There E)].
  destruct (option_map (fun r => (fst r, (n, d) :: snd r)) (pick t D sign near m c more)) as [r |] eqn:Eo.
  - destruct (_ <? _); [exact (There E) |]. assert (e = e0 /\ rest = more) as [-> ->] by (split; congruence). apply Here. reflexivity.
  - assert (e = e0 /\ rest = more) as [-> ->] by (split; congruence). apply Here. reflexivity.
Qed.

Lemma matched_near near up : forall down low high l h v,
  right near -> (forall m c, In (m, c) up -> 0 < c) -> matched t D sign near up down low high = Some (l, h) ->
  low <= v <= high -> l <= v + sum up - sum down <= h.
Proof.
  induction up as [| [m c] up IH]; intros down low high l h v R P E B; cbn [matched] in E.
  - destruct down; [| discriminate]. assert (l = low /\ h = high) as [-> ->] by (split; congruence). cbn [sum_of]. lia.
  - destruct (pick t D sign near m c down) as [[e rest] |] eqn:Ep; [| destruct down; discriminate].
    destruct (pick_near near m c down e rest R Ep) as (n & Bn & S). pose proof (P m c (or_introl eq_refl)) as C.
    assert (E' : matched t D sign near up rest (low + c * fst e) (high + c * snd e) = Some (l, h)) by (destruct down; exact E).
    pose proof (IH rest _ _ l h (v + c * (product m - product n)) R ltac:(intros; eapply P; right; eassumption) E' ltac:(nia)) as H.
    cbn [sum_of]. rewrite S. lia.
Qed.

(** [apart], where the sign of the divisor is right; by 0 all quotients are 0. *)
Theorem distance fuel : right (apart t D sign fuel).
Proof.
  induction fuel as [| fuel IH]; intros d l h E; [discriminate |]. destruct d as [ts c]. cbn [apart] in E. rewrite value_num.
  apply (matched_near _ _ _ _ _ _ _ c IH) in E; [| intros m q I; apply filter_In in I as [_ I]; apply Z.ltb_lt in I; exact I | lia].
  assert (S : sum ts = sum (filter (fun m => 0 <? snd m) ts) - sum (map (fun m => (fst m, - snd m)) (filter (fun m => snd m <? 0) ts))).
  { clear. induction ts as [| [m q] ts IH]; [reflexivity |]. cbn [filter snd sum_of]. destruct (Z.ltb_spec 0 q), (Z.ltb_spec q 0);
      cbn [map sum_of fst snd]; try lia. assert (q = 0) as -> by lia. lia. }
  rewrite S. lia.
Qed.

End Distances.

(** c = ((32 n + 5) & 31) is 5, whatever n is. *)
Example a_mask call : apply2 (plain_table (fun _ => (None, None))) call BitAnd (Num [([Unknown 0], 32)] 5) (const 31) = (const 5, []).
Proof. reflexivity. Qed.
