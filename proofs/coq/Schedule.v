(** Theorem 2, of instructions that are issued greedily; and instructions that warps make one by one, with the number of
    those issued and the longest chain counted along. Instructions.v has the instructions of a run. *)

From Coq Require Import ZArith QArith Arith List Bool Lia Lqa.
Import ListNotations.

(** * Theorem 2

    Instructions 0 .. n - 1 wait for others, [before], with a lower number, until so many cycles after these were issued as
    they take. Each cycle issues at most [width] of them, and fewer only where no other one is ready. Some are delays: they
    are not issued, they begin when they are ready. Then all are done within W / P + S cycles, where W is how many are
    issued, P the width, and S at least what any chain of them takes. *)

Open Scope nat_scope.

Section Schedule.

Variable n : nat.
Variable before : nat -> list nat.
Variable issues : nat -> bool.
Variables latency start : nat -> nat.
Variable width : nat.

Definition ready (i c : nat) : Prop := forall j, In j (before i) -> start j + latency j <= c.
Definition issued (c : nat) : list nat := filter (fun i => (issues i && Nat.eqb (start i) c)%bool) (seq 0 n).
Definition full (c : nat) : bool := Nat.eqb (List.length (issued c)) width.
Definition slots : nat := List.length (filter issues (seq 0 n)).

(** Chains of instructions by their last one, and what they take *)
Inductive chain : nat -> nat -> Prop :=
  | Chain_one i : i < n -> chain i (latency i)
  | Chain_more i j d : i < n -> In j (before i) -> chain j d -> chain i (d + latency i).

Record greedy : Prop := {
  in_order : forall i j, i < n -> In j (before i) -> j < i;
  waits : forall i, i < n -> ready i (start i);
  no_more : forall c, List.length (issued c) <= width;
  no_less : forall c i, issues i = false \/ List.length (issued c) < width -> i < n -> ready i c -> start i <= c
}.

(** Cycles before c that issue fewer than they could *)
Fixpoint slack (c : nat) : nat := match c with O => 0 | S c => slack c + (if full c then 0 else 1) end.
Fixpoint busy (c : nat) : nat := match c with O => 0 | S c => busy c + (if full c then 1 else 0) end.

Lemma slack_or_busy c : slack c + busy c = c.
Proof. induction c as [| c IH]; cbn; [reflexivity |]. destruct (full c); lia. Qed.

Lemma slack_later c k : slack (c + k) <= slack c + k.
Proof. induction k as [| k IH]; [rewrite Nat.add_0_r; lia |]. rewrite Nat.add_succ_r. cbn. destruct (full (c + k)); lia. Qed.

Lemma slack_full c k : (forall d, c <= d < c + k -> full d = true) -> slack (c + k) = slack c.
Proof.
  induction k as [| k IH]; intros H; [rewrite Nat.add_0_r; reflexivity |]. rewrite Nat.add_succ_r. cbn.
  rewrite H by lia. rewrite IH by (intros; apply H; lia). lia.
Qed.

Lemma busy_issued c :
  busy c * width <= List.length (filter (fun i => (issues i && Nat.ltb (start i) c)%bool) (seq 0 n)).
Proof.
  induction c as [| c IH]; cbn [busy]; [lia |].
  assert (E : forall l, List.length (filter (fun i => (issues i && Nat.ltb (start i) (S c))%bool) l)
              = List.length (filter (fun i => (issues i && Nat.ltb (start i) c)%bool) l)
                + List.length (filter (fun i => (issues i && Nat.eqb (start i) c)%bool) l)).
  { induction l as [| i l IHl]; [reflexivity |]. cbn [filter].
    destruct (issues i), (Nat.ltb_spec (start i) (S c)), (Nat.ltb_spec (start i) c), (Nat.eqb_spec (start i) c);
      cbn [List.length andb]; lia. }
  rewrite E. fold (issued c). unfold full. destruct (Nat.eqb_spec (List.length (issued c)) width); lia.
Qed.

