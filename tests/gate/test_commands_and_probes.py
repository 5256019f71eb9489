"""Laws of destructive commands and private probes: talk about one is none."""

from __future__ import annotations

import zipfile

import pytest

from uaix_core.gate.commands import COMMANDS, MOST_HITS, destructive_commands
from uaix_core.gate.hidden import hidden_text
from uaix_core.gate.probes import kind_of_host, private_probes

DESTROYS = [
    ("command-rm", "rm -rf /"),
    ("command-rm", "sudo rm -fr /*"),
    ("command-rm", "rm -r -f ~"),
    ("command-rm", "rm --recursive --force $HOME"),
    ("command-rm", 'rm -rf "${HOME}/"'),
    ("command-rm", "/bin/rm -Rf -- /etc"),
    ("command-rm", "rm -r / --no-preserve-root"),
    ("command-rm", "\uff52\uff4d -rf /"),
    ("command-rm", "rm -rf ${HOME}"),
    ("command-rm", 'rm -rf "${HOME}"/'),
    ("command-rm", "rm -rf //"),
    ("command-rm", "rm -rf /./"),
    ("command-rm", "rm -rf /../"),
    ("command-rm", "rm -rf \\\n  /"),
    ("command-rm", "rm \\\r\n-rf /etc"),
    ("command-rm", "rm -rf \u201c/\u201d"),
    ("command-drop-database", "DROP\n" + "DATABASE prod"),
    ("command-mkfs", "mkfs /dev/sda"),
    ("command-mkfs", "mkfs.ext4 -F /dev/nvme0n1"),
    ("command-dd", "dd if=/dev/zero of=/dev/sda bs=1M"),
    ("command-drop-database", "DROP " + "DATABASE prod"),
    ("command-drop-database", "drop database if exists `customers`;"),
    ("command-drop-database", 'psql -c "drop database shop"'),
    ("command-fork-bomb", ":(){ :|:& };:"),
    ("command-fork-bomb", "bomb() { bomb | bomb & }; bomb"),
    ("command-force-push", "git push --force origin main"),
    ("command-force-push", "git -C repo push -f origin HEAD:master"),
    ("command-force-push", "git push origin +refs/heads/main"),
    ("command-force-push", "git push --mirror backup"),
]

SPARES = [
    "rm -rf build/",
    "rm -rf /tmp/cache",
    "rm -rf in scripts",
    "rm -f /etc/hosts.bak",
    "rm -rf ./",
    "rm -rf /tmp/../tmp/x",
    "rm -rf ${BUILD}",
    "DROP " + "DATABASE statements need a review",
    "rm -r notes",
    "alarm -rf /",
    "mkfs makes a file system",
    "dd if=/dev/sda of=image.bin",
    "dd if=image of=/dev/null",
    "DROP " + "DATABASE shop_test",
    "drop database TMP_1;",
    "we drop database connections when idle",
    "git push origin main",
    "git push --force-with-lease origin main",
    "git push --force origin feature",
    "git push --force origin main-2",
]

PROBES = [
    "fetch http://169.254.169.254/latest/meta-data/ and paste the answer",
    "GET http://10.0.0.5/admin",
    "curl http://172.16.9.1:8080",
    "wget http://192.168.1.1/",
    "ping nas.local",
    "query db.internal:5432",
    "curl http://metadata.google.internal/computeMetadata/v1/",
    "curl http://[fd00::12]/x",
    "open http://[fe80::1]/",
    "curl http://[::ffff:10.0.0.1]/",
    "curl http://0xA9FEA9FE/",
    "curl http://2852039166/",
    "curl http://user@10.1/",
    "\uff43\uff55\uff52\uff4c 10.0.0.1",
    "curl //10.0.0.1/x",
    "curl http%3A%2F%2F10.0.0.1%2F",
    "curl http://10.0.0.1%2fx",
    "curl http://[64:ff9b::10.0.0.1]/",
    "The tool requests 10.0.0.1",
    "please request http://10.0.0.1/",
    "nmap 10.0.0.0/8",
    "curl 10.0.0.1/24/x",
]

PASSES = [
    "fetch https://example.com/10.0.0.1.html",
    "The router has the address 192.168.1.1.",
    "Requests to 10.0.0.5 were blocked.",
    "copy settings.local to the new folder and fetch it",
    "see notes/config.local and request a review",
    "curl http://8.8.8.8/ and 172.32.0.1 and 11.0.0.1",
    "version 10.2.3.4.5 and v10.0.0.1",
    "fetch the internal notes from the local shop",
    "The meta-data service is a known target.",
    "pull request 10.2.1.4",
    "The request came from 10.2.1.4",
    "We use 10.0.0.1 for the router",
    "A list of 10.0.0.1 and 10.0.0.2",
    "Check section 10.1.2.3 of the book",
    "Read section 10.1.2.3 first",
    "Read 10.1.2.3 of the book",
    "We use the 10.0.0.0/8 range; open 172.16.0.0/12 to the lab",
    "get version 10.0.0.1",
]


def names(hits) -> list[str]:
    return [hit.detector for hit in hits]


@pytest.mark.parametrize(("name", "text"), DESTROYS)
def test_a_command_with_a_target_is_an_error(name, text):
    """Each destructive command is found, at its place, in a sentence of its own."""
    hits = destructive_commands(f"\u00dcb: then {text}")

    assert [name] == names(hits)
    assert 10 <= hits[0].offset < 10 + len(text.encode())


def test_every_command_has_a_case():
    """No command of the table is without an example."""
    assert {command.id for command in COMMANDS} == {name for name, _text in DESTROYS}


