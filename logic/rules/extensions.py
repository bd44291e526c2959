r"""Rules beyond Fig. 4, each argued for in its notes."""

from logic.schema import Rule

RULES = (
    Rule(
        "Q:Frame",
        r"""
        {P; Q; X} s {P'; Q'; X'}   vars(F) <= X \ W(s)   P |- F >= 0
        ------------------------------------------------------------
        {P; Q + F; X} s {P'; Q' + F; X' | vars(F)}
        """,
        "ours",
        "F is over parameters and uniform variables that s leaves alone, so it is worth the same afterwards. Fails "
        "where F may be negative.",
    ),
    Rule(
        "Q:Unroll",
        """
        {P; Q; X} if (e) (s; while (e) s) else skip {P'; Q'; X'}
        --------------------------------------------------------
        {P; Q; X} while (e) s {P'; Q'; X'}
        """,
        "ours",
        "The two programs do and cost the same, rule by rule of Fig. 3: a loop's test is an if's test. There is "
        "no side condition.",
        told="a turn by itself",
    ),
    Rule(
        "Q:WhileCase",
        r"""
        P; X |- e : C   P; X |- e1 unif   P & e1; X |- e unif   P; X |- Q + M.if + C >= 0
        P & e & e1; X |- Q >= Q1   P & e & !e1; X |- Q >= Q1 + M.div
        {P & e; Q1; X} s {P; Q + M.if + C; X}
        P & !e; X |- Q >= Q'   X' <= X \ W(s)
        ------------------------------------------------------------
        {P; Q + M.if + C; X} while (e) s {P & !e; Q'; X'}
        """,
        "ours; Q:While1 is the case e1 = true, Q:While2 the case e1 = false",
        "The test cannot split a warp while e1 holds, so a turn pays M.div only where it does not: the last turns of a "
        "loop whose counter differs between lanes. Fails where threads of a warp may disagree on e1, or on e while e1 "
        "holds.",
    ),
    Rule(
        "Q:CaseSplit",
        """
        P; X |- e unif
        {P & e; Q; X} s {P'; Q'; X'}   {P & !e; Q; X} s {P'; Q'; X'}
        ------------------------------------------------------------
        {P; Q; X} s {P'; Q'; X'}
        """,
        "ours",
        "e is not evaluated by the program, so it costs nothing. Fails when threads of a warp may disagree on e.",
    ),
    Rule(
        "Q:Assume",
        """
        --------------------------------
        {P; Q; X} assume e {P & e; Q; X}
        """,
        "ours",
        "A run in which an active thread finds e false is outside the claim, and stops there in the semantics: it may "
        "have paid more than Q until then, for what is promised after it rests on e. The claim says what is assumed. e "
        "costs nothing: no program evaluates it. Never fails; of an e that reads an array, P keeps what does not.",
    ),
    Rule(
        "Q:Ghost",
        """
        s = s1 without x   x ghost in P, Q, P', Q'
        {P; Q; X} s1 {P'; Q'; X'}
        ------------------------------------------
        {P; Q; X} s {P'; Q'; X' \\ {x}}
        """,
        "ours; ghost code, Owicki and Gries (1976)",
        "s1 does what s does and more, so it costs at least as much. Fails when s1 uses x for anything but x.",
    ),
)