Lemma filter_fewer {A} (f g : A -> bool) l : List.length (filter (fun a => (f a && g a)%bool) l) <= List.length (filter f l).
Proof. induction l as [| a l IH]; cbn; [lia |]. destruct (f a), (g a); cbn; lia. Qed.

Lemma last_one (f : nat -> nat) l : l = [] \/ exists j, In j l /\ forall k, In k l -> f k <= f j.
Proof.
  induction l as [| a l IH]; [left; reflexivity | right]. destruct IH as [-> | (j & I & L)].
  - exists a. split; [left; reflexivity |]. intros k [-> | []]. lia.
  - destruct (Nat.le_gt_cases (f a) (f j)); [exists j | exists a]; (split; [cbn; auto |]); intros k [-> | K];
      try specialize (L k K); lia.
Qed.

Lemma slack_chain (G : greedy) i : i < n -> exists d, chain i d /\ slack (start i) + latency i <= d.
Proof.
  induction i as [i IH] using lt_wf_ind. intros N.
  assert (Busy : forall c, ready i c -> c < start i -> full c = true).
  { intros c R C. unfold full. apply Nat.eqb_eq. pose proof (no_more G c).
    destruct (Nat.lt_ge_cases (List.length (issued c)) width) as [L |]; [| lia].
    pose proof (no_less G c i (or_intror L) N R). lia. }
  destruct (last_one (fun j => start j + latency j) (before i)) as [E | (j & J & L)].
  - exists (latency i). split; [constructor; exact N |].
    assert (slack (0 + start i) = slack 0) as Z0.
    { apply slack_full. intros d D. apply Busy; [unfold ready; rewrite E; intros k [] | lia]. }
    cbn in Z0. lia.
  - destruct (IH j (in_order G i j N J)) as (d & C & D).
    { pose proof (in_order G i j N J). lia. }
    exists (d + latency i). split; [apply (Chain_more i j); auto |].
    pose proof (waits G i N j J) as Wj. cbn beta in *. set (r := start j + latency j) in *.
    replace (start i) with (r + (start i - r)) by lia. rewrite slack_full.
    + pose proof (slack_later (start j) (latency j)). fold r in H. lia.
    + intros c R. apply Busy; [| lia]. intros k K. specialize (L k K). lia.
Qed.

Theorem theorem_2 longest_chain :
  greedy -> 0 < width -> (forall i d, chain i d -> d <= longest_chain) ->
  forall i, i < n -> (inject_Z (Z.of_nat (start i + latency i))
                      <= inject_Z (Z.of_nat slots) / inject_Z (Z.of_nat width) + inject_Z (Z.of_nat longest_chain))%Q.
Proof.
  intros G W H i N. destruct (slack_chain G i N) as (d & C & D). specialize (H i d C).
  set (t := start i + latency i). pose proof (slack_later (start i) (latency i)) as L. fold t in L.
  pose proof (slack_or_busy t) as E. pose proof (busy_issued t) as B.
  pose proof (filter_fewer issues (fun i => Nat.ltb (start i) t) (seq 0 n)) as F. fold slots in F.
  assert (K : (inject_Z (Z.of_nat (busy t)) <= inject_Z (Z.of_nat slots) / inject_Z (Z.of_nat width))%Q).
  { apply Qle_shift_div_l; [change 0%Q with (inject_Z 0); rewrite <- Zlt_Qlt; lia |].
    rewrite <- inject_Z_mult, <- Zle_Qle. nia. }
  assert (T : (inject_Z (Z.of_nat t) == inject_Z (Z.of_nat (busy t)) + inject_Z (Z.of_nat (slack t)))%Q).
  { rewrite <- inject_Z_plus. replace (Z.of_nat t) with (Z.of_nat (busy t) + Z.of_nat (slack t))%Z by lia. reflexivity. }
  assert (M : (inject_Z (Z.of_nat (slack t)) <= inject_Z (Z.of_nat longest_chain))%Q) by (rewrite <- Zle_Qle; lia).
  lra.
Qed.

