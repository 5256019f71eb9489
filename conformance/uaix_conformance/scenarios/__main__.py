"""``python -m uaix_conformance.scenarios FOLDER``: write the scenarios out whole.

For applications that this kit doesn't drive: each scenario with its packages as
archives and folders, and with every digest in the place of a reference to one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from uaix_conformance.scenarios.playing import names, resolved, scenario, text_of


def write_out(folder: Path) -> None:
    """Write every scenario into a folder of its name, which isn't there yet."""
    for name in names():
        place = folder / name
        place.mkdir(parents=True)
        whole, text = scenario(name), text_of(name)
        packages: dict[str, Any] = {}
        for key, made in whole.packages.items():
            packages[key] = {"archive": f"{key}.uaix", "folder": None}
            (place / f"{key}.uaix").write_bytes(made.archive())
            if not made.is_archive_only:
                packages[key]["folder"] = key
                for path, data in made.files.items():
                    file = place / key / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(data)
        steps = [resolved(step, whole.packages) for step in text["steps"]]
        written = {**text, "packages": packages, "steps": steps}
        out = json.dumps(written, indent=1, ensure_ascii=False) + "\n"
        (place / "scenario.json").write_text(out, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m uaix_conformance.scenarios FOLDER")
    write_out(Path(sys.argv[1]))
