(** Every main theorem rests on no axiom. The build counts the lines that say so. *)

From Warpbound Require Import Metrics Interpreter Logic Soundness Counterexamples Counts Example Normal Arithmetic.

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
Print Assumptions a_broken_run_may_pay_more.
Print Assumptions mem_reads_with_ceil_is_wrong.
Print Assumptions a_broadcast_is_no_conflict.
Print Assumptions printed_theorem_5_is_wrong.
Print Assumptions printed_theorem_4_is_wrong.
Print Assumptions mem_reads_mono.
Print Assumptions bank_conflicts_mono.
Print Assumptions accesses_mono.
Print Assumptions uniform_access.
Print Assumptions mem_reads_in_range.
Print Assumptions mem_reads_by_lanes.
Print Assumptions theorem_4_repaired.
Print Assumptions theorem_5_repaired.
Print Assumptions program_costs_at_most_4.
Print Assumptions program_costs_4.
Print Assumptions replaced_value.
Print Assumptions accepted_holds.
Print Assumptions accepted_at_least.
Print Assumptions none_failing.
