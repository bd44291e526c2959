(** Cost metrics (Table 1) and hardware as data; MemReads and Conflicts on byte addresses. Costs are rationals. *)

From Coq Require Import ZArith QArith List Lqa Lia.
Import ListNotations.

(** * Metrics

    The price of what has a count n is max(0, slope * n + intercept). *)

Record line := Line { slope : Q; intercept : Q }.

Definition larger (a b : Q) : Q := if Qle_bool a b then b else a.

Definition at_count (l : line) (n : Z) : Q := larger 0 (slope l * inject_Z n + intercept l).

Record metric := Metric {
  m_var : Q; m_const : Q; m_param : Q; m_op : Q; m_if : Q; m_div : Q; m_vwrite : Q; m_sync : Q;
  m_gread : line; m_sread : line; m_gwrite : line; m_swrite : line
}.

(** No price is negative, none falls with the count. *)
Definition sane (m : metric) : Prop :=
  0 <= m_var m /\ 0 <= m_const m /\ 0 <= m_param m /\ 0 <= m_op m /\ 0 <= m_if m /\ 0 <= m_div m /\ 0 <= m_vwrite m
  /\ 0 <= m_sync m
  /\ 0 <= slope (m_gread m) /\ 0 <= slope (m_sread m) /\ 0 <= slope (m_gwrite m) /\ 0 <= slope (m_swrite m).

Definition free := Line 0 0.
Definition each := Line 1 0.
Definition beyond_one := Line 1 (-1).

(** The four metrics of Table 1. *)
Definition sectors := Metric 0 0 0 0 0 0 0 0 each free each free.
Definition conflicts := Metric 0 0 0 0 0 0 0 0 free beyond_one free beyond_one.
Definition divwarps := Metric 0 0 0 0 0 1 0 0 free free free free.
Definition steps := Metric 1 1 1 1 1 1 1 1 each beyond_one each beyond_one.

(** * Hardware: sizes in bytes, [banks] of [word] bytes each, [warp] lanes *)

Record hardware := Hardware { sector : Z; banks : Z; word : Z; warp : Z }.

Definition nvidia := Hardware 32 32 4 32.

Open Scope Z_scope.

(** n integers from [from] on. *)
Definition range (from : Z) (n : nat) : list Z := map (fun k => from + Z.of_nat k) (seq 0 n).

(** The [unit]-byte blocks that [width] bytes at the address a touch. *)
Definition blocks (width unit a : Z) : list Z :=
  range (a / unit) (Z.to_nat ((a + width - 1) / unit - a / unit + 1)).

(** The blocks that accesses at these addresses touch, each once. *)
Definition touched (width unit : Z) (addresses : list Z) : list Z :=
  nodup Z.eq_dec (flat_map (blocks width unit) addresses).

Definition count {A} (l : list A) : Z := Z.of_nat (length l).

Definition largest (l : list Z) : Z := fold_right Z.max 0 l.

(** MemReads: the distinct sectors touched (erratum 8: floor). *)
Definition mem_reads (h : hardware) (width : Z) (addresses : list Z) : Z :=
  count (touched width (sector h) addresses).

(** Conflicts: the most distinct words touched in one bank (erratum 8: words, not threads). *)
Definition bank_conflicts (h : hardware) (width : Z) (addresses : list Z) : Z :=
  let words := touched width (word h) addresses in
  largest (map (fun b => count (filter (fun w => w mod banks h =? b) words)) (range 0 (Z.to_nat (banks h)))).

(** * What the proofs ask of these *)

Lemma four_sane : sane sectors /\ sane conflicts /\ sane divwarps /\ sane steps.
Proof. unfold sane; cbn; repeat split; discriminate. Qed.

Open Scope Q_scope.

Lemma larger_l a b : a <= larger a b.
Proof. unfold larger. destruct (Qle_bool a b) eqn:E; [apply Qle_bool_iff, E | apply Qle_refl]. Qed.

Lemma larger_r a b : b <= larger a b.
Proof.
  unfold larger. destruct (Qle_bool a b) eqn:E; [apply Qle_refl |].
  apply Qlt_le_weak, Qnot_le_lt. intro H. apply Qle_bool_iff in H. congruence.
Qed.

Lemma larger_least a b c : a <= c -> b <= c -> larger a b <= c.
Proof. intros; unfold larger; destruct (Qle_bool a b); assumption. Qed.

Lemma at_count_nonneg l n : 0 <= at_count l n.
Proof. apply larger_l. Qed.

Lemma at_count_mono l n k : 0 <= slope l -> (n <= k)%Z -> at_count l n <= at_count l k.
Proof.
  intros S H. apply larger_least; [apply larger_l |].
  eapply Qle_trans; [| apply larger_r].
  apply Qplus_le_compat; [| apply Qle_refl].
  rewrite (Qmult_comm _ (inject_Z n)), (Qmult_comm _ (inject_Z k)).
  apply Qmult_le_compat_r; [rewrite <- Zle_Qle; exact H | exact S].
Qed.
