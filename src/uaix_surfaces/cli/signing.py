"""The verbs that make keys and signatures: keygen, sign."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from uaix_backends.files import read_package, write_archive_file
from uaix_backends.system import SystemRandom
from uaix_core.packages.archive.reader import EXTENSION
from uaix_core.packages.ed25519 import KEY_BYTES, key_id, public_key_of
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.signatures import sign
from uaix_core.packages.source import PackageSource
from uaix_core.values.errors import CallerError
from uaix_surfaces.cli.failures import OK, REFUSED, usable
from uaix_surfaces.cli.judging import judge, say_report
from uaix_surfaces.cli.keys import (
    private_key_file,
    private_key_pem,
    public_key_pem,
)
from uaix_surfaces.cli.options import (
    PATH,
    json_option,
    judging_options,
    overwrite_option,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.packing import judged_archive
from uaix_surfaces.cli.places import (
    files_of,
    new_place,
    put_archive,
    refuse_inside,
    write_manifest,
)

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.packages.lint import Checks

#: A public key is for everybody to read.
_PUBLIC_MODE = 0o644


@click.command("keygen")
@click.option(
    "-o",
    "--output",
    "target",
    type=PATH,
    required=True,
    metavar="FILE",
    help="Where the private key goes; a file that is there stays as it is.",
)
@click.option(
    "--public",
    type=PATH,
    metavar="FILE",
    help="Where the public key goes as well, as PEM.",
)
@json_option
def keygen_verb(*, target: Path, public: Path | None, as_json: bool) -> int:
    r"""Make a key to sign packages with, in a file that only its owner can read.

    The key id and the public key are printed, to be given to those who shall trust
    it. The private key is never printed. It isn't encrypted: whoever gets the file
    can sign.

    \b
    Example:
      uaix keygen -o maren.key --public maren.pub
    """
    out = Output(as_json=as_json)
    place = new_place(target)
    public_place = None if public is None else new_place(public)
    if public_place == place:
        raise click.UsageError("the two keys go into two files")
    # Looked at first, so that no key is left behind whose public part went nowhere.
    if public_place is not None and os.path.lexists(public_place):
        raise CallerError(
            "the target is already there", code="files.exists", path=str(public)
        )
    private_key = SystemRandom().bytes(KEY_BYTES)
    public_key = public_key_of(private_key)
    write_archive_file(place, [private_key_pem(private_key)])
    if public_place is not None:
        write_archive_file(public_place, [public_key_pem(public_key)])
        public_place.chmod(_PUBLIC_MODE)
    line = {"key_id": key_id(public_key), "public_key": public_key.hex()}
    if as_json:
        out.line({"path": str(target), **line})
    else:
        out.say(f"{target}: a new private key; keep it to yourself")
        out.pairs(line.items())
    return OK


@click.command("sign")
@click.argument("path", type=PATH, metavar="F")
@click.option(
    "--key-file",
    type=PATH,
    required=True,
    metavar="FILE",
    help="An Ed25519 private key: PEM (PKCS#8), or 32 raw bytes.",
)
@click.option(
    "-o",
    "--output",
    "target",
    type=PATH,
    metavar="OUT.uaix",
    help="The signed archive to write; without it a folder's manifest is signed.",
)
@overwrite_option
@judging_options
@json_option
def sign_verb(  # noqa: PLR0913 - the options of the verb
    path: Path,
    *,
    key_file: Path,
    target: Path | None,
    overwrite: bool,
    checks: Checks,
    as_json: bool,
) -> int:
    r"""Sign the package F, an archive or a folder, with an Ed25519 key.

    The signature goes into the manifest and covers every file that it lists. An
    earlier one by the same key is replaced, those by other keys stay. A package that
    would be refused is not signed. An archive becomes a new one with -o.

    \b
    Examples:
      uaix sign ada --key-file maren.key
      uaix sign ada.uaix --key-file maren.key -o ada-signed.uaix
    """
    out = Output(as_json=as_json)
    if target is not None and target.suffix != EXTENSION:
        raise click.UsageError(f"the name of an archive ends in {EXTENSION}")
    with usable():
        source = read_package(path)
    if target is None and source.archive is not None:
        raise click.UsageError("name the signed archive with -o")
    place = None if target is None else new_place(target)
    if source.files is not None:
        refuse_inside(target, path)
    with usable():
        private_key = private_key_file(key_file)
    public_key = public_key_of(private_key)
    name = key_id(public_key)
    # What this key signed before may be stale now, and is replaced.
    others = {k: v for k, v in checks.get("trusted", {}).items() if k != name}
    with out.working(f"signing {path}"):
        data, report = b"", judge(source, {**checks, "trusted": others})
        checks["trusted"] = {**others, name: public_key}
        signed, uncovered = b"", list[str]()
        if report.package is not None:
            files = files_of(report.package)
            signed = sign(files[MANIFEST_PATH], private_key)
            uncovered = [f.path for f in report.package.files if f.is_sentinel]
            files[MANIFEST_PATH] = signed
            if target is None:
                report = judge(PackageSource(files=files), checks)
            else:
                data, report = judged_archive(target.name, files, checks)
    if report.package is None:
        say_report(out, path, report, written=False)
        return REFUSED
    if place is None:
        write_manifest(path, signed)
    else:
        put_archive(place, data, overwrite=overwrite)
    shown = path if target is None else target
    say_report(out, shown, report, written=True, key_id=name, uncovered=uncovered)
    if not as_json:
        out.pairs((("signed by", name), ("not covered", ", ".join(uncovered) or None)))
    return OK
