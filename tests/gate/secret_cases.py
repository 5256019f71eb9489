"""Made-up secrets, put together at run time, and what must never be taken for one."""

from __future__ import annotations

import base64
import json
import string
import uuid

from tests.gate import vendor_cases
from tests.gate.drawing import ALNUM, DIGITS, LOWER, LOWER_HEX, UPPER, WIDE, drawn


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _der(first: str, count: int = 120) -> str:
    return first + drawn(ALNUM, count)


def web_token() -> str:
    parts = [json.dumps({"alg": "HS256"}), json.dumps({"sub": "someone"})]
    encoded = [
        base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts
    ]
    return ".".join([*encoded, drawn(WIDE, 43)])


def armour(kind: str, end: str = "PRIVATE KEY") -> str:
    return f"-----BEGIN {kind + ' ' if kind else ''}{end}-----"


#: Detector, prefix, alphabet and length of the body.
_PREFIXED = [
    ("anthropic-api-key", "sk-ant-", WIDE, 40),
    ("openai-api-key", "sk-", ALNUM, 20),
    ("openai-api-key", "sk-proj-", WIDE, 48),
    ("stripe-secret-key", "sk_live_", ALNUM, 16),
    ("stripe-restricted-key", "rk_live_", ALNUM, 16),
    ("github-token", "ghp_", ALNUM, 36),
    ("github-oauth-token", "gho_", ALNUM, 36),
    ("github-user-token", "ghu_", ALNUM, 36),
    ("github-server-token", "ghs_", ALNUM, 36),
    ("github-refresh-token", "ghr_", ALNUM, 36),
    ("github-fine-grained-token", "github_pat_", ALNUM, 60),
    ("gitlab-personal-token", "glpat-", WIDE, 20),
    ("slack-bot-token", "xoxb-", ALNUM, 24),
    ("slack-user-token", "xoxp-", ALNUM, 24),
    ("slack-app-token", "xapp-", ALNUM, 24),
    ("aws-access-key-id", "AKIA", UPPER, 16),
    ("aws-temporary-access-key-id", "ASIA", UPPER, 16),
    ("google-api-key", "AIza", WIDE, 35),
    ("google-oauth-token", "ya29.", WIDE, 40),
    ("npm-token", "npm_", ALNUM, 36),
    ("digitalocean-token", "dop_v1_", LOWER_HEX, 64),
    ("sendgrid-api-key", "SG.", ALNUM, 40),
    ("huggingface-token", "hf_", ALNUM, 34),
    ("shopify-access-token", "shpat_", LOWER_HEX, 32),
    ("supabase-service-key", "sbp_", LOWER_HEX, 40),
    ("aws-bedrock-key", "ABSK", ALNUM, 110),
    ("google-oauth-secret", "GOCSPX-", ALNUM, 28),
    ("azure-client-secret", "aB18Q~", ALNUM, 34),
    ("alibaba-access-key-id", "LTAI", ALNUM, 20),
    ("tencent-secret-id", "AKID", ALNUM, 32),
    ("heroku-api-key", "HRKU-", WIDE, 60),
    ("netlify-token", "nfp_", ALNUM, 36),
    ("fly-token", "fm2_", ALNUM, 80),
    ("fly-token", "fo1_", ALNUM, 43),
    ("vault-token", "hvs.", ALNUM, 24),
    ("vault-batch-token", "hvb.", ALNUM, 100),
    ("databricks-token", "dapi", LOWER_HEX, 32),
    ("supabase-secret-key", "sb_secret_", ALNUM, 31),
    ("planetscale-token", "pscale_tkn_", ALNUM, 43),
    ("doppler-token", "dp.pt.", ALNUM, 43),
    ("pulumi-token", "pul-", LOWER_HEX, 40),
    ("tailscale-key", "tskey-auth-", ALNUM, 17),
    ("kubernetes-bootstrap-token", "sha256~", WIDE, 43),
    ("gitlab-token", "glrt-", ALNUM, 20),
    ("gitlab-runner-token", "GR1348941", ALNUM, 20),
    ("bitbucket-app-password", "ATBB", ALNUM, 32),
    ("atlassian-api-token", "ATATT3", WIDE, 180),
    ("docker-token", "dckr_pat_", ALNUM, 27),
    ("package-index-token", "pypi-", WIDE, 100),
    ("rubygems-key", "rubygems_", LOWER_HEX, 48),
    ("nuget-key", "oy2", LOWER, 43),
    ("clojars-token", "CLOJARS_", LOWER, 60),
    ("crates-token", "cio", ALNUM, 32),
    ("artifactory-key", "AKCp", ALNUM, 69),
    ("sonarqube-token", "sqp_", LOWER_HEX, 40),
    ("groq-api-key", "gsk_", ALNUM, 52),
    ("xai-api-key", "xai-", ALNUM, 80),
    ("perplexity-api-key", "pplx-", ALNUM, 48),
    ("replicate-token", "r8_", ALNUM, 37),
    ("nvidia-api-key", "nvapi-", WIDE, 64),
    ("pinecone-api-key", "pcsk_", ALNUM, 60),
    ("slack-token", "xoxs-", ALNUM, 30),
    ("twilio-api-key", "SK", LOWER_HEX, 32),
    ("mailgun-key", "key-", LOWER_HEX, 32),
    ("twitter-bearer-token", "A" * 21, ALNUM, 80),
    ("facebook-token", "EAA", ALNUM, 100),
    ("stripe-test-key", "sk_test_", ALNUM, 24),
    ("stripe-webhook-secret", "whsec_", ALNUM, 32),
    ("square-token", "sq0atp-", WIDE, 22),
    ("square-access-token", "EAAA", WIDE, 60),
    ("razorpay-key", "rzp_live_", ALNUM, 14),
    ("shopify-token", "shpss_", LOWER_HEX, 32),
    ("linear-key", "lin_api_", ALNUM, 40),
    ("notion-token", "ntn_", ALNUM, 46),
    ("notion-token", "secret_", ALNUM, 43),
    ("figma-token", "figd_", WIDE, 40),
    ("contentful-token", "CFPAT-", WIDE, 43),
    ("typeform-token", "tfp_", WIDE, 59),
    ("trello-token", "ATTA", LOWER_HEX, 72),
    ("newrelic-key", "NRAK-", UPPER, 27),
    ("sentry-user-token", "sntryu_", LOWER_HEX, 64),
    ("sentry-org-token", "sntrys_", ALNUM, 80),
    ("grafana-cloud-token", "glc_", ALNUM, 60),
    ("bip32-private-key", "xprv", ALNUM, 107),
    ("nostr-private-key", "nsec1", LOWER, 58),
]


