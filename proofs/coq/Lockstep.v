(** The lock-step cost semantics (Fig. 3, repaired), with the choices of semantics/lockstep.py:

    - MemReads and Conflicts are those of Metrics, on byte addresses; a T of several warps pays the most of its warps.
    - T is a list, in ascending order of the threads' numbers: of writes to one element the last one wins.
    - A negative index, and one at or beyond a known length, is out of bounds: a read gives the type's default, a write
      is lost.
    - [sync] costs M.sync. Behind it, arrays hold what the other warps of the block and the grid have left there: whatever
      [later] says, and where it ends, what they held before.
    - A run that finds an [assume] false at an active thread stops there.

    The value of an expression at a thread depends on the store and that thread alone, so it is a function of its own;
    the cost looks at all active threads. *)

From Coq Require Import ZArith QArith List String Bool.
From Warpbound Require Import Syntax Metrics.
Import ListNotations.

(** A thread of one block: threadIdx. *)
Definition thread : Type := Z * Z * Z.

Definition thread_eqb (t u : thread) : bool :=
  let '(x, y, z) := t in let '(x', y', z') := u in (Z.eqb x x' && Z.eqb y y' && Z.eqb z z')%bool.

(** The setting of a judgement. [base] gives addresses of arrays (semantics/lockstep.py has 0 everywhere), [block] is
    blockDim, [held] what arrays hold that nobody writes, where that is part of the setting (Elements.v). *)
Record machine := Machine {
  params : string -> value;
  block : Z * Z * Z;
  arrays : string -> array;
  base : string -> Z;
  hw : hardware;
  price : metric;
  call : calls;
  held : string -> option (Z -> value)
}.

(** sigma: (LocalVars x Threads) and (Arrays x Z) to values; and what arrays hold behind each of the next barriers, or
    at the next times when other warps have run on. *)
Record store := Store {
  local : string -> thread -> value;
  contents : string -> Z -> value;
  later : list (string -> Z -> value)
}.

(** Behind a barrier *)
Definition behind (sigma : store) : store :=
  match later sigma with [] => sigma | c :: more => Store (local sigma) c more end.

(** x + blockDim.x * (y + blockDim.y * z), and the warp of a thread. *)
Definition number (M : machine) (t : thread) : Z :=
  let '(x, y, z) := t in let '(bx, by_, _) := block M in x + bx * (y + by_ * z).

Definition warp_of (M : machine) (t : thread) : Z := number M t / warp (hw M).

(** * Expressions *)

Definition index_of (t : thread) (a : axis) : Z :=
  let '(x, y, z) := t in match a with TidX => x | TidY => y | TidZ => z end.

Definition load (M : machine) (sigma : store) (A : string) (i : Z) : value :=
  if in_bounds (arrays M A) i then match held M A with Some f => f i | None => contents sigma A i end
  else default (elem (arrays M A)).

(** R(t), where sigma; e |_T R; C *)
Fixpoint eval (M : machine) (sigma : store) (e : expr) (t : thread) : value :=
  match e with
  | Var x => local sigma x t
  | Param p => params M p
  | Const v => v
  | Tid a => VInt (index_of t a)
  | Op1 o e => denote1 (call M) o (eval M sigma e t)
  | Op2 o e1 e2 => denote2 (call M) o (eval M sigma e1 t) (eval M sigma e2 t)
  | Op3 o e1 e2 e3 => denote3 (call M) o (eval M sigma e1 t) (eval M sigma e2 t) (eval M sigma e3 t)
  | Read A i => load M sigma A (as_int (eval M sigma i t))
  end.

Definition address (M : machine) (A : string) (i : Z) : Z :=
  base M A + stride (arrays M A) * i + offset (arrays M A).

(** MemReads or Conflicts of the threads of T, by the space of A: the most of any warp. *)
Definition accesses (M : machine) (sigma : store) (T : list thread) (A : string) (i : expr) : Z :=
  let units := match in_space (arrays M A) with Global => mem_reads | Shared => bank_conflicts end in
  let of_warp w := filter (fun t => Z.eqb (warp_of M t) w) T in
  let addresses w := map (fun t => address M A (as_int (eval M sigma i t))) (of_warp w) in
  largest (map (fun w => units (hw M) (width (arrays M A)) (addresses w)) (nodup Z.eq_dec (map (warp_of M) T))).

Definition read_price (M : machine) (A : string) : line :=
  match in_space (arrays M A) with Global => m_gread (price M) | Shared => m_sread (price M) end.

Definition write_price (M : machine) (A : string) : line :=
  match in_space (arrays M A) with Global => m_gwrite (price M) | Shared => m_swrite (price M) end.

Open Scope Q_scope.

(** C, where sigma; e |_T R; C *)
Fixpoint ecost (M : machine) (sigma : store) (T : list thread) (e : expr) : Q :=
  match e with
  | Var _ | Tid _ => m_var (price M)
  | Param _ => m_param (price M)
  | Const _ => m_const (price M)
  | Op1 _ e => ecost M sigma T e + m_op (price M)
  | Op2 _ e1 e2 => ecost M sigma T e1 + ecost M sigma T e2 + m_op (price M)
  | Op3 _ e1 e2 e3 => ecost M sigma T e1 + ecost M sigma T e2 + ecost M sigma T e3 + m_op (price M)
  | Read A i => ecost M sigma T i + at_count (read_price M A) (accesses M sigma T A i)
  end.

(** * Stores after writes *)

Fixpoint lookup (t : thread) (r : list (thread * value)) : option value :=
  match r with [] => None | (u, v) :: r => if thread_eqb t u then Some v else lookup t r end.

