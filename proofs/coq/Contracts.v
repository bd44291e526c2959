(** Contracts on data, as certificates have them: what a contract says at some indices ([instance]), and added up from one
    index to another ([telescoped]), where some potentials are nonnegative. *)

From Coq Require Import ZArith QArith Qround List String Bool Lia Lqa.
From Warpbound Require Import Syntax Metrics Lockstep Logic Lemmas Normal.
Import ListNotations.
Open Scope Q_scope.

(** What array A holds at i is a call of "elem:A" with i and 0. A contract says that a quantity is nonnegative for all
    values of some variables, each from a first one to before a last one, where there are such. *)

Record contract := Contract { ranges : list (string * (option pot * option pot)); claims_of : pot }.

Definition element (A : string) (i : pot) : pot := Apply (Call2 A) i (PConst 0).

(** The store where variables have these values *)
Fixpoint binds (names : list string) (zs : list Z) (x : string) : option Z :=
  match names, zs with
  | n :: names, z :: zs => if String.eqb n x then Some z else binds names zs x
  | _, _ => None
  end.

Definition bound (names : list string) (zs : list Z) (sigma : store) : store :=
  Store (fun x t => match binds names zs x with Some z => VInt z | None => local sigma x t end) (contents sigma) (later sigma).

Definition between (M : machine) (sigma : store) (t : thread) (r : string * (option pot * option pot)) (z : Z) : Prop :=
  (forall l, fst (snd r) = Some l -> (peval M sigma l t <= inject_Z z)%Q)
  /\ (forall h, snd (snd r) = Some h -> (inject_Z z + 1 <= peval M sigma h t)%Q).

Definition kept (M : machine) (sigma : store) (t : thread) (c : contract) : Prop :=
  forall zs, Forall2 (between M sigma t) (ranges c) zs ->
    (0 <= peval M (bound (map fst (ranges c)) zs sigma) (claims_of c) t)%Q.

Definition equal_polys (p q : poly) : bool := match minus p q with [] => true | _ => false end.

(** None of these variables, and no array, in a potential *)
Definition without_ (names : list string) (q : pot) : bool :=
  forallb (fun e => plain e && forallb (fun x => negb (existsb (String.eqb x) names)) (vars e)) (leaves q).

(** What has to be nonnegative for t to be in a range, or one past it where [last] is 0 *)
Definition inside (r : string * (option pot * option pot)) (t : poly) (last : Q) : list poly :=
  match fst (snd r) with Some l => [minus t (normal l)] | None => [] end
  ++ match snd (snd r) with Some h => [minus (minus (normal h) (constant last)) t] | None => [] end.

Fixpoint distinct (names : list string) : bool :=
  match names with [] => true | x :: more => negb (existsb (String.eqb x) more) && distinct more end.

Definition instance (c : contract) (ts : list pot) : option (poly * list poly) :=
  let names := map fst (ranges c) in
  if Nat.eqb (List.length ts) (List.length names) && distinct names
     && forallb (fun t => whole_poly (normal t) && without_ names t) ts
  then
    let v := replaced (combine (map (fun x => Leaf (Var x)) names) (map normal ts)) (claims_of c) in
    if without_ names (to_pot v)
    then Some (v, flat_map (fun rt => inside (fst rt) (normal (snd rt)) 1) (combine (ranges c) ts))
    else None
  else None.

Definition telescoped (d : contract) (A : string) (c : Q) (w s t : pot) : option (poly * list poly) :=
  match ranges d with
  | [r] =>
      let i := Leaf (Var (fst r)) in
      let at_ x := normal (element A x) in
      let (ps, pt) := (normal s, normal t) in
      let rises := plus (scale c (minus (at_ (PAdd i (PConst 1))) (at_ i))) (normal w) in
      if whole_poly ps && whole_poly pt && without_ [fst r] w && equal_polys (normal (claims_of d)) rises
      then Some (plus (scale c (minus (at_ t) (at_ s))) (times (normal w) (minus pt ps)),
                 inside r ps 0 ++ [minus pt ps] ++ inside r pt 0)
      else None
  | _ => None
  end.

(** * That they are right *)

(** For all i from low to before high, or without a limit *)
Definition within (low high : option Z) (i : Z) : Prop :=
  (forall l, low = Some l -> (l <= i)%Z) /\ (forall h, high = Some h -> (i < h)%Z).

