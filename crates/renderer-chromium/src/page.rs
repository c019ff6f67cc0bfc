//! Rendering of one page in a context of its own.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fetcher::{FetchedPage, RenderError};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::devtools::{CallError, Devtools, Event};
use crate::proxy::{Ticket, USER};
use crate::requests::{self, Answer};

/// Share of the time after which the document is taken as it is.
const LOADING: f64 = 0.75;
/// Further time for scripts that begin to write after the network was idle.
const LATE_TEXT: Duration = Duration::from_secs(2);
/// Interval of looking for their text.
const LATE_POLL: Duration = Duration::from_millis(200);
/// Characters of text with which a page no longer counts as empty.
const ENOUGH_TEXT: i64 = 200;
/// Time to remove a page.
const DISPOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Page to render, and what it may use.
pub struct Job<'a> {
    pub page: &'a FetchedPage,
    pub ticket: &'a Ticket,
    /// Proxy address as the browser sees it.
    pub proxy: &'a str,
    pub user_agent: &'a str,
    pub timeout: Duration,
    pub max_bytes: usize,
    /// Cancelled when nobody waits for the page any more.
    pub stop: &'a CancellationToken,
}

/// Renders the page and removes what is left of it.
///
/// # Errors
/// The render failed. The second part tells if the browser still works.
pub async fn render(devtools: &Devtools, job: Job<'_>) -> (Result<Bytes, RenderError>, bool) {
    let (limit, stop) = (job.timeout, job.stop);
    let context = json!({
        "disposeOnDetach": true,
        "proxyServer": format!("http://{}", job.proxy),
        "proxyBypassList": "<-loopback>",
    });
    let created = tokio::time::timeout(limit, devtools.call(None, "Target.createBrowserContext", context)).await;
    let context = match created {
        Ok(Ok(created)) => text(&created, "browserContextId"),
        Ok(Err(error)) => return (Err(failed(error)), devtools.is_open()),
        Err(_) => return (Err(RenderError::Timeout), false),
    };
    let outcome = tokio::select! {
        outcome = tokio::time::timeout(limit, in_context(devtools, job, &context)) => outcome,
        () = stop.cancelled() => Ok(Err(RenderError::Failed { reason: "nobody waits for the page".to_owned() })),
    };
    let dispose = devtools.call(None, "Target.disposeBrowserContext", json!({ "browserContextId": context }));
    let is_removed = matches!(tokio::time::timeout(DISPOSE_TIMEOUT, dispose).await, Ok(Ok(_)));
    (outcome.unwrap_or(Err(RenderError::Timeout)), is_removed)
}

async fn in_context(devtools: &Devtools, job: Job<'_>, context: &str) -> Result<Bytes, RenderError> {
    let deadline = Instant::now() + job.timeout.mul_f64(LOADING);
    let downloads = json!({ "behavior": "deny", "browserContextId": context });
    devtools.call(None, "Browser.setDownloadBehavior", downloads).await.map_err(failed)?;
    let target = json!({ "url": "about:blank", "browserContextId": context });
    let target = devtools.call(None, "Target.createTarget", target).await.map_err(failed)?;
    let frame = text(&target, "targetId");
    let attach = json!({ "targetId": frame, "flatten": true });
    let attached = devtools.call(None, "Target.attachToTarget", attach).await.map_err(failed)?;
    let session = text(&attached, "sessionId");
    let events = devtools.events(&session);
    let mut page = Page { devtools, job, session, frame, events, has_page: false, idle: Vec::new() };
    page.prepare().await?;
    page.load(deadline).await?;
    page.document(deadline).await
}

/// Page of a browser.
struct Page<'a> {
    devtools: &'a Devtools,
    job: Job<'a>,
    session: String,
    /// Id of the main frame.
    frame: String,
    events: mpsc::Receiver<Event>,
    /// The fetched page has been handed to the browser.
    has_page: bool,
    /// Documents of the main frame that have finished loading.
    idle: Vec<String>,
}

