"""From a kernel to a derivation: what holds at each point, potentials for loop heads, and the tree that the kernel
judges. Nothing here is trusted."""
