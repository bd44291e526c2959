(** miniCUDA (Muller and Hoffmann, POPL 2021, Fig. 2) as the certificates have it: values, operators, expressions,
    statements, arrays. Sequences have two parts here, where a certificate has a list; the cost is the same. *)

From Coq Require Import ZArith List String Bool.
Import ListNotations.
Open Scope Z_scope.

(** * Values

    Integers have no size. A value of a base type (float, a structure) is opaque: any number, say its bits. *)

Inductive value := VInt (z : Z) | VBool (b : bool) | VBase (bits : Z).

(** A type: [TBase] has its size in bytes. *)
Inductive type := TInt | TBool | TBase (size : Z).

(** What is read where nothing was written, and out of bounds: 0, false, all bits 0. *)
Definition default (t : type) : value :=
  match t with TInt => VInt 0 | TBool => VBool false | TBase _ => VBase 0 end.

(** A value as an integer and as a truth value. In a well-typed program these are the value itself; that they are total
    is why no theorem here asks for types. *)
Definition as_int (v : value) : Z :=
  match v with VInt z => z | VBool b => if b then 1 else 0 | VBase z => z end.

Definition as_bool (v : value) : bool :=
  match v with VBool b => b | VInt z => negb (z =? 0) | VBase z => negb (z =? 0) end.

(** * Operators, as logic/operators.py has them

    Division truncates toward zero, the remainder has the sign of the dividend, a / 0 = 0 and a % 0 = a: so [Z.quot] and
    [Z.rem] do. A shift by a negative count is 0. A [Call] is an operator on base types, or a function: what it gives is
    left to the machine, so that the theorems hold whatever it gives. *)

Inductive op1 := Neg | BitNot | Not | ToInt | ToBool | Abs | Call1 (f : string).
Inductive op2 :=
  Add | Sub | Mul | Div | Mod | Shl | Shr | BitAnd | BitOr | BitXor | Min | Max
  | Lt | Le | Gt | Ge | Eq | Ne | And | Or | Call2 (f : string).
Inductive op3 := Choose | Call3 (f : string).

(** What a machine makes of a [Call]. *)
Definition calls := string -> list value -> value.

Definition denote1 (call : calls) (o : op1) (a : value) : value :=
  match o with
  | Neg => VInt (- as_int a)
  | BitNot => VInt (Z.lnot (as_int a))
  | Not => VBool (negb (as_bool a))
  | ToInt => VInt (as_int a)
  | ToBool => VBool (as_bool a)
  | Abs => VInt (Z.abs (as_int a))
  | Call1 f => call f [a]
  end.

Definition denote2 (call : calls) (o : op2) (a b : value) : value :=
  let x := as_int a in
  let y := as_int b in
  match o with
  | Add => VInt (x + y)
  | Sub => VInt (x - y)
  | Mul => VInt (x * y)
  | Div => VInt (Z.quot x y)
  | Mod => VInt (Z.rem x y)
  | Shl => VInt (if y <? 0 then 0 else Z.shiftl x y)
  | Shr => VInt (if y <? 0 then 0 else Z.shiftr x y)
  | BitAnd => VInt (Z.land x y)
  | BitOr => VInt (Z.lor x y)
  | BitXor => VInt (Z.lxor x y)
  | Min => VInt (Z.min x y)
  | Max => VInt (Z.max x y)
  | Lt => VBool (x <? y)
  | Le => VBool (x <=? y)
  | Gt => VBool (y <? x)
  | Ge => VBool (y <=? x)
  | Eq => VBool (x =? y)
  | Ne => VBool (negb (x =? y))
  | And => VBool (as_bool a && as_bool b)
  | Or => VBool (as_bool a || as_bool b)
  | Call2 f => call f [a; b]
  end.

Definition denote3 (call : calls) (o : op3) (a b c : value) : value :=
  match o with
  | Choose => if as_bool a then b else c
  | Call3 f => call f [a; b; c]
  end.

(** * Expressions and statements *)

Inductive axis := TidX | TidY | TidZ.

Inductive expr :=
  | Var (x : string)
  | Param (p : string)
  | Const (v : value)
  | Tid (a : axis)
  | Op1 (o : op1) (e : expr)
  | Op2 (o : op2) (e1 e2 : expr)
  | Op3 (o : op3) (e1 e2 e3 : expr)
  | Read (A : string) (i : expr).

Inductive stmt :=
  | Skip
  | Seq (s1 s2 : stmt)
  | Assign (x : string) (e : expr)
  | Write (A : string) (i e : expr)
  | If (e : expr) (s1 s2 : stmt)
  | While (e : expr) (s : stmt)
  | Sync
  | Assume (e : expr)
  | Others.                              (** no program has it: other warps run on, and write arrays (Mixed.v) *)

(** W(s): the locals that s may write. *)
Fixpoint writes (s : stmt) : list string :=
  match s with
  | Skip | Write _ _ _ | Sync | Assume _ | Others => []
  | Seq s1 s2 | If _ s1 s2 => writes s1 ++ writes s2
  | Assign x _ => [x]
  | While _ s => writes s
  end.

(** * Arrays

    Element i is [width] bytes at the address base + stride * i + offset. [elements]: how many, where it is
    known. *)

Inductive space := Global | Shared.

Record array := Array {
  in_space : space;
  elem : type;
  stride : Z;
  offset : Z;
  width : Z;
  elements : option Z
}.

Definition in_bounds (a : array) (i : Z) : bool :=
  (0 <=? i) && match elements a with None => true | Some n => i <? n end.