impl Page<'_> {
    /// Sets up the page before anything is loaded.
    async fn prepare(&mut self) -> Result<(), RenderError> {
        for (method, params) in [
            ("Page.enable", json!({})),
            ("Inspector.enable", json!({})),
            ("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
            ("Emulation.setUserAgentOverride", json!({ "userAgent": self.job.user_agent })),
            ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
            ("Fetch.enable", interception()),
            ("Target.setAutoAttach", auto_attach()),
        ] {
            let call = self.devtools.call(Some(&self.session), method, params);
            call.await.map_err(failed)?;
        }
        Ok(())
    }

    /// Loads the page until its network is idle, or until the deadline.
    async fn load(&mut self, deadline: Instant) -> Result<(), RenderError> {
        let (devtools, session) = (self.devtools, self.session.clone());
        let navigation = json!({ "url": self.job.page.final_url.as_str() });
        let navigated = self.drive(devtools.call(Some(&session), "Page.navigate", navigation)).await?;
        let navigated = navigated.map_err(failed)?;
        if let Some(error) = navigated["errorText"].as_str() {
            return Err(RenderError::Failed { reason: format!("the page was not loaded: {error}") });
        }
        let loader = text(&navigated, "loaderId");
        while !self.idle.contains(&loader) {
            match timeout_at(deadline, self.drive_one()).await {
                Ok(driven) => driven?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Returns the document, once it has text.
    async fn document(&mut self, deadline: Instant) -> Result<Bytes, RenderError> {
        // Scripts of the page cannot change what is evaluated in a world of its own.
        let world = json!({ "frameId": self.frame });
        let world = self.call("Page.createIsolatedWorld", world).await?;
        let world = &world["executionContextId"];
        let deadline = deadline.min(Instant::now() + LATE_TEXT);
        let length = "document.body ? document.body.innerText.trim().length : 0";
        while Instant::now() < deadline {
            if self.evaluate(world, length).await?.as_i64().is_some_and(|length| length >= ENOUGH_TEXT) {
                break;
            }
            self.drive(tokio::time::sleep(LATE_POLL)).await?;
        }
        let limit = self.job.max_bytes;
        let source = format!(
            "(() => {{ const html = document.documentElement ? document.documentElement.outerHTML : ''; \
             return html.length > {limit} ? null : html.toWellFormed(); }})()"
        );
        let html = self.evaluate(world, &source).await?;
        match html.as_str() {
            Some(html) if html.len() <= limit => Ok(Bytes::from(format!("<!doctype html>{html}"))),
            _ => Err(RenderError::TooLarge { limit }),
        }
    }

    async fn evaluate(&mut self, world: &Value, expression: &str) -> Result<Value, RenderError> {
        let params = json!({ "contextId": world, "expression": expression, "returnByValue": true, "silent": true });
        let mut result = self.call("Runtime.evaluate", params).await?;
        if result["exceptionDetails"].is_object() {
            return Err(RenderError::Failed { reason: "the document cannot be read".to_owned() });
        }
        Ok(result["result"]["value"].take())
    }

    /// Calls a method of the page while its events are handled.
    async fn call(&mut self, method: &str, params: Value) -> Result<Value, RenderError> {
        let (devtools, session) = (self.devtools, self.session.clone());
        self.drive(devtools.call(Some(&session), method, params)).await?.map_err(failed)
    }

    /// Handles events until `work` has ended.
    async fn drive<T>(&mut self, work: impl Future<Output = T>) -> Result<T, RenderError> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                driven = self.drive_one() => driven?,
            }
        }
    }

    /// Handles the next event.
    async fn drive_one(&mut self) -> Result<(), RenderError> {
        tokio::select! {
            biased;
            () = self.job.ticket.exceeded() => Err(RenderError::TooLarge { limit: self.job.max_bytes }),
            event = self.events.recv() => match event {
                Some(event) => self.handle(event),
                None => Err(RenderError::Crashed),
            },
        }
    }

    fn handle(&mut self, Event { session, method, params }: Event) -> Result<(), RenderError> {
        match method.as_str() {
            "Fetch.requestPaused" => self.answer(&session, &params),
            "Fetch.authRequired" => self.authenticate(&session, &params),
            "Page.lifecycleEvent" if params["name"] == "networkIdle" && params["frameId"] == self.frame.as_str() => {
                self.idle.push(text(&params, "loaderId"));
            }
            "Page.javascriptDialogOpening" => {
                self.devtools.send(Some(&session), "Page.handleJavaScriptDialog", json!({ "accept": false }));
            }
            "Target.attachedToTarget" => self.attached(&params),
            "Inspector.targetCrashed" | "Target.detachedFromTarget" if session == self.session => {
                // The end of a frame or worker is reported to the page's session, too.
                let is_page = method != "Target.detachedFromTarget" || params["sessionId"] == self.session.as_str();
                if is_page {
                    return Err(RenderError::Crashed);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self, session: &str, event: &Value) {
        let id = &event["requestId"];
        let awaited = (!self.has_page).then_some(&self.job.page.final_url);
        match requests::answer(event, &self.frame, awaited) {
            Answer::Page => {
                self.has_page = true;
                let content_type = self.job.page.content_type.as_deref().unwrap_or("text/html");
                let response = json!({
                    "requestId": id,
                    "responseCode": 200,
                    "responseHeaders": [{ "name": "Content-Type", "value": content_type }],
                    "body": STANDARD.encode(&self.job.page.body),
                });
                self.devtools.send(Some(session), "Fetch.fulfillRequest", response);
            }
            Answer::Continue => self.devtools.send(Some(session), "Fetch.continueRequest", json!({ "requestId": id })),
            Answer::Refuse => self.fail(session, id, "BlockedByClient"),
            Answer::Unreachable => self.fail(session, id, "ConnectionRefused"),
        }
    }

    fn fail(&self, session: &str, request: &Value, reason: &str) {
        let failure = json!({ "requestId": request, "errorReason": reason });
        self.devtools.send(Some(session), "Fetch.failRequest", failure);
    }

    /// Gives the proxy the password of the page, and sites none.
    fn authenticate(&self, session: &str, event: &Value) {
        let response = match event["authChallenge"]["source"] == "Proxy" {
            true => json!({
                "response": "ProvideCredentials",
                "username": USER,
                "password": self.job.ticket.password,
            }),
            false => json!({ "response": "CancelAuth" }),
        };
        let answer = json!({ "requestId": event["requestId"], "authChallengeResponse": response });
        self.devtools.send(Some(session), "Fetch.continueWithAuth", answer);
    }

    /// Sets up a frame or worker before it begins. New windows are closed. Service workers and shared workers never begin:
    /// they outlive pages.
    fn attached(&self, event: &Value) {
        let child = text(event, "sessionId");
        match event["targetInfo"]["type"].as_str().unwrap_or_default() {
            "iframe" | "worker" => {
                self.devtools.send(Some(&child), "Fetch.enable", interception());
                self.devtools.send(Some(&child), "Target.setAutoAttach", auto_attach());
                self.devtools.send(Some(&child), "Page.enable", json!({}));
                self.devtools.send(Some(&child), "Runtime.runIfWaitingForDebugger", json!({}));
            }
            "page" => {
                let target = json!({ "targetId": event["targetInfo"]["targetId"] });
                self.devtools.send(None, "Target.closeTarget", target);
            }
            _ => {}
        }
    }
}

/// Pauses every request, so that it is answered by [`requests::answer`].
fn interception() -> Value {
    json!({ "handleAuthRequests": true, "patterns": [{ "urlPattern": "*" }] })
}

fn auto_attach() -> Value {
    json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true })
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

fn failed(error: CallError) -> RenderError {
    match error {
        CallError::Closed => RenderError::Crashed,
        CallError::Refused { .. } => RenderError::Failed { reason: error.to_string() },
    }
}
