r"""Secrets that are known by their own form: what providers put in front of the keys and tokens that they give out.

Each entry is a kind, the literal that begins it, and what must follow. The literal is looked for in whole blocks first, so
an entry costs nothing where its literal does not occur. What follows is made of token characters alone, which is what lets
a stream decide by bytes whether one may still grow: see ``look.py``. A match begins at its literal and behind no letter
or digit, an escape such as ``\\n`` or ``%20`` aside.

The forms are public: the providers' manuals, their announcements to secret scanners, and the structure of RFC 7519.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from spillstore.redaction.beginnings import beginnings
from spillstore.redaction.look import RUN_END

if TYPE_CHECKING:
    from spillstore.redaction.look import Look, Rule


class Token(NamedTuple):
    """What a token looks like behind its literal."""

    kind: str
    literal: bytes
    skip: int  # bytes of the literal that are no part of the secret
    rest: bytes


# Kind, what follows, literals. %w stands for [A-Za-z0-9_-], %a for [A-Za-z0-9], %h for [0-9a-f], %b for [A-Za-z0-9+/]. What
# stands before a bar in a literal is looked for and stays. No literal may hold the beginning of another inside.
_TABLE = r"""
JWT                 %w{8,4000}\.(?:%w{8,16000}\.%w{0,2000}|\.%w{8,2000}\.%w{8,8000}\.%w{8,2000})        eyJ
AWS_ACCESS_KEY      [A-Z0-9]{16}(?!%a)                                      AKIA ASIA ABIA ACCA
GITHUB_TOKEN        %a{36,}                                                 ghp_ gho_ ghu_ ghr_
GITHUB_TOKEN        [A-Za-z0-9_.-]{36,}                                     ghs_
GITHUB_TOKEN        [A-Za-z0-9_]{36,}                                       github_pat_
GITLAB_TOKEN        [A-Za-z0-9_.-]{20,}                                     glpat- gldt- glrt- glcbt- glptt- glsoat- glffct- glimt- glft- glagent- gloas-
GITLAB_TOKEN        %w{20}                                                  GR1348941
SLACK_TOKEN         (?:[a-z]\.xox)?[a-z]-(?:[0-9][A-Za-z0-9-]{9,}|[A-Za-z0-9-]{12,}) xox
SLACK_TOKEN         %w{10,}                                                 xapp-
STRIPE_KEY          %a{10,}                                                 sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ sk_org_test_
STRIPE_KEY          [A-Za-z0-9+/=]{24,}                                     whsec_
GOOGLE_API_KEY      %w{35}(?!%w)                                            AIza
GOOGLE_OAUTH        %w{20,}                                                 ya29. GOCSPX-
GOOGLE_OAUTH        [0-9]%w{30,}                                            1//0
ANTHROPIC_KEY       %w{20,}                                                 sk-ant-
OPENAI_KEY          (?:proj|svcacct|admin|None|or-v1|lf)-%w{20,}            sk-
OPENAI_KEY          %a{20,}(?:[_-]%w*)?                                     sk-
HUGGINGFACE_TOKEN   %a{30,}                                                 hf_
NPM_TOKEN           %a{36,}                                                 npm_
PYPI_TOKEN          %w{50,}                                                 pypi-AgE pypi-AgN
RUBYGEMS_TOKEN      %h{48}                                                  rubygems_
NUGET_KEY           [a-z0-9]{43}(?!%a)                                      oy2
CRATES_TOKEN        %a{32}(?!%a)                                            cio
SENDGRID_KEY        %w{16,32}\.%w{30,}                                      SG.
SENDINBLUE_KEY      %h{64}-%a{16}                                           xkeysib- xsmtpsib-
MAILGUN_KEY         [0-9a-zA-Z]{32}(?!%a)                                   key-
TWILIO_KEY          [0-9a-fA-F]{31}(?!%a)                                   SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf SKA SKB SKC SKD SKE SKF
TELEGRAM_TOKEN      %w{33}(?!%w)                                            0:|AA 1:|AA 2:|AA 3:|AA 4:|AA 5:|AA 6:|AA 7:|AA 8:|AA 9:|AA
DIGITALOCEAN_TOKEN  [0-9a-f]{64}                                            dop_v1_ doo_v1_ dor_v1_
HEROKU_KEY          %w{58,}                                                 HRKU-AA
HEROKU_KEY          %h{8}-%h{4}-%h{4}-%h{4}-%h{12}                           HRKU-
SHOPIFY_TOKEN       [0-9a-fA-F]{32}                                         shpat_ shpca_ shppa_ shpss_ shptka_
SQUARE_TOKEN        %w{22,}                                                 sq0atp- sq0csp-
SQUARE_TOKEN        %w{60}(?!%w)                                            EAAA
FACEBOOK_TOKEN      %a{80,}                                                 EAAB EAAC EAAD EAAG EAAI EAAM EAAO
DOCKER_TOKEN        %w{20,}                                                 dckr_pat_ dckr_oat_
VAULT_TOKEN         %w{20,}                                                 hvs. hvb. hvr.
TERRAFORM_TOKEN     [A-Za-z0-9_=-]{60,}                                     .atlasv1.|
DATABRICKS_TOKEN    %h{32}(?:-\d)?(?!%a)                                    dapi
ATLASSIAN_TOKEN     [A-Za-z0-9_=.-]{100,}                                   ATATT3 ATCTT3
ATLASSIAN_TOKEN     %a{28,}                                                 ATBB
ATLASSIAN_TOKEN     [A-Za-z0-9+/=@_-]{40,50}                                BBDC-
NEW_RELIC_KEY       [A-Za-z0-9]{20,}                                        NRAK-
SENTRY_TOKEN        [A-Za-z0-9+/=_-]{40,}                                   sntrys_ sntryu_
LINEAR_KEY          %a{32,}                                                 lin_api_
NOTION_TOKEN        %a{40,}                                                 secret_ ntn_
FIGMA_TOKEN         %w{36,}                                                 figd_
AGE_KEY             [0-9A-Z]{50,}                                           AGE-SECRET-KEY-1
GRAFANA_TOKEN       [A-Za-z0-9+/_=-]{32,}                                   glsa_ glc_
DOPPLER_TOKEN       [a-z]{2,6}\.(?:[a-z0-9_-]{2,35}\.)?%a{40,44}            dp.
DYNATRACE_TOKEN     %a{24}\.%a{64}                                          dt0c01. dt0s01.
GROQ_KEY            %a{40,}                                                 gsk_
XAI_KEY             %w{70,}                                                 xai-
REPLICATE_TOKEN     %a{37,}                                                 r8_
PERPLEXITY_KEY      %a{40,}                                                 pplx-
PINECONE_KEY        [A-Za-z0-9_]{40,}                                       pcsk_
LANGCHAIN_KEY       %w{32,}                                                 lsv2_pt_ lsv2_sk_
POSTMAN_KEY         %h{24}-%h{34}                                           PMAK-
PULUMI_TOKEN        %h{40}                                                  pul-
PLANETSCALE_TOKEN   [A-Za-z0-9_=.-]{32,}                                    pscale_tkn_ pscale_pw_ pscale_oauth_
POSTHOG_KEY         %w{32,}                                                 phx_
TAILSCALE_KEY       (?:auth|api|client|scim|webhook)-[A-Za-z0-9-]{12,}      tskey-
TYPEFORM_TOKEN      [A-Za-z0-9_.=-]{40,}                                    tfp_
SONAR_TOKEN         %h{40}                                                  sqp_ squ_ sqa_
SUPABASE_KEY        %w{30,}                                                 sbp_ sb_secret_
VERCEL_TOKEN        %a{24,}                                                 vcp_ vci_ vca_ vcr_ vck_
VERCEL_TOKEN        %a{16,}_%a{16,}                                          vercel_blob_rw_
NETLIFY_TOKEN       %a{36,}                                                 nfp_ nfo_ nfb_ nfc_ nfu_
FLY_TOKEN           %w{40,}                                                 fo1_
FLY_TOKEN           [A-Za-z0-9+/=_-]{100,}                                 fm2_ fm1a_ fm1r_
CIRCLECI_TOKEN      [A-Za-z0-9_]{40,}                                       CCIPAT_ CCIPRJ_
ONEPASSWORD_TOKEN   [A-Za-z0-9+/=_-]{200,}                                  ops_eyJ
ONEPASSWORD_KEY     [A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}  A3-
ALIBABA_KEY         %a{12,24}(?!%a)                                         LTAI
ARTIFACTORY_KEY     %a{69,}                                                 AKCp
ARTIFACTORY_KEY     %a{59}(?!%a)                                            cmVmd
HUBSPOT_TOKEN       (?:na|eu|ap)\d-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}           pat-
OPENSHIFT_TOKEN     %w{43}(?!%w)                                            sha256~
SOURCEGRAPH_TOKEN   (?:local_|[0-9a-fA-F]{16}_)?[0-9a-fA-F]{40}(?!%a)       sgp_
DROPBOX_TOKEN       [A-Za-z0-9_=-]{130,}                                    sl.
HARNESS_TOKEN       %w{22}\.%a{24}\.%a{20}                                  pat. sat.
AZURE_SECRET        [a-zA-Z0-9_~.-]{31,34}                                  7|Q~ 8|Q~ 9|Q~ 6|Q~
JWT                 [A-Za-z0-9+/=_-]{100,}                                  ZXlK
AWS_BEDROCK_KEY     [A-Za-z0-9+/=]{100,}                                    ABSK
ADOBE_SECRET        [A-Za-z0-9]{32}(?!%a)                                   p8e-
CLICKHOUSE_KEY      %a{38}(?!%a)                                            4b1d
CLOJARS_TOKEN       %a{60}                                                  CLOJARS_
CLOUDFLARE_KEY      %h{24}-%h{146}                                          v1.0-
DEFINED_KEY         [A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}                   dnkey-
DUFFEL_TOKEN        [A-Za-z0-9=_-]{40,}                                     duffel_live_ duffel_test_
EASYPOST_KEY        %a{54}(?!%a)                                            EZAK EZTK
FLUTTERWAVE_KEY     [0-9a-h]{12,64}(?:-X)?                                  FLWSECK- FLWSECK_TEST-
FRAMEIO_TOKEN       [A-Za-z0-9=_-]{60,}                                     fio-u-
HUGGINGFACE_TOKEN   %a{34}                                                  api_org_
INFRACOST_KEY       %a{32}(?!%a)                                            ico-
INTRA42_SECRET      %h{64}                                                  s-s4t2ud- s-s4t2af-
NEW_RELIC_KEY       [A-Za-z0-9_-]{32}                                       NRII- NRIQ-
NEW_RELIC_KEY       %h{42}(?!%a)                                            NRRA-
NEW_RELIC_KEY       %h{27}(?!%a)                                            NRAA-
NEW_RELIC_KEY       %h{8}-%h{4}-%h{4}-%h{4}-%h{12}                          px-api- px-dep-
NEW_RELIC_KEY       %h{19}(?!%a)                                            NRJS-
OCTOPUS_KEY         [A-Z0-9]{25,26}(?!%a)                                   API-
PREFECT_KEY         %a{36}(?!%a)                                            pnu_ pnb_
README_KEY          [a-z0-9]{70}                                            rdme_
SCALINGO_TOKEN      %w{48}                                                  tk-us-
SETTLEMINT_TOKEN    %a{16}                                                  sm_aat_ sm_pat_ sm_sat_
SHIPPO_TOKEN        [0-9a-fA-F]{40}                                         shippo_live_ shippo_test_
YANDEX_TOKEN        %w{20,400}={0,2}\.%w{86}={0,2}                          t1.
YANDEX_TOKEN        %w{50,64}(?!%w)                                            y0_
YANDEX_KEY          %w{35,38}(?!%w)                                         AQVN
NVIDIA_KEY          %w{60,}                                                 nvapi-
TAVILY_KEY          (?:dev-|prod-)?%a{20,}                                  tvly-
FIRECRAWL_KEY       %h{32}(?!%w)                                            fc-
JINA_KEY            %w{40,}                                                 jina_
ELEVENLABS_KEY      %h{48}(?!%w)                                            =|sk_ :|sk_ "|sk_ '|sk_
CHECKOUT_KEY        [a-z0-9=]{25,}                                          sk_sbox_
CEREBRAS_KEY        [a-z0-9]{40,}                                           csk-
E2B_KEY             %h{40}(?!%w)                                            e2b_
APIFY_TOKEN         %a{36}                                                  apify_api_
BUILDKITE_TOKEN     %h{40}                                                  bkua_ bkct_
CONTENTFUL_TOKEN    %w{43}                                                  CFPAT-
LINEAR_KEY          %h{64}                                                  lin_oauth_
TENCENT_KEY         %a{32}(?!%a)                                            AKID
RAZORPAY_KEY        %a{14,}                                                 rzp_live_ rzp_test_
SAMSARA_TOKEN       %a{30}                                                  samsara_api_
WAKATIME_KEY        %h{8}-%h{4}-%h{4}-%h{4}-%h{12}                          waka_
ZUPLO_KEY           %a{32}_%h{8}                                            zpka_
MAILERSEND_TOKEN    %h{64}                                                  mlsn.
MERGIFY_KEY         %w{36,}                                                 mka_
PADDLE_KEY          [a-z0-9]{20,}_%a{20,}_%a{3}                             pdl_live_apikey_ pdl_sdbx_apikey_
RESEND_KEY          %a{8}_%a{24}(?!%w)                                      =|re_ :|re_ "|re_ '|re_
ROOTLY_TOKEN        %h{64}                                                  rootly_
VALTOWN_TOKEN       %a{24,}                                                 vtwn_
MIDTRANS_KEY        %w{20,}                                                 Mid-server-
POSTMAN_KEY         [A-Z0-9]{26}                                            PMAT-
SEGMENT_TOKEN       %a{64}                                                  sgp_
DISCORD_TOKEN       %w{84}                                                  mfa.
PLAID_TOKEN         %h{8}-%h{4}-%h{4}-%h{4}-%h{12}                          access-production- access-development- access-sandbox-
FIREBASE_KEY        %w{120,}                                                :|APA91b
AWS_ACCESS_KEY      [A-Z0-9]{17}(?!%a)                                      A3T
UNKEY_KEY           %a{20,}                                                 unkey_
POLAR_TOKEN         %w{40,}                                                 polar_pat_ polar_oat_
TRIGGER_KEY         %a{20,}                                                 tr_prod_ tr_dev_
NEON_KEY            %a{60,}                                                 napi_
RENDER_KEY          %a{28,32}(?!%w)                                         rnd_
STYTCH_SECRET       [A-Za-z0-9=_-]{30,}                                     secret-live- secret-test-
STATSIG_KEY         %a{43}(?!%w)                                            secret-
HELICONE_KEY        [a-z0-9-]{20,}                                          sk-helicone-
TOGETHER_KEY        %w{40,}                                                 tgp_v1_
RUNPOD_KEY          %a{40,}                                                 rpa_
SWARM_TOKEN         [a-z0-9]{49,50}-[a-z0-9]{25}                            SWMTKN-1-
UBIDOTS_TOKEN       %a{30}(?!%a)                                            BBFF-
CAL_KEY             %h{32}                                                  cal_live_
MAPBOX_TOKEN        eyJ%w{20,}\.%w{20,}                                     sk.
ADAFRUIT_KEY        %a{28}(?!%a)                                            aio_
APPSYNC_KEY         [a-z0-9]{26}(?!%a)                                      da2-
AUTHRESS_KEY        [a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}              .acc_|
AWS_MWS_TOKEN       %h{8}-%h{4}-%h{4}-%h{4}-%h{12}                          amzn.mws.|
DEPENDENCY_TRACK_KEY %a{32,}                                                odt_
GRAFANA_TOKEN       [A-Za-z0-9+/=]{60,400}                                  eyJrIjoi
PYX_TOKEN           %a{45,64}(?!%a)                                         sk-pyx- tp-pyx-
SALESFORCE_TOKEN    [A-Za-z0-9._]{90,}                                      !|AQ !|AR
STACKHAWK_KEY       %w{20}\.%w{20}                                          hawk.
"""

_SHORT = {b"%w": b"[A-Za-z0-9_-]", b"%a": b"[A-Za-z0-9]", b"%h": b"[0-9a-f]", b"%b": b"[A-Za-z0-9+/]"}


def _rows() -> list[Token]:
    found = []
    for line in _TABLE.strip().encode().splitlines():
        kind, rest, *literals = line.split()
        for short, long in _SHORT.items():
            rest = rest.replace(short, long)
        for literal in literals:
            stays, bar, _ = literal.partition(b"|")
            found.append(Token(kind.decode(), literal.replace(b"|", b""), len(stays) if bar else 0, rest))
    return found


TOKENS: tuple[Token, ...] = tuple(_rows())
_DIGEST = re.compile(rb"sha\d{1,3}[=:-]\Z")
_DIGEST_BACK = 7
_RUN_ON = re.compile(rb"[A-Za-z0-9_.~+/=@:|-]{12}")  # of every token, the literal included
_FAMILY = 4
_CAPITALS = frozenset({b"AKIA"})  # one in 28 has no digit
_MASKED = re.compile(rb"(?i)x{6}|here\Z")
_LETTERS = 3  # different ones that a token has at least; the rest is a placeholder


@functools.cache
def _strict(rest: bytes) -> re.Pattern[bytes]:
    """The compiled form of what follows a literal: compiled when the literal occurs for the first time."""
    return re.compile(rest)


@functools.cache
def _begun(rest: bytes) -> re.Pattern[bytes]:
    """The same for all that it may begin with."""
    return re.compile(beginnings(rest.decode()).encode())


def token(look: Look, start: int, of: tuple[Token, ...]) -> int:  # noqa: C901  # one for each way to end
    """The literal that all of these begin with stands here. Returns where to look on."""
    text = look.text
    if start + of[0].skip < look.tail and _RUN_ON.match(text, start + of[0].skip) is None:
        return start
    if not of[0].skip and not look.apart(start):
        return start
    held = False
    for entry in of:
        if not text.startswith(entry.literal, start):
            continue
        after = start + len(entry.literal)
        match = _strict(entry.rest).match(text, after)
        if look.final or start + entry.skip < look.tail:
            if match is None:
                continue
        elif _begun(entry.rest).fullmatch(text, after):
            held = look.open(start + entry.skip, look.size, RUN_END) or held
        if match is None or (match.end() == look.size and not look.final):
            continue
        if _digest(text, start):
            return start
        if _real(text[after : match.end()], entry):
            look.add(start + entry.skip, match.end(), entry.kind)
        return match.end()
    return look.size if held else start  # what is held is looked at again


def _digest(text: bytes, start: int) -> bool:
    """Whether this is one of a lock file: ``sha512-`` stands before it."""
    low = max(0, start - _DIGEST_BACK)
    return b"sha" in text[low:start] and _DIGEST.search(text, low, start) is not None


def _real(value: bytes, token: Token) -> bool:
    """Whether it is no placeholder. The keys that AWS prints in its manual go like any other."""
    letters = value.replace(b"_", b"").replace(b"-", b"")
    one_case = letters.isalpha() and (letters.islower() or letters.isupper())
    return (
        len(set(value)) > _LETTERS
        and (not one_case or token.literal in _CAPITALS)
        and _MASKED.search(value) is None
        and (b"EXAMPLE" not in value or token.kind == "AWS_ACCESS_KEY")
    )


def _rule(of: tuple[Token, ...]) -> Rule:
    return lambda look, start, _end: token(look, start, of)


def _by_literal() -> dict[bytes, tuple[Token, ...]]:
    """By each literal all tokens that begin as it does, the longest first, since a longer one says more."""
    literals = {entry.literal for entry in TOKENS}
    longest_first = sorted(TOKENS, key=lambda entry: -len(entry.literal))
    return {
        literal: tuple(entry for entry in longest_first if entry.literal[:_FAMILY] == literal[:_FAMILY])
        for literal in sorted(literals)
    }


BY_LITERAL = _by_literal()
RULES: tuple[tuple[str, Rule], ...] = tuple(
    (literal.decode(), _rule(family)) for literal, family in BY_LITERAL.items()
)


@functools.cache
def _beginnings() -> tuple[dict[bytes, int], int]:
    """What an unfinished text may end in that begins a token: by it the bytes of the token, and the longest such."""
    found = {
        entry.literal[:size]: size - entry.skip
        for entry in TOKENS
        for size in range(entry.skip + 1, len(entry.literal))
    }
    return found, max(map(len, found))


def unfinished(look: Look) -> None:
    """Hold back what the text ends in, if a token may begin with it."""
    found, longest = _beginnings()
    for size in range(min(longest, look.size), 0, -1):
        held = found.get(look.text[-size:])
        if held is not None and (held < size or look.apart(look.size - size)):
            look.open(look.size - held, look.size)
