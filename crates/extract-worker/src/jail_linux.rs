//! Linux: no new privileges, death with the parent, no files, no network, few system calls.

use std::collections::BTreeMap;

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus, Scope};
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

/// Drops all rights that the kernel supports dropping and returns the protections in force.
pub fn enter() -> Vec<&'static str> {
    let mut held = Vec::new();
    // Otherwise `top` shows the name in the path, which is `exe` for `/proc/self/exe`.
    let _ = rustix::thread::set_name(c"extract-worker");
    if set_parent_process_death_signal(Some(Signal::KILL)).is_ok() {
        held.push("dies with its parent");
    }
    // Other processes of the same user cannot read the documents from memory.
    if set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok() {
        held.push("not dumpable");
    }
    if rustix::thread::set_no_new_privs(true).is_ok() {
        held.push("no new privileges");
    }
    match landlock() {
        Some(RulesetStatus::FullyEnforced) => held.push("landlock"),
        Some(RulesetStatus::PartiallyEnforced) => held.push("landlock (in part)"),
        _ => {}
    }
    // Last: it forbids the calls that the others need.
    if seccomp().is_some() {
        held.push("seccomp");
    }
    held
}

/// Forbids opening files and making connections, whatever system call is used.
fn landlock() -> Option<RulesetStatus> {
    let abi = ABI::V6;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))
        .ok()?
        .handle_access(AccessNet::from_all(abi))
        .ok()?
        .scope(Scope::from_all(abi))
        .ok()?
        .create()
        .ok()?
        .restrict_self()
        .ok()?;
    Some(status.ruleset)
}

/// Allows only the system calls for open files, memory and threads. All others fail with `EPERM`, so that a library that
/// looks for a file continues without it.
fn seccomp() -> Option<()> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).ok()?;
    // The flags of clone3 are in memory that a filter cannot read. With `ENOSYS`, libc falls back to clone, whose flags
    // are arguments. This filter comes first, since the other one forbids the call that installs filters.
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let refused: BpfProgram = SeccompFilter::new(clone3, SeccompAction::Allow, unknown, arch).ok()?.try_into().ok()?;
    apply_filter(&refused).ok()?;
    let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let allowed: BpfProgram = SeccompFilter::new(rules()?, denied, SeccompAction::Allow, arch).ok()?.try_into().ok()?;
    apply_filter(&allowed).ok()
}

fn rules() -> Option<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in [
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_fstat,
        libc::SYS_lseek,
        libc::SYS_fcntl,
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_futex,
        // The other filter decides.
        libc::SYS_clone3,
        libc::SYS_set_robust_list,
        libc::SYS_rseq,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_nanosleep,
        libc::SYS_clock_nanosleep,
        libc::SYS_clock_gettime,
        libc::SYS_clock_getres,
        libc::SYS_gettimeofday,
        libc::SYS_getrandom,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_getrusage,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_restart_syscall,
        libc::SYS_getrlimit,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ] {
        rules.insert(call, Vec::new());
    }
    let own = u64::from(std::process::id());
    // abort() signals its own thread; other processes cannot be signalled.
    rules.insert(libc::SYS_tgkill, vec![rule(0, SeccompCmpOp::Eq, own)?]);
    // Its own limits only.
    rules.insert(libc::SYS_prlimit64, vec![rule(0, SeccompCmpOp::Eq, 0)?, rule(0, SeccompCmpOp::Eq, own)?]);
    // Threads, not processes.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    rules.insert(libc::SYS_clone, vec![rule(0, SeccompCmpOp::MaskedEq(thread), thread)?]);
    // Names of threads and of memory.
    let set_name = u64::from(libc::PR_SET_NAME.unsigned_abs());
    let set_vma = u64::from(libc::PR_SET_VMA.unsigned_abs());
    rules.insert(libc::SYS_prctl, vec![rule(0, SeccompCmpOp::Eq, set_name)?, rule(0, SeccompCmpOp::Eq, set_vma)?]);
    Some(rules)
}

fn rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Option<SeccompRule> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).ok()?;
    SeccompRule::new(vec![condition]).ok()
}
