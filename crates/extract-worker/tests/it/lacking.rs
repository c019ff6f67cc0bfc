//! Systems that lack parts of the sandbox, simulated by a filter of system calls.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

/// Parts of the sandbox that the kernel or a container may not offer.
#[derive(Clone, Copy, Debug)]
pub enum Lacking {
    Landlock,
    LandlockAndSeccomp,
}

/// Runs `work` on a thread of its own. For this thread and all that it starts, the lacking system calls fail with `ENOSYS`.
pub fn on_a_system<T: Send + 'static>(lacking: Lacking, work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::spawn(move || {
        apply_filter(&filter(lacking)).expect("a filter");
        work()
    });
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn filter(lacking: Lacking) -> BpfProgram {
    let mut refused = BTreeMap::from([(libc::SYS_landlock_create_ruleset, Vec::new())]);
    if let Lacking::LandlockAndSeccomp = lacking {
        let option = u64::try_from(libc::PR_SET_SECCOMP).expect("an option");
        let installs =
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, option).expect("a condition");
        refused.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![installs]).expect("a rule")]);
        refused.insert(libc::SYS_seccomp, Vec::new());
    }
    let arch = std::env::consts::ARCH.try_into().expect("a known processor");
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(refused, SeccompAction::Allow, unknown, arch).expect("a filter");
    filter.try_into().expect("a program")
}
