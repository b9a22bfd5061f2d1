//! What kinds of secret there are, and how many of each were found.

/// What a piece of redacted text was.
///
/// The names are stable: they appear in replacement marks and in exported counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `sk-ant-...`
    AnthropicKey,
    /// `sk-...`, `sk-proj-...` and the other keys that begin with `sk-`.
    OpenaiKey,
    /// `ghp_`, `gho_`, `ghu_`, `ghs_`, `ghr_`, `github_pat_`.
    GithubToken,
    /// `glpat-` and the other GitLab prefixes.
    GitlabToken,
    /// `xoxb-` and its relatives, and incoming webhook addresses.
    SlackToken,
    /// `AKIA...`, `ASIA...`
    AwsAccessKey,
    /// `AIza...`
    GoogleApiKey,
    /// `ya29.`, `GOCSPX-`, `1//0...`
    GoogleOauthToken,
    /// `sk_live_`, `rk_live_`, `whsec_` and the test-mode forms.
    StripeKey,
    /// `npm_...`
    NpmToken,
    /// `pypi-...`
    PypiToken,
    /// `hf_...`
    HuggingFaceToken,
    /// `SG.....`
    SendgridKey,
    /// `SK` and 32 hexadecimal digits.
    TwilioKey,
    /// `123456789:AA...`
    TelegramToken,
    /// Any other prefix that its vendor documents as a secret's.
    VendorToken,
    /// Base64url parts of which the first is a JSON header.
    Jwt,
    /// A PEM or OpenPGP private key block.
    PrivateKey,
    /// The password (or lone token) in the user part of a URL.
    UrlPassword,
    /// The credential of an `Authorization` header, or after `Bearer` or `Basic`.
    Authorization,
    /// The value of a `Cookie` or `Set-Cookie` header.
    Cookie,
    /// A value under a name that ends in `password` or a word like it.
    Password,
    /// A value under a name that ends in `secret`, or in `private_key`.
    Secret,
    /// A value under a name that ends in `token`, `auth` or `credentials`.
    Token,
    /// A value under a name such as `api_key` or `access_key`.
    ApiKey,
}

impl Kind {
    /// Every kind, in the order that [`Counts::iter`] reports them.
    pub const ALL: [Self; 25] = [
        Self::AnthropicKey,
        Self::OpenaiKey,
        Self::GithubToken,
        Self::GitlabToken,
        Self::SlackToken,
        Self::AwsAccessKey,
        Self::GoogleApiKey,
        Self::GoogleOauthToken,
        Self::StripeKey,
        Self::NpmToken,
        Self::PypiToken,
        Self::HuggingFaceToken,
        Self::SendgridKey,
        Self::TwilioKey,
        Self::TelegramToken,
        Self::VendorToken,
        Self::Jwt,
        Self::PrivateKey,
        Self::UrlPassword,
        Self::Authorization,
        Self::Cookie,
        Self::Password,
        Self::Secret,
        Self::Token,
        Self::ApiKey,
    ];

    /// The stable kebab-case name.
    pub const fn code(self) -> &'static str {
        match self {
            Self::AnthropicKey => "anthropic-key",
            Self::OpenaiKey => "openai-key",
            Self::GithubToken => "github-token",
            Self::GitlabToken => "gitlab-token",
            Self::SlackToken => "slack-token",
            Self::AwsAccessKey => "aws-access-key",
            Self::GoogleApiKey => "google-api-key",
            Self::GoogleOauthToken => "google-oauth-token",
            Self::StripeKey => "stripe-key",
            Self::NpmToken => "npm-token",
            Self::PypiToken => "pypi-token",
            Self::HuggingFaceToken => "huggingface-token",
            Self::SendgridKey => "sendgrid-key",
            Self::TwilioKey => "twilio-key",
            Self::TelegramToken => "telegram-token",
            Self::VendorToken => "vendor-token",
            Self::Jwt => "jwt",
            Self::PrivateKey => "private-key",
            Self::UrlPassword => "url-password",
            Self::Authorization => "authorization",
            Self::Cookie => "cookie",
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::ApiKey => "api-key",
        }
    }
}

/// How many replacements of each kind were made.
///
/// Counts of several texts add up with [`Counts::merge`]; a counter stops at its maximum instead of wrapping.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    per_kind: [u64; Kind::ALL.len()],
}

impl Counts {
    /// The number of replacements of one kind.
    pub fn of(&self, kind: Kind) -> u64 {
        self.per_kind.get(kind as usize).copied().unwrap_or(0)
    }

    /// The number of replacements of all kinds.
    pub fn total(&self) -> u64 {
        self.per_kind.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Whether nothing was replaced.
    pub fn is_empty(&self) -> bool {
        self.per_kind.iter().all(|count| *count == 0)
    }

    /// Adds the counts of another text.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.per_kind.iter_mut().zip(&other.per_kind) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// The kinds that were found, each by its stable name, with their counts, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Kind::ALL.iter().map(|kind| (kind.code(), self.of(*kind))).filter(|(_, count)| *count > 0)
    }

    pub(crate) fn add(&mut self, kind: Kind) {
        if let Some(count) = self.per_kind.get_mut(kind as usize) {
            *count = count.saturating_add(1);
        }
    }
}
