//! How a hook finds the process that listens: a file that the installer writes.
