"""Made-up tokens of the many vendors that most texts never name."""

from __future__ import annotations

import string
import uuid

from tests.gate.drawing import ALNUM, DIGITS, LOWER, LOWER_HEX, UPPER, WIDE, drawn

_ONE = str(uuid.UUID(int=0x7D4448409DC011D1B2455FFDCE74FAD2))

#: Detector, prefix, alphabet and length of the body.
PREFIXED = [
    ("adobe-secret", "p8e-", ALNUM, 32),
    ("adyen-key", "AQE" + "yh", ALNUM, 70),
    ("artifactory-token", "cmVmdGtuO", ALNUM, 55),
    ("atlassian-connect-token", "ATCTT3", WIDE, 180),
    ("aws-context-key-id", "ACCA", UPPER, 16),
    ("aws-service-bearer-id", "ABIA", UPPER, 16),
    ("bare-pkcs8-encrypted-key", "MIIFHDBO" + "BgkqhkiG9w0BBQ", ALNUM, 90),
    ("buildkite-token", "bkua_", LOWER_HEX, 40),
    ("cerebras-api-key", "csk-", ALNUM, 48),
    ("checkly-key", "cu_", LOWER_HEX, 32),
    ("clickhouse-key", "4b1d", ALNUM, 38),
    ("cloudflare-token", "cfut_", ALNUM, 40),
    ("datadog-token", "ddapp_", ALNUM, 34),
    ("digitalocean-oauth-token", "doo_v1_", LOWER_HEX, 64),
    ("digitalocean-refresh-token", "dor_v1_", LOWER_HEX, 64),
    ("dropbox-token", "sl.", WIDE, 135),
    ("duffel-token", "duffel_live_", WIDE, 43),
    ("easypost-key", "EZAK", ALNUM, 54),
    ("elevenlabs-api-key", "sk_", LOWER_HEX, 48),
    ("fireworks-api-key", "fw_", ALNUM, 24),
    ("flutterwave-key", "FLWSECK-", LOWER_HEX, 32),
    ("frameio-token", "fio-u-", WIDE, 64),
    ("google-refresh-token", "1//0", WIDE, 60),
    ("grafana-api-key", "eyJrIjoi", ALNUM, 70),
    ("huggingface-org-token", "api_org_", string.ascii_letters, 34),
    ("infracost-key", "ico-", ALNUM, 32),
    ("jina-api-key", "jina_", ALNUM, 60),
    ("linear-token", "lin_oauth_", LOWER_HEX, 64),
    ("lob-key", "live_", LOWER_HEX, 35),
    ("mandrill-key", "md-", ALNUM, 22),
    ("neon-api-key", "napi_", LOWER, 64),
    ("octopus-key", "API-", UPPER, 26),
    ("onepassword-service-token", "ops_eyJ", ALNUM, 250),
    ("packagist-token", "packagist_uut_", LOWER_HEX, 68),
    ("prefect-key", "pnu_", ALNUM, 36),
    ("readme-key", "rdme_", LOWER, 70),
    ("render-api-key", "rnd_", ALNUM, 32),
    ("settlemint-token", "sm_pat_", ALNUM, 16),
    ("shippo-token", "shippo_live_", LOWER_HEX, 40),
    ("sourcegraph-token", "sgp_", LOWER_HEX, 40),
    ("tavily-api-key", "tvly-", ALNUM, 32),
    ("together-api-key", "tgp_v1_", WIDE, 43),
    ("vault-legacy-token", "s.", ALNUM, 24),
    ("vault-recovery-token", "hvr.", ALNUM, 24),
    ("vercel-blob-token", "vercel_blob_rw_", ALNUM, 40),
    ("vercel-token", "vcp_", ALNUM, 56),
    ("voyage-api-key", "pa-", WIDE, 43),
    ("yandex-api-key", "AQVN", WIDE, 36),
]

#: Tokens of more than one part.
SHAPED = [
    ("age-plugin-key", f"AGE-PLUGIN-CARD-1{drawn(UPPER, 40)}"),
    (
        "bare-pkcs8-hex-key",
        "308204bd020100" + "300d06092a864886f70d0101010500" + drawn(LOWER_HEX, 40),
    ),
    (
        "braintree-token",
        f"access_token$production${drawn(LOWER, 16)}${drawn(LOWER_HEX, 32)}",
    ),
    ("circleci-token", f"CCIPAT_{drawn(ALNUM, 22)}_{drawn(LOWER_HEX, 40)}"),
    (
        "cloudflare-origin-key",
        f"v1.0-{drawn(LOWER_HEX, 24)}-{drawn(LOWER_HEX, 146)}",
    ),
    ("facebook-app-token", f"{drawn(DIGITS, 15)}|{drawn(WIDE, 27)}"),
    ("firebase-server-key", f"AAAA{drawn(WIDE, 7)}:APA91b{drawn(WIDE, 134)}"),
    (
        "harness-token",
        f"pat.{drawn(ALNUM, 22)}.{drawn(LOWER_HEX, 24)}.{drawn(ALNUM, 20)}",
    ),
    ("launchdarkly-key", f"sdk-{_ONE}"),
    ("mapbox-secret-token", f"sk.eyJ{drawn(ALNUM, 80)}.{drawn(ALNUM, 22)}"),
    ("maxmind-key", f"{drawn(ALNUM, 6)}_{drawn(ALNUM, 29)}_mmk"),
    (
        "onepassword-secret-key",
        f"A3-{drawn(UPPER, 6)}-{drawn(UPPER, 11)}-{'-'.join(['A7X9Q'] * 3)}",
    ),
    ("riot-key", f"RGAPI-{_ONE}"),
    ("yandex-iam-token", f"t1.{drawn(ALNUM, 40)}.{drawn(WIDE, 86)}"),
]

#: Links that are a secret by themselves.
LINKS = [
    (
        "azure-account-key",
        f"AccountName=a;AccountKey={drawn(ALNUM, 86)}==;EndpointSuffix=x",
    ),
    (
        "dingtalk-webhook",
        f"https://oapi.dingtalk.com/robot/send?access_token={drawn(LOWER_HEX, 64)}",
    ),
    ("feishu-webhook", f"https://open.feishu.cn/open-apis/bot/v2/hook/{_ONE}"),
    (
        "google-chat-webhook",
        (
            f"https://chat.googleapis.com/v1/spaces/{drawn(ALNUM, 11)}/messages"
            f"?key={drawn(WIDE, 39)}&token={drawn(WIDE, 43)}"
        ),
    ),
    (
        "google-signed-address",
        f"https://storage.example/x?X-Goog-Signature={drawn(LOWER_HEX, 512)}",
    ),
    (
        "ifttt-webhook",
        f"https://maker.ifttt.com/trigger/door/with/key/{drawn(WIDE, 22)}",
    ),
    ("make-webhook", f"https://hook.eu1.make.com/{drawn(LOWER, 32)}"),
    ("minisign-secret-key", "untrusted comment: minisign encrypted " + "secret key"),
    (
        "teams-webhook",
        (
            f"https://example.webhook.office.com/webhookb2/{_ONE}@{_ONE}"
            f"/IncomingWebhook/{drawn(LOWER_HEX, 32)}/{_ONE}"
        ),
    ),
    ("wecom-webhook", f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={_ONE}"),
    (
        "zapier-webhook",
        f"https://hooks.zapier.com/hooks/catch/{drawn(DIGITS, 7)}/{drawn(LOWER, 7)}/",
    ),
]
