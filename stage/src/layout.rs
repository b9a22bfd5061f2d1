//! Where everything goes.

use std::path::{Path, PathBuf};

use crate::plist;

const HOST: &str = "harness-evidence-host";
const CLIENT: &str = "harness-evidence-client";
const XPC: &str = "harness-evidence-xpc";

/// For whom it is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// For an app that runs from its sources.
    Development,
    /// For an app that is shipped.
    Packaged,
}

/// The system that the programs are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    MacOs,
    Windows,
    Linux,
}

impl System {
    pub(crate) fn named(name: &str) -> Option<System> {
        match name {
            "macos" => Some(System::MacOs),
            "windows" => Some(System::Windows),
            "linux" => Some(System::Linux),
            _ => None,
        }
    }

    pub(crate) fn this() -> Option<System> {
        System::named(std::env::consts::OS)
    }
}

/// What is to be made.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Folders that are made anew, so that nothing of an older layout stays in them.
    pub(crate) fresh: Vec<PathBuf>,
    /// Programs: from where, to where.
    pub(crate) programs: Vec<(PathBuf, PathBuf)>,
    /// Property lists, and what is in them.
    pub(crate) plists: Vec<(PathBuf, String)>,
    /// What is signed, in this order (what contains something comes after it), and whether with
    /// everything in it.
    pub(crate) signed: Vec<(PathBuf, bool)>,
}

impl Layout {
    pub(crate) fn of(kind: Kind, os: System, from: &Path, to: &Path) -> Layout {
        let mut layout = Layout::default();
        match (kind, os) {
            (Kind::Development, System::MacOs) => {
                let native = to.join("native");
                let app = native.join("Harness Evidence.app");
                for program in [HOST, CLIENT, XPC] {
                    layout.program(from, &native, program);
                }
                layout.bundle(from, &app);
                layout.plists.push((app.join("Contents/Info.plist"), plist::of_development_app(CLIENT)));
                layout.signed.push((app.clone(), true));
                layout.fresh.push(app);
            }
            (Kind::Packaged, System::MacOs) => {
                let resources = to.join("Contents/Resources/native");
                let service = layout.bundle(from, to);
                layout.program(from, &resources, HOST);
                layout.signed = vec![
                    (service.join("Contents/MacOS").join(HOST), false),
                    (service.clone(), false),
                    (to.join("Contents/MacOS").join(CLIENT), false),
                    (resources.join(HOST), false),
                ];
                layout.fresh.push(service);
            }
            (_, System::Windows) => layout.program(from, &to.join("native"), &format!("{HOST}.exe")),
            (_, System::Linux) => layout.program(from, &to.join("native"), HOST),
        }
        layout
    }

    fn program(&mut self, from: &Path, folder: &Path, name: &str) {
        self.programs.push((from.join(name), folder.join(name)));
    }

    /// The client and the service inside of an app. Returns the service's bundle.
    fn bundle(&mut self, from: &Path, app: &Path) -> PathBuf {
        let contents = app.join("Contents");
        let service = contents.join("XPCServices").join(format!("{}.xpc", plist::SERVICE));
        let inside = service.join("Contents");
        self.program(from, &contents.join("MacOS"), CLIENT);
        self.program(from, &inside.join("MacOS"), XPC);
        self.program(from, &inside.join("MacOS"), HOST);
        self.plists.push((inside.join("Info.plist"), plist::of_service(XPC)));
        service
    }
}
