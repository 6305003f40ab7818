"""The words that arguments and results are chosen from."""

from __future__ import annotations

from typing import Literal

State = Literal["open", "sealed", "interrupted"]
Stream = Literal["combined", "stdout", "stderr"]
Newline = Literal["auto", "lf", "cr"]
Holes = Literal["raise", "skip"]
