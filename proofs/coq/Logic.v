(** Conditions {P; Q; X}, what they mean, and the rules of Fig. 4, repaired, with ours.

    Premises that oracles discharge (P |- e, Q >= Q', uniformity, MemReads and Conflicts) stand here for what they say of
    every store and every T, not for a way to show it. Threads are those of a scope [U]: a warp of the launch, or a block
    of it. *)

From Coq Require Import ZArith QArith Qround List String Bool.
From Warpbound Require Import Syntax Metrics Lockstep.
Import ListNotations.

(** * Facts: P is a list of expressions over one thread *)

(** No array is read. *)
Fixpoint plain (e : expr) : bool :=
  match e with
  | Var _ | Param _ | Const _ | Tid _ => true
  | Op1 _ a => plain a
  | Op2 _ a b => plain a && plain b
  | Op3 _ a b c => plain a && plain b && plain c
  | Read _ _ => false
  end.

Definition truth := Const (VBool true).

Definition negated (o : op2) : option op2 :=
  match o with
  | Lt => Some Ge | Ge => Some Lt | Gt => Some Le | Le => Some Gt | Eq => Some Ne | Ne => Some Eq | _ => None
  end.

(** e, or its negation, in negation normal form, with true for every atom that reads an array. *)
Fixpoint nnf (positive : bool) (e : expr) : expr :=
  let atom := if plain e then (if positive then e else Op1 Not e) else truth in
  match e with
  | Op1 Not a => nnf (negb positive) a
  | Op2 And a b => Op2 (if positive then And else Or) (nnf positive a) (nnf positive b)
  | Op2 Or a b => Op2 (if positive then Or else And) (nnf positive a) (nnf positive b)
  | Op2 o a b => match negated o with
                 | Some n => if plain e then (if positive then e else Op2 n a b) else truth
                 | None => atom
                 end
  | Op3 Choose c a b =>
      Op2 Or (Op2 And (nnf true c) (nnf positive a)) (Op2 And (nnf false c) (nnf positive b))
  | _ => atom
  end.

(** P & e and P & !e *)
Definition with_ (P : list expr) (e : expr) : list expr := nnf true e :: P.
Definition without (P : list expr) (e : expr) : list expr := nnf false e :: P.

Fixpoint vars (e : expr) : list string :=
  match e with
  | Var x => [x]
  | Param _ | Const _ | Tid _ => []
  | Op1 _ a | Read _ a => vars a
  | Op2 _ a b => vars a ++ vars b
  | Op3 _ a b c => vars a ++ vars b ++ vars c
  end.

(** e1 with e for x *)
Fixpoint subst (x : string) (e e1 : expr) : expr :=
  match e1 with
  | Var y => if String.eqb y x then e else e1
  | Param _ | Const _ | Tid _ => e1
  | Op1 o a => Op1 o (subst x e a)
  | Op2 o a b => Op2 o (subst x e a) (subst x e b)
  | Op3 o a b c => Op3 o (subst x e a) (subst x e b) (subst x e c)
  | Read A i => Read A (subst x e i)
  end.

(** * Potentials, with the base functions of certificates

    A leaf is an integer expression; in certificates it is a variable or a parameter. *)

Inductive pot :=
  | PConst (q : Q)
  | Leaf (e : expr)
  | PAdd (a b : pot)
  | PMul (a b : pot)
  | Max0 (a : pot)                        (** max(0, a) *)
  | Floor (a : pot) (k : positive)        (** floor(a / k) *)
  | Log2 (a : pot)                        (** floor(log2 a), 0 where a < 1 *)
  | Apply (o : op2) (a b : pot).          (** an operator on integers *)

Fixpoint leaves (q : pot) : list expr :=
  match q with
  | PConst _ => []
  | Leaf e => [e]
  | PAdd a b | PMul a b | Apply _ a b => leaves a ++ leaves b
  | Max0 a | Floor a _ | Log2 a => leaves a
  end.

Fixpoint psubst (x : string) (e : expr) (q : pot) : pot :=
  match q with
  | PConst _ => q
  | Leaf e1 => Leaf (subst x e e1)
  | PAdd a b => PAdd (psubst x e a) (psubst x e b)
  | PMul a b => PMul (psubst x e a) (psubst x e b)
  | Max0 a => Max0 (psubst x e a)
  | Floor a k => Floor (psubst x e a) k
  | Log2 a => Log2 (psubst x e a)
  | Apply o a b => Apply o (psubst x e a) (psubst x e b)
  end.

Definition pvars (q : pot) : list string := flat_map vars (leaves q).

Fixpoint no_tid (e : expr) : bool :=
  match e with
  | Var _ | Param _ | Const _ => true
  | Tid _ => false
  | Op1 _ a | Read _ a => no_tid a
  | Op2 _ a b => no_tid a && no_tid b
  | Op3 _ a b c => no_tid a && no_tid b && no_tid c
  end.

(** vars(Q) <= X, besides parameters *)
Definition over (X : list string) (q : pot) : Prop :=
  incl (pvars q) X /\ forall e, In e (leaves q) -> plain e = true /\ no_tid e = true.

(** Q + c *)
Definition charged (q : pot) (c : Q) : pot := PAdd q (PConst c).

(** {P; Q; X} *)
Record cond := Cond { facts : list expr; potential : pot; uniforms : list string }.

(** P reads no array, and Q is over X. *)
Definition good (A : cond) : Prop :=
  (forall p, In p (facts A) -> plain p = true) /\ over (uniforms A) (potential A).

Section Meaning.

Variable M : machine.
Variable U : thread -> Prop.

(** * What conditions mean *)

Open Scope Q_scope.

Fixpoint peval (sigma : store) (q : pot) (t : thread) : Q :=
  match q with
  | PConst q => q
  | Leaf e => inject_Z (as_int (eval M sigma e t))
  | PAdd a b => peval sigma a t + peval sigma b t
  | PMul a b => peval sigma a t * peval sigma b t
  | Max0 a => larger 0 (peval sigma a t)
  | Floor a k => inject_Z (Qfloor (peval sigma a t / inject_Z (Zpos k)))
  | Log2 a => inject_Z (let n := Qfloor (peval sigma a t) in if Z.ltb n 1 then 0 else Z.log2 n)
  | Apply o a b =>
      inject_Z (as_int (denote2 (call M) o (VInt (Qfloor (peval sigma a t))) (VInt (Qfloor (peval sigma b t)))))
  end.

Definition holds (sigma : store) (t : thread) (P : list expr) : Prop :=
  forall p, In p P -> as_bool (eval M sigma p t) = true.

Definition alike (sigma : store) (T : list thread) (X : list string) : Prop :=
  forall x t u, In x X -> In t T -> In u T -> local sigma x t = local sigma x u.

(** sigma, T |= {P; .; X}, of a non-empty T within the scope *)
Definition sat (sigma : store) (T : list thread) (P : list expr) (X : list string) : Prop :=
  T <> [] /\ (forall t, In t T -> U t) /\ (forall t, In t T -> holds sigma t P) /\ alike sigma T X.

(** A prefix that has paid c: it is within Q, or the run goes on to an end, or to a broken assumption, and pays at least
    c. (A potential may be below 0 between statements.) *)
Definition covered (sigma : store) (T : list thread) (s : stmt) (q : pot) (c : Q) : Prop :=
  (forall t, In t T -> c <= peval sigma q t) \/ exists o c', o <> Cut /\ run M sigma T s o c' /\ c <= c'.

(** {A} s {B} *)
Definition valid (A : cond) (s : stmt) (B : cond) : Prop :=
  forall sigma T o c,
    sat sigma T (facts A) (uniforms A) -> run M sigma T s o c ->
    match o with
    | End sigma' =>
        sat sigma' T (facts B) (uniforms B)
        /\ forall t, In t T -> c + peval sigma' (potential B) t <= peval sigma (potential A) t
    | Cut => covered sigma T s (potential A) c
    | Broken => True
    end.

(** * Side conditions *)

(** P |- P' and P |- e *)
Definition entails (P P' : list expr) : Prop :=
  forall sigma t, U t -> holds sigma t P -> holds sigma t P'.
Definition proves (P : list expr) (e : expr) (b : bool) : Prop :=
  forall sigma t, U t -> holds sigma t P -> as_bool (eval M sigma e t) = b.

(** P; X |- Q >= Q' *)
Definition at_least (P : list expr) (X : list string) (q q' : pot) : Prop :=
  forall sigma T t, sat sigma T P X -> In t T -> peval sigma q' t <= peval sigma q t.

(** P; X |- e unif *)
Definition uniform (P : list expr) (X : list string) (e : expr) : Prop :=
  forall sigma T t u, sat sigma T P X -> In t T -> In u T -> eval M sigma e t = eval M sigma e u.

(** P; X |- MemReads(A[i]) <= n, or Conflicts *)
Definition at_most (P : list expr) (X : list string) (A : string) (i : expr) (n : Z) : Prop :=
  forall sigma T, sat sigma T P X -> (accesses M sigma T A i <= n)%Z.

(** * P; X |- e : C *)

Inductive costs (P : list expr) (X : list string) : expr -> Q -> Prop :=
  | OQ_Var x : costs P X (Var x) (m_var (price M))
  | OQ_Const v : costs P X (Const v) (m_const (price M))
  | OQ_Param p : costs P X (Param p) (m_param (price M))
  | OQ_Tid a : costs P X (Tid a) (m_var (price M))
  | EQ_Op1 o e c : costs P X e c -> costs P X (Op1 o e) (c + m_op (price M))
  | EQ_Op o e1 e2 c1 c2 :
      costs P X e1 c1 -> costs P X e2 c2 -> costs P X (Op2 o e1 e2) (c1 + c2 + m_op (price M))
  | EQ_Op3 o e1 e2 e3 c1 c2 c3 :
      costs P X e1 c1 -> costs P X e2 c2 -> costs P X e3 c3 ->
      costs P X (Op3 o e1 e2 e3) (c1 + c2 + c3 + m_op (price M))
  | EQ_Array A i c n :
      costs P X i c -> at_most P X A i n -> costs P X (Read A i) (c + at_count (read_price M A) n).

(** * The rules

    The letters are those of logic/rules. Every condition is good; [except X W] is X less W. Certificates have potentials
    in a canonical form, so that equal ones are the same; [Q_Equal] stands for that. *)

Definition except (X : list string) (W : list string) : list string :=
  filter (fun x => negb (existsb (String.eqb x) W)) X.

Definition zero := PConst 0.

Definition equal (q q' : pot) : Prop := forall sigma t, peval sigma q t == peval sigma q' t.

(** s without the assignments to x, which nothing else in s may use *)
Fixpoint erase (x : string) (s : stmt) : stmt :=
  match s with
  | Assign y _ => if String.eqb y x then Skip else s
  | Seq s1 s2 => Seq (erase x s1) (erase x s2)
  | If e s1 s2 => If e (erase x s1) (erase x s2)
  | While e s1 => While e (erase x s1)
  | _ => s
  end.

Fixpoint ghost (x : string) (s : stmt) : Prop :=
  match s with
  | Skip | Sync | Others => True
  | Assign y e => y = x \/ ~ In x (vars e)
  | Write _ i e => ~ In x (vars i) /\ ~ In x (vars e)
  | Assume e => ~ In x (vars e)
  | Seq s1 s2 => ghost x s1 /\ ghost x s2
  | If e s1 s2 => ~ In x (vars e) /\ ghost x s1 /\ ghost x s2
  | While e s1 => ~ In x (vars e) /\ ghost x s1
  end.

Inductive derivable : cond -> stmt -> cond -> Prop :=
  | Q_Skip P Q X :
      good (Cond P Q X) ->
      derivable (Cond P Q X) Skip (Cond P Q X)
  | Q_Sync P Q X :
      good (Cond P Q X) ->
      derivable (Cond P (charged Q (m_sync (price M))) X) Sync (Cond P Q X)
  | Q_Seq A s1 B s2 C :
      derivable A s1 B -> derivable B s2 C ->
      derivable A (Seq s1 s2) C
  | Q_If1 P Q X e c s1 s2 B :
      costs P X e c -> uniform P X e ->
      derivable (Cond (with_ P e) Q X) s1 B -> derivable (Cond (without P e) Q X) s2 B ->
      derivable (Cond P (charged Q (m_if (price M) + c)) X) (If e s1 s2) B
  | Q_If2 P Q X e c s1 s2 B :
      costs P X e c -> proves P e true ->
      derivable (Cond P Q X) s1 B ->
      derivable (Cond P (charged Q (m_if (price M) + c)) X) (If e s1 s2) B
  | Q_If3 P Q X e c s1 s2 B :
      costs P X e c -> proves P e false ->
      derivable (Cond P Q X) s2 B ->
      derivable (Cond P (charged Q (m_if (price M) + c)) X) (If e s1 s2) B
  | Q_If4 P Q X e c s1 s2 P1 Q1 X1 P2 Q2 X2 P' Q' X' P'' Q'' X'' :
      costs P X e c ->
      derivable (Cond (with_ P e) Q X) s1 (Cond P1 Q1 X1) ->
      derivable (Cond P' Q' X') s2 (Cond P2 Q2 X2) ->
      entails (without P e) P' -> at_least (without P e) X Q Q' -> at_least P1 X1 Q1 Q' ->
      entails P1 P'' -> at_least P1 X1 Q1 Q'' ->
      entails P2 P'' -> at_least P2 X2 Q2 Q'' ->
      (forall x, In x X' -> In x X /\ In x X1 /\ ~ In x (writes s1)) ->
      (forall x, In x X'' -> In x X2 /\ In x X' /\ ~ In x (writes s2)) ->
      good (Cond P'' Q'' X'') ->
      derivable (Cond P (charged Q (m_if (price M) + c + m_div (price M))) X) (If e s1 s2) (Cond P'' Q'' X'')
  | Q_While1 P Q X e c s :
      costs P X e c -> uniform P X e -> at_least P X (charged Q (m_if (price M) + c)) zero ->
      derivable (Cond (with_ P e) Q X) s (Cond P (charged Q (m_if (price M) + c)) X) ->
      derivable (Cond P (charged Q (m_if (price M) + c)) X) (While e s) (Cond (without P e) Q X)
  | Q_While2 P Q X e c s Q' X' :
      costs P X e c -> at_least P X (charged Q (m_if (price M) + c + m_div (price M))) zero ->
      derivable (Cond (with_ P e) Q X) s (Cond P (charged Q (m_if (price M) + c + m_div (price M))) X) ->
      at_least (without P e) X Q Q' ->
      (forall x, In x X' -> In x X /\ ~ In x (writes s)) -> over X' Q' ->
      derivable (Cond P (charged Q (m_if (price M) + c + m_div (price M))) X) (While e s) (Cond (without P e) Q' X')
  | Q_WhileCase P Q Q1 X e e1 c s Q' X' :
      costs P X e c -> uniform P X e1 -> uniform (with_ P e1) X e ->
      at_least P X (charged Q (m_if (price M) + c)) zero ->
      at_least (with_ (with_ P e) e1) X Q Q1 ->
      at_least (without (with_ P e) e1) X Q (charged Q1 (m_div (price M))) ->
      derivable (Cond (with_ P e) Q1 X) s (Cond P (charged Q (m_if (price M) + c)) X) ->
      at_least (without P e) X Q Q' ->
      (forall x, In x X' -> In x X /\ ~ In x (writes s)) -> over X' Q' ->
      derivable (Cond P (charged Q (m_if (price M) + c)) X) (While e s) (Cond (without P e) Q' X')
  | Q_VWrite1 P Q X x e c P' Q' :
      costs P X e c -> uniform P X e ->
      entails P (map (subst x e) P') -> at_least P X Q (psubst x e Q') ->
      good (Cond P Q X) -> good (Cond P' Q' (x :: X)) ->
      derivable (Cond P (charged Q (m_vwrite (price M) + c)) X) (Assign x e) (Cond P' Q' (x :: X))
  | Q_VWrite2 P Q X x e c P' :
      costs P X e c -> entails P (map (subst x e) P') ->
      good (Cond P Q X) -> good (Cond P' Q (except X [x])) ->
      derivable (Cond P (charged Q (m_vwrite (price M) + c)) X) (Assign x e) (Cond P' Q (except X [x]))
  | Q_Write P Q X A i e c1 c2 n :
      costs P X i c1 -> costs P X e c2 -> at_most P X A i n ->
      good (Cond P Q X) ->
      derivable (Cond P (charged Q (at_count (write_price M A) n + c1 + c2)) X) (Write A i e) (Cond P Q X)
  | Q_Weak P1 Q1 X1 P1' Q1' X1' P2 Q2 X2 P2' Q2' X2' s c :
      derivable (Cond P2 Q2 X2) s (Cond P2' Q2' X2') ->
      entails P1 P2 -> at_least P1 X1 Q1 Q2 -> (forall x, In x X2 -> uniform P1 X1 (Var x)) ->
      entails P2' P1' -> at_least P2' X2' Q2' Q1' -> incl X1' X2' -> 0 <= c ->
      good (Cond P1 Q1 X1) -> good (Cond P1' Q1' X1') ->
      derivable (Cond P1 (charged Q1 c) X1) s (Cond P1' (charged Q1' c) X1')
  | Q_Equal P Q X P' Q' X' s R R' :
      derivable (Cond P Q X) s (Cond P' Q' X') -> equal Q R -> equal Q' R' ->
      good (Cond P R X) -> good (Cond P' R' X') ->
      derivable (Cond P R X) s (Cond P' R' X')
  | Q_Frame P Q X P' Q' X' s F :
      derivable (Cond P Q X) s (Cond P' Q' X') ->
      over (except X (writes s)) F -> at_least P X F zero ->
      derivable (Cond P (PAdd Q F) X) s (Cond P' (PAdd Q' F) (X' ++ pvars F))
  | Q_Unroll A e s B :
      derivable A (If e (Seq s (While e s)) Skip) B ->
      derivable A (While e s) B
  | Q_CaseSplit P Q X e s B :
      uniform P X e ->
      derivable (Cond (with_ P e) Q X) s B -> derivable (Cond (without P e) Q X) s B ->
      good (Cond P Q X) ->
      derivable (Cond P Q X) s B
  | Q_Assume P Q X e :
      good (Cond P Q X) ->
      derivable (Cond P Q X) (Assume e) (Cond (with_ P e) Q X)
  | Q_Ghost P Q X s1 P' Q' X' x :
      derivable (Cond P Q X) s1 (Cond P' Q' X') -> ghost x s1 ->
      (forall p, In p (P ++ P') -> ~ In x (vars p)) -> ~ In x (pvars Q) -> ~ In x (pvars Q') ->
      derivable (Cond P Q X) (erase x s1) (Cond P' Q' (except X' [x])).

End Meaning.
