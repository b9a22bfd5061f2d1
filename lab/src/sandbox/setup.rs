//! What a sandbox looks like from inside.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change, mount_remount,
};

use super::spec::Spec;

/// The throw-away home.
pub const HOME: &str = "/home/dev";

/// Where programs work, a git repository.
pub const WORKSPACE: &str = "/home/dev/demo";

/// The installed programs.
pub const TOOLS: &str = "/mnt/tools";

/// What is put out: the provider's log, and what programs print.
pub const OUT: &str = "/mnt/out";

/// The program under test.
pub(crate) const IBID: &str = "/mnt/bin/ibid";

/// Lays the file system out. Nothing of it is seen outside.
pub(super) fn lay_out(spec: &Spec) -> Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).context("mounts")?;
    empty("/mnt")?;
    bind(&spec.folder.join("out"), OUT)?;
    bind(&spec.folder.join("home"), "/mnt/home")?;
    bind(&spec.tools, TOOLS)?;
    // Without root, flags that the outer mount has cannot be kept; then the tools stay writable.
    let _ = mount_remount(TOOLS, MountFlags::BIND | MountFlags::RDONLY, "");
    fs::create_dir_all("/mnt/bin")?;
    fs::write(IBID, "")?;
    mount_bind_recursive(&spec.ibid, IBID).context("the program under test")?;
    for hidden in spec.hidden.iter().filter(|path| path.is_dir() && *path != Path::new("/")) {
        empty(hidden)?;
    }
    empty("/home")?;
    bind(Path::new("/mnt/home"), HOME)?;
    empty("/tmp")
}

fn empty(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, None)
        .with_context(|| format!("an empty {}", path.display()))
}

fn bind(source: &Path, target: &str) -> Result<()> {
    fs::create_dir_all(target).with_context(|| target.to_owned())?;
    mount_bind_recursive(source, target).with_context(|| format!("{} as {target}", source.display()))
}

/// Brings loopback up and refuses when there is any other way out.
pub(super) fn only_loopback() -> Result<()> {
    let status = Command::new("ip").args(["link", "set", "lo", "up"]).status().context("ip")?;
    if !status.success() {
        bail!("loopback cannot be brought up");
    }
    let interfaces = fs::read_to_string("/proc/net/dev").context("/proc/net/dev")?;
    let names = interfaces.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    // Tunnels that a kernel makes in every namespace are down and lead nowhere; routes decide.
    let up = names.filter(|name| *name != "lo" && is_up(name)).collect::<Vec<_>>();
    let routes = fs::read_to_string("/proc/net/route").context("/proc/net/route")?;
    if !up.is_empty() || routes.lines().count() > 1 {
        bail!("this namespace has a way out ({}); refusing", up.join(", "));
    }
    Ok(())
}

fn is_up(interface: &str) -> bool {
    let shown = Command::new("ip").args(["-o", "link", "show", "dev", interface, "up"]).output();
    shown.map_or(true, |shown| !shown.stdout.is_empty())
}