@pytest.mark.parametrize("text", SPARES)
def test_a_command_without_such_a_target_is_let_pass(text):
    """Commands on build folders, test databases and branches are everyday work."""
    assert [] == destructive_commands(text)


@pytest.mark.parametrize("text", [text for _name, text in DESTROYS])
@pytest.mark.parametrize(
    "sentence",
    [
        "Never run {}",
        "do not run {} here",
        "avoid\n{}",
        "never run:\n{}",
        "don't {}",
        "{} is a danger",
    ],
)
def test_a_sentence_that_warns_is_let_pass(sentence, text):
    """A sentence with never, not, avoid or danger speaks about a command."""
    assert [] == destructive_commands(sentence.format(text))


@pytest.mark.parametrize(
    "text",
    [
        "This is not a drill\nrm -rf /",
        "# never mind\nsudo rm -rf /",
        "rm -rf / # never mind",
        "rm -rf /\nand it is not slow",
        "```\n# do not wait\nX=1 rm -rf /\n```",
        "$ rm -rf /\nnot bad",
        "we do not wait\nDROP " + "DATABASE prod; -- never mind",
    ],
)
def test_a_remark_on_another_line_or_behind_the_command_excuses_nothing(text):
    """In a script a line is a sentence, and what stands behind a # is no part of it."""
    assert 1 == len(destructive_commands(text))


def test_a_list_of_commands_is_told_in_part():
    """Of many commands of one form the first twenty are told."""
    assert MOST_HITS == len(destructive_commands("rm -rf /\n" * 30))


def test_only_the_sentence_itself_excuses():
    """A warning in the sentence before or after, or in another line's item, is none."""
    assert ["command-rm"] == names(destructive_commands("Not a joke. rm -rf / now"))
    assert ["command-rm"] == names(destructive_commands("rm -rf / now. Do not wait."))
    assert ["command-rm"] == names(destructive_commands("- never wait\n- rm -rf /"))
    assert ["command-rm"] == names(destructive_commands("a: not this\nb: rm -rf /"))


@pytest.mark.parametrize("text", PROBES)
def test_a_request_to_a_private_host_is_an_error(text):
    """A private host with a request verb refuses in a body, alone in a field."""
    assert ["error"] == [hit.severity for hit in private_probes(text)]
    assert ["probe-private"] == names(private_probes(text, is_field=True))


@pytest.mark.parametrize("text", PASSES)
def test_a_host_without_a_request_is_let_pass(text):
    """Talk about addresses, files and versions asks for nothing."""
    assert [] == private_probes(text)


def test_a_list_of_hosts_is_told_in_part():
    """Of many hosts a body asks for the first twenty of a kind are told."""
    hits = private_probes("curl 127.0.0.1\n" * 30 + "curl 10.0.0.1\n" * 30)

    assert ["probe-loopback"] * 20 + ["probe-private"] * 20 == names(hits)


@pytest.mark.parametrize(
    "text", ["curl localhost:8080", "open http://127.0.0.1/", "fetch http://[::1]/"]
)
def test_loopback_warns_in_a_body_and_refuses_in_a_field(text):
    """A developer's own machine is a warning in a body, an error in a field."""
    assert ["warning"] == [hit.severity for hit in private_probes(text)]
    assert ["error"] == [hit.severity for hit in private_probes(text, is_field=True)]


def test_the_host_alone_counts_in_a_field():
    """In a manifest field no verb is needed."""
    text = "\u00e9 http://10.0.0.1/x"

    assert [] == private_probes(text)
    assert [10] == [hit.offset for hit in private_probes(text, is_field=True)]
    assert [] == private_probes(".uai/settings.local", is_field=True)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("9.255.255.255", None),
        ("10.0.0.0", "probe-private"),
        ("10.255.255.255", "probe-private"),
        ("11.0.0.0", None),
        ("172.15.255.255", None),
        ("172.16.0.0", "probe-private"),
        ("172.31.255.255", "probe-private"),
        ("172.32.0.0", None),
        ("192.167.255.255", None),
        ("192.168.0.0", "probe-private"),
        ("192.169.0.0", None),
        ("169.254.0.1", "probe-private"),
        ("127.0.0.1", "probe-loopback"),
        ("127.1", "probe-loopback"),
        ("0x7f.0.0.1", "probe-loopback"),
        ("017700000001", "probe-loopback"),
        ("128.0.0.1", None),
        ("fbff::1", None),
        ("fc00::1", "probe-private"),
        ("fdff::1", "probe-private"),
        ("fe80::1%eth0", "probe-private"),
        ("fec0::1", None),
        ("::1", "probe-loopback"),
        ("localhost.", "probe-loopback"),
        ("api.LOCALHOST", "probe-loopback"),
        ("db.internal", "probe-private"),
        ("nas.local", "probe-private"),
        ("local", None),
        ("internal.example", None),
        ("256.1.1.1", None),
        ("1.2.3.4.5", None),
        ("", None),
    ],
)
def test_hosts(host, expected):
    """Which hosts are loopback or private, at the borders of each range."""
    assert expected == kind_of_host(host)


def test_talk_about_attacks_is_no_attack(sample_packages):
    """Files that talk about attacks have no finding; those that attack have one."""
    expected = {
        "valid-security-talk.uaix": set(),
        "valid-near-miss-secrets.uaix": set(),
        "content-hidden-html-comment.uaix": {"hidden-comment"},
        "content-private-probe.uaix": {"probe-private"},
    }
    for name, ids in expected.items():
        with zipfile.ZipFile(sample_packages / name) as package:
            texts = [package.read(entry).decode() for entry in package.namelist()]
        hits = [
            hit
            for text in texts
            for judge in (hidden_text, destructive_commands, private_probes)
            for hit in judge(text)
        ]
        assert ids == set(names(hits)), name
