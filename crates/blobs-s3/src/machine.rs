//! Credentials that the machine provides.

use async_trait::async_trait;
use rusoto_credential::{
    AwsCredentials, ContainerProvider, CredentialsError, EnvironmentProvider, ProfileProvider, ProvideAwsCredentials,
};

use crate::metadata::Metadata;

/// Sources in their order: the first one with credentials counts. One that hangs is not passed over.
pub(crate) struct Machine {
    environment: EnvironmentProvider,
    /// `None` without a home folder.
    profile: Option<ProfileProvider>,
    container: ContainerProvider,
    metadata: Metadata,
}

impl Machine {
    /// Reads and connects nothing.
    pub fn new() -> Result<Self, reqwest::Error> {
        Ok(Self {
            environment: EnvironmentProvider::default(),
            profile: ProfileProvider::new().ok(),
            container: ContainerProvider::new(),
            metadata: Metadata::new()?,
        })
    }
}

#[async_trait]
impl ProvideAwsCredentials for Machine {
    async fn credentials(&self) -> Result<AwsCredentials, CredentialsError> {
        if let Ok(found) = self.environment.credentials().await {
            return Ok(found);
        }
        if let Some(profile) = &self.profile
            && let Ok(found) = profile.credentials().await
        {
            return Ok(found);
        }
        if let Ok(found) = self.container.credentials().await {
            return Ok(found);
        }
        self.metadata.credentials().await.map_err(|error| {
            CredentialsError::new(format!("none in the environment, the AWS profile and the container, and {error}"))
        })
    }
}
