(** The interpreter as OCaml. Numbers stay Coq's own, of any size; only lists, pairs, options, booleans and strings are
    OCaml's. *)

From Coq Require Extraction ExtrOcamlBasic ExtrOcamlNativeString.
From Warpbound Require Import Syntax Metrics Lockstep Interpreter.

Extraction "extracted.ml" exec.
