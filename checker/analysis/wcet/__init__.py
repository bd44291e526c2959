"""Static timing of what runs on the mini-SIMT machine (Hirvisalo, WCET 2014): the paper's estimate, and a bound."""