def _shaped() -> list[tuple[str, str]]:
    one = str(uuid.UUID(int=0x7D4448409DC011D1B2455FFDCE74FAD2))
    return [
        ("telegram-bot-token", f"{drawn(DIGITS, 9)}:AA{drawn(WIDE, 33)}"),
        (
            "discord-bot-token",
            f"M{drawn(ALNUM, 23)}.{drawn(ALNUM, 6)}.{drawn(ALNUM, 27)}",
        ),
        ("terraform-cloud-token", f"{drawn(ALNUM, 14)}.atlasv1.{drawn(ALNUM, 67)}"),
        ("mailchimp-key", f"{drawn(LOWER_HEX, 32)}-us12"),
        ("airtable-token", f"pat{drawn(ALNUM, 14)}.{drawn(LOWER_HEX, 64)}"),
        ("postman-key", f"PMAK-{drawn(LOWER_HEX, 24)}-{drawn(LOWER_HEX, 34)}"),
        ("asana-token", f"1/{drawn(DIGITS, 16)}:{drawn(LOWER_HEX, 32)}"),
        ("hubspot-token", f"pat-na1-{one}"),
        ("plaid-token", f"access-production-{one}"),
        ("newrelic-licence-key", f"{drawn(LOWER_HEX, 36)}NRAL"),
        ("dynatrace-token", f"dt0c01.{drawn(UPPER, 24)}.{drawn(UPPER, 64)}"),
        ("grafana-service-token", f"glsa_{drawn(ALNUM, 32)}_{drawn(LOWER_HEX, 8)}"),
        ("langsmith-key", f"lsv2_pt_{drawn(LOWER_HEX, 32)}_{drawn(LOWER_HEX, 10)}"),
        ("brevo-key", f"xkeysib-{drawn(LOWER_HEX, 64)}-{drawn(ALNUM, 16)}"),
        ("resend-key", f"re_{drawn(ALNUM, 8)}_{drawn(ALNUM, 24)}"),
        ("aws-mws-key", f"amzn.mws.{one}"),
        ("github-installation-token", f"v1.{drawn(LOWER_HEX, 40)}"),
        ("azure-resource-key", f"{drawn(ALNUM, 76)}+ASt{drawn(ALNUM, 5)}A=="),
        ("bare-pkcs8-rsa-key", _der("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC")),
        ("bare-pkcs8-ec-key", _der("MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0w")),
        ("bare-pkcs8-edwards-key", _der("MC4CAQAwBQYDK2VwBCIEI", 43)),
        ("bare-rsa-key", _der("MIIEpAIBAAKCAQEA")),
        ("bare-ec-key", _der("MHcCAQEEI")),
        ("bare-openssh-key", _der("b3BlbnNzaC1rZXktdjEA")),
        ("json-web-token", web_token()),
        ("high-entropy-token", "Qx7mZp2Lw9Tv4Rj8" + "Nc1Kb6Hs3Fd5Ga0Ue"),
        ("age-secret-key", f"AGE-SECRET-KEY-1{drawn(UPPER, 58)}"),
    ]