(** [instance]: a contract holds at indices in its ranges. *)
Theorem contract_instance (ranges : list (option Z * option Z)) (q : list Z -> Q) ts :
  (forall ts, Forall2 (fun r t => within (fst r) (snd r) t) ranges ts -> 0 <= q ts) ->
  Forall2 (fun r t => (forall l, fst r = Some l -> 0 <= t - l)%Z /\ (forall h, snd r = Some h -> 0 <= h - 1 - t)%Z) ranges ts ->
  0 <= q ts.
Proof.
  intros H F. apply H. clear H. induction F as [| [low high] t ranges ts [L U] F IH]; constructor; [| exact IH].
  cbn [fst snd] in *. split; [intros l E; specialize (L l E) | intros h E; specialize (U h E)]; lia.
Qed.

(** [telescope]: where c (A[i + 1] - A[i]) + w >= 0 for all i in the range, what that adds up to from s to before t *)
Theorem contract_telescope (A : Z -> Z) (c w : Q) low high s t :
  (forall i, within low high i -> 0 <= c * (inject_Z (A (i + 1)%Z) - inject_Z (A i)) + w) ->
  (forall l, low = Some l -> 0 <= s - l)%Z -> (s <= t)%Z -> (forall h, high = Some h -> 0 <= h - t)%Z ->
  0 <= c * (inject_Z (A t) - inject_Z (A s)) + w * inject_Z (t - s).
