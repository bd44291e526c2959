"""warpbound: certified symbolic cost bounds of CUDA kernels. `python -m warpbound` is the command `warpbound`."""
