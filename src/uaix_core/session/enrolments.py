"""Reading a master package: its signature first, then the one file that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.access.enrolling import ENROLMENT_PATH, Enrolling, read_enrolment
from uaix_core.values.errors import AccessError, CallerError

if TYPE_CHECKING:
    from uaix_core.packages.lint import Report


def enrolling(report: Report) -> Enrolling:
    """What a judged master package enrols.

    Args:
        report: of the lint that was given the trusted keys.

    Raises:
        AccessError: ``enrolment.signature``.
        CallerError: ``enrolment.package``, ``enrolment.document``.

    """
    package = report.package
    if package is None:
        raise CallerError(
            "the package doesn't pass its checks",
            code="enrolment.package",
            hint="lint says which one",
        )
    signed = report.signatures
    verified = sorted(signed.verified) if signed is not None else []
    if signed is None or not verified or signed.uncovered:
        raise AccessError(
            "the package isn't signed, as a whole, by a key that may enrol",
            code="enrolment.signature",
            path=package.manifest.package_id,
        )
    found = next((f for f in package.files if f.path == ENROLMENT_PATH), None)
    if found is None:
        raise CallerError(
            "the package enrols nothing",
            code="enrolment.document",
            path=ENROLMENT_PATH,
        )
    return read_enrolment(
        found.read(),
        package_id=package.manifest.package_id,
        files_sha256=package.package_digest,
        key_id=verified[0],
    )
