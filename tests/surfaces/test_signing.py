"""Laws of keys and signatures on the command line; no key is ever printed."""

from __future__ import annotations

import json
import os

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from uaix_backends import read_package, write_package

MANIFEST = ".uai/manifest.uaix.json"
# A seed that nobody's key is made of.
SEED = bytes(range(32))

PEM = serialization.Encoding.PEM
PKCS8 = serialization.PrivateFormat.PKCS8


def public(seed=SEED) -> bytes:
    """The raw public key of a seed."""
    return (
        ed25519.Ed25519PrivateKey.from_private_bytes(seed)
        .public_key()
        .public_bytes_raw()
    )


def pem(key, encryption=None) -> bytes:
    """A private key as PKCS#8."""
    return key.private_bytes(PEM, PKCS8, encryption or serialization.NoEncryption())


def private(seed=SEED):
    """The private key of a seed."""
    return ed25519.Ed25519PrivateKey.from_private_bytes(seed)


def public_pem(seed=SEED) -> bytes:
    """The public key of a seed as SubjectPublicKeyInfo."""
    spki = serialization.PublicFormat.SubjectPublicKeyInfo
    return private(seed).public_key().public_bytes(PEM, spki)


def public_hex(seed=SEED) -> bytes:
    """The public key of a seed as a line of hex digits."""
    return public(seed).hex().encode() + b"\n"


def write_key(path, data, mode=0o600):
    """A file of this mode."""
    path.write_bytes(data)
    path.chmod(mode)
    return path


FORMS = {
    "raw": SEED,
    "pem": pem(private()),
}


@pytest.fixture
def key(tmp_path):
    """A private key in a file of its owner's."""
    return write_key(tmp_path / "a.key", FORMS["pem"])


@pytest.fixture
def safe_run(run):
    """Run the program and see that nothing of the key was printed."""

    def call(*args):
        ran = run(*args)
        said = (ran.out + ran.err).lower()
        body = FORMS["pem"].decode().splitlines()[1]
        assert SEED.hex() not in said
        assert body.lower() not in said
        assert "private key-----" not in said
        return ran

    return call


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_is_signed_in_place(safe_run, folder, persona, tmp_path, form):
    """Of a folder the manifest alone changes, and the signature verifies."""
    key = write_key(tmp_path / "k", FORMS[form])

    ran = safe_run("sign", folder, "--key-file", key, "--json")

    assert (0, True, []) == (ran.code, ran.line["written"], ran.line["uncovered"])
    signed = read_package(folder).files
    assert [MANIFEST] == [path for path in persona if persona[path] != signed[path]]
    assert persona.keys() == signed.keys()
    (row,) = json.loads(signed[MANIFEST])["integrity"]["signatures"]
    assert ran.line["key_id"] == row["keyId"]
    verified = safe_run("lint", folder, "--trust", public().hex(), "--json")
    assert ["verified"] == [s["outcome"] for s in verified.line["signatures"]]
    assert 0 == verified.code


def test_an_archive_becomes_a_new_one(safe_run, archive, persona, key, tmp_path):
    """-o names the signed archive; the one that was signed stays."""
    before = archive.read_bytes()

    assert 2 == safe_run("sign", archive, "--key-file", key).code
    ran = safe_run("sign", archive, "--key-file", key, "-o", "s.uaix", "--json")

    assert (0, "s.uaix") == (ran.code, ran.line["path"])
    assert before == archive.read_bytes()
    taken = safe_run("sign", archive, "--key-file", key, "-o", "s.uaix")
    assert (1, "files.exists") == (taken.code, taken.err.split(":")[0])
    assert "--overwrite" in taken.err
    again = safe_run("sign", archive, "--key-file", key, "-o", archive, "--overwrite")
    assert 0 == again.code
    assert (tmp_path / "s.uaix").read_bytes() == archive.read_bytes()
    assert 2 == safe_run("sign", archive, "--key-file", key, "-o", "s.zip").code


def test_a_folder_is_signed_into_an_archive(safe_run, folder, persona, key):
    """With -o a folder stays as it is."""
    ran = safe_run("sign", folder, "--key-file", key, "-o", "s.uaix")

    assert 0 == ran.code
    assert persona == read_package(folder).files
    trust = ("--trust", public().hex(), "--require-signature")
    assert 0 == safe_run("lint", "s.uaix", *trust).code
    assert 1 == safe_run("lint", folder, *trust).code


def test_a_refused_package_is_not_signed(safe_run, refused, folder, key, tmp_path):
    """A package that would be refused gets no signature and nothing is written."""
    (folder / ".uai/extra.uai").write_bytes(b"more\n")
    before = read_package(folder).files

    for args in ((refused, "-o", "s.uaix"), (folder,)):
        ran = safe_run("sign", *args, "--key-file", key, "--json")
        assert (1, False) == (ran.code, ran.line["written"])
        assert "MARKED-BODY" not in ran.out + ran.err
    assert before == read_package(folder).files
    assert not (tmp_path / "s.uaix").exists()


