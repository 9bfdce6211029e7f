"""Benchmarks, each run as `python -m lab.bench.NAME`. Their results are in docs/experiments and docs/explanation."""
