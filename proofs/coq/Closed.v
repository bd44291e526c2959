(** Every main theorem rests on no axiom. The build counts the lines that say so. *)

From Warpbound Require Import Metrics Interpreter Logic Soundness Counterexamples.

Print Assumptions exec_is_a_run.
Print Assumptions a_run_is_executed.
Print Assumptions four_sane.
Print Assumptions derivable_good.
Print Assumptions soundness.
Print Assumptions theorem_1.
Print Assumptions every_prefix.
Print Assumptions printed_if4_is_unsound.
Print Assumptions printed_while2_is_unsound.
Print Assumptions printed_vwrite2_is_unsound.
Print Assumptions mem_reads_with_ceil_is_wrong.
Print Assumptions a_broadcast_is_no_conflict.
Print Assumptions printed_theorem_5_is_wrong.
Print Assumptions printed_theorem_4_is_wrong.