(** sigma[(x, t) |-> R(t) | t in T] *)
Definition assign (M : machine) (sigma : store) (T : list thread) (x : string) (e : expr) : store :=
  let r := map (fun t => (t, eval M sigma e t)) T in
  Store
    (fun y t => if String.eqb y x then match lookup t r with Some v => v | None => local sigma y t end else local sigma y t)
    (contents sigma) (later sigma).

(** sigma[(A, R1(t)) |-> R2(t) | t in T], one thread after the other *)
Definition write (M : machine) (sigma : store) (T : list thread) (A : string) (i e : expr) : store :=
  let r := map (fun t => (as_int (eval M sigma i t), eval M sigma e t)) T in
  let one c (w : Z * value) := if in_bounds (arrays M A) (fst w) then fun j => if Z.eqb j (fst w) then snd w else c j else c in
  let c := fold_left one r (contents sigma A) in
  Store (local sigma) (fun B => if String.eqb B A then c else contents sigma B) (later sigma).

(** * Statements *)

(** T_true and T_false *)
Definition yes (M : machine) (sigma : store) (T : list thread) (e : expr) : list thread :=
  filter (fun t => as_bool (eval M sigma e t)) T.
Definition no (M : machine) (sigma : store) (T : list thread) (e : expr) : list thread :=
  filter (fun t => negb (as_bool (eval M sigma e t))) T.

(** How a run ends, or that it is only the beginning of one: it may be cut before any statement. *)
Inductive outcome := End (sigma : store) | Broken | Cut.

Definition stopped (o : outcome) : Prop := match o with End _ => False | _ => True end.

(** sigma; s ||_T sigma'; C is [run M sigma T s (End sigma') C]. The costs of the prefixes of a run, of those without end
    too, are those with the outcome [Cut]. *)
Inductive run (M : machine) : store -> list thread -> stmt -> outcome -> Q -> Prop :=
  | R_Cut sigma T s : run M sigma T s Cut 0
  | R_Skip sigma T : run M sigma T Skip (End sigma) 0
  | R_Sync sigma T : run M sigma T Sync (End (behind sigma)) (m_sync (price M))
  | R_Others sigma T : run M sigma T Others (End (behind sigma)) 0
  | R_Seq sigma T s1 s2 sigma1 c1 o c2 :
      run M sigma T s1 (End sigma1) c1 -> run M sigma1 T s2 o c2 ->
      run M sigma T (Seq s1 s2) o (c1 + c2)
  | R_SeqStop sigma T s1 s2 o c1 :
      run M sigma T s1 o c1 -> stopped o ->
      run M sigma T (Seq s1 s2) o c1
  | R_Assign sigma T x e :
      run M sigma T (Assign x e) (End (assign M sigma T x e)) (ecost M sigma T e + m_vwrite (price M))
  | R_Write sigma T A i e :
      run M sigma T (Write A i e) (End (write M sigma T A i e))
        (ecost M sigma T i + ecost M sigma T e + at_count (write_price M A) (accesses M sigma T A i))
  | R_Assume sigma T e :
      no M sigma T e = [] -> run M sigma T (Assume e) (End sigma) 0
  | R_AssumeBroken sigma T e :
      no M sigma T e <> [] -> run M sigma T (Assume e) Broken 0
  | R_IfT sigma T e s1 s2 o c :
      no M sigma T e = [] -> run M sigma T s1 o c ->
      run M sigma T (If e s1 s2) o (ecost M sigma T e + m_if (price M) + c)
  | R_IfF sigma T e s1 s2 o c :
      yes M sigma T e = [] -> run M sigma T s2 o c ->
      run M sigma T (If e s1 s2) o (ecost M sigma T e + m_if (price M) + c)
  | R_IfD sigma T e s1 s2 sigma1 c1 o c2 :
      yes M sigma T e <> [] -> no M sigma T e <> [] ->
      run M sigma (yes M sigma T e) s1 (End sigma1) c1 -> run M sigma1 (no M sigma T e) s2 o c2 ->
      run M sigma T (If e s1 s2) o (ecost M sigma T e + m_if (price M) + m_div (price M) + c1 + c2)
  | R_IfDStop sigma T e s1 s2 o c1 :
      yes M sigma T e <> [] -> no M sigma T e <> [] ->
      run M sigma (yes M sigma T e) s1 o c1 -> stopped o ->
      run M sigma T (If e s1 s2) o (ecost M sigma T e + m_if (price M) + m_div (price M) + c1)
  | R_WhileAll sigma T e s sigma1 c1 o c2 :
      no M sigma T e = [] ->
      run M sigma T s (End sigma1) c1 -> run M sigma1 T (While e s) o c2 ->
      run M sigma T (While e s) o (ecost M sigma T e + m_if (price M) + c1 + c2)
  | R_WhileAllStop sigma T e s o c1 :
      no M sigma T e = [] ->
      run M sigma T s o c1 -> stopped o ->
      run M sigma T (While e s) o (ecost M sigma T e + m_if (price M) + c1)
  | R_WhileSome sigma T e s sigma1 c1 o c2 :
      yes M sigma T e <> [] -> no M sigma T e <> [] ->
      run M sigma (yes M sigma T e) s (End sigma1) c1 -> run M sigma1 (yes M sigma T e) (While e s) o c2 ->
      run M sigma T (While e s) o (ecost M sigma T e + m_if (price M) + m_div (price M) + c1 + c2)
  | R_WhileSomeStop sigma T e s o c1 :
      yes M sigma T e <> [] -> no M sigma T e <> [] ->
      run M sigma (yes M sigma T e) s o c1 -> stopped o ->
      run M sigma T (While e s) o (ecost M sigma T e + m_if (price M) + m_div (price M) + c1)
  | R_WhileNone sigma T e s :
      yes M sigma T e = [] ->
      run M sigma T (While e s) (End sigma) (ecost M sigma T e + m_if (price M)).