Proof.
  intros H L St U. remember (Z.to_nat (t - s)) as n eqn:En. assert (Et : t = (s + Z.of_nat n)%Z) by lia. subst t. clear En St.
  replace (s + Z.of_nat n - s)%Z with (Z.of_nat n) by lia. induction n as [| n IH].
  - replace (s + Z.of_nat 0)%Z with s by lia. change (inject_Z (Z.of_nat 0)) with 0. lra.
  - assert (IH' : 0 <= c * (inject_Z (A (s + Z.of_nat n)%Z) - inject_Z (A s)) + w * inject_Z (Z.of_nat n)).
    { apply IH. intros h E. specialize (U h E). lia. }
    specialize (H (s + Z.of_nat n)%Z). replace (s + Z.of_nat n + 1)%Z with (s + Z.of_nat (S n))%Z in H by lia.
    assert (W : within low high (s + Z.of_nat n)).
    { split; [intros l E; specialize (L l E); lia | intros h E; specialize (U h E); lia]. }
    specialize (H W). assert (inject_Z (Z.of_nat (S n)) == inject_Z (Z.of_nat n) + 1) as ->.
    { change 1 with (inject_Z 1). rewrite <- inject_Z_plus. replace (Z.of_nat (S n)) with (Z.of_nat n + 1)%Z by lia. reflexivity. }
    lra.
Qed.

Section Values.

Variable M : machine.
Variable sigma : store.
Variable t : thread.

Notation val p := (poly_value M sigma t p).

Lemma equal_polys_value p q : equal_polys p q = true -> val p == val q.
Proof.
  unfold equal_polys. destruct (minus p q) eqn:E; [| discriminate]. intros _.
  assert (val (minus p q) == 0) as D by (rewrite E; reflexivity). rewrite minus_value in D. lra.
Qed.

Lemma unbound names zs x : existsb (String.eqb x) names = false -> binds names zs x = None.
Proof.
  revert zs. induction names as [| n names IH]; intros zs H; [reflexivity |]. cbn in H. apply orb_false_iff in H as [N H].
  destruct zs as [| z zs]; [reflexivity |]. cbn. rewrite String.eqb_sym, N. apply IH, H.
Qed.

Lemma bound_to names zs k x z :
  distinct names = true -> nth_error names k = Some x -> nth_error zs k = Some z -> binds names zs x = Some z.
Proof.
  revert zs k. induction names as [| n names IH]; intros [| y zs] [| k] D N Z; try discriminate; cbn in *.
  - injection N as ->. injection Z as ->. rewrite String.eqb_refl. reflexivity.
  - apply andb_true_iff in D as [D1 D2]. apply negb_true_iff in D1. destruct (String.eqb_spec n x) as [-> | _].
    + exfalso. apply nth_error_In in N. rewrite <- not_true_iff_false in D1. apply D1, existsb_exists.
      exists x. split; [exact N | apply String.eqb_refl].
    + eapply IH; eassumption.
Qed.

Lemma without_value names zs q : without_ names q = true -> peval M (bound names zs sigma) q t = peval M sigma q t.
Proof.
  intros W. assert (E : forall e, In e (leaves q) -> eval M (bound names zs sigma) e t = eval M sigma e t).
  { intros e I. unfold without_ in W. rewrite forallb_forall in W. specialize (W e I). apply andb_true_iff in W as [P W].
    apply eval_same; [exact P |]. intros x J. rewrite forallb_forall in W. specialize (W x J). apply negb_true_iff in W.
    cbn [bound local]. rewrite unbound by exact W. reflexivity. }
  clear W. induction q; cbn [peval leaves] in *; auto;
    try (rewrite IHq1, IHq2 by (intros; apply E, in_app_iff; auto)); try (rewrite IHq by exact E); try reflexivity.
  rewrite E by (left; reflexivity). reflexivity.
Qed.

Lemma inside_value r p last :
  (forall q, In q (inside r p last) -> 0 <= val q) ->
  (forall l, fst (snd r) = Some l -> peval M sigma l t <= val p)
  /\ (forall h, snd (snd r) = Some h -> val p + last <= peval M sigma h t).
Proof.
  intros H. unfold inside in H. split.
  - intros l E. rewrite E in H. specialize (H _ (or_introl eq_refl)). rewrite minus_value, normal_value in H. lra.
  - intros h E. rewrite E in H. assert (0 <= val (minus (minus (normal h) (constant last)) p)) as K.
    { apply H, in_app_iff. right. left. reflexivity. }
    rewrite !minus_value, normal_value, constant_value in K. lra.
Qed.

Lemma instance_value c ts v needs :
  instance c ts = Some (v, needs) -> kept M sigma t c -> (forall r, In r needs -> 0 <= val r) -> 0 <= val v.
Proof.
  intros E K N. unfold instance in E. set (names := map fst (ranges c)) in *.
  destruct (Nat.eqb (List.length ts) (List.length names) && distinct names
            && forallb (fun u => whole_poly (normal u) && without_ names u) ts) eqn:G; [| discriminate].
  rewrite !andb_true_iff in G. destruct G as [[Ln D] G]. apply Nat.eqb_eq in Ln. rewrite forallb_forall in G.
  set (w := replaced (combine (map (fun x => Leaf (Var x)) names) (map normal ts)) (claims_of c)) in *.
  destruct (without_ names (to_pot w)) eqn:Ww; [| discriminate]. injection E as <- <-.
  set (zs := map (fun u => Qfloor (val (normal u))) ts).
  assert (Wh : forall u, In u ts -> val (normal u) == inject_Z (Qfloor (val (normal u)))).
  { intros u I. specialize (G u I). apply andb_true_iff in G as [G _].
    apply whole_poly_value with (M := M) (sigma := sigma) (t := t) in G. exact G. }
  assert (F : Forall2 (between M sigma t) (ranges c) zs).
  { unfold zs. unfold names in Ln. rewrite map_length in Ln. clear -Ln Wh N. revert ts Ln Wh N.
    induction (ranges c) as [| r rs IH]; intros [| u ts] Ln Wh N; try discriminate; [constructor |].
    cbn [map combine flat_map fst snd] in *. constructor.
    - destruct (inside_value r (normal u) 1) as [L H]; [intros q I; apply N, in_app_iff; auto |].
      specialize (Wh u (or_introl eq_refl)). split.
      + intros l El. specialize (L l El). rewrite Wh in L. exact L.
      + intros h Eh. specialize (H h Eh). rewrite Wh in H. exact H.
    - apply IH; [cbn in Ln; lia | intros x I; apply Wh; right; exact I | intros q I; apply N, in_app_iff; auto]. }
  specialize (K zs F). fold names in K.
  assert (V : poly_value M (bound names zs sigma) t w == peval M (bound names zs sigma) (claims_of c) t).
  { apply replaced_value. intros a q I. apply In_nth_error in I as (k & I).
    assert (Ik : exists x u, nth_error names k = Some x /\ nth_error ts k = Some u /\ a = Leaf (Var x) /\ q = normal u).
    { clear -I. revert ts k I. induction names as [| x ns IH]; intros [| u us] [| k] I; try discriminate; cbn in *.
      - injection I as <- <-. eauto 6.
      - apply IH, I. }
    destruct Ik as (x & u & Nx & Nu & -> & ->). rewrite normal_value.
    assert (Iu : In u ts) by (eapply nth_error_In; exact Nu).
    pose proof (G u Iu) as Gu. apply andb_true_iff in Gu as [_ Gu]. rewrite (without_value names zs u Gu).
    cbn [peval eval bound local]. rewrite (bound_to names zs k x (Qfloor (val (normal u)))); [| exact D | exact Nx |].
    - cbn [as_int]. rewrite <- (Wh u Iu), normal_value. reflexivity.
    - unfold zs. apply (map_nth_error (fun u => Qfloor (val (normal u)))), Nu. }
  rewrite <- (to_pot_value M sigma t w), <- (without_value names zs (to_pot w) Ww), to_pot_value, V. exact K.
Qed.

Lemma telescoped_value d A c w s u v needs :
  telescoped d A c w s u = Some (v, needs) -> kept M sigma t d -> (forall r, In r needs -> 0 <= val r) -> 0 <= val v.
Proof.
  intros E K N. unfold telescoped in E. destruct (ranges d) as [| r [| ? ?]] eqn:Er; try discriminate. cbv zeta in E.
  destruct (whole_poly (normal s) && whole_poly (normal u) && without_ [fst r] w && equal_polys (normal (claims_of d)) _) eqn:G;
    [| discriminate].
  rewrite !andb_true_iff in G. destruct G as [[[Ws Wu] Ww] G]. injection E as <- <-.
  apply whole_poly_value with (M := M) (sigma := sigma) (t := t) in Ws, Wu. unfold is_whole in Ws, Wu.
  set (zs := Qfloor (val (normal s))) in *. set (zu := Qfloor (val (normal u))) in *.
  pose (held := fun z => as_int (call M A [VInt z; VInt 0])).
  assert (El : forall tau x z, peval M tau x t == inject_Z z -> poly_value M tau t (normal (element A x)) == inject_Z (held z)).
  { intros tau x z X. rewrite normal_value. cbn [element peval denote2]. rewrite (Qfloor_comp _ _ X), Qfloor_Z. reflexivity. }
  destruct (inside_value r (normal s) 0) as [Ls _]; [intros q I; apply N, in_app_iff; auto |].
  destruct (inside_value r (normal u) 0) as [_ Hu]; [intros q I; apply N, in_app_iff; right; right; exact I |].
  assert (Le : 0 <= val (minus (normal u) (normal s))) by (apply N, in_app_iff; right; left; reflexivity).
  rewrite minus_value, Ws, Wu in Le.
  assert (Zs : (zs <= zu)%Z).
  { rewrite Zle_Qle. lra. }
  assert (Step : forall z, within (Some zs) (Some zu) z ->
    0 <= c * (inject_Z (held (z + 1)%Z) - inject_Z (held z)) + peval M sigma w t).
  { intros z [Lz Hz]. specialize (Lz zs eq_refl). specialize (Hz zu eq_refl).
    assert (F : Forall2 (between M sigma t) (ranges d) [z]).
    { rewrite Er. constructor; [| constructor]. split.
      - intros l Ll. specialize (Ls l Ll). rewrite Ws in Ls. rewrite Zle_Qle in Lz. lra.
      - intros h Hh. specialize (Hu h Hh). rewrite Wu in Hu. assert (inject_Z z + 1 <= inject_Z zu); [| lra].
        change 1 with (inject_Z 1). rewrite <- inject_Z_plus, <- Zle_Qle. lia. }
    specialize (K [z] F). rewrite Er in K. cbn [map] in K. set (tau := bound [fst r] [z] sigma) in *.
    assert (I0 : peval M tau (Leaf (Var (fst r))) t == inject_Z z).
    { cbn [peval eval tau bound local binds]. rewrite String.eqb_refl. reflexivity. }
    assert (I1 : peval M tau (PAdd (Leaf (Var (fst r))) (PConst 1)) t == inject_Z (z + 1)).
    { cbn [peval]. cbn [peval] in I0. rewrite I0, inject_Z_plus. reflexivity. }
    unfold equal_polys in G. destruct (minus (normal (claims_of d)) _) eqn:Eq; [| discriminate].
    assert (Z0 : poly_value M tau t (minus (normal (claims_of d))
      (plus (scale c (minus (normal (element A (PAdd (Leaf (Var (fst r))) (PConst 1)))) (normal (element A (Leaf (Var (fst r))))))) (normal w))) == 0)
      by (rewrite Eq; reflexivity).
    rewrite minus_value, plus_value, scale_value, minus_value, (El tau _ _ I0), (El tau _ _ I1), !normal_value in Z0.
    pose proof (without_value [fst r] [z] w Ww) as Wv. fold tau in Wv. rewrite Wv in Z0. lra. }
  pose proof (contract_telescope held c (peval M sigma w t) (Some zs) (Some zu) zs zu Step) as Te.
  rewrite plus_value, scale_value, times_value, !minus_value, (El sigma s zs), (El sigma u zu), normal_value, Ws, Wu
    by (rewrite <- normal_value; assumption).
  rewrite inject_Z_sub in Te. apply Te; [intros l Ll; injection Ll as <-; lia | exact Zs | intros h Hh; injection Hh as <-; lia].
Qed.

End Values.
