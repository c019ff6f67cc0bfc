use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use app::authentication::{TokenClaims, TokenVerifier, VerifyError};
use async_trait::async_trait;
use ingest::clock::to_date_time;
use model::{Clock, SystemClock};

/// A verifier that accepts the tokens that a test hands out.
#[derive(Default)]
pub struct TestTokens {
    known: Mutex<HashMap<String, TokenClaims>>,
    trouble: Mutex<Option<TokenTrouble>>,
    asked: AtomicUsize,
}

/// Outcome of every verification of a broken verifier.
#[derive(Clone, Copy, Debug)]
pub enum TokenTrouble {
    Unavailable,
    Panic,
}

impl TestTokens {
    /// Accepts `token`, which must have three parts with dots between, as one with these claims.
    pub fn accept(&self, token: &str, claims: TokenClaims) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(token.to_owned(), claims);
    }

    pub fn refuse(&self, token: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    pub fn fail(&self, trouble: TokenTrouble) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(trouble);
    }

    /// Verifications so far.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl TokenVerifier for TestTokens {
    async fn verify(&self, token: &str) -> Result<TokenClaims, VerifyError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let trouble = *self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match trouble {
            Some(TokenTrouble::Unavailable) => return Err(VerifyError::Unavailable("the issuer is away".into())),
            Some(TokenTrouble::Panic) => panic!("the verifier is broken"),
            None => {}
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(token).cloned().ok_or_else(|| VerifyError::Rejected("unknown".into()))
    }
}

/// Claims of `subject` in the organization, good for an hour.
pub fn claims(organization_id: &str, subject: &str, scopes: &[&str]) -> TokenClaims {
    TokenClaims {
        issuer: "https://issuer.example".to_owned(),
        subject: subject.to_owned(),
        organization: Some(organization_id.to_owned()),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        expires_at: to_date_time(SystemClock.now() + Duration::from_hours(1)),
    }
}
