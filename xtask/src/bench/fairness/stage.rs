//! Frame of all scenarios: the bystander alone, the bystander beside the load, and the memory of the server.

use super::overview::Line;
use super::probe::{Phase, Probe};
use super::setup::Setup;
use super::web_index::WebIndexes;
use super::{memory, targets};
use crate::bench::installation::Installation;
use crate::bench::report::Section;
use crate::bench::server::Server;
use crate::bench::{Options, check_interrupt, process};
use anyhow::bail;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time after a load in which a server should be idle.
const AFTERMATH: Duration = Duration::from_secs(2);
/// Requests of a probe before the measurement.
const WARM_UP: Duration = Duration::from_secs(1);

/// Scenario in progress.
pub struct Stage<'a> {
    pub options: &'a Options,
    pub program: &'a Path,
    pub web: &'a mut WebIndexes,
    pub section: &'a mut Section,
    pub line: &'a mut Line,
    /// Answers per second to the bystander beside the last load.
    pub bystander_rate: f64,
}

impl Stage<'_> {
    /// Duration of a phase.
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.options.seconds)
    }

    /// Returns a number of clients, files or requests at the chosen scale.
    pub fn scaled(&self, count: usize) -> usize {
        ((count as f64 * self.options.fairness.scale).round() as usize).max(1)
    }

    /// Reports progress on standard error.
    pub fn step(&self, what: &str) {
        eprintln!("  {what}");
    }

    /// Creates an installation with web documents and two organizations.
    ///
    /// # Errors
    ///
    /// Returns an error if the import or a command of the server fails.
    pub fn set_up(&mut self, documents: usize) -> anyhow::Result<Setup> {
        self.set_up_in(Installation::new(self.program)?, documents)
    }

    /// Fills an empty installation with web documents and two organizations.
    ///
    /// # Errors
    ///
    /// Returns an error if the import or a command of the server fails.
    pub fn set_up_in(&mut self, installation: Installation, documents: usize) -> anyhow::Result<Setup> {
        let queries = self.web.copy_into(&installation, self.scaled(documents))?;
        let (heavy, bystander) = (installation.tenant()?, installation.tenant()?);
        Ok(Setup { installation, heavy, bystander, queries })
    }

    /// Measures the probes alone and beside `load`, and the memory during and after it.
    ///
    /// # Errors
    ///
    /// Returns an error if a probe fails without the load, the load cannot be sent, or a signal interrupts it.
    pub fn measure<T: Send>(
        &mut self,
        server: &Server,
        probes: &[Probe<'_>],
        load: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let wait = |time: Duration| move || sleep(time);
        self.step("bystander alone");
        beside(probes, wait(WARM_UP))?;
        let (alone, ()) = beside(probes, wait(self.time()))?;
        self.step("bystander beside the load");
        let over = AtomicBool::new(false);
        let time = self.time();
        let begun = Instant::now();
        let (peak, burst) = std::thread::scope(|scope| {
            let watch = scope.spawn(|| memory::peak(server.pid(), &over));
            let burst = beside(probes, || {
                let loaded = load()?;
                sleep(time.saturating_sub(begun.elapsed()))?;
                Ok(loaded)
            });
            over.store(true, Ordering::Relaxed);
            (watch.join().unwrap_or(u64::MAX), burst)
        });
        let (beside, loaded) = burst?;
        let answered: usize = beside.iter().map(|phase| phase.answered).sum();
        self.bystander_rate = answered as f64 / begun.elapsed().as_secs_f64();
        let before = process::cpu_time(server.pid())?;
        sleep(AFTERMATH)?;
        let used = process::cpu_time(server.pid())?.saturating_sub(before);
        self.step("memory after the load");
        let settle = Duration::from_secs(self.options.fairness.settle);
        let held = memory::settled(server.pid(), targets::HELD_MB * 1e6, settle)?;

        for (probe, (alone, beside)) in probes.iter().zip(alone.iter().zip(&beside)) {
            self.report(probe.name, alone, beside)?;
        }
        let percent = 100.0 * used.as_secs_f64() / AFTERMATH.as_secs_f64();
        self.section.megabytes("peak MB of server and workers", peak).target_below(targets::PEAK_MB);
        self.section.megabytes("MB held after the load", held).target_below(targets::HELD_MB);
        self.section.number("% of a core used in 2 s after the load", percent);
        self.line.add_memory(peak, held);
        Ok(loaded)
    }

    fn report(&mut self, name: &'static str, alone: &Phase, beside: &Phase) -> anyhow::Result<()> {
        if let Some(error) = &alone.error {
            bail!("the bystander's requests fail without any load: {error}");
        }
        if let Some(error) = &beside.error {
            eprintln!("  first failure of a bystander's {name}: {error}");
        }
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (own, reached) = (alone.latencies.percentile(95.0), beside.latencies.percentile(95.0));
        let limit = targets::beside(own);
        self.section.named(format!("{name}: p50 ms alone"), milliseconds(alone.latencies.median()));
        self.section.named(format!("{name}: p50 ms beside"), milliseconds(beside.latencies.median()));
        self.section.named(format!("{name}: p95 ms alone"), milliseconds(own));
        self.section.named(format!("{name}: p95 ms beside"), milliseconds(reached)).target_below(milliseconds(limit));
        self.section.named(format!("{name}: requests beside"), beside.latencies.len() as f64);
        self.section.named(format!("{name}: failed beside"), beside.failed as f64).target_below(1.0);
        self.line.add_probe(own, reached, limit, beside.failed);
        Ok(())
    }
}

/// Runs all probes while `work` lasts.
fn beside<T>(probes: &[Probe<'_>], work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(Vec<Phase>, T)> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let over = &over;
        let threads: Vec<_> = probes.iter().map(|probe| scope.spawn(move || probe.run(over))).collect();
        let worked = work();
        over.store(true, Ordering::Relaxed);
        let phases: Result<Vec<Phase>, _> = threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        let phases = phases.map_err(|_| anyhow::anyhow!("a probe panicked"))?;
        Ok((phases, worked?))
    })
}

/// Waits, or returns an error after a termination signal.
///
/// # Errors
///
/// Returns an error after a termination signal.
pub fn sleep(time: Duration) -> anyhow::Result<()> {
    let until = Instant::now() + time;
    while Instant::now() < until {
        check_interrupt()?;
        std::thread::sleep(until.saturating_duration_since(Instant::now()).min(Duration::from_millis(50)));
    }
    Ok(())
}