End Schedule.

(** * Instructions of warps

    An operation of work a and span b is a instructions, one after the other: each takes a cycle, the last one the latency
    b - a longer. Without work it is a delay of b cycles. *)

Record instruction := Instruction { slot : bool; takes : nat; behind_these : list nat }.

Inductive piece := Piece (w : Z) (is_issued : bool) (cycles : nat) | Everyone.

Definition pieces_of (w : Z) (a b : nat) : list piece :=
  match a with O => [Piece w false b] | S k => repeat (Piece w true 1) k ++ [Piece w true (1 + (b - a))] end.

(** The instructions so far, and those for which the next one of each warp waits: its last one, behind a barrier the last
    ones of all *)
Definition program : Type := list instruction * (Z -> list nat).

Definition add (all : list Z) (x : program) (p : piece) : program :=
  let (g, ends) := x in
  match p with
  | Piece w is_issued d => (g ++ [Instruction is_issued d (ends w)], fun v => if Z.eqb v w then [List.length g] else ends v)
  | Everyone => (g, fun _ => flat_map ends all)
  end.

Definition the (g : list instruction) (i : nat) : instruction := nth i g (Instruction false 0 []).
Definition chain_of (g : list instruction) : nat -> nat -> Prop :=
  chain (List.length g) (fun i => behind_these (the g i)) (fun i => takes (the g i)).
Definition issued_of (g : list instruction) : nat := slots (List.length g) (fun i => slot (the g i)).
Definition greedy_of (g : list instruction) (start : nat -> nat) (width : nat) : Prop :=
  greedy (List.length g) (fun i => behind_these (the g i)) (fun i => slot (the g i)) (fun i => takes (the g i)) start width.

(** ** Chains stay as they are when instructions are added *)

Definition sorted (g : list instruction) : Prop :=
  forall i j, i < List.length g -> In j (behind_these (the g i)) -> j < i.

Lemma the_old g x i : i < List.length g -> the (g ++ [x]) i = the g i.
Proof. intros N. unfold the. apply app_nth1, N. Qed.

Lemma the_new g x : the (g ++ [x]) (List.length g) = x.
Proof. unfold the. rewrite app_nth2, Nat.sub_diag by lia. reflexivity. Qed.

Lemma chain_below g i d : chain_of g i d -> i < List.length g.
Proof. intros C. destruct C; assumption. Qed.

Lemma one_of g i : i < List.length g -> chain_of g i (takes (the g i)).
Proof. exact (Chain_one _ _ (fun i => takes (the g i)) i). Qed.

Lemma more_of g i j d :
  i < List.length g -> In j (behind_these (the g i)) -> chain_of g j d -> chain_of g i (d + takes (the g i)).
Proof. exact (Chain_more _ (fun i => behind_these (the g i)) (fun i => takes (the g i)) i j d). Qed.

Lemma chain_kept g x i d : chain_of g i d -> chain_of (g ++ [x]) i d.
Proof.
  intros C. induction C as [i N | i j d N J C IH]; cbn beta in *; rewrite <- (the_old g x i N).
  - apply one_of. rewrite app_length. cbn. lia.
  - apply (more_of _ i j); [rewrite app_length; cbn; lia | rewrite the_old by exact N; exact J | exact IH].
Qed.

Lemma chain_old g x i d : sorted g -> i < List.length g -> chain_of (g ++ [x]) i d -> chain_of g i d.
Proof.
  intros S N C. induction C as [i _ | i j d _ J C IH]; cbn beta in *; rewrite the_old in * by exact N.
  - apply one_of, N.
  - apply (more_of g i j); [exact N | exact J | apply IH]. specialize (S i j N J). lia.
Qed.

(** ** Counting along *)

Definition tally : Type := nat * (Z -> nat).

Definition tick (all : list Z) (x : tally) (p : piece) : tally :=
  let (k, sp) := x in
  match p with
  | Piece w is_issued d => ((if is_issued then 1 else 0) + k, fun v => if Z.eqb v w then sp v + d else sp v)
  | Everyone => (k, fun _ => list_max (map sp all))
  end.

