"""Private keys: armoured, and bare as the base64 or hex of their encoding.

The bare forms are known by how their DER (RFC 5208, RFC 5958, RFC 8017, RFC 5915) or
their container begins. Armour is excused by nothing, not even by a placeholder.
"""

from __future__ import annotations

from typing import Final

from uaix_core.gate.detectors import BASE64, Detector, prefix, shaped

_SPACE: Final = r"(?:\s|\\[nrt]){1,8}"


def _armour(name: str, kind: str, end: str = "PRIVATE KEY") -> Detector:
    words = _SPACE.join(f"{kind} {end}".split())
    return Detector(
        id=name,
        family="armour",
        keywords=("private",),
        pattern=rf"-----?\s{{0,4}}BEGIN{_SPACE}{words}",
        placeholder=False,
        confidence="certain",
    )


def _marked(name: str, keyword: str, pattern: str) -> Detector:
    return Detector(
        id=name,
        family="armour",
        keywords=(keyword,),
        pattern=pattern,
        placeholder=False,
        confidence="certain",
    )


ARMOUR: Final = (
    _armour("pem-private-key", ""),
    _armour("pem-rsa-private-key", "RSA"),
    _armour("pem-ec-private-key", "EC"),
    _armour("pem-dsa-private-key", "DSA"),
    _armour("pem-encrypted-private-key", "ENCRYPTED"),
    _armour("openssh-private-key", "OPENSSH"),
    _armour("pgp-private-key", "PGP", "PRIVATE KEY BLOCK"),
    _armour("ssh2-private-key", "SSH2 ENCRYPTED"),
    _armour("other-private-key", r"(?:[A-Z0-9]{1,16}\s+){0,3}[A-Z0-9]{1,16}"),
    _marked("putty-private-key", "putty-user-key", r"PuTTY-User-Key-File-\d"),
    _marked(
        "age-secret-key", "age-secret-key-", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Za-z]{10,}"
    ),
    _marked(
        "age-plugin-key", "age-plugin-", r"AGE-PLUGIN-[A-Z0-9]{1,32}-1[0-9A-Z]{16,}"
    ),
    _marked(
        "openvpn-static-key",
        "openvpn static key",
        r"-----?BEGIN OpenVPN Static key V\d",
    ),
    _marked(
        "minisign-secret-key",
        "encrypted secret key",
        r"comment: ?minisign encrypted secret key",
    ),
    Detector(
        id="jwk-private-key",
        family="key",
        keywords=("kty",),
        pattern=r"\\?\"d\\?\"\s{0,8}:\s{0,8}\\?\"(?=[A-Za-z0-9_-]{32})[A-Za-z0-9_-]{32,}",
    ),
)


def _bare(name: str, literal: str, body: str) -> Detector:
    return shaped(name, literal, body, family="key")


BARE_KEYS: Final = (
    _bare(
        "bare-pkcs8-rsa-key",
        "MII",
        rf"{BASE64}{{3}}IBADANBgkqhkiG9w0BAQ{BASE64}{{16,}}",
    ),
    _bare(
        "bare-pkcs8-ec-key",
        "MI",
        rf"[GH]{BASE64}AgEAMB[A-Za-z0-9]GByqGSM49{BASE64}{{16,}}",
    ),
    _bare("bare-pkcs8-edwards-key", "MC4CAQAwBQYDK2V", rf"[wu]BCIEI{BASE64}{{16,}}"),
    _bare("bare-pkcs8-edwards-key", "MFECAQEwBQYDK2V", rf"[wu]BCIEI{BASE64}{{16,}}"),
    _bare("bare-pkcs8-edwards-key", "MEcCAQAwBQYDK2V", rf"xBDsE{BASE64}{{16,}}"),
    _bare(
        "bare-pkcs8-encrypted-key",
        "MII",
        rf"{BASE64}{{2,6}}BgkqhkiG9w0BBQ{BASE64}{{16,}}",
    ),
    _bare("bare-rsa-key", "MII", rf"{BASE64}{{3}}IBAAK[BC]{BASE64}{{16,}}"),
    _bare("bare-rsa-key", "MI", rf"I{BASE64}{{2}}wIBAAJ{BASE64}{{16,}}"),
    _bare("bare-ec-key", "MHcCAQEEI", rf"{BASE64}{{16,}}"),
    _bare("bare-ec-key", "MIGkAgEBBD", rf"{BASE64}{{16,}}"),
    _bare("bare-ec-key", "MIHcAgEBBEI", rf"{BASE64}{{16,}}"),
    _bare("bare-openssh-key", "b3BlbnNzaC1rZXktdjEA", rf"{BASE64}{{16,}}"),
    Detector(
        id="bare-pkcs8-hex-key",
        family="key",
        keywords=("020100300d06092a864886f70d010101", "020100301306072a8648ce3d0201"),
        pattern=r"(?<![0-9A-Za-z])30[0-9A-Fa-f]{2,6}020100(?i:300d06092a864886f70d010101"
        r"|301306072a8648ce3d0201)[0-9A-Fa-f]{16,}",
    ),
    prefix("bip32-private-key", "xprv", 100),
    prefix("nostr-private-key", "nsec1", 58),
)