def test_what_no_signature_covers_is_told(safe_run, persona, key, tmp_path):
    """A file under the sentinel is named, and no required signature is enough."""
    wire = json.loads(persona[MANIFEST])
    wire["files"][0]["sha256"] = "0" * 64
    wire["integrity"].pop("packageDigest")
    open_ = {**persona, MANIFEST: json.dumps(wire).encode()}
    write_package(tmp_path / "open", open_)

    ran = safe_run("sign", "open", "--key-file", key, "--json")

    assert (0, [wire["files"][0]["path"]]) == (ran.code, ran.line["uncovered"])
    trust = ("--trust", public().hex())
    assert 0 == safe_run("lint", "open", *trust).code
    required = safe_run("lint", "open", *trust, "--require-signature", "--json")
    assert 1 == required.code
    assert "signature.missing" in [f["code"] for f in required.line["findings"]]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_key_that_others_may_read_is_no_key(safe_run, folder, tmp_path, mode):
    """A key file must be its owner's alone; the error says how."""
    key = write_key(tmp_path / "k", FORMS["pem"], mode)

    ran = safe_run("sign", folder, "--key-file", key, "--json")

    assert (2, "key.readable") == (ran.code, ran.line["error"]["code"])
    assert "chmod 600" in ran.line["error"]["hint"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        SEED[:31],
        SEED.hex().encode() + b"\n",
        SEED.hex().upper().encode(),
        SEED.hex().encode()[:32],
        SEED.hex().encode() * 100,
        b"x" * 5000,
        FORMS["pem"].replace(b"M", b"?"),
        pem(private(), serialization.BestAvailableEncryption(b"-" * 8)),
        pem(ec.generate_private_key(ec.SECP256R1())),
    ],
    ids=[
        "empty",
        "short",
        "hex",
        "upper",
        "half",
        "long",
        "huge",
        "damaged",
        "locked",
        "other",
    ],
)
def test_what_is_no_key_is_told_without_it(safe_run, folder, persona, tmp_path, data):
    """A file that holds no key is one line that quotes nothing of it."""
    key = write_key(tmp_path / "k", data)

    ran = safe_run("sign", folder, "--key-file", key, "--json")

    assert (2, "key.form") == (ran.code, ran.line["error"]["code"])
    assert persona == read_package(folder).files


@pytest.mark.parametrize("mode", [0o600, 0o644])
@pytest.mark.parametrize("form", ["pem", "hex"])
def test_a_public_key_never_signs(safe_run, folder, persona, tmp_path, *, form, mode):
    """A public key is told as such or as hex, whatever the mode of its file is."""
    forms = {"pem": (public_pem(), "key.public"), "hex": (public_hex(), "key.form")}
    data, code = forms[form]
    key = write_key(tmp_path / "a.pub", data, mode)

    ran = safe_run("sign", folder, "--key-file", key, "--json")

    assert (2, code) == (ran.code, ran.line["error"]["code"])
    assert "uaix keygen -o writes" in ran.line["error"]["hint"]
    assert persona == read_package(folder).files


@pytest.mark.parametrize("name", ["none", "folder"])
def test_a_key_is_a_file(safe_run, folder, tmp_path, name):
    """A path that holds no file is wrong usage."""
    (tmp_path / "folder").mkdir()

    ran = safe_run("sign", folder, "--key-file", name)

    assert 2 == ran.code
    assert ran.err.startswith(("files.missing: ", "key.form: "))


def test_keygen_makes_a_key_of_its_owners(run, folder, tmp_path):
    """A new key is PEM that nobody else may read, and it signs."""
    ran = run("keygen", "-o", "new.key", "--public", "new.pub", "--json")

    assert 0 == ran.code
    assert {"path", "key_id", "public_key"} == set(ran.line)
    path = tmp_path / "new.key"
    assert 0o600 == path.stat().st_mode & 0o777
    made = serialization.load_pem_private_key(path.read_bytes(), password=None)
    raw = made.public_key().public_bytes_raw()
    assert raw.hex() == ran.line["public_key"]
    assert made.private_bytes_raw().hex() not in ran.out + ran.err
    assert public_pem(made.private_bytes_raw()) == (tmp_path / "new.pub").read_bytes()
    assert 0o644 == (tmp_path / "new.pub").stat().st_mode & 0o777
    assert 0 == run("sign", folder, "--key-file", "new.key").code
    trust = ("--trust", "new.pub", "--require-signature")
    assert 0 == run("lint", folder, *trust).code


def test_keygen_never_makes_the_same_key(run):
    """Each key is a new one."""
    keys = {run("keygen", "-o", f"{n}.key", "--json").line["key_id"] for n in "ab"}

    assert 2 == len(keys)


