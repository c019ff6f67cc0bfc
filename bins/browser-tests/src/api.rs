//! Calls of the API, made by the page: they need no second HTTP client.

use anyhow::ensure;
use serde_json::{Value, json};

use crate::stage::Stage;

impl Stage {
    /// Sends a request with the key and returns the body.
    pub async fn call(&self, method: &str, path: &str, key: &str, body: Option<Value>) -> anyhow::Result<Value> {
        let address = format!("{}/v1/{path}", self.server.base());
        let body = body.map_or(Value::Null, |body| Value::String(body.to_string()));
        let script = format!(
            "const body = {body}; const response = await fetch({}, {{method: {}, headers: {{Authorization: 'Bearer ' + {}, 'Content-Type': 'application/json'}}, ...(body === null ? {{}} : {{body}})}}); \
             const value = await response.json(); if (!response.ok) throw new Error(JSON.stringify(value)); return value",
            json!(address),
            json!(method),
            json!(key)
        );
        self.page.promise(&script).await
    }

    /// Returns a new key that may also manage the web index, as only the operator's command creates one.
    pub async fn operators_key(&self) -> anyhow::Result<String> {
        let me = self.call("GET", "me", &self.key, None).await?;
        let organization = me["organization"]["organization_id"].as_str().unwrap_or_default().to_owned();
        let scopes = "search:read,document:read,research:read,web:manage";
        let arguments = ["admin", "key", "create", "--org", &organization, "--name", "operator", "--scopes", scopes];
        let created = self.server.command(&arguments)?;
        Ok(created["key"].as_str().unwrap_or_default().to_owned())
    }

    /// Uploads files and waits until they are searchable.
    pub async fn upload(&self, files: &[(&str, &str)]) -> anyhow::Result<()> {
        for (name, text) in files {
            let signed = self
                .call("POST", "files/presign", &self.key, Some(json!({"filename": name, "size": text.len()})))
                .await?;
            let script = format!(
                "const response = await fetch({}, {{method: 'PUT', body: {}}}); if (!response.ok) throw new Error(await response.text()); return true",
                signed["url"],
                json!(text)
            );
            self.page.promise(&script).await?;
        }
        let run = self.call("POST", "files/index", &self.key, Some(json!({}))).await?;
        let path = format!("files/index/{}", run["sync_id"].as_str().unwrap_or_default());
        loop {
            let state = self.call("GET", &path, &self.key, None).await?;
            match state["state"].as_str() {
                Some("completed") => return Ok(()),
                Some("failed") => ensure!(false, "the run failed: {state}"),
                _ => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
            }
        }
    }
}
