(** One program from its derivation to its claim: [G[tid.x] <- 1] costs a warp at most 4 sectors, and exactly 4 where all
    its lanes are active. G is an aligned array of 4-byte elements. *)

From Coq Require Import ZArith QArith List String Bool Lia.
From Warpbound Require Import Syntax Metrics Lockstep Interpreter Logic Counts Soundness Counterexamples.
Import ListNotations.
Open Scope string_scope.
Open Scope Q_scope.

Definition program : stmt := Write "G" tid (int 1).
Definition lanes := machine_of 0 sectors.

(** The first warp of a block in one row *)
Definition first_warp (t : thread) : Prop := exists l, (0 <= l < 32)%Z /\ t = (l, 0, 0)%Z.

Lemma four_sectors : at_most lanes first_warp [] [] "G" tid 4.
Proof.
  intros sigma T (NT & HU & _). apply accesses_least; [lia |]. intros w.
  apply (mem_reads_in_range nvidia 4 _ 0 124); [reflexivity | lia | lia |]. intros a I.
  apply in_map_iff in I as (t & <- & I). apply filter_In in I as [I _]. destruct (HU t I) as (l & L & ->).
  unfold address. cbn -[Z.mul Z.add]. lia.
Qed.

(** {true; 4; {}} G[tid.x] <- 1 {true; 0; {}} *)
Lemma derived : derivable lanes first_warp (Cond [] (PConst 4) []) program (Cond [] zero []).
Proof.
  assert (G : forall q, good (Cond [] (PConst q) [])).
  { intros q. split; [intros p [] | split; [intros y [] | intros e []]]. }
  apply (Q_Equal lanes first_warp [] (charged zero (at_count (write_price lanes "G") 4 + 0 + 0)) [] [] zero [] program).
  - apply (Q_Write lanes first_warp [] zero [] "G" tid (int 1) 0 0 4); [constructor | constructor | exact four_sectors | apply G].
  - intros sigma t. reflexivity.
  - intros sigma t. reflexivity.
  - apply G.
  - apply G.
Qed.

(** Whatever the store holds, and whichever lanes are active *)
Theorem program_costs_at_most_4 sigma T sigma' c :
  T <> [] -> (forall t, In t T -> first_warp t) -> run lanes sigma T program (End sigma') c -> c <= 4.
Proof.
  intros NT HU R. destruct T as [| t T]; [congruence |].
  destruct (theorem_1 lanes first_warp _ _ _ sigma (t :: T) sigma' c (proj1 four_sane) derived) as [_ L]; auto.
  - split; [exact NT |]. split; [exact HU |]. split; [intros u _ p [] | intros y u v []].
  - specialize (L t (or_introl eq_refl)). apply (Qle_trans _ _ _ L). discriminate.
Qed.

Theorem program_costs_4 : exists sigma' c, run lanes zeros (row 32) program (End sigma') c /\ c == 4.
Proof. apply (ends_at 5). vm_compute. reflexivity. Qed.
