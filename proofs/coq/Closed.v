(** Every main theorem rests on no axiom. The build counts the lines that say so. *)

From Warpbound Require Import Metrics Interpreter Logic Soundness Counterexamples Counts Rows Values Bounds Example Normal
  Arithmetic.

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
Print Assumptions measure_shifted.
Print Assumptions measure_app.
Print Assumptions rows_apart.
Print Assumptions by_residues.
Print Assumptions residue_tried.
Print Assumptions one_row_by_residues.
Print Assumptions one_row.
Print Assumptions classes_of_banks.
Print Assumptions window.
Print Assumptions span.
Print Assumptions anywhere.
Print Assumptions gcd_lemma.
Print Assumptions stride_lemma.
Print Assumptions indices_bound.
Print Assumptions lemma_4.
Print Assumptions apply1_gives.
Print Assumptions apply2_gives.
Print Assumptions choose_gives.
Print Assumptions at_least_row.
Print Assumptions at_least_atom.
Print Assumptions interval_holds.
Print Assumptions plain_table_true.
Print Assumptions distance.
Print Assumptions program_costs_at_most_4.
Print Assumptions program_costs_4.
Print Assumptions replaced_value.
Print Assumptions accepted_holds.
Print Assumptions accepted_at_least.
Print Assumptions none_failing.