Definition known (all : list Z) (p : piece) : Prop := match p with Piece w _ _ => In w all | Everyone => True end.

Record counts (all : list Z) (x : program) (y : tally) : Prop := {
  c_sorted : sorted (fst x);
  c_ends : forall w j, In j (snd x w) -> j < List.length (fst x);
  c_issued : issued_of (fst x) = fst y;
  c_most : forall w j d, In j (snd x w) -> chain_of (fst x) j d -> d <= snd y w;
  c_some : forall w, snd y w = 0 \/ exists j, In j (snd x w) /\ chain_of (fst x) j (snd y w);
  c_all : forall i d, chain_of (fst x) i d -> exists w, In w all /\ d <= snd y w
}.

Lemma at_most_list_max (f : Z -> nat) l w : In w l -> f w <= list_max (map f l).
Proof.
  intros I. pose proof (proj1 (list_max_le (map f l) (list_max (map f l))) (le_n _)) as F.
  rewrite Forall_forall in F. apply F, in_map, I.
Qed.

Lemma some_list_max (f : Z -> nat) l : list_max (map f l) = 0 \/ exists w, In w l /\ f w = list_max (map f l).
Proof.
  induction l as [| v l IH]; [left; reflexivity |]. change (list_max (map f (v :: l))) with (Nat.max (f v) (list_max (map f l))).
  destruct (Nat.max_spec (f v) (list_max (map f l))) as [[_ ->] | [_ ->]].
  - destruct IH as [-> | (w & I & E)]; [left; reflexivity | right; exists w; split; [right; exact I | exact E]].
  - right. exists v. split; [left |]; reflexivity.
Qed.

Lemma issued_more g x : issued_of (g ++ [x]) = (if slot x then 1 else 0) + issued_of g.
Proof.
  unfold issued_of, slots. rewrite app_length, Nat.add_comm. cbn [List.length Nat.add].
  rewrite seq_S, filter_app, app_length. cbn [Nat.add filter]. rewrite the_new.
  rewrite (filter_ext_in (fun i => slot (the (g ++ [x]) i)) (fun i => slot (the g i))).
  - destruct (slot x); cbn [List.length]; lia.
  - intros i I. apply in_seq in I. rewrite the_old by lia. reflexivity.
Qed.

