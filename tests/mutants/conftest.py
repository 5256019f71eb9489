"""The parts of the mutants' room are imported by name, as the room itself does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