#: One or more secrets of each detector that looks at a token alone.
TOKENS: list[tuple[str, str]] = [
    *(
        (name, literal + drawn(alphabet, count, literal))
        for name, literal, alphabet, count in _PREFIXED + vendor_cases.PREFIXED
    ),
    *_shaped(),
    *vendor_cases.SHAPED,
]

#: Secrets that are more than one token.
_PASSWORD = "Tr0ub4dor" + "&3x9Qz"
TEXTS: list[tuple[str, str]] = [
    ("pem-private-key", armour("")),
    ("pem-rsa-private-key", armour("RSA")),
    ("pem-ec-private-key", armour("EC")),
    ("pem-dsa-private-key", armour("DSA")),
    ("pem-encrypted-private-key", armour("ENCRYPTED")),
    ("openssh-private-key", armour("OPENSSH")),
    ("pgp-private-key", armour("PGP", "PRIVATE KEY BLOCK")),
    ("ssh2-private-key", "---- BEGIN SSH2 ENCRYPTED " + "PRIVATE KEY ----"),
    ("other-private-key", armour("X25519")),
    ("putty-private-key", "PuTTY-User-Key-" + "File-3: ssh-ed25519"),
    ("openvpn-static-key", "-----BEGIN OpenVPN " + "Static key V1-----"),
    ("url-embedded-credential", f"postgres://app:{_PASSWORD}@db.example.com/main"),
    ("url-embedded-credential", "redis://:" + "hunter2@cache:6379/0"),
    ("url-embedded-credential", "https://bob:" + "p@ss@word@host.example"),
    ("authorization-header", f"Authorization: Bearer {drawn(ALNUM, 20)}"),
    ("authorization-header", "Authorization: Basic " + _base64("aladdin:opensesame")),
    ("authorization-header", f'{{"Authorization": "token {drawn(LOWER_HEX, 40)}"}}'),
    ("authorization-header", f"curl -H 'authorization: {drawn(LOWER, 24)}' x"),
    ("authorization-header", f"send Bearer {drawn(LOWER, 30)} along"),
    ("login-password", f"machine h.example login me password {drawn(LOWER, 16)}"),
    ("login-password", f"curl -u admin:{drawn(LOWER, 16)} https://h.example/"),
    ("credential-assignment", f"DB_PASSWORD={_PASSWORD}"),
    ("credential-assignment", f"export API_KEY='{drawn(LOWER, 24)}'"),
    ("credential-assignment", f"Server=db;User Id=sa;Password={_PASSWORD};"),
    ("credential-assignment", f'{{"clientSecret": "{drawn(LOWER, 24)}"}}'),
    ("credential-assignment", f'{{"name": "DB_PASS", "value": "{_PASSWORD}"}}'),
    ("credential-assignment", f"password: {_PASSWORD}"),
    ("credential-assignment", f"<dbPassword>{drawn(LOWER, 14)}</dbPassword>"),
    ("credential-assignment", f"2026-01-02 login user=bob pwd={drawn(LOWER, 12)} ok"),
    ("credential-assignment", f"auth_token: str = '{drawn(LOWER, 20)}'"),
    ("credential-assignment", f"signing.key -> {drawn(LOWER, 20)}"),
    ("credential-assignment", f'webhookKey := "{drawn(LOWER, 20)}"'),
    ("credential-assignment", f"tool --password {_PASSWORD} run"),
    ("credential-assignment", f"ENV SESSION_KEY {drawn(LOWER, 20)}"),
    ("credential-assignment", f"https://h.example/x?access_token={drawn(LOWER, 20)}"),
    ("credential-assignment", f"config['secret'] = \"{drawn(LOWER, 20)}\""),
    ("credential-assignment", f'"{{\\"apiKey\\":\\"{drawn(LOWER, 20)}\\"}}"'),
    ("credential-assignment", f"CREATE USER a PASSWORD '{drawn(LOWER, 14)}'"),
    ("credential-assignment", f"the access token is {drawn(LOWER, 20)}, keep it"),
    ("credential-assignment", '"auth": "' + _base64("aladdin:opensesame") + '"'),
    ("credential-assignment", "token = " + drawn(string.ascii_lowercase, 30)),
    (
        "slack-webhook",
        (
            f"https://hooks.slack.com/services/T{drawn(UPPER, 8)}/B{drawn(UPPER, 8)}"
            f"/{drawn(ALNUM, 24)}"
        ),
    ),
    (
        "discord-webhook",
        f"https://discord.com/api/webhooks/{drawn(DIGITS, 18)}/{drawn(WIDE, 68)}",
    ),
    (
        "azure-shared-signature",
        f"https://a.blob.core.windows.net/c?sv=2024-01-01&sig={drawn(ALNUM, 43)}%3D",
    ),
    ("aws-signed-address", f"https://s3/x?X-Amz-Signature={drawn(LOWER_HEX, 64)}"),
    ("jwk-private-key", json.dumps({"kty": "OKP", "d": drawn(WIDE, 43)})),
]

