"""A spreadsheet engine: formulas, dependencies, recalculation, copying and CSV."""

from gridlock.csvio import from_csv, to_csv
from gridlock.errors import BadReference, CycleError, FormulaError, GridlockError
from gridlock.sheet import Sheet
from gridlock.values import Fault

__all__ = ["BadReference", "CycleError", "Fault", "FormulaError", "GridlockError", "Sheet", "from_csv", "to_csv"]
