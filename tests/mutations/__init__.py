"""Guards and the tests that must fail without them. Each module registers guards and lists `CASES`."""

import importlib
import pkgutil
from dataclasses import dataclass

WORDS = ("-q", "-rfE", "--tb=line", "-p", "no:xdist", "-p", "no:cacheprovider")  # pytest's, for a run without a guard


@dataclass(frozen=True)
class Mutation:
    """`test` (a pytest node id) passes as the product stands and must fail with `guard` off."""

    guard: str
    test: str
    migrates: bool = False  # the guard is in a migration, so the database must be made without it
    slow: bool = False  # takes most of a minute: worth knowing when one waits for it


def load() -> list[Mutation]:
    """Import every module of this package (`guards_<topic>.py`) and gather its cases."""
    cases: list[Mutation] = []
    for module in sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name.startswith("guards_")):
        cases += importlib.import_module(f"{__name__}.{module}").CASES
    return cases