#: Everything that must be found, with the detector that names it.
POSITIVES = TOKENS + TEXTS + vendor_cases.LINKS

_SHA = drawn(LOWER_HEX, 40)
_SHA256 = drawn(LOWER_HEX, 64)
_DIGEST = base64.b64encode(bytes(range(7, 39))).decode()
_LONG_DIGEST = base64.b64encode(bytes(range(64))).decode()
_ED25519 = "AAAAC3NzaC1lZDI1NTE5AAAAI" + drawn(ALNUM, 43)
_IMAGE = drawn(ALNUM, 60)

#: What must never be refused.
NEGATIVES = [
    f"commit {_SHA}",
    f"{_SHA[:7]}..{_SHA[7:14]}",
    f"sha256 {_SHA256}",
    f'"sha256": "{_SHA256}"',
    f"image@sha256:{_SHA256}",
    f"sha256-{_DIGEST}",
    f"sha384-{_LONG_DIGEST}",
    f"sha512-{_LONG_DIGEST}",
    f"SHA256:{_DIGEST.rstrip('=')}",
    f"h1:{_DIGEST}",
    f'integrity="sha1-{_DIGEST[:27]}="',
    f"pkg/module.py,sha256={_DIGEST.rstrip('=')},1234",
    "sha512-" + _LONG_DIGEST.replace("ABCD", "U+FF")[:86] + "==",
    "https://host.example/rober42539/lao-dictionary/LICENSE.txt",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "token=[A-Za-z0-9+/=_.-]{20,}",
    "password = [x1, y2, z3, a4, b5, c6]",
    "id 7d444840-9dc0-11d1-b245-5ffdce74fad2",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "mem_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    f"ssh-ed25519 {_ED25519} me@host",
    f"-----BEGIN PUBLIC KEY-----\n{_IMAGE}\n-----END PUBLIC KEY-----",
    f"-----BEGIN CERTIFICATE-----\n{_IMAGE}\n{_IMAGE[:40]}\n-----END CERTIFICATE-----",
    _base64("The garden is watered on Mondays."),
    f"note: {_base64('hello, world, this is plain text')}",
    f"data:image/png;base64,{_IMAGE}",
    f"![logo](data:image/png;base64,{_IMAGE})",
    "sk-learn-contrib-project-template",
    "glpat-rotation-runbook-2024-draft",
    "SG.regional.settings.of.the.garden.plan",
    "pypi-attestations-and-trusted-publishers-guide",
    "hf_" + "x" * 36,
    "AKIAIOSFODNN7" + "EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "sk_live_" + "X" * 24,
    "api_key: <your-api-key-here>",
    "API_KEY=${API_KEY}",
    "password: ${DB_PASSWORD:-unset}",
    "password = {{ vault_db_password_1 }}",
    "token: ${{ secrets.GITHUB_TOKEN_2 }}",
    "https://user:${PASSWORD}@host.example/",
    "https://user:<password>@host.example/",
    "https://user:****@host.example/",
    'api_key = os.environ["API_KEY_2024"]',
    "api_key = get_key_from_vault2()",
    "token = tokens[index2]['access']",
    "const token = await fetchToken2(client1)",
    'password = os.getenv("DB_PASSWORD_1")',
    "secret = settings.auth.v2.client_secret",
    "self.api_key = self.config.api_key_v2",
    "password_file: /run/secrets/db_password_1",
    "secret: /run/secrets/db_password_1",
    "token_url: https://login.example.com/oauth2/token",
    "auth: https://login.example.com/oauth2/v1",
    "auth: oauth2-client-credentials",
    "signing_key: rs256-2024-01",
    "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db",
    "secret: projects/123456789/secrets/db-password/versions/3",
    "last_auth: 2026-01-02T03:04:05Z",
    "max_tokens=4096, top_p=0.9",
    "token count: 128000tokens",
    "The password is stored elsewhere.",
    "The token is base64-encoded and sha256-hashed.",
    "the session key is 7d444840-9dc0-11d1-b245-5ffdce74fad2 hashed",
    "The secret is in `docs/security/Chapter2.md`.",
    'the word "token" is used in chapter2-section3',
    "The password must be changed each spring; it is kept elsewhere.",
    "password: at least 12 characters with letters and digits",
    "pass: 12/12, fail: 0/12",
    "The compass: a2b4c6d8e0f2g4 is a serial number",
    "tokenizer: bert-base-uncased-v2",
    "public_key: see the wiki",
    "primary_key = user_id_2024_01",
    "https://example.com/a/b?page=2#part",
    "git@github.com:org/repo.git",
    "ssh://git@github.com/org/repo.git",
    "https://medium.com/@user:notes",
    "http://localhost:8080/@scope/name",
    "/usr/lib/x86_64-linux-gnu/libQt5Core.so.5.15.2",
    "docs/reference/LintCodes/Chapter2/Section10.html",
    "com.example.service.UserProfileServiceV2.findById",
    "ThisIsALongCamelCaseIdentifier2026",
    "github.com/PyCQA/isort/blob/main/tests/unit/test_isort2.py",
    "#ff8800 #A1B2C3 #deadbeef",
    "v26.1.0-beta.4+build.20260102",
    "requires numpy>=1.26.4,<3 and cattrs~=24.1",
    "a-long-kebab-case-name-that-goes-on-and-on-2026",
    "SOME_LONG_ENVIRONMENT_VARIABLE_NAME_2",
    "2026-01-02T03:04:05.678Z INFO worker-12 took 34ms for job 5f3e2d1c",
    "for key, value in sorted(table.items(), key=lambda pair: pair[0]): print(key)",
    "const id = `${prefix}-${Date.now()}-${Math.random()}`;",
    "The Authorization: Bearer scheme is described in RFC 6750.",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    'headers = {"Authorization": f"Bearer {self.token}"}',
    "Basic authentication2 is not enough",
    "-----BEGIN CERTIFICATE REQUEST-----",
    "Look for BEGIN RSA PRIVATE KEY in the file.",
    "risk-assessment-of-the-whole-garden-2026",
    "Меня зовут Мира, и я люблю сад 2026 года",
    "\u82b1\u56ed\u7684\u6d47\u6c34\uff1a\u6bcf\u5468\uff0ctoken \u6570\u91cf 4096",
    "xoxb- tokens start so; ghp_ tokens as well",
    "[0.123, -0.456, 0.789, 1.0e-05]",
    "Zm9v YmFy",
    "lorem-free text with 50% off & more \\ less",
    r"C:\Users\name\AppData\Local\Programs\Python\Python311",
    "%E4%BD%A0%E5%A5%BD and \\u4f60\\u597d",
    "67 68 70 and 3 more",
    "npm_config_registry and npm_package_version_2",
]