Lemma counts_add all x y p : known all p -> counts all x y -> counts all (add all x p) (tick all y p).
Proof.
  destruct x as [g ends], y as [k sp]. intros K [So E I Mo Sm A]. cbn [fst snd] in *. destruct p as [w b d | ]; cbn [add tick known] in *.
  - assert (New : forall e, chain_of (g ++ [Instruction b d (ends w)]) (List.length g) e -> e <= sp w + d).
    { intros e C. inversion C as [i N Ei Ee | i j e' N J C' Ei Ee]; subst; cbn beta in *; rewrite the_new in *; cbn [takes behind_these] in *.
      - lia.
      - specialize (Mo w j e' J (chain_old _ _ _ _ So (E w j J) C')). lia. }
    split; cbn [fst snd].
    + intros i j N J. rewrite app_length in N. cbn in N. destruct (Nat.eq_dec i (List.length g)) as [-> | D].
      * rewrite the_new in J. apply (E w), J.
      * rewrite the_old in J by lia. apply So; [lia | exact J].
    + intros v j J. rewrite app_length. cbn. destruct (Z.eqb v w); [destruct J as [<- | []]; lia |]. specialize (E v j J). lia.
    + rewrite issued_more. cbn [slot]. rewrite I. reflexivity.
    + intros v j e J C. destruct (Z.eqb_spec v w) as [-> | D].
      * destruct J as [<- | []]. apply New, C.
      * apply (Mo v j e J), (chain_old _ _ _ _ So (E v j J) C).
    + intros v. destruct (Z.eqb_spec v w) as [-> | D].
      * right. exists (List.length g). split; [left; reflexivity |].
        assert (Tk : d = takes (the (g ++ [Instruction b d (ends w)]) (List.length g))) by (rewrite the_new; reflexivity).
        assert (N : List.length g < List.length (g ++ [Instruction b d (ends w)])) by (rewrite app_length; cbn; lia).
        destruct (Sm w) as [-> | (j & J & C)].
        -- cbn [Nat.add]. rewrite Tk at 2. apply one_of, N.
        -- rewrite Tk at 2. apply (more_of _ _ j); [exact N | rewrite the_new; exact J | apply chain_kept, C].
      * destruct (Sm v) as [Z0 | (j & J & C)]; [left; exact Z0 | right; exists j; split; [exact J | apply chain_kept, C]].
    + intros i e C. pose proof (chain_below _ _ _ C) as N. rewrite app_length in N. cbn in N.
      destruct (Nat.eq_dec i (List.length g)) as [-> | D].
      * exists w. split; [exact K |]. rewrite Z.eqb_refl. apply New, C.
      * destruct (A i e) as (v & V & L); [apply (chain_old _ _ _ _ So) in C; [exact C | lia] |].
        exists v. split; [exact V |]. destruct (Z.eqb v w); lia.
  - split; cbn [fst snd]; auto.
    + intros _ j J. apply in_flat_map in J as (v & _ & J). apply (E v j J).
    + intros _ j e J C. apply in_flat_map in J as (v & V & J). specialize (Mo v j e J C).
      pose proof (at_most_list_max sp all v V). lia.
    + intros _. destruct (some_list_max sp all) as [Z0 | (v & V & <-)]; [left; exact Z0 |].
      destruct (Sm v) as [Z0 | (j & J & C)]; [left; exact Z0 |]. right. exists j.
      split; [apply in_flat_map; exists v; auto | exact C].
    + intros i e C. destruct (A i e C) as (v & V & L). exists v. split; [exact V |].
      pose proof (at_most_list_max sp all v V). lia.
Qed.

Lemma counts_all all l : Forall (known all) l ->
  forall x y, counts all x y -> counts all (fold_left (add all) l x) (fold_left (tick all) l y).
Proof. induction 1 as [| p l K _ IH]; intros x y C; [exact C |]. cbn [fold_left]. apply IH, counts_add; assumption. Qed.

Lemma counts_none all : counts all ([], fun _ => []) (0, fun _ => 0).
Proof.
  split; cbn [fst snd]; try (intros; contradiction).
  - intros i j N. cbn in N. lia.
  - reflexivity.
  - left. reflexivity.
  - intros i d C. apply chain_below in C. cbn in C. lia.
Qed.

Lemma ticks all w a b k sp : a <= b ->
  exists sp', fold_left (tick all) (pieces_of w a b) (k, sp) = (a + k, sp')
              /\ forall v, sp' v = if Z.eqb v w then sp v + b else sp v.
Proof.
  destruct a as [| a]; intros L.
  - eexists. split; [reflexivity |]. intros v. reflexivity.
  - unfold pieces_of. rewrite fold_left_app.
    assert (H : forall sp k, exists sp', fold_left (tick all) (repeat (Piece w true 1) a) (k, sp) = (a + k, sp')
                /\ forall v, sp' v = if Z.eqb v w then sp v + a else sp v).
    { clear. induction a as [| a IH]; intros sp k.
      - exists sp. split; [reflexivity |]. intros v. destruct (Z.eqb v w); lia.
      - cbn [repeat fold_left tick]. destruct (IH (fun v => if Z.eqb v w then sp v + 1 else sp v) (1 + k)) as (sp' & E & F).
        exists sp'. split; [etransitivity; [exact E | f_equal; lia] |]. intros v. rewrite F. destruct (Z.eqb v w); lia. }
    destruct (H sp k) as (sp' & E & F).
    rewrite E. cbn [fold_left tick]. eexists. split; [reflexivity |]. intros v. cbn beta. rewrite F. destruct (Z.eqb v w); lia.
Qed.
