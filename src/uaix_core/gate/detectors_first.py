"""The prefix detectors of the governed-memory specification, in its order."""

from __future__ import annotations

from typing import Final

from uaix_core.gate.detectors import ALNUM, DOTTED, WIDE, prefix

PREFIXES: Final = (
    prefix("anthropic-api-key", "sk-ant-", 24, WIDE),
    prefix("openai-api-key", "sk-", 20, WIDE),
    prefix("stripe-secret-key", "sk_live_", 16),
    prefix("stripe-restricted-key", "rk_live_", 16),
    prefix("github-token", "ghp_", 36, ALNUM, check="crc-base62"),
    prefix("github-oauth-token", "gho_", 36, ALNUM, check="crc-base62"),
    prefix("github-user-token", "ghu_", 36, ALNUM, check="crc-base62"),
    prefix("github-server-token", "ghs_", 36, ALNUM, check="crc-base62"),
    prefix("github-refresh-token", "ghr_", 36, ALNUM, check="crc-base62"),
    prefix("github-fine-grained-token", "github_pat_", 40, WIDE),
    prefix("gitlab-personal-token", "glpat-", 20, WIDE),
    prefix("slack-bot-token", "xoxb-", 24, DOTTED),
    prefix("slack-user-token", "xoxp-", 24, DOTTED),
    prefix("slack-app-token", "xapp-", 24, DOTTED),
    prefix("aws-access-key-id", "AKIA", 16),
    prefix("aws-temporary-access-key-id", "ASIA", 16),
    prefix("google-api-key", "AIza", 35, WIDE),
    prefix("google-oauth-token", "ya29.", 32, DOTTED),
    prefix("npm-token", "npm_", 36, ALNUM, check="crc-base62"),
    prefix("digitalocean-token", "dop_v1_", 60),
    prefix("sendgrid-api-key", "SG.", 32, DOTTED),
    prefix("huggingface-token", "hf_", 32),
    prefix("shopify-access-token", "shpat_", 32),
    prefix("supabase-service-key", "sbp_", 36),
)
