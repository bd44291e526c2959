"""Many kernels at once: files and folders, worker processes with limits, a cache and a configuration, neither of which
is trusted, one table, and baselines. What a worker or the cache gives is a certificate; what is said of it is said by
the second checker, in a process of its own.
"""
