"""Vendors' tokens: messages, payments, work tools, monitoring, shops.

Forms as the vendors document them or as public scanners know them.
"""

from __future__ import annotations

from typing import Final

from uaix_core.gate.detectors import (
    DOTTED,
    HEX,
    LOWER_HEX,
    UUID,
    WIDE,
    Detector,
    prefix,
    shaped,
)

MESSAGES: Final = (
    *(
        prefix("slack-token", f"xox{kind}-", 20, DOTTED)
        for kind in ("a", "r", "s", "o", "e", "c", "d")
    ),
    shaped("slack-token", "xoxe.", r"xox[bp]-[A-Za-z0-9-]{20,}"),
    Detector(
        id="telegram-bot-token",
        family="prefix",
        keywords=(":aa",),
        pattern=r"(?<![A-Za-z0-9])\d{7,10}:AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])",
    ),
    Detector(
        id="discord-bot-token",
        family="prefix",
        keywords=(".",),
        pattern=r"(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9]{22,27}\.[A-Za-z0-9_-]{6}\."
        r"[A-Za-z0-9_-]{27,38}(?![A-Za-z0-9_-])",
        slug=True,
        check="mixed",
    ),
    prefix("twilio-api-key", "SK", 32, HEX),
    shaped("mailgun-key", "key-", r"(?:[0-9a-f]{32}|(?=[a-z]{0,31}\d)[0-9a-z]{32})"),
    Detector(
        id="mailchimp-key",
        family="prefix",
        keywords=("-us",),
        pattern=r"(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])",
    ),
    prefix("mandrill-key", "md-", 22, "[A-Za-z0-9_]", check="mixed"),
    shaped("brevo-key", "xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    shaped("brevo-key", "xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    shaped("resend-key", "re_", r"[A-Za-z0-9]{7,10}_[A-Za-z0-9]{20,}", check="mixed"),
    prefix("facebook-token", "EAACEdEose0cBA", 16),
    Detector(
        id="facebook-token",
        family="prefix",
        keywords=("eaa",),
        pattern=r"EAA(?<![A-Za-z0-9+/]EAA)[A-Za-z0-9]{80,}",
    ),
    Detector(
        id="facebook-app-token",
        family="prefix",
        keywords=("|",),
        pattern=r"(?<![A-Za-z0-9])\d{13,17}\|[A-Za-z0-9_-]{27}(?![A-Za-z0-9_-])",
    ),
    prefix("twitter-bearer-token", "AAAAAAAAAAAAAAAAAAAAA", 60, "[A-Za-z0-9%]"),
    Detector(
        id="firebase-server-key",
        family="prefix",
        keywords=(":apa91b",),
        pattern=r"(?<![A-Za-z0-9])AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,}",
    ),
    shaped("dropbox-token", "sl.", r"(?:u\.)?[A-Za-z0-9_-]{120,}"),
)

PAYMENTS: Final = (
    prefix("stripe-test-key", "sk_test_", 16),
    prefix("stripe-test-key", "rk_test_", 16),
    prefix("stripe-secret-key", "sk_prod_", 16),
    prefix("stripe-restricted-key", "rk_prod_", 16),
    prefix("stripe-webhook-secret", "whsec_", 24, "[A-Za-z0-9+/=]"),
    *(
        prefix("square-token", literal, 22, WIDE)
        for literal in ("sq0atp-", "sq0csp-", "sq0idp-", "sq0idb-")
    ),
    Detector(
        id="square-access-token",
        family="prefix",
        keywords=("eaaa",),
        pattern=r"EAAA(?<![A-Za-z0-9+/]EAAA)[A-Za-z0-9_-]{56,}",
    ),
    shaped("plaid-token", "access-", rf"(?:sandbox|development|production)-{UUID}"),
    shaped(
        "braintree-token",
        "access_token$",
        r"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    prefix("razorpay-key", "rzp_live_", 14),
    prefix("razorpay-key", "rzp_test_", 14),
    shaped("flutterwave-key", "FLWSECK", r"(?:_TEST)?-[0-9a-zA-Z]{12,40}(?:-X)?"),
    shaped("easypost-key", "EZ", r"[AT]K[A-Za-z0-9]{54}"),
    shaped("shippo-token", "shippo_", r"(?:live|test)_[0-9a-f]{40}"),
    shaped("duffel-token", "duffel_", r"(?:live|test)_[A-Za-z0-9_-]{40,}"),
    shaped("lob-key", "live_", r"[0-9a-f]{35}"),
    shaped("lob-key", "test_", r"[0-9a-f]{35}"),
    *(
        prefix("shopify-token", literal, 32, HEX)
        for literal in ("shpca_", "shppa_", "shpss_", "shptka_", "shpua_")
    ),
    shaped("adyen-key", "AQE", r"[a-z]h[A-Za-z0-9+/_=.-]{60,}"),
)

TOOLS: Final = (
    shaped("postman-key", "PMAK-", r"[0-9a-fA-F]{24}-[0-9a-fA-F]{34}"),
    prefix("linear-key", "lin_api_", 32),
    prefix("linear-token", "lin_oauth_", 32),
    prefix("notion-token", "secret_", 43),
    prefix("notion-token", "ntn_", 40),
    shaped("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Detector(
        id="asana-token",
        family="prefix",
        keywords=("0/", "1/", "2/"),
        pattern=r"(?<![A-Za-z0-9/])[0-2]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}",
    ),
    prefix("figma-token", "figd_", 36, WIDE),
    prefix("contentful-token", "CFPAT-", 40, WIDE),
    shaped("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,}", slug=True),
    shaped("hubspot-token", "pat-", rf"[a-z]{{2}}\d-{UUID}"),
    prefix("readme-key", "rdme_", 70, "[a-z0-9]"),
    prefix("frameio-token", "fio-u-", 60, WIDE),
    prefix("trello-token", "ATTA", 64, HEX),
    shaped("mapbox-secret-token", "sk.eyJ", r"[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{16,}"),
    Detector(
        id="maxmind-key",
        family="prefix",
        keywords=("_mmk",),
        pattern=r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk",
    ),
    shaped("riot-key", "RGAPI-", UUID),
    shaped("adobe-secret", "p8e-", r"[A-Za-z0-9]{32}"),
    shaped(
        "harness-token", "pat.", r"[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"
    ),
    shaped("settlemint-token", "sm_", r"(?:aat|pat|sat)_[A-Za-z0-9]{16}"),
    prefix("infracost-key", "ico-", 32),
    shaped("launchdarkly-key", "sdk-", UUID),
    shaped("launchdarkly-key", "api-", UUID),
)

MONITORING: Final = (
    prefix("newrelic-key", "NRAK-", 27, "[A-Z0-9]"),
    prefix("newrelic-key", "NRJS-", 19, LOWER_HEX),
    prefix("newrelic-key", "NRII-", 32, WIDE),
    prefix("newrelic-key", "NRSP-", 27, "[A-Za-z0-9]"),
    Detector(
        id="newrelic-licence-key",
        family="prefix",
        keywords=("nral",),
        pattern=r"(?<![A-Za-z0-9])[0-9a-fA-F]{30,40}NRAL(?![A-Za-z0-9])",
    ),
    shaped("sentry-org-token", "sntrys_", r"[A-Za-z0-9+/=_-]{40,}"),
    prefix("sentry-user-token", "sntryu_", 64, LOWER_HEX),
    prefix("datadog-token", "ddapp_", 34),
    prefix("datadog-token", "ddpat_", 34, "[A-Za-z0-9_]"),
    prefix("grafana-cloud-token", "glc_", 32, "[A-Za-z0-9+/=]"),
    shaped("grafana-service-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}"),
    prefix("grafana-api-key", "eyJrIjoi", 40, "[A-Za-z0-9+/=]"),
    shaped("dynatrace-token", "dt0", r"[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    prefix("checkly-key", "cu_", 32, LOWER_HEX),
)