def test_two_keys_are_two_files(run, tmp_path):
    """One name for both keys is wrong usage, and nothing is written."""
    assert 2 == run("keygen", "-o", "one", "--public", "./one").code
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("taken", ["new.key", "new.pub"])
def test_keygen_overwrites_nothing(run, tmp_path, taken):
    """A key or a public key that is there stays, and no half of a pair is left."""
    (tmp_path / taken).write_bytes(b"old")

    ran = run("keygen", "-o", "new.key", "--public", "new.pub", "--json")

    assert (1, "files.exists") == (ran.code, ran.line["error"]["code"])
    assert [taken] == [path.name for path in tmp_path.iterdir()]
    assert b"old" == (tmp_path / taken).read_bytes()


def test_people_see_a_key_id_and_no_key(run, tmp_path):
    """Without --json the private key isn't shown either."""
    ran = run("keygen", "-o", "new.key")

    assert 0 == ran.code
    secret = serialization.load_pem_private_key(
        (tmp_path / "new.key").read_bytes(), password=None
    )
    assert secret.private_bytes_raw().hex() not in ran.out + ran.err
    assert "PRIVATE" not in ran.out


@pytest.mark.parametrize("form", ["raw", "hex", "pem", "argument"])
def test_a_trusted_key_is_hex_or_a_file(safe_run, folder, key, tmp_path, form):
    """A public key is given as it lies: raw, in hex, as PEM, or on the line."""
    data = {"raw": public(), "hex": public_hex(), "pem": public_pem()}.get(form, b"")
    (tmp_path / "a.pub").write_bytes(data)
    named = public().hex() if form == "argument" else "a.pub"
    safe_run("sign", folder, "--key-file", key)

    ran = safe_run("lint", folder, "--trust", named, "--require-signature")

    assert 0 == ran.code
    assert "verified" in ran.out


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (FORMS["pem"], "key.private"),
        (b"MARKED-BODY", "key.form"),
        (FORMS["pem"].replace(b"PRIVATE", b"PUBLIC"), "key.form"),
        (None, "files.missing"),
    ],
)
def test_what_cant_be_trusted_is_wrong_usage(safe_run, archive, tmp_path, data, code):
    """What holds no public key is told, and a private key isn't taken for one."""
    if data is not None:
        (tmp_path / "x").write_bytes(data)

    ran = safe_run("lint", archive, "--trust", "x", "--json")

    assert (2, code) == (ran.code, ran.line["error"]["code"])
    assert "MARKED-BODY" not in ran.out + ran.err


def test_an_edit_breaks_a_signature(safe_run, folder, key):
    """What was signed and edited is refused by whoever trusts the key."""
    safe_run("sign", folder, "--key-file", key)
    persona = folder / ".uai/persona.uai"
    persona.write_bytes(persona.read_bytes() + b"\nMore.\n")
    assert 0 == safe_run("pack", folder, "--write-back").code

    trusting = safe_run("lint", folder, "--trust", public().hex(), "--json")
    assert 1 == trusting.code
    assert ["signature.bad"] == [
        f["code"] for f in trusting.line["findings"] if f["severity"] == "error"
    ]

    safe_run("sign", folder, "--key-file", key)
    assert 0 == safe_run("lint", folder, "--trust", public().hex()).code


def test_signatures_are_listed_only_where_keys_are_trusted(safe_run, archive):
    """Without --trust a line has its four fields; a signature is required by a key."""
    plain = safe_run("lint", archive, "--json").line
    trusting = safe_run("lint", archive, "--trust", public().hex(), "--json").line

    assert {"path", "verdict", "ruleset", "findings"} == set(plain)
    assert {**plain, "signatures": []} == trusting
    assert "no signatures" in safe_run("lint", archive, "--trust", public().hex()).out
    assert 2 == safe_run("lint", archive, "--require-signature").code


def test_a_refused_package_stays_refused(safe_run, refused):
    """A required signature says nothing of a package that broke a rule."""
    trust = ("--trust", public().hex(), "--require-signature")

    ran = safe_run("lint", refused, *trust, "--json")

    assert 1 == ran.code
    assert "signature.missing" not in [f["code"] for f in ran.line["findings"]]


def test_an_install_may_trust_as_well(safe_run, folder, key, at):
    """The verbs that store take --trust, and refuse what was changed since."""
    safe_run("sign", folder, "--key-file", key)
    trust = ("--trust", public().hex())
    assert 0 == safe_run("install", folder, *trust, *at).code

    manifest = folder / MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b'"tests"', b'"others"'))
    ran = safe_run("install", folder, *trust, *at, "--json")

    assert 1 == ran.code
    assert "signature.bad" in [f["code"] for f in ran.lines[0]["findings"]]


def test_no_signed_archive_lands_in_its_own_folder(safe_run, folder, key):
    """A folder is signed into an archive outside of it, or not at all."""
    inside = folder / "in.uaix"

    ran = safe_run("sign", folder, "--key-file", key, "-o", inside, "--json")

    assert (2, "files.target") == (ran.code, ran.line["error"]["code"])
    assert not inside.exists()
