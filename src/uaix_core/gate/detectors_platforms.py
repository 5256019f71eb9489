"""Vendors' tokens: clouds, code hosts, package registries, model providers.

Forms as the vendors document them or as public scanners know them.
"""

from __future__ import annotations

from typing import Final

from uaix_core.gate.detectors import (
    BASE64,
    DOTTED,
    HEX,
    LOWER_HEX,
    UUID,
    WIDE,
    Detector,
    prefix,
    shaped,
)

CLOUDS: Final = (
    prefix("aws-service-bearer-id", "ABIA", 16),
    prefix("aws-context-key-id", "ACCA", 16),
    prefix("aws-bedrock-key", "ABSK", 100, BASE64),
    prefix("aws-bedrock-key", "bedrock-api-key-", 24, DOTTED),
    shaped("aws-mws-key", "amzn.mws.", UUID),
    prefix("google-oauth-secret", "GOCSPX-", 20, WIDE),
    shaped("google-refresh-token", "1//0", r"[A-Za-z0-9_-]{38,}"),
    Detector(
        id="azure-client-secret",
        family="prefix",
        keywords=("q~",),
        pattern=r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}",
        slug=True,
    ),
    Detector(
        id="azure-resource-key",
        family="prefix",
        keywords=(
            "apim",
            "acdb",
            "+aba",
            "+amc",
            "+ast",
            "azdo",
            "azfu",
            "azse",
            "jqqj9",
        ),
        pattern=rf"(?<![A-Za-z0-9+/])(?:{BASE64}{{76}}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))"
        rf"{BASE64}{{5}}[AQgw]==|[A-Za-z0-9]{{76}}AZDO[A-Za-z0-9]{{4}}"
        rf"|[A-Za-z0-9_-]{{44}}AzFu[A-Za-z0-9_-]{{5}}[AQgw]==|[A-Za-z0-9]{{42}}AzSe"
        rf"[A-D][A-Za-z0-9]{{5}}|[A-Za-z0-9]{{52}}JQQJ9[9DH][A-Za-z0-9]{{20,}})",
    ),
    prefix("alibaba-access-key-id", "LTAI", 16),
    prefix("tencent-secret-id", "AKID", 28),
    prefix("yandex-api-key", "AQVN", 35, WIDE),
    shaped("yandex-iam-token", "t1.", r"[A-Za-z0-9_-]{20,}={0,2}\.[A-Za-z0-9_-]{40,}"),
    prefix("digitalocean-oauth-token", "doo_v1_", 60),
    prefix("digitalocean-refresh-token", "dor_v1_", 60),
    shaped("heroku-api-key", "HRKU-", r"[A-Za-z0-9_-]{36,}", slug=True),
    shaped("cloudflare-origin-key", "v1.0-", rf"{LOWER_HEX}{{24}}-{LOWER_HEX}{{100,}}"),
    prefix("cloudflare-token", "cfut_", 32, WIDE),
    prefix("cloudflare-token", "cfat_", 32, WIDE),
    *(
        prefix("netlify-token", literal, 36)
        for literal in ("nfp_", "nfc_", "nfo_", "nfb_", "nfu_")
    ),
    prefix("fly-token", "fm1r_", 60, DOTTED),
    prefix("fly-token", "fm1a_", 60, DOTTED),
    prefix("fly-token", "fm2_", 60, DOTTED),
    prefix("fly-token", "fo1_", 40, WIDE),
    prefix("vercel-token", "vcp_", 24),
    prefix("vercel-token", "vck_", 24),
    prefix("vercel-blob-token", "vercel_blob_rw_", 24, WIDE),
    prefix("render-api-key", "rnd_", 24),
    prefix("neon-api-key", "napi_", 40),
    prefix("vault-token", "hvs.", 24, WIDE),
    prefix("vault-batch-token", "hvb.", 24, WIDE),
    prefix("vault-recovery-token", "hvr.", 24, WIDE),
    shaped(
        "vault-legacy-token",
        "s.",
        r"(?=[A-Za-z]{0,21}[0-9][A-Za-z]{1,20}[0-9])[A-Za-z0-9]{24}(?![A-Za-z0-9_.-])",
        check="mixed",
    ),
    Detector(
        id="terraform-cloud-token",
        family="prefix",
        keywords=(".atlasv1.",),
        pattern=r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}",
    ),
    shaped("databricks-token", "dapi", rf"{HEX}{{32}}(?:-\d)?"),
    prefix("supabase-secret-key", "sb_secret_", 20, WIDE),
    *(
        shaped("planetscale-token", literal, r"[A-Za-z0-9_=.-]{32,}", slug=True)
        for literal in ("pscale_tkn_", "pscale_oauth_", "pscale_pw_")
    ),
    *(
        shaped("doppler-token", f"dp.{kind}.", r"[A-Za-z0-9._-]{30,}", slug=True)
        for kind in ("pt", "st", "ct", "sa", "scim", "audit")
    ),
    prefix("pulumi-token", "pul-", 40, LOWER_HEX),
    shaped(
        "tailscale-key",
        "tskey-",
        r"[a-z]{3,12}-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{10,})?",
        slug=True,
    ),
    shaped("kubernetes-bootstrap-token", "sha256~", r"[A-Za-z0-9_-]{43}"),
    prefix("prefect-key", "pnu_", 36),
    prefix("onepassword-service-token", "ops_eyJ", 100, DOTTED),
    shaped(
        "onepassword-secret-key",
        "A3-",
        r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
)

