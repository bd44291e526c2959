(* Reads cases from standard input, one a line of words in prefix notation, runs the extracted interpreter and prints
   how the run ended, its cost in each metric, and the values asked for. Integers are in binary: -101 is minus five. *)

open Extracted

let rec positive_of s i acc =
  if i = String.length s then acc
  else positive_of s (i + 1) (if s.[i] = '1' then XI acc else XO acc)

let z_of s =
  let negative = s.[0] = '-' in
  let digits = if negative then String.sub s 1 (String.length s - 1) else s in
  if digits = "0" then Z0
  else
    let p = positive_of digits 1 XH in
    if negative then Zneg p else Zpos p

let rec bits = function XH -> "1" | XO p -> bits p ^ "0" | XI p -> bits p ^ "1"
let of_z = function Z0 -> "0" | Zpos p -> bits p | Zneg p -> "-" ^ bits p
let rec nat_of n = if n = 0 then O else S (nat_of (n - 1))

let words = ref []

let word () =
  match !words with
  | [] -> failwith "the line ends too early"
  | w :: rest -> words := rest; w

let z () = z_of (word ())
let number () = int_of_string (word ())
let several f = List.init (number ()) (fun _ -> f ())

let rational () =
  let qnum = z () in
  match z () with Zpos p -> { qnum; qden = p } | _ -> failwith "a denominator that is not positive"

let value () =
  match word () with
  | "int" -> VInt (z ())
  | "bool" -> VBool (word () = "1")
  | "base" -> VBase (z ())
  | w -> failwith ("no value: " ^ w)

let op1 = function
  | "neg" -> Neg | "~" -> BitNot | "!" -> Not | "int" -> ToInt | "bool" -> ToBool | "abs" -> Abs | f -> Call1 f

let op2 = function
  | "+" -> Add | "-" -> Sub | "*" -> Mul | "/" -> Div | "%" -> Mod | "<<" -> Shl | ">>" -> Shr | "&" -> BitAnd
  | "|" -> BitOr | "^" -> BitXor | "min" -> Min | "max" -> Max | "<" -> Lt0 | "<=" -> Le | ">" -> Gt0 | ">=" -> Ge
  | "==" -> Eq0 | "!=" -> Ne | "&&" -> And | "||" -> Or | f -> Call2 f

let op3 = function "?:" -> Choose | f -> Call3 f

let rec expr () =
  match word () with
  | "var" -> Var (word ())
  | "param" -> Param (word ())
  | "const" -> Const (value ())
  | "tid" -> Tid (match word () with "x" -> TidX | "y" -> TidY | _ -> TidZ)
  | "op1" -> let o = op1 (word ()) in Op1 (o, expr ())
  | "op2" -> let o = op2 (word ()) in let a = expr () in Op2 (o, a, expr ())
  | "op3" -> let o = op3 (word ()) in let a = expr () in let b = expr () in Op3 (o, a, b, expr ())
  | "read" -> let a = word () in Read (a, expr ())
  | w -> failwith ("no expression: " ^ w)

let rec stmt () =
  match word () with
  | "skip" -> Skip
  | "seq" -> let s = stmt () in Seq (s, stmt ())
  | "set" -> let x = word () in Assign (x, expr ())
  | "write" -> let a = word () in let i = expr () in Write (a, i, expr ())
  | "if" -> let e = expr () in let s = stmt () in If (e, s, stmt ())
  | "while" -> let e = expr () in While (e, stmt ())
  | "sync" -> Sync
  | "assume" -> Assume (expr ())
  | w -> failwith ("no statement: " ^ w)

let line_ () = let slope = rational () in { slope; intercept = rational () }

let metric () =
  let m_var = rational () in
  let m_const = rational () in
  let m_param = rational () in
  let m_op = rational () in
  let m_if = rational () in
  let m_div = rational () in
  let m_vwrite = rational () in
  let m_sync = rational () in
  let m_gread = line_ () in
  let m_sread = line_ () in
  let m_gwrite = line_ () in
  let m_swrite = line_ () in
  { m_var; m_const; m_param; m_op; m_if; m_div; m_vwrite; m_sync; m_gread; m_sread; m_gwrite; m_swrite }

let hardware () =
  let sector = z () in
  let banks = z () in
  let word = z () in
  { sector; banks; word; warp = z () }

let thread () = let x = z () in let y = z () in let t = z () in ((x, y), t)

let array () =
  let name = word () in
  let in_space = if word () = "global" then Global else Shared in
  let elem = match word () with "int" -> TInt | "bool" -> TBool | _ -> TBase Z0 in
  let stride = z () in
  let offset = z () in
  let width = z () in
  (name, { in_space; elem; stride; offset; width; elements = (match word () with "-" -> None | n -> Some (z_of n)) })

let cell () = let name = word () in let i = z () in ((name, i), value ())
let register () = let name = word () in let t = thread () in ((name, t), value ())
let zero = VInt Z0
let find table other key = match List.assoc_opt key table with Some v -> v | None -> other

let case () =
  let depth = nat_of (number ()) in
  let block = thread () in
  let hw = hardware () in
  let prices = several metric in
  let params = several (fun () -> let p = word () in (p, value ())) in
  let arrays = several array in
  let cells = several cell in
  let registers = several register in
  let threads = several thread in
  let s = stmt () in
  let kind name = match List.assoc_opt name arrays with Some a -> a | None -> failwith ("no array: " ^ name) in
  let sigma =
    { local = (fun x t -> find registers zero (x, t));
      contents = (fun a i -> find cells (default (kind a).elem) (a, i)); later = [] } in
  let run price =
    let m =
      { params = find params zero; block; arrays = kind; base = (fun _ -> Z0); hw; price;
        call = (fun f _ -> failwith ("no function: " ^ f));
        held = (fun _ -> None) } in
    exec depth m sigma threads s in
  let results = List.map run prices in
  let show = function
    | VInt z | VBase z -> of_z z
    | VBool b -> if b then "1" else "0" in
  let costs = List.map (fun (_, c) -> of_z c.qnum ^ "/" ^ bits c.qden) results in
  match fst (List.hd results) with
  | Broken -> "broken"
  | Cut -> "cut"
  | End after ->
      let names = several word in
      let all = several thread in
      let wanted = several (fun () -> let a = word () in (a, z ())) in
      String.concat " "
        (("end" :: costs)
        @ List.concat_map (fun x -> List.map (fun t -> show (after.local x t)) all) names
        @ List.map (fun (a, i) -> show (after.contents a i)) wanted)

let () =
  try
    while true do
      words := String.split_on_char ' ' (input_line stdin);
      print_endline (case ())
    done
  with End_of_file -> ()
