//! Property lists of the two bundles.

use std::fmt::Write as _;

/// The identifier of the service.
pub(crate) const SERVICE: &str = "com.qoder.harness-studio.evidence";

/// The identifier of the app for development.
const DEVELOPMENT: &str = "com.qoder.harness-studio.evidence-development";

/// The service. `Application`: each client process has one of its own.
pub(crate) fn of_service(executable: &str) -> String {
    let entries = bundle(SERVICE, executable, "XPC!");
    list(
        &(entries
            + "\t<key>XPCService</key>\n\t<dict>\n\t\t<key>ServiceType</key>\n\t\t<string>Application</string>\n\t</dict>\n"),
    )
}

/// An app that has no window and no place in the Dock.
pub(crate) fn of_development_app(executable: &str) -> String {
    list(&(bundle(DEVELOPMENT, executable, "APPL") + "\t<key>LSUIElement</key>\n\t<true/>\n"))
}

fn bundle(identifier: &str, executable: &str, kind: &str) -> String {
    let mut entries = String::new();
    for (key, value) in [
        ("CFBundleIdentifier", identifier),
        ("CFBundleExecutable", executable),
        ("CFBundleName", executable),
        ("CFBundlePackageType", kind),
        ("CFBundleInfoDictionaryVersion", "6.0"),
        ("CFBundleVersion", "1"),
    ] {
        // Writing into a string cannot fail.
        let _ = writeln!(entries, "\t<key>{key}</key>\n\t<string>{value}</string>");
    }
    entries
}

fn list(entries: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n{entries}</dict>\n</plist>\n"
    )
}
