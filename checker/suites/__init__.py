"""The kernels of the literature: bounded, judged twice, run, and beside what others published."""
