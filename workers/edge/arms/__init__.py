"""The bridge of the simulated arms: twelve benches of `workers.sims` in one process, at ten actions a second each."""