HOSTS: Final = (
    *(
        prefix("gitlab-token", literal, 20, WIDE)
        for literal in (
            "gldt-",
            "glrt-",
            "glptt-",
            "glcbt-",
            "glft-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glsoat-",
            "glffct-",
            "glwt-",
        )
    ),
    prefix("gitlab-runner-token", "GR1348941", 20, WIDE),
    shaped("github-installation-token", "v1.", rf"{LOWER_HEX}{{40}}"),
    prefix("bitbucket-app-password", "ATBB", 28),
    shaped("atlassian-api-token", "ATATT3", r"[A-Za-z0-9_=-]{50,}"),
    shaped("atlassian-connect-token", "ATCTT3", r"[A-Za-z0-9_=-]{50,}"),
    prefix("docker-token", "dckr_pat_", 20, WIDE),
    prefix("docker-token", "dckr_oat_", 20, WIDE),
    shaped("package-index-token", "pypi-", r"[A-Za-z0-9_-]{32,}", slug=True),
    prefix("rubygems-key", "rubygems_", 48, LOWER_HEX),
    prefix("nuget-key", "oy2", 43, "[a-z0-9]"),
    prefix("clojars-token", "CLOJARS_", 60, "[a-z0-9]"),
    shaped(
        "crates-token", "cio", r"(?=[A-Za-z]{0,31}[0-9])[A-Za-z0-9]{32}(?![A-Za-z0-9])"
    ),
    prefix("artifactory-key", "AKCp", 60),
    prefix("artifactory-token", "cmVmdGtuO", 40),
    shaped("packagist-token", "packagist_", r"[a-z]{2,3}_[0-9a-f]{60,}"),
    prefix("sourcegraph-token", "sgp_", 40, "[0-9a-fA-F_]"),
    prefix("buildkite-token", "bkua_", 40, LOWER_HEX),
    shaped("circleci-token", "CCIPAT_", r"[A-Za-z0-9]{10,}_[0-9a-f]{40}"),
    *(
        shaped("sonarqube-token", literal, r"[0-9a-f]{40}")
        for literal in ("squ_", "sqp_", "sqa_")
    ),
    shaped("octopus-key", "API-", r"(?=[A-Z]{0,25}[0-9])[A-Z0-9]{26,}"),
)

MODELS: Final = (
    prefix("huggingface-org-token", "api_org_", 34),
    prefix("groq-api-key", "gsk_", 40),
    prefix("xai-api-key", "xai-", 60),
    prefix("perplexity-api-key", "pplx-", 40),
    prefix("replicate-token", "r8_", 37),
    shaped("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    prefix("nvidia-api-key", "nvapi-", 50, WIDE),
    prefix("pinecone-api-key", "pcsk_", 40, WIDE),
    prefix("voyage-api-key", "pa-", 40, WIDE),
    prefix("tavily-api-key", "tvly-", 24, WIDE),
    prefix("elevenlabs-api-key", "sk_", 40, LOWER_HEX),
    prefix("jina-api-key", "jina_", 40, WIDE),
    prefix("cerebras-api-key", "csk-", 40),
    prefix("fireworks-api-key", "fw_", 22),
    prefix("together-api-key", "tgp_v1_", 40, WIDE),
    shaped(
        "clickhouse-key",
        "4b1d",
        r"(?=[a-z0-9]{0,37}[A-Z])[A-Za-z0-9]{38}(?![A-Za-z0-9])",
    ),
)
