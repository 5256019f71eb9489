"""Links that are a secret by themselves: webhooks and signed addresses.

Whoever knows a webhook's address can post to it; whoever knows a signed address can
read what it names. Forms as the vendors document them.
"""

from __future__ import annotations

from typing import Final

from uaix_core.gate.detectors import UUID, Detector, Family


def _link(
    name: str, keyword: str, pattern: str, family: Family = "webhook"
) -> Detector:
    return Detector(id=name, family=family, keywords=(keyword,), pattern=pattern)


LINKS: Final = (
    _link(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_-]{3,24}"
        r"(?:/[A-Za-z0-9_-]{3,80}){1,4}",
    ),
    _link(
        "discord-webhook",
        "/webhooks/",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{10,22}/[A-Za-z0-9_-]{30,}",
    ),
    _link(
        "teams-webhook",
        "webhook.office.com",
        r"webhook\.office\.com/webhookb2/[A-Za-z0-9@-]{30,}/\w{4,40}/[A-Za-z0-9]{20,}",
    ),
    _link(
        "teams-webhook",
        "outlook.office",
        r"outlook\.office(?:365)?\.com/webhook/[A-Za-z0-9@-]{30,}/\w{4,40}/[A-Za-z0-9]{20,}",
    ),
    _link(
        "google-chat-webhook",
        "chat.googleapis.com",
        r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]{5,40}/messages\?[^\s\"'<>]{0,80}"
        r"(?:key|token)=[A-Za-z0-9_%-]{20,}",
    ),
    _link(
        "zapier-webhook",
        "hooks.zapier.com",
        r"hooks\.zapier\.com/hooks/(?:catch|standard)/\d{3,12}/[A-Za-z0-9/]{5,}",
    ),
    _link(
        "ifttt-webhook",
        "maker.ifttt.com",
        r"maker\.ifttt\.com/trigger/[^\s/\"'<>]{1,80}/(?:json/)?with/key/[A-Za-z0-9_-]{16,}",
    ),
    _link(
        "make-webhook",
        ".make.com/",
        r"hook\.[a-z0-9]{2,5}\.make\.com/[a-z0-9]{24,}",
    ),
    _link(
        "feishu-webhook",
        "/open-apis/bot/",
        rf"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/{UUID}",
    ),
    _link(
        "dingtalk-webhook",
        "oapi.dingtalk.com",
        r"oapi\.dingtalk\.com/robot/send\?access_token=[0-9a-f]{32,}",
    ),
    _link(
        "wecom-webhook",
        "qyapi.weixin.qq.com",
        rf"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key={UUID}",
    ),
    _link(
        "telegram-bot-token",
        "api.telegram.org/bot",
        r"api\.telegram\.org/bot\d{6,12}:[A-Za-z0-9_-]{30,}",
    ),
    _link(
        "azure-shared-signature",
        "sig=",
        r"(?:[?&;]|%26|\\u0026)sig="
        r"[A-Za-z0-9%+/_-]{32,}={0,2}",
        "signature",
    ),
    _link(
        "aws-signed-address",
        "x-amz-signature=",
        r"(?i:x-amz-signature=)[0-9A-Fa-f]{64}",
        "signature",
    ),
    _link(
        "google-signed-address",
        "x-goog-signature=",
        r"(?i:x-goog-signature=)[0-9A-Fa-f]{64,}",
        "signature",
    ),
    _link(
        "azure-account-key",
        "key=",
        r"\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}",
        "signature",
    ),
)
